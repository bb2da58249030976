//! Runs a client and a server joined by pipes, with both models.
//!
//! The operations decide when bytes arrive, and whether lines are damaged. On an intact wire every call ends with the right
//! response. On any wire it ends once.

use std::mem;

use mcp_proto::{Millis, State};
use serde_json::Value;

use super::client::operation::{Call, Operation as Client};
use super::operation::{Behaviour, Operation as Server};
use super::{ConnectFailure, Summary, Way, client, server};

/// Both ends as they are set up. Their receive buffers hold every line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Setup {
    /// The client.
    pub client: client::Setup,
    /// The server.
    pub server: server::Setup,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Operation {
    /// The application of the client does something. What a peer or a connection does is ignored here.
    Client(Client),
    /// The application of the server does something.
    Server(Server),
    /// So many times 8 bytes arrive at the server, or at the client.
    Arrive(Towards, u8),
    /// Everything arrives, and what is said to it, and so on.
    Deliver,
    /// Time passes, in milliseconds.
    Time(u16),
    /// A line that is on its way does not arrive as it was sent.
    Tamper(Towards, u8, Trick),
}

/// A direction of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Towards {
    /// To the server.
    Server,
    /// To the client.
    Client,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Trick {
    /// It is lost.
    Drop,
    /// It comes twice.
    Twice,
    /// It comes after the next one.
    Swap,
    /// Half of it comes.
    Cut,
}

/// Bytes that were written and have not arrived.
#[derive(Debug, Default)]
struct Pipe {
    /// So many of the writer's bytes are in here, or were.
    taken: usize,
    bytes: Vec<u8>,
    /// What has arrived of a line.
    begun: Vec<u8>,
}

impl Pipe {
    fn take(&mut self, output: &[u8]) {
        self.bytes.extend_from_slice(&output[self.taken..]);
        self.taken = output.len();
    }

    /// So many bytes arrive: with the lines that are whole now.
    fn arrive(&mut self, count: usize) -> (Vec<u8>, Vec<Vec<u8>>) {
        let bytes: Vec<u8> = self.bytes.drain(..count.min(self.bytes.len())).collect();
        let mut lines = Vec::new();
        for byte in &bytes {
            if *byte == b'\n' {
                lines.push(mem::take(&mut self.begun));
            } else {
                self.begun.push(*byte);
            }
        }
        (bytes, lines)
    }

    fn tamper(&mut self, nth: u8, trick: Trick) {
        // The first one may have arrived in part.
        let mut lines: Vec<Vec<u8>> =
            self.bytes.split_inclusive(|byte| *byte == b'\n').map(Vec::from).collect();
        let first = usize::from(!self.begun.is_empty());
        let whole = lines.iter().filter(|line| line.ends_with(b"\n")).count();
        let Some(count) = whole.checked_sub(first).filter(|count| *count > 0) else { return };
        let at = first + usize::from(nth) % count;
        match trick {
            Trick::Drop => lines[at].clear(),
            Trick::Twice => lines[at] = [&lines[at][..], &lines[at][..]].concat(),
            Trick::Swap if at + 1 < whole => lines.swap(at, at + 1),
            Trick::Swap => {}
            Trick::Cut => {
                let length = lines[at].len() / 2;
                lines[at].truncate(length);
                lines[at].push(b'\n');
            }
        }
        self.bytes = lines.concat();
    }
}

/// What every line of both machines fits into: the longest answer of a host is 20,000 bytes.
const LONGEST_LINE: usize = 24 * 1024;

/// Runs the operations, in this way, and ends the connection.
///
/// # Errors
/// Something happened that may not be.
pub fn run(setup: Setup, way: Way, operations: &[Operation]) -> Result<Summary, ConnectFailure> {
    let rx = LONGEST_LINE + usize::from(way.spare);
    server::with(setup.server, way, rx, |server| {
        client::with(setup.client, way, rx, |client| {
            let any = |is: fn(&Operation) -> bool| operations.iter().any(is);
            let mut world = World {
                client,
                server,
                up: Pipe::default(),
                down: Pipe::default(),
                honest: !any(|it| matches!(it, Operation::Tamper(..))),
                patient: !any(|it| matches!(it, Operation::Time(_))),
                ends: any(|it| {
                    matches!(it, Operation::Client(Client::Shutdown) | Operation::Server(Server::Shutdown(_)))
                }),
                dialogue: Vec::new(),
            };
            let outcome = operations.iter().try_for_each(|operation| world.step(operation));
            let outcome = outcome.and_then(|()| world.finish());
            world.note();
            match outcome {
                Ok(()) => Ok(Summary::default()),
                Err(why) => Err(ConnectFailure { why, dialogue: world.dialogue }.with_setup(&(setup, way))),
            }
        })
    })
}

struct World<'s, 'c> {
    client: client::World<'c>,
    server: server::World<'s>,
    up: Pipe,
    down: Pipe,
    /// The wire is; no time passes; a host ends the connection.
    honest: bool,
    patient: bool,
    ends: bool,
    dialogue: Vec<String>,
}

impl World<'_, '_> {
    /// What both have said and heard goes into one dialogue.
    fn note(&mut self) {
        let client = self.client.dialogue.drain(..).map(|line| format!("client {line}"));
        self.dialogue.extend(client);
        let server = self.server.dialogue.drain(..).map(|line| format!("server {line}"));
        self.dialogue.extend(server);
    }

    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        self.settle()?;
        self.dialogue.push(format!("* {operation:?}"));
        match operation {
            Operation::Client(operation) if operation.is_of_host() => {
                if let Err(why) = self.client.host(operation)? {
                    self.dialogue.push(format!("client ! not now {why:?}"));
                }
            }
            Operation::Server(operation) if operation.is_of_host() => self.server.host(operation)?,
            Operation::Client(_) | Operation::Server(_) => {}
            Operation::Arrive(towards, count) => self.arrive(*towards, usize::from(*count) * 8)?,
            Operation::Deliver => self.deliver()?,
            Operation::Time(time) => self.pass(Millis((*time).into())),
            Operation::Tamper(Towards::Server, nth, trick) => self.up.tamper(*nth, *trick),
            Operation::Tamper(Towards::Client, nth, trick) => self.down.tamper(*nth, *trick),
        }
        self.settle()
    }

    fn settle(&mut self) -> Result<(), String> {
        self.client.settle()?;
        self.server.settle()?;
        self.up.take(&self.client.mover.output);
        self.down.take(&self.server.mover.output);
        // Who is gone has closed its side.
        self.server.mover.ended |= self.client.closed && self.up.bytes.is_empty();
        self.client.mover.ended |= self.server.closed && self.down.bytes.is_empty();
        self.note();
        Ok(())
    }

    fn pass(&mut self, time: Millis) {
        for mover in [&mut self.client.mover, &mut self.server.mover] {
            mover.now = mover.now.plus(time);
        }
    }

    fn arrive(&mut self, towards: Towards, count: usize) -> Result<(), String> {
        let (bytes, lines) = match towards {
            Towards::Server => self.up.arrive(count),
            Towards::Client => self.down.arrive(count),
        };
        match towards {
            Towards::Server if !self.server.closed && !self.server.mover.ended => {
                for line in lines {
                    self.server.notes.owed.sent(&line, self.server.rx);
                }
                self.server.work += bytes.len();
                self.server.mover.pending.extend(bytes);
            }
            Towards::Client if !self.client.closed && !self.client.mover.ended => {
                for line in lines {
                    self.told(&line);
                }
                self.client.work += bytes.len();
                self.client.mover.pending.extend(bytes);
            }
            _ => {}
        }
        self.settle()
    }

    /// What the model of the client has to know of a line of the server's.
    fn told(&mut self, line: &[u8]) {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { return };
        let in_session = self.client.client.state() == State::Ready && self.honest;
        match (value.get("method").and_then(Value::as_str), value.get("id")) {
            (Some(_), Some(id)) => self.client.notes.tickets.request(id.to_string(), in_session),
            (Some("notifications/cancelled"), None) => {
                self.client.notes.tickets.take_back(&value["params"]["requestId"].to_string());
            }
            _ => {}
        }
    }

    fn deliver(&mut self) -> Result<(), String> {
        for _ in 0..1000 {
            self.settle()?;
            if self.up.bytes.is_empty() && self.down.bytes.is_empty() {
                return Ok(());
            }
            self.arrive(Towards::Server, usize::MAX)?;
            self.arrive(Towards::Client, usize::MAX)?;
        }
        Err("they never have said everything".into())
    }

    /// Everything arrives, requests end or take too long, and the client leaves.
    fn finish(&mut self) -> Result<(), String> {
        self.deliver()?;
        self.wait(Millis(25_000))?;
        self.client.notes.tickets.over()?;
        self.right()?;
        self.client.client.shutdown(self.client.mover.now);
        self.deliver()?;
        self.wait(Millis(25_000))?;
        match (self.client.closed, self.server.closed) {
            (true, true) => Ok(()),
            closed => Err(format!("client and server do not end: {closed:?}")),
        }
    }

    fn wait(&mut self, time: Millis) -> Result<(), String> {
        let end = self.client.mover.now.plus(time);
        while self.client.mover.now < end && !(self.client.closed && self.server.closed) && !self.is_idle() {
            let next = [
                self.client.mover.deadline.filter(|_| !self.client.closed),
                self.server.mover.deadline.filter(|_| !self.server.closed),
            ];
            let next = next.into_iter().flatten().min().unwrap_or(end).min(end);
            self.pass(Millis(next.0.saturating_sub(self.client.mover.now.0).max(1)));
            self.deliver()?;
        }
        Ok(())
    }

    /// Whether the client is connected and no request of either side is open.
    fn is_idle(&self) -> bool {
        matches!(self.client.client.state(), State::Ready | State::Stateless)
            && self.client.notes.tickets.over().is_ok()
            && self.server.notes.owed.is_idle()
    }

    /// Whether every call has ended as it should.
    fn right(&self) -> Result<(), String> {
        for (n, end) in &self.client.notes.tickets.ends {
            let Some(call) = usize::try_from(*n).ok().and_then(|n| self.client.calls.get(n)) else {
                continue;
            };
            let words = format!("answer of {n}.");
            let right = match call {
                Call::Tool(
                    Behaviour::Answer | Behaviour::Progress | Behaviour::Log | Behaviour::Change,
                    _,
                ) => end.starts_with("Result") && end.contains(&words),
                Call::Tool(Behaviour::Error, _) => end.starts_with("Error") && end.contains(&words),
                Call::Tool(Behaviour::Drop | Behaviour::Busy | Behaviour::Unbalanced, _) => {
                    end.starts_with("Error")
                }
                Call::Ping => end.starts_with("Result"),
                _ => !end.starts_with("Failed"),
            };
            let right = right
                || !self.honest
                || self.ends
                || !self.patient && end.starts_with("Failed(TimedOut")
                || self.is_slow(call) && end.starts_with("Failed");
            if !right {
                return Err(format!("{call:?}, the request {n}, ends with {end}"));
            }
        }
        Ok(())
    }

    /// Whether it may take too long, or too many rounds, because the application of the server or of the client does nothing.
    fn is_slow(&self, call: &Call) -> bool {
        match call {
            Call::Tool(what, _) | Call::Read(what) | Call::Prompt(what) | Call::Complete(what) => {
                matches!(what, Behaviour::Defer(_) | Behaviour::Needs)
            }
            _ => false,
        }
    }
}
