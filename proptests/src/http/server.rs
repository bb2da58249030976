//! Runs arbitrary operations on an HTTP server, and checks the invariants of the server.
//!
//! - An exchange has at most one head. Its output has the announced length, and nothing follows the end.
//! - Each response arrives once: on the exchange of its request, or on the stream that continues the exchange. Each
//!   request gets its response, unless the request is cancelled, its client disconnects, its session ends, or the
//!   server shuts down.
//! - The server closes no connection of a client that has always read, unless the application releases the connection,
//!   or the stream continues on another connection.
//! - After a close, an exchange has no output.
//! - At the end, all exchanges, bodies and pages of a server that is not closed are free.
//! - The server never waits for a past time. After each operation, the server waits or is closed after at most
//!   10,000 polls.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Arbitrary;
use mcp_proto::Millis;
use mcp_proto::server::Server;
use mcp_proto_http::server::{ExchangeId, HttpServer, Method, Refusal, Step};

use super::application::{Application, NumberPolicy, change};
use super::exchange::{Exchange, Received, State, check_responses};
use super::request::{Body, Request, Shape};
use super::setup::{IDLE, Setup};

/// An operation of a client, of the application, or of time. Unless documented otherwise, a number chooses an exchange
/// or a call.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) enum Operation {
    /// A POST with its whole body.
    Send(Shape, Body),
    /// A POST with only the first part of its body: the fraction of the body is the number divided by 256.
    Begin(Shape, Body, u8),
    /// The rest of a body, or a part of it: the second number determines the length.
    Continue(u8, u8),
    Get(Shape),
    /// A GET with the id of a received event. The number chooses the event.
    Resume(Shape, u8),
    Delete(Shape),
    /// A new stream of HTTP+SSE, or a POST for an open stream.
    Legacy(Shape, Body),
    /// A client stops reading, or reads again.
    Stall(u8),
    Close(u8),
    /// Time passes; the number chooses one of several spans.
    Wait(u8),
    Respond(u8),
    Progress(u8),
    Ask(u8),
    Change,
    Release(u8),
}

/// The server under test, and its clients.
pub(crate) struct Run<'b> {
    pub(super) http: HttpServer<'b, NumberPolicy>,
    pub(super) server: Server<'b>,
    setup: Setup,
    application: Application,
    pub(super) now: Millis,
    pub(super) exchanges: Vec<Exchange>,
    /// The ids of all sessions. For a session of HTTP+SSE, the path for its messages.
    pub(super) sessions: Vec<String>,
    /// The ids of requests of the server.
    asked: Vec<String>,
    /// Sessions whose requests may lack a response: those with a cancelled request, and those that a client has ended.
    excused: BTreeSet<String>,
    tokens: usize,
    piece: usize,
    is_closed: bool,
}

/// Runs operations, and checks the invariants. `piece` is the largest piece of output that a client reads.
pub(crate) fn run(setup: Setup, piece: usize, operations: &[Operation]) {
    setup.with_servers(|http, server| {
        let mut run = Run::new(setup, http, server, piece);
        for operation in operations {
            run.perform(*operation);
            run.run();
            assert!(run.http.open_exchanges() <= setup.exchanges());
        }
        run.finish();
    });
}

impl<'b> Run<'b> {
    pub(super) fn new(
        setup: Setup,
        http: HttpServer<'b, NumberPolicy>,
        server: Server<'b>,
        piece: usize,
    ) -> Run<'b> {
        Run {
            http,
            server,
            setup,
            application: Application::default(),
            now: Millis(1),
            exchanges: Vec::new(),
            sessions: Vec::new(),
            asked: Vec::new(),
            excused: BTreeSet::new(),
            tokens: 0,
            piece: piece.max(1),
            is_closed: false,
        }
    }

    fn perform(&mut self, operation: Operation) {
        match operation {
            Operation::Send(shape, body) => _ = self.post(shape, body, 256),
            Operation::Begin(shape, body, part) => _ = self.post(shape, body, part.into()),
            Operation::Continue(which, part) => {
                if let Some(index) = self.choose(which, |exchange| !exchange.is_passed) {
                    self.pass(index, 1 + usize::from(part) * 2);
                }
            }
            Operation::Get(shape) => _ = self.begin(Request::new(Method::Get, shape, self.session(shape))),
            Operation::Resume(shape, which) => self.resume(shape, which),
            Operation::Delete(shape) => self.delete(shape),
            Operation::Legacy(shape, body) => self.legacy(shape, body),
            Operation::Stall(which) => {
                if let Some(index) = self.choose(which, |_| true) {
                    let exchange = &mut self.exchanges[index];
                    exchange.is_stalled = !exchange.is_stalled;
                    exchange.may_be_cut = true;
                    self.read(index);
                }
            }
            Operation::Close(which) => {
                if let Some(index) = self.choose(which, |_| true) {
                    self.close(index);
                }
            }
            Operation::Wait(time) => {
                let spans = [1, 900, 4_100, 16_000, 31_000, IDLE.0 + 1];
                self.now = self.now.plus(Millis(spans[usize::from(time) % spans.len()]));
            }
            Operation::Respond(which) => _ = self.application.respond(&mut self.server, which),
            Operation::Progress(which) => self.application.progress(&mut self.server, which),
            Operation::Ask(which) => self.application.ask(&mut self.http, &mut self.server, which),
            Operation::Change => change(&mut self.http, &mut self.server),
            Operation::Release(which) => {
                // The model does not know which exchange belongs to the call, so any of them may be cut.
                self.exchanges.iter_mut().for_each(|exchange| exchange.may_be_cut |= exchange.is_passed);
                self.application.release(&mut self.http, &self.server, which);
            }
        }
    }

    fn session(&self, shape: Shape) -> Option<&str> {
        let index = usize::from(shape.session) % (self.sessions.len() + 1);
        self.sessions.get(index).map(String::as_str).filter(|session| !session.starts_with('/'))
    }

    /// Chooses an open exchange for which `is` returns `true`. Returns the index of the exchange, or `None` if there is
    /// no such exchange.
    fn choose(&self, which: u8, is: impl Fn(&Exchange) -> bool) -> Option<usize> {
        let open = |(_, exchange): &(usize, &Exchange)| exchange.state == State::Open && is(exchange);
        let open: Vec<usize> =
            self.exchanges.iter().enumerate().filter(open).map(|(index, _)| index).collect();
        open.get(usize::from(which) % open.len().max(1)).copied()
    }

    /// Starts an exchange, and returns its index. If the server refuses the request, the refusal is the complete
    /// response, and there is no exchange.
    pub(super) fn begin(&mut self, request: Request) -> Result<usize, Refusal> {
        let id = self.http.begin(&request.head(), self.now)?;
        self.exchanges.push(Exchange::new(id, request));
        Ok(self.exchanges.len() - 1)
    }

    /// Sends a POST with the first part of its body: the fraction `part` divided by 256. Returns the index of the
    /// exchange, or `None` if the server refuses the request.
    pub(super) fn post(&mut self, shape: Shape, body: Body, part: usize) -> Option<usize> {
        self.tokens += 2;
        let asked = match body {
            Body::Respond(which) => self.asked.get(usize::from(which) % self.asked.len().max(1)),
            _ => None,
        };
        let request = Request::post(shape, self.session(shape), body, self.tokens, asked.map(String::as_str));
        self.excuse(&request, body);
        let length = request.body.len() * part / 256;
        let index = self.begin(request).ok()?;
        if part == 256 {
            self.pass(index, usize::MAX);
        } else if length > 0 {
            self.pass(index, length);
        }
        Some(index)
    }

    /// If the body is a cancellation, records that requests of its session may end without a response.
    fn excuse(&mut self, request: &Request, body: Body) {
        if matches!(body, Body::Cancel(_)) {
            self.excused.insert(request.text_of("mcp-session-id").to_owned());
        }
    }

    /// Passes at most `most` more bytes of a body to the server.
    pub(super) fn pass(&mut self, index: usize, most: usize) {
        let exchange = &mut self.exchanges[index];
        if exchange.request.method != Method::Post {
            return;
        }
        let rest = &exchange.request.body[exchange.passed..];
        let piece = &rest[..rest.len().min(most)];
        exchange.passed += piece.len();
        exchange.is_passed = exchange.passed == exchange.request.body.len();
        let (head, is_end) = (exchange.request.head(), exchange.is_passed);
        self.http.body(&mut self.server, exchange.id, &head, piece, is_end, self.now);
    }

    fn resume(&mut self, shape: Shape, which: u8) {
        let ids = self.exchanges.iter().flat_map(|exchange| &exchange.received);
        let ids: Vec<(u32, u32)> = ids.filter_map(|received| received.id).collect();
        let Some((stream, event)) = ids.get(usize::from(which) % ids.len().max(1)) else { return };
        let mut request = Request::new(Method::Get, shape, self.session(shape));
        request.fields.push(("last-event-id", format!("{stream}-{event}")));
        // If the stream continues on the new connection, the server closes the old connection.
        for exchange in &mut self.exchanges {
            let continues = exchange.request.text_of("last-event-id").starts_with(&format!("{stream}-"));
            exchange.may_be_cut |= continues || exchange.serial() == Some(*stream);
        }
        let _ = self.begin(request);
    }

    fn delete(&mut self, shape: Shape) {
        let request = Request::new(Method::Delete, shape, self.session(shape));
        let session = request.text_of("mcp-session-id").to_owned();
        if self.begin(request).is_ok() {
            self.excused.insert(session);
        }
    }

    /// Opens a stream of HTTP+SSE, or sends a message for an open stream.
    fn legacy(&mut self, shape: Shape, body: Body) {
        let index = usize::from(shape.session) % (self.sessions.len() + 1);
        let Some(target) = self.sessions.get(index).filter(|session| session.starts_with('/')).cloned()
        else {
            let mut request = Request::new(Method::Get, shape, None);
            request.target = "/sse".into();
            let _ = self.begin(request);
            return;
        };
        self.tokens += 2;
        let shape = Shape { revision: 3, ..shape };
        let mut request = Request::post(shape, None, body, self.tokens, None);
        request.target = target;
        if let Ok(index) = self.begin(request) {
            self.pass(index, usize::MAX);
        }
    }

    /// Closes a connection. From then on, its exchange has no output.
    pub(super) fn close(&mut self, index: usize) {
        let exchange = &mut self.exchanges[index];
        exchange.state = State::Closed;
        self.http.close(exchange.id);
        let output = self.http.output(exchange.id);
        assert!(output.head.is_none() && output.body.is_empty(), "output after a close");
    }

    /// Responds to one of the deferred calls.
    pub(super) fn respond(&mut self, which: u8) {
        self.application.respond(&mut self.server, which);
        self.run();
    }

    /// Polls until the server waits or is closed, and handles its events and output.
    pub(super) fn run(&mut self) {
        for _ in 0..10_000 {
            match self.http.poll(&mut self.server, self.now) {
                Step::Event => self.application.event(&mut self.server),
                Step::Output(id) => self.output(id),
                Step::Wait(deadline) => {
                    assert!(deadline.is_none_or(|at| at > self.now), "waits for the past: {deadline:?}");
                    return;
                }
                Step::Closed => {
                    self.is_closed = true;
                    return;
                }
            }
        }
        panic!("the server makes no progress");
    }

    fn output(&mut self, id: ExchangeId) {
        if let Some(index) = self.exchanges.iter().position(|exchange| exchange.id == id) {
            self.read(index);
        }
    }

    /// Reads the output of an exchange.
    fn read(&mut self, index: usize) {
        let exchange = &mut self.exchanges[index];
        while exchange.state == State::Open && !exchange.is_stalled {
            let output = self.http.output(exchange.id);
            let session = output.head.as_ref().and_then(|head| head.session);
            let Some(n) = exchange.take(output, self.piece) else { break };
            self.sessions.extend(session.map(|session| session.as_str().to_owned()));
            self.http.sent(exchange.id, n, self.now);
        }
        if let Some(path) = exchange.legacy_path() {
            let path = path.to_owned();
            if !self.sessions.contains(&path) {
                self.sessions.push(path);
            }
        }
        let requests = exchange.received.iter().map(|received| &received.message);
        for id in requests.filter(|message| message.get("method").is_some()).filter_map(|it| it.get("id")) {
            let id = id.to_string();
            if !self.asked.contains(&id) {
                self.asked.push(id);
            }
        }
    }

    /// Lets all clients read, all calls end, and all clients disconnect. Then checks that no state remains.
    fn finish(&mut self) {
        if self.setup.shuts_down() {
            self.server.shutdown(self.now);
        }
        for index in 0..self.exchanges.len() {
            self.exchanges[index].is_stalled = false;
            self.read(index);
        }
        for _ in 0..8 {
            self.run();
            while self.application.respond(&mut self.server, 0) {
                self.run();
            }
            self.now = self.now.plus(Millis(31_000));
        }
        for index in 0..self.exchanges.len() {
            if self.exchanges[index].state == State::Open {
                let exchange = &self.exchanges[index];
                assert!(exchange.listens() || self.is_excused(exchange), "never answered: {exchange:#?}");
                self.close(index);
            }
        }
        self.now = self.now.plus(Millis(IDLE.0 + 1));
        self.run();
        self.now = self.now.plus(Millis(IDLE.0 + 1));
        self.run();
        self.check();
        if !self.is_closed {
            assert_eq!(self.http.open_exchanges(), 0, "exchanges are left");
            self.check_memory();
        }
    }

    fn is_excused(&self, exchange: &Exchange) -> bool {
        self.is_closed
            || self.setup.shuts_down()
            || self.excused.contains(exchange.request.text_of("mcp-session-id"))
    }

    /// Checks what all exchanges have received.
    fn check(&self) {
        let mut streams = BTreeMap::<u32, BTreeMap<u32, &Received>>::new();
        let mut owners = BTreeMap::new();
        for exchange in &self.exchanges {
            let is_continued = exchange.request.method == Method::Get;
            if exchange.request.target != "/mcp" {
                continue;
            }
            for received in &exchange.received {
                let Some((stream, event)) = received.id else { continue };
                if !is_continued {
                    owners.entry(stream).or_insert(&exchange.request.calls);
                }
                let first = streams.entry(stream).or_default().entry(event).or_insert(received);
                assert_eq!(first.message, received.message, "one event id has two events");
            }
            if !is_continued {
                exchange.check(self.is_excused(exchange));
            }
        }
        for (stream, events) in streams {
            let calls = owners.get(&stream).map(|calls| calls.as_slice()).unwrap_or_default();
            check_responses(events.into_values(), calls, &stream);
        }
        for exchange in self.exchanges.iter().filter(|exchange| exchange.request.target == "/sse") {
            let path = exchange.legacy_path().map(str::to_owned);
            let posts = self.exchanges.iter().filter(|post| Some(&post.request.target) == path.as_ref());
            let tokens: BTreeSet<&str> =
                posts.flat_map(|post| &post.request.calls).map(|(_, token)| token.as_str()).collect();
            for text in exchange.received.iter().filter_map(|it| it.message.pointer("/result/content/0/text"))
            {
                let first = text.as_str().and_then(|text| text.split(' ').next()).unwrap_or_default();
                assert!(tokens.contains(first), "the result of another session: {exchange:#?}");
            }
        }
    }

    /// Checks that all slots, bodies and pages are free, by using them.
    fn check_memory(&mut self) {
        let shape = Shape { user: 0, session: 0, revision: 0, flaw: 0, id: 0 };
        self.sessions.clear();
        let large = 3;
        let count = self.setup.exchanges();
        let begun: Vec<usize> = (0..count).filter_map(|_| self.post(shape, Body::Call(large), 0)).collect();
        assert_eq!(begun.len(), count, "exchanges are left");
        assert!(self.post(shape, Body::Ping, 0).is_none(), "too many exchanges");
        for index in begun.iter().take(self.setup.bodies()) {
            self.pass(*index, 5);
        }
        for index in begun {
            self.pass(index, usize::MAX);
            self.run();
            let exchange = &self.exchanges[index];
            assert_eq!(
                (exchange.state, exchange.status),
                (State::Ended, 200),
                "memory is left: {exchange:#?}"
            );
        }
    }
}
