//! Runs a server against a scripted client, at many paces.

pub(crate) mod catalog;
mod command;
mod extension;
mod requests;
mod script;
pub(crate) mod tools;

pub(crate) use script::{Setup, glob, hello};

use mcp_proto::server::Server;
use mcp_proto::{Action, Millis};

use super::transport::{Pace, PeerInput, Transport};
use tools::Record;

/// A server, its application, and the connection to the test.
pub(crate) struct ServerHarness<'b> {
    pub(crate) server: Server<'b>,
    pub(crate) transport: Transport,
    pub(crate) now: Millis,
    pub(crate) record: Record,
    pub(crate) deadline: Option<Millis>,
    closed: bool,
}

impl<'b> ServerHarness<'b> {
    pub(crate) fn new(server: Server<'b>, pace: Pace) -> ServerHarness<'b> {
        ServerHarness {
            server,
            transport: Transport::new(pace),
            now: Millis::ZERO,
            record: Record::default(),
            deadline: None,
            closed: false,
        }
    }

    /// Polls until the server makes no progress at this time.
    pub(crate) fn run(&mut self) {
        for _ in 0..5_000_000 {
            let ServerHarness { server, record, .. } = self;
            match server.poll(self.now) {
                Action::Closed => {
                    if !std::mem::replace(&mut self.closed, true) {
                        record.events.push("closed".into());
                    }
                    return;
                }
                Action::Event => tools::handle(server.event().expect("poll announced an event"), record),
                Action::Io(io) => {
                    self.deadline = io.deadline();
                    assert!(
                        self.deadline.is_none_or(|at| at > self.now),
                        "a deadline in the past makes callers spin"
                    );
                    if !self.transport.step(io) {
                        return;
                    }
                }
            }
        }
        panic!("the server is never idle; output: {}", String::from_utf8_lossy(&self.transport.output));
    }

    /// Resets the server, and replaces the connection by a new one.
    pub(crate) fn reset(&mut self) {
        self.server.reset();
        self.transport.reset();
        self.closed = false;
    }

    /// Returns whether the client has stopped reading.
    pub(crate) fn is_blocked(&self) -> bool {
        self.transport.peer_input == PeerInput::Blocked
    }

    /// Takes the output that no earlier call has taken.
    pub(crate) fn take_output(&mut self) -> String {
        String::from_utf8(std::mem::take(&mut self.transport.output)).expect("output is UTF-8")
    }
}
