//! Moves a machine's bytes in pieces, and checks its polling and buffers.

use std::collections::VecDeque;

use mcp_proto::{Buffer, Io, Millis};

/// The parameters of byte movement. They must not affect messages or events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Way {
    /// The receive buffer is on the heap.
    pub grown: bool,
    /// The most bytes of one read, and of one write, most of the time: see `SMALL_MOVES`. 0: any number.
    pub read: u8,
    /// See there.
    pub write: u8,
    /// Reading comes first where both are possible.
    pub reads_first: bool,
    /// By so much the receive buffer is longer than it has to be.
    pub spare: u16,
}

impl Way {
    /// As fast as it goes.
    pub const WHOLE: Way = Way { grown: false, read: 0, write: 0, reads_first: false, spare: 0 };
}

pub(crate) fn buffer(grown: bool, lent: &mut [u8]) -> Buffer<'_> {
    if grown { Buffer::grown(lent.len()) } else { lent.into() }
}

/// The other end of a machine's connection.
#[derive(Debug)]
pub(crate) struct Mover {
    pub(crate) way: Way,
    /// How long the buffers are.
    rx: usize,
    tx: usize,
    pub(crate) now: Millis,
    /// What the peer has sent and the machine has not read.
    pub(crate) pending: VecDeque<u8>,
    /// The peer has closed its side; the machine knows.
    pub(crate) ended: bool,
    pub(crate) eof_told: bool,
    /// The peer does not read, or is gone.
    pub(crate) blocked: bool,
    pub(crate) broken: bool,
    pub(crate) output: Vec<u8>,
    /// The end of the part of the output that was searched for a newline.
    searched: usize,
    /// The number of reads and writes so far.
    moves: u32,
    pub(crate) deadline: Option<Millis>,
}

/// The number of reads and writes in a row that keep to the limits of a [`Way`]. Three times as many follow that move more, so
/// that a run stays short and small pieces still occur all along it.
const SMALL_MOVES: u32 = 64;

/// The factor by which the other moves are larger.
const LARGER: usize = 16;

/// The length of the next move.
fn at_most(limit: u8, moves: u32) -> usize {
    match limit {
        0 => usize::MAX,
        _ if (moves / SMALL_MOVES).is_multiple_of(4) => limit.into(),
        _ => usize::from(limit) * LARGER,
    }
}

impl Mover {
    pub(crate) fn new(way: Way, rx: usize, tx: usize) -> Mover {
        Mover {
            way,
            rx,
            tx,
            now: Millis::ZERO,
            pending: VecDeque::new(),
            searched: 0,
            moves: 0,
            ended: false,
            eof_told: false,
            blocked: false,
            broken: false,
            output: Vec::new(),
            deadline: None,
        }
    }

    /// A new connection, at the same time.
    pub(crate) fn reset(&mut self) {
        let output = std::mem::take(&mut self.output);
        let searched = output.len();
        *self = Mover {
            now: self.now,
            moves: self.moves,
            output,
            searched,
            ..Mover::new(self.way, self.rx, self.tx)
        };
    }

    /// The next line of the output that was not looked at, if it is whole.
    pub(crate) fn line(&mut self, seen: &mut usize) -> Result<Option<String>, String> {
        let from = self.searched.max(*seen);
        let new = self.output.get(from..).unwrap_or_default();
        let Some(length) = new.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.output.len();
            return Ok(None);
        };
        let line = &self.output[*seen..from + length];
        *seen = from + length + 1;
        let line = std::str::from_utf8(line).map_err(|error| format!("no UTF-8: {error}"))?;
        Ok(Some(line.into()))
    }

    /// Moves some bytes. `false`: there are none that could be moved now.
    pub(crate) fn io(&mut self, io: Io<'_>) -> Result<bool, String> {
        self.deadline = io.deadline();
        if self.deadline.is_some_and(|at| at <= self.now) {
            return Err("a deadline in the past makes hosts spin".into());
        }
        self.moves = self.moves.saturating_add(1);
        let (out, mut input) = io.split();
        if out.bytes().len() > self.tx {
            return Err(format!("{} bytes are unsent, more than the buffer has", out.bytes().len()));
        }
        let says_eof = self.ended && !self.eof_told && self.pending.is_empty();
        let can_read = input.is_ready() && (!self.pending.is_empty() || says_eof);
        let can_write = self.broken || !out.bytes().is_empty() && !self.blocked;
        if can_write && !(can_read && self.way.reads_first) {
            if self.broken {
                out.broken();
                return Ok(true);
            }
            let n = out.bytes().len().min(at_most(self.way.write, self.moves));
            self.output.extend_from_slice(&out.bytes()[..n]);
            out.sent(n);
        } else if can_read && says_eof {
            self.eof_told = true;
            input.eof();
        } else if can_read {
            let space = input.space();
            let n = space.len().min(at_most(self.way.read, self.moves)).min(self.pending.len());
            if n == 0 || space.len() > self.rx {
                return Err(format!("there is space for {} of {} bytes", space.len(), self.rx));
            }
            for (to, from) in space.iter_mut().zip(self.pending.drain(..n)) {
                *to = from;
            }
            input.filled(n);
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}
