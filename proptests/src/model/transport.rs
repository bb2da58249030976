//! Moves a machine's bytes in pieces, and checks its polling and buffers.

use std::collections::VecDeque;
use std::io::Read;

use mcp_proto::{Buffer, Io, Millis};

/// The parameters of byte movement. The parameters must not affect messages or events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Movement {
    /// Whether the receive buffer is on the heap.
    pub grown: bool,
    /// Maximum length of a small read (see `SMALL_MOVES`); 0 means no limit.
    pub read: u8,
    /// Maximum length of a small write (see `SMALL_MOVES`); 0 means no limit.
    pub write: u8,
    /// Whether a read comes before a write when both are possible.
    pub reads_first: bool,
    /// Length of the receive buffer beyond the minimum.
    pub spare: u16,
}

impl Movement {
    /// Moves as many bytes as possible.
    pub const WHOLE: Movement = Movement { grown: false, read: 0, write: 0, reads_first: false, spare: 0 };
}

pub(crate) fn buffer(grown: bool, lent: &mut [u8]) -> Buffer<'_> {
    if grown { Buffer::grown(lent.len()) } else { lent.into() }
}

/// The peer's end of a machine's connection.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) movement: Movement,
    /// Length of the receive buffer.
    rx: usize,
    /// Length of the transmit buffer.
    tx: usize,
    pub(crate) now: Millis,
    /// Bytes that the peer has sent and the machine has not read.
    pub(crate) pending: VecDeque<u8>,
    /// Whether the peer has closed its side.
    pub(crate) ended: bool,
    /// Whether the transport has reported the end of input to the machine.
    pub(crate) eof_reported: bool,
    /// Whether the peer does not read.
    pub(crate) blocked: bool,
    /// Whether the peer has disconnected.
    pub(crate) broken: bool,
    pub(crate) output: Vec<u8>,
    /// The position in `output` at which `line` continues its search, unless its argument `seen` is later.
    searched: usize,
    /// The number of calls of `io` so far.
    moves: u32,
    pub(crate) deadline: Option<Millis>,
}

/// The number of consecutive small moves: reads and writes of at most the lengths in [`Movement`]. Three times as many
/// larger moves follow each time. So runs stay short, and small pieces occur in every part of a run.
const SMALL_MOVES: u32 = 64;

/// The maximum length of a larger move, as a multiple of the length in [`Movement`].
const LARGER: usize = 16;

/// Returns the maximum length of the next move.
fn at_most(limit: u8, moves: u32) -> usize {
    match limit {
        0 => usize::MAX,
        _ if (moves / SMALL_MOVES).is_multiple_of(4) => limit.into(),
        _ => usize::from(limit) * LARGER,
    }
}

impl Transport {
    pub(crate) fn new(movement: Movement, rx: usize, tx: usize) -> Transport {
        Transport {
            movement,
            rx,
            tx,
            now: Millis::ZERO,
            pending: VecDeque::new(),
            searched: 0,
            moves: 0,
            ended: false,
            eof_reported: false,
            blocked: false,
            broken: false,
            output: Vec::new(),
            deadline: None,
        }
    }

    /// Starts a new connection at the current time.
    pub(crate) fn reset(&mut self) {
        let output = std::mem::take(&mut self.output);
        let searched = output.len();
        *self = Transport {
            now: self.now,
            moves: self.moves,
            output,
            searched,
            ..Transport::new(self.movement, self.rx, self.tx)
        };
    }

    /// Returns the next complete output line after `seen`, if any, and advances `seen`. Fails if the line is not UTF-8.
    pub(crate) fn line(&mut self, seen: &mut usize) -> Result<Option<String>, String> {
        let from = self.searched.max(*seen);
        let new = self.output.get(from..).unwrap_or_default();
        let Some(length) = new.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.output.len();
            return Ok(None);
        };
        let line = &self.output[*seen..from + length];
        *seen = from + length + 1;
        let line = std::str::from_utf8(line).map_err(|error| format!("invalid UTF-8: {error}"))?;
        Ok(Some(line.into()))
    }

    /// Performs one read or one write, or reports the end of input or a broken connection. Returns `false` if none of
    /// these is possible now.
    ///
    /// # Errors
    /// Returns an error if the machine violates the contract of `poll`.
    pub(crate) fn io(&mut self, io: Io<'_>) -> Result<bool, String> {
        self.deadline = io.deadline();
        if self.deadline.is_some_and(|at| at <= self.now) {
            return Err("a deadline in the past would make callers spin".into());
        }
        self.moves = self.moves.saturating_add(1);
        let (out, mut input) = io.split();
        if out.bytes().len() > self.tx {
            return Err(format!("{} unsent bytes exceed the transmit buffer", out.bytes().len()));
        }
        let reports_eof = self.ended && !self.eof_reported && self.pending.is_empty();
        let can_read = input.is_ready() && (!self.pending.is_empty() || reports_eof);
        let can_write = self.broken || !out.bytes().is_empty() && !self.blocked;
        if can_write && !(can_read && self.movement.reads_first) {
            if self.broken {
                out.broken();
                return Ok(true);
            }
            let n = out.bytes().len().min(at_most(self.movement.write, self.moves));
            self.output.extend_from_slice(&out.bytes()[..n]);
            out.sent(n);
        } else if can_read && reports_eof {
            self.eof_reported = true;
            input.eof();
        } else if can_read {
            let space = input.space();
            let n = space.len().min(at_most(self.movement.read, self.moves)).min(self.pending.len());
            if n == 0 || space.len() > self.rx {
                return Err(format!("receive space of {} bytes in a buffer of {}", space.len(), self.rx));
            }
            self.pending.read_exact(&mut space[..n]).map_err(|error| error.to_string())?;
            input.filled(n);
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}
