//! Nonstandard servers: the rows of docs/compatibility.md about clients.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use crate::support::transport::{feed, take};
use mcp_proto::client::{Connect, Options};
use mcp_proto::{Revision, SendError, ServerCapabilities, State};

const DEFAULT: Options = Options::DEFAULT;

/// Responds to `initialize` with this version and these capabilities.
fn answered(harness: &mut ClientHarness, version: &str, capabilities: &str) {
    harness.at(0);
    harness.server_sends(&format!(
        r#"{{"id":@initialize,"result":{{"protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{{"name":"Database MCP Server","version":"1.5.2"}}}},"_meta":{{}}}}"#
    ));
}

#[test]
fn boolean_capabilities_of_a_server_are_accepted() {
    use ServerCapabilities as S;
    let text = r#"{"tools":true,"prompts":false,"resources":null,"logging":1,"sampling":{},"experimental":{"streaming":true,"completions":true}}"#;
    Setup::handshake().run(|harness| {
        answered(harness, "2025-06-18", text);
        harness.events(&["connected 2025-06-18"]).discard();
        assert_eq!(harness.client.capabilities(), Some(S::TOOLS));
        harness.call("t", DEFAULT).unwrap();
        harness.discard();
    });
}

#[test]
fn client_capabilities_are_objects() {
    Setup::handshake().run(|harness| {
        harness.at(0).sent(&[
            r#"{"id":@,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        ]);
        answered(harness, "2025-11-25", "{}");
        // The client does not repeat its capabilities after `initialize`.
        harness.events(&["connected 2025-11-25"]).sent(&[r#"{"method":"notifications/initialized"}"#]);
    });
}

#[test]
fn nothing_is_sent_between_initialize_and_its_response() {
    let pings =
        mcp_proto::KeepAlive { interval: mcp_proto::Millis(10), timeout: mcp_proto::Millis(5), close: false };
    Setup { keep_alive: Some(pings), ..Setup::handshake() }.run(|harness| {
        harness.at(0).discard();
        assert_eq!(harness.client.ping(DEFAULT).map(|_| ()), Err(SendError::NotConnected));
        assert_eq!(harness.client.notify("x", |_| {}), Err(SendError::NotConnected));
        harness.at(50).at(500).sent(&[]);
        answered(harness, "2025-11-25", "{}");
        harness.events(&["connected 2025-11-25"]).sent(&[r#"{"method":"notifications/initialized"}"#]);
    });
}

#[test]
fn initialize_result_notification_is_no_response() {
    Setup::handshake().run(|harness| {
        harness.at(0).discard();
        let result =
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
        harness.server_sends(&format!(r#"{{"method":"initialize_result","params":{result}}}"#));
        harness.events(&[&format!("notified initialize_result {result}")]).sent(&[]);
        assert_eq!(harness.client.state(), State::Initializing);
        answered(harness, "2025-11-25", "{}");
        harness.events(&["connected 2025-11-25"]).discard();
    });
}

#[test]
fn members_beside_the_result_are_ignored() {
    Setup::automatic().connected(|harness| {
        harness.call("a", DEFAULT).unwrap();
        harness
            .discard()
            .server_sends(r#"{"id":@a,"result":{"content":[]},"_meta":{"x":1},"method_":"x","extra":[]}"#);
        harness.events(&[r#"a: result {"content":[]}"#]);
        harness.call("b", DEFAULT).unwrap();
        harness.discard().server_sends(r#"{"_meta":{},"id":@b,"error":{"code":7,"message":"no","extra":1}}"#);
        harness.events(&["b: error no (7)"]);
        // In the stateless era this notification belongs to no subscription.
        let events = if harness.is_handshake() { "changed Tools" } else { "fault UnknownSubscription" };
        harness.server_sends(r#"{"method":"notifications/tools/list_changed","_meta":{},"extra":1}"#);
        harness.events(&[events]);
    });
}

#[test]
fn server_notification_params_may_be_absent_empty_or_null() {
    for params in ["", r#","params":{}"#, r#","params":null"#, r#","params":{"_meta":{}}"#] {
        let _context = FailureContext(params.to_owned());
        Setup::handshake().run(|harness| {
            harness.connect();
            harness.server_sends(&format!(r#"{{"method":"notifications/tools/list_changed"{params}}}"#));
            harness.events(&["changed Tools"]).sent(&[]);
        });
    }
}

#[test]
fn nonstandard_error_codes_get_a_hint_and_stay_unchanged() {
    // The code, its data, and the hint in each era.
    let cases = [
        (-32000, "", Some("ToolNotFound"), None),
        (-32001, "", Some("ToolFailed"), None),
        (-32002, r#","data":{"uri":"file:///a"}"#, Some("ResourceNotFound"), Some("ResourceNotFound")),
        (-32003, "", Some("AccessDenied"), None),
        (-32004, "", Some("PromptNotFound"), None),
        (-32005, "", Some("RateLimited"), None),
        (-32006, "", None, None),
        (-32602, "", None, None),
        (-32602, r#","data":{"uri":"file:///a"}"#, Some("ResourceNotFound"), Some("ResourceNotFound")),
        (-32602, r#","data":{"uri":7}"#, None, None),
        (-32603, r#","data":{"uri":"a"}"#, None, None),
    ];
    for (code, data, handshake, stateless) in cases {
        let _context = FailureContext(format!("{code}{data}"));
        Setup::automatic().connected(|harness| {
            harness.call("a", DEFAULT).unwrap();
            harness.discard().server_sends(&format!(
                r#"{{"id":@a,"error":{{"code":{code},"message":"as it was"{data}}}}}"#
            ));
            let hint = if harness.is_handshake() { handshake } else { stateless };
            let hint = hint.map_or(String::new(), |hint| format!(", {hint}?"));
            let data = data.strip_prefix(r#","data":"#).map_or(String::new(), |data| format!(" {data}"));
            harness.events(&[&format!("a: error as it was ({code}){data}{hint}")]);
        });
    }
}

#[test]
fn connecting_client_gives_no_error_hint() {
    Setup::handshake().run(|harness| {
        harness.at(0).discard();
        harness.server_sends(r#"{"id":@initialize,"error":{"code":-32002,"message":"no"}}"#);
        harness.events(&["failed Refused no (-32002)", "closed"]);
    });
}

#[test]
fn members_of_newer_revisions_are_accepted() {
    Setup::handshake().run(|harness| {
        answered(harness, "2024-11-05", r#"{"tools":{"listChanged":true},"completions":{}}"#);
        harness.events(&["connected 2024-11-05"]).discard();
        let capabilities = harness.client.capabilities().unwrap();
        assert!(capabilities.has(ServerCapabilities::COMPLETIONS));
        assert_eq!(harness.client.revision(), Some(Revision::V2024_11_05));
        let ticket = harness.client.call_json("a", "{}", DEFAULT.with_progress()).unwrap();
        harness.name(ticket, "a");
        harness.server_sends(r#"{"method":"notifications/progress","params":{"progressToken":@a,"progress":50,"total":100,"message":"Processing..."}}"#);
        harness.events(&["a: 50/100 Processing..."]);
        let result = r#"{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav","annotations":{"priority":0.8}}],"structuredContent":{}}"#;
        harness.server_sends(&format!(r#"{{"id":@a,"result":{result}}}"#)).events(&[&format!("a: result {result}")]);
        harness.list();
        harness.discard().server_sends(
            r#"{"id":@list,"result":{"tools":[{"name":"t","outputSchema":{"type":"object"},"annotations":{"title":"T"}}],"nextCursor":null}}"#,
        );
        harness.events(&["list: t."]);
    });
}

/// A client stores no list, so it cannot detect duplicates.
#[test]
fn duplicate_tool_names_are_listed_unchanged() {
    Setup::automatic().connected(|harness| {
        harness.list();
        harness
            .discard()
            .server_sends(r#"{"id":@list,"result":{"tools":[{"name":"a"},{"name":"b"},{"name":"a"}]}}"#);
        harness.events(&["list: a, b, a."]);
    });
}

#[test]
fn empty_cursor_is_followed_if_configured() {
    for (ends, connect) in
        [(true, Connect::Handshake), (false, Connect::Handshake), (true, Connect::Stateless)]
    {
        let info = Setup::new(connect).info;
        let info = if ends { info } else { info.empty_cursors() };
        Setup { info, ..Setup::new(connect) }.run(|harness| {
            harness.connect();
            harness.list();
            harness
                .discard()
                .server_sends(r#"{"id":@list,"result":{"tools":[{"name":"a"}],"nextCursor":""}}"#);
            if ends && harness.is_handshake() {
                harness.events(&["list: a."]).sent(&[]);
                return;
            }
            harness.events(&["list: a, .."]);
            assert!(harness.take_sent_lines()[0].contains(r#""params":{"cursor":"""#));
            // A repeated cursor means an endless list. An empty cursor is no exception.
            harness.server_sends(r#"{"id":@list,"result":{"tools":[{"name":"b"}],"nextCursor":""}}"#);
            harness.events(&["list: b, ..", "list: lost EndlessList"]).sent(&[]);
        });
    }
}

#[test]
fn client_tolerates_missing_jsonrpc_only_if_configured() {
    for connect in [Connect::Handshake, Connect::Stateless] {
        let info = Setup::new(connect).info.tolerate_missing_jsonrpc();
        Setup { info, ..Setup::new(connect) }.run(|harness| {
            harness.connect();
            harness.call("a", DEFAULT).unwrap();
            let answer = harness.message(r#"{"id":@a,"result":{"content":[]}}"#);
            let wrong = answer.replace("\"2.0\"", "\"1.0\"");
            let missing = answer.replace(r#""jsonrpc":"2.0","#, "");
            harness.discard().raw(wrong.as_bytes()).events(&["fault WrongJsonRpcVersion"]);
            harness.raw(missing.as_bytes()).events(&[r#"a: result {"content":[]}"#]);
            harness.raw(br#"{"method":"notifications/message","params":{"level":"info","data":1}}"#);
            harness.events(&["log info 1"]);
            harness.raw(br#"{"id":1,"method":"ping"}"#);
            if harness.is_handshake() {
                harness.events(&[]).sent(&[r#"{"id":1,"result":{}}"#]);
            } else {
                harness.events(&["fault UnknownMethod"]).sent(&[]);
            }
        });
    }
    Setup::automatic().connected(|harness| {
        harness
            .raw(br#"{"method":"notifications/tools/list_changed"}"#)
            .events(&["fault WrongJsonRpcVersion"]);
    });
}

#[test]
fn raw_shutdown_and_exit_can_be_sent() {
    Setup::handshake().run(|harness| {
        harness.connect();
        let ticket = harness.client.request("shutdown", DEFAULT, |_| {}).unwrap();
        harness.name(ticket, "shutdown");
        harness.sent(&[r#"{"id":@,"method":"shutdown"}"#]);
        harness.server_sends(r#"{"id":@shutdown,"result":null}"#).events(&["shutdown: result {}"]);
        harness.client.notify("exit", |_| {}).unwrap();
        harness.pump();
        harness.sent(&[r#"{"method":"exit"}"#]);
        harness.client.notify("x/y", |out| out.field_integer("n", 1)).unwrap();
        harness.pump();
        harness.sent(&[r#"{"method":"x/y","params":{"n":1}}"#]);
        // The client refuses a notification with an incomplete member, and one that does not fit.
        assert_eq!(harness.client.notify("x", |out| out.key("n")), Err(SendError::Invalid));
        assert_eq!(
            harness.client.notify("x", |out| out.field_string("n", &"x".repeat(100_000))),
            Err(SendError::Unwritable)
        );
        harness.pump();
        harness.sent(&[]).eof().events(&["closed"]);
        assert_eq!(harness.client.notify("x", |_| {}), Err(SendError::NotConnected));
    });
    // In the stateless era, clients may send no notifications except cancellations.
    Setup::new(Connect::Stateless).run(|harness| {
        harness.connect();
        assert_eq!(harness.client.notify("exit", |_| {}), Err(SendError::Unsupported));
        harness.pump();
        harness.sent(&[]);
    });
}

#[test]
fn busy_notification_can_be_sent_after_writable() {
    Setup { tx: 700, ..Setup::handshake() }.run(|harness| {
        harness.connect();
        harness.peer_reads(false);
        let mut sent = 0;
        let outcome = loop {
            match harness.client.notify("x", |out| out.field_string("n", "some bytes")) {
                Ok(()) => sent += 1,
                Err(why) => break why,
            }
        };
        assert_eq!(outcome, SendError::Busy);
        harness.events(&[]);
        // The space reserved for responses is still free.
        harness.server_sends(r#"{"id":1,"method":"ping"}"#);
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["room"]);
        let lines = harness.take_sent();
        assert_eq!((lines.len(), lines.last().unwrap().as_str()), (sent + 1, r#"{"id":1,"result":{}}"#));
    });
}

#[test]
fn ids_of_the_two_directions_are_independent() {
    Setup::handshake().run(|harness| {
        harness.connect();
        harness.call("a", DEFAULT).unwrap();
        harness.discard();
        let id = harness.message("@a");
        harness.server_sends(r#"{"id":@a,"method":"ping"}"#).events(&[]);
        harness.sent(&[&format!(r#"{{"id":{id},"result":{{}}}}"#)]);
        // The server cannot cancel a request of the client.
        harness.server_sends(r#"{"method":"notifications/cancelled","params":{"requestId":@a}}"#);
        harness.events(&[]);
        harness.server_sends(r#"{"id":@a,"result":{}}"#).events(&["a: result {}"]);
    });
}

/// The client reads server info from the result or from `_meta`.
#[test]
fn server_info_is_found_in_result_or_meta() {
    use mcp_proto::client::{ClientConfig, Event};
    use mcp_proto::{Action, Client, Millis};
    let answers = [
        r#""serverInfo":{"name":"n","version":"1"}"#,
        r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}}"#,
    ];
    for answer in answers {
        let info = ClientConfig::new("c", "1").connect(Connect::Stateless);
        let (mut rx, mut tx) = ([0; 512], [0; 512]);
        let mut client = Client::new(&info, &mut rx, &mut tx).unwrap();
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{}},{answer}}}}}"#
        ) + "\n";
        take(&mut client, Millis(0), usize::MAX);
        feed(&mut client, Millis(0), line.as_bytes());
        assert!(matches!(client.poll(Millis(0)), Action::Event));
        let Some(Event::Connected(server)) = client.event() else { panic!("{answer}") };
        assert_eq!(server.server_info().unwrap().get("name").unwrap().string().unwrap(), "n");
    }
}

/// The client closes the connection if it cannot send `notifications/initialized`.
#[test]
fn handshake_that_cannot_complete_closes() {
    Setup::handshake().run(|harness| {
        harness.at(0).discard().break_unnoticed();
        answered(harness, "2025-11-25", r#"{"tools":{}}"#);
        harness.events(&["connected 2025-11-25", "closed"]);
        assert!(harness.client.call_json("t", "{}", DEFAULT) == Err(SendError::NotConnected));
        harness.discard();
    });
}
