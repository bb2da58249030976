//! Event ids, priming events, and streams that a client resumes.

use super::support::{Harness, Request, Sizes, old_call};
use mcp_proto::server::Change;
use mcp_proto_http::server::{HttpConfig, SessionMode};

const HTTP: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sessions);

fn harness() -> Harness {
    Harness::with_sizes(HTTP, Sizes { replay: 2000, ..Sizes::default() })
}

fn resume(session: &str, id: &str) -> Request {
    Request::new("GET").with("mcp-session-id", session).with("last-event-id", id)
}

/// B-S17, B-S18, D-S2, D-S4, D-S7: the server sends priming events only in revisions from 2025-11-25 on.
#[test]
fn events_have_unique_ids_and_a_priming_event() {
    for (revision, primes) in [("2025-06-18", false), ("2025-11-25", true)] {
        let mut harness = harness();
        let session = harness.initialize(revision);
        let mut all = Vec::new();
        for id in 0..2 {
            let reply = harness.ask(&Request::old(old_call(id, "progress"), &session));
            assert_eq!(reply.body.contains("\nretry: 1000\ndata:\n\n"), primes, "{reply:?}");
            assert_eq!(reply.ids().len(), if primes { 4 } else { 3 });
            all.extend(reply.ids());
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        // E-S22: events of 2026-07-28 have no ids.
        assert!(harness.ask(&Request::call(1, "progress")).ids().is_empty());
    }
}

/// B-S19, B-S20, B-C9, D-S3, D-C3: a client resumes a running stream, and gets the events after the one that it names.
#[test]
fn running_stream_is_resumed() {
    let mut harness = harness();
    let session = harness.initialize("2025-11-25");
    let call = |id| Request::old(old_call(id, "defer"), &session);
    let ids = [harness.send(&call(1)).unwrap(), harness.send(&call(2)).unwrap()];
    for number in [0, 1] {
        harness.progress(number, 1);
    }
    let seen = harness.reply(ids[0]).ids();
    harness.http.close(ids[0]);
    harness.run();
    harness.progress(0, 2);
    harness.progress(1, 2);
    let resumed = harness.send(&resume(&session, &seen[0])).unwrap();
    let events = harness.reply(resumed).events();
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[0].contains(r#""progress":1"#) && events[1].contains(r#""progress":2"#));
    assert!(!harness.reply(resumed).ended);
    harness.respond(0);
    let reply = harness.reply(resumed);
    assert!(reply.ended && reply.events()[2].contains(r#""id":1,"result""#), "{reply:?}");
    assert!(harness.reply(ids[1]).events().len() == 3);

    // The response to a resumption of a finished stream has the later events, and ends.
    let last = &harness.reply(resumed).ids()[1];
    let again = harness.ask(&resume(&session, last));
    assert!(again.ended && again.events().len() == 1 && again.events()[0].contains("result"), "{again:?}");
    // A resumed stream replaces its old connection, even if this connection is still open.
    let other = harness.reply(ids[1]).ids()[0].clone();
    let taken = harness.send(&resume(&session, &other)).unwrap();
    assert_eq!(harness.reply(taken).events().len(), 2);
    assert!(harness.http.output(ids[1]).is_cut);
    harness.respond(1);
    assert!(harness.reply(taken).ended);
    assert_eq!(harness.http.open_exchanges(), 0);
}

/// B-C9, B-S19: the general stream continues after its connection is lost.
#[test]
fn lost_general_stream_is_resumed_and_continues() {
    let mut harness = harness();
    let session = harness.initialize("2025-11-25");
    let mut stream = harness.send(&Request::new("GET").with("mcp-session-id", &session)).unwrap();
    let mut ids = Vec::new();
    for _ in 0..4 {
        harness.changed(Change::Tools);
        let reply = harness.reply(stream);
        assert!(!reply.ended && reply.events().len() == 1, "{reply:?}");
        ids.extend(reply.ids());
        harness.http.close(stream);
        harness.run();
        stream = harness.send(&resume(&session, ids.last().unwrap())).unwrap();
        assert!(!harness.reply(stream).ended);
    }
    // The client resumes after the first event. The server sends the later events again, and the stream continues.
    harness.http.close(stream);
    harness.run();
    stream = harness.send(&resume(&session, &ids[0])).unwrap();
    harness.changed(Change::Tools);
    let reply = harness.reply(stream);
    assert_eq!(reply.ids()[..ids.len() - 1], ids[1..]);
    assert!(!ids.contains(reply.ids().last().unwrap()) && reply.ids().len() == ids.len(), "{reply:?}");
    assert_eq!(harness.http.open_exchanges(), 1);
}

/// D-S3, D-S4, D-C1: a long call needs no connection.
#[test]
fn call_releases_its_connection_and_keeps_its_stream() {
    let mut harness = harness();
    let session = harness.initialize("2025-11-25");
    let mut id = harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
    let ticket = harness.tickets[0];
    let mut last = String::new();
    for round in 1..4 {
        if round > 1 {
            id = harness.send(&resume(&session, &last)).unwrap();
        }
        harness.progress(0, round);
        assert!(harness.http.release_connection(&harness.server, ticket));
        harness.run();
        let reply = harness.reply(id);
        assert!(reply.ended && !reply.cut && !reply.body.contains("result"), "{reply:?}");
        assert_eq!(reply.body.matches("retry: 1000\n").count(), usize::from(round == 1));
        last = reply.ids().last().unwrap().clone();
        assert_eq!(harness.http.open_exchanges(), 1);
    }
    harness.respond(0);
    let reply = harness.ask(&resume(&session, &last));
    assert!(reply.ended && reply.events().len() == 1 && reply.body.contains("late"), "{reply:?}");
    // Clients of 2025-06-18 and of 2026-07-28 do not connect again, so the server keeps their connections.
    let old = harness.initialize("2025-06-18");
    harness.send(&Request::old(old_call(1, "defer"), &old)).unwrap();
    harness.send(&Request::call(1, "defer")).unwrap();
    assert!(
        harness.tickets[1..].iter().all(|ticket| !harness.http.release_connection(&harness.server, *ticket))
    );
}

/// The client resumes before the server has closed the released connection. With `is_lost`, the connection was lost
/// before.
#[test]
fn connection_lost_before_its_release_is_not_released_again() {
    for is_lost in [false, true] {
        let mut harness = harness();
        let session = harness.initialize("2025-11-25");
        let id = harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
        harness.progress(0, 1);
        let last = harness.reply(id).ids().last().unwrap().clone();
        harness.stalled.push(id);
        harness.progress(0, 2);
        assert!(harness.http.release_connection(&harness.server, harness.tickets[0]));
        if is_lost {
            harness.http.close(id);
        }
        harness.run();
        let resumed = harness.send(&resume(&session, &last)).unwrap();
        let reply = harness.reply(resumed);
        assert!(reply.events().len() == 1 && !reply.ended, "{is_lost}: {reply:?}");
        harness.respond(0);
        assert!(harness.reply(resumed).body.contains("late"));
    }
}

/// An unknown id is refused, and events of another session stay secret.
#[test]
fn unknown_event_id_is_refused() {
    let mut harness = harness();
    let (session, other) = (harness.initialize("2025-11-25"), harness.initialize("2025-11-25"));
    let id = harness.ask(&Request::old(old_call(1, "progress"), &session)).ids()[0].clone();
    for (session, id) in [(&other, id.as_str()), (&session, "999-1"), (&session, "1-999")] {
        assert_eq!(harness.ask(&resume(session, id)).status, 400, "{id}");
    }
    assert_eq!(harness.ask(&resume(&session, "x")).status, 400);
    assert_eq!(harness.ask(&resume(&session, &id)).events().len(), 3);
    // Without a replay buffer, the server ignores the id: the response is the general stream.
    let mut plain = Harness::new(HTTP);
    let session = plain.initialize("2025-11-25");
    assert!(!plain.ask(&resume(&session, &id)).ended);
}

#[test]
fn newest_events_replace_the_oldest() {
    for size in [150, 333, 500, 777] {
        let mut harness = Harness::with_sizes(HTTP, Sizes { replay: size, ..Sizes::default() });
        let session = harness.initialize("2025-11-25");
        let call = harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
        harness.progress(0, 1);
        let first = harness.reply(call).ids()[0].clone();
        for amount in 2..40 {
            harness.progress(0, amount);
            let resumed = harness.send(&resume(&session, &first)).unwrap();
            let events = harness.reply(resumed).events();
            let newest = format!(r#""progress":{amount}}}"#);
            assert!(!events.is_empty() && events.len() <= size / 50, "{size} {amount}");
            assert!(events.last().unwrap().contains(&newest), "{size} {amount}: {events:?}");
        }
    }
}

/// A client that gets a part of the stored events resumes again, and misses no event.
#[test]
fn events_that_do_not_fit_yet_are_sent_after_the_next_resumption() {
    let mut harness = Harness::with_sizes(HTTP, Sizes { replay: 8000, output: 1024, ..Sizes::default() });
    let session = harness.initialize("2025-11-25");
    let call = harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
    harness.progress(0, 0);
    let mut last = harness.reply(call).ids().last().unwrap().clone();
    harness.http.close(call);
    harness.run();
    let mut seen = Vec::new();
    for round in 0..6 {
        for number in 0..10 {
            harness.progress(0, 1 + round * 10 + number);
        }
        if round == 5 {
            harness.respond(0);
        }
        // The client resumes until a stream stays open, or until it has the response.
        for _ in 0..20 {
            let resumed = harness.send(&resume(&session, &last)).unwrap();
            let reply = harness.reply(resumed);
            seen.extend(reply.events());
            last = reply.ids().last().unwrap_or(&last).clone();
            if !reply.ended || reply.body.contains("result") {
                harness.http.close(resumed);
                harness.run();
                break;
            }
        }
    }
    assert_eq!(seen.len(), 61, "{seen:#?}");
    for (number, event) in (1..61).zip(&seen) {
        assert!(event.contains(&format!(r#""progress":{number}}}"#)), "{number}: {event}");
    }
    assert!(seen[60].contains("result"));
    assert_eq!(harness.http.open_exchanges(), 0);
}

#[test]
fn general_stream_continues_after_all_stored_events() {
    let mut harness = Harness::with_sizes(HTTP, Sizes { replay: 8000, output: 1024, ..Sizes::default() });
    let session = harness.initialize("2025-11-25");
    let stream = harness.send(&Request::new("GET").with("mcp-session-id", &session)).unwrap();
    for _ in 0..30 {
        harness.changed(Change::Tools);
    }
    let ids = harness.reply(stream).ids();
    assert_eq!(ids.len(), 30);
    harness.http.close(stream);
    harness.run();
    let mut seen = vec![ids[0].clone()];
    let stream = loop {
        let stream = harness.send(&resume(&session, seen.last().unwrap())).unwrap();
        seen.extend(harness.reply(stream).ids());
        if !harness.reply(stream).ended {
            break stream;
        }
    };
    assert_eq!(seen, ids);
    let before = harness.reply(stream).events().len();
    harness.changed(Change::Tools);
    assert_eq!(harness.reply(stream).events().len(), before + 1);
}

/// D-S3: the connection that a client replaces still has unread events, which take most of the output buffer.
#[test]
fn unread_output_of_a_replaced_connection_is_released() {
    for is_general in [false, true] {
        let sizes = Sizes { exchanges: 3, replay: 8000, output: 1024, ..Sizes::default() };
        let mut harness = Harness::with_sizes(HTTP, sizes);
        let session = harness.initialize("2025-11-25");
        let request = match is_general {
            true => Request::new("GET").with("mcp-session-id", &session),
            false => Request::old(old_call(1, "defer"), &session),
        };
        let add = |harness: &mut Harness, number| match is_general {
            true => harness.changed(Change::Tools),
            false => harness.progress(0, number),
        };
        let old = harness.send(&request).unwrap();
        add(&mut harness, 0);
        let last = harness.reply(old).ids().last().unwrap().clone();
        harness.stalled.push(old);
        for number in 1..6 {
            add(&mut harness, number);
        }
        // With `is_general`, this is the second stream without a call. The server permits no third one, because it
        // would leave no exchange for calls. The resumption below succeeds, because its stream is not a new one.
        harness.send(&Request::new("GET").with("mcp-session-id", &session)).unwrap();
        let resumed = harness.send(&resume(&session, &last)).unwrap();
        let reply = harness.reply(resumed);
        assert!(reply.events().len() == 5 && !reply.ended, "{reply:?}");
        assert!(harness.http.output(old).is_cut);
        add(&mut harness, 6);
        assert_eq!(harness.reply(resumed).events().len(), 6);
        assert_eq!(harness.http.open_exchanges(), 2);
    }
}

/// D-S3: a partial response ends the connection that the client replaces.
#[test]
fn partial_response_replaces_the_connection() {
    for is_general in [false, true] {
        let sizes = Sizes { replay: 8000, output: 1024, ..Sizes::default() };
        let mut harness = Harness::with_sizes(HTTP, sizes);
        let session = harness.initialize("2025-11-25");
        let request = match is_general {
            true => Request::new("GET").with("mcp-session-id", &session),
            false => Request::old(old_call(1, "defer"), &session),
        };
        let mut stream = harness.send(&request).unwrap();
        for number in 0..30 {
            match is_general {
                true => harness.changed(Change::Tools),
                false => harness.progress(0, number),
            }
        }
        let ids = harness.reply(stream).ids();
        let mut seen = vec![ids[0].clone()];
        loop {
            let resumed = harness.send(&resume(&session, seen.last().unwrap())).unwrap();
            assert!(harness.http.output(stream).is_cut);
            stream = resumed;
            seen.extend(harness.reply(stream).ids());
            assert_eq!(
                harness.http.open_exchanges(),
                usize::from(!is_general || !harness.reply(stream).ended)
            );
            if !harness.reply(stream).ended {
                break;
            }
        }
        assert_eq!(seen[1..], ids[ids.len() - (seen.len() - 1)..]);
    }
}

/// A partial response on the stream of a call needs a second exchange. On the general stream, the exchange of the
/// stream suffices.
#[test]
fn refused_resumption_keeps_the_running_stream() {
    for is_general in [false, true] {
        let sizes = Sizes { exchanges: 3, replay: 8000, output: 1024, ..Sizes::default() };
        let mut harness = Harness::with_sizes(HTTP, sizes);
        let session = harness.initialize("2025-11-25");
        let get = Request::new("GET").with("mcp-session-id", &session);
        let request = if is_general { get.clone() } else { Request::old(old_call(1, "defer"), &session) };
        let running = harness.send(&request).unwrap();
        for number in 0..30 {
            match is_general {
                true => harness.changed(Change::Tools),
                false => harness.progress(0, number),
            }
        }
        let first = harness.reply(running).ids()[0].clone();
        for id in [10, 11] {
            harness.send(&Request::old(old_call(id, "defer"), &session)).unwrap();
        }
        let resumed = harness.ask(&resume(&session, &first));
        assert_eq!(resumed.status, if is_general { 200 } else { 503 }, "{resumed:?}");
        assert_eq!(harness.http.output(running).is_cut, is_general);
        if !is_general {
            harness.respond(0);
            let reply = harness.reply(running);
            assert!(reply.ended && !reply.cut && reply.body.contains("late"), "{reply:?}");
        }
    }
}

/// A client cannot choose the number of an event: a number that the stream has not reached begins a new stream.
#[test]
fn event_numbers_increase_after_an_unknown_id() {
    for id in ["g1-4294967295", "g1-4294967294", "g999-1"] {
        for has_events in [false, true] {
            let mut harness = harness();
            let session = harness.initialize("2025-11-25");
            let mut known = Vec::new();
            if has_events {
                let stream = harness.send(&Request::new("GET").with("mcp-session-id", &session)).unwrap();
                harness.changed(Change::Tools);
                known = harness.reply(stream).ids();
                harness.http.close(stream);
                harness.run();
            }
            let id = match has_events {
                true => id.replace("g1-", &known[0].replace("-1", "-")),
                false => id.to_string(),
            };
            let stream = harness.send(&resume(&session, &id)).unwrap();
            harness.changed(Change::Tools);
            harness.changed(Change::Tools);
            let ids = harness.reply(stream).ids();
            let numbers: Vec<u32> =
                ids.iter().map(|id| id.split_once('-').unwrap().1.parse().unwrap()).collect();
            assert_eq!(numbers, [1, 2], "{id}: {ids:?}");
            assert!(known.iter().all(|id| !ids.contains(id)), "{id}: {ids:?}");
        }
    }
}
