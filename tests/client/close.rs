//! Closing: end of input, failed writes, shutdown, reset.
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::Options;
use mcp_proto::{Millis, SendError, State};

const DEFAULT: Options = Options::DEFAULT;

#[test]
fn end_of_input_ends_each_request_once_then_closes() {
    Setup::automatic().connected(|harness| {
        let cancelled = harness.call("cancelled", DEFAULT).unwrap();
        let tickets = ["a", "b"].map(|tool| harness.call(tool, DEFAULT).unwrap());
        harness.list();
        harness.cancel(cancelled, "");
        harness.discard();
        // The client still processes the bytes that precede the end of the input.
        let last = harness.message(r#"{"id":@a,"result":{}}"#);
        harness.raw(last.as_bytes()).events(&["a: result {}"]);
        harness.eof();
        let mut events = harness.take_events();
        assert_eq!(events.pop().unwrap(), "closed");
        events.sort();
        assert_eq!(events, ["b: lost Closed", "list: lost Closed"]);
        assert_eq!((harness.client.pending(), harness.client.state()), (0, State::Closed));
        for ticket in tickets {
            assert_eq!(harness.client.cancel(ticket, ""), Err(SendError::Gone));
        }
        assert_eq!(harness.call("late", DEFAULT), Err(SendError::NotConnected));
        harness.at(10_000).events(&[]).sent(&[]);
    });
}

#[test]
fn complete_last_line_without_newline_is_processed() {
    let cases: [(&str, &[&str]); 4] = [
        (r#"{"jsonrpc":"2.0","id":@add,"result":{}}"#, &["add: result {}", "closed"]),
        (r#"{"jsonrpc":"2.0","id":@add,"result":{}"#, &["fault Truncated", "add: lost Closed", "closed"]),
        (r#"half"#, &["fault Truncated", "add: lost Closed", "closed"]),
        ("  ", &["add: lost Closed", "closed"]),
    ];
    for (rest, events) in cases {
        Setup::automatic().lines_only().connected(|harness| {
            harness.call("add", DEFAULT).unwrap();
            // The leading space prevents `message` from adding the envelope.
            let rest = harness.message(&format!(" {rest}"));
            harness.discard().bytes(rest.as_bytes()).events(&[]).eof().events(events);
        });
    }
}

#[test]
fn oversized_last_line_without_newline_is_reported() {
    let cases = [
        (format!(r#" {{"jsonrpc":"2.0","id":@add,"result":"{}"}}"#, "x".repeat(900)), "add: lost TooLong"),
        (format!(r#" {{"jsonrpc":"2.0","id":@add,"result":"{}"#, "x".repeat(900)), "fault Truncated"),
    ];
    for (rest, events) in cases {
        Setup::automatic().rx(400).lines_only().connected(|harness| {
            harness.call("add", DEFAULT).unwrap();
            let rest = harness.message(&rest);
            harness.discard().bytes(rest.as_bytes()).eof();
            assert_eq!(harness.take_events()[0], events);
        });
    }
}

#[test]
fn failed_write_closes_the_client() {
    Setup::automatic().connected(|harness| {
        harness.call("a", DEFAULT).unwrap();
        harness.discard().broken().events(&[]);
        // The client notices the failure when it writes.
        let ticket = harness.client.call_json("b", "{}", DEFAULT).unwrap();
        harness.name(ticket, "b");
        harness.events(&["a: lost Closed", "b: lost Closed", "closed"]);
    });
}

/// The server responds and exits. Its response is in transit when the client's write fails.
#[test]
fn received_responses_are_processed_after_a_failed_write() {
    Setup::automatic().connected(|harness| {
        harness.call("a", DEFAULT).unwrap();
        harness.discard();
        let ticket = harness.client.call_json("b", "{}", DEFAULT).unwrap();
        harness.name_without_poll(ticket, "b");
        harness.break_unnoticed().server_sends(r#"{"id":@a,"result":{}}"#);
        if harness.pace().read >= 64 {
            harness.events(&["a: result {}", "b: lost Closed", "closed"]);
        } else {
            // The client has received only a part of the response.
            harness.events(&["fault Truncated", "a: lost Closed", "b: lost Closed", "closed"]);
        }
    });
}

fn with_unsent(harness: &mut ClientHarness) {
    harness.peer_reads(false);
    harness.call("a", DEFAULT).unwrap();
}

#[test]
fn shutdown_ends_requests_and_sends_the_output() {
    Setup::automatic().connected(|harness| {
        with_unsent(harness);
        harness.discard();
        harness.client.shutdown(Millis(50));
        harness.at(50).events(&["a: lost Closed"]);
        assert_eq!((harness.client.state(), harness.deadline), (State::Draining, Some(250)));
        assert_eq!(harness.call("b", DEFAULT), Err(SendError::NotConnected));
        harness.at(249).events(&[]);
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["closed"]);
        assert_eq!(harness.take_sent_lines().len(), 1, "reserved responses are written");
    });
    Setup::automatic().connected(|harness| {
        with_unsent(harness);
        harness.client.shutdown(Millis(50));
        harness.at(50).events(&["a: lost Closed"]).at(250).events(&["closed"]);
        harness.discard();
    });
    Setup::automatic().connected(|harness| {
        harness.client.shutdown(Millis(50));
        harness.client.shutdown(Millis(60));
        harness.at(60).events(&["closed"]);
    });
}

#[test]
fn shutdown_while_connecting_has_only_its_own_deadline() {
    for setup in [Setup::automatic(), Setup::handshake()] {
        setup.run(|harness| {
            harness.peer_reads(false);
            harness.at(0).at(290);
            harness.client.shutdown(Millis(290));
            harness.at(290).events(&[]);
            assert_eq!(harness.deadline, Some(490));
            harness.at(300).at(489).events(&[]).at(490).events(&["closed"]);
        });
    }
    Setup::automatic().run(|harness| {
        harness.client.shutdown(Millis(0));
        harness.at(0).events(&["closed"]).sent(&[]);
    });
}

/// Pings of the server that wait for their responses do not extend the grace period.
///
/// The server has closed its output and does not read.
#[test]
fn unanswered_ping_does_not_extend_the_grace_period() {
    Setup { tx: 512, ..Setup::handshake() }.lines_only().run(|harness| {
        harness.connect();
        harness.peer_reads(false);
        harness.call("slow", DEFAULT.timeout(Millis(60_000)).maximum(Millis(60_000))).unwrap();
        for id in 0..20 {
            harness.server_sends(&format!(r#"{{"id":"ping number {id}","method":"ping"}}"#));
        }
        harness.eof();
        let events = harness.take_events();
        assert_eq!(events, [] as [&str; 0]);
        harness.at(200);
        let events = harness.take_events();
        assert_eq!(events, ["slow: lost Closed", "closed"]);
        harness.discard();
    });
    // If space becomes free in time, every ping gets a response.
    Setup { tx: 512, ..Setup::handshake() }.lines_only().run(|harness| {
        harness.connect();
        harness.peer_reads(false);
        for id in 0..20 {
            harness.server_sends(&format!(r#"{{"id":"ping number {id}","method":"ping"}}"#));
        }
        harness.eof().at(199);
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["closed"]);
        assert_eq!(harness.take_sent_lines().len(), 20);
    });
}

#[test]
fn client_connects_again_after_a_reset_in_any_state() {
    let states: [fn(&mut ClientHarness); 6] = [
        |_| {},
        |harness| harness.pump(),
        |harness| {
            harness.at(0).raw(b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"\"}}");
        },
        |harness| {
            harness.at(0).eof();
        },
        |harness| {
            harness.at(0).broken().client.shutdown(Millis(0));
            harness.pump();
        },
        |harness| {
            harness.connect();
            harness.peer_reads(false);
            let _ = harness.call("x", DEFAULT);
            harness.peer_reads(true);
        },
    ];
    for setup in [Setup::automatic(), Setup::handshake()] {
        for prepare in states {
            setup.run(|harness| {
                prepare(harness);
                harness.discard().reset();
                harness.connect();
                harness.call("add", DEFAULT).unwrap();
                harness.server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]).discard();
            });
        }
    }
}

#[test]
fn unread_event_is_offered_again() {
    Setup::automatic().connected(|harness| {
        harness.call("a", DEFAULT).unwrap();
        harness.discard().stop_after(0).server_sends(r#"{"id":@a,"result":{}}"#);
        for _ in 0..3 {
            let _ = harness.client.poll(Millis(0));
        }
        harness.pump();
        harness.events(&["a: result {}"]);
        assert!(harness.client.event().is_none());
    });
}
