//! The bytes between a machine and its peer, and the session as text.

use mcp_proto::{Action, Machine, Millis};
use serde_json::Value;

/// The state of a connection.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) now: u64,
    /// Bytes from the peer that the machine has not read.
    incoming: Vec<u8>,
    /// The received part of an incomplete line from the machine.
    begun: Vec<u8>,
    /// Whether the peer has closed its output.
    pub(crate) ended: bool,
    told_end: bool,
    /// Whether the peer does not read.
    pub(crate) blocked: bool,
    pub(crate) broken: bool,
    pub(crate) closed: bool,
    pub(crate) deadline: Option<u64>,
    pub(crate) unsent: bool,
    pub(crate) dialogue: String,
}

/// The reason why a machine moves no more bytes.
pub(crate) enum Wants {
    /// An event is available.
    Event,
    /// The machine is closed, or waits for input, for its deadline, or for the peer to read.
    Idle,
}

impl Lines {
    pub(crate) fn note(&mut self, mark: char, text: &str) {
        self.dialogue.push_str(&format!("{mark} {text}\n"));
    }

    /// Sends a line from the peer to the machine.
    pub(crate) fn send(&mut self, line: &str) {
        let shown = if line.len() > 300 { &line[..60] } else { line };
        self.note('>', shown);
        self.incoming.extend_from_slice(line.as_bytes());
        self.incoming.push(b'\n');
    }

    /// Moves bytes until the machine has an event, or no more bytes can move. Returns the reason, and the output lines.
    pub(crate) fn run_until_idle(&mut self, machine: &mut dyn Machine) -> (Wants, Vec<Value>) {
        let mut written = Vec::new();
        for _ in 0..1_000 {
            let io = match machine.poll(Millis(self.now)) {
                Action::Event => return (Wants::Event, written),
                Action::Closed => {
                    self.closed = true;
                    self.deadline = None;
                    return (Wants::Idle, written);
                }
                Action::Io(io) => io,
            };
            self.deadline = io.deadline().map(|at| at.0);
            assert!(
                self.deadline.is_none_or(|at| at > self.now),
                "a deadline in the past would make callers spin"
            );
            let (out, mut input) = io.split();
            let length = out.bytes().len();
            self.unsent = length > 0;
            let says_end = self.ended && !self.told_end && self.incoming.is_empty();
            if self.broken {
                out.broken();
            } else if length > 0 && !self.blocked {
                self.begun.extend_from_slice(out.bytes());
                out.sent(length);
                self.unsent = false;
            } else if input.is_ready() && says_end {
                self.told_end = true;
                input.eof();
            } else if input.is_ready() && !self.incoming.is_empty() {
                let space = input.space();
                let length = space.len().min(self.incoming.len());
                space[..length].copy_from_slice(&self.incoming[..length]);
                self.incoming.drain(..length);
                input.filled(length);
            } else {
                return (Wants::Idle, written);
            }
            while let Some(at) = self.begun.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.begun.drain(..=at).collect();
                self.note('<', String::from_utf8_lossy(&line).trim_end());
                written.push(serde_json::from_slice(&line).expect("a line is JSON"));
            }
        }
        panic!("the machine is never idle");
    }

    /// Starts a new connection.
    pub(crate) fn reconnect(&mut self) {
        let (now, dialogue) = (self.now, std::mem::take(&mut self.dialogue));
        *self = Lines { now, dialogue, ..Lines::default() };
    }
}
