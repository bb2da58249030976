//! Events of both roles in logs: their `Debug` output, and the line of a protocol error.

use mcp_proto::client::{self, ClientConfig, ConnectFailure};
use mcp_proto::json::Json;
use mcp_proto::server::{self, Prompt, Prompts, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, Client, Machine, Millis, Next, Server};

static TOOLS: Tools = Tools::new(&[Tool::new("write", "{}")]);
static SERVER: ServerConfig = ServerConfig::new("server", "1").features(&[&TOOLS]);
static CLIENT: ClientConfig = ClientConfig::new("client", "1");
const LIMIT: usize = 4 << 20;

/// Passes bytes to a machine until the machine has an event or all bytes are read. Returns the output.
fn feed(machine: &mut dyn Machine, mut bytes: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    loop {
        match machine.poll(Millis(0)) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => {
                    output.extend_from_slice(out.bytes());
                    let sent = out.bytes().len();
                    out.sent(sent);
                }
                Next::Read(mut space) if !bytes.is_empty() => {
                    let count = space.space().len().min(bytes.len());
                    let (now, rest) = bytes.split_at(count);
                    space.space()[..count].copy_from_slice(now);
                    space.filled(count);
                    bytes = rest;
                }
                _ => return output,
            },
            Action::Event => return output,
            Action::Closed => panic!("the connection is closed"),
        }
    }
}

fn client<'b>(rx: impl Into<Buffer<'b>>) -> Client<'b> {
    let mut client = Client::new(&CLIENT, rx, Buffer::grown(LIMIT)).unwrap().in_flight_grown(2);
    feed(&mut client, b"");
    client
}

fn connected() -> Client<'static> {
    let mut client = client(Buffer::grown(LIMIT));
    feed(
        &mut client,
        br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}
"#,
    );
    assert!(matches!(client.event(), Some(client::Event::Connected(_))));
    client
}

#[test]
fn debug_output_of_events_is_short() {
    let mega = "x".repeat(1 << 20);
    let mut server = Server::new(&SERVER, Buffer::grown(LIMIT), Buffer::grown(LIMIT)).unwrap();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{{meta},"name":"write","arguments":{{"text":"{mega}"}}}}}}"#
    );
    feed(&mut server, format!("{call}\n").as_bytes());
    let event = server.event().unwrap();
    assert!(matches!(event, server::Event::Call(_)), "{event:?}");
    let text = format!("{event:?}");
    assert!(text.contains("(1048587 bytes)") && text.len() < 3000, "{text}");

    let mut client = connected();
    client.call_json("write", "{}", client::Options::DEFAULT).unwrap();
    let request = feed(&mut client, b"");
    let id = Json::parse(&request).unwrap().get("id").unwrap();
    for (message, is_expected) in [
        (
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/other","params":{{"text":"{mega}"}}}}"#),
            (|event| matches!(event, client::Event::Notification { .. })) as fn(&client::Event<'_>) -> bool,
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"{mega}"}}]}}}}"#
            ),
            |event| matches!(event, client::Event::Response(_)),
        ),
    ] {
        feed(&mut client, format!("{message}\n").as_bytes());
        let event = client.event().unwrap();
        let text = format!("{event:?}");
        assert!(is_expected(&event) && text.contains(" bytes)") && text.len() < 3000, "{text}");
    }
}

#[test]
fn client_keeps_the_line_of_a_protocol_error() {
    let mut client = connected();
    for line in ["Listening on port 3000", "[]", r#"{"jsonrpc":"2.0","id":99,"result":{}}"#] {
        feed(&mut client, format!("{line}\n").as_bytes());
        assert!(matches!(client.event(), Some(client::Event::ProtocolError(_))), "{line}");
        assert_eq!(client.line(), line.as_bytes());
        feed(&mut client, b"");
        assert_eq!(client.line(), b"", "{line}");
    }
    // The rest of the next line may arrive after the event.
    feed(&mut client, b"text\n{\"json");
    assert_eq!((client.event().is_some(), client.line()), (true, &b"text"[..]));
    feed(&mut client, b"rpc\":\"2.0\",\"method\":\"x\"}\n");
    assert!(matches!(client.event(), Some(client::Event::Notification { .. })));
}

#[test]
fn oversized_response_to_the_connection_names_the_buffer() {
    let mut rx = [0; 128];
    let mut client = client(&mut rx[..]);
    assert_eq!(client.longest_line(), 128);
    let name = "x".repeat(200);
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"serverInfo":{{"name":"{name}"}}}}}}"#);
    feed(&mut client, format!("{line}\n").as_bytes());
    let Some(client::Event::ConnectFailed(failure)) = client.event() else { panic!("an event is missing") };
    assert!(matches!(failure, ConnectFailure::ResponseTooLong { limit: 128 }), "{failure:?}");
    assert_eq!(
        failure.to_string(),
        "the server's response to the connection request is longer than the receive buffer (at most 128 bytes); \
         the client needs a longer one"
    );
}

#[test]
fn debug_output_names_the_content() {
    static PROMPTS: Prompts = Prompts::new(&[Prompt::new("greet")]);
    static CONFIG: ServerConfig =
        ServerConfig::new("server", "1").features(&[&PROMPTS, &TOOLS, &server::Subscriptions]);
    assert!(format!("{CONFIG:?}").contains(r#""server""#), "{CONFIG:?}");
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    for (method, params, expected) in [
        (
            "prompts/get",
            r#""name":"greet","arguments":{"who":"x"},"requestState":"s""#,
            &[
                "GetPrompt {",
                r#"name: "greet""#,
                r#"{"who":"x"}"#,
                r#"state: "s""#,
                "Reply { pending: Pending {",
            ][..],
        ),
        ("tools/call", r#""name":"write""#, &["Call {", r#"name: "write""#, "InputResponses { responses: "]),
        ("subscriptions/listen", r#""notifications":{}"#, &["Listening {", "ticket: ", "subscriptions: []"]),
    ] {
        let server = Server::new(&CONFIG, Buffer::grown(LIMIT), Buffer::grown(LIMIT)).unwrap();
        let mut server = server.in_flight_grown(2).unwrap();
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{method}\",\"params\":{{{meta},{params}}}}}\n"
        );
        feed(&mut server, line.as_bytes());
        let text = format!("{:?}", server.event().unwrap());
        for part in expected {
            assert!(text.contains(part), "{method}: {part} in {text}");
        }
    }
    assert!(format!("{:?}", connected()).starts_with("Client {"));
    let server = Server::new(&CONFIG, Buffer::grown(LIMIT), Buffer::grown(LIMIT)).unwrap();
    assert!(format!("{server:?}").starts_with("Server {"));
    let text = format!("{:?} {:?}", client::ChunkData::Text("a"), client::ChunkData::Blob(&[1, 2]));
    assert_eq!(text, r#"Text("a") Blob(2 bytes)"#);
}

#[test]
fn events_have_the_metadata_of_their_messages() {
    let mut client = client(Buffer::grown(LIMIT));
    let meta = r#""_meta":{"a":1}"#;
    let discovered = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{{meta},"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}}}}}}"#
    ) + "\n";
    feed(&mut client, discovered.as_bytes());
    let Some(client::Event::Connected(connected)) = client.event() else { panic!("no connection") };
    assert_eq!(connected.meta().unwrap().to_string(), r#"{"a":1}"#);
    client.call_json("write", "{}", client::Options::DEFAULT.with_progress()).unwrap();
    let request = feed(&mut client, b"");
    let params = Json::parse(&request).unwrap().get("params").unwrap();
    let token = params.get("_meta").unwrap().get("progressToken").unwrap();
    let progress = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{{meta},"progressToken":{token},"progress":1}}}}"#
    ) + "\n";
    feed(&mut client, progress.as_bytes());
    let Some(client::Event::Progress(progress)) = client.event() else { panic!("no progress") };
    assert_eq!(progress.meta().unwrap().to_string(), r#"{"a":1}"#);
}
