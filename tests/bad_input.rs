//! Bad input: compares the tables in the documents with actual results.
//!
//! To accept changes: `BLESS=1 cargo test -p mcp-proto-tests bad_input`, and review the difference.

use std::fmt::Write as _;

use crate::support::ROOT;
use crate::support::transport::{exchange, take_output};
use mcp_proto::client::{self, ClientConfig, Connect, Options};
use mcp_proto::server::{self, Event, Limits, RequestOptions, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Client, Machine, Millis, Outcome, Server};

static TOOLS: Tools = Tools::new(&[
    Tool::new("add", "{}"),
    Tool::new("slow", "{}"),
    Tool::new("huge", "{}"),
    Tool::new("forgetful", "{}"),
]);
static SERVER: ServerConfig =
    ServerConfig::new("s", "1").features(&[&TOOLS]).limits(Limits::DEFAULT.with_id(40).with_depth(8));

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: i32,
    b: i32,
}

/// Passes `input` to the machine, and takes output. With `ends`, also ends the input. Returns `false` if the machine is
/// open, has no event, and nothing moved.
fn step(machine: &mut dyn Machine, input: &mut &[u8], ends: bool, output: &mut Vec<u8>) -> bool {
    let Action::Io(io) = machine.poll(Millis(0)) else { return true };
    if ends && input.is_empty() {
        let (out, receive) = io.split();
        let taken = take_output(out, usize::MAX, output);
        let ready = receive.is_ready();
        if ready {
            receive.eof();
        }
        return ready || taken > 0;
    }
    exchange(io, input, output)
}

/// Runs a server over lines. With `pinged`, the server then pings the client once, and receives the lines of `pinged`.
/// Returns the output and the events.
fn serve(lines: &[u8], ends: bool, mut pinged: Option<&[u8]>) -> (String, Vec<String>) {
    let (mut rx, mut tx) = ([0; 256], [0; 640]);
    let (mut slots, mut text) = ([server::Slot::EMPTY; 1], [0; 80]);
    let mut server =
        Server::new(&SERVER, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text).unwrap();
    let (mut input, mut output, mut events) = (lines, Vec::new(), Vec::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Event => {}
            Action::Closed => break,
            Action::Io(_) => {
                if step(&mut server, &mut input, ends, &mut output) {
                    continue;
                }
                let Some(lines) = pinged.take() else { break };
                server.ping(RequestOptions::DEFAULT).unwrap();
                input = lines;
                continue;
            }
        }
        match server.event().unwrap() {
            Event::Call(mut call) => match call.name() {
                "add" => match call.arguments::<Add>() {
                    Ok(Add { a, b }) => call.text(a + b),
                    Err(error) => call.invalid(error),
                },
                "slow" => {
                    if let Err(call) = call.defer(None) {
                        call.busy();
                    }
                }
                "huge" => call.text("x".repeat(5000)),
                _ => drop(call),
            },
            Event::ProtocolError(fault) => events.push(format!("`{fault:?}`")),
            Event::Response(end) => match end.outcome() {
                Outcome::Failed(lost) => events.push(format!("the request ends: `{lost:?}`")),
                other => panic!("{other:?}"),
            },
            Event::Connected(_) | Event::Ready => {}
            other => events.push(format!("`{other:?}`")),
        }
    }
    (String::from_utf8(output).unwrap(), events)
}

fn initialize(revision: &str) -> String {
    format!(
        "{}\n{}\n",
        r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"REVISION","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#
            .replace("REVISION", revision),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
    )
}

/// A row: name, setup, and input. The tables omit the responses to the setup.
type Row = (&'static str, Before, Vec<u8>);

#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    /// A session of this revision.
    Session(&'static str),
    /// A session of this revision. Call 7, to the tool `slow`, is in flight.
    Busy(&'static str),
    /// A session of this revision. The server's ping with id 1 is in flight.
    Pinged(&'static str),
}

const LATEST: Before = Before::Session("2025-11-25");
const BUSY: Before = Before::Busy("2025-11-25");
const PINGED: Before = Before::Pinged("2025-11-25");

fn request(id: &str, method: &str, params: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n").into_bytes()
}

fn call(id: &str, tool: &str, arguments: &str) -> Vec<u8> {
    request(id, "tools/call", &format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}}}"))
}

fn stateless(version: &str) -> Vec<u8> {
    let meta = format!(
        r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}}}"#
    );
    request("1", "server/discover", &meta)
}

fn rows() -> Vec<Row> {
    let long = "x".repeat(300);
    let deep = format!("{}{}", "[".repeat(20), "]".repeat(20));
    let line = |text: &str| [text.as_bytes(), b"\n"].concat();
    vec![
        ("not JSON, no session", Before::Nothing, line("hello")),
        ("not JSON", LATEST, line("{\"jsonrpc\":\"2.0\",\"id\":1,")),
        (
            "not JSON, after its id and method",
            LATEST,
            line(r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":}"#),
        ),
        ("not JSON, id last", LATEST, line(r#"{"method":"ping","jsonrpc":"2.0","id":1}}"#)),
        (
            "cut off within its parameters",
            LATEST,
            line(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","par"#),
        ),
        ("cut off within its id", LATEST, line(r#"{"jsonrpc":"2.0","method":"tools/call","id":1"#)),
        ("not JSON, but looks like a response", LATEST, line(r#"{"jsonrpc":"2.0","id":1,"result":{},}"#)),
        ("invalid UTF-8", LATEST, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n".to_vec()),
        (
            "abandoned by the sender",
            LATEST,
            line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"par\x18ams\":{}}"),
        ),
        (
            "abandoned by the sender, method first",
            LATEST,
            line("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":12\x183,\"params\":{}}"),
        ),
        (
            "abandoned by the sender, a response",
            LATEST,
            line("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\x18"),
        ),
        ("too long, id first", LATEST, request("1", "ping", &format!("{{\"x\":\"{long}\"}}"))),
        (
            "too long, id last",
            LATEST,
            line(&format!(r#"{{"params":{{"x":"{long}"}},"method":"ping","id":1}}"#)),
        ),
        ("too long, a notification", LATEST, line(&format!(r#"{{"params":{{"x":"{long}"}},"method":"m"}}"#))),
        ("too long, a response", LATEST, line(&format!(r#"{{"id":1,"result":{{"x":"{long}"}}}}"#))),
        ("too deep", LATEST, request("1", "ping", &format!("{{\"x\":{deep}}}"))),
        (
            "too deep, id last",
            LATEST,
            line(&format!(r#"{{"jsonrpc":"2.0","method":"m","params":{deep},"id":1}}"#)),
        ),
        ("no `jsonrpc`", LATEST, line(r#"{"id":1,"method":"ping"}"#)),
        ("wrong `jsonrpc`", LATEST, line(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#)),
        ("not an object", LATEST, line("42")),
        ("id null", LATEST, request("null", "ping", "{}")),
        ("id null, 2025-06-18", Before::Session("2025-06-18"), request("null", "ping", "{}")),
        ("fractional id", LATEST, request("1.0", "ping", "{}")),
        ("id with an exponent", LATEST, request("1e0", "ping", "{}")),
        ("object as id", LATEST, request("{}", "ping", "{}")),
        ("id over the limit", LATEST, request(&format!("\"{}\"", "i".repeat(40)), "ping", "{}")),
        ("`method` no string", LATEST, line(r#"{"jsonrpc":"2.0","id":1,"method":7}"#)),
        ("`params` no object", LATEST, request("1", "tools/list", "[1]")),
        ("unknown method", LATEST, request("1", "tools/destroy", "{}")),
        ("method of a missing feature", LATEST, request("1", "resources/list", "{}")),
        ("unknown tool", LATEST, call("1", "subtract", "{}")),
        ("`arguments` no object", LATEST, call("1", "add", "[1]")),
        ("bad arguments", LATEST, call("1", "add", r#"{"a":"x","b":1}"#)),
        ("bad arguments, 2025-06-18", Before::Session("2025-06-18"), call("1", "add", r#"{"a":1}"#)),
        ("bad cursor", LATEST, request("1", "tools/list", r#"{"cursor":"p99"}"#)),
        ("duplicate id", BUSY, request("7", "ping", "{}")),
        ("request before the handshake", Before::Nothing, request("1", "tools/list", "{}")),
        ("`initialize` without a version", Before::Nothing, request("1", "initialize", "{}")),
        (
            "second `initialize`",
            BUSY,
            request(
                "1",
                "initialize",
                r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
            ),
        ),
        (
            "unknown version in `initialize`",
            Before::Nothing,
            request(
                "1",
                "initialize",
                r#"{"protocolVersion":"1.0.0","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
            ),
        ),
        ("unknown version in `_meta`", Before::Nothing, stateless("2030-01-01")),
        (
            "`_meta` without capabilities",
            Before::Nothing,
            request(
                "1",
                "tools/list",
                r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
            ),
        ),
        ("batch", LATEST, line(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#)),
        ("response without a request", LATEST, line(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)),
        (
            "response with result and error",
            LATEST,
            line(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#),
        ),
        (
            "response with result and error, a request in flight",
            PINGED,
            line(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#),
        ),
        ("response with neither, a request in flight", PINGED, line(r#"{"jsonrpc":"2.0","id":1}"#)),
        ("error without an id", LATEST, line(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#)),
        (
            "cancellation of an unknown request",
            BUSY,
            line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}"#),
        ),
        (
            "cancellation without an id",
            BUSY,
            line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#),
        ),
        (
            "progress of an unknown request",
            LATEST,
            line(
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
            ),
        ),
        ("unknown notification", LATEST, line(r#"{"jsonrpc":"2.0","method":"$/setTrace"}"#)),
        ("too many in flight", BUSY, call("8", "slow", "{}")),
        ("response too large", LATEST, call("1", "huge", "{}")),
        ("no response", LATEST, call("1", "forgetful", "{}")),
        ("end of input within a line", LATEST, br#"{"jsonrpc":"2.0","id":1,"met"#.to_vec()),
        ("nine bad lines in a row", LATEST, "hello\n".repeat(9).into_bytes()),
    ]
}

/// Runs one row. Returns the output for the peer and the events for the application.
fn run((name, before, input): &Row) -> (String, String) {
    let pings = matches!(before, Before::Pinged(_));
    let before = match before {
        Before::Nothing => String::new(),
        Before::Session(revision) | Before::Pinged(revision) => initialize(revision),
        Before::Busy(revision) => {
            initialize(revision) + std::str::from_utf8(&call("7", "slow", "{}")).unwrap()
        }
    };
    let ends = name.starts_with("end of input");
    let (setup, quiet) = serve(before.as_bytes(), false, pings.then_some(b""));
    assert!(quiet.is_empty(), "{name}: {quiet:?}");
    let ping = request("\"still\"", "ping", "{}");
    let after: &[u8] = if ends { b"" } else { &ping };
    let row = [&input[..], after].concat();
    let (output, events) = match pings {
        true => serve(before.as_bytes(), ends, Some(&row)),
        false => serve(&[before.as_bytes(), &row].concat(), ends, None),
    };
    let answers = output.strip_prefix(&setup).expect(name);
    let alive = r#"{"jsonrpc":"2.0","id":"still","result":{}}"#;
    // Unless the input ends, the connection continues: a later ping gets a response.
    let answers = if ends { answers } else { answers.strip_suffix(&format!("{alive}\n")).expect(name) };
    let answers: Vec<_> = answers.lines().map(|line| format!("`{}`", shorten(line))).collect();
    (dash(&distinct(&answers)), dash(&distinct(&events)))
}

fn shorten(line: &str) -> String {
    line.replace(r#"{"jsonrpc":"2.0","#, "{").replace('|', "\\|")
}

fn dash(text: &str) -> String {
    if text.is_empty() { "nothing".into() } else { text.into() }
}

/// Writes equal consecutive items once, with their number.
fn distinct(items: &[String]) -> String {
    let mut text = String::new();
    let mut rest = items;
    while let [first, ..] = rest {
        let times = rest.iter().take_while(|item| item == &first).count();
        if !text.is_empty() {
            text += ", ";
        }
        text += first;
        if times > 1 {
            write!(text, " × {times}").unwrap();
        }
        rest = &rest[times..];
    }
    text
}

/// Returns the rows for a client with call 4 in flight.
fn client_rows() -> Vec<(&'static str, Vec<u8>)> {
    let line = |text: &str| [text.as_bytes(), b"\n"].concat();
    let long = "x".repeat(700);
    let deep = format!("{}{}", "[".repeat(20), "]".repeat(20));
    vec![
        ("not JSON, like a banner", line("Server listening on stdio")),
        ("invalid UTF-8", b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}\n".to_vec()),
        ("invalid UTF-8 in a response", b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":\"\xff\"}\n".to_vec()),
        ("response that is cut off", line(r#"{"jsonrpc":"2.0","id":4,"result":{"x":"#)),
        ("request that is cut off", line(r#"{"jsonrpc":"2.0","id":1,"method":"ping","par"#)),
        ("oversized response", line(&format!(r#"{{"jsonrpc":"2.0","id":4,"result":{{"x":"{long}"}}}}"#))),
        (
            "oversized response, id last",
            line(&format!(r#"{{"result":{{"x":"{long}"}},"jsonrpc":"2.0","id":4}}"#)),
        ),
        ("too deep response", line(&format!(r#"{{"jsonrpc":"2.0","id":4,"result":{{"x":{deep}}}}}"#))),
        ("response abandoned by the sender", line("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"x\":\x18")),
        ("response with result and error", line(r#"{"jsonrpc":"2.0","id":4,"result":{},"error":{}}"#)),
        ("response with neither", line(r#"{"jsonrpc":"2.0","id":4}"#)),
        ("result that is not an object", line(r#"{"jsonrpc":"2.0","id":4,"result":7}"#)),
        ("id as a string of digits", line(r#"{"jsonrpc":"2.0","id":"4","result":{"content":[]}}"#)),
        ("response without a request", line(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#)),
        (
            "repeated response",
            line(
                "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}",
            ),
        ),
        ("error without an id", line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#)),
        (
            "progress of an unknown request",
            line(
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}"#,
            ),
        ),
        (
            "cancellation of an unknown request",
            line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#),
        ),
        ("unknown notification", line(r#"{"jsonrpc":"2.0","method":"window/logMessage","params":{}}"#)),
        ("request for an undeclared capability", line(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#)),
        (
            "request for an undeclared sub-capability",
            line(
                r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#,
            ),
        ),
        (
            "request with invalid params",
            line(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#),
        ),
        (
            "request that the application drops",
            line(
                r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#,
            ),
        ),
        (
            "oversized request",
            line(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{{"x":"{long}"}}}}"#)),
        ),
        (
            "request abandoned by the sender",
            line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\",\x18"),
        ),
        ("batch", line(r#"[{"jsonrpc":"2.0","id":4,"result":{}}]"#)),
        ("end of input", Vec::new()),
    ]
}

/// Runs a client until nothing moves. Returns the output and the events.
fn listen(client: &mut Client<'_>, mut input: &[u8], ends: bool) -> (String, Vec<String>) {
    let (mut output, mut events) = (Vec::new(), Vec::new());
    loop {
        match client.poll(Millis(0)) {
            Action::Event => {}
            Action::Closed => break,
            Action::Io(_) => {
                if step(client, &mut input, ends, &mut output) {
                    continue;
                }
                break;
            }
        }
        match client.event().unwrap() {
            client::Event::Connected(_) => {}
            client::Event::ServerRequest(asked) => drop(asked),
            client::Event::ProtocolError(fault) => events.push(format!("`{fault:?}`")),
            client::Event::Response(end) => events.push(match end.outcome() {
                Outcome::Result(_) => "the result".into(),
                Outcome::Failed(lost) => format!("the call ends: `{lost:?}`"),
                other => format!("{other:?}"),
            }),
            client::Event::Notification { method, .. } => events.push(format!("`Notification` {method}")),
            other => panic!("{other:?}"),
        }
    }
    (String::from_utf8(output).unwrap(), events)
}

fn run_client(input: &[u8]) -> (String, String) {
    let info = ClientConfig::new("c", "1").connect(Connect::Handshake).depth(8);
    let info = info.capabilities(mcp_proto::ClientCapabilities::SAMPLING);
    let (mut rx, mut tx) = ([0; 512], [0; 1024]);
    let (mut slots, mut text) = ([client::Slot::EMPTY; 1], [0; 80]);
    let mut client = Client::new(&info, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text);
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    listen(&mut client, &[hello.as_bytes(), b"\n"].concat(), false);
    client.call_json("t", "{}", Options::DEFAULT).unwrap();
    let (called, _) = listen(&mut client, b"", false);
    assert!(called.contains(r#""id":4,"#), "{called}");
    let (output, events) = listen(&mut client, input, input.is_empty());
    let answers: Vec<_> = output.lines().map(|line| format!("`{}`", shorten(line))).collect();
    (dash(&distinct(&answers)), dash(&distinct(&events)))
}

#[test]
fn bad_input_tables_match_the_behavior() {
    let mut server = String::from("| the client sends | response | event |\n|---|---|---|\n");
    for row in rows() {
        let (peer, host) = run(&row);
        writeln!(server, "| {} | {peer} | {host} |", row.0).unwrap();
    }
    let mut client = String::from("| the server sends | response | event |\n|---|---|---|\n");
    for (name, input) in client_rows() {
        let (peer, host) = run_client(&input);
        writeln!(client, "| {name} | {peer} | {host} |").unwrap();
    }
    let path = &format!("{ROOT}/docs/bad-input.md");
    let mut document = std::fs::read_to_string(path).unwrap();
    for (name, table) in [("server", server), ("client", client)] {
        let (open, close) = (format!("<!-- bad input of a {name}'s peer -->\n"), "<!-- end -->");
        let from = document.find(&open).unwrap() + open.len();
        let to = from + document[from..].find(close).unwrap();
        document.replace_range(from..to, &table);
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &document).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == document,
        "run: BLESS=1 cargo test -p mcp-proto-tests bad_input"
    );
}
