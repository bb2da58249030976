//! A real client and a real server that repeat the steps of the model.

use std::collections::VecDeque;

use mcp_proto::client::{self, ClientConfig, Connect, Options, Timeouts};
use mcp_proto::input::ListRoots;
use mcp_proto::server::{self, Limits, RequestOptions, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, Client, ClientCapabilities, Machine, Millis, Revisions, Server, Ticket};
use serde_json::Value;

use super::model::{CALLS, Message, Move, Pair, Request, Setup, Side};

/// The length of every timeout of both sides, in milliseconds. Deferred calls of the server have no timeout.
const TIME: u64 = 1000;

static TOOLS: Tools = Tools::new(&[Tool::new("call", "{}")]);
static SERVER: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]).limits(
    Limits::DEFAULT
        .with_deferred_timeout(Millis(u64::MAX))
        .with_request_timeout(Millis(TIME))
        .with_grace(Millis(TIME)),
);
static HANDSHAKE_SERVER: ServerConfig = SERVER.revisions(Revisions::HANDSHAKE);
static CLIENT: ClientConfig =
    ClientConfig::new("c", "1").capabilities(ClientCapabilities::ROOTS_LIST_CHANGED).timeouts(Timeouts {
        probe: Millis(TIME),
        initialize: Millis(TIME),
        request: Millis(TIME),
        maximum: Millis(TIME),
        grace: Millis(TIME),
    });
static HANDSHAKE: ClientConfig = CLIENT.connect(Connect::Handshake);
static STATELESS: ClientConfig = CLIENT.connect(Connect::Stateless);

/// A message in transit, with its line.
type Sent = (Message, Vec<u8>);

/// The requests of one side with their tickets, and its unread messages.
#[derive(Default)]
struct Requests {
    calls: [(Request, Option<Ticket>); CALLS],
    server_request: (Request, Option<Ticket>),
    /// The messages that this side has not received.
    input: VecDeque<Sent>,
    is_closed: bool,
}

pub(crate) struct Machines {
    client: Client<'static>,
    server: Server<'static>,
    at_client: Requests,
    at_server: Requests,
    /// The JSON-RPC ids of the calls.
    ids: [Value; CALLS],
    /// The JSON-RPC id of `server/discover`.
    probe: Value,
    now: u64,
    is_second: bool,
    /// Whether the client has started. Before the start, the client is not polled.
    is_started: bool,
}

/// Ends a request. Panics if the request is not in flight.
fn end(request: &mut (Request, Option<Ticket>), by: Request) {
    assert_eq!(request.0, Request::InFlight, "the request has ended");
    request.0 = by;
}

impl Machines {
    pub(crate) fn new(setup: Setup) -> Machines {
        let (client, server) = match setup {
            Setup::Handshake => (&HANDSHAKE, &SERVER),
            Setup::Stateless => (&STATELESS, &SERVER),
            Setup::Fallback => (&CLIENT, &HANDSHAKE_SERVER),
        };
        let client = Client::new(client, Buffer::grown(700), Buffer::grown(900)).unwrap();
        let server = Server::new(server, Buffer::grown(700), Buffer::grown(900)).unwrap();
        Machines {
            client: client.in_flight_grown(CALLS + 1),
            server: server.in_flight_grown(CALLS + 1).unwrap(),
            at_client: Requests::default(),
            at_server: Requests::default(),
            ids: Default::default(),
            probe: Value::Null,
            now: 0,
            is_second: false,
            is_started: false,
        }
    }

    /// Returns the state of both machines, in the form of the model.
    pub(crate) fn pair(&self) -> Pair {
        let side = |state, side: &Requests| Side {
            state,
            changes: Vec::new(),
            calls: side.calls.map(|(state, _)| state),
            server_request: side.server_request.0,
            input: side.input.iter().map(|(message, _)| *message).collect(),
        };
        let client = side(self.client.state(), &self.at_client);
        assert_eq!(self.client.pending(), client.in_flight(), "{client:?}");
        let server = side(self.server.state(), &self.at_server);
        Pair { client, server, is_second: self.is_second }
    }

    /// Repeats a step of the model.
    pub(crate) fn apply(&mut self, step: Move) {
        let (mut client_input, mut server_input) = (None, None);
        match step {
            Move::Connect => self.is_started = true,
            Move::ToClient => client_input = self.at_client.input.pop_front(),
            Move::ToServer => server_input = self.at_server.input.pop_front(),
            Move::Call(n) => {
                let ticket =
                    self.client.call_json("call", &format!(r#"{{"n":{n}}}"#), Options::DEFAULT).unwrap();
                self.at_client.calls[n] = (Request::InFlight, Some(ticket));
            }
            Move::CancelCall(n) => {
                end(&mut self.at_client.calls[n], Request::Ended);
                self.client.cancel(self.at_client.calls[n].1.unwrap(), "").unwrap();
            }
            Move::Respond(n) => {
                end(&mut self.at_server.calls[n], Request::Ended);
                self.server.reply(self.at_server.calls[n].1.unwrap()).unwrap().text("x");
            }
            Move::ServerRequest => {
                let ticket = self.server.request(&ListRoots, RequestOptions::DEFAULT).unwrap();
                self.at_server.server_request = (Request::InFlight, Some(ticket));
            }
            Move::CancelServerRequest => {
                end(&mut self.at_server.server_request, Request::Ended);
                self.server.cancel(self.at_server.server_request.1.unwrap(), "").unwrap();
            }
            Move::Answer => {
                end(&mut self.at_client.server_request, Request::Ended);
                self.client.reply(self.at_client.server_request.1.unwrap()).unwrap().roots(|_| {});
            }
            Move::ShutDownClient => {
                self.client.shutdown(Millis(self.now));
                self.is_started = true;
            }
            Move::ShutDownServer => self.server.shutdown(Millis(self.now)),
            Move::Expire => self.now += TIME,
            Move::Reconnect => {
                self.client.reconnect();
                self.server.reset();
                (self.at_client, self.at_server) = (Requests::default(), Requests::default());
                (self.is_second, self.is_started) = (true, false);
            }
        }
        self.run(client_input, server_input);
    }

    /// Runs both machines, with at most one message each, until they wait.
    fn run(&mut self, mut client_input: Option<Sent>, mut server_input: Option<Sent>) {
        while self.is_started {
            let now = self.now;
            match step(&mut self.client, &mut self.at_client, &mut client_input, now) {
                Step::Line(line) => {
                    let message = self.client_message(&line);
                    send(&mut self.at_server, message, line);
                }
                Step::Event => self.client_event(),
                Step::Closed => send(&mut self.at_server, Message::End, Vec::new()),
                Step::Waits => break,
            }
        }
        loop {
            let now = self.now;
            match step(&mut self.server, &mut self.at_server, &mut server_input, now) {
                Step::Line(line) => {
                    let message = self.server_message(&line);
                    send(&mut self.at_client, message, line);
                }
                Step::Event => self.server_event(),
                Step::Closed => send(&mut self.at_client, Message::End, Vec::new()),
                Step::Waits => break,
            }
        }
    }

    /// Converts a line of the client to a message of the model.
    fn client_message(&mut self, line: &[u8]) -> Message {
        let value: Value = serde_json::from_slice(line).unwrap();
        match value["method"].as_str() {
            Some("server/discover") => {
                self.probe = value["id"].clone();
                Message::Discover
            }
            Some("initialize") => Message::Initialize,
            Some("notifications/initialized") => Message::Initialized,
            Some("tools/call") => {
                let n = value["params"]["arguments"]["n"].as_u64().unwrap();
                let n = usize::try_from(n).unwrap();
                self.ids[n] = value["id"].clone();
                Message::Call(n)
            }
            Some("notifications/cancelled") => match self.call(&value["params"]["requestId"]) {
                Some(n) => Message::CancelCall(n),
                None => Message::CancelConnect,
            },
            None => Message::Answer,
            Some(other) => panic!("the model has no {other}"),
        }
    }

    /// Converts a line of the server to a message of the model.
    fn server_message(&self, line: &[u8]) -> Message {
        let value: Value = serde_json::from_slice(line).unwrap();
        match value["method"].as_str() {
            Some("roots/list") => Message::ServerRequest,
            Some("notifications/cancelled") => Message::CancelServerRequest,
            Some(other) => panic!("the model has no {other}"),
            None => match self.call(&value["id"]) {
                Some(n) => Message::Result(n),
                None => match (value["id"] == self.probe, value.get("error").is_some()) {
                    (true, false) => Message::Discovered,
                    (true, true) => Message::Undiscovered,
                    (false, false) => Message::Accepted,
                    (false, true) => Message::Refused,
                },
            },
        }
    }

    /// Returns the number of the call with this id, if any.
    fn call(&self, id: &Value) -> Option<usize> {
        self.ids.iter().position(|known| known == id)
    }

    fn client_event(&mut self) {
        let Requests { calls, server_request, .. } = &mut self.at_client;
        match self.client.event().expect("poll returned Event, but event() returned None") {
            client::Event::Response(response) => {
                let ticket = Some(response.ticket());
                end(calls.iter_mut().find(|it| it.1 == ticket).expect("a call"), Request::Ended);
            }
            client::Event::ServerRequest(request) => {
                *server_request = (Request::InFlight, Some(request.defer(None).unwrap()));
            }
            client::Event::Cancelled { .. } => end(server_request, Request::Cancelled),
            client::Event::Expired(_) => end(server_request, Request::Ended),
            client::Event::Connected(_) | client::Event::ConnectFailed(_) => {}
            other => panic!("{other:?}"),
        }
    }

    fn server_event(&mut self) {
        let Requests { calls, server_request, .. } = &mut self.at_server;
        match self.server.event().expect("poll returned Event, but event() returned None") {
            server::Event::Call(call) => {
                let n = call.raw_arguments().get("n").unwrap().raw().parse::<usize>().unwrap();
                assert_eq!(calls[n].0, Request::New, "the call arrives once");
                calls[n] = (Request::InFlight, Some(call.defer(None).unwrap()));
            }
            server::Event::Response(response) => {
                assert_eq!(Some(response.ticket()), server_request.1);
                end(server_request, Request::Ended);
            }
            server::Event::Cancelled { ticket, .. } => {
                end(calls.iter_mut().find(|it| it.1 == Some(ticket)).expect("a call"), Request::Cancelled);
            }
            server::Event::Expired(ticket) => {
                end(calls.iter_mut().find(|it| it.1 == Some(ticket)).expect("a call"), Request::Ended);
            }
            server::Event::Connected(_) | server::Event::Ready | server::Event::ProtocolError(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Puts a message in transit, unless the receiver is closed.
fn send(to: &mut Requests, message: Message, line: Vec<u8>) {
    if !to.is_closed {
        to.input.push_back((message, line));
    }
}

/// The next output of a machine.
enum Step {
    Line(Vec<u8>),
    Event,
    Closed,
    Waits,
}

fn step(machine: &mut dyn Machine, side: &mut Requests, input: &mut Option<Sent>, now: u64) -> Step {
    if side.is_closed {
        return Step::Waits;
    }
    loop {
        let io = match machine.poll(Millis(now)) {
            Action::Event => return Step::Event,
            Action::Closed => {
                side.is_closed = true;
                side.input.clear();
                return Step::Closed;
            }
            Action::Io(io) => io,
        };
        let (out, mut receive) = io.split();
        if let Some(end) = out.bytes().iter().position(|byte| *byte == b'\n') {
            let line = out.bytes()[..=end].to_vec();
            out.sent(line.len());
            return Step::Line(line);
        }
        assert!(out.bytes().is_empty(), "the output has whole lines");
        match input.take() {
            Some((Message::End, _)) => receive.eof(),
            Some((_, line)) => {
                receive.space()[..line.len()].copy_from_slice(&line);
                receive.filled(line.len());
            }
            None => return Step::Waits,
        }
    }
}
