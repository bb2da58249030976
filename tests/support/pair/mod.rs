//! Connects a client and a server by two pipes.
//!
//! In each step, pseudorandom numbers select which machine is polled and how many bytes move. A seed determines the
//! numbers, so a run can be repeated.

pub(crate) mod scenario;

use std::collections::VecDeque;

use crate::support::Random;
use crate::support::transport::{give_input, take_output};
use mcp_proto::client;
use mcp_proto::server::{self, Call};
use mcp_proto::{Action, Client, Io, Millis, Outcome, Revision, Server, Ticket};

pub(crate) struct Pipe {
    pub(crate) bytes: VecDeque<u8>,
    pub(crate) capacity: usize,
}

/// An event of the client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClientEvent {
    Connected(Revision),
    Failed(String),
    /// The text of a tool result, or the JSON of any other result. If there is no result, the error or the failure.
    Response(Ticket, Result<String, String>),
    Page(Vec<String>, bool),
    Progress(Ticket),
    Room,
    Closed,
    Other(String),
}

/// An event of the server other than a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerEvent {
    Cancelled(Ticket),
    Expired(Ticket),
    Other(String),
}

pub(crate) struct Pair<'c, 's> {
    pub(crate) client: Client<'c>,
    pub(crate) server: Server<'s>,
    pub(crate) up: Pipe,
    pub(crate) down: Pipe,
    pub(crate) random: Random,
    /// The maximum number of bytes that one step moves in each direction.
    pub(crate) most: usize,
    pub(crate) now: u64,
    pub(crate) client_events: Vec<ClientEvent>,
    pub(crate) server_events: Vec<ServerEvent>,
    closed: bool,
}

impl<'c, 's> Pair<'c, 's> {
    pub(crate) fn new(
        client: Client<'c>,
        server: Server<'s>,
        capacity: usize,
        most: usize,
        seed: u64,
    ) -> Pair<'c, 's> {
        let pipe = || Pipe { bytes: VecDeque::new(), capacity };
        Pair {
            client,
            server,
            up: pipe(),
            down: pipe(),
            random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            most,
            now: 0,
            client_events: Vec::new(),
            server_events: Vec::new(),
            closed: false,
        }
    }

    /// Polls one of the two machines once. Passes calls to `handle`. Returns whether bytes moved or an event
    /// was handled.
    pub(crate) fn step(&mut self, handle: &mut dyn FnMut(Call<'_>)) -> bool {
        if self.random.below(2) == 0 { self.step_client() } else { self.step_server(handle) }
    }

    /// Runs until 64 steps in a row move no bytes and have no event.
    pub(crate) fn run_until_idle(&mut self, handle: &mut dyn FnMut(Call<'_>)) {
        let mut quiet = 0;
        while quiet < 64 {
            quiet = if self.step(handle) { 0 } else { quiet + 1 };
        }
    }

    pub(crate) fn step_client(&mut self) -> bool {
        match self.client.poll(Millis(self.now)) {
            Action::Io(io) => transfer(io, &mut self.up, &mut self.down, &mut self.random, self.most),
            Action::Event => {
                let client_events = to_client_event(self.client.event().unwrap());
                self.client_events.push(client_events);
                true
            }
            Action::Closed => {
                if !std::mem::replace(&mut self.closed, true) {
                    self.client_events.push(ClientEvent::Closed);
                }
                false
            }
        }
    }

    pub(crate) fn step_server(&mut self, handle: &mut dyn FnMut(Call<'_>)) -> bool {
        match self.server.poll(Millis(self.now)) {
            Action::Io(io) => transfer(io, &mut self.down, &mut self.up, &mut self.random, self.most),
            Action::Event => {
                match self.server.event().unwrap() {
                    server::Event::Call(call) => handle(call),
                    server::Event::Cancelled { ticket, .. } => {
                        self.server_events.push(ServerEvent::Cancelled(ticket))
                    }
                    server::Event::Expired(ticket) => self.server_events.push(ServerEvent::Expired(ticket)),
                    other => self.server_events.push(ServerEvent::Other(format!("{other:?}"))),
                }
                true
            }
            Action::Closed => false,
        }
    }
}

fn to_client_event(event: client::Event<'_>) -> ClientEvent {
    match event {
        client::Event::Connected(it) => ClientEvent::Connected(it.revision()),
        client::Event::ConnectFailed(why) => ClientEvent::Failed(why.to_string()),
        client::Event::Response(end) => {
            let result = match (end.tool_result().and_then(|result| result.text()), end.outcome()) {
                (Some(text), _) => Ok(text.to_string()),
                (None, Outcome::Result(result)) => Ok(result.to_string()),
                (None, Outcome::Error(error)) => Err(error.to_string()),
                (None, Outcome::Failed(lost)) => Err(format!("{lost:?}")),
                (None, other) => Err(format!("{other:?}")),
            };
            ClientEvent::Response(end.ticket(), result)
        }
        client::Event::Tools(page) => ClientEvent::Page(
            page.tools().map(|tool| tool.name().unwrap().to_string()).collect(),
            page.is_last(),
        ),
        client::Event::Progress(it) => ClientEvent::Progress(it.ticket()),
        client::Event::Writable => ClientEvent::Room,
        other => ClientEvent::Other(format!("{other:?}")),
    }
}

pub(crate) fn transfer(io: Io<'_>, to: &mut Pipe, from: &mut Pipe, random: &mut Random, most: usize) -> bool {
    let (out, receive) = io.split();
    let free = to.capacity.saturating_sub(to.bytes.len());
    let taken = take_output(out, free.min(1 + random.below(most)), &mut to.bytes);
    let mut input: &[u8] = from.bytes.make_contiguous();
    let given = give_input(receive, 1 + random.below(most), &mut input);
    from.bytes.drain(..given);
    taken + given > 0
}
