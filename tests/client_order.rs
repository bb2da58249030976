//! Orders that a client guarantees: they depend on deadlines and on slots, never on how fast output drains.
mod wire;

use mcp_proto::client::Options;
use mcp_proto::{ClientCapabilities, Millis, SendError, Ticket};
use wire::{Setup, Wire};

const DEFAULT: Options = Options::DEFAULT;

/// Reasons that are so long that a cancellation has no room.
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

/// Fills the transmit buffer of a server that does not read.
fn fill(wire: &mut Wire) -> Ticket {
    wire.reads = false;
    let sent = (0..wire.setup.tx).rev().find_map(|length| {
        let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
        wire.client.call_json("fill", &arguments, in_time(90_000)).ok()
    });
    wire.name(sent.expect("one fits"), "fill")
}

/// Everything that waits is sent, without the request that filled the buffer.
fn drain(wire: &mut Wire) -> Vec<String> {
    wire.reads = true;
    wire.pump();
    let mut sent = wire.sent_short();
    assert!(sent.remove(0).contains("xxx"));
    sent
}

#[test]
fn requests_time_out_by_deadline_and_not_by_slot() {
    Setup::automatic().connected(|wire| {
        for (name, time) in [("a", 30), ("b", 10), ("c", 20)] {
            wire.call(name, in_time(time)).unwrap();
        }
        wire.forget();
        assert_eq!(wire.deadline, Some(10));
        wire.at(100).heard(&["b: lost TimedOut", "c: lost TimedOut", "a: lost TimedOut"]);
        wire.sent(&["b", "c", "a"].map(|name| cancelled(name, "timeout")).each_ref().map(String::as_str));
    });
}

#[test]
fn equal_deadlines_time_out_by_slot_whichever_was_free_first() {
    for freed in [["a", "b"], ["b", "a"]] {
        Setup::automatic().connected(|wire| {
            for name in ["a", "b", "keep"] {
                wire.call(name, in_time(90_000)).unwrap();
            }
            for name in freed {
                wire.server(&format!(r#"{{"id":@{name},"result":{{}}}}"#));
            }
            wire.call("one", in_time(50)).unwrap();
            wire.call("two", in_time(50)).unwrap();
            wire.forget();
            wire.at(50).heard(&["one: lost TimedOut", "two: lost TimedOut"]).forget();
        });
    }
}

#[test]
fn cancellations_that_wait_for_room_leave_in_the_order_of_their_requests_ends() {
    Setup::automatic().lines_only().connected(|wire| {
        let calls = ["a", "b"].map(|name| wire.call(name, DEFAULT).unwrap());
        wire.forget();
        fill(wire);
        wire.cancel(calls[1], WHY[1]);
        wire.cancel(calls[0], WHY[0]);
        assert_eq!(drain(wire), [cancelled("b", WHY[1]), cancelled("a", WHY[0])]);
    });
}

#[test]
fn a_timeout_precedes_an_answer_that_was_read_before() {
    Setup::automatic().connected(|wire| {
        wire.call("a", in_time(50)).unwrap();
        wire.call("b", DEFAULT).unwrap();
        wire.forget();
        wire.at(49).stop_after(1);
        wire.servers(&[r#"{"id":@b,"result":{}}"#, r#"{"id":@a,"result":{}}"#]).heard(&["b: result {}"]);
        wire.at(50).heard(&["a: lost TimedOut"]).forget();
    });
}

#[test]
fn room_is_reported_after_everything_that_waits_is_sent() {
    // In this era the client keeps no room for answers to the server, which the cancellation would take.
    Setup::automatic().lines_only().run(|wire| {
        wire.connect();
        let call = wire.call("a", DEFAULT).unwrap();
        wire.forget();
        fill(wire);
        wire.cancel(call, WHY[0]);
        assert_eq!(wire.client.call_json("b", "{}", DEFAULT), Err(SendError::Busy));
        wire.stop_after(1);
        wire.reads = true;
        wire.pump();
        wire.heard(&["room"]);
        // The application is told when the cancellation has left, too.
        let sent = wire.sent_short();
        assert_eq!(sent.last(), Some(&cancelled("a", WHY[0])));
    });
}

#[test]
fn changed_roots_are_sent_before_a_cancellation_that_waits() {
    let setup = Setup::handshake().declares(ClientCapabilities::ROOTS_LIST_CHANGED).lines_only();
    setup.run(|wire| {
        wire.connect();
        let calls = ["a", "b"].map(|name| wire.call(name, DEFAULT).unwrap());
        wire.forget();
        fill(wire);
        // The first one takes the room that is kept for answers to the server.
        wire.cancel(calls[0], WHY[0]);
        wire.cancel(calls[1], WHY[1]);
        wire.client.roots_changed().unwrap();
        let roots = r#"{"method":"notifications/roots/list_changed"}"#;
        assert_eq!(drain(wire), [&cancelled("a", WHY[0]), roots, &cancelled("b", WHY[1])]);
    });
}

#[test]
fn the_id_of_a_request_does_not_depend_on_how_output_drains() {
    let ids = std::sync::Mutex::new(Vec::new());
    for blocked in [false, true] {
        Setup::automatic().lines_only().connected(|wire| {
            let calls = ["a", "b", "last"].map(|name| wire.call(name, DEFAULT).unwrap());
            fill(wire);
            wire.reads = !blocked;
            wire.pump();
            // The slot of the last one is free last if its cancellation waits for room.
            wire.cancel(calls[0], WHY[0]);
            wire.cancel(calls[2], WHY[1]);
            wire.server(r#"{"id":@b,"result":{}}"#);
            wire.reads = true;
            wire.pump();
            wire.forget();
            wire.call("c", DEFAULT).unwrap();
            wire.call("d", DEFAULT).unwrap();
            ids.lock().unwrap().push(wire.message("@c @d"));
            wire.forget();
        });
    }
    let mut ids = ids.into_inner().unwrap();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[test]
fn a_shutdown_ends_requests_in_the_order_of_their_slots() {
    for freed in [["a", "b"], ["b", "a"]] {
        Setup::automatic().connected(|wire| {
            for name in ["a", "b", "keep"] {
                wire.call(name, DEFAULT).unwrap();
            }
            for name in freed {
                wire.server(&format!(r#"{{"id":@{name},"result":{{}}}}"#));
            }
            wire.call("one", in_time(200)).unwrap();
            wire.call("two", in_time(100)).unwrap();
            wire.forget();
            wire.client.shutdown(Millis(0));
            wire.pump();
            wire.heard(&["one: lost Closed", "two: lost Closed", "keep: lost Closed", "closed"]).forget();
        });
    }
}
