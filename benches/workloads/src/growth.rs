//! Workloads of any size, each with a kind of input that a peer controls.
//!
//! `benches/growth` checks that a workload of eight times the size takes at most ten times the instructions.

use std::fmt::Write as _;
use std::hint::black_box;

use mcp_proto::client::{self, Client, ClientConfig, Connect};
use mcp_proto::json::Json;
use mcp_proto::server::{
    Event, Feature, ResourceTemplate, Resources, ServerConfig, Subscriptions, TaskOptions, TaskTable, Tasks,
    Tool, Tools,
};
use mcp_proto::{Action, Buffer, Millis, Server, TaskSupport, Ticket};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::http1::{BodyDecoder, BodyFraming, RequestDecoder};
use mcp_proto_http::sse::SseDecoder;
use serde::Deserialize;

use crate::machine::step;

/// A workload: its name, what grows with its size, and the function that runs the workload.
pub type Workload = (&'static str, &'static str, fn(usize));

/// Every workload.
pub const ALL: &[Workload] = &[
    ("lines", "invalid lines", |n| drop(Machine::session().run("nonsense\n".repeat(n)))),
    ("bytes", "bytes of a line that arrives byte by byte", bytes),
    ("members", "members of an object that the tool does not know", |n| call(&object(n, "k"))),
    ("repeated-members", "members with the same name", |n| call(&object(n, ""))),
    ("message-members", "unknown members of a message", message_members),
    ("elements", "elements of an array", |n| call(&format!(r#"{{"numbers":[{}]}}"#, vec!["7"; n].join(",")))),
    ("escapes", "escapes in a string", |n| call(&format!(r#"{{"text":"{}"}}"#, r"\u00e9\n".repeat(n)))),
    ("escaped-members", "escapes in the names of members", |n| call(&object(n, r"\u00e9"))),
    ("open-brackets", "brackets that stay open", |n| drop(Machine::session().run("[".repeat(n) + "\n"))),
    ("views", "elements that are read one by one", views),
    ("template", "segments of a URI that a template matches", |n| read(&"/x".repeat(n))),
    ("template-miss", "segments of a URI that no template matches", |n| read(&("/x".repeat(n) + "\\"))),
    ("ids", "requests in flight, which are cancelled", |n| in_flight(n, true)),
    ("shutdown", "requests in flight when the server shuts down", |n| in_flight(n, false)),
    ("batch", "members of a batch", batch),
    ("filter", "URIs of a `subscriptions/listen`", |n| filter(n, true)),
    ("repeated-filter", "equal URIs of a `subscriptions/listen`", |n| filter(n, false)),
    ("subscribe", "resources that are subscribed and unsubscribed", subscribe),
    ("tasks", "calls that become tasks, and `tasks/get` for each", tasks),
    ("client-list", "tools in the list that a client reads", client_list),
    ("client-notifications", "notifications that a client receives", |n| {
        assert!(exchange(&mut connected_client(), &notifications(n)).0 == 2 * n);
    }),
    ("head", "bytes of an HTTP field", |n| head(&format!("A: {}\r\n", "x".repeat(n)), usize::MAX)),
    ("head-bytes", "bytes of an HTTP field that arrive one by one", |n| {
        head(&format!("A: {}\r\n", "x".repeat(n)), 1);
    }),
    ("head-fields", "fields of an HTTP head", |n| head(&"A: b\r\n".repeat(n), usize::MAX)),
    ("body-chunks", "chunks of an HTTP body", |n| body(&("1\r\nx\r\n".repeat(n) + "0\r\n\r\n"))),
    ("events", "events of a stream", |n| events(&"data: x\n\n".repeat(n), usize::MAX)),
    ("event-lines", "lines of an event", |n| events(&("data: x\n".repeat(n) + "\n"), usize::MAX)),
    ("event-bytes", "bytes of an event that arrive one by one", |n| {
        events(&format!("data: {}\n\n", "x".repeat(n)), 1)
    }),
];

const SPACE: usize = 64 << 20;

static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("read", "{}"),
    Tool::new("hold", "{}"),
    Tool::new("task", "{}").task_support(TaskSupport::Optional),
]);
static TEMPLATES: [ResourceTemplate<'static>; 2] = [
    ResourceTemplate::new("a:{+path}/end", "a"),
    ResourceTemplate::new("a:/{first}/{second}/{+rest}/end", "b"),
];
static RESOURCES: Resources<'static> = Resources::new(&[]).templates(&TEMPLATES).subscribe();
static TASKS: Tasks = Tasks::new();
static FEATURES: [&dyn Feature; 4] = [&TOOLS, &RESOURCES, &Subscriptions, &TASKS];
static CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

#[derive(Deserialize)]
struct Arguments<'a> {
    text: Option<&'a str>,
    numbers: Option<Vec<u32>>,
}

/// A server with its application.
struct Machine {
    server: Server<'static>,
    held: Vec<Ticket>,
    random: [u8; 16],
    tasks: usize,
}

impl Machine {
    fn stateless(in_flight: usize) -> Machine {
        let server = Server::new(&CONFIG, Buffer::grown(SPACE), Buffer::grown(SPACE)).expect("a server");
        let server = server.in_flight_grown(in_flight).expect("slots").seed(7);
        let server = server.subscription_buffer(Buffer::grown(SPACE)).batch_buffer(Buffer::grown(SPACE));
        Machine { server, held: Vec::new(), random: [0; 16], tasks: 0 }
    }

    fn session() -> Machine {
        Machine::session_of("2025-11-25", 4)
    }

    fn session_of(revision: &str, in_flight: usize) -> Machine {
        let mut machine = Machine::stateless(in_flight);
        machine.run(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"{revision}\",\
             \"capabilities\":{{}},\"clientInfo\":{{\"name\":\"c\",\"version\":\"1\"}}}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n"
        ));
        machine
    }

    /// Runs the server with this input, and returns its output.
    fn run(&mut self, input: String) -> Vec<u8> {
        self.run_in_pieces(&input, usize::MAX, Millis(0))
    }

    fn run_in_pieces(&mut self, input: &str, piece: usize, now: Millis) -> Vec<u8> {
        let (mut input, mut output) = (input.as_bytes(), Vec::new());
        loop {
            match self.server.poll(now) {
                Action::Io(io) => {
                    if !step(io, &mut input, piece, |out| output.extend_from_slice(out)) {
                        return output;
                    }
                }
                Action::Event => self.handle(),
                Action::Closed => return output,
            }
        }
    }

    fn handle(&mut self) {
        match self.server.event() {
            Some(Event::Call(call)) if call.name() == "hold" => self.held.extend(call.defer(None).ok()),
            Some(Event::Call(call)) if call.name() == "task" => {
                self.tasks += 1;
                self.random[..8].copy_from_slice(&self.tasks.to_le_bytes());
                assert!(call.into_task(TaskOptions::new(self.random)).is_ok());
            }
            Some(Event::Call(mut call)) => match call.arguments::<Arguments<'_>>() {
                Ok(arguments) => {
                    black_box((arguments.text, &arguments.numbers));
                    call.text("done");
                }
                Err(error) => call.invalid(error),
            },
            Some(Event::ReadResource(read)) => {
                black_box(read.template().is_some());
                read.not_found();
            }
            _ => {}
        }
    }
}

fn request(id: usize, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
}

fn call(arguments: &str) {
    let output = Machine::session().run(request(
        1,
        "tools/call",
        &format!(r#"{{"name":"read","arguments":{arguments}}}"#),
    ));
    assert!(String::from_utf8_lossy(&output).contains("\"id\":1"));
}

/// Returns an object with `n` members. With an empty prefix, all members have the same name.
fn object(n: usize, prefix: &str) -> String {
    let mut members = String::new();
    for k in 0..n {
        let number = if prefix.is_empty() { 0 } else { k };
        let _ = write!(members, "{}\"{prefix}{number}\":1", if k == 0 { "" } else { "," });
    }
    format!("{{{members}}}")
}

fn message_members(n: usize) {
    let members = object(n, "k");
    let line = format!("{},{}", r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, &members[1..]) + "\n";
    assert!(!Machine::session().run(line).is_empty());
}

fn bytes(n: usize) {
    let line = request(1, "ping", &format!(r#"{{"x":"{}"}}"#, "x".repeat(n)));
    assert!(!Machine::session().run_in_pieces(&line, 1, Millis(0)).is_empty());
}

fn views(n: usize) {
    let text = format!("[{}]", vec![r#"{"a":[1,2],"b":"c"}"#; n].join(","));
    let array = Json::parse(text.as_bytes()).expect("valid");
    assert_eq!(array.elements().filter(|element| element.get("b").is_some()).count(), n);
}

fn read(path: &str) {
    let params = format!(r#"{{"uri":"a:{}"}}"#, path.replace('\\', "\\\\"));
    assert!(!Machine::session().run(request(1, "resources/read", &params)).is_empty());
}

/// Runs `n` calls that stay in flight until the client cancels them, or until the server shuts down.
fn in_flight(n: usize, is_cancelled: bool) {
    let mut machine = Machine::session_of("2025-11-25", n);
    let hold = |id| {
        request(id, "tools/call", r#"{"name":"hold"}"#)
            .replace(&format!(r#""id":{id}"#), &format!(r#""id":"id-{id}""#))
    };
    machine.run((0..n).map(hold).collect());
    assert_eq!(machine.held.len(), n);
    if is_cancelled {
        let cancel = |id| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":\"id-{id}\"}}}}\n"
            )
        };
        machine.run((0..n).map(cancel).collect());
    } else {
        machine.server.shutdown(Millis(0));
        let mut output = machine.run_in_pieces("", usize::MAX, Millis(0));
        output.extend(machine.run_in_pieces("", usize::MAX, Millis(60_000)));
        assert_eq!(String::from_utf8_lossy(&output).matches("\"id\":\"id-").count(), n);
    }
    assert_eq!(machine.server.deferred(), 0);
}

fn batch(n: usize) {
    let ping = |id| request(id, "ping", "{}").trim_end().to_owned();
    let line = format!("[{}]\n", (1..=n).map(ping).collect::<Vec<_>>().join(","));
    let output = Machine::session_of("2025-03-26", n).run(line);
    assert_eq!(String::from_utf8_lossy(&output).matches("result").count(), n);
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;

fn filter(n: usize, is_distinct: bool) {
    let uris: Vec<String> =
        (0..n).map(|k| format!("\"a:{}/end\"", if is_distinct { k } else { 0 })).collect();
    let params = format!(r#"{{{META},"notifications":{{"resourceSubscriptions":[{}]}}}}"#, uris.join(","));
    let output = Machine::stateless(4).run(request(1, "subscriptions/listen", &params));
    let acknowledged = String::from_utf8_lossy(&output).matches("a:").count();
    assert_eq!(acknowledged, if is_distinct { n } else { 1 });
}

fn subscribe(n: usize) {
    let mut machine = Machine::session();
    for method in ["resources/subscribe", "resources/unsubscribe", "resources/subscribe"] {
        let input = (0..n).map(|k| request(k, method, &format!(r#"{{"uri":"a:{k}/end"}}"#))).collect();
        let output = machine.run(input);
        assert_eq!(String::from_utf8_lossy(&output).matches("result").count(), n);
    }
}

fn tasks(n: usize) {
    let mut machine = Machine::stateless(4);
    machine.server = machine.server.tasks_owned(TaskTable::grown(n, n * 200));
    let call = format!(r#"{{"name":"task",{META}}}"#);
    let output = machine.run((0..n).map(|id| request(id, "tools/call", &call)).collect());
    assert_eq!(machine.tasks, n);
    let mut input = String::new();
    for (id, line) in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
        let result = Json::parse(line).expect("valid").get("result").expect("a task");
        let task = result.get("taskId").and_then(Json::string).expect("an id");
        input +=
            &request(id, "tasks/get", &format!(r#"{{"taskId":"{}",{META}}}"#, task.as_str().expect("plain")));
    }
    let output = machine.run(input);
    assert_eq!(String::from_utf8_lossy(&output).matches("\"status\":\"working\"").count(), n);
}

static CLIENT: ClientConfig<'static> = ClientConfig::new("c", "1").connect(Connect::Handshake);

/// Returns a connected client.
fn connected_client() -> Client<'static> {
    let initialized = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let client = Client::new(&CLIENT, Buffer::grown(SPACE), Buffer::grown(SPACE)).expect("a client");
    let mut client = client.in_flight_grown(4);
    assert_eq!(exchange(&mut client, &format!("{initialized}\n")).0, 1);
    client
}

/// Runs the client with this input. Returns the number of its events, and its output.
fn exchange(client: &mut Client<'static>, input: &str) -> (usize, Vec<u8>) {
    let (mut input, mut events, mut output) = (input.as_bytes(), 0, Vec::new());
    loop {
        match client.poll(Millis(0)) {
            Action::Io(io) => {
                if !step(io, &mut input, usize::MAX, |out| output.extend_from_slice(out)) {
                    return (events, output);
                }
            }
            Action::Event => {
                events += 1;
                if let Some(client::Event::Tools(page)) = client.event() {
                    black_box(page.tools().filter(|tool| tool.name().is_some()).count());
                }
            }
            Action::Closed => return (events, output),
        }
    }
}

fn client_list(n: usize) {
    let mut client = connected_client();
    client.list_tools(client::Options::DEFAULT).expect("space for a request");
    let (_, output) = exchange(&mut client, "");
    let request = output.trim_ascii().rsplit(|byte| *byte == b'\n').next().expect("a line");
    let id = Json::parse(request).expect("valid").get("id").expect("a request");
    let tools = vec![r#"{"name":"t","inputSchema":{"type":"object"}}"#; n].join(",");
    let response = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"tools\":[{tools}]}}}}\n");
    assert_eq!(exchange(&mut client, &response).0, 1);
}

fn notifications(n: usize) -> String {
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    format!("{log}\n{changed}\n").repeat(n)
}

fn head(fields: &str, piece: usize) {
    let text = format!("POST /mcp HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    let mut buffer = vec![0; text.len() + 100];
    let limit = buffer.len();
    let mut decoder = RequestDecoder::new(&mut buffer).with_limit(limit);
    let mut rest = text.as_bytes();
    while decoder.head().is_none() {
        let piece = piece.min(rest.len());
        let Ok(used) = decoder.feed(&rest[..piece]) else { return };
        rest = &rest[used..];
    }
    black_box(decoder.head().is_some_and(|head| head.field("z").is_some()));
}

fn body(text: &str) {
    let (mut decoder, mut rest) = (BodyDecoder::new(BodyFraming::Chunked), text.as_bytes());
    while !decoder.is_complete() {
        let piece = decoder.decode(rest).expect("valid chunks");
        black_box(piece.data);
        rest = &rest[piece.consumed..];
    }
}

fn events(text: &str, piece: usize) {
    let mut decoder = SseDecoder::new(Buffer::grown(SPACE));
    let (mut rest, mut count) = (text.as_bytes(), 0);
    while !rest.is_empty() {
        let step = decoder.decode(&rest[..piece.min(rest.len())]);
        count += usize::from(step.item.is_some());
        rest = &rest[step.consumed..];
    }
    assert!(count > 0);
}
