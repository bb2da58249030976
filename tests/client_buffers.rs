//! Checks the table of client buffers in `docs/buffers.md` against the responses of a server.

use crate::documents::text;
use mcp_proto::server::{Event, Prompt, Prompts, Resource, Resources, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Millis, Next, Server};

static TOOLS: Tools = Tools::new(&[Tool::new("t", r#"{"type":"object"}"#)]);
static RESOURCES: Resources = Resources::new(&[Resource::new("r:r", "r")]);
static PROMPTS: Prompts = Prompts::new(&[Prompt::new("p")]);
static CONFIG: ServerConfig = ServerConfig::new("server", "1.0.0").features(&[&TOOLS, &RESOURCES, &PROMPTS]);

/// Returns the length of the server's response to a request with the id 1. The newline counts.
fn length(is_stateless: bool, method: &str, params: &str) -> usize {
    let (mut rx, mut tx) = ([0; 4096], [0; 4096]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let separator = if params.is_empty() { "" } else { "," };
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let input = match is_stateless {
        true => format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{meta}{separator}{params}}}}}"#
        ),
        false if method == "initialize" => hello.replace("\"id\":0", "\"id\":1"),
        false => format!(
            "{hello}\n{}",
            format_args!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#)
        ),
    };
    let input = input + "\n";
    let (mut unread, mut output) = (input.as_bytes(), Vec::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => {
                    output.extend_from_slice(out.bytes());
                    let sent = out.bytes().len();
                    out.sent(sent);
                }
                Next::Read(_) if unread.is_empty() => break,
                Next::Read(mut space) => {
                    let count = space.space().len().min(unread.len());
                    space.space()[..count].copy_from_slice(&unread[..count]);
                    space.filled(count);
                    unread = &unread[count..];
                }
                Next::Wait => break,
            },
            Action::Event => match server.event() {
                Some(Event::Call(call)) if call.raw_arguments().get("structured").is_some() => {
                    call.structured_with(|out| {
                        out.begin_object();
                        out.end_object();
                    });
                }
                Some(Event::Call(call)) => call.text(""),
                Some(Event::ReadResource(request)) => request.text(""),
                Some(Event::GetPrompt(request)) => request.messages(|messages| messages.user().text("")),
                Some(Event::ProtocolError(error)) => panic!("{error}"),
                _ => {}
            },
            Action::Closed => panic!("the connection is closed"),
        }
    }
    let output = String::from_utf8(output).unwrap();
    let response = output.lines().last().unwrap();
    assert!(response.contains("\"id\":1,\"result\""), "{response}");
    response.len() + 1
}

#[test]
fn documented_response_lengths_are_those_of_a_server() {
    let document = text("docs/buffers.md");
    let mut missing = Vec::new();
    for (name, methods, params) in [
        ("the connection", ["initialize", "server/discover"], ""),
        ("a result with one text", ["tools/call"; 2], r#""name":"t""#),
        (
            "structured content, and its text copy",
            ["tools/call"; 2],
            r#""name":"t","arguments":{"structured":1}"#,
        ),
        ("a list with one tool", ["tools/list"; 2], ""),
        ("a list with one resource", ["resources/list"; 2], ""),
        ("a resource with one text", ["resources/read"; 2], r#""uri":"r:r""#),
        ("a prompt with one text", ["prompts/get"; 2], r#""name":"p""#),
    ] {
        let [handshake, stateless] = [false, true];
        let lengths = [length(handshake, methods[0], params), length(stateless, methods[1], params)];
        let row = format!("| {name} | {} | {} |", lengths[0], lengths[1]);
        if !document.contains(&row) {
            missing.push(row);
        }
    }
    assert!(missing.is_empty(), "docs/buffers.md needs the rows {missing:#?}");
}
