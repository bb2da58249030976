//! Times of a client: when a timeout starts, what extends it, how lists and rounds go on, and when a server is pinged.
mod wire;

use mcp_proto::client::Options;
use mcp_proto::{KeepAlive, Millis, SendError, Ticket};
use wire::{Setup, ShownOnFailure, Wire};

const DEFAULT: Options = Options::DEFAULT;

fn progress(wire: &mut Wire, token: &str, value: &str) {
    wire.server(&format!(
        r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":{value}}}}}"#
    ));
}

/// The deadline stays the same, however often the client is polled until then.
#[track_caller]
fn stays(wire: &mut Wire, deadline: u64) {
    let (from, step) = (wire.now, (deadline - wire.now) / 7);
    for at in (0..7).map(|n| from + n * step).chain([deadline - 1]) {
        wire.at(at);
        assert_eq!(wire.deadline, Some(deadline), "at {at}");
    }
}

#[test]
fn the_timeout_of_a_request_starts_once() {
    for options in [DEFAULT, DEFAULT.with_progress()] {
        Setup::automatic().connected(|wire| {
            let ticket = wire.client.call_json("a", "{}", options).unwrap();
            wire.name_only(ticket, "a");
            // At the first poll after it was sent.
            wire.at(400).forget();
            stays(wire, 1400);
            wire.heard(&[]).at(1400).heard(&["a: lost TimedOut"]).forget();
        });
    }
}

#[test]
fn the_timeout_of_a_request_does_not_start_again_with_another_one() {
    Setup::automatic().connected(|wire| {
        wire.call("a", DEFAULT).unwrap();
        for at in (100..1000).step_by(100) {
            wire.at(at);
            let other = wire.call("other", DEFAULT).unwrap();
            assert_eq!(wire.deadline, Some(1000), "begun at {at}");
            match at % 300 {
                0 => _ = wire.server(r#"{"id":@other,"result":{}}"#).heard(&["other: result {}"]),
                100 => wire.cancel(other, "why"),
                _ => _ = wire.server(r#"{"id":@other}"#).heard(&["other: lost Invalid"]),
            }
            assert_eq!(wire.deadline, Some(1000), "ended at {at}");
        }
        wire.at(1000).heard(&["a: lost TimedOut"]).forget();
    });
}

/// Requests are begun without a poll in between, and some of them end before it: the time of the others starts with the poll.
#[test]
fn the_timeouts_of_several_requests_start_together_at_the_next_poll() {
    for cancelled in 0..3 {
        Setup::automatic().connected(|wire| {
            let tickets = ["a", "b", "c"].map(|name| {
                let ticket = wire.client.call_json(name, "{}", DEFAULT.with_progress()).unwrap();
                wire.name_only(ticket, name);
                ticket
            });
            wire.now = 400;
            wire.cancel(tickets[cancelled], "why");
            wire.forget();
            stays(wire, 1400);
            let lost = ["a", "b", "c"].into_iter().enumerate().filter(|(at, _)| *at != cancelled);
            let lost: Vec<String> = lost.map(|(_, name)| format!("{name}: lost TimedOut")).collect();
            wire.at(1400);
            let mut heard = wire.heard_now();
            heard.sort();
            assert_eq!(heard, lost);
            assert_eq!((wire.client.pending(), wire.deadline), (0, None));
            wire.forget();
        });
    }
}

#[test]
fn progress_extends_a_timeout_once_and_only_its_own() {
    Setup::automatic().connected(|wire| {
        wire.call("a", DEFAULT.with_progress()).unwrap();
        wire.at(100).call("b", DEFAULT.with_progress()).unwrap();
        wire.at(500);
        progress(wire, "@a", "3");
        wire.heard(&["a: 3"]);
        assert_eq!(wire.deadline, Some(1100), "that of the other one");
        wire.at(1099).server(r#"{"id":@b,"result":{}}"#).heard(&["b: result {}"]);
        assert_eq!(wire.deadline, Some(1500));
        // Equal and lower progress is shown, and extends nothing; nor does what is no progress of this request.
        for (at, token, value, heard) in [
            (1150, "@a", "3.0", "a: 3"),
            (1200, "@a", "30e-1", "a: 3"),
            (1250, "@a", "2.99", "a: 2.99"),
            (1300, "@a", "-4", "a: -4"),
            (1310, "@a", "-3", "a: -3"),
            (1320, "@a", "3", "a: 3"),
            (1350, "@b", "9", "fault UnknownProgress"),
            (1400, "@a0", "9", "fault UnknownProgress"),
            (1450, "@a", "\"9\"", "fault InvalidParams"),
        ] {
            wire.at(at);
            progress(wire, token, value);
            wire.heard(&[heard]);
            assert_eq!(wire.deadline, Some(1500), "{value} at {at}");
        }
        wire.at(1499);
        progress(wire, "@a", "3.01");
        wire.heard_now();
        assert_eq!(wire.deadline, Some(2499));
        wire.forget();
        stays(wire, 2499);
        wire.at(2499).heard(&["a: lost TimedOut"]).forget();
    });
}

fn page(cursor: Option<&str>) -> String {
    let cursor = cursor.map_or(String::new(), |cursor| format!(r#","nextCursor":"{cursor}""#));
    format!(r#"{{"id":@list,"result":{{"tools":[{{"name":"t"}}]{cursor}}}}}"#)
}

/// The cursors of the pages, the last of which repeats the one before it.
#[test]
fn a_repeated_cursor_ends_a_list_at_any_page() {
    let cursors: [&[&str]; 4] =
        [&["x", "x"], &["x", "y", "y"], &["x", "y", "x", "x"], &["a", "b", "c", "d", "d"]];
    for cursors in cursors {
        for meta in [None, Some(r#"{"a":1}"#), Some(r#"{"long":"0123456789012345678901234567890"}"#)] {
            let _shown = ShownOnFailure(format!("{cursors:?} {meta:?}"));
            Setup::automatic().connected(|wire| {
                let options = meta.map_or(DEFAULT, |meta| DEFAULT.meta(meta));
                let ticket = wire.client.list_tools(options).unwrap();
                wire.name(ticket, "list");
                let (last, before) = cursors.split_last().unwrap();
                for (at, cursor) in before.iter().enumerate() {
                    wire.at(10 * at as u64).server(&page(Some(cursor))).heard(&["list: t, .."]);
                    assert!(wire.client.is_pending(ticket));
                }
                wire.server(&page(Some(last))).heard(&["list: t, ..", "list: lost EndlessList"]);
                let sent = wire.sent_lines();
                assert_eq!(sent.len(), cursors.len(), "a request for each page that has come: {sent:?}");
                assert_eq!((wire.client.pending(), wire.deadline), (0, None));
                wire.server(&page(Some("z"))).heard(&[]).at(9000).heard(&[]).sent(&[]);
            });
        }
    }
}

#[test]
fn the_time_of_a_page_starts_when_it_is_asked_for() {
    Setup::automatic().connected(|wire| {
        wire.list();
        let mut deadline = 1000;
        for cursor in ["a", "b", "c", "d"] {
            // One millisecond before it is over.
            stays(wire, deadline);
            wire.server(&page(Some(cursor))).heard(&["list: t, .."]);
            deadline += 999;
            assert_eq!(wire.deadline, Some(deadline));
        }
        stays(wire, deadline);
        wire.at(deadline).heard(&["list: lost TimedOut"]).forget();
    });
}

/// The page cannot be asked for at once, because the output is full.
#[test]
fn the_time_of_a_page_starts_anew_when_its_request_has_found_room() {
    let patient = DEFAULT.timeout(Millis(90_000)).maximum(Millis(90_000));
    for (maximum, expected) in [(5000, 1400), (1200, 1200)] {
        Setup { tx: 800, ..Setup::handshake() }.run(|wire| {
            wire.connect();
            let ticket = wire.client.list_tools(DEFAULT.maximum(Millis(maximum))).unwrap();
            wire.name(ticket, "list");
            wire.reads = false;
            let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(150));
            while wire.client.call_json("filler", &arguments, patient).is_ok() {}
            wire.at(200).server(&page(Some(&"c".repeat(60)))).heard(&["list: t, .."]);
            assert_eq!(wire.deadline, Some(1200), "waiting for room is part of the time");
            wire.at(300);
            assert_eq!(wire.deadline, Some(1200));
            wire.reads = true;
            wire.at(400).forget();
            assert_eq!(wire.deadline, Some(expected));
            stays(wire, expected);
            wire.at(expected).heard(&["list: lost TimedOut"]).forget();
        });
    }
}

fn resume(wire: &mut Wire, ticket: Ticket) -> Result<(), SendError> {
    let resumed = wire.client.resume_call_json(ticket, "add", "{}", |_| {});
    wire.pump();
    resumed
}

const ASKS: &str = r#"{"id":@add,"result":{"resultType":"input_required","requestState":"s"}}"#;

#[test]
fn progress_begins_anew_with_each_round_and_old_tokens_are_unknown() {
    // The progress of the second round: equal, lower, and lower than anything before.
    for value in ["5", "4", "0", "-1"] {
        Setup::automatic().run(|wire| {
            wire.connect();
            let ticket = wire.call("add", DEFAULT.with_progress()).unwrap();
            let first = wire.message("@add");
            wire.at(100);
            progress(wire, "@add", "5");
            wire.heard(&["add: 5"]);
            assert_eq!(wire.deadline, Some(1100));
            wire.at(200).server(ASKS).heard(&["add: needs [] and a state"]);
            assert_eq!(wire.deadline, Some(5000), "only the maximum, while the host thinks");
            progress(wire, &first, "6");
            wire.heard(&["fault UnknownProgress"]);
            wire.at(300);
            resume(wire, ticket).unwrap();
            assert_eq!(wire.deadline, Some(1300));
            wire.at(400);
            progress(wire, &first, "7");
            wire.heard(&["fault UnknownProgress"]);
            assert_eq!(wire.deadline, Some(1300));
            progress(wire, "@add", value);
            wire.heard(&[&format!("add: {value}")]);
            assert_eq!(wire.deadline, Some(1400));
            // From then on it has to grow again.
            wire.at(500);
            progress(wire, "@add", value);
            wire.heard(&[&format!("add: {value}")]);
            assert_eq!(wire.deadline, Some(1400));
            wire.forget();
            stays(wire, 1400);
            wire.at(1400).heard(&["add: lost TimedOut"]).forget();
        });
    }
}

/// A `resume` that is refused changes nothing: the one that is accepted starts the time.
#[test]
fn a_refused_resume_starts_no_time() {
    Setup::automatic().run(|wire| {
        wire.connect();
        let ticket = wire.call("add", DEFAULT.with_progress()).unwrap();
        wire.at(200).server(ASKS).heard(&["add: needs [] and a state"]);
        for at in [300, 400] {
            wire.at(at);
            let unasked = wire.client.resume_call_json(ticket, "add", "{}", |answers| answers.decline("a"));
            assert_eq!(unasked, Err(SendError::Unwritable));
            wire.pump();
            assert_eq!(wire.deadline, Some(5000));
            progress(wire, "@add", "1");
            wire.heard(&["fault UnknownProgress"]);
        }
        wire.at(500);
        resume(wire, ticket).unwrap();
        assert_eq!(wire.deadline, Some(1500));
        wire.forget();
        stays(wire, 1500);
        // The maximum is for all rounds, and starts once.
        for at in [1499, 2498, 3497, 4496] {
            wire.at(at).server(ASKS).heard(&["add: needs [] and a state"]);
            assert_eq!(wire.deadline, Some(5000), "at {at}");
            if resume(wire, ticket).is_ok() {
                assert_eq!(wire.deadline, Some((at + 1000).min(5000)), "at {at}");
            }
        }
        wire.at(5000).heard(&["add: lost TimedOut"]).forget();
    });
}

#[test]
fn progress_of_a_call_does_not_count_for_the_same_call_made_again() {
    Setup { slots: 1, text: 128, ..Setup::automatic() }.connected(|wire| {
        wire.call("add", DEFAULT.with_progress()).unwrap();
        let first = wire.message("@add");
        wire.at(900);
        progress(wire, "@add", "100");
        wire.at(1900).heard(&["add: 100", "add: lost TimedOut"]);
        // The host tries again, in the same slot.
        wire.call("add", DEFAULT.with_progress()).unwrap();
        assert_eq!(wire.deadline, Some(2900));
        wire.at(2000);
        progress(wire, &first, "101");
        wire.heard(&["fault UnknownProgress"]);
        assert_eq!(wire.deadline, Some(2900));
        progress(wire, "@add", "1");
        wire.heard(&["add: 1"]);
        assert_eq!(wire.deadline, Some(3000));
        wire.forget();
        stays(wire, 3000);
        wire.at(3000).heard(&["add: lost TimedOut"]).forget();
    });
}

const PINGS: KeepAlive = KeepAlive { interval: Millis(100), timeout: Millis(40), close: false };

/// The ids of the pings that were sent since the last time.
fn pings(wire: &mut Wire) -> Vec<String> {
    let sent = wire.sent_lines();
    let values = sent.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let ids =
        values.filter(|it| it.get("method").is_some()).filter_map(|it| Some(it["id"].as_str()?.to_owned()));
    ids.collect()
}

fn pinged(dialogue: impl Fn(&mut Wire)) {
    Setup { pings: Some(PINGS), ..Setup::automatic() }.lines_only().connected(dialogue);
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
        let _shown = ShownOnFailure(line.chars().take(80).collect());
        pinged(|wire| {
            // One millisecond before the ping, and again.
            for at in [99, 198, 297] {
                wire.at(at);
                assert_eq!(pings(wire), [""; 0]);
                wire.server(line);
                assert_eq!(wire.deadline, Some(at + 100));
            }
            wire.at(396);
            assert_eq!(pings(wire), [""; 0]);
            wire.at(397);
            assert_eq!(pings(wire), ["ping-1"]);
            wire.forget();
        });
    }
}

#[test]
fn a_ping_that_is_due_is_sent_even_if_a_line_comes_at_that_moment() {
    pinged(|wire| {
        wire.at(99);
        wire.now = 100;
        wire.server(r#"{"method":"x"}"#).heard(&["notified x"]);
        assert_eq!(pings(wire), ["ping-1"]);
        wire.at(139).heard(&[]).at(140).heard(&["silent"]).forget();
    });
}

#[test]
fn only_its_answer_counts_while_a_ping_is_awaited() {
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
        let _shown = ShownOnFailure(other.to_owned());
        pinged(|wire| {
            wire.at(100);
            assert_eq!(pings(wire), ["ping-1"]);
            wire.server(r#"{"id":"ping-1","result":{}}"#).heard(&[]);
            wire.at(200);
            assert_eq!(pings(wire), ["ping-2"]);
            for at in [210, 239] {
                wire.at(at).server(other).forget();
                assert_eq!(wire.deadline, Some(240));
            }
            wire.at(240).heard(&["silent"]);
            // The next ping follows, with an id of its own.
            wire.at(339).sent(&[]).at(340);
            assert_eq!(pings(wire), ["ping-3"]);
            wire.server(r#"{"id":"ping-2","result":{}}"#).heard(&[]);
            wire.server(r#"{"id":"ping-3","error":{"code":1,"message":"m"}}"#).heard(&[]);
            wire.at(439).heard(&[]).sent(&[]).at(440);
            assert_eq!(pings(wire), ["ping-4"]);
            wire.forget();
        });
    }
}

#[test]
fn what_resembles_the_id_of_a_ping_is_no_id() {
    pinged(|wire| {
        wire.at(100);
        assert_eq!(pings(wire), ["ping-1"]);
        for id in ["ping-01", "ping-+1", "ping-1.0", "ping-", "ping-0", "ping-2", "ping-4294967297"] {
            wire.server(&format!(r#"{{"id":"{id}","result":{{}}}}"#));
            assert_eq!(wire.heard_now(), ["fault UnknownResponse"], "{id}");
        }
        wire.at(140).heard(&["silent"]).forget();
    });
}

/// Ids go on over the next connection, so that an answer to a ping of the one before means nothing.
#[test]
fn a_ping_of_the_connection_before_is_not_answered_over_the_next() {
    pinged(|wire| {
        wire.at(100);
        assert_eq!(pings(wire), ["ping-1"]);
        wire.reconnect().heard(&[]);
        // Without a connection nothing is due.
        wire.at(150).heard(&[]);
        wire.connect();
        assert_eq!(wire.deadline, Some(250));
        wire.at(250);
        assert_eq!(pings(wire), ["ping-2"]);
        wire.server(r#"{"id":"ping-1","result":{}}"#).heard(&[]);
        wire.at(290).heard(&["silent"]).forget();
    });
}
