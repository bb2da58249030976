//! Lists: pages, cursors, limits, cancellation.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::Options;
use mcp_proto::{Millis, SendError};

fn page(tools: &[&str], cursor: Option<&str>) -> String {
    let tools: Vec<String> = tools.iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
    let cursor = cursor.map_or(String::new(), |cursor| format!(r#","nextCursor":{cursor}"#));
    format!(r#"{{"id":@list,"result":{{"tools":[{}]{cursor}}}}}"#, tools.join(","))
}

/// Returns the request for the page after a cursor.
fn next(harness: &ClientHarness, cursor: &str) -> String {
    let meta = if harness.is_handshake() { "" } else { r#","_meta":{..}"# };
    format!(r#"{{"id":@,"method":"tools/list","params":{{"cursor":{cursor}{meta}}}}}"#)
}

#[test]
fn pages_are_requested_until_the_last() {
    Setup::automatic().connected(|harness| {
        let ticket = harness.list();
        harness
            .discard()
            .server_sends(&page(&["a", "b"], Some(r#""p\u0032\"""#)))
            .events(&["list: a, b, .."]);
        // The client sends the cursor unchanged.
        let expected = next(harness, r#""p\u0032\"""#);
        harness.sent(&[&expected]);
        harness.server_sends(&page(&[], Some(r#""3""#))).events(&["list: , .."]);
        let expected = next(harness, r#""3""#);
        harness.sent(&[&expected]);
        assert!(harness.client.is_pending(ticket));
        harness.server_sends(&page(&["c"], None)).events(&["list: c."]).sent(&[]);
        assert!(!harness.client.is_pending(ticket));
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
}

#[test]
fn list_ends_without_a_next_cursor() {
    // The cursor, and whether the list ends in the handshake era and in the stateless era.
    let cases: &[(&str, bool, bool)] = &[
        (r#""""#, true, false),
        ("null", true, true),
        ("7", true, true),
        ("{}", true, true),
        (r#"" ""#, false, false),
        (r#""null""#, false, false),
    ];
    for (cursor, handshake, stateless) in cases {
        let _context = FailureContext((*cursor).to_owned());
        Setup::automatic().connected(|harness| {
            harness.list();
            harness.discard().server_sends(&page(&["a"], Some(cursor)));
            if if harness.is_handshake() { *handshake } else { *stateless } {
                harness.events(&["list: a."]).sent(&[]);
            } else {
                let expected = next(harness, cursor);
                harness.events(&["list: a, .."]).sent(&[&expected]);
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
        // The view skips entries that are not objects.
        (r#"{"id":@list,"result":{"tools":[1,null,{"name":"b"},{}]}}"#, &["list: b, ?."]),
    ];
    for (answer, expected) in cases {
        let _context = FailureContext((*answer).to_owned());
        // The slot has 32 bytes for a cursor with its quotes.
        Setup { slots: 2, text: 64, ..Setup::automatic() }.connected(|harness| {
            harness.list();
            harness.discard().server_sends(&page(&["a"], Some(r#""x""#))).events(&["list: a, .."]).discard();
            harness.server_sends(answer).events(expected).sent(&[]);
            assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        });
    }
}

#[test]
fn longest_cursor_that_fits_is_followed() {
    Setup { slots: 2, text: 64, ..Setup::automatic() }.connected(|harness| {
        let cursor = format!("\"{}\"", "x".repeat(30));
        harness.list();
        harness.discard().server_sends(&page(&["a"], Some(&cursor))).events(&["list: a, .."]);
        let expected = next(harness, &cursor);
        harness.sent(&[&expected]);
    });
    Setup { slots: 2, text: 0, ..Setup::automatic() }.connected(|harness| {
        harness.list();
        harness.discard().server_sends(&page(&["a"], Some("\"\"")));
        if harness.is_handshake() {
            harness.events(&["list: a."]);
        } else {
            harness.events(&["list: a, ..", "list: lost CursorTooLong"]);
        }
    });
}

/// The cursor fits into the slot, but not into a request.
#[test]
fn cursor_that_cannot_be_sent_ends_the_list() {
    Setup { tx: 600, rx: 2000, slots: 1, text: 1000, ..Setup::automatic() }.connected(|harness| {
        harness.list();
        let cursor = format!("\"{}\"", "x".repeat(500));
        harness.discard().server_sends(&page(&["a"], Some(&cursor)));
        harness.events(&["list: a, ..", "list: lost CursorTooLong"]).sent(&[]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        harness.list();
        harness.server_sends(&page(&["b"], None)).events(&["list: b."]).discard();
    });
}

#[test]
fn list_whose_meta_fits_no_slot_is_unwritable() {
    let meta = format!(r#"{{"a":"{}"}}"#, "x".repeat(16));
    Setup { slots: 2, text: 32, ..Setup::automatic() }.connected(|harness| {
        harness.peer_reads(false);
        let ticket = harness.call("t", Options::DEFAULT).unwrap();
        let sent = harness.client.list_tools(Options::DEFAULT.meta(&meta));
        assert_eq!(sent, Err(SendError::Unwritable));
        harness.peer_reads(true);
        harness.cancel(ticket, "");
        harness.events(&[]).discard();
    });
}

#[test]
fn list_is_limited_in_pages() {
    let info = Setup::automatic().info.pages(3);
    Setup { info, ..Setup::automatic() }.connected(|harness| {
        harness.list();
        for cursor in ["\"1\"", "\"2\"", "\"3\""] {
            harness.server_sends(&page(&["a"], Some(cursor)));
        }
        harness.events(&["list: a, ..", "list: a, ..", "list: a, ..", "list: lost EndlessList"]);
        assert_eq!(harness.take_sent_lines().len(), 3);
        harness.list();
        for cursor in [Some("\"1\""), Some("\"2\""), None] {
            harness.server_sends(&page(&["a"], cursor));
        }
        harness.events(&["list: a, ..", "list: a, ..", "list: a."]).discard();
    });
}

#[test]
fn each_page_has_its_own_id_token_and_timeout() {
    Setup::automatic().connected(|harness| {
        let options = Options::DEFAULT.with_progress().timeout(Millis(100)).maximum(Millis(250));
        let ticket = harness.client.list_tools(options).unwrap();
        harness.name(ticket, "list");
        assert_eq!(harness.deadline, Some(100));
        let first = harness
            .message(r#"{"method":"notifications/progress","params":{"progressToken":@list,"progress":5}}"#);
        harness.at(90).server_sends(&page(&["a"], Some("\"1\""))).events(&["list: a, .."]);
        assert_eq!(harness.deadline, Some(190));
        assert!(harness.take_sent_lines()[1].contains("progressToken"));
        // The token of a received page is no longer valid, and progress starts again.
        harness.raw(first.as_bytes()).events(&[]);
        harness.at(150).server_sends(
            r#"{"method":"notifications/progress","params":{"progressToken":@list,"progress":1}}"#,
        );
        harness.events(&["list: 1"]);
        assert_eq!(harness.deadline, Some(250));
        harness.at(180).server_sends(&page(&["b"], Some("\"2\""))).events(&["list: b, .."]).discard();
        assert_eq!(harness.deadline, Some(250), "the maximum timeout covers the whole list");
        harness.at(250).events(&["list: lost TimedOut"]);
        harness.sent(&[
            r#"{"method":"notifications/cancelled","params":{"requestId":@list,"reason":"timeout"}}"#,
        ]);
    });
}

#[test]
fn list_can_be_cancelled_between_pages() {
    Setup::automatic().connected(|harness| {
        let ticket = harness.list();
        harness.server_sends(&page(&["a"], Some("\"1\""))).events(&["list: a, .."]).discard();
        harness.cancel(ticket, "enough");
        harness.sent(&[
            r#"{"method":"notifications/cancelled","params":{"requestId":@list,"reason":"enough"}}"#,
        ]);
        harness.server_sends(&page(&["b"], Some("\"2\""))).events(&[]).sent(&[]);
    });
}

/// Receives a list's first page while the transmit buffer is full.
fn waiting_for_room(harness: &mut ClientHarness) -> mcp_proto::Ticket {
    let ticket = harness.list();
    harness.discard();
    harness.peer_reads(false);
    let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(150));
    while harness
        .client
        .call_json("filler", &arguments, Options::DEFAULT.timeout(Millis(9000)).maximum(Millis(9000)))
        .is_ok()
    {}
    harness
        .server_sends(&page(&["a"], Some("\"1234567890123456789012345678901234567890\"")))
        .events(&["list: a, .."]);
    ticket
}

const SMALL: fn() -> Setup = || Setup { tx: 800, ..Setup::handshake() };

#[test]
fn next_page_is_requested_once_space_is_free() {
    SMALL().run(|harness| {
        harness.connect();
        let ticket = waiting_for_room(harness);
        assert!(harness.client.is_pending(ticket));
        harness.peer_reads(true);
        harness.at(10);
        let sent = harness.take_sent();
        assert_eq!(sent.iter().filter(|line| line.contains("tools/list")).count(), 1);
        harness.discard().server_sends(&page(&["b"], None)).events(&["list: b."]);
    });
}

#[test]
fn list_waiting_for_space_is_cancelled_silently() {
    SMALL().run(|harness| {
        harness.connect();
        let ticket = waiting_for_room(harness);
        harness.cancel(ticket, "enough");
        assert_eq!(harness.client.cancel(ticket, ""), Err(SendError::Gone));
        harness.peer_reads(true);
        harness.pump();
        let sent = harness.take_sent();
        assert!(!sent.iter().any(|line| line.contains("cancelled") || line.contains("list")), "{sent:?}");
        harness.discard();
    });
}

#[test]
fn time_without_output_space_counts_for_the_timeout() {
    SMALL().run(|harness| {
        harness.connect();
        waiting_for_room(harness);
        assert_eq!(harness.deadline, Some(1000));
        harness.at(1000).events(&["list: lost TimedOut"]);
        harness.peer_reads(true);
        harness.pump();
        let sent = harness.take_sent();
        assert!(!sent.iter().any(|line| line.contains("cancelled") || line.contains("list")), "{sent:?}");
        harness.discard();
    });
}

#[test]
fn close_while_a_page_waits_ends_the_list_once() {
    SMALL().run(|harness| {
        harness.connect();
        waiting_for_room(harness);
        harness.eof();
        let events = harness.take_events();
        assert_eq!(events.iter().filter(|event| *event == "list: lost Closed").count(), 1, "{events:?}");
        harness.at(200).events(&["closed"]).discard();
    });
}
