//! Every message that both machines emit in a rich dialogue, in every revision, is what that revision's official
//! schema asks for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mcp_proto::client::{ClientInfo, Connect, Options};
use mcp_proto::server::{
    self, Call, Change, Feature, Limits, Logging, ServerInfo, Subscriptions, Tool, Tools,
};
use mcp_proto::{
    Action, Buffer, Client, Decimal, Direction, Fault, Level, Millis, Observer, Pings, Revision, Revisions,
    Server,
};
use mcp_proto_proptests::schema::{Schemas, spec_dir};
use serde_json::Value;

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

static TOOLS: Tools = Tools::new(&[
    Tool::new("text", r#"{"type":"object"}"#).description("says \"text\"").title("Text"),
    Tool::new("everything", SCHEMA)
        .description("d")
        .title("t")
        .output_schema(SCHEMA)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false),
    Tool::new("fail", "{}"),
    Tool::new("content", "{}"),
    Tool::new("nothing", "{}"),
    Tool::new("structured", "{}").output_schema(SCHEMA),
    Tool::new("scalar", "{}"),
    Tool::new("error", "{}"),
    Tool::new("invalid", "{}"),
    Tool::new("forgotten", "{}"),
    Tool::new("deferred", "{}"),
    Tool::new("expired", "{}"),
    Tool::new("busy", "{}"),
    Tool::new("large", "{}"),
    Tool::new("slow", "{}"),
    Tool::new("hidden", "{}"),
])
.list_changed();

static FEATURES: [&dyn Feature; 3] = [&TOOLS, &Logging, &Subscriptions];

fn server_info(revision: Revision) -> ServerInfo<'static> {
    ServerInfo::new("server", "1.0")
        .title("The \"server\"")
        .description("A server for tests")
        .website("https://example.com/")
        .instructions("Use it\nwell")
        .features(&FEATURES)
        .revisions(Revisions::only(revision))
        .limits(Limits::DEFAULT.with_depth(16).with_deferred(Millis(5_000)))
        .cache(Millis(60_000), true)
}

/// What each of the two has written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<String>>>);

impl Observer for Written {
    fn line(&mut self, direction: Direction, line: &[u8], _: Result<(), Fault>) {
        if direction == Direction::Out {
            self.0.lock().unwrap().push(String::from_utf8(line.to_vec()).unwrap());
        }
    }
}

fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

struct Pair {
    client: Client<'static>,
    server: Server<'static>,
    by_client: Written,
    by_server: Written,
    up: Vec<u8>,
    down: Vec<u8>,
    now: Millis,
    deferred: Vec<mcp_proto::Ticket>,
    heard: Vec<String>,
}

impl Pair {
    fn new(revision: Revision, server_info: ServerInfo<'static>) -> Pair {
        let connect =
            if Revisions::STATELESS.contains(revision) { Connect::Stateless } else { Connect::Handshake };
        let info = ClientInfo::new("client", "1").title("Client").connect(connect);
        let info = leak(info.revisions(Revisions::only(revision)));
        let (by_client, by_server) = (Written::default(), Written::default());
        let pings = Pings { interval: Millis(10_000), timeout: Millis(1000), close: false };
        let client = Client::new(info, Buffer::grown(100_000), Buffer::grown(100_000))
            .unwrap()
            .in_flight_grown(100)
            .keep_alive(pings)
            .observe(leak(by_client.clone()));
        // Small enough to need several pages, and for an answer not to fit.
        let server = Server::new(leak(server_info), Buffer::grown(3000), leak([0; 2000]))
            .unwrap()
            .in_flight_grown(10)
            .unwrap()
            .watches(Buffer::grown(1000))
            .batches(Buffer::grown(4000))
            .keep_alive(pings)
            .observe(leak(by_server.clone()));
        let (up, down) = (Vec::new(), Vec::new());
        let (deferred, heard) = (Vec::new(), Vec::new());
        Pair { client, server, by_client, by_server, up, down, now: Millis(0), deferred, heard }
    }

    /// The client's line, as any other client might write it.
    fn raw(&mut self, line: &str) {
        self.up.extend(line.as_bytes());
        self.up.push(b'\n');
        self.run();
    }

    fn run(&mut self) {
        let mut quiet = 0;
        while quiet < 2 {
            let moved = self.step_client() | self.step_server();
            quiet = if moved { 0 } else { quiet + 1 };
        }
    }

    fn step_client(&mut self) -> bool {
        match self.client.poll(self.now) {
            Action::Io(io) => {
                let (out, mut input) = io.split();
                let moved = !out.bytes().is_empty() || !self.down.is_empty();
                let n = out.bytes().len();
                self.up.extend(out.bytes());
                out.sent(n);
                let n = self.down.len().min(input.space().len());
                input.space()[..n].copy_from_slice(&self.down[..n]);
                self.down.drain(..n);
                input.filled(n);
                moved
            }
            Action::Event => {
                let event = format!("{:?}", self.client.event().unwrap());
                self.heard.push(event);
                true
            }
            Action::Closed => false,
        }
    }

    fn step_server(&mut self) -> bool {
        match self.server.poll(self.now) {
            Action::Io(io) => {
                let (out, mut input) = io.split();
                let moved = !out.bytes().is_empty() || !self.up.is_empty();
                let n = out.bytes().len();
                self.down.extend(out.bytes());
                out.sent(n);
                let n = self.up.len().min(input.space().len());
                input.space()[..n].copy_from_slice(&self.up[..n]);
                self.up.drain(..n);
                input.filled(n);
                moved
            }
            Action::Event => {
                if let Some(server::Event::Call(call)) = self.server.event() {
                    self.deferred.extend(handle(call));
                }
                true
            }
            Action::Closed => false,
        }
    }

    /// Checks all that was written since the last time.
    fn check(&mut self, schemas: &Schemas, revision: &str) -> usize {
        let by_client = std::mem::take(&mut *self.by_client.0.lock().unwrap());
        let by_server = std::mem::take(&mut *self.by_server.0.lock().unwrap());
        let methods = |lines: &[String]| -> HashMap<String, String> {
            let values = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
            values
                .filter(|value| value.get("id").is_some())
                .filter_map(|value| {
                    Some((value["id"].to_string(), value.get("method")?.as_str()?.to_owned()))
                })
                .collect()
        };
        let answers = |line: &str, asked: &HashMap<String, String>| {
            let value: Value = serde_json::from_str(line).unwrap();
            asked.get(&value["id"].to_string()).cloned()
        };
        let (asked_by_client, asked_by_server) = (methods(&by_client), methods(&by_server));
        for line in by_client.iter().chain(&by_server) {
            no_null(line);
        }
        for line in &by_client {
            let method = answers(line, &asked_by_server);
            schemas
                .check_client_line(revision, method.as_deref(), line)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        for line in &by_server {
            let method = answers(line, &asked_by_client);
            schemas
                .check_server_line(revision, method.as_deref(), line)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        by_client.len() + by_server.len()
    }
}

/// What is absent is left out, and never written as `null`: but for the id of an error without one.
fn no_null(line: &str) {
    fn has(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(items) => items.iter().any(has),
            Value::Object(members) => members.values().any(has),
            _ => false,
        }
    }
    let line: Value = serde_json::from_str(line).unwrap();
    let messages = line.as_array().map_or(std::slice::from_ref(&line), Vec::as_slice);
    for message in messages {
        let members = message.as_object().unwrap().iter();
        let null = members.filter(|(name, _)| *name != "id" || message.get("error").is_none());
        assert!(!null.map(|(_, value)| value).any(has), "{line}");
    }
}

fn handle(mut call: Call<'_>) -> Option<mcp_proto::Ticket> {
    let _ = call.progress(Decimal::new(5, -1), Some(Decimal::new(15, -1)), "half \"way\"\n");
    let _ = call.progress(1u32, None, "");
    let _ = call.log(Level::Error, Some("part"), "a\u{1F600}\tb");
    let _ = call.log(Level::Debug, None, "quiet");
    call.changed(Change::Tools);
    let name = call.name().to_owned();
    match name.as_str() {
        "text" => call.text("done \u{7f} \u{2028}"),
        "fail" => call.fail("it broke"),
        "content" => call.content(|out| {
            out.text("one");
            out.text("two");
            out.failed();
        }),
        "nothing" => call.content(|_| {}),
        "structured" | "everything" => call.structured_with(|out| {
            out.begin_object();
            out.field_integer("n", 1);
            out.end_object();
        }),
        "scalar" => call.structured_with(|out| out.integer(7)),
        "error" => call.error_with(-5, "own", |out| out.string("data")),
        "invalid" => call.invalid("no"),
        "forgotten" => drop(call),
        "deferred" | "slow" => return Some(call.defer(None).unwrap()),
        "expired" => return Some(call.defer(Some(Millis(100))).unwrap()),
        "busy" => call.busy(),
        "large" => call.text("x".repeat(5000)),
        _ => call.unknown_tool(),
    }
    None
}

/// The schemas, or `None` and a line that says so. With `CI=true` they must be there.
fn schemas() -> Option<Schemas> {
    let schemas = Schemas::load();
    if schemas.is_none() {
        let reason = format!("NOT RUN: no schemas in {} (set MCP_SPEC_DIR)", spec_dir().display());
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
        eprintln!("{reason}");
    }
    schemas
}

#[test]
fn a_rich_dialogue_in_every_revision() {
    let Some(schemas) = schemas() else { return };
    for revision in Revision::ALL {
        let mut pair = Pair::new(revision, server_info(revision));
        pair.run();
        assert_eq!(pair.client.revision(), Some(revision), "{:?}", pair.heard);
        let quiet = Options::DEFAULT;
        pair.client.list_tools(quiet.with_progress()).unwrap();
        pair.client.ping(quiet).unwrap();
        pair.client.ping(quiet.with_progress()).unwrap();
        if !Revisions::STATELESS.contains(revision) {
            pair.client.request("logging/setLevel", quiet, |out| out.field_string("level", "info")).unwrap();
        }
        pair.run();
        for tool in [
            "text",
            "everything",
            "fail",
            "content",
            "nothing",
            "structured",
            "scalar",
            "error",
            "invalid",
            "forgotten",
            "deferred",
            "expired",
            "busy",
            "large",
            "hidden",
            "no such tool",
        ] {
            let arguments = r#"{"n":1,"text":"\u00e9\ud83d\ude00"}"#;
            pair.client.call_json(tool, arguments, quiet.with_progress()).unwrap();
            pair.run();
            pair.client.call_json(tool, "{}", quiet).unwrap();
            pair.run();
        }
        pair.server.changed(Change::Tools);
        let _ = pair.server.log(Level::Warning, Some("main"), "by itself");
        pair.run();
        let tickets = std::mem::take(&mut pair.deferred);
        if let Ok(mut reply) = pair.server.reply(tickets[0]) {
            let _ = reply.progress(99u32, Some(Decimal::new(100, 0)), "nearly");
            let _ = reply.log(Level::Alert, None, "late");
            reply.text("deferred");
        }
        pair.run();
        // What is cancelled and what takes too long, on both sides.
        let slow = pair.client.call_json("slow", "{}", quiet).unwrap();
        pair.run();
        pair.client.cancel(slow, "not needed").unwrap();
        pair.client.call_json("slow", "{}", quiet.timeout(Millis(50))).unwrap();
        pair.run();
        pair.now = Millis(200);
        pair.run();
        // Silence, and keeping alive.
        pair.now = Millis(20_000);
        pair.run();
        let messages = pair.check(&schemas, revision.as_str());
        println!("{revision}: {messages} messages");
        assert!(messages > 90, "{messages} messages of {revision}");
        assert!(pair.heard.iter().any(|event| event.contains("Progress")), "{revision}");
    }
}

/// Several subscriptions, and all that they hear, to their end.
#[test]
fn subscriptions() {
    let Some(schemas) = schemas() else { return };
    let revision = Revision::V2026_07_28;
    let mut pair = Pair::new(revision, server_info(revision));
    pair.run();
    pair.check(&schemas, revision.as_str());
    for (id, filter) in [
        ("1001", r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:b"]}"#),
        (r#""\u0061""#, r#"{"toolsListChanged":true}"#),
        ("1002", "{}"),
        ("1003", r#"{"taskIds":[]}"#),
        ("1004", "7"),
    ] {
        pair.raw(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}},"notifications":{filter}}}}}"#
        ));
    }
    pair.server.changed(Change::Tools);
    pair.run();
    pair.server.shutdown(pair.now);
    pair.run();
    let written = pair.by_server.0.lock().unwrap().join("\n");
    for (what, count) in [
        ("notifications/subscriptions/acknowledged", 3),
        ("notifications/tools/list_changed", 2),
        ("\"code\":-32021", 1),
        ("\"code\":-32602", 1),
        ("\"resultType\":\"complete\"", 3),
        ("notifications/cancelled", 3),
    ] {
        assert_eq!(written.matches(what).count(), count, "{what} in {written}");
    }
    let results: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|message| message.get("result").cloned())
        .collect();
    for result in results {
        schemas.check(revision.as_str(), "SubscriptionsListenResult", &result).unwrap();
    }
    assert_eq!(pair.check(&schemas, revision.as_str()), 13);
}

/// Batches of all kinds, with what is sent meanwhile.
#[test]
fn batches() {
    let Some(schemas) = schemas() else { return };
    let revision = Revision::V2025_03_26;
    let mut pair = Pair::new(revision, server_info(revision));
    pair.run();
    pair.check(&schemas, revision.as_str());
    let call = |id: u32, tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":{id}}}}}}}"#
        )
    };
    let tools = ["text", "everything", "fail", "content", "error", "invalid", "forgotten"];
    let calls: Vec<String> = (1000..).zip(tools).map(|(id, tool)| call(id, tool)).collect();
    for batch in [
        calls.join(","),
        format!("{},{},1,[],{{}}", call(2000, "large"), call(2001, "no such tool")),
        format!("{},{}", call(3000, "deferred"), call(3001, "text")),
        String::new(),
        [r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 20].join(","),
    ] {
        pair.raw(&format!("[{batch}]"));
    }
    let tickets = std::mem::take(&mut pair.deferred);
    pair.server.reply(tickets[0]).unwrap().text("deferred");
    pair.run();
    let written = pair.by_server.0.lock().unwrap().clone();
    let values = written.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let arrays: Vec<Value> = values.filter(Value::is_array).collect();
    let lengths: Vec<usize> = arrays.iter().map(|array| array.as_array().unwrap().len()).collect();
    assert_eq!(lengths, [7, 5, 2]);
    // An error without an id says null, which the schema does not know.
    for array in [&arrays[0], &arrays[2]] {
        schemas.check(revision.as_str(), "JSONRPCBatchResponse", array).unwrap();
    }
    assert!(pair.check(&schemas, revision.as_str()) > 30);
}

/// What other clients might write: every error of the server.
#[test]
fn every_error_in_every_revision() {
    let Some(schemas) = schemas() else { return };
    let lines = [
        "garbage",
        "[]",
        "42",
        "{}",
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":7}"#,
        r#"{"jsonrpc":"2.0","id":"b"}"#,
        r#"{"jsonrpc":"2.0","id":"c","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"d","method":"tools/list","params":{"cursor":"never given"}}"#,
        r#"{"jsonrpc":"2.0","id":"e","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":"f","method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":"g","method":"tools/call","params":{"name":1}}"#,
        r#"{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"text","arguments":[]}}"#,
        r#"{"jsonrpc":"2.0","id":"i","method":"logging/setLevel","params":{"level":"loud"}}"#,
        r#"{"jsonrpc":"2.0","id":"j","method":"resources/list"}"#,
        r#"{"jsonrpc":"2.0","id":"k","method":"server/discover"}"#,
        r#"{"jsonrpc":"2.0","id":"l","method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","id":"m","method":"initialize","params":{"protocolVersion":"1","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":"n","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":"o","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        r#"{"jsonrpc":"2.0","id":"p","method":"no/such","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"x"}}}"#,
        r#"{"jsonrpc":"2.0","id":"r","method":"deep","params":[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]}"#,
    ];
    let long = format!(r#"{{"jsonrpc":"2.0","id":"s","method":"x","params":"{}"}}"#, "x".repeat(4000));
    let long_id = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(400));
    for revision in Revision::ALL {
        let mut pair = Pair::new(revision, server_info(revision));
        pair.run();
        let before = pair.check(&schemas, revision.as_str());
        for line in lines.iter().copied().chain([long.as_str(), long_id.as_str()]) {
            pair.raw(line);
        }
        let errors = pair.check(&schemas, revision.as_str());
        println!("{revision}: {before} and {errors} messages");
        assert!(errors >= 18, "{errors} messages of {revision}");
    }
}

/// What a client answers to a server that asks.
#[test]
fn the_answers_of_a_client() {
    let Some(schemas) = schemas() else { return };
    for revision in Revision::ALL {
        let mut pair = Pair::new(revision, server_info(revision));
        pair.run();
        pair.check(&schemas, revision.as_str());
        let long = format!(r#"{{"jsonrpc":"2.0","id":"z","method":"x","params":"{}"}}"#, "x".repeat(200_000));
        for line in [
            r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"roots/list"}"#,
            r#"{"jsonrpc":"2.0","id":"","method":"no/such"}"#,
            "garbage",
            &long,
        ] {
            pair.down.extend(line.as_bytes());
            pair.down.push(b'\n');
        }
        pair.run();
        let answers = pair.by_client.0.lock().unwrap().len();
        assert_eq!(answers, if Revisions::STATELESS.contains(revision) { 0 } else { 4 }, "{revision}");
        pair.check(&schemas, revision.as_str());
    }
}
