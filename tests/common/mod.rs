//! A host for tests: it moves bytes in pieces of any size, notes what happens, and runs dialogues in many ways that
//! must not make a difference.

mod asking;
pub(crate) mod demo;
mod dialogue;
pub(crate) mod library;
mod script;

pub(crate) use dialogue::{Setup, glob, hello};

use demo::Notes;
use mcp_proto::server::Server;
use mcp_proto::{Action, Buffer, Millis};

/// How bytes move: none of it may change what is said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) rx: usize,
    /// Whether the receive buffer is on the heap.
    pub(crate) grown: bool,
    /// The most bytes of one read and of one write.
    pub(crate) read: usize,
    pub(crate) write: usize,
    /// Whether reading comes first where both are possible.
    pub(crate) reads_first: bool,
}

impl Way {
    /// The receive buffer: `lent` has to be as long as it is.
    pub(crate) fn rx<'b>(&self, lent: &'b mut [u8]) -> Buffer<'b> {
        if self.grown { Buffer::grown(self.rx) } else { lent.into() }
    }
}

/// A server with somebody who moves its bytes.
pub(crate) struct Host<'b> {
    pub(crate) server: Server<'b>,
    pub(crate) way: Way,
    pub(crate) now: Millis,
    /// What the client has sent and the machine has not read.
    pub(crate) pending: Vec<u8>,
    /// Whether the client has closed its side, and whether the machine knows.
    pub(crate) ended: bool,
    eof_told: bool,
    /// The client does not read, or has gone.
    pub(crate) blocked: bool,
    pub(crate) broken: bool,
    pub(crate) output: Vec<u8>,
    pub(crate) notes: Notes,
    pub(crate) deadline: Option<Millis>,
    pub(crate) closed: bool,
}

impl<'b> Host<'b> {
    pub(crate) fn new(server: Server<'b>, way: Way) -> Host<'b> {
        Host {
            server,
            way,
            now: Millis::ZERO,
            pending: Vec::new(),
            ended: false,
            eof_told: false,
            blocked: false,
            broken: false,
            output: Vec::new(),
            notes: Notes::default(),
            deadline: None,
            closed: false,
        }
    }

    /// Goes on until nothing more can be done at this time.
    pub(crate) fn run(&mut self) {
        for _ in 0..5_000_000 {
            let Host { server, notes, .. } = self;
            match server.poll(self.now) {
                Action::Closed => {
                    if !std::mem::replace(&mut self.closed, true) {
                        notes.events.push("closed".into());
                    }
                    return;
                }
                Action::Event => demo::handle(server.event().expect("poll said so"), notes),
                Action::Io(io) => {
                    self.deadline = io.deadline();
                    assert!(
                        self.deadline.is_none_or(|at| at > self.now),
                        "a deadline in the past makes hosts spin"
                    );
                    let (out, mut input) = io.split();
                    let says_eof = self.ended && !self.eof_told && self.pending.is_empty();
                    let can_read = input.is_ready() && (!self.pending.is_empty() || says_eof);
                    let can_write = self.broken || !out.bytes().is_empty() && !self.blocked;
                    if can_write && !(can_read && self.way.reads_first) {
                        if self.broken {
                            out.broken();
                            continue;
                        }
                        let n = out.bytes().len().min(self.way.write);
                        self.output.extend_from_slice(&out.bytes()[..n]);
                        out.sent(n);
                    } else if can_read && says_eof {
                        self.eof_told = true;
                        input.eof();
                    } else if can_read {
                        let space = input.space();
                        let n = space.len().min(self.way.read).min(self.pending.len());
                        assert!(n > 0, "ready means that there is space");
                        space[..n].copy_from_slice(&self.pending[..n]);
                        input.filled(n);
                        self.pending.drain(..n);
                    } else {
                        return;
                    }
                }
            }
        }
        panic!("it does not come to rest; output: {}", String::from_utf8_lossy(&self.output));
    }

    /// A new connection.
    pub(crate) fn reset(&mut self) {
        self.server.reset();
        self.pending.clear();
        (self.ended, self.eof_told, self.closed, self.broken) = (false, false, false, false);
    }
}
