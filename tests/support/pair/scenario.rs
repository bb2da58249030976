//! A client, and a server with the features in `FEATURES`, connected by pipes of random capacity.
//!
//! A script states the events of client and server, and runs in each of its revisions with many seeds. So the harness
//! also shows that partial reads, partial writes and buffer sizes have no effect.

use std::collections::{BTreeMap, VecDeque};

use mcp_proto::client::{self, ClientConfig, Connect, Event, Options, ServerRequest};
use mcp_proto::input::{Choice, CreateMessage, Field, Form, ListRoots, OpenUrl, SampleMessage};
use mcp_proto::server::{
    self, Completion, Feature, Logging, Prompt, PromptArgument, Prompts, Resource, ResourceTemplate,
    Resources, ServerConfig, Subscriptions, Tool, Tools,
};
use mcp_proto::{
    Action, Client, ClientCapabilities, Level, Millis, Outcome, Revision, Revisions, SendError, Server,
    Ticket,
};

use super::{Pipe, transfer};
use crate::support::client::{TIMES, describe};
use crate::support::{FailureContext, Random};

/// Generates enough entries for several pages.
macro_rules! numbered {
    ($make:path, $prefix:literal, $($number:literal)*) => {
        [$($make(concat!($prefix, $number), concat!("n", $number)).description(LONG)),*]
    };
}

/// A text so long that each list needs several pages.
const LONG: &str = "A description of about 150 characters, so that a page of the list has only a few entries, and a client has to request several pages of every list.";

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}").description(LONG),
    Tool::new("later", "{}").description(LONG),
    Tool::new("steps", "{}").description(LONG),
    Tool::new("speaks", "{}").description(LONG),
    Tool::new("asks", "{}").description(LONG),
    Tool::new("forever", "{}").description(LONG),
    Tool::new("roots", "{}").description(LONG),
    Tool::new("page", "{}").description(LONG),
    Tool::new("last", "{}").description(LONG),
])
.list_changed();
static RESOURCES: Resources = Resources::new(
    &numbered!(Resource::new, "lib:n", "0" "1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11"),
)
.templates(
    &numbered!(ResourceTemplate::new, "lib:{a}/{b}/", "0" "1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11"),
)
.list_changed()
.subscribe();
static PROMPTS: Prompts = Prompts::new(&[
    Prompt::new("review").arguments(&[
        PromptArgument::new("book").required(),
        PromptArgument::new("style").values(&["short", "shorter", "long"]),
    ]),
    Prompt::new("b").description(LONG),
    Prompt::new("c").description(LONG),
    Prompt::new("d").description(LONG),
    Prompt::new("e").description(LONG),
    Prompt::new("f").description(LONG),
    Prompt::new("g").description(LONG),
    Prompt::new("h").description(LONG),
    Prompt::new("i").description(LONG),
])
.list_changed();
static FEATURES: [&dyn Feature; 6] = [&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Logging, &Subscriptions];

static FIELDS: [Field; 2] =
    [Field::text("name").required(), Field::choice("how", &[Choice::new("a"), Choice::new("b")])];
pub(crate) static FORM: Form = Form::new("Who?", &FIELDS);
pub(crate) static PAGE: OpenUrl = OpenUrl::new("Log in", "https://example.com/", "e1");
pub(crate) static MODEL: CreateMessage = CreateMessage::new(&[SampleMessage::user("Say it")], 9);

/// The capabilities of a client that accepts every kind of input request.
pub(crate) const EVERYTHING: ClientCapabilities = ClientCapabilities::ROOTS_LIST_CHANGED
    .with(ClientCapabilities::SAMPLING_TOOLS)
    .with(ClientCapabilities::ELICITATION_FORM)
    .with(ClientCapabilities::ELICITATION_URL);

/// The client's handler of requests of the server.
type Answers = Box<dyn FnMut(ServerRequest<'_>)>;

pub(crate) struct Scenario {
    pub(crate) client: Client<'static>,
    pub(crate) server: Server<'static>,
    pub(crate) revision: Revision,
    pub(crate) now: u64,
    up: Pipe,
    down: Pipe,
    random: Random,
    most: usize,
    client_events: Vec<String>,
    server_events: Vec<String>,
    /// Requests of the client with their names. `pages` has the entries that each list request received, and `ends`
    /// counts the ends of each request.
    names: Vec<(Ticket, String)>,
    pages: BTreeMap<Ticket, Vec<String>>,
    ends: BTreeMap<Ticket, usize>,
    /// Requests of the server by name, and whether they have ended.
    asks: Vec<(Ticket, String, bool)>,
    pub(crate) deferred: Vec<Ticket>,
    pub(crate) listening: Vec<Ticket>,
    answers: Answers,
    closed: bool,
}

fn leak(length: usize) -> &'static mut [u8] {
    Box::leak(vec![0; length].into_boxed_slice())
}

impl Scenario {
    fn new(revision: Revision, declared: ClientCapabilities, seed: u64) -> Scenario {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let stateless = revision == Revision::V2026_07_28;
        let connect = if stateless { Connect::Stateless } else { Connect::Handshake };
        let only = Revisions::only(revision);
        let info = ClientConfig::new("c", "1").connect(connect).revisions(only).timeouts(TIMES);
        let info = Box::leak(Box::new(info.input_limit(6).capabilities(declared)));
        let slots = Box::leak(vec![client::Slot::EMPTY; 6].into_boxed_slice());
        let client = Client::new(info, leak(1600 + random.below(900)), leak(900 + random.below(900)));
        let client = client.unwrap().in_flight(slots, leak(6 * 200)).seed(seed);
        let info = Box::leak(Box::new(ServerConfig::new("s", "1").features(&FEATURES).revisions(only)));
        let slots = Box::leak(vec![server::Slot::EMPTY; 6].into_boxed_slice());
        let server = Server::new(info, leak(1100 + random.below(900)), leak(1000 + random.below(500)));
        let server = server.unwrap().in_flight(slots, leak(6 * 100)).unwrap();
        let narrow = random.below(2);
        let capacity = 1 + random.below([600, 3][narrow]);
        let most = 1 + random.below([300, 2][narrow]);
        let pipe = || Pipe { bytes: VecDeque::new(), capacity };
        Scenario {
            client,
            server: server.subscription_buffer(leak(200)).batch_buffer(leak(1200)).seed(seed),
            revision,
            now: 0,
            up: pipe(),
            down: pipe(),
            most,
            random,
            client_events: Vec::new(),
            server_events: Vec::new(),
            names: Vec::new(),
            pages: BTreeMap::new(),
            ends: BTreeMap::new(),
            asks: Vec::new(),
            deferred: Vec::new(),
            listening: Vec::new(),
            answers: Box::new(|asked| asked.decline()),
            closed: false,
        }
    }

    /// Runs a script in each of these revisions, with many seeds.
    pub(crate) fn run(revisions: Revisions, declared: ClientCapabilities, dialogue: impl Fn(&mut Scenario)) {
        for revision in revisions.newest_first() {
            for seed in 0..16 {
                let _context = FailureContext(format!("{revision}, seed {seed}"));
                let mut pair = Scenario::new(revision, declared, seed);
                pair.run_until_idle().expect_client_events(&[&format!("connected {revision}")]);
                let server_events: &[&str] = if pair.is_stateless() { &[] } else { &["connected", "ready"] };
                pair.expect_server_events(server_events);
                dialogue(&mut pair);
                pair.run_until_idle().expect_client_events(&[]).expect_server_events(&[]);
                for (ticket, name) in &pair.names {
                    let ends = pair.ends.get(ticket).copied().unwrap_or(0);
                    let open = pair.client.is_pending(*ticket);
                    assert!(ends == 1 || (ends == 0 && open), "{name} has ended {ends} times");
                }
            }
        }
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.revision == Revision::V2026_07_28
    }

    pub(crate) fn on_server_request(
        &mut self,
        answers: impl FnMut(ServerRequest<'_>) + 'static,
    ) -> &mut Scenario {
        self.answers = Box::new(answers);
        self
    }

    /// Sends a request of the client once there is space.
    pub(crate) fn start(
        &mut self,
        name: &str,
        ask: impl Fn(&mut Client<'static>) -> Result<Ticket, SendError>,
    ) -> Ticket {
        for _ in 0..100_000 {
            match ask(&mut self.client) {
                Ok(ticket) => {
                    self.names.push((ticket, name.to_owned()));
                    return ticket;
                }
                Err(SendError::Busy) => _ = self.step(),
                Err(why) => panic!("{name}: {why:?}"),
            }
        }
        panic!("{name}: the buffer never has space");
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &str, options: Options<'_>) -> Ticket {
        self.start(tool, |client| client.call_json(tool, arguments, options))
    }

    /// Cancels a request of the client. A later event that ends the request fails the test.
    pub(crate) fn cancel(&mut self, ticket: Ticket) {
        self.client.cancel(ticket, "why").unwrap();
        self.end(ticket);
    }

    /// Sends a request of the server once there is space.
    pub(crate) fn request(
        &mut self,
        name: &str,
        ask: impl Fn(&mut Server<'static>) -> Result<Ticket, SendError>,
    ) -> Ticket {
        for _ in 0..100_000 {
            match ask(&mut self.server) {
                Ok(ticket) => {
                    self.asks.push((ticket, name.to_owned(), false));
                    return ticket;
                }
                Err(SendError::Busy) => _ = self.step(),
                Err(why) => panic!("{name}: {why:?}"),
            }
        }
        panic!("{name}: the buffer never has space");
    }

    /// Writes a line as the client.
    pub(crate) fn raw(&mut self, line: &str) -> &mut Scenario {
        self.run_until_idle();
        self.up.bytes.extend(line.as_bytes());
        self.up.bytes.push_back(b'\n');
        self.run_until_idle()
    }

    /// Replaces the connection, and runs.
    pub(crate) fn reconnect(&mut self) -> &mut Scenario {
        self.break_connection();
        self.run_until_idle()
    }

    /// Replaces the connection without running.
    pub(crate) fn break_connection(&mut self) {
        self.client.reconnect();
        self.server.reset();
        self.up.bytes.clear();
        self.down.bytes.clear();
        self.listening.clear();
        self.deferred.clear();
    }

    pub(crate) fn at(&mut self, now: u64) -> &mut Scenario {
        self.run_until_idle();
        self.now = now;
        self.run_until_idle()
    }

    /// Takes the events of the client that no earlier call has taken. Checks that they equal `expected`.
    #[track_caller]
    pub(crate) fn expect_client_events(&mut self, expected: &[&str]) -> &mut Scenario {
        assert_eq!(std::mem::take(&mut self.client_events), expected, "events of the client");
        self
    }

    /// Takes the events of the server that no earlier call has taken. Checks that they equal `expected`. The harness
    /// does not record calls, reads, prompts, completions and `Writable`.
    #[track_caller]
    pub(crate) fn expect_server_events(&mut self, expected: &[&str]) -> &mut Scenario {
        assert_eq!(std::mem::take(&mut self.server_events), expected, "events of the server");
        self
    }

    /// Takes the events of the client that no earlier call has taken.
    pub(crate) fn take_client_events(&mut self) -> Vec<String> {
        std::mem::take(&mut self.client_events)
    }

    pub(crate) fn take_server_events(&mut self) -> Vec<String> {
        std::mem::take(&mut self.server_events)
    }

    /// Runs until 64 steps in a row move no byte and report no event.
    pub(crate) fn run_until_idle(&mut self) -> &mut Scenario {
        let mut quiet = 0;
        while quiet < 64 {
            quiet = if self.step() { 0 } else { quiet + 1 };
        }
        self
    }

    /// Polls one of the two machines once. Returns whether it moved a byte or reported an event.
    pub(crate) fn step(&mut self) -> bool {
        if self.random.below(2) == 0 { self.step_client() } else { self.step_server() }
    }

    fn end(&mut self, ticket: Ticket) {
        let ends = self.ends.entry(ticket).or_default();
        *ends += 1;
        assert_eq!(*ends, 1, "{ticket:?} has ended twice");
    }

    fn step_client(&mut self) -> bool {
        match self.client.poll(Millis(self.now)) {
            Action::Io(io) => return transfer(io, &mut self.up, &mut self.down, &mut self.random, self.most),
            Action::Closed => {
                if !std::mem::replace(&mut self.closed, true) {
                    self.client_events.push("closed".to_owned());
                }
                return false;
            }
            Action::Event => {}
        }
        let event = self.client.event().unwrap();
        let names = &self.names;
        let name = |ticket| names.iter().find(|it| it.0 == ticket).map_or("?", |it| it.1.as_str());
        let (text, end) = describe(&event, &name);
        // The buffers determine the numbers of pages and `Writable` events. So pages are joined, `Writable` is omitted.
        let (page, text) = match &event {
            Event::Tools(it) => (Some(it.ticket()), text),
            Event::Resources(it) => (Some(it.ticket()), text),
            Event::Templates(it) => (Some(it.ticket()), text),
            Event::Prompts(it) => (Some(it.ticket()), text),
            Event::Writable => return true,
            Event::Response(it) => match it.tool_result() {
                Some(result) if result.text().is_some() => {
                    let failed = if result.is_error() { "failed " } else { "" };
                    (None, format!("{}: {failed}{}", name(it.ticket()), result.text().unwrap()))
                }
                _ => (None, text),
            },
            _ => (None, text),
        };
        if let Event::ServerRequest(asked) = event {
            (self.answers)(asked);
        }
        match page {
            Some(ticket) => {
                let pages = self.pages.entry(ticket).or_default();
                pages.push(text.split_once(": ").unwrap().1.trim_end_matches("..").to_owned());
                if end.is_some() {
                    assert!(pages.len() > 1, "the list has only one page: {text}");
                    let name = name_of(&self.names, ticket);
                    self.client_events.push(format!("{name}: {}", pages.concat().trim_end_matches('.')));
                }
            }
            None => self.client_events.push(text),
        }
        if let Some(ticket) = end {
            self.end(ticket);
        }
        true
    }

    fn step_server(&mut self) -> bool {
        match self.server.poll(Millis(self.now)) {
            Action::Io(io) => return transfer(io, &mut self.down, &mut self.up, &mut self.random, self.most),
            Action::Closed => return false,
            Action::Event => {}
        }
        let text = match self.server.event().unwrap() {
            server::Event::Connected(_) => "connected".to_owned(),
            server::Event::Ready => "ready".to_owned(),
            server::Event::Writable => return true,
            server::Event::Call(call) => {
                self.deferred.extend(serve(call));
                return true;
            }
            server::Event::ReadResource(read) => {
                answer_read(read);
                return true;
            }
            server::Event::GetPrompt(prompt) => {
                let book = prompt.argument("book").map(|book| book.to_string()).unwrap_or_default();
                match prompt.name() {
                    "review" => prompt.messages(|out| {
                        out.user().text(format_args!("Read {book}"));
                        out.assistant().text("Why?");
                    }),
                    _ => prompt.invalid("not today"),
                }
                return true;
            }
            server::Event::Complete(complete) => {
                let value = complete.value().to_string();
                complete.values_of(200, (0..3).map(|number| format!("{value}{number}")));
                return true;
            }
            server::Event::Listening(it) => {
                self.listening.push(it.ticket());
                format!("listening {}", it.uris().collect::<Vec<_>>().join(", "))
            }
            server::Event::Subscribed(uri) => format!("subscribed {uri}"),
            server::Event::Unsubscribed(uri) => format!("unsubscribed {uri}"),
            server::Event::RootsChanged => "roots changed".to_owned(),
            server::Event::Cancelled { reason, .. } => {
                format!("cancelled {}", reason.map_or(String::new(), |reason| reason.to_string()))
            }
            server::Event::Expired(_) => "expired".to_owned(),
            server::Event::Progress(it) => {
                format!("{}: {}", name_of_ask(&self.asks, it.ticket()), it.progress())
            }
            server::Event::Response(it) => {
                let asked = self.asks.iter_mut().find(|asked| asked.0 == it.ticket()).unwrap();
                assert!(!std::mem::replace(&mut asked.2, true), "{} has ended twice", asked.1);
                let what = match it.outcome() {
                    Outcome::Result(result) => format!("result {result}"),
                    Outcome::Error(error) => format!("error {error}"),
                    other => format!("{other:?}"),
                };
                format!("{}: {what}", name_of_ask(&self.asks, it.ticket()))
            }
            server::Event::ProtocolError(fault) => format!("fault {fault:?}"),
            other => format!("{other:?}"),
        };
        self.server_events.push(text);
        true
    }
}

fn name_of_ask(asks: &[(Ticket, String, bool)], ticket: Ticket) -> &str {
    asks.iter().find(|it| it.0 == ticket).map_or("?", |it| it.1.as_str())
}

fn name_of(names: &[(Ticket, String)], ticket: Ticket) -> &str {
    names.iter().find(|it| it.0 == ticket).map_or("?", |it| it.1.as_str())
}

/// Responds to a call, or defers the call and returns its ticket.
fn serve(mut call: server::Call<'_>) -> Option<Ticket> {
    match call.name() {
        "echo" => {
            let text = call.raw_arguments().to_string();
            call.text(text);
        }
        "later" => return Some(call.defer(None).unwrap()),
        "steps" => {
            for step in 1..4u32 {
                let _ = call.progress(step, None, "on it");
            }
            call.text("done");
        }
        "speaks" => {
            for level in [Level::Debug, Level::Info, Level::Error] {
                let _ = call.log(level, None, level.as_str());
            }
            call.text("said");
        }
        "asks" => asks(call),
        "forever" => call.require_input(&[], Some("again")),
        "roots" => match call.input("r") {
            Some(_) => call.text("there are some"),
            None => call.require_input(&[("r", &ListRoots)], None),
        },
        _ => call.unknown_tool(),
    }
    None
}

/// Requires input in three rounds: form and roots, nothing, page and model.
fn asks(call: server::Call<'_>) {
    let state = call.request_state().map(|state| state.to_string());
    match state.as_deref() {
        None if call.input("model").is_some() => {
            let said = |key| call.input(key).unwrap().to_string();
            let text = format!("{} {}", said("page"), said("model"));
            call.text(text);
        }
        None => call.require_input(&[("who", &FORM), ("where", &ListRoots)], Some("first")),
        Some("first") => {
            let said = |key| call.input(key).unwrap().to_string();
            let state = format!("second {} {}", said("who"), said("where"));
            call.require_input(&[], Some(&state));
        }
        Some(state) if state.starts_with("second") => {
            assert_eq!(
                state,
                r#"second {"action":"accept","content":{"name":"octocat"}} {"roots":[{"uri":"file:///a"}]}"#
            );
            assert!(call.input("who").is_none(), "input responses belong to the last round");
            call.require_input(&[("page", &PAGE), ("model", &MODEL)], None);
        }
        Some(state) => panic!("{state}"),
    }
}

fn answer_read(read: server::ReadResource<'_>) {
    let variables = ["a", "b"].map(|name| read.variable(name).map(|value| value.to_string()));
    match read.uri() {
        "lib:n0" => read.text("text"),
        "lib:n1" => read.blob(&[0, 1, 0xFF]),
        uri if uri.contains("none") => read.not_found(),
        _ => read.text(format_args!("{variables:?}")),
    }
}
