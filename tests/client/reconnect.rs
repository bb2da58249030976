//! Reconnecting: subscriptions keep their tickets, other requests end.
use super::order::fill;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::{Connect, Event, Filter, Options};
use mcp_proto::{Action, ClientCapabilities as C, Millis, SendError, State, Ticket};

const DEFAULT: Options = Options::DEFAULT;
const TOOLS: Filter<'static> = Filter::NOTHING.tools();

fn listen(harness: &mut ClientHarness, filter: Filter<'_>, name: &str) -> Ticket {
    let ticket = harness.client.listen(filter, DEFAULT).unwrap();
    harness.name(ticket, name)
}

fn acknowledge(harness: &mut ClientHarness) {
    harness.server_sends(r#"{"method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":@listen}}}"#);
}

const LISTEN: &str = r#"{"id":@,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{..}}}"#;
const DISCOVERED: &str = r#"{"id":@discover,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#;

/// Returns four ends of a connection: `reconnect` alone, end of input, failed write, shutdown.
fn connection_ends() -> [fn(&mut ClientHarness); 4] {
    [
        |_| {},
        |harness| {
            harness.eof();
        },
        |harness| {
            let _ = harness.client.call_json("unsent", "{}", DEFAULT);
            harness.broken();
        },
        |harness| {
            harness.client.shutdown(Millis(0));
            harness.pump();
        },
    ]
}

#[test]
fn reconnect_resends_a_subscription_with_its_ticket() {
    for way in connection_ends() {
        for acknowledges in [true, false] {
            Setup::automatic().run(|harness| {
                harness.connect();
                let ticket = listen(harness, TOOLS, "tools");
                if acknowledges {
                    acknowledge(harness);
                }
                harness.discard();
                let old = harness.message("@listen");
                way(harness);
                harness.discard();
                assert!(harness.client.is_pending(ticket), "it waits");
                harness.reconnect();
                harness.discard().server_sends(DISCOVERED);
                let events = harness.take_events();
                assert_eq!(events.last().unwrap(), "connected 2026-07-28");
                harness.sent(&[LISTEN]);
                assert_ne!(old, harness.message("@listen"));
                // The client drops notifications that precede the acknowledgment.
                let change = r#"{"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":@listen}}}"#;
                harness.server_sends(change).events(&["fault UnknownSubscription"]);
                assert_eq!(harness.deadline, Some(1000));
                acknowledge(harness);
                harness.events(&["tools: subscribes to []"]);
                harness.server_sends(change).events(&["tools: changed Tools"]);
                harness.server_sends(&change.replace("@listen", &old)).events(&[]);
                assert_eq!((harness.deadline, harness.client.pending()), (None, 1));
                harness.cancel(ticket, "");
                harness.sent(&[r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#]);
            });
        }
    }
}

#[test]
fn subscription_keeps_its_metadata() {
    const WITH_META: &str = r#"{"id":@,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{..,"a":1}}}"#;
    // The text of a slot holds the metadata and the filter, only the metadata, or neither.
    for (text, is_kept) in [(512, true), (4 * 28, false), (4 * 5, false)] {
        Setup { text, ..Setup::automatic() }.run(|harness| {
            harness.connect();
            let ticket = harness.client.listen(TOOLS, DEFAULT.meta(r#"{"a":1}"#)).unwrap();
            harness.name(ticket, "tools");
            harness.sent(&[WITH_META]);
            acknowledge(harness);
            for _ in 0..2 {
                harness.discard();
                harness.reconnect();
                harness.discard().server_sends(DISCOVERED);
                if is_kept {
                    harness.events(&["connected 2026-07-28"]).sent(&[WITH_META]);
                    acknowledge(harness);
                    harness.events(&["tools: subscribes to []"]);
                }
            }
            if !is_kept {
                harness.discard();
            }
            assert_eq!(harness.client.is_pending(ticket), is_kept);
        });
    }
}

#[test]
fn subscription_survives_many_reconnects() {
    Setup::automatic().run(|harness| {
        harness.connect();
        listen(harness, TOOLS, "tools");
        harness.discard();
        for _ in 0..5 {
            // The connection ends once while the client is connected, and once while it connects.
            harness.eof().events(&["closed"]).reconnect();
            harness.eof().events(&["failed Closed", "closed"]).reconnect();
            harness.discard().server_sends(DISCOVERED).events(&["connected 2026-07-28"]).sent(&[LISTEN]);
            acknowledge(harness);
            harness.events(&["tools: subscribes to []"]);
        }
    });
}

#[test]
fn reconnect_ends_other_requests_once() {
    for way in connection_ends() {
        Setup { slots: 8, text: 512, ..Setup::automatic() }.run(|harness| {
            harness.connect();
            let cancelled = harness.call("cancelled", DEFAULT).unwrap();
            harness.call("call", DEFAULT).unwrap();
            harness.list();
            harness.cancel(cancelled, "");
            harness.call("asks", DEFAULT).unwrap();
            harness
                .server_sends(r#"{"id":@asks,"result":{"resultType":"input_required","requestState":"s"}}"#);
            listen(harness, TOOLS, "tools");
            harness.discard();
            way(harness);
            harness.client.reconnect();
            harness.reconnect();
            let mut events: Vec<String> = harness.take_events();
            events.retain(|it| it != "closed");
            events.sort();
            let expected = ["?: lost Closed", "asks: lost Closed", "call: lost Closed", "list: lost Closed"];
            // Only the third end of a connection starts a call. The test gives no name to this call (`?`).
            assert_eq!(events, expected[usize::from(events.len() == 3)..], "{events:?}");
            assert_eq!(harness.client.pending(), 1);
            assert_eq!(harness.call("early", DEFAULT), Err(SendError::NotConnected));
            harness.discard().server_sends(DISCOVERED).events(&["connected 2026-07-28"]).sent(&[LISTEN]);
            harness.call("late", DEFAULT).unwrap();
            harness.discard().server_sends(r#"{"id":@late,"result":{}}"#).events(&["late: result {}"]);
            acknowledge(harness);
            harness.discard();
        });
    }
}

#[test]
fn unkept_subscription_ends_with_the_connection() {
    // The filter has 25 bytes.
    for (text, keeps) in [(2 * 25, true), (2 * 24, false)] {
        for at_once in [false, true] {
            Setup { slots: 2, text, ..Setup::automatic() }.run(|harness| {
                harness.connect();
                let ticket = listen(harness, TOOLS, "tools");
                acknowledge(harness);
                harness.discard();
                if !at_once {
                    harness.eof();
                }
                harness.reconnect();
                let events = harness.take_events();
                assert_eq!(events.contains(&"tools: lost Closed".to_owned()), !keeps, "{events:?}");
                assert_eq!(harness.client.is_pending(ticket), keeps);
                harness.discard().server_sends(DISCOVERED).events(&["connected 2026-07-28"]);
                assert_eq!(harness.take_sent_lines().len(), usize::from(keeps));
            });
        }
    }
}

#[test]
fn reconnect_to_the_other_era_ends_subscriptions() {
    Setup::automatic().run(|harness| {
        harness.connect();
        listen(harness, TOOLS, "tools");
        acknowledge(harness);
        harness.discard().eof().events(&["closed"]).reconnect();
        harness.server_sends(r#"{"id":@discover,"error":{"code":-32601,"message":"no"}}"#);
        harness.server_sends(
            r#"{"id":@initialize,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        );
        harness.events(&["connected 2025-11-25", "tools: lost Closed"]).discard();
        assert_eq!(harness.client.pending(), 0);
    });
}

#[test]
fn subscription_can_be_cancelled_while_reconnecting() {
    Setup::automatic().run(|harness| {
        harness.connect();
        let ticket = listen(harness, TOOLS, "tools");
        harness.discard().eof().events(&["closed"]);
        harness.cancel(ticket, "");
        assert_eq!(harness.client.state(), State::Closed);
        harness.reconnect();
        harness.discard().server_sends(DISCOVERED).events(&["connected 2026-07-28"]).sent(&[]);
    });
    // A reset drops the subscription.
    Setup::automatic().run(|harness| {
        harness.connect();
        let ticket = listen(harness, TOOLS, "tools");
        harness.discard().eof().events(&["closed"]).reset();
        assert!(!harness.client.is_pending(ticket));
        harness.discard().server_sends(DISCOVERED).events(&["connected 2026-07-28"]).sent(&[]);
    });
}

#[test]
fn reconnect_cancels_server_requests_and_frees_their_ids() {
    Setup::handshake().declares(C::ROOTS).run(|harness| {
        harness.connect();
        harness.on_server_request(|asked| asked.defer(None).ok());
        harness.server_sends(r#"{"id":1,"method":"roots/list"}"#).events(&["asked roots"]);
        harness.reconnect().events(&["cancelled"]);
        harness.connect();
        harness.server_sends(r#"{"id":1,"method":"roots/list"}"#).events(&["asked roots"]).sent(&[]);
        assert_eq!(harness.client.pending(), 1);
        // The client also cancels the request if the new connection ends before any input.
        harness.client.reconnect();
        harness.eof().events(&["cancelled", "failed Closed", "closed"]).discard();
    });
}

#[test]
fn waiting_cancellation_ends_with_its_connection() {
    Setup::automatic().lines_only().run(|harness| {
        harness.connect();
        let cancelled = harness.call("cancelled", DEFAULT).unwrap();
        fill(harness);
        harness.cancel(cancelled, "the transmit buffer has no space for this reason");
        harness.peer_reads(true);
        harness.reconnect().events(&["fill: lost Closed"]);
        harness.discard().server_sends(DISCOVERED).events(&["connected 2026-07-28"]).sent(&[]);
        // The next request has the slot of the cancelled one.
        harness.call("next", DEFAULT).unwrap();
        harness.discard().server_sends(r#"{"id":@next,"result":{}}"#).events(&["next: result {}"]);
    });
}

#[test]
fn unread_response_is_lost_at_a_reconnect() {
    Setup::automatic().run(|harness| {
        harness.connect();
        harness.call("a", DEFAULT).unwrap();
        if harness.pace().read < 1000 {
            harness.discard();
            return;
        }
        harness.discard().stop_after(0).server_sends(r#"{"id":@a,"result":{}}"#);
        let _ = harness.client.poll(Millis(0));
        harness.reconnect().events(&["a: lost Closed"]).discard();
    });
}

/// Each case is a method, and whether the application may repeat a lost request with this method.
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
        Setup::automatic().run(|harness| {
            harness.connect();
            let ticket = harness.client.request(method, DEFAULT, |_| {}).unwrap();
            harness.pump();
            harness.discard();
            harness.client.reconnect();
            let mut ended = false;
            while let Action::Event = harness.client.poll(Millis(0)) {
                if let Some(Event::Response(end)) = harness.client.event() {
                    assert_eq!((end.ticket(), end.is_retryable()), (ticket, expected), "{method}");
                    ended = true;
                }
            }
            assert!(ended, "{method}");
        });
    }
    Setup::automatic().run(|harness| {
        harness.connect();
        let ticket = harness.client.request("tools/list", DEFAULT, |_| {}).unwrap();
        harness.name_without_poll(ticket, "list");
        harness.pump();
        if harness.pace().read < 1000 {
            harness.discard();
            return;
        }
        harness.discard().stop_after(0).server_sends(r#"{"id":@list,"error":{"code":-1,"message":"no"}}"#);
        let _ = harness.client.poll(Millis(0));
        match harness.client.event() {
            Some(Event::Response(end)) => assert!(!end.is_retryable(), "the request got a response"),
            other => panic!("{other:?}"),
        }
    });
}

/// Reconnects with `initialize` alone.
fn connects_with_handshake_only(harness: &mut ClientHarness) {
    harness.reconnect();
    let lines = harness.take_sent_lines();
    assert!(lines.len() == 1 && lines[0].contains(r#""method":"initialize""#), "{lines:?}");
    harness.server_sends(
        r#"{"id":@initialize,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
    );
    harness.events(&["connected 2025-11-25"]).discard();
}

#[test]
fn server_that_exits_at_the_probe_is_reached_with_the_handshake() {
    Setup::automatic().run(|harness| {
        harness.pump();
        harness.discard().eof().events(&["failed Closed", "closed"]);
        harness.client.set_connect(Connect::Handshake);
        for _ in 0..2 {
            connects_with_handshake_only(harness);
            harness.eof().events(&["closed"]);
        }
        harness.client.set_connect(Connect::Automatic);
        harness.reconnect();
        harness.discard().server_sends(DISCOVERED).events(&["connected 2026-07-28"]);
    });
}

#[test]
fn silent_server_of_a_known_era_is_not_probed_again() {
    Setup::automatic().run(|harness| {
        harness.pump();
        harness.at(300);
        harness.server_sends(
            r#"{"id":@initialize,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        );
        harness.events(&["connected 2025-11-25"]).discard().eof().events(&["closed"]);
        harness.client.set_connect(Connect::Handshake);
        connects_with_handshake_only(harness);
    });
}

#[test]
fn era_that_is_set_during_a_probe_is_for_later_connections() {
    for connect in [Connect::Handshake, Connect::Stateless] {
        Setup::automatic().run(|harness| {
            harness.pump();
            harness.discard().client.set_connect(connect);
            harness.at(300);
            harness.server_sends(
                r#"{"id":@initialize,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
            );
            harness.events(&["connected 2025-11-25"]).discard();
        });
    }
}

#[test]
fn configured_era_remains() {
    Setup::handshake().run(|harness| {
        harness.pump();
        harness.discard().client.set_connect(Connect::Stateless);
        connects_with_handshake_only(harness);
    });
}
