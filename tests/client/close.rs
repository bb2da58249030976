//! Closing: end of input, failed writes, shutdown, reset.
use crate::support::client::{Setup, Wire};
use mcp_proto::client::Options;
use mcp_proto::{Millis, SendError, State};

const DEFAULT: Options = Options::DEFAULT;

#[test]
fn end_of_input_ends_each_request_once_then_closes() {
    Setup::automatic().connected(|wire| {
        let cancelled = wire.call("cancelled", DEFAULT).unwrap();
        let tickets = ["a", "b"].map(|tool| wire.call(tool, DEFAULT).unwrap());
        wire.list();
        wire.cancel(cancelled, "");
        wire.forget();
        // Input before the end is still processed.
        let last = wire.message(r#"{"id":@a,"result":{}}"#);
        wire.raw(last.as_bytes()).heard(&["a: result {}"]);
        wire.eof();
        let mut heard = wire.heard_now();
        assert_eq!(heard.pop().unwrap(), "closed");
        heard.sort();
        assert_eq!(heard, ["b: lost Closed", "list: lost Closed"]);
        assert_eq!((wire.client.pending(), wire.client.state()), (0, State::Closed));
        for ticket in tickets {
            assert_eq!(wire.client.cancel(ticket, ""), Err(SendError::Gone));
        }
        assert_eq!(wire.call("late", DEFAULT), Err(SendError::NotConnected));
        wire.at(10_000).heard(&[]).sent(&[]);
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
    for (rest, heard) in cases {
        Setup::automatic().lines_only().connected(|wire| {
            wire.call("add", DEFAULT).unwrap();
            // `message` would add the envelope.
            let rest = wire.message(&format!(" {rest}"));
            wire.forget().bytes(rest.as_bytes()).heard(&[]).eof().heard(heard);
        });
    }
}

#[test]
fn oversized_last_line_is_ignored() {
    let cases = [
        (format!(r#" {{"jsonrpc":"2.0","id":@add,"result":"{}"}}"#, "x".repeat(900)), "add: lost TooLong"),
        (format!(r#" {{"jsonrpc":"2.0","id":@add,"result":"{}"#, "x".repeat(900)), "fault Truncated"),
    ];
    for (rest, heard) in cases {
        Setup::automatic().rx(400).lines_only().connected(|wire| {
            wire.call("add", DEFAULT).unwrap();
            let rest = wire.message(&rest);
            wire.forget().bytes(rest.as_bytes()).eof();
            assert_eq!(wire.heard_now()[0], heard);
        });
    }
}

#[test]
fn failed_write_closes_the_client() {
    Setup::automatic().connected(|wire| {
        wire.call("a", DEFAULT).unwrap();
        wire.forget().broken().heard(&[]);
        // The client notices when it writes.
        let ticket = wire.client.call_json("b", "{}", DEFAULT).unwrap();
        wire.name(ticket, "b");
        wire.heard(&["a: lost Closed", "b: lost Closed", "closed"]);
    });
}

/// A server that answers and exits: its response arrives together with the failed write.
#[test]
fn received_responses_are_processed_after_a_failed_write() {
    Setup::automatic().connected(|wire| {
        wire.call("a", DEFAULT).unwrap();
        wire.forget();
        let ticket = wire.client.call_json("b", "{}", DEFAULT).unwrap();
        wire.name_only(ticket, "b");
        wire.breaks().server(r#"{"id":@a,"result":{}}"#);
        if wire.pace().read >= 64 {
            wire.heard(&["a: result {}", "b: lost Closed", "closed"]);
        } else {
            // Only a part of the response was received.
            wire.heard(&["fault Truncated", "a: lost Closed", "b: lost Closed", "closed"]);
        }
    });
}

fn with_unsent(wire: &mut Wire) {
    wire.peer_reads(false);
    wire.call("a", DEFAULT).unwrap();
}

#[test]
fn shutdown_ends_requests_and_sends_the_output() {
    Setup::automatic().connected(|wire| {
        with_unsent(wire);
        wire.forget();
        wire.client.shutdown(Millis(50));
        wire.at(50).heard(&["a: lost Closed"]);
        assert_eq!((wire.client.state(), wire.deadline), (State::Draining, Some(250)));
        assert_eq!(wire.call("b", DEFAULT), Err(SendError::NotConnected));
        wire.at(249).heard(&[]);
        wire.peer_reads(true);
        wire.pump();
        wire.heard(&["closed"]);
        assert_eq!(wire.sent_lines().len(), 1, "what was promised is written");
    });
    Setup::automatic().connected(|wire| {
        with_unsent(wire);
        wire.client.shutdown(Millis(50));
        wire.at(50).heard(&["a: lost Closed"]).at(250).heard(&["closed"]);
        wire.forget();
    });
    Setup::automatic().connected(|wire| {
        wire.client.shutdown(Millis(50));
        wire.client.shutdown(Millis(60));
        wire.at(60).heard(&["closed"]);
    });
}

#[test]
fn shutdown_while_connecting_has_only_its_own_deadline() {
    for setup in [Setup::automatic(), Setup::handshake()] {
        setup.run(|wire| {
            wire.peer_reads(false);
            wire.at(0).at(290);
            wire.client.shutdown(Millis(290));
            wire.at(290).heard(&[]);
            assert_eq!(wire.deadline, Some(490));
            wire.at(300).at(489).heard(&[]).at(490).heard(&["closed"]);
        });
    }
    Setup::automatic().run(|wire| {
        wire.client.shutdown(Millis(0));
        wire.at(0).heard(&["closed"]).sent(&[]);
    });
}

/// The server closed its output and does not read: a waiting ping does not extend the
/// grace period.
#[test]
fn unanswered_ping_does_not_extend_the_grace_period() {
    Setup { tx: 512, ..Setup::handshake() }.lines_only().run(|wire| {
        wire.connect();
        wire.peer_reads(false);
        wire.call("slow", DEFAULT.timeout(Millis(60_000)).maximum(Millis(60_000))).unwrap();
        for id in 0..20 {
            wire.server(&format!(r#"{{"id":"ping number {id}","method":"ping"}}"#));
        }
        wire.eof();
        let heard = wire.heard_now();
        assert_eq!(heard, [] as [&str; 0]);
        wire.at(200);
        let heard = wire.heard_now();
        assert_eq!(heard, ["slow: lost Closed", "closed"]);
        wire.forget();
    });
    // Once space is free in time, every ping is answered.
    Setup { tx: 512, ..Setup::handshake() }.lines_only().run(|wire| {
        wire.connect();
        wire.peer_reads(false);
        for id in 0..20 {
            wire.server(&format!(r#"{{"id":"ping number {id}","method":"ping"}}"#));
        }
        wire.eof().at(199);
        wire.peer_reads(true);
        wire.pump();
        wire.heard(&["closed"]);
        assert_eq!(wire.sent_lines().len(), 20);
    });
}

#[test]
fn client_connects_again_after_a_reset_in_any_state() {
    let states: [fn(&mut Wire); 6] = [
        |_| {},
        |wire| wire.pump(),
        |wire| {
            wire.at(0).raw(b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"\"}}");
        },
        |wire| {
            wire.at(0).eof();
        },
        |wire| {
            wire.at(0).broken().client.shutdown(Millis(0));
            wire.pump();
        },
        |wire| {
            wire.connect();
            wire.peer_reads(false);
            let _ = wire.call("x", DEFAULT);
            wire.peer_reads(true);
        },
    ];
    for setup in [Setup::automatic(), Setup::handshake()] {
        for prepare in states {
            setup.run(|wire| {
                prepare(wire);
                wire.forget().reset();
                wire.connect();
                wire.call("add", DEFAULT).unwrap();
                wire.server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]).forget();
            });
        }
    }
}

#[test]
fn unread_event_is_offered_again() {
    Setup::automatic().connected(|wire| {
        wire.call("a", DEFAULT).unwrap();
        wire.forget().stop_after(0).server(r#"{"id":@a,"result":{}}"#);
        for _ in 0..3 {
            let _ = wire.client.poll(Millis(0));
        }
        wire.pump();
        wire.heard(&["a: result {}"]);
        assert!(wire.client.event().is_none());
    });
}
