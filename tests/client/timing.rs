//! Client timing: starts and extensions of timeouts, list pages, retries, keep-alive.

use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::Options;
use mcp_proto::{KeepAlive, Millis, SendError, Ticket};

const DEFAULT: Options = Options::DEFAULT;

fn progress(harness: &mut ClientHarness, token: &str, value: &str) {
    harness.server_sends(&format!(
        r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":{value}}}}}"#
    ));
}

/// Asserts that polls before the deadline do not change it.
#[track_caller]
fn stays(harness: &mut ClientHarness, deadline: u64) {
    let (from, step) = (harness.now, (deadline - harness.now) / 7);
    for at in (0..7).map(|n| from + n * step).chain([deadline - 1]) {
        harness.at(at);
        assert_eq!(harness.deadline, Some(deadline), "at {at}");
    }
}

#[test]
fn request_timeout_starts_once() {
    for options in [DEFAULT, DEFAULT.with_progress()] {
        Setup::automatic().connected(|harness| {
            let ticket = harness.client.call_json("a", "{}", options).unwrap();
            harness.name_without_poll(ticket, "a");
            // The timeout starts at the first poll after the request.
            harness.at(400).discard();
            stays(harness, 1400);
            harness.events(&[]).at(1400).events(&["a: lost TimedOut"]).discard();
        });
    }
}

#[test]
fn request_timeout_is_not_restarted_by_another_request() {
    Setup::automatic().connected(|harness| {
        harness.call("a", DEFAULT).unwrap();
        for at in (100..1000).step_by(100) {
            harness.at(at);
            let other = harness.call("other", DEFAULT).unwrap();
            assert_eq!(harness.deadline, Some(1000), "begun at {at}");
            match at % 300 {
                0 => _ = harness.server_sends(r#"{"id":@other,"result":{}}"#).events(&["other: result {}"]),
                100 => harness.cancel(other, "why"),
                _ => _ = harness.server_sends(r#"{"id":@other}"#).events(&["other: lost Invalid"]),
            }
            assert_eq!(harness.deadline, Some(1000), "ended at {at}");
        }
        harness.at(1000).events(&["a: lost TimedOut"]).discard();
    });
}

/// The application sends several requests before a poll, and cancels one. The next poll starts the timeouts of the
/// others.
#[test]
fn timeouts_of_several_requests_start_at_the_next_poll() {
    for cancelled in 0..3 {
        Setup::automatic().connected(|harness| {
            let tickets = ["a", "b", "c"].map(|name| {
                let ticket = harness.client.call_json(name, "{}", DEFAULT.with_progress()).unwrap();
                harness.name_without_poll(ticket, name);
                ticket
            });
            harness.now = 400;
            harness.cancel(tickets[cancelled], "why");
            harness.discard();
            stays(harness, 1400);
            let lost = ["a", "b", "c"].into_iter().enumerate().filter(|(at, _)| *at != cancelled);
            let lost: Vec<String> = lost.map(|(_, name)| format!("{name}: lost TimedOut")).collect();
            harness.at(1400);
            let mut heard = harness.take_events();
            heard.sort();
            assert_eq!(heard, lost);
            assert_eq!((harness.client.pending(), harness.deadline), (0, None));
            harness.discard();
        });
    }
}

#[test]
fn progress_extends_a_timeout_once_and_only_its_own() {
    Setup::automatic().connected(|harness| {
        harness.call("a", DEFAULT.with_progress()).unwrap();
        harness.at(100).call("b", DEFAULT.with_progress()).unwrap();
        harness.at(500);
        progress(harness, "@a", "3");
        harness.events(&["a: 3"]);
        assert_eq!(harness.deadline, Some(1100), "the other request's deadline");
        harness.at(1099).server_sends(r#"{"id":@b,"result":{}}"#).events(&["b: result {}"]);
        assert_eq!(harness.deadline, Some(1500));
        // Equal or lower progress emits an event, but does not extend the timeout. Invalid progress does not extend the
        // timeout either.
        for (at, token, value, heard) in [
            (1150, "@a", "3.0", &["a: 3"][..]),
            (1200, "@a", "30e-1", &["a: 3"][..]),
            (1250, "@a", "2.99", &["a: 2.99"][..]),
            (1300, "@a", "-4", &["a: -4"][..]),
            (1310, "@a", "-3", &["a: -3"][..]),
            (1320, "@a", "3", &["a: 3"][..]),
            (1350, "@b", "9", &[]),
            (1400, "@a0", "9", &["fault UnknownProgress"][..]),
            (1450, "@a", "\"9\"", &["fault InvalidParams"][..]),
        ] {
            harness.at(at);
            progress(harness, token, value);
            harness.events(heard);
            assert_eq!(harness.deadline, Some(1500), "{value} at {at}");
        }
        harness.at(1499);
        progress(harness, "@a", "3.01");
        harness.take_events();
        assert_eq!(harness.deadline, Some(2499));
        harness.discard();
        stays(harness, 2499);
        harness.at(2499).events(&["a: lost TimedOut"]).discard();
    });
}

fn page(cursor: Option<&str>) -> String {
    let cursor = cursor.map_or(String::new(), |cursor| format!(r#","nextCursor":"{cursor}""#));
    format!(r#"{{"id":@list,"result":{{"tools":[{{"name":"t"}}]{cursor}}}}}"#)
}

/// Each case lists the cursors of the pages. The last two cursors are equal.
#[test]
fn repeated_cursor_ends_a_list_at_any_page() {
    let cursors: [&[&str]; 4] =
        [&["x", "x"], &["x", "y", "y"], &["x", "y", "x", "x"], &["a", "b", "c", "d", "d"]];
    for cursors in cursors {
        for meta in [None, Some(r#"{"a":1}"#), Some(r#"{"long":"0123456789012345678901234567890"}"#)] {
            let _context = FailureContext(format!("{cursors:?} {meta:?}"));
            Setup::automatic().connected(|harness| {
                let options = meta.map_or(DEFAULT, |meta| DEFAULT.meta(meta));
                let ticket = harness.client.list_tools(options).unwrap();
                harness.name(ticket, "list");
                let (last, before) = cursors.split_last().unwrap();
                for (at, cursor) in before.iter().enumerate() {
                    harness.at(10 * at as u64).server_sends(&page(Some(cursor))).events(&["list: t, .."]);
                    assert!(harness.client.is_pending(ticket));
                }
                harness.server_sends(&page(Some(last))).events(&["list: t, ..", "list: lost EndlessList"]);
                let sent = harness.take_sent_lines();
                assert_eq!(sent.len(), cursors.len(), "each received page has a request: {sent:?}");
                assert_eq!((harness.client.pending(), harness.deadline), (0, None));
                harness.server_sends(&page(Some("z"))).events(&[]).at(9000).events(&[]).sent(&[]);
            });
        }
    }
}

#[test]
fn page_timeout_starts_with_its_request() {
    Setup::automatic().connected(|harness| {
        harness.list();
        let mut deadline = 1000;
        for cursor in ["a", "b", "c", "d"] {
            // The page arrives one millisecond before the deadline.
            stays(harness, deadline);
            harness.server_sends(&page(Some(cursor))).events(&["list: t, .."]);
            deadline += 999;
            assert_eq!(harness.deadline, Some(deadline));
        }
        stays(harness, deadline);
        harness.at(deadline).events(&["list: lost TimedOut"]).discard();
    });
}

/// The output is full, so the client cannot request the next page immediately.
#[test]
fn page_timeout_restarts_when_its_request_is_written() {
    let patient = DEFAULT.timeout(Millis(90_000)).maximum(Millis(90_000));
    for (maximum, expected) in [(5000, 1400), (1200, 1200)] {
        Setup { tx: 800, ..Setup::handshake() }.run(|harness| {
            harness.connect();
            let ticket = harness.client.list_tools(DEFAULT.maximum(Millis(maximum))).unwrap();
            harness.name(ticket, "list");
            harness.peer_reads(false);
            let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(150));
            while harness.client.call_json("filler", &arguments, patient).is_ok() {}
            harness.at(200).server_sends(&page(Some(&"c".repeat(60)))).events(&["list: t, .."]);
            assert_eq!(harness.deadline, Some(1200), "waiting for space counts for the timeout");
            harness.at(300);
            assert_eq!(harness.deadline, Some(1200));
            harness.peer_reads(true);
            harness.at(400).discard();
            assert_eq!(harness.deadline, Some(expected));
            stays(harness, expected);
            harness.at(expected).events(&["list: lost TimedOut"]).discard();
        });
    }
}

fn resume(harness: &mut ClientHarness, ticket: Ticket) -> Result<(), SendError> {
    let resumed = harness.client.resume_call_json(ticket, "add", "{}", |_| {});
    harness.pump();
    resumed
}

const ASKS: &str = r#"{"id":@add,"result":{"resultType":"input_required","requestState":"s"}}"#;

#[test]
fn progress_restarts_with_each_retry_and_old_tokens_are_unknown() {
    // Progress of the second round: equal to the progress of the first round, or lower.
    for value in ["5", "4", "0", "-1"] {
        Setup::automatic().run(|harness| {
            harness.connect();
            let ticket = harness.call("add", DEFAULT.with_progress()).unwrap();
            let first = harness.message("@add");
            harness.at(100);
            progress(harness, "@add", "5");
            harness.events(&["add: 5"]);
            assert_eq!(harness.deadline, Some(1100));
            harness.at(200).server_sends(ASKS).events(&["add: needs [] and a state"]);
            assert_eq!(
                harness.deadline,
                Some(5000),
                "while the application decides, only the maximum timeout runs"
            );
            progress(harness, &first, "6");
            harness.events(&[]);
            harness.at(300);
            resume(harness, ticket).unwrap();
            assert_eq!(harness.deadline, Some(1300));
            harness.at(400);
            progress(harness, &first, "7");
            harness.events(&[]);
            assert_eq!(harness.deadline, Some(1300));
            progress(harness, "@add", value);
            harness.events(&[&format!("add: {value}")]);
            assert_eq!(harness.deadline, Some(1400));
            // After the first progress of the round, only higher progress extends the timeout.
            harness.at(500);
            progress(harness, "@add", value);
            harness.events(&[&format!("add: {value}")]);
            assert_eq!(harness.deadline, Some(1400));
            harness.discard();
            stays(harness, 1400);
            harness.at(1400).events(&["add: lost TimedOut"]).discard();
        });
    }
}

/// A refused `resume` changes nothing. The accepted `resume` starts the timeout.
#[test]
fn refused_resume_starts_no_timeout() {
    Setup::automatic().run(|harness| {
        harness.connect();
        let ticket = harness.call("add", DEFAULT.with_progress()).unwrap();
        harness.at(200).server_sends(ASKS).events(&["add: needs [] and a state"]);
        for at in [300, 400] {
            harness.at(at);
            let unasked =
                harness.client.resume_call_json(ticket, "add", "{}", |answers| answers.decline("a"));
            assert_eq!(unasked, Err(SendError::Invalid));
            harness.pump();
            assert_eq!(harness.deadline, Some(5000));
            progress(harness, "@add", "1");
            harness.events(&[]);
        }
        harness.at(500);
        resume(harness, ticket).unwrap();
        assert_eq!(harness.deadline, Some(1500));
        harness.discard();
        stays(harness, 1500);
        // The maximum timeout covers all rounds, and starts once.
        for at in [1499, 2498, 3497, 4496] {
            harness.at(at).server_sends(ASKS).events(&["add: needs [] and a state"]);
            assert_eq!(harness.deadline, Some(5000), "at {at}");
            if resume(harness, ticket).is_ok() {
                assert_eq!(harness.deadline, Some((at + 1000).min(5000)), "at {at}");
            }
        }
        harness.at(5000).events(&["add: lost TimedOut"]).discard();
    });
}

#[test]
fn progress_of_a_call_does_not_count_for_its_repetition() {
    Setup { slots: 1, text: 128, ..Setup::automatic() }.connected(|harness| {
        harness.call("add", DEFAULT.with_progress()).unwrap();
        let first = harness.message("@add");
        harness.at(900);
        progress(harness, "@add", "100");
        harness.at(1900).events(&["add: 100", "add: lost TimedOut"]);
        // The application repeats the call, in the same slot.
        harness.call("add", DEFAULT.with_progress()).unwrap();
        assert_eq!(harness.deadline, Some(2900));
        harness.at(2000);
        progress(harness, &first, "101");
        harness.events(&[]);
        assert_eq!(harness.deadline, Some(2900));
        progress(harness, "@add", "1");
        harness.events(&["add: 1"]);
        assert_eq!(harness.deadline, Some(3000));
        harness.discard();
        stays(harness, 3000);
        harness.at(3000).events(&["add: lost TimedOut"]).discard();
    });
}

const PINGS: KeepAlive = KeepAlive { interval: Millis(100), timeout: Millis(40), close: false };

/// Returns the ids of the pings since the last call.
fn pings(harness: &mut ClientHarness) -> Vec<String> {
    let sent = harness.take_sent_lines();
    let values = sent.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let ids =
        values.filter(|it| it.get("method").is_some()).filter_map(|it| Some(it["id"].as_str()?.to_owned()));
    ids.collect()
}

fn pinged(dialogue: impl Fn(&mut ClientHarness)) {
    Setup { keep_alive: Some(PINGS), ..Setup::automatic() }.lines_only().connected(dialogue);
}

#[test]
fn every_line_of_the_server_postpones_the_ping() {
    let long = format!(r#"{{"method":"x","params":"{}"}}"#, "x".repeat(20_000));
    let lines = [
        r#"{"method":"x"}"#,
        r#"{"id":7,"method":"ping"}"#,
        r#"{"id":777777,"result":{}}"#,
        r#"{"id":"ping-1","result":{}}"#,
        r#"{"method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        "garbage",
        "{}",
        "[]",
        &long,
    ];
    for line in lines {
        let _context = FailureContext(line.chars().take(80).collect());
        pinged(|harness| {
            // One millisecond before each due ping.
            for at in [99, 198, 297] {
                harness.at(at);
                assert_eq!(pings(harness), [""; 0]);
                harness.server_sends(line);
                assert_eq!(harness.deadline, Some(at + 100));
            }
            harness.at(396);
            assert_eq!(pings(harness), [""; 0]);
            harness.at(397);
            assert_eq!(pings(harness), ["ping-1"]);
            harness.discard();
        });
    }
}

#[test]
fn due_ping_is_sent_even_if_a_line_arrives_at_that_moment() {
    pinged(|harness| {
        harness.at(99);
        harness.now = 100;
        harness.server_sends(r#"{"method":"x"}"#).events(&["notified x"]);
        assert_eq!(pings(harness), ["ping-1"]);
        harness.at(139).events(&[]).at(140).events(&["silent"]).discard();
    });
}

#[test]
fn only_the_ping_response_ends_the_wait() {
    let others = [
        r#"{"method":"x"}"#,
        r#"{"id":777777,"result":{}}"#,
        r#"{"id":"ping-1","result":{}}"#,
        r#"{"id":"ping-3","result":{}}"#,
        r#"{"id":"ping-02","result":{}}"#,
        r#"{"id":"ping-+2","result":{}}"#,
        r#"{"id":"ping-2.0","result":{}}"#,
        r#"{"id":"ping--2","result":{}}"#,
        r#"{"id":"ping-","result":{}}"#,
        r#"{"id":"ping- 2","result":{}}"#,
        r#"{"id":"PING-2","result":{}}"#,
        r#"{"id":"ping-4294967298","result":{}}"#,
        r#"{"id":2,"result":{}}"#,
        r#"{"id":"2","result":{}}"#,
    ];
    for other in others {
        let _context = FailureContext(other.to_owned());
        pinged(|harness| {
            harness.at(100);
            assert_eq!(pings(harness), ["ping-1"]);
            harness.server_sends(r#"{"id":"ping-1","result":{}}"#).events(&[]);
            harness.at(200);
            assert_eq!(pings(harness), ["ping-2"]);
            for at in [210, 239] {
                harness.at(at).server_sends(other).discard();
                assert_eq!(harness.deadline, Some(240));
            }
            harness.at(240).events(&["silent"]);
            // The next ping follows with a new id.
            harness.at(339).sent(&[]).at(340);
            assert_eq!(pings(harness), ["ping-3"]);
            harness.server_sends(r#"{"id":"ping-2","result":{}}"#).events(&[]);
            harness.server_sends(r#"{"id":"ping-3","error":{"code":1,"message":"m"}}"#).events(&[]);
            harness.at(439).events(&[]).sent(&[]).at(440);
            assert_eq!(pings(harness), ["ping-4"]);
            harness.discard();
        });
    }
}

#[test]
fn value_similar_to_a_ping_id_is_no_match() {
    pinged(|harness| {
        harness.at(100);
        assert_eq!(pings(harness), ["ping-1"]);
        for id in ["ping-01", "ping-+1", "ping-1.0", "ping-", "ping-0", "ping-2", "ping-4294967297"] {
            harness.server_sends(&format!(r#"{{"id":"{id}","result":{{}}}}"#));
            assert_eq!(harness.take_events(), ["fault UnknownResponse"], "{id}");
        }
        harness.at(140).events(&["silent"]).discard();
    });
}

/// Ping ids continue on the next connection.
///
/// So a late response from the old connection matches no ping.
#[test]
fn ping_of_the_old_connection_is_not_answered_on_the_next() {
    pinged(|harness| {
        harness.at(100);
        assert_eq!(pings(harness), ["ping-1"]);
        harness.reconnect().events(&[]);
        // The client sends no ping before it has connected again.
        harness.at(150).events(&[]);
        harness.connect();
        assert_eq!(harness.deadline, Some(250));
        harness.at(250);
        assert_eq!(pings(harness), ["ping-2"]);
        harness.server_sends(r#"{"id":"ping-1","result":{}}"#).events(&[]);
        harness.at(290).events(&["silent"]).discard();
    });
}
