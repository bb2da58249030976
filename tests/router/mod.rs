//! Tools as functions: catalog, decoding, state and results.

mod catalog;
mod entries;
mod failures;
mod names;
#[path = "../../adapters/handles/fixtures/tools.rs"]
mod tools;

use core::borrow::{Borrow, BorrowMut};

use crate::support::transport::{give_input, take_output};
use allocation_counter::measure;
use mcp_proto::server::{Call, Content, Event, Failure, IntoToolResult, Router, ServerConfig, Structured};
use mcp_proto::{Action, Millis, Next, Server, ToolArguments, router, tool};
use serde_json::{Value, json};

struct Counter {
    value: i64,
}

/// The amount.
#[derive(ToolArguments)]
struct Step {
    #[tool(range = 1..=100)]
    by: i64,
}

#[derive(ToolArguments, serde::Serialize)]
struct Reading {
    value: i64,
}

impl Counter {
    /// Adds a number to the counter,
    /// and returns the sum.
    #[tool(destructive = false, title = "Add")]
    fn add(&mut self, Step { by }: Step) -> Result<i64, &'static str> {
        self.value = self.value.checked_add(by).ok_or("the counter is full")?;
        Ok(self.value)
    }

    #[tool(read_only, idempotent)]
    fn read(&self) -> Structured<Reading> {
        Structured(Reading { value: self.value })
    }

    #[tool(name = "reset")]
    fn set_to_zero(counter: &mut Self) {
        counter.value = 0;
    }
}

mod words {
    use super::*;

    #[derive(ToolArguments)]
    pub(super) struct Echo<'a> {
        pub(super) text: &'a str,
    }

    #[tool(description = "Repeats a text")]
    pub(super) fn echo<'a>(Echo { text }: Echo<'a>) -> &'a str {
        text
    }

    #[tool]
    pub(super) fn picture() -> impl IntoToolResult + use<> {
        Content::new(|result| {
            result.text("a");
            result.text("b");
        })
    }

    #[tool]
    pub(super) fn fail(Echo { text }: Echo<'_>) -> Result<String, Failure> {
        if text.is_empty() {
            Err("no text")?;
        }
        Ok(text.parse::<u8>()?.to_string())
    }

    #[tool]
    pub(super) fn raw_call(call: Call<'_>) {
        call.text("");
    }

    // The parameters can have any order.
    #[tool]
    pub(super) fn raw(_: Echo<'_>, call: Call<'_>, counter: &Counter) {
        call.text(("raw ", counter.value));
    }
}

static ROUTER: Router<Counter> = router![
    Counter::add,
    Counter::read,
    Counter::set_to_zero,
    words::echo,
    words::picture,
    words::fail,
    words::raw,
    words::raw_call,
];
static CONFIG: ServerConfig = ServerConfig::new("counter", "1").features(&[ROUTER.tools()]);

/// A state that borrows.
struct Borrowed<'b> {
    counts: &'b mut u32,
}

/// A context with two parts.
struct Context<'b> {
    counter: Counter,
    borrowed: Borrowed<'b>,
}

impl Borrow<Counter> for Context<'_> {
    fn borrow(&self) -> &Counter {
        &self.counter
    }
}

impl<'b> Borrow<Borrowed<'b>> for Context<'b> {
    fn borrow(&self) -> &Borrowed<'b> {
        &self.borrowed
    }
}

impl<'b> BorrowMut<Borrowed<'b>> for Context<'b> {
    fn borrow_mut(&mut self) -> &mut Borrowed<'b> {
        &mut self.borrowed
    }
}

#[tool]
fn count(state: &mut Borrowed<'_>) -> u32 {
    *state.counts += 1;
    *state.counts
}

impl<'b> Context<'b> {
    const ROUTER: Router<'b, Context<'b>> = router![count, Counter::read];
}

static PARTS: ServerConfig = ServerConfig::new("parts", "1").features(&[Context::ROUTER.tools()]);

const OPEN: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
);

/// Serves until the input ends. Returns the sent messages.
fn serve<C>(config: &ServerConfig<'_>, router: &Router<'_, C>, context: &mut C, input: &str) -> Vec<Value> {
    let (mut rx, mut tx) = ([0; 1024], [0; 4096]);
    let mut server = Server::new(config, &mut rx, &mut tx).unwrap();
    let (mut input, mut output) = (input.as_bytes(), Vec::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => _ = take_output(out, usize::MAX, &mut output),
                Next::Read(receive) if input.is_empty() => receive.eof(),
                Next::Read(receive) => _ = give_input(receive, usize::MAX, &mut input),
                Next::Wait => {}
            },
            Action::Event => match server.event() {
                Some(Event::Call(call)) if call.name() == "read" => router.call(context, call),
                Some(event) => drop(router.handle(context, event)),
                None => {}
            },
            Action::Closed => break,
        }
    }
    output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

fn request(method: &str, params: &Value) -> String {
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
}

/// Calls a tool, and returns the result or the error.
fn call(counter: &mut Counter, name: &str, arguments: &Value) -> Value {
    let call = request("tools/call", &json!({ "name": name, "arguments": arguments }));
    let lines = serve(&CONFIG, &ROUTER, counter, &(OPEN.to_owned() + &call));
    lines[1].get("result").or(lines[1].get("error")).unwrap().clone()
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

#[test]
fn functions_are_listed_as_tools() {
    let list = OPEN.to_owned() + &request("tools/list", &json!({}));
    let lines = serve(&CONFIG, &ROUTER, &mut Counter { value: 0 }, &list);
    let tools = lines[1]["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["add", "read", "reset", "echo", "picture", "fail", "raw", "raw_call"]);
    let [add, read, _, echo, _, _, _, raw_call] = &tools[..] else { panic!("{tools:?}") };
    assert_eq!(add["title"], "Add");
    assert_eq!(add["description"], "Adds a number to the counter, and returns the sum.");
    assert_eq!(add["annotations"], json!({ "destructiveHint": false }));
    assert_eq!(add["inputSchema"], serde_json::from_str::<Value>(Step::INPUT_SCHEMA).unwrap());
    assert_eq!(add.get("outputSchema"), None);
    assert_eq!(read["annotations"], json!({ "readOnlyHint": true, "idempotentHint": true }));
    assert_eq!(
        read["inputSchema"],
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
    assert_eq!(raw_call["inputSchema"], json!({ "type": "object" }));
    assert_eq!(read["outputSchema"], serde_json::from_str::<Value>(Reading::INPUT_SCHEMA).unwrap());
    assert_eq!(echo["description"], "Repeats a text");
}

#[test]
fn calls_run_functions_and_return_their_results() {
    let mut counter = Counter { value: 1 };
    for (name, arguments, expected) in [
        ("add", json!({ "by": 2 }), text("3")),
        (
            "read",
            json!({}),
            json!({
                "content": [{ "type": "text", "text": "{\"value\":3}" }],
                "structuredContent": { "value": 3 },
            }),
        ),
        ("reset", json!({}), text("")),
        ("reset", json!({ "unknown": 1 }), text("")),
        ("echo", json!({ "text": "a\n\"" }), text("a\n\"")),
        (
            "picture",
            json!({}),
            json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
        ),
        ("raw", json!({ "text": "" }), text("raw 0")),
        ("fail", json!({ "text": "7" }), text("7")),
    ] {
        assert_eq!(call(&mut counter, name, &arguments), expected, "{name}");
    }
}

#[test]
fn errors_are_failures_of_the_tool() {
    let mut counter = Counter { value: i64::MAX };
    for (name, arguments, expected) in [
        ("add", json!({ "by": 1 }), "the counter is full"),
        ("add", json!({ "by": 0 }), "Invalid arguments: `by`: expected an integer from 1 to 100"),
        ("add", json!({}), "Invalid arguments: missing field `by`"),
        ("fail", json!({ "text": "x" }), "invalid digit found in string"),
        ("fail", json!({ "text": "" }), "no text"),
    ] {
        let result = call(&mut counter, name, &arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        assert_eq!(result["content"][0]["text"], expected, "{name}");
    }
    assert_eq!(counter.value, i64::MAX);
}

#[test]
fn unknown_tools_have_no_handler() {
    assert!(ROUTER.handler("set_to_zero").is_none());
    assert_eq!(call(&mut Counter { value: 0 }, "missing", &json!({}))["message"], "Unknown tool: missing");
    // The server has the tool, but this router does not.
    static OTHER: Router<Counter> = router![Counter::add];
    let read = OPEN.to_owned() + &request("tools/call", &json!({ "name": "read" }));
    let lines = serve(&CONFIG, &OTHER, &mut Counter { value: 0 }, &read);
    assert_eq!(lines[1]["error"], json!({ "code": -32602, "message": "Unknown tool" }));
}

#[test]
fn handlers_borrow_parts_of_a_context() {
    let mut counts = 4;
    let mut context = Context { counter: Counter { value: 7 }, borrowed: Borrowed { counts: &mut counts } };
    let input = OPEN.to_owned()
        + &request("tools/call", &json!({ "name": "count" }))
        + &request("tools/call", &json!({ "name": "read" }));
    let lines = serve(&PARTS, &Context::ROUTER, &mut context, &input);
    assert_eq!(lines[1]["result"], text("5"));
    assert_eq!(lines[2]["result"]["structuredContent"]["value"], 7);
    assert_eq!(counts, 5);
}

#[test]
fn functions_with_the_attribute_stay_functions() {
    let mut counter = Counter { value: 1 };
    assert_eq!(counter.add(Step { by: 2 }), Ok(3));
    assert_eq!(words::echo(words::Echo { text: "a" }), "a");
}

#[test]
fn calls_of_a_router_allocate_nothing() {
    let line = request("tools/call", &json!({ "name": "add", "arguments": { "by": 1 } }));
    let (mut rx, mut tx) = ([0; 1024], [0; 4096]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let mut counter = Counter { value: 0 };
    let mut run = |mut input: &[u8]| {
        loop {
            match server.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, receive) = io.split();
                    let length = out.bytes().len();
                    out.sent(length);
                    if length + give_input(receive, usize::MAX, &mut input) == 0 {
                        return;
                    }
                }
                Action::Event => {
                    if let Some(Event::Call(call)) = server.event() {
                        ROUTER.call(&mut counter, call);
                    }
                }
                Action::Closed => panic!("the connection is open"),
            }
        }
    };
    run(OPEN.as_bytes());
    let counted = measure(|| (0..100).for_each(|_| run(line.as_bytes())));
    assert_eq!(counted.count_total, 0);
    assert_eq!(counter.value, 100);
}

#[test]
fn tools_with_a_shared_state_run_in_a_loop_without_adapter() {
    static SHARED: Router<tools::Adder> = router![tools::Adder::add, tools::repeat];
    static CONFIG: ServerConfig = ServerConfig::new("shared", "1").features(&[SHARED.tools()]);
    for (name, arguments, expected) in [
        ("add", json!({ "a": 2, "b": 40 }), "{\"sum\":142}"),
        ("add", json!({ "a": i64::MAX, "b": 1 }), "the sum is too large"),
        ("repeat", json!({ "word": "again" }), "again"),
    ] {
        let call = request("tools/call", &json!({ "name": name, "arguments": arguments }));
        let lines = serve(&CONFIG, &SHARED, &mut tools::Adder { offset: 100 }, &(OPEN.to_owned() + &call));
        assert_eq!(lines[1]["result"]["content"][0]["text"], expected, "{name}");
    }
}

/// Stands for a framework crate that re-exports `mcp-proto` as `protocol`.
mod framework {
    pub(super) mod protocol {
        pub(crate) use mcp_proto::*;
    }

    /// A handler in the crate itself.
    #[mcp_proto::tool(crate = crate::router::framework::protocol)]
    pub(super) fn ping() -> &'static str {
        "pong"
    }
}

#[test]
fn macros_use_the_crate_of_their_option() {
    use framework::protocol::{self, complete, prompt, resource};

    #[derive(ToolArguments)]
    #[tool(crate = framework::protocol)]
    struct Topic {
        name: String,
    }

    #[prompt(crate = framework::protocol)]
    fn about(Topic { name }: Topic) -> String {
        name
    }

    #[complete(prompt = "about", argument = "name", crate = framework::protocol)]
    fn names() -> [&'static str; 1] {
        ["a"]
    }

    #[resource("text:///{name}", crate = framework::protocol)]
    fn text(name: &str) -> String {
        name.to_owned()
    }

    static ROUTER: protocol::server::Router<()> =
        router![crate = framework::protocol, framework::ping, about, names, text,];
    static EMPTY: protocol::server::Router<()> = router![crate = framework::protocol];
    assert_eq!((ROUTER.features().len(), EMPTY.features().len()), (4, 0));
    assert!(ROUTER.handler("ping").is_some());
}
