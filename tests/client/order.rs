//! The order in which a client emits events, sends messages and reuses slots.
//!
//! The order depends on deadlines, slots and the calls of the application, never on the speed of output.

use crate::client::client_tasks;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::{Connect, Options};
use mcp_proto::{ClientCapabilities, Millis, SendError, Ticket};

const DEFAULT: Options = Options::DEFAULT;

/// Long reasons. After [`fill`], at most one cancellation with such a reason fits.
const WHY: [&str; 2] = [
    "the application does not wait for the answer any more, and this is the first reason",
    "the application does not wait for the answer any more, and this is the other reason",
];

fn cancelled(name: &str, reason: &str) -> String {
    format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":@{name},"reason":"{reason}"}}}}"#)
}

fn in_time(ms: u64) -> Options<'static> {
    DEFAULT.timeout(Millis(ms))
}

/// Fills the transmit buffer of the client with a call, which the server does not read.
pub(super) fn fill(harness: &mut ClientHarness) -> Ticket {
    harness.peer_reads(false);
    let sent = (0..harness.setup.tx).rev().find_map(|length| {
        let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
        harness.client.call_json("fill", &arguments, in_time(90_000)).ok()
    });
    harness.name(sent.expect("one fits"), "fill")
}

/// Sends all waiting messages. Returns the messages without the request that filled the buffer.
fn drain(harness: &mut ClientHarness) -> Vec<String> {
    harness.peer_reads(true);
    harness.pump();
    let mut sent = harness.take_sent();
    assert!(sent.remove(0).contains("xxx"));
    sent
}

#[test]
fn requests_time_out_by_deadline_and_not_by_slot() {
    Setup::automatic().connected(|harness| {
        for (name, time) in [("a", 30), ("b", 10), ("c", 20)] {
            harness.call(name, in_time(time)).unwrap();
        }
        harness.discard();
        assert_eq!(harness.deadline, Some(10));
        harness.at(100).events(&["b: lost TimedOut", "c: lost TimedOut", "a: lost TimedOut"]);
        harness.sent(&["b", "c", "a"].map(|name| cancelled(name, "timeout")).each_ref().map(String::as_str));
    });
}

#[test]
fn equal_deadlines_time_out_by_slot_whichever_was_free_first() {
    for freed in [["a", "b"], ["b", "a"]] {
        Setup::automatic().connected(|harness| {
            for name in ["a", "b", "keep"] {
                harness.call(name, in_time(90_000)).unwrap();
            }
            for name in freed {
                harness.server_sends(&format!(r#"{{"id":@{name},"result":{{}}}}"#));
            }
            harness.call("one", in_time(50)).unwrap();
            harness.call("two", in_time(50)).unwrap();
            harness.discard();
            harness.at(50).events(&["one: lost TimedOut", "two: lost TimedOut"]).discard();
        });
    }
}

#[test]
fn waiting_cancellations_are_sent_in_order() {
    Setup::automatic().lines_only().connected(|harness| {
        let calls = ["a", "b"].map(|name| harness.call(name, DEFAULT).unwrap());
        harness.discard();
        fill(harness);
        harness.cancel(calls[1], WHY[1]);
        harness.cancel(calls[0], WHY[0]);
        assert_eq!(drain(harness), [cancelled("b", WHY[1]), cancelled("a", WHY[0])]);
    });
}

#[test]
fn timeout_precedes_a_response_read_later() {
    Setup::automatic().connected(|harness| {
        harness.call("a", in_time(50)).unwrap();
        harness.discard();
        harness.at(49);
        harness.now = 50;
        harness.server_sends(r#"{"id":@a,"result":{}}"#).events(&["a: lost TimedOut"]).discard();
    });
}

/// The application handles an event for longer than the timeout of another request.
#[test]
fn timeout_does_not_end_while_the_application_handles_an_event() {
    let calls = |harness: &mut ClientHarness| {
        harness.call("a", in_time(50)).unwrap();
        harness.call("b", DEFAULT).unwrap();
        harness.discard();
        harness.at(49).stop_after(1);
    };
    // The response to `a` arrives together with the response to `b`.
    Setup::automatic().connected(|harness| {
        calls(harness);
        harness
            .server_sends_all(&[r#"{"id":@b,"result":{}}"#, r#"{"id":@a,"result":{}}"#])
            .events(&["b: result {}"]);
        harness.at(900).events(&["a: result {}"]);
    });
    // The response to `a` arrives after the application has handled the event.
    Setup::automatic().connected(|harness| {
        calls(harness);
        harness.server_sends(r#"{"id":@b,"result":{}}"#).events(&["b: result {}"]);
        harness.at(900).server_sends(r#"{"id":@a,"result":{}}"#).events(&["a: result {}"]);
    });
    // The response to `a` does not arrive.
    Setup::automatic().connected(|harness| {
        calls(harness);
        harness.server_sends(r#"{"id":@b,"result":{}}"#).events(&["b: result {}"]);
        harness.at(900).events(&[]);
        harness.at(999).events(&[]);
        harness.at(1000).events(&["a: lost TimedOut"]).discard();
    });
}

#[test]
fn connecting_does_not_time_out_while_the_application_handles_an_event() {
    let log = r#"{"method":"notifications/message","params":{"level":"info","data":1}}"#;
    let busy = |harness: &mut ClientHarness| {
        harness.at(0).discard();
        harness.at(2_999).stop_after(1).server_sends(log).events(&["log info 1"]);
    };
    let discovered = r#"{"id":@discover,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#;
    Setup::new(Connect::Stateless).run(|harness| {
        busy(harness);
        harness.at(4_000).server_sends(discovered).events(&["connected 2026-07-28"]);
    });
    // The response does not arrive, and further events do not extend the timeout.
    Setup::new(Connect::Stateless).run(|harness| {
        busy(harness);
        harness.at(4_000).events(&[]);
        assert_eq!(harness.deadline, Some(4_100));
        harness.at(4_099).stop_after(1).server_sends(log).events(&["log info 1"]);
        harness.at(4_200).events(&["failed TimedOut", "closed"]);
    });
}

#[test]
fn frequent_events_extend_a_timeout_once() {
    let message = r#"{"method":"notifications/message","params":{"level":"info","data":1}}"#;
    Setup::automatic().connected(|harness| {
        harness.call("a", in_time(50)).unwrap();
        harness.discard();
        // The application handles each event for 100 ms. During this time, the next message arrives.
        for now in [0, 100, 200, 300] {
            harness.now = now;
            harness.pump();
            let events = harness.events.len() + 1;
            harness.stop_after(events).server_sends(message);
        }
        let lost = harness.events.iter().position(|event| event == "a: lost TimedOut");
        assert_eq!(lost, Some(2), "{:?}", harness.events);
        harness.discard();
    });
}

#[test]
fn writable_follows_all_waiting_messages() {
    // In the stateless era the client reserves no space for responses, so the buffer has no space for the cancellation.
    Setup::automatic().lines_only().run(|harness| {
        harness.connect();
        let call = harness.call("a", DEFAULT).unwrap();
        harness.discard();
        fill(harness);
        harness.cancel(call, WHY[0]);
        assert_eq!(harness.client.call_json("b", "{}", DEFAULT), Err(SendError::Busy));
        harness.stop_after(1);
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["room"]);
        // The client emits the event only after it has sent the cancellation.
        let sent = harness.take_sent();
        assert_eq!(sent.last(), Some(&cancelled("a", WHY[0])));
    });
}

#[test]
fn changed_roots_precede_a_waiting_cancellation() {
    let setup = Setup::handshake().declares(ClientCapabilities::ROOTS_LIST_CHANGED).lines_only();
    setup.run(|harness| {
        harness.connect();
        let calls = ["a", "b"].map(|name| harness.call(name, DEFAULT).unwrap());
        harness.discard();
        fill(harness);
        // The first cancellation uses the space reserved for responses.
        harness.cancel(calls[0], WHY[0]);
        harness.cancel(calls[1], WHY[1]);
        harness.client.roots_changed().unwrap();
        let roots = r#"{"method":"notifications/roots/list_changed"}"#;
        assert_eq!(drain(harness), [&cancelled("a", WHY[0]), roots, &cancelled("b", WHY[1])]);
    });
}

#[test]
fn waiting_messages_precede_responses_to_later_requests() {
    let setup = Setup::handshake().declares(ClientCapabilities::ROOTS_LIST_CHANGED).lines_only();
    setup.run(|harness| {
        harness.connect();
        let call = harness.call("a", DEFAULT).unwrap();
        harness.list();
        harness.discard();
        fill(harness);
        // The cancellation uses the space reserved for responses.
        harness.cancel(call, WHY[0]);
        harness.client.roots_changed().unwrap();
        harness.server_sends(r#"{"id":@list,"result":{"tools":[],"nextCursor":"x"}}"#);
        harness.take_events();
        harness.server_sends(r#"{"id":"p","method":"ping"}"#);
        let roots = r#"{"method":"notifications/roots/list_changed"}"#;
        let page = r#"{"id":@,"method":"tools/list","params":{"cursor":"x"}}"#;
        let response = r#"{"id":"p","result":{}}"#;
        assert_eq!(drain(harness), [&cancelled("a", WHY[0]), roots, page, response]);
    });
}

#[test]
fn waiting_result_of_a_task_precedes_queued_messages() {
    client_tasks::setup().lines_only().run(|harness| {
        harness.connect();
        let tickets = client_tasks::defers(harness);
        let calls = ["a", "b"].map(|name| harness.call(name, DEFAULT).unwrap());
        harness.server_sends(client_tasks::FORM).server_sends(&client_tasks::about(2, "result"));
        harness.discard();
        fill(harness);
        // The first cancellation uses the space reserved for responses.
        harness.cancel(calls[0], WHY[0]);
        harness.cancel(calls[1], WHY[1]);
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.accept(|content| content.field_string("name", "x"));
        harness.server_sends(r#"{"id":"p","method":"ping"}"#);
        let result = client_tasks::payload(2, client_tasks::ACCEPTED);
        let response = r#"{"id":"p","result":{}}"#;
        assert_eq!(drain(harness), [&cancelled("a", WHY[0]), &result, &cancelled("b", WHY[1]), response]);
    });
}

#[test]
fn request_id_does_not_depend_on_output_speed() {
    let ids = std::sync::Mutex::new(Vec::new());
    for blocked in [false, true] {
        Setup::automatic().lines_only().connected(|harness| {
            let calls = ["a", "b", "last"].map(|name| harness.call(name, DEFAULT).unwrap());
            fill(harness);
            harness.peer_reads(!blocked);
            harness.pump();
            // If the server does not read, at least the second cancellation waits for space, so the slot of `last` is
            // freed last.
            harness.cancel(calls[0], WHY[0]);
            harness.cancel(calls[2], WHY[1]);
            harness.server_sends(r#"{"id":@b,"result":{}}"#);
            harness.peer_reads(true);
            harness.pump();
            harness.discard();
            harness.call("c", DEFAULT).unwrap();
            harness.call("d", DEFAULT).unwrap();
            ids.lock().unwrap().push(harness.message("@c @d"));
            harness.discard();
        });
    }
    let mut ids = ids.into_inner().unwrap();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[test]
fn shutdown_ends_requests_by_slot() {
    for freed in [["a", "b"], ["b", "a"]] {
        Setup::automatic().connected(|harness| {
            for name in ["a", "b", "keep"] {
                harness.call(name, DEFAULT).unwrap();
            }
            for name in freed {
                harness.server_sends(&format!(r#"{{"id":@{name},"result":{{}}}}"#));
            }
            harness.call("one", in_time(200)).unwrap();
            harness.call("two", in_time(100)).unwrap();
            harness.discard();
            harness.client.shutdown(Millis(0));
            harness.pump();
            harness
                .events(&["one: lost Closed", "two: lost Closed", "keep: lost Closed", "closed"])
                .discard();
        });
    }
}
