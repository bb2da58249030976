//! The kind of the last response, which adapters report.

use crate::support::transport::{feed, take};
use mcp_proto::server::{ChunkedContent, Event, ResponseStatus, Server, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, Millis};

static TOOLS: Tools = Tools::new(&[Tool::new("t", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]);

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn server() -> Server<'static> {
    Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap().in_flight_grown(2).unwrap()
}

/// Passes a call to the server, and checks that the server has an event.
fn call(server: &mut Server<'_>) {
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{META},"name":"t"}}}}"#) + "\n";
    feed(server, Millis(0), line.as_bytes());
    assert!(matches!(server.poll(Millis(0)), Action::Event));
}

#[test]
fn status_is_that_of_the_last_response_and_taken_once() {
    type Respond = fn(Event<'_>);
    let responses: [(&str, Respond, Option<ResponseStatus>); 6] = [
        ("text", |event| call_of(event).text("x"), Some(ResponseStatus::Result)),
        ("fail", |event| call_of(event).fail("x"), Some(ResponseStatus::ToolFailure)),
        ("content", |event| call_of(event).content(|result| result.text("x")), Some(ResponseStatus::Result)),
        (
            "failed content",
            |event| {
                call_of(event).content(|result| {
                    result.text("x");
                    result.failed();
                });
            },
            Some(ResponseStatus::ToolFailure),
        ),
        ("error", |event| call_of(event).error(7, "x"), Some(ResponseStatus::Error { code: 7 })),
        ("dropped", |event| assert!(matches!(event, Event::Call(_))), None),
    ];
    for (name, respond, expected) in responses {
        let mut server = server();
        call(&mut server);
        assert_eq!(server.take_response_status(), None, "{name}");
        respond(server.event().unwrap());
        assert_eq!(server.take_response_status(), expected, "{name}");
        assert_eq!(server.take_response_status(), None, "{name}");
    }
}

#[test]
fn reset_discards_the_status() {
    let mut server = server();
    call(&mut server);
    call_of(server.event().unwrap()).text("x");
    server.reset();
    assert_eq!(server.take_response_status(), None);
}

fn call_of(event: Event<'_>) -> mcp_proto::server::Call<'_> {
    let Event::Call(call) = event else { panic!("{event:?}") };
    call
}

#[test]
fn deferred_call_responds_with_structured_content() {
    let mut server = server();
    call(&mut server);
    let ticket = call_of(server.event().unwrap()).defer(None).unwrap();
    server.poll(Millis(0));
    server.reply(ticket).unwrap().structured(&std::collections::BTreeMap::from([("n", 1)]));
    let sent = String::from_utf8(take(&mut server, Millis(0), usize::MAX)).unwrap();
    assert!(sent.contains(r#""structuredContent":{"n":1}"#), "{sent}");
}

#[test]
fn status_of_a_chunked_response_is_recorded_at_its_end() {
    for (fails, expected) in [(false, ResponseStatus::Result), (true, ResponseStatus::ToolFailure)] {
        let mut server = server();
        call(&mut server);
        let ticket = call_of(server.event().unwrap()).chunked(ChunkedContent::Text).unwrap();
        assert_eq!(server.take_response_status(), None);
        let chunks = server.chunks(ticket).unwrap();
        if fails {
            chunks.fail("x")
        } else {
            chunks.end()
        }
        assert_eq!(server.take_response_status(), Some(expected));
    }
}
