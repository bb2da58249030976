//! Sends the methods of every revision with random strings, and checks each message with the official schema.
//!
//! Except for the methods about tasks, the test fails if it does not send a method of `methods::ALL`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use mcp_proto::client::{self, ClientConfig, Connect, Filter, InputRequest, Options, Reference};
use mcp_proto::input::{CreateMessage, Field, Form, ListRoots, OpenUrl, SampleMessage};
use mcp_proto::methods::{self, Method};
use mcp_proto::server::{
    self, Change, Completion, Feature, Logging, Prompt, PromptArgument, Prompts, RequestOptions, Resource,
    ResourceTemplate, Resources, ServerConfig, Subscriptions, Tool, Tools,
};
use mcp_proto::{
    Action, Buffer, Client, ClientCapabilities as C, Level, Millis, Revision, Revisions, Server, Ticket,
};
use mcp_proto_proptests::schema::Schemas;
use mcp_proto_proptests::transfer::transfer;
use mcp_proto_proptests::written::Written;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

/// Methods about tasks. This test does not send these methods. `tasks.rs` checks the tasks of a server, and
/// `client_tasks.rs` checks the tasks of a client.
const TASK_METHODS: [Method; 7] = [
    methods::TASKS_GET,
    methods::TASKS_RESULT,
    methods::TASKS_LIST,
    methods::TASKS_CANCEL,
    methods::TASKS_UPDATE,
    methods::TASKS_STATUS,
    methods::TASKS,
];

static TOOLS: Tools =
    Tools::new(&[Tool::new("t", "{}"), Tool::new("later", "{}"), Tool::new("needs", "{}")]).list_changed();
static RESOURCES: Resources = Resources::new(&[Resource::new("a:b", "b")])
    .templates(&[ResourceTemplate::new("a:{x}", "x")])
    .list_changed()
    .subscribe();
static PROMPTS: Prompts = Prompts::new(&[
    Prompt::new("p").arguments(&[PromptArgument::new("a"), PromptArgument::new("b").values(&["x"])])
])
.list_changed();
static FEATURES: [&dyn Feature; 6] = [&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Logging, &Subscriptions];

const EVERYTHING: C = C::ROOTS_LIST_CHANGED
    .with(C::SAMPLING_TOOLS)
    .with(C::SAMPLING_CONTEXT)
    .with(C::ELICITATION_FORM)
    .with(C::ELICITATION_URL);

fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

struct Pair {
    client: Client<'static>,
    server: Server<'static>,
    /// Messages of the client, and of the server.
    written: [Written; 2],
    up: VecDeque<u8>,
    down: VecDeque<u8>,
    now: Millis,
    /// The random text.
    text: String,
    deferred: Vec<Ticket>,
    needs: Vec<Ticket>,
    listening: Vec<Ticket>,
}

impl Pair {
    fn new(revision: Revision, text: &str) -> Pair {
        let connect = if revision == Revision::V2026_07_28 { Connect::Stateless } else { Connect::Handshake };
        let only = Revisions::only(revision);
        let info = ClientConfig::new("client", "1").connect(connect).revisions(only).capabilities(EVERYTHING);
        let server_info = ServerConfig::new("server", "1").features(&FEATURES).revisions(only);
        let written = [Written::default(), Written::default()];
        let client = Client::new(leak(info), Buffer::grown(65536), Buffer::grown(65536)).unwrap();
        let server = Server::new(leak(server_info), Buffer::grown(65536), Buffer::grown(65536)).unwrap();
        let mut pair = Pair {
            client: client.in_flight_grown(16).observe(leak(written[0].clone())),
            server: server
                .in_flight_grown(16)
                .unwrap()
                .subscription_buffer(Buffer::grown(1000))
                .observe(leak(written[1].clone())),
            written,
            up: VecDeque::new(),
            down: VecDeque::new(),
            now: Millis(0),
            text: text.to_owned(),
            deferred: Vec::new(),
            needs: Vec::new(),
            listening: Vec::new(),
        };
        pair.run();
        assert_eq!(pair.client.revision(), Some(revision));
        pair
    }

    fn run(&mut self) {
        while self.step_client() | self.step_server() {}
    }

    fn step_client(&mut self) -> bool {
        match self.client.poll(self.now) {
            Action::Io(io) => return transfer(io, &mut self.down, &mut self.up),
            Action::Closed => return false,
            Action::Event => {}
        }
        match self.client.event() {
            Some(client::Event::ServerRequest(mut asked)) => {
                let _ = asked.progress(1u32, None, &self.text);
                match asked.input() {
                    InputRequest::Roots => asked.roots(|roots| roots.add("file:///a", &self.text)),
                    InputRequest::Elicit(_) => asked.accept(|out| out.field_string("f", &self.text)),
                    InputRequest::Sample(_) => {
                        asked.sampled(&self.text, &self.text, |out| out.text(&self.text))
                    }
                    _ => asked.accept(|_| {}),
                }
            }
            Some(client::Event::InputRequired(needs)) => self.needs.push(needs.ticket()),
            _ => {}
        }
        true
    }

    fn step_server(&mut self) -> bool {
        match self.server.poll(self.now) {
            Action::Io(io) => return transfer(io, &mut self.up, &mut self.down),
            Action::Closed => return false,
            Action::Event => {}
        }
        let text = &self.text;
        match self.server.event() {
            Some(server::Event::Call(mut call)) => match call.name() {
                "later" => self.deferred.push(call.defer(None).unwrap()),
                "needs" if call.input("roots").is_none() => {
                    let (fields, messages) = ([Field::text(text)], [SampleMessage::user(text)]);
                    let form = Form::new(text, &fields);
                    let page = OpenUrl::new(text, "https://example.com/", "e");
                    let model = CreateMessage::new(&messages, 9).system_prompt(text);
                    let needed: [(&str, &dyn mcp_proto::input::Input); 4] =
                        [("roots", &ListRoots), ("form", &form), ("page", &page), ("model", &model)];
                    call.require_input(&needed, Some(text));
                }
                _ => {
                    let _ = call.progress(1u32, None, text);
                    let _ = call.log(Level::Error, Some(text), text);
                    call.text(text);
                }
            },
            Some(server::Event::ReadResource(read)) => read.text(text),
            Some(server::Event::GetPrompt(prompt)) => prompt.messages(|out| {
                out.description(text);
                out.user().text(text);
            }),
            Some(server::Event::Complete(complete)) => complete.values([text]),
            Some(server::Event::Listening(it)) => self.listening.push(it.ticket()),
            _ => {}
        }
        true
    }
}

/// Performs all actions of both sides.
fn everything(pair: &mut Pair, revision: Revision) {
    let text = pair.text.clone();
    let options = Options::DEFAULT.with_progress().log_level(Level::Debug);
    let client = &mut pair.client;
    client.ping(options).unwrap();
    client.list_tools(options).unwrap();
    client.list_resources(options).unwrap();
    client.list_templates(options).unwrap();
    client.list_prompts(options).unwrap();
    client.read_resource("a:b", options).unwrap();
    client.get_prompt("p", &[("a", &text)], options).unwrap();
    client.complete(Reference::Prompt("p"), "a", &text, &[("b", &text)], options).unwrap();
    client.call("t", &BTreeMap::from([(&text, &text)]), options).unwrap();
    pair.run();
    let late = pair.client.call_json("later", "{}", options).unwrap();
    pair.run();
    pair.client.cancel(late, &text).unwrap();
    pair.run();
    if revision == Revision::V2026_07_28 {
        stateless(pair, &text)
    } else {
        handshake(pair, revision, &text)
    }
    for change in [Change::Tools, Change::Resources, Change::Prompts, Change::Resource("a:b")] {
        pair.server.changed(change);
    }
    pair.run();
    for ticket in std::mem::take(&mut pair.listening) {
        pair.server.end_subscription(ticket).unwrap();
        pair.run();
    }
}

fn handshake(pair: &mut Pair, revision: Revision, text: &str) {
    let options = Options::DEFAULT;
    pair.client.set_log_level(Level::Debug, options).unwrap();
    pair.client.subscribe("a:b", options).unwrap();
    pair.client.subscribe("a:c", options).unwrap();
    pair.client.unsubscribe("a:c", options).unwrap();
    pair.client.roots_changed().unwrap();
    pair.run();
    let ask = RequestOptions::DEFAULT.with_progress();
    let (fields, messages) = ([Field::text(text)], [SampleMessage::user(text)]);
    pair.server.ping(ask).unwrap();
    pair.run();
    pair.server.request(&ListRoots, ask).unwrap();
    pair.run();
    pair.server.request(&CreateMessage::new(&messages, 9).system_prompt(text), ask).unwrap();
    pair.run();
    let form = pair.server.request(&Form::new(text, &fields), ask);
    pair.run();
    let page = pair.server.request(&OpenUrl::new(text, "https://example.com/", text), ask);
    pair.run();
    let complete = pair.server.elicitation_complete(text);
    assert_eq!((form.is_ok(), page.is_ok()), (revision >= Revision::V2025_06_18, complete.is_ok()));
    let taken_back = pair.server.request(&ListRoots, ask).unwrap();
    pair.server.cancel(taken_back, text).unwrap();
    pair.run();
}

fn stateless(pair: &mut Pair, text: &str) {
    let ticket = pair.client.call_json("needs", "{}", Options::DEFAULT).unwrap();
    pair.run();
    assert_eq!(pair.needs, [ticket]);
    let answers = |answers: &mut client::InputResponses<'_, '_>| {
        answers.roots("roots", |roots| roots.add("file:///a", text));
        answers.accept("form", |out| out.field_string(text, text));
        answers.agree("page");
        answers.sampled("model", text, text, |out| out.text(text));
    };
    pair.client.resume_call_json(ticket, "needs", "{}", answers).unwrap();
    pair.run();
    let uris = ["a:b", text];
    let filter = Filter::NOTHING.tools().resources().prompts().uris(&uris);
    pair.client.listen(filter, Options::DEFAULT).unwrap();
    pair.run();
    assert_eq!(pair.listening.len(), 1);
}

/// A use of a method. A side is 0 for the client, and 1 for the server.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Usage {
    /// The side sent the request or notification.
    Method(usize, String),
    /// The side sent a result of a request with this method.
    Result(usize, String),
    /// A result of the server contained an input request with this method.
    InResult(String),
}

/// Checks every line, and returns the uses of methods.
fn check(pair: &Pair, schemas: &Schemas, revision: Revision) -> BTreeSet<Usage> {
    let lines: [Vec<String>; 2] = [0, 1].map(|side| pair.written[side].0.lock().unwrap().clone());
    let values = |side: usize| lines[side].iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let asked: [BTreeMap<String, String>; 2] = [0, 1].map(|side| {
        let requests = values(side).filter(|it| it.get("id").is_some() && it.get("method").is_some());
        requests.map(|it| (it["id"].to_string(), it["method"].as_str().unwrap().to_owned())).collect()
    });
    let mut used = BTreeSet::new();
    for side in [0, 1] {
        for (line, value) in lines[side].iter().zip(values(side)) {
            let answers = asked[1 - side].get(&value["id"].to_string());
            let answers = answers.filter(|_| value.get("method").is_none()).map(String::as_str);
            let checked = match side {
                0 => schemas.check_client_line(revision.as_str(), answers, line),
                _ => schemas.check_server_line(revision.as_str(), answers, line),
            };
            checked.unwrap_or_else(|error| panic!("{error}"));
            if let Some(method) = value["method"].as_str() {
                used.insert(Usage::Method(side, method.to_owned()));
            } else if value.get("result").is_some() {
                used.insert(Usage::Result(side, answers.expect("a response has a request").to_owned()));
            }
            let inputs = value.pointer("/result/inputRequests").and_then(Value::as_object);
            for request in inputs.into_iter().flat_map(|it| it.values()) {
                schemas
                    .check(revision.as_str(), "InputRequest", request)
                    .unwrap_or_else(|error| panic!("{error}"));
                used.insert(Usage::InResult(request["method"].as_str().unwrap().to_owned()));
            }
        }
    }
    used
}

/// Returns the uses of methods that a revision requires, according to `methods::ALL`.
fn expected(revision: Revision) -> BTreeSet<Usage> {
    let mut expected = BTreeSet::new();
    for method in methods::ALL.iter().filter(|method| !TASK_METHODS.contains(method)) {
        let name = method.name().to_owned();
        for (side, revisions) in [(0, method.by_client()), (1, method.by_server())] {
            if revisions.contains(revision) {
                expected.insert(Usage::Method(side, name.clone()));
                if method.is_request() {
                    expected.insert(Usage::Result(1 - side, name.clone()));
                }
            }
        }
        if method.in_results().contains(revision) {
            expected.insert(Usage::InResult(name));
        }
    }
    expected
}

#[test]
fn every_method_is_sent_and_matches_the_schema() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&".{0,12}", |text| {
        for revision in Revision::ALL {
            let mut pair = Pair::new(revision, &text);
            everything(&mut pair, revision);
            let used = check(&pair, &schemas, revision);
            prop_assert_eq!(used, expected(revision), "{}", revision);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
