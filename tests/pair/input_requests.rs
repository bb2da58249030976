//! Tools that request input with `InputRequests`, in both eras.

use std::collections::VecDeque;

use crate::support::pair::{Pipe, transfer};
use crate::support::{FailureContext, Random};
use mcp_proto::client::{self, ClientConfig, Connect, Options, ServerRequest};
use mcp_proto::input::{CreateMessage, ElicitResultView, Field, Form, ListRoots, RootsView, SampleMessage};
use mcp_proto::input::{Input, SampledView};
use mcp_proto::server::{self, Call, ChunkedContent, InputRequests, Reply, Router, ServerConfig};
use mcp_proto::{
    Action, Buffer, Client, ClientCapabilities, Millis, Outcome, Revision, Revisions, Server, Ticket,
    ToolArguments, router, tool,
};

static FIELDS: [Field; 1] = [Field::text("name").required()];
static FORM: Form = Form::new("Who?", &FIELDS);
static MESSAGES: [SampleMessage; 1] = [SampleMessage::user("Say a word")];
static SAMPLE: CreateMessage = CreateMessage::new(&MESSAGES, 9);

/// The application of the server. Two calls may wait for input at a time.
struct Board {
    questions: InputRequests<'static, Board, Question, 2>,
    /// The call with an open chunked response.
    open: Option<Ticket>,
}

impl AsMut<InputRequests<'static, Board, Question, 2>> for Board {
    fn as_mut(&mut self) -> &mut InputRequests<'static, Board, Question, 2> {
        &mut self.questions
    }
}

#[derive(ToolArguments)]
struct Question {
    /// user, model, client or chunks
    of: String,
}

/// Greets somebody.
#[tool]
fn greet(board: &mut Board, question: Question, call: Call<'_>) {
    let input: &'static (dyn Input + Sync) = match question.of.as_str() {
        "user" | "chunks" => &FORM,
        "model" => &SAMPLE,
        _ => &ListRoots,
    };
    InputRequests::request(board, call, input, question, respond);
}

fn respond(board: &mut Board, question: Question, outcome: Outcome<'_>, reply: Reply<'_>) {
    let result = match outcome {
        Outcome::Result(result) => result,
        Outcome::Error(error) => return reply.fail(("error: ", error)),
        Outcome::Failed(failure) => return reply.fail(failure),
        _ => return reply.fail("unknown outcome"),
    };
    if question.of == "chunks" {
        board.open = Some(reply.chunked(ChunkedContent::Text).unwrap());
        return;
    }
    let text = match question.of.as_str() {
        "user" => ElicitResultView::from_json(result).and_then(|form| form.field("name")?.string()),
        "model" => SampledView::from_json(result).and_then(|message| message.text()),
        _ => return reply.text(RootsView::from_json(result).map_or(0, |roots| roots.count())),
    };
    match text {
        Some(text) => reply.text(("Hello, ", text, "!")),
        None => reply.fail(("no name from the ", question.of.as_str())),
    }
}

static ROUTER: Router<Board> = router![greet];

/// The client's reaction to an input request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Accept,
    Decline,
    /// An error, which only the handshake era allows.
    Error,
    /// A response with a text of 300 bytes.
    Long,
    Silence,
}

/// A client, and a server that requests input from the client, with pipes between them.
struct InputPair {
    client: Client<'static>,
    server: Server<'static>,
    board: Board,
    up: Pipe,
    down: Pipe,
    random: Random,
    now: u64,
    answer: Answer,
    asked: usize,
    deferred: Vec<Ticket>,
    calls: Vec<(Ticket, &'static str)>,
    results: Vec<String>,
    cancelled: usize,
}

fn leak<T: Clone>(value: T, length: usize) -> &'static mut [T] {
    Box::leak(vec![value; length].into_boxed_slice())
}

impl InputPair {
    fn new(revision: Revision, declared: ClientCapabilities, answer: Answer, seed: u64) -> InputPair {
        let only = Revisions::only(revision);
        let connect = if revision == Revision::V2026_07_28 { Connect::Stateless } else { Connect::Handshake };
        let config = ClientConfig::new("c", "1").connect(connect).revisions(only).capabilities(declared);
        let client = Client::new(Box::leak(Box::new(config)), leak(0, 2000), leak(0, 1000)).unwrap();
        let client = client.in_flight(leak(client::Slot::EMPTY, 6), leak(0, 6 * 200));
        let config = ServerConfig::new("s", "1").features(ROUTER.features()).revisions(only);
        let server = Server::new(Box::leak(Box::new(config)), leak(0, 1100), leak(0, 1000)).unwrap();
        let server = server.in_flight(leak(server::Slot::EMPTY, 6), leak(0, 6 * 64)).unwrap();
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let capacity = 1 + random.below(200);
        let pipe = || Pipe { bytes: VecDeque::new(), capacity };
        InputPair {
            client,
            server,
            board: Board { questions: InputRequests::new(Buffer::grown(2 * 256)), open: None },
            up: pipe(),
            down: pipe(),
            random,
            now: 0,
            answer,
            asked: 0,
            deferred: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            cancelled: 0,
        }
    }

    /// Runs a test in every revision of a set, with many seeds.
    fn run(
        revisions: Revisions,
        declared: ClientCapabilities,
        answer: Answer,
        test: impl Fn(&mut InputPair, Revision),
    ) {
        for revision in revisions.newest_first() {
            for seed in 0..12 {
                let _context = FailureContext(format!("{revision}, {answer:?}, seed {seed}"));
                let mut pair = InputPair::new(revision, declared, answer, seed);
                pair.run_until_idle();
                test(&mut pair, revision);
            }
        }
    }

    fn run_until_idle(&mut self) {
        let mut quiet = 0;
        while quiet < 64 {
            let moved = if self.random.below(2) == 0 { self.step_client() } else { self.step_server() };
            quiet = if moved { 0 } else { quiet + 1 };
        }
    }

    fn call(&mut self, of: &'static str) -> Ticket {
        let arguments = format!(r#"{{"of":"{of}"}}"#);
        let ticket = loop {
            match self.client.call_json("greet", &arguments, Options::DEFAULT.timeout(Millis::seconds(3600)))
            {
                Ok(ticket) => break ticket,
                Err(_) => _ = self.step_client(),
            }
        };
        self.calls.push((ticket, of));
        ticket
    }

    fn step_client(&mut self) -> bool {
        match self.client.poll(Millis(self.now)) {
            Action::Io(io) => return transfer(io, &mut self.up, &mut self.down, &mut self.random, 50),
            Action::Closed => return false,
            Action::Event => {}
        }
        match self.client.event().unwrap() {
            client::Event::ServerRequest(request) => {
                self.asked += 1;
                self.deferred.extend(answer_request(request, self.answer));
            }
            client::Event::InputRequired(required) => {
                self.asked += 1;
                let ticket = required.ticket();
                let of = self.calls.iter().find(|call| call.0 == ticket).unwrap().1;
                let keys: Vec<_> = required.requests().map(|(key, _)| key.to_string()).collect();
                assert_eq!(keys, ["input"]);
                self.resume(ticket, of);
            }
            client::Event::Response(response) => {
                let text = match (response.tool_result(), response.outcome()) {
                    (Some(result), _) => {
                        let failed = if result.is_error() { "failed: " } else { "" };
                        format!("{failed}{}", result.text().unwrap())
                    }
                    (None, Outcome::Error(error)) => error.to_string(),
                    (None, outcome) => format!("{outcome:?}"),
                };
                self.results.push(text);
            }
            client::Event::Cancelled { .. } => self.cancelled += 1,
            _ => {}
        }
        true
    }

    /// Sends a call again with the input (2026-07-28).
    fn resume(&mut self, ticket: Ticket, of: &str) {
        let (arguments, answer) = (format!(r#"{{"of":"{of}"}}"#), self.answer);
        loop {
            let resumed =
                self.client.resume_call_json(ticket, "greet", &arguments, |input| match (of, answer) {
                    (_, Answer::Decline) => input.decline("input"),
                    ("user" | "chunks", _) => {
                        input.accept("input", |content| content.field_string("name", "Ada"))
                    }
                    ("model", _) => input.sampled("input", "m", "endTurn", |content| content.text("Ada")),
                    _ => input.roots("input", |roots| roots.add("file:///a", "A")),
                });
            match resumed {
                Ok(()) => return,
                Err(mcp_proto::SendError::Busy) => _ = self.step_server(),
                Err(error) => panic!("{error}"),
            }
            if let Action::Io(io) = self.client.poll(Millis(self.now)) {
                transfer(io, &mut self.up, &mut self.down, &mut self.random, 50);
            }
        }
    }

    fn step_server(&mut self) -> bool {
        let moved = match self.server.poll(Millis(self.now)) {
            Action::Io(io) => transfer(io, &mut self.down, &mut self.up, &mut self.random, 50),
            Action::Closed => false,
            Action::Event => {
                let event = self.server.event().unwrap();
                self.board.questions.observe(&event);
                ROUTER.handle(&mut self.board, event);
                true
            }
        };
        InputRequests::step(&mut self.board, &mut self.server);
        if let Some(ticket) = self.board.open.take() {
            let mut chunks = self.server.chunks(ticket).unwrap();
            assert_eq!(chunks.text("in chunks"), 9);
            chunks.end();
        }
        moved
    }
}

/// Responds to a request of the server, or defers the request and returns its ticket.
fn answer_request(request: ServerRequest<'_>, answer: Answer) -> Option<Ticket> {
    match (answer, request.input()) {
        (Answer::Silence, _) => return Some(request.defer(Some(Millis::seconds(3600))).unwrap()),
        (Answer::Decline, _) => request.decline(),
        (Answer::Error, _) => request.error(-1, "not now"),
        (Answer::Long, _) => {
            request.accept(|content| content.field_string("name", &"a".repeat(300)));
        }
        (Answer::Accept, client::InputRequest::Elicit(_)) => {
            request.accept(|content| content.field_string("name", "Ada"));
        }
        (Answer::Accept, client::InputRequest::Sample(_)) => {
            request.sampled("m", "endTurn", |content| content.text("Ada"));
        }
        (Answer::Accept, _) => request.roots(|roots| roots.add("file:///a", "A")),
    }
    None
}

const EVERYTHING: ClientCapabilities = ClientCapabilities::ROOTS_LIST_CHANGED
    .with(ClientCapabilities::SAMPLING)
    .with(ClientCapabilities::ELICITATION_FORM);

/// The revisions of the handshake era with forms.
const HANDSHAKE_FORMS: Revisions = Revisions::only(Revision::V2025_06_18).with(Revision::V2025_11_25);
const FORMS: Revisions = HANDSHAKE_FORMS.with(Revision::V2026_07_28);

#[test]
fn input_is_requested_in_every_revision() {
    let cases = [
        ("user", FORMS, "Hello, Ada!"),
        ("model", Revisions::ALL, "Hello, Ada!"),
        ("client", Revisions::ALL, "1"),
        ("chunks", FORMS, "in chunks"),
    ];
    for (of, revisions, expected) in cases {
        InputPair::run(revisions, EVERYTHING, Answer::Accept, |pair, _| {
            pair.call(of);
            pair.run_until_idle();
            assert_eq!((pair.results.as_slice(), pair.asked), ([expected.to_owned()].as_slice(), 1));
        });
    }
}

#[test]
fn outcome_without_input_reaches_the_handler() {
    let cases = [
        (Answer::Decline, FORMS, "failed: no name from the user"),
        (Answer::Error, HANDSHAKE_FORMS, "failed: error: not now (-1)"),
        (Answer::Long, HANDSHAKE_FORMS, "failed: the response is longer than the receive buffer"),
    ];
    for (answer, revisions, expected) in cases {
        InputPair::run(revisions, EVERYTHING, answer, |pair, _| {
            pair.call("user");
            pair.run_until_idle();
            assert_eq!(pair.results, [expected]);
        });
    }
}

#[test]
fn two_calls_wait_for_input_and_a_third_fails() {
    InputPair::run(HANDSHAKE_FORMS, EVERYTHING, Answer::Silence, |pair, _| {
        for of in ["user", "model", "client"] {
            pair.call(of);
            pair.run_until_idle();
        }
        assert_eq!(pair.results, ["failed: busy: too many calls wait for input"]);
        // The client responds in the opposite order.
        let asked = std::mem::take(&mut pair.deferred);
        pair.client.reply(asked[1]).unwrap().sampled("m", "endTurn", |content| content.text("Bob"));
        pair.run_until_idle();
        pair.client.reply(asked[0]).unwrap().accept(|content| content.field_string("name", "Ada"));
        pair.run_until_idle();
        assert_eq!(pair.results[1..], ["Hello, Bob!", "Hello, Ada!"]);
    });
}

#[test]
fn calls_get_their_responses_in_the_order_of_the_calls() {
    InputPair::run(HANDSHAKE_FORMS, EVERYTHING, Answer::Silence, |pair, _| {
        for of in ["user", "model"] {
            pair.call(of);
            pair.run_until_idle();
        }
        let asked = std::mem::take(&mut pair.deferred);
        pair.client.reply(asked[0]).unwrap().accept(|content| content.field_string("name", "Ada"));
        pair.run_until_idle();
        // The first entry of the table is free now.
        pair.client.reply(asked[1]).unwrap().sampled("m", "endTurn", |content| content.text("Bob"));
        pair.run_until_idle();
        assert_eq!(pair.results, ["Hello, Ada!", "Hello, Bob!"]);
    });
}

#[test]
fn table_without_space_for_responses_fails_the_calls() {
    InputPair::run(HANDSHAKE_FORMS, EVERYTHING, Answer::Accept, |pair, _| {
        pair.board.questions = InputRequests::new(leak(0, 0));
        pair.call("user");
        pair.run_until_idle();
        assert_eq!(pair.results, ["failed: the response is longer than the receive buffer"]);
    });
}

#[test]
fn call_that_ends_first_cancels_its_input_request() {
    InputPair::run(HANDSHAKE_FORMS, EVERYTHING, Answer::Silence, |pair, _| {
        let call = pair.call("user");
        pair.run_until_idle();
        assert_eq!(pair.asked, 1);
        pair.client.cancel(call, "never mind").unwrap();
        pair.run_until_idle();
        assert_eq!((pair.cancelled, pair.results.len()), (1, 0));
        assert_eq!(format!("{:?}", pair.board.questions), "[]");
    });
}

#[test]
fn silent_client_causes_a_timeout() {
    InputPair::run(HANDSHAKE_FORMS, EVERYTHING, Answer::Silence, |pair, _| {
        pair.call("user");
        pair.run_until_idle();
        pair.now += 299_000;
        pair.run_until_idle();
        assert_eq!(pair.results.len(), 0);
        pair.now += 2_000;
        pair.run_until_idle();
        assert_eq!(pair.results, ["failed: no response in time"]);
        assert_eq!(format!("{:?}", pair.board.questions), "[]");
    });
}

#[test]
fn undeclared_capability_is_named_in_the_error() {
    InputPair::run(Revisions::ALL, ClientCapabilities::NONE, Answer::Accept, |pair, revision| {
        pair.call("client");
        pair.run_until_idle();
        let code = if revision == Revision::V2026_07_28 { -32021 } else { -32600 };
        assert_eq!(pair.results, [format!("Missing required client capability ({code})")]);
        assert_eq!(pair.asked, 0);
    });
}

#[test]
fn reset_of_the_server_empties_the_table() {
    InputPair::run(HANDSHAKE_FORMS, EVERYTHING, Answer::Silence, |pair, _| {
        pair.call("user");
        pair.run_until_idle();
        pair.server.reset();
        InputRequests::step(&mut pair.board, &mut pair.server);
        assert_eq!(format!("{:?}", pair.board.questions), "[]");
    });
}
