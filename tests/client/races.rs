//! Messages that cross each other, or arrive while output or an event waits.
use crate::support::client::{Setup, Wire};
use mcp_proto::client::{Filter, Options, ServerRequest};
use mcp_proto::{ClientCapabilities, Millis, SendError};

const DEFAULT: Options = Options::DEFAULT;

/// Blocks the server, and fills the buffer up to the space for responses and 16 bytes.
fn fill(wire: &mut Wire) {
    wire.peer_reads(false);
    let sent = (0..wire.setup.tx).rev().step_by(16).find_map(|length| {
        let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
        wire.client.call_json("fill", &arguments, DEFAULT.timeout(Millis(90_000))).ok()
    });
    wire.name(sent.expect("one fits"), "fill");
}

/// The waiting request for the next page ignores messages with the id of the previous page.
#[test]
fn list_waiting_for_space_ignores_the_previous_id() {
    Setup::automatic().lines_only().connected(|wire| {
        wire.list();
        wire.forget();
        fill(wire);
        let cursor = "c".repeat(100);
        wire.server(&format!(r#"{{"id":@list,"result":{{"tools":[],"nextCursor":"{cursor}"}}}}"#));
        wire.heard(&["list: , .."]);
        // The same response again, but too long.
        let again = format!(r#"{{"id":@list,"result":{{"tools":[{}1]}}}}"#, "1,".repeat(10_000));
        wire.server(&again).heard(&["fault LineTooLong"]);
        wire.server(r#"{"id":@list}"#).heard(&["fault InvalidMethod"]);
        wire.peer_reads(true);
        wire.pump();
        let sent = wire.sent_lines();
        assert!(sent[1].contains(&cursor), "{sent:?}");
        wire.server(r#"{"id":@list,"result":{"tools":[{"name":"t"}]}}"#).heard(&["list: t."]);
        // A later list works.
        wire.list();
        wire.forget().server(r#"{"id":@list,"result":{"tools":[],"nextCursor":"2"}}"#).heard(&["list: , .."]);
        assert_eq!(wire.sent_lines().len(), 1);
        wire.server(r#"{"id":@list,"result":{"tools":[]}}"#).heard(&["list: ."]);
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
            Setup::automatic().run(|wire| {
                wire.connect();
                let ticket = wire.client.listen(Filter::NOTHING.tools(), DEFAULT).unwrap();
                wire.name(ticket, "tools");
                if blocked {
                    fill(wire);
                }
                let reason = "r".repeat(100);
                wire.cancel(ticket, &reason);
                wire.server(crossing).heard(&[]);
                wire.peer_reads(true);
                wire.pump();
                wire.forget();
                assert_eq!(wire.client.pending(), usize::from(blocked));
            });
        }
    }
}

#[test]
fn malformed_late_response_is_reported() {
    for blocked in [false, true] {
        Setup::automatic().connected(|wire| {
            let ticket = wire.call("a", DEFAULT).unwrap();
            if blocked {
                fill(wire);
            }
            wire.cancel(ticket, &"r".repeat(100));
            wire.server(r#"{"id":@a}"#).heard(&["fault InvalidMethod"]);
            wire.peer_reads(true);
            wire.pump();
            wire.forget();
        });
    }
}

fn asking() -> Setup {
    Setup::handshake().declares(ClientCapabilities::ROOTS)
}

const ROOTS: &str = r#"{"id":1,"method":"roots/list"}"#;

/// The space of a response is reserved: no other message may use it.
#[test]
fn notification_leaves_the_space_of_a_response() {
    let large = |asked: ServerRequest<'_>| {
        // As large as allowed.
        asked.error(-5, "x".repeat(4096 - 67));
        None
    };
    asking().run(|wire| {
        wire.connect();
        wire.on_server_request(large);
        if wire.pace().read < 1000 {
            return;
        }
        wire.stop_after(0).server(ROOTS);
        for _ in 0..3 {
            let _ = wire.client.poll(Millis(0));
        }
        let long = "y".repeat(2000);
        assert_eq!(wire.client.notify("x", |out| out.field_string("n", &long)), Err(SendError::Busy));
        wire.pump();
        wire.heard(&["asked roots", "room"]);
        assert!(wire.sent_lines()[0].len() > 4000);
    });
    // It may not delay the request either.
    asking().run(|wire| {
        wire.connect();
        wire.on_server_request(large);
        wire.peer_reads(false);
        wire.client.notify("x", |_| {}).unwrap();
        wire.server(ROOTS).heard(&[]);
        assert_eq!(wire.client.notify("x", |_| {}), Err(SendError::Busy));
        wire.peer_reads(true);
        wire.pump();
        wire.heard(&["asked roots", "room"]);
        assert_eq!(wire.sent_lines().len(), 2);
    });
}

/// The connection ends before the application reads the last page.
#[test]
fn unread_last_page_is_not_lost() {
    Setup::automatic().run(|wire| {
        wire.connect();
        wire.list();
        if wire.pace().read < 1000 {
            wire.forget();
            return;
        }
        wire.forget().stop_after(0).server(r#"{"id":@list,"result":{"tools":[]}}"#);
        let _ = wire.client.poll(Millis(0));
        wire.reconnect().heard(&["list: lost Closed"]).forget();
    });
}
