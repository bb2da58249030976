//! Methods and notifications of extensions over HTTP.

use super::support::{Harness, Request};
use mcp_proto::Server;
use mcp_proto::server::{Extensions, ServerConfig, Slot};
use mcp_proto_http::server::{HttpConfig, SessionMode};

static EXTENSIONS: Extensions = Extensions::new(&[("com.example/own", "{}")])
    .methods(&["example/own"])
    .notifications(&["notifications/example"]);
static CONFIG: ServerConfig = ServerConfig::new("s", "1").features(&[&EXTENSIONS]).anonymous_results();
const HTTP: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sessions);

fn harness() -> Harness {
    let mut harness = Harness::new(HTTP);
    let buffer = || vec![0; 4096].leak();
    let server = Server::new(&CONFIG, buffer(), buffer()).unwrap().message_mode().unwrap();
    harness.server = server.in_flight(vec![Slot::EMPTY; 2].leak(), vec![0; 64].leak()).unwrap();
    harness
}

/// E-S6, E-S10: `Mcp-Method` is required for each method. `Mcp-Name` belongs to methods of the protocol.
#[test]
fn extension_method_needs_only_its_method_field() {
    let own = Request::modern(1, "example/own", r#""value":7"#);
    let unknown = Request::modern(1, "example/unknown", "");
    let rows = [
        ("own method", own.clone(), 200, 0),
        ("name without meaning", own.clone().with("mcp-name", "x"), 200, 0),
        ("method is missing", own.clone().with("mcp-method", ""), 400, -32020),
        ("method differs", own.with("mcp-method", "example/other"), 400, -32020),
        ("unknown method", unknown.clone(), 404, -32601),
        ("unknown method differs", unknown.with("mcp-method", "example/own"), 400, -32020),
    ];
    for (name, request, status, code) in rows {
        let reply = harness().ask(&request);
        assert_eq!((reply.status, reply.code()), (status, code), "{name} {reply:?}");
        assert_eq!(
            reply.body.contains(r#""resultType":"com.example/later""#),
            status == 200,
            "{name} {reply:?}"
        );
        assert_eq!(reply.body.contains(r#""value":7"#), status == 200, "{name} {reply:?}");
    }
}

#[test]
fn extension_messages_of_a_session_need_no_field() {
    let mut harness = harness();
    let session = harness.initialize("2025-11-25");
    harness.events.clear();
    let own = r#"{"jsonrpc":"2.0","id":5,"method":"example/own","params":{"value":8}}"#;
    let reply = harness.ask(&Request::old(own, &session));
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.body.contains(r#""value":8"#), "{reply:?}");
    for (method, events) in [
        ("notifications/example", &["received notifications/example"][..]),
        ("notifications/unknown", &["a notification without meaning for this role or revision"]),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
        assert_eq!(harness.ask(&Request::old(body, &session)).status, 202, "{method}");
        assert_eq!(std::mem::take(&mut harness.events), events, "{method}");
    }
}
