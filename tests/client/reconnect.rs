//! Reconnecting: subscriptions keep their tickets, other requests end.
use crate::support::client::{Setup, Wire};
use mcp_proto::client::{Event, Filter, Options};
use mcp_proto::{Action, ClientCapabilities as C, Millis, SendError, State, Ticket};

const DEFAULT: Options = Options::DEFAULT;
const TOOLS: Filter<'static> = Filter::NOTHING.tools();

fn listen(wire: &mut Wire, filter: Filter<'_>, name: &str) -> Ticket {
    let ticket = wire.client.listen(filter, DEFAULT).unwrap();
    wire.name(ticket, name)
}

fn acknowledge(wire: &mut Wire) {
    wire.server(r#"{"method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":@listen}}}"#);
}

const LISTEN: &str = r#"{"id":@,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{..}}}"#;
const DISCOVERED: &str = r#"{"id":@discover,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#;

/// The connection ended, broke, or is replaced by the application.
fn ways() -> [fn(&mut Wire); 4] {
    [
        |_| {},
        |wire| {
            wire.eof();
        },
        |wire| {
            let _ = wire.client.call_json("unsent", "{}", DEFAULT);
            wire.broken();
        },
        |wire| {
            wire.client.shutdown(Millis(0));
            wire.pump();
        },
    ]
}

#[test]
fn reconnect_resends_a_subscription_with_its_ticket() {
    for way in ways() {
        for acknowledges in [true, false] {
            Setup::automatic().run(|wire| {
                wire.connect();
                let ticket = listen(wire, TOOLS, "tools");
                if acknowledges {
                    acknowledge(wire);
                }
                wire.forget();
                let old = wire.message("@listen");
                way(wire);
                wire.forget();
                assert!(wire.client.is_pending(ticket), "it waits");
                wire.reconnect();
                wire.forget().server(DISCOVERED);
                let heard = wire.heard_now();
                assert_eq!(heard.last().unwrap(), "connected 2026-07-28");
                wire.sent(&[LISTEN]);
                assert_ne!(old, wire.message("@listen"));
                // Before the acknowledgment there are no notifications.
                let change = r#"{"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":@listen}}}"#;
                wire.server(change).heard(&["fault UnknownSubscription"]);
                assert_eq!(wire.deadline, Some(1000));
                acknowledge(wire);
                wire.heard(&["tools: listens to []"]);
                wire.server(change).heard(&["tools: changed Tools"]);
                wire.server(&change.replace("@listen", &old)).heard(&["fault UnknownSubscription"]);
                assert_eq!((wire.deadline, wire.client.pending()), (None, 1));
                wire.cancel(ticket, "");
                wire.sent(&[r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#]);
            });
        }
    }
}

#[test]
fn subscription_survives_many_reconnects() {
    Setup::automatic().run(|wire| {
        wire.connect();
        listen(wire, TOOLS, "tools");
        wire.forget();
        for _ in 0..5 {
            // Once before connecting, once after.
            wire.eof().heard(&["closed"]).reconnect();
            wire.eof().heard(&["failed Closed", "closed"]).reconnect();
            wire.forget().server(DISCOVERED).heard(&["connected 2026-07-28"]).sent(&[LISTEN]);
            acknowledge(wire);
            wire.heard(&["tools: listens to []"]);
        }
    });
}

#[test]
fn reconnect_ends_other_requests_once() {
    for way in ways() {
        Setup { slots: 8, text: 512, ..Setup::automatic() }.run(|wire| {
            wire.connect();
            let cancelled = wire.call("cancelled", DEFAULT).unwrap();
            wire.call("call", DEFAULT).unwrap();
            wire.list();
            wire.cancel(cancelled, "");
            wire.call("asks", DEFAULT).unwrap();
            wire.server(r#"{"id":@asks,"result":{"resultType":"input_required","requestState":"s"}}"#);
            listen(wire, TOOLS, "tools");
            wire.forget();
            way(wire);
            wire.client.reconnect();
            wire.reconnect();
            let mut heard: Vec<String> = wire.heard_now();
            heard.retain(|it| it != "closed");
            heard.sort();
            let expected = ["?: lost Closed", "asks: lost Closed", "call: lost Closed", "list: lost Closed"];
            // The third kind has no named call.
            assert_eq!(heard, expected[usize::from(heard.len() == 3)..], "{heard:?}");
            assert_eq!(wire.client.pending(), 1);
            assert_eq!(wire.call("early", DEFAULT), Err(SendError::NotConnected));
            wire.forget().server(DISCOVERED).heard(&["connected 2026-07-28"]).sent(&[LISTEN]);
            wire.call("late", DEFAULT).unwrap();
            wire.forget().server(r#"{"id":@late,"result":{}}"#).heard(&["late: result {}"]);
            acknowledge(wire);
            wire.forget();
        });
    }
}

#[test]
fn unkept_subscription_ends_with_the_connection() {
    // The filter has 25 bytes.
    for (text, keeps) in [(2 * 25, true), (2 * 24, false)] {
        for at_once in [false, true] {
            Setup { slots: 2, text, ..Setup::automatic() }.run(|wire| {
                wire.connect();
                let ticket = listen(wire, TOOLS, "tools");
                acknowledge(wire);
                wire.forget();
                if !at_once {
                    wire.eof();
                }
                wire.reconnect();
                let heard = wire.heard_now();
                assert_eq!(heard.contains(&"tools: lost Closed".to_owned()), !keeps, "{heard:?}");
                assert_eq!(wire.client.is_pending(ticket), keeps);
                wire.forget().server(DISCOVERED).heard(&["connected 2026-07-28"]);
                assert_eq!(wire.sent_lines().len(), usize::from(keeps));
            });
        }
    }
}

#[test]
fn reconnect_to_the_other_era_ends_subscriptions() {
    Setup::automatic().run(|wire| {
        wire.connect();
        listen(wire, TOOLS, "tools");
        acknowledge(wire);
        wire.forget().eof().heard(&["closed"]).reconnect();
        wire.server(r#"{"id":@discover,"error":{"code":-32601,"message":"no"}}"#);
        wire.server(
            r#"{"id":@initialize,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        );
        wire.heard(&["connected 2025-11-25", "tools: lost Closed"]).forget();
        assert_eq!(wire.client.pending(), 0);
    });
}

#[test]
fn subscription_can_be_cancelled_while_reconnecting() {
    Setup::automatic().run(|wire| {
        wire.connect();
        let ticket = listen(wire, TOOLS, "tools");
        wire.forget().eof().heard(&["closed"]);
        wire.cancel(ticket, "");
        assert_eq!(wire.client.state(), State::Closed);
        wire.reconnect();
        wire.forget().server(DISCOVERED).heard(&["connected 2026-07-28"]).sent(&[]);
    });
    // A reset drops the subscription.
    Setup::automatic().run(|wire| {
        wire.connect();
        let ticket = listen(wire, TOOLS, "tools");
        wire.forget().eof().heard(&["closed"]).reset();
        assert!(!wire.client.is_pending(ticket));
        wire.forget().server(DISCOVERED).heard(&["connected 2026-07-28"]).sent(&[]);
    });
}

#[test]
fn reconnect_cancels_server_requests_and_frees_their_ids() {
    Setup::handshake().declares(C::ROOTS).run(|wire| {
        wire.connect();
        wire.on_server_request(|asked| asked.defer(None).ok());
        wire.server(r#"{"id":1,"method":"roots/list"}"#).heard(&["asked roots"]);
        wire.reconnect().heard(&["cancelled"]);
        wire.connect();
        wire.server(r#"{"id":1,"method":"roots/list"}"#).heard(&["asked roots"]).sent(&[]);
        assert_eq!(wire.client.pending(), 1);
        // Also if that connection ends before any input.
        wire.client.reconnect();
        wire.eof().heard(&["cancelled", "failed Closed", "closed"]).forget();
    });
}

#[test]
fn unread_response_survives_a_reconnect() {
    Setup::automatic().run(|wire| {
        wire.connect();
        wire.call("a", DEFAULT).unwrap();
        if wire.pace().read < 1000 {
            wire.forget();
            return;
        }
        wire.forget().stop_after(0).server(r#"{"id":@a,"result":{}}"#);
        let _ = wire.client.poll(Millis(0));
        wire.reconnect().heard(&["a: lost Closed"]).forget();
    });
}

/// Whether each request may be repeated after it was lost.
#[test]
fn only_read_requests_are_retryable() {
    let methods = [
        ("tools/list", true),
        ("prompts/get", true),
        ("resources/read", true),
        ("resources/templates/list", true),
        ("completion/complete", true),
        ("ping", true),
        ("tools/call", false),
        ("logging/setLevel", false),
        ("x/y", false),
    ];
    for (method, expected) in methods {
        Setup::automatic().run(|wire| {
            wire.connect();
            let ticket = wire.client.request(method, DEFAULT, |_| {}).unwrap();
            wire.pump();
            wire.forget();
            wire.client.reconnect();
            let mut ended = false;
            while let Action::Event = wire.client.poll(Millis(0)) {
                if let Some(Event::Response(end)) = wire.client.event() {
                    assert_eq!((end.ticket(), end.is_retryable()), (ticket, expected), "{method}");
                    ended = true;
                }
            }
            assert!(ended, "{method}");
        });
    }
    Setup::automatic().run(|wire| {
        wire.connect();
        let ticket = wire.client.request("tools/list", DEFAULT, |_| {}).unwrap();
        wire.name_only(ticket, "list");
        wire.pump();
        if wire.pace().read < 1000 {
            wire.forget();
            return;
        }
        wire.forget().stop_after(0).server(r#"{"id":@list,"error":{"code":-1,"message":"no"}}"#);
        let _ = wire.client.poll(Millis(0));
        match wire.client.event() {
            Some(Event::Response(end)) => assert!(!end.is_retryable(), "it was answered"),
            other => panic!("{other:?}"),
        }
    });
}
