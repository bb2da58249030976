//! Runs a client and a server joined by pipes, with both models.
//!
//! The operations decide when bytes arrive, and whether lines are damaged. Without damaged lines, a monitor finds no
//! violation of the machines, and every call ends with the right response. A call may fail if time passes, or if an
//! application shuts down, defers the call, or always requires more input. With damaged lines, each call still ends
//! once.

use std::mem;

use mcp_proto::monitor::{Monitor, Rule, Sender};
use mcp_proto::{Millis, State};
use serde_json::Value;

use super::client::operation::{Call, Operation as Client};
use super::operation::{Behavior, Operation as Server};
use super::{Movement, Summary, Violation, client, server};

/// Configuration of both ends. The receive buffers hold every line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Setup {
    /// Configuration of the client.
    pub client: client::Setup,
    /// Configuration of the server.
    pub server: server::Setup,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Operation {
    /// An action of the client's application. Any other operation has no effect.
    Client(Client),
    /// An action of the server's application. Any other operation has no effect.
    Server(Server),
    /// Bytes arrive at one end. The number of bytes is in units of 8.
    Arrive(Towards, u8),
    /// Delivers all bytes in both directions until both machines are idle.
    Deliver,
    /// Time passes, in milliseconds.
    Time(u16),
    /// Damages a line in transit.
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

/// The kind of damage to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Trick {
    /// The line is lost.
    Drop,
    /// The line arrives twice.
    Twice,
    /// The line arrives after the next line.
    Swap,
    /// Only the first half of the line arrives.
    Cut,
}

/// Bytes in transit in one direction.
#[derive(Debug, Default)]
struct Pipe {
    /// Number of bytes taken from the writer's output.
    taken: usize,
    bytes: Vec<u8>,
    /// The part of the current line that has arrived.
    begun: Vec<u8>,
}

impl Pipe {
    /// Adds the new bytes of `output` to the pipe. Returns these bytes.
    fn take<'o>(&mut self, output: &'o [u8]) -> &'o [u8] {
        let new = &output[self.taken..];
        self.bytes.extend_from_slice(new);
        self.taken = output.len();
        new
    }

    /// Delivers up to `count` bytes. Returns these bytes, and the lines that are now complete.
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
        let mut lines: Vec<Vec<u8>> =
            self.bytes.split_inclusive(|byte| *byte == b'\n').map(Vec::from).collect();
        // If part of the first line has already arrived, this line remains intact.
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

/// The length of a receive buffer that holds every line. The text of the longest response has 20,000 bytes.
const LONGEST_LINE: usize = 24 * 1024;

/// The rules that the modeled applications may break. The applications send notifications of their own, list several
/// tools of one name, and list tools and prompts that they do not serve.
const BY_APPLICATIONS: [Rule; 5] = [
    Rule::MethodUnknown,
    Rule::ToolName,
    Rule::UnknownToolCode,
    Rule::UnknownPromptCode,
    Rule::StructuredContent,
];

/// Runs the operations with this byte movement, and ends the connection. The returned summary is empty.
///
/// # Errors
/// The first violation that a model, the monitor or the final checks find.
pub fn run(setup: Setup, movement: Movement, operations: &[Operation]) -> Result<Summary, Violation> {
    let rx = LONGEST_LINE + usize::from(movement.spare);
    server::with_machine(setup.server, movement, rx, |server| {
        client::with_machine(setup.client, movement, rx, |client| {
            let any = |is: fn(&Operation) -> bool| operations.iter().any(is);
            let mut world = World {
                client,
                server,
                // Bytes may be in transit for any time.
                monitor: Monitor::new().race_window(Millis::MAX),
                up: Pipe::default(),
                down: Pipe::default(),
                is_intact: !any(|it| matches!(it, Operation::Tamper(..))),
                is_timeless: !any(|it| matches!(it, Operation::Time(_))),
                shuts_down: any(|it| {
                    matches!(it, Operation::Client(Client::Shutdown) | Operation::Server(Server::Shutdown(_)))
                }),
                dialogue: Vec::new(),
            };
            let outcome = operations.iter().try_for_each(|operation| world.step(operation));
            let outcome = outcome.and_then(|()| world.finish());
            world.merge_dialogues();
            match outcome {
                Ok(()) => Ok(Summary::default()),
                Err(why) => Err(Violation { why, dialogue: world.dialogue }.with_setup(&(setup, movement))),
            }
        })
    })
}

struct World<'s, 'c> {
    client: client::World<'c>,
    server: server::World<'s>,
    monitor: Monitor,
    up: Pipe,
    down: Pipe,
    /// Whether no line is damaged.
    is_intact: bool,
    /// Whether no operation lets time pass.
    is_timeless: bool,
    /// Whether an application shuts its machine down.
    shuts_down: bool,
    dialogue: Vec<String>,
}

impl World<'_, '_> {
    /// Moves the dialogues of both machines into one.
    fn merge_dialogues(&mut self) {
        let client = self.client.dialogue.drain(..).map(|line| format!("client {line}"));
        self.dialogue.extend(client);
        let server = self.server.dialogue.drain(..).map(|line| format!("server {line}"));
        self.dialogue.extend(server);
    }

    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        self.run_until_idle()?;
        self.dialogue.push(format!("* {operation:?}"));
        match operation {
            Operation::Client(operation) if operation.is_application_action() => {
                if let Err(why) = self.client.perform(operation)? {
                    self.dialogue.push(format!("client ! refused: {why:?}"));
                }
            }
            Operation::Server(operation) if operation.is_application_action() => {
                self.server.perform(operation)?
            }
            Operation::Client(_) | Operation::Server(_) => {}
            Operation::Arrive(towards, count) => self.arrive(*towards, usize::from(*count) * 8)?,
            Operation::Deliver => self.deliver()?,
            Operation::Time(time) => self.advance_time(Millis((*time).into())),
            Operation::Tamper(Towards::Server, nth, trick) => self.up.tamper(*nth, *trick),
            Operation::Tamper(Towards::Client, nth, trick) => self.down.tamper(*nth, *trick),
        }
        self.run_until_idle()
    }

    fn run_until_idle(&mut self) -> Result<(), String> {
        self.client.run_until_idle()?;
        self.server.run_until_idle()?;
        let now = self.client.transport.now;
        let by_client = self.up.take(&self.client.transport.output);
        let mut violations = self.monitor.bytes(Sender::Client, by_client, now);
        let by_server = self.down.take(&self.server.transport.output);
        violations.extend(self.monitor.bytes(Sender::Server, by_server, now));
        violations.retain(|violation| !BY_APPLICATIONS.contains(&violation.rule));
        // With damaged lines, violations do not count: the monitor sees the original lines, but the receiver does not.
        if let Some(violation) = violations.first().filter(|_| self.is_intact) {
            return Err(format!("the monitor reports: {violation}"));
        }
        // A closed machine also closes its output.
        self.server.transport.ended |= self.client.closed && self.up.bytes.is_empty();
        self.client.transport.ended |= self.server.closed && self.down.bytes.is_empty();
        self.merge_dialogues();
        Ok(())
    }

    fn advance_time(&mut self, time: Millis) {
        for transport in [&mut self.client.transport, &mut self.server.transport] {
            transport.now = transport.now.plus(time);
        }
    }

    fn arrive(&mut self, towards: Towards, count: usize) -> Result<(), String> {
        let (bytes, lines) = match towards {
            Towards::Server => self.up.arrive(count),
            Towards::Client => self.down.arrive(count),
        };
        match towards {
            Towards::Server if !self.server.closed && !self.server.transport.ended => {
                for line in lines {
                    self.server.record_line(&line);
                }
                self.server.work += bytes.len();
                self.server.transport.pending.extend(bytes);
            }
            Towards::Client if !self.client.closed && !self.client.transport.ended => {
                for line in lines {
                    self.record_server_line(&line);
                }
                self.client.work += bytes.len();
                self.client.transport.pending.extend(bytes);
            }
            _ => {}
        }
        self.run_until_idle()
    }

    /// Records a line of the server in the client's model.
    fn record_server_line(&mut self, line: &[u8]) {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { return };
        let in_session = self.client.client.state() == State::Ready && self.is_intact;
        match (value.get("method").and_then(Value::as_str), value.get("id")) {
            (Some(_), Some(id)) => self.client.app.tickets.request(id.to_string(), in_session),
            (Some("notifications/cancelled"), None) => {
                self.client.app.tickets.cancel_request(&value["params"]["requestId"].to_string());
            }
            _ => {}
        }
    }

    fn deliver(&mut self) -> Result<(), String> {
        for _ in 0..1000 {
            self.run_until_idle()?;
            if self.up.bytes.is_empty() && self.down.bytes.is_empty() {
                return Ok(());
            }
            self.arrive(Towards::Server, usize::MAX)?;
            self.arrive(Towards::Client, usize::MAX)?;
        }
        Err("the machines never become idle".into())
    }

    /// Delivers all bytes and waits until all requests end. Then shuts the client down.
    fn finish(&mut self) -> Result<(), String> {
        self.deliver()?;
        self.wait(Millis(25_000))?;
        self.client.app.tickets.check_end()?;
        self.check_outcomes()?;
        self.client.client.shutdown(self.client.transport.now);
        self.deliver()?;
        self.wait(Millis(25_000))?;
        match (self.client.closed, self.server.closed) {
            (true, true) => Ok(()),
            closed => Err(format!("client and server do not both close: {closed:?}")),
        }
    }

    fn wait(&mut self, time: Millis) -> Result<(), String> {
        let end = self.client.transport.now.plus(time);
        while self.client.transport.now < end
            && !(self.client.closed && self.server.closed)
            && !self.is_idle()
        {
            let next = [
                self.client.transport.deadline.filter(|_| !self.client.closed),
                self.server.transport.deadline.filter(|_| !self.server.closed),
            ];
            let next = next.into_iter().flatten().min().unwrap_or(end).min(end);
            self.advance_time(Millis(next.0.saturating_sub(self.client.transport.now.0).max(1)));
            self.deliver()?;
        }
        Ok(())
    }

    /// Returns whether the client is connected and no request is open.
    fn is_idle(&self) -> bool {
        matches!(self.client.client.state(), State::Ready | State::Stateless)
            && self.client.app.tickets.check_end().is_ok()
            && self.server.app.obligations.is_idle()
    }

    /// Checks that every call has ended with the right outcome.
    fn check_outcomes(&self) -> Result<(), String> {
        for (n, end) in &self.client.app.tickets.ends {
            let Some(call) = usize::try_from(*n).ok().and_then(|n| self.client.calls.get(n)) else {
                continue;
            };
            let words = format!("answer of {n}.");
            let right = match call {
                Call::Tool(Behavior::Answer | Behavior::Progress | Behavior::Log | Behavior::Change, _) => {
                    end.starts_with("Result") && end.contains(&words)
                }
                Call::Tool(Behavior::Error, _) => end.starts_with("Error") && end.contains(&words),
                Call::Tool(Behavior::Drop | Behavior::Busy | Behavior::Unbalanced, _) => {
                    end.starts_with("Error")
                }
                Call::Ping => end.starts_with("Result"),
                _ => !end.starts_with("Failed"),
            };
            let right = right
                || !self.is_intact
                || self.shuts_down
                || !self.is_timeless && end.starts_with("Failed(TimedOut")
                || self.is_slow(call) && end.starts_with("Failed");
            if !right {
                return Err(format!("request {n}, {call:?}, has the wrong outcome {end}"));
            }
        }
        Ok(())
    }

    /// Returns whether the application defers the call, or requires input each time. Such a call may fail.
    fn is_slow(&self, call: &Call) -> bool {
        match call {
            Call::Tool(what, _) | Call::Read(what) | Call::Prompt(what) | Call::Complete(what) => {
                matches!(what, Behavior::Defer(_) | Behavior::Needs)
            }
            _ => false,
        }
    }
}
