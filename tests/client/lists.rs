//! Lists: pages, cursors, limits, cancellation.
use crate::support::ShownOnFailure;
use crate::support::client::{Setup, Wire};
use mcp_proto::client::Options;
use mcp_proto::{Millis, SendError};

fn page(tools: &[&str], cursor: Option<&str>) -> String {
    let tools: Vec<String> = tools.iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
    let cursor = cursor.map_or(String::new(), |cursor| format!(r#","nextCursor":{cursor}"#));
    format!(r#"{{"id":@list,"result":{{"tools":[{}]{cursor}}}}}"#, tools.join(","))
}

/// The request for the page after a cursor.
fn next(wire: &Wire, cursor: &str) -> String {
    let meta = if wire.is_handshake() { "" } else { r#","_meta":{..}"# };
    format!(r#"{{"id":@,"method":"tools/list","params":{{"cursor":{cursor}{meta}}}}}"#)
}

#[test]
fn pages_are_requested_until_the_last() {
    Setup::automatic().connected(|wire| {
        let ticket = wire.list();
        wire.forget().server(&page(&["a", "b"], Some(r#""p\u0032\"""#))).heard(&["list: a, b, .."]);
        // The cursor is sent byte for byte.
        let expected = next(wire, r#""p\u0032\"""#);
        wire.sent(&[&expected]);
        wire.server(&page(&[], Some(r#""3""#))).heard(&["list: , .."]);
        let expected = next(wire, r#""3""#);
        wire.sent(&[&expected]);
        assert!(wire.client.is_pending(ticket));
        wire.server(&page(&["c"], None)).heard(&["list: c."]).sent(&[]);
        assert!(!wire.client.is_pending(ticket));
        assert_eq!((wire.client.pending(), wire.deadline), (0, None));
    });
}

#[test]
fn list_ends_without_a_next_cursor() {
    // The cursor, and whether the list ends: in the handshake era, in the stateless era.
    let cases: &[(&str, bool, bool)] = &[
        (r#""""#, true, false),
        ("null", true, true),
        ("7", true, true),
        ("{}", true, true),
        (r#"" ""#, false, false),
        (r#""null""#, false, false),
    ];
    for (cursor, handshake, stateless) in cases {
        let _shown = ShownOnFailure((*cursor).to_owned());
        Setup::automatic().connected(|wire| {
            wire.list();
            wire.forget().server(&page(&["a"], Some(cursor)));
            if if wire.is_handshake() { *handshake } else { *stateless } {
                wire.heard(&["list: a."]).sent(&[]);
            } else {
                let expected = next(wire, cursor);
                wire.heard(&["list: a, .."]).sent(&[&expected]);
            }
        });
    }
}

#[test]
fn failed_list_keeps_the_received_pages() {
    let cases: &[(&str, &[&str])] = &[
        (r#"{"id":@list,"result":{"tools":[],"nextCursor":"x"}}"#, &["list: , ..", "list: lost EndlessList"]),
        (r#"{"id":@list,"result":{}}"#, &["list: lost Invalid"]),
        (r#"{"id":@list,"result":{"nextCursor":"y"}}"#, &["list: lost Invalid"]),
        (r#"{"id":@list,"result":{"tools":{}}}"#, &["list: lost Invalid"]),
        (r#"{"id":@list,"result":{"tools":null}}"#, &["list: lost Invalid"]),
        (r#"{"id":@list,"result":[]}"#, &["list: lost Invalid"]),
        (
            r#"{"id":@list,"error":{"code":-32602,"message":"bad cursor"}}"#,
            &["list: error bad cursor (-32602)"],
        ),
        (
            r#"{"id":@list,"result":{"tools":[{"name":"b"}],"nextCursor":"0123456789012345678901234567890"}}"#,
            &["list: b, ..", "list: lost CursorTooLong"],
        ),
        // Entries that are no objects are skipped.
        (r#"{"id":@list,"result":{"tools":[1,null,{"name":"b"},{}]}}"#, &["list: b, ?."]),
    ];
    for (answer, expected) in cases {
        let _shown = ShownOnFailure((*answer).to_owned());
        // 32 bytes for a cursor, including its quotes.
        Setup { slots: 2, text: 64, ..Setup::automatic() }.connected(|wire| {
            wire.list();
            wire.forget().server(&page(&["a"], Some(r#""x""#))).heard(&["list: a, .."]).forget();
            wire.server(answer).heard(expected).sent(&[]);
            assert_eq!((wire.client.pending(), wire.deadline), (0, None));
        });
    }
}

#[test]
fn longest_cursor_that_fits_is_followed() {
    Setup { slots: 2, text: 64, ..Setup::automatic() }.connected(|wire| {
        let cursor = format!("\"{}\"", "x".repeat(30));
        wire.list();
        wire.forget().server(&page(&["a"], Some(&cursor))).heard(&["list: a, .."]);
        let expected = next(wire, &cursor);
        wire.sent(&[&expected]);
    });
    Setup { slots: 2, text: 0, ..Setup::automatic() }.connected(|wire| {
        wire.list();
        wire.forget().server(&page(&["a"], Some("\"\"")));
        if wire.is_handshake() {
            wire.heard(&["list: a."]);
        } else {
            wire.heard(&["list: a, ..", "list: lost CursorTooLong"]);
        }
    });
}

/// The cursor fits into the slot, but its request exceeds the transmit buffer.
#[test]
fn cursor_that_cannot_be_sent_ends_the_list() {
    Setup { tx: 600, rx: 2000, slots: 1, text: 1000, ..Setup::automatic() }.connected(|wire| {
        wire.list();
        let cursor = format!("\"{}\"", "x".repeat(500));
        wire.forget().server(&page(&["a"], Some(&cursor)));
        wire.heard(&["list: a, ..", "list: lost CursorTooLong"]).sent(&[]);
        assert_eq!((wire.client.pending(), wire.deadline), (0, None));
        wire.list();
        wire.server(&page(&["b"], None)).heard(&["list: b."]).forget();
    });
}

#[test]
fn list_is_limited_in_pages() {
    let info = Setup::automatic().info.pages(3);
    Setup { info, ..Setup::automatic() }.connected(|wire| {
        wire.list();
        for cursor in ["\"1\"", "\"2\"", "\"3\""] {
            wire.server(&page(&["a"], Some(cursor)));
        }
        wire.heard(&["list: a, ..", "list: a, ..", "list: a, ..", "list: lost EndlessList"]);
        assert_eq!(wire.sent_lines().len(), 3);
        wire.list();
        for cursor in [Some("\"1\""), Some("\"2\""), None] {
            wire.server(&page(&["a"], cursor));
        }
        wire.heard(&["list: a, ..", "list: a, ..", "list: a."]).forget();
    });
}

#[test]
fn each_page_has_its_own_id_token_and_timeout() {
    Setup::automatic().connected(|wire| {
        let options = Options::DEFAULT.with_progress().timeout(Millis(100)).maximum(Millis(250));
        let ticket = wire.client.list_tools(options).unwrap();
        wire.name(ticket, "list");
        assert_eq!(wire.deadline, Some(100));
        let first = wire
            .message(r#"{"method":"notifications/progress","params":{"progressToken":@list,"progress":5}}"#);
        wire.at(90).server(&page(&["a"], Some("\"1\""))).heard(&["list: a, .."]);
        assert_eq!(wire.deadline, Some(190));
        assert!(wire.sent_lines()[1].contains("progressToken"));
        // The token of a received page is invalid, and progress starts again.
        wire.raw(first.as_bytes()).heard(&["fault UnknownProgress"]);
        wire.at(150)
            .server(r#"{"method":"notifications/progress","params":{"progressToken":@list,"progress":1}}"#);
        wire.heard(&["list: 1"]);
        assert_eq!(wire.deadline, Some(250));
        wire.at(180).server(&page(&["b"], Some("\"2\""))).heard(&["list: b, .."]).forget();
        assert_eq!(wire.deadline, Some(250), "the maximum is for the whole list");
        wire.at(250).heard(&["list: lost TimedOut"]);
        wire.sent(&[
            r#"{"method":"notifications/cancelled","params":{"requestId":@list,"reason":"timeout"}}"#,
        ]);
    });
}

#[test]
fn list_can_be_cancelled_between_pages() {
    Setup::automatic().connected(|wire| {
        let ticket = wire.list();
        wire.server(&page(&["a"], Some("\"1\""))).heard(&["list: a, .."]).forget();
        wire.cancel(ticket, "enough");
        wire.sent(&[
            r#"{"method":"notifications/cancelled","params":{"requestId":@list,"reason":"enough"}}"#,
        ]);
        wire.server(&page(&["b"], Some("\"2\""))).heard(&[]).sent(&[]);
    });
}

/// A client with a full transmit buffer and the first page of a list.
fn waiting_for_room(wire: &mut Wire) -> mcp_proto::Ticket {
    let ticket = wire.list();
    wire.forget();
    wire.peer_reads(false);
    let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(150));
    while wire
        .client
        .call_json("filler", &arguments, Options::DEFAULT.timeout(Millis(9000)).maximum(Millis(9000)))
        .is_ok()
    {}
    wire.server(&page(&["a"], Some("\"1234567890123456789012345678901234567890\""))).heard(&["list: a, .."]);
    ticket
}

const SMALL: fn() -> Setup = || Setup { tx: 800, ..Setup::handshake() };

#[test]
fn next_page_is_requested_once_space_is_free() {
    SMALL().run(|wire| {
        wire.connect();
        let ticket = waiting_for_room(wire);
        assert!(wire.client.is_pending(ticket));
        wire.peer_reads(true);
        wire.at(10);
        let sent = wire.sent_short();
        assert_eq!(sent.iter().filter(|line| line.contains("tools/list")).count(), 1);
        wire.forget().server(&page(&["b"], None)).heard(&["list: b."]);
    });
}

#[test]
fn list_waiting_for_space_is_cancelled_silently() {
    SMALL().run(|wire| {
        wire.connect();
        let ticket = waiting_for_room(wire);
        wire.cancel(ticket, "enough");
        assert_eq!(wire.client.cancel(ticket, ""), Err(SendError::Gone));
        wire.peer_reads(true);
        wire.pump();
        let sent = wire.sent_short();
        assert!(!sent.iter().any(|line| line.contains("cancelled") || line.contains("list")), "{sent:?}");
        wire.forget();
    });
}

#[test]
fn time_without_output_space_counts_for_the_timeout() {
    SMALL().run(|wire| {
        wire.connect();
        waiting_for_room(wire);
        assert_eq!(wire.deadline, Some(1000));
        wire.at(1000).heard(&["list: lost TimedOut"]);
        wire.peer_reads(true);
        wire.pump();
        let sent = wire.sent_short();
        assert!(!sent.iter().any(|line| line.contains("cancelled") || line.contains("list")), "{sent:?}");
        wire.forget();
    });
}

#[test]
fn close_while_a_page_waits_ends_the_list_once() {
    SMALL().run(|wire| {
        wire.connect();
        waiting_for_room(wire);
        wire.eof();
        let heard = wire.heard_now();
        assert_eq!(heard.iter().filter(|event| *event == "list: lost Closed").count(), 1, "{heard:?}");
        wire.at(200).heard(&["closed"]).forget();
    });
}
