//! A transport in memory: requests in pieces, responses in pieces.

mod application;
mod messages;

pub(crate) use application::{LARGE, TestPolicy};
pub(crate) use messages::{Fields, Reply, Request, head_of, initialize, old_call};

pub(crate) use application::CONFIG;
use mcp_proto::json::{Json, Writer};
use mcp_proto::server::{Change, ChunkedContent, Event, RequestOptions, Server, Slot, TaskOptions};
use mcp_proto::{Buffer, ClientCapabilities, Level, Millis, Revision, Ticket};
use mcp_proto_http::server::{ExchangeId, ExchangeSlot, HttpConfig, HttpServer, SessionSlot, Slots, Step};
use std::collections::BTreeMap;

/// The HTTP server, the core server, and the transport between them and a test.
pub(crate) struct Harness {
    pub(crate) http: HttpServer<'static, TestPolicy>,
    pub(crate) server: Server<'static>,
    pub(crate) now: Millis,
    /// Maximum length of one piece of a body or of output.
    pub(crate) piece: usize,
    pub(crate) replies: BTreeMap<u64, Reply>,
    /// Exchanges whose client does not read.
    pub(crate) stalled: Vec<ExchangeId>,
    pub(crate) tickets: Vec<Ticket>,
    pub(crate) events: Vec<String>,
    pub(crate) wait: Option<Millis>,
    /// Whether the calls of `defer` and `ask` open a chunked response.
    pub(crate) chunked: bool,
}

fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// Sizes of the memory.
pub(crate) struct Sizes {
    pub(crate) exchanges: usize,
    pub(crate) sessions: usize,
    pub(crate) output: usize,
    pub(crate) bodies: usize,
    pub(crate) replay: usize,
    /// Whether the memory grows to these sizes. If not, the memory is lent.
    pub(crate) grows: bool,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { exchanges: 8, sessions: 4, output: 8192, bodies: 4, replay: 0, grows: false }
    }
}

fn slots<T: Copy>(sizes: &Sizes, count: usize, empty: T) -> Slots<'static, T> {
    if sizes.grows { Slots::grown(count) } else { leak(vec![empty; count]).as_mut_slice().into() }
}

fn buffer(sizes: &Sizes, size: usize) -> Buffer<'static> {
    if sizes.grows { Buffer::grown(size) } else { leak(vec![0; size]).as_mut_slice().into() }
}

impl Harness {
    pub(crate) fn new(config: HttpConfig<'static>) -> Harness {
        Harness::with_sizes(config, Sizes::default())
    }

    pub(crate) fn with_sizes(config: HttpConfig<'static>, sizes: Sizes) -> Harness {
        let mut limits = config.get_limits();
        if limits.body == 65_536 {
            (limits.body, limits.page) = (2048, 64);
        }
        let config = config.limits(limits);
        let body = limits.body;
        let server = Server::new(&CONFIG, leak([0; 4096]).as_mut_slice(), leak([0; 4096]).as_mut_slice());
        let server = server.unwrap().message_mode().unwrap();
        let server = server.in_flight(leak([Slot::EMPTY; 8]), leak([0; 8 * 32])).unwrap();
        let server = server
            .subscription_buffer(leak([0; 256]).as_mut_slice())
            .batch_buffer(leak([0; 4096]).as_mut_slice());
        let http = HttpServer::new(
            leak(config),
            TestPolicy::default(),
            slots(&sizes, sizes.exchanges, ExchangeSlot::EMPTY),
            buffer(&sizes, sizes.output),
        );
        let http = http
            .body_buffer(buffer(&sizes, sizes.bodies * body))
            .sessions(slots(&sizes, sizes.sessions, SessionSlot::EMPTY))
            .replay_buffer(buffer(&sizes, sizes.replay))
            .chunked_responses();
        Harness {
            http,
            server,
            now: Millis(0),
            piece: usize::MAX,
            replies: BTreeMap::new(),
            stalled: Vec::new(),
            tickets: Vec::new(),
            events: Vec::new(),
            wait: None,
            chunked: false,
        }
    }

    fn key(id: ExchangeId) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        hasher.finish()
    }

    /// Sends a request with its whole body. Returns the exchange, or the refusal of the head.
    pub(crate) fn send(&mut self, request: &Request) -> Result<ExchangeId, Reply> {
        let id = self.begin(request)?;
        let fields = Fields(&request.fields);
        if request.method == "POST" {
            let head = head_of(request, &fields);
            let bytes = request.body.as_bytes();
            let mut pieces = bytes.chunks(self.piece.min(bytes.len().max(1))).peekable();
            if pieces.peek().is_none() {
                self.http.body(&mut self.server, id, &head, b"", true, self.now);
            }
            while let Some(piece) = pieces.next() {
                let is_end = pieces.peek().is_none();
                self.http.body(&mut self.server, id, &head, piece, is_end, self.now);
            }
        }
        self.run();
        Ok(id)
    }

    pub(crate) fn begin(&mut self, request: &Request) -> Result<ExchangeId, Reply> {
        let fields = Fields(&request.fields);
        match self.http.begin(&head_of(request, &fields), self.now) {
            Ok(id) => {
                self.replies.insert(Self::key(id), Reply::default());
                Ok(id)
            }
            Err(refusal) => Err(Reply::refused(&refusal)),
        }
    }

    /// Passes one piece of a body to the server, and polls the server.
    pub(crate) fn piece(&mut self, id: ExchangeId, request: &Request, bytes: &[u8], is_end: bool) {
        self.pass(id, request, bytes, is_end);
        self.run();
    }

    /// Passes one piece of a body to the server, without a poll.
    pub(crate) fn pass(&mut self, id: ExchangeId, request: &Request, bytes: &[u8], is_end: bool) {
        let fields = Fields(&request.fields);
        self.http.body(&mut self.server, id, &head_of(request, &fields), bytes, is_end, self.now);
    }

    /// Sends a request, and returns the response so far.
    #[track_caller]
    pub(crate) fn ask(&mut self, request: &Request) -> Reply {
        match self.send(request) {
            Ok(id) => self.reply(id),
            Err(reply) => reply,
        }
    }

    pub(crate) fn reply(&self, id: ExchangeId) -> Reply {
        self.replies[&Self::key(id)].clone()
    }

    pub(crate) fn advance(&mut self, millis: u64) {
        self.now = self.now.plus(Millis(millis));
        self.run();
    }

    pub(crate) fn run(&mut self) {
        for _ in 0..100_000 {
            match self.http.poll(&mut self.server, self.now) {
                Step::Event => self.event(),
                Step::Output(id) => self.read(id),
                Step::Wait(deadline) => {
                    self.wait = deadline;
                    assert!(deadline.is_none_or(|at| at > self.now), "a deadline in the past: {deadline:?}");
                    return;
                }
                Step::Closed => return,
            }
        }
        panic!("the server makes no progress");
    }

    /// Reads all available output of an exchange. If the exchange is in `stalled`, only checks whether it is cut.
    pub(crate) fn read(&mut self, id: ExchangeId) {
        let Some(reply) = self.replies.get_mut(&Self::key(id)) else { return };
        while !reply.ended {
            let output = self.http.output(id);
            if output.is_cut {
                (reply.cut, reply.ended) = (true, true);
                return;
            }
            if self.stalled.contains(&id) || output.head.is_none() && reply.status == 0 {
                return;
            }
            let head = output.head.filter(|_| reply.status == 0);
            let n = output.body.len().min(self.piece);
            let is_end = output.is_end && n == output.body.len();
            if let Some(head) = &head {
                reply.read_head(head);
            } else if n == 0 && !is_end {
                return;
            }
            reply.body += std::str::from_utf8(&output.body[..n]).unwrap_or("?");
            reply.ended = is_end;
            if is_end && let Some(length) = reply.fields.get("content-length") {
                assert_eq!(*length, reply.body.len().to_string());
            }
            self.http.sent(id, n, self.now);
        }
    }

    fn event(&mut self) {
        match self.server.event().unwrap() {
            Event::Call(mut call) => match call.name() {
                "echo" | "marked" => call.text("echo"),
                "progress" => {
                    let _ = call.log(Level::Info, None, "log");
                    let _ = call.progress(1, None, "");
                    call.text("done");
                }
                "large" => call.text(LARGE),
                "write" => {
                    let data = call.raw_arguments().get("data").and_then(Json::string);
                    let length = data.map_or(0, |data| data.chars().count());
                    call.text(length);
                }
                "task" => drop(call.into_task(TaskOptions::new([7; 16])).unwrap()),
                "needs" => call.require_capability(ClientCapabilities::SAMPLING),
                _ if self.chunked => match call.chunked(ChunkedContent::Text) {
                    Ok(ticket) => self.tickets.push(ticket),
                    Err(call) => call.busy(),
                },
                _ => self.tickets.push(call.defer(None).unwrap()),
            },
            Event::Cancelled { ticket, .. } => {
                let number = self.tickets.iter().position(|known| *known == ticket);
                self.events.push(format!("cancelled {number:?}"));
            }
            Event::Response(response) => self.events.push(format!("{:?}", response.outcome())),
            Event::ProtocolError(error) => self.events.push(error.to_string()),
            Event::ArgumentChunk(_) => self.events.push("chunk".into()),
            Event::Ready => self.events.push("ready".into()),
            Event::Request(request) => {
                let value = request.params().get("value").and_then(Json::integer).unwrap_or_default();
                let members = |out: &mut Writer<'_>| out.field_integer("value", value);
                match request.revision() {
                    Revision::V2026_07_28 => request.result_of_type("com.example/later", members),
                    _ => request.result_with(members),
                }
            }
            Event::Notification { method, .. } => self.events.push(format!("received {method}")),
            _ => {}
        }
    }

    /// Responds to a deferred call.
    pub(crate) fn respond(&mut self, number: usize) {
        let ticket = self.tickets[number];
        self.server.reply(ticket).unwrap().text("late");
        self.run();
    }

    /// Sends progress of a deferred call.
    pub(crate) fn progress(&mut self, number: usize, amount: i32) {
        let ticket = self.tickets[number];
        self.server.reply(ticket).unwrap().progress(amount, None, "").unwrap();
        self.run();
    }

    /// Pings the client during a deferred call.
    pub(crate) fn ping_during(&mut self, number: usize) {
        let ticket = self.tickets[number];
        self.http.enter(&mut self.server, ticket).unwrap();
        self.server.ping(RequestOptions::DEFAULT.during(ticket)).unwrap();
        self.run();
    }

    pub(crate) fn changed(&mut self, change: Change<'_>) {
        self.http.changed(&mut self.server, change);
        self.run();
    }

    /// Opens a session of a revision, and returns its id.
    #[track_caller]
    pub(crate) fn initialize(&mut self, revision: &str) -> String {
        let reply = self.ask(&Request::post(initialize(revision)));
        assert_eq!(reply.status, 200, "{reply:?}");
        let session = reply.field("mcp-session-id").to_string();
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let reply = self.ask(&Request::old(initialized, &session));
        assert_eq!((reply.status, reply.field("content-length")), (202, "0"));
        session
    }
}
