//! Messages that cross, or arrive while output or an event waits.
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::{Filter, Options, ServerRequest};
use mcp_proto::{ClientCapabilities, Millis, SendError};

const DEFAULT: Options = Options::DEFAULT;

/// Blocks the server, and fills the transmit buffer. Leaves at most 16 bytes besides the space for responses.
fn fill(harness: &mut ClientHarness) {
    harness.peer_reads(false);
    let sent = (0..harness.setup.tx).rev().step_by(16).find_map(|length| {
        let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
        harness.client.call_json("fill", &arguments, DEFAULT.timeout(Millis(90_000))).ok()
    });
    harness.name(sent.expect("one fits"), "fill");
}

/// While the request for a page waits for space, the client ignores messages with the id of the previous page.
#[test]
fn list_waiting_for_space_ignores_the_previous_id() {
    Setup::automatic().lines_only().connected(|harness| {
        harness.list();
        harness.discard();
        fill(harness);
        let cursor = "c".repeat(100);
        harness.server_sends(&format!(r#"{{"id":@list,"result":{{"tools":[],"nextCursor":"{cursor}"}}}}"#));
        harness.events(&["list: , .."]);
        // The server repeats the response, but the repetition is too long.
        let again = format!(r#"{{"id":@list,"result":{{"tools":[{}1]}}}}"#, "1,".repeat(10_000));
        harness.server_sends(&again).events(&["fault LineTooLong"]);
        harness.server_sends(r#"{"id":@list}"#).events(&["fault InvalidMethod"]);
        harness.peer_reads(true);
        harness.pump();
        let sent = harness.take_sent_lines();
        assert!(sent[1].contains(&cursor), "{sent:?}");
        harness.server_sends(r#"{"id":@list,"result":{"tools":[{"name":"t"}]}}"#).events(&["list: t."]);
        // A later list works.
        harness.list();
        harness
            .discard()
            .server_sends(r#"{"id":@list,"result":{"tools":[],"nextCursor":"2"}}"#)
            .events(&["list: , .."]);
        assert_eq!(harness.take_sent_lines().len(), 1);
        harness.server_sends(r#"{"id":@list,"result":{"tools":[]}}"#).events(&["list: ."]);
    });
}

/// Both sides end a subscription at the same time.
#[test]
fn response_crossing_a_cancellation_is_no_error() {
    for blocked in [false, true] {
        for crossing in [
            r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#,
            r#"{"id":@listen,"result":{}}"#,
        ] {
            Setup::automatic().run(|harness| {
                harness.connect();
                let ticket = harness.client.listen(Filter::NOTHING.tools(), DEFAULT).unwrap();
                harness.name(ticket, "tools");
                if blocked {
                    fill(harness);
                }
                let reason = "r".repeat(100);
                harness.cancel(ticket, &reason);
                harness.server_sends(crossing).events(&[]);
                harness.peer_reads(true);
                harness.pump();
                harness.discard();
                assert_eq!(harness.client.pending(), usize::from(blocked));
            });
        }
    }
}

#[test]
fn malformed_late_response_is_reported() {
    for blocked in [false, true] {
        Setup::automatic().connected(|harness| {
            let ticket = harness.call("a", DEFAULT).unwrap();
            if blocked {
                fill(harness);
            }
            harness.cancel(ticket, &"r".repeat(100));
            harness.server_sends(r#"{"id":@a}"#).events(&["fault InvalidMethod"]);
            harness.peer_reads(true);
            harness.pump();
            harness.discard();
        });
    }
}

fn asking() -> Setup {
    Setup::handshake().declares(ClientCapabilities::ROOTS)
}

const ROOTS: &str = r#"{"id":1,"method":"roots/list"}"#;

/// A notification may not use the space reserved for the response to a received request.
#[test]
fn notification_leaves_the_space_of_a_response() {
    let large = |asked: ServerRequest<'_>| {
        // The response has nearly the maximum size.
        asked.error(-5, "x".repeat(4096 - 71));
        None
    };
    asking().run(|harness| {
        harness.connect();
        harness.on_server_request(large);
        if harness.pace().read < 1000 {
            return;
        }
        harness.stop_after(0).server_sends(ROOTS);
        for _ in 0..3 {
            let _ = harness.client.poll(Millis(0));
        }
        let long = "y".repeat(2000);
        assert_eq!(harness.client.notify("x", |out| out.field_string("n", &long)), Err(SendError::Busy));
        harness.pump();
        harness.events(&["asked roots", "room"]);
        assert!(harness.take_sent_lines()[0].len() > 4000);
    });
    // A notification may not take the space for which a request of the server waits, either.
    asking().run(|harness| {
        harness.connect();
        harness.on_server_request(large);
        harness.peer_reads(false);
        harness.client.notify("x", |_| {}).unwrap();
        harness.server_sends(ROOTS).events(&[]);
        assert_eq!(harness.client.notify("x", |_| {}), Err(SendError::Busy));
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["asked roots", "room"]);
        assert_eq!(harness.take_sent_lines().len(), 2);
    });
}

/// The connection ends before the application takes the event of the last page, so the list ends with a failure.
#[test]
fn unread_last_page_ends_the_list_with_a_failure() {
    Setup::automatic().run(|harness| {
        harness.connect();
        harness.list();
        if harness.pace().read < 1000 {
            harness.discard();
            return;
        }
        harness.discard().stop_after(0).server_sends(r#"{"id":@list,"result":{"tools":[]}}"#);
        let _ = harness.client.poll(Millis(0));
        harness.reconnect().events(&["list: lost Closed"]).discard();
    });
}
