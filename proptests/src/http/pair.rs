//! A client and a server over HTTP, joined by connections that an adversary delays, cuts and refuses.
//!
//! - Each request of the client ends exactly once, unless the session is lost. Each result belongs to its own call.
//! - Without an adversary, each call that is not cancelled gets its result, or the error that its tool causes.
//! - At the end, neither side has an open exchange.

use arbitrary::Arbitrary;
use mcp_proto::client::{Client, ClientConfig, Connect, Event, Options, Slot};
use mcp_proto::server::Server;
use mcp_proto::{Action, Millis, Outcome, StreamId, Ticket};
use mcp_proto_http::client::{Begin, Exchange, ExchangeId, Finish, Head, HttpClient};
use mcp_proto_http::server::{HttpServer, SessionMode, Step};

use super::application::{Application, NAMES, NumberPolicy, change};
use super::connection::Connection;
use super::setup::{IDLE, Setup};

/// An operation of an application, of the adversary, or of time. Unless documented otherwise, a number chooses a call
/// or a connection.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) enum Operation {
    /// A call of the tool with this number.
    Call(u8),
    Cancel(u8),
    /// A request reaches the server.
    Send(u8),
    /// A part of a response reaches the client. The second number determines the length of the part.
    Receive(u8, u8),
    Cut(u8),
    /// A proxy refuses a request. The second number chooses the status.
    Refuse(u8, u8),
    Respond(u8),
    Progress(u8),
    Ask(u8),
    Change,
    Release(u8),
    /// Time passes; the number chooses one of several spans.
    Wait(u8),
}

/// A call that has not ended.
#[derive(Debug)]
struct Call {
    ticket: Ticket,
    tool: &'static str,
    token: String,
}

struct Pair<'t, 'c, 's> {
    client: Client<'c>,
    client_http: HttpClient<'c, &'t mut [Exchange<'c>]>,
    server: Server<'s>,
    server_http: HttpServer<'s, NumberPolicy>,
    application: Application,
    /// The open connections, oldest first.
    connections: Vec<Connection>,
    calls: Vec<Call>,
    tokens: usize,
    now: Millis,
    /// Whether there is no adversary.
    is_calm: bool,
    /// Whether the server stores sessions, or supports only the stateless era.
    has_sessions: bool,
}

/// Runs operations, and checks the invariants. Without an adversary, all bytes arrive at once.
pub(crate) fn run(setup: Setup, connect: Connect, is_calm: bool, operations: &[Operation]) {
    let setup = if is_calm { setup.roomy() } else { setup };
    setup.with_servers(|server_http, server| {
        let config = ClientConfig::new("c", "1").connect(connect);
        let (mut rx, mut tx, mut slots, mut text) = ([0; 2048], [0; 8192], [Slot::EMPTY; 4], [0; 1024]);
        let client = Client::new(&config, &mut rx, &mut tx).unwrap().message_mode().unwrap();
        let client = client.in_flight(&mut slots, &mut text);
        let (mut buffers, mut headers) = ([[0; 2048]; 5], [0; 256]);
        let mut exchanges = buffers.each_mut().map(Exchange::new);
        let mut pair = Pair {
            client,
            client_http: HttpClient::new(exchanges.as_mut_slice(), &mut headers),
            server,
            server_http,
            application: Application::default(),
            connections: Vec::new(),
            calls: Vec::new(),
            tokens: 0,
            now: Millis(1_000),
            is_calm,
            has_sessions: matches!(setup.mode(), SessionMode::Sessions | SessionMode::Off),
        };
        for operation in operations {
            pair.perform(*operation);
            pair.run_client();
            pair.run_server();
            if is_calm {
                pair.settle();
            }
        }
        pair.finish();
    });
}

impl Pair<'_, '_, '_> {
    fn perform(&mut self, operation: Operation) {
        match operation {
            Operation::Call(tool) => self.call(NAMES[usize::from(tool) % NAMES.len()]),
            // If the server supports the handshake era but stores no sessions, a cancelled call may keep its exchange
            // until the call ends.
            Operation::Cancel(which) if !self.calls.is_empty() && (self.has_sessions || !self.is_calm) => {
                let call = self.calls.remove(usize::from(which) % self.calls.len());
                assert!(self.client.cancel(call.ticket, "").is_ok(), "an open call has a valid ticket");
            }
            Operation::Respond(which) => _ = self.application.respond(&mut self.server, which),
            Operation::Progress(which) => self.application.progress(&mut self.server, which),
            // In the handshake era, a server without stored sessions cannot match a response with its own request.
            Operation::Ask(which) if self.has_sessions || !self.is_calm => {
                self.application.ask(&mut self.server_http, &mut self.server, which);
            }
            Operation::Change => change(&mut self.server_http, &mut self.server),
            // After a release, the client reconnects only after a delay. Without an adversary, no time passes.
            Operation::Release(which) if !self.is_calm => {
                self.application.release(&mut self.server_http, &self.server, which);
            }
            _ if self.is_calm => {}
            Operation::Send(which) => {
                if let Some(index) = self.choose(which, |connection| !connection.is_sent) {
                    self.send(index);
                }
            }
            Operation::Receive(which, amount) => {
                if let Some(index) = self.choose(which, Connection::has_news) {
                    self.receive(index, usize::from(amount) * 4 + 1);
                }
            }
            Operation::Cut(which) => {
                if let Some(index) = self.choose(which, |_| true) {
                    self.cut(index);
                }
            }
            Operation::Refuse(which, status) => {
                if let Some(index) = self.choose(which, |connection| !connection.is_sent) {
                    let statuses = [503, 429, 500, 401, 404, 502];
                    self.connections[index].refuse(statuses[usize::from(status) % statuses.len()]);
                }
            }
            Operation::Wait(time) => {
                let spans = [1, 1_100, 6_000, 31_000, IDLE.0 + 1];
                self.now = self.now.plus(Millis(spans[usize::from(time) % spans.len()]));
            }
            Operation::Cancel(_) | Operation::Ask(_) | Operation::Release(_) => {}
        }
    }

    fn call(&mut self, tool: &'static str) {
        self.tokens += 1;
        let token = format!("k{}", self.tokens);
        let arguments = format!(r#"{{"token":"{token}"}}"#);
        if let Ok(ticket) = self.client.call_json(tool, &arguments, Options::DEFAULT) {
            self.calls.push(Call { ticket, tool, token });
        }
    }

    fn choose(&self, which: u8, is: impl Fn(&Connection) -> bool) -> Option<usize> {
        let found = self.connections.iter().enumerate().filter(|(_, connection)| is(connection));
        let found: Vec<usize> = found.map(|(index, _)| index).collect();
        found.get(usize::from(which) % found.len().max(1)).copied()
    }

    /// Runs the client until it waits.
    fn run_client(&mut self) {
        for _ in 0..10_000 {
            let io = match self.client.poll(self.now) {
                Action::Event => {
                    self.event();
                    continue;
                }
                Action::Closed => return,
                Action::Io(io) => io,
            };
            let (transmit, _) = io.split();
            let Some(message) = transmit.frame() else { break };
            let (length, body) = (transmit.bytes().len(), message.message().to_vec());
            match self.client_http.begin(&message) {
                Begin::Busy => break,
                Begin::Drop => transmit.sent(length),
                Begin::Close(exchange) => {
                    transmit.sent(length);
                    self.close(exchange);
                }
                Begin::Send(exchange) => {
                    transmit.sent(length);
                    self.connect(exchange, Some(&body));
                }
            }
        }
        while let Some(exchange) = self.client_http.poll(self.now) {
            self.connect(exchange, None);
        }
    }

    fn event(&mut self) {
        let Some(Event::Response(response)) = self.client.event() else { return };
        let index = self.calls.iter().position(|call| call.ticket == response.ticket());
        let call = self.calls.remove(index.expect("the response of an open call"));
        match response.outcome() {
            Outcome::Result(result) => {
                let text = result.get("content").and_then(|content| content.index(0)?.get("text")?.string());
                let text = text.map(|text| text.to_string()).unwrap_or_default();
                assert_eq!(text.split(' ').next(), Some(call.token.as_str()), "the result of another call");
            }
            // The client has not listed the tools, so it omits a header field, and the server refuses `marked`.
            Outcome::Error(_) if matches!(call.tool, "needs" | "drop" | "marked") => {}
            outcome => assert!(!self.is_calm, "{call:?} has no result: {outcome:?}"),
        }
    }

    /// Opens a connection for an exchange. If the exchange has no request, closes its connection and ends the exchange.
    fn connect(&mut self, exchange: ExchangeId, message: Option<&[u8]>) {
        let Some(request) = self.client_http.request(exchange, message) else {
            self.close(exchange);
            return self.end(exchange);
        };
        assert!(self.connections.iter().all(|connection| connection.exchange != exchange), "opened twice");
        self.connections.push(Connection::new(exchange, &request));
    }

    /// Closes the connection of an exchange on behalf of the client.
    fn close(&mut self, exchange: ExchangeId) {
        if let Some(index) = self.connections.iter().position(|connection| connection.exchange == exchange) {
            self.remove(index);
        }
    }

    fn remove(&mut self, index: usize) -> Connection {
        let connection = self.connections.remove(index);
        if let Some(id) = connection.server {
            self.server_http.close(id);
        }
        connection
    }

    /// Runs the server until it waits.
    fn run_server(&mut self) {
        for _ in 0..10_000 {
            match self.server_http.poll(&mut self.server, self.now) {
                Step::Event => self.application.event(&mut self.server),
                Step::Output(id) => {
                    let found = self.connections.iter_mut().find(|connection| connection.server == Some(id));
                    if let Some(connection) = found {
                        connection.read(&mut self.server_http, self.now);
                    }
                }
                Step::Wait(_) => return,
                Step::Closed => panic!("the test does not stop the server"),
            }
        }
        panic!("the server makes no progress");
    }

    /// Delivers a request to the server.
    fn send(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        connection.send(&mut self.server_http, &mut self.server, self.now);
        self.run_server();
    }

    /// Delivers the next part of a response to the client: the head, at most `most` bytes of the body, or the end.
    fn receive(&mut self, index: usize, most: usize) {
        let connection = &mut self.connections[index];
        let exchange = connection.exchange;
        if let Some((status, fields)) = connection.head.take() {
            match self.client_http.head(exchange, status, &fields) {
                Head::Body | Head::Refused => {}
                Head::SessionLost { .. } => self.reset(),
                Head::Unknown => _ = self.remove(index),
            }
            return self.run_client();
        }
        if connection.body.is_empty() {
            return if connection.is_ended {
                self.cut(index)
            };
        }
        let count = connection.body.len().min(most);
        let piece: Vec<u8> = connection.body.drain(..count).collect();
        let mut rest = &piece[..];
        while !rest.is_empty() {
            self.run_client();
            let Action::Io(io) = self.client.poll(self.now) else { return };
            let step = self.client_http.body(exchange, rest);
            rest = &rest[step.consumed..];
            if let Some(inbound) = step.message {
                assert!(io.split().1.message(inbound.message, inbound.stream).is_ok(), "the client is ready");
            }
        }
        self.run_client();
    }

    /// Ends a connection, before or after the end of its response.
    fn cut(&mut self, index: usize) {
        self.run_client();
        // The client may have closed the connection.
        if index >= self.connections.len() {
            return;
        }
        let exchange = self.remove(index).exchange;
        self.end(exchange);
    }

    /// Passes the end of an exchange to the client.
    fn end(&mut self, exchange: ExchangeId) {
        let Action::Io(io) = self.client.poll(self.now) else { return };
        let closed = match self.client_http.finish(exchange, self.now) {
            Finish::Ended | Finish::Continues => return,
            Finish::Close(exchange) => return self.close(exchange),
            Finish::Closed(stream) => stream,
            Finish::SessionLost => return self.reset(),
            Finish::Message(inbound) => {
                assert!(io.split().1.message(inbound.message, inbound.stream).is_ok(), "the client is ready");
                inbound.stream
            }
        };
        self.closed(closed);
    }

    fn closed(&mut self, stream: StreamId) {
        self.run_client();
        if let Action::Io(io) = self.client.poll(self.now) {
            assert_eq!(io.split().1.stream_closed(stream), Ok(()), "the client is ready");
        }
        self.run_client();
    }

    /// Starts the client again after the session is lost. The requests of the client end without an event.
    fn reset(&mut self) {
        assert!(!self.is_calm, "the session is lost");
        while !self.connections.is_empty() {
            self.remove(0);
        }
        self.client.reset();
        self.calls.clear();
    }

    /// Runs both sides until no progress is possible.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            self.run_client();
            self.run_server();
            let sent = self.choose(0, |connection| !connection.is_sent);
            if let Some(index) = sent {
                self.send(index);
            } else if let Some(index) = self.choose(0, Connection::has_news) {
                self.receive(index, usize::MAX);
            } else {
                return;
            }
        }
        panic!("the pair makes no progress");
    }

    /// Runs without the adversary. Checks that all calls end, and that no state remains.
    fn finish(&mut self) {
        self.settle();
        for _ in 0..4 {
            while self.application.respond(&mut self.server, 0) {
                self.settle();
            }
            self.now = self.now.plus(Millis(31_000));
            self.settle();
        }
        assert!(self.calls.is_empty(), "calls without an end: {:?} {:#?}", self.calls, self.connections);
        self.client_http.shutdown(self.now);
        while !self.connections.is_empty() {
            self.remove(0);
        }
        while let Some(exchange) = self.client_http.poll(self.now) {
            self.connect(exchange, None);
        }
        while let Some(index) = self.choose(0, |connection| !connection.is_sent) {
            self.send(index);
        }
        while !self.connections.is_empty() {
            let exchange = self.remove(0).exchange;
            self.client_http.finish(exchange, self.now);
        }
        assert_eq!(self.client_http.next_deadline(), None, "an exchange of the client is left");
        for _ in 0..2 {
            self.now = self.now.plus(Millis(IDLE.0 + 1));
            self.run_server();
        }
        assert_eq!(self.server_http.open_exchanges(), 0, "exchanges of the server are left");
    }
}
