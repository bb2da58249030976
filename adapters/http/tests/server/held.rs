//! Messages for a session that has no event stream: they wait until the client opens a stream.

use super::support::{Harness, Request, Sizes, old_call};
use mcp_proto::server::{Change, RequestOptions};
use mcp_proto_http::server::{HttpConfig, SessionMode};

const HTTP: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sessions);
const URI: &str = "file:///é";

fn get(session: &str) -> Request {
    Request::new("GET").with("mcp-session-id", session)
}

fn resume(session: &str, id: &str) -> Request {
    get(session).with("last-event-id", id)
}

/// Creates a server with one session. The client of the session subscribes to a resource.
fn subscribed(config: HttpConfig<'static>, sizes: Sizes) -> (Harness, String) {
    let mut harness = Harness::with_sizes(config, sizes);
    let session = harness.initialize("2025-11-25");
    subscribe(&mut harness, &session);
    (harness, session)
}

fn subscribe(harness: &mut Harness, session: &str) {
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{{"uri":"{URI}"}}}}"#);
    assert_eq!(harness.ask(&Request::old(text, session)).code(), 0);
}

/// Causes one notification for the session.
fn update(harness: &mut Harness) {
    harness.changed(Change::Resource(URI));
}

/// Makes the server send a request to the client of a session.
fn ping(harness: &mut Harness, session: &str) {
    harness.ask(&Request::old(old_call(1, "echo"), session));
    harness.server.ping(RequestOptions::DEFAULT).unwrap();
    harness.run();
}

fn replay(size: usize) -> Sizes {
    Sizes { replay: size, ..Sizes::default() }
}

/// B-S13, B-S16, B-S18, B-S19: held messages become events of the stream, once each, and can be replayed.
#[test]
fn held_messages_are_sent_when_a_stream_opens() {
    let (mut harness, session) = subscribed(HTTP, replay(2000));
    ping(&mut harness, &session);
    update(&mut harness);
    assert_eq!(harness.http.open_exchanges(), 0);
    let stream = harness.send(&get(&session)).unwrap();
    let reply = harness.reply(stream);
    let events = reply.events();
    assert!(events.len() == 2 && events[0].contains(r#""method":"ping""#), "{reply:?}");
    assert!(events[1].contains("notifications/resources/updated"), "{reply:?}");
    // New events follow the held messages on the stream, and another stream gets no held message.
    update(&mut harness);
    let ids = harness.reply(stream).ids();
    let second = harness.send(&get(&session)).unwrap();
    assert_eq!((ids.len(), harness.reply(second).events().len()), (3, 0));
    harness.http.close(stream);
    harness.run();
    let resumed = harness.send(&resume(&session, &ids[0])).unwrap();
    assert_eq!(harness.reply(resumed).ids(), ids[1..]);
    assert_eq!(harness.http.dropped_messages(), 0);
}

/// B-S19: a client that resumes its stream gets the events that it missed, and then the held messages.
#[test]
fn held_messages_follow_the_replayed_events() {
    let (mut harness, session) = subscribed(HTTP, replay(2000));
    let mut stream = harness.send(&get(&session)).unwrap();
    update(&mut harness);
    update(&mut harness);
    let mut ids = harness.reply(stream).ids();
    for _ in 0..3 {
        harness.http.close(stream);
        harness.run();
        ping(&mut harness, &session);
        stream = harness.send(&resume(&session, &ids[0])).unwrap();
        let reply = harness.reply(stream);
        assert_eq!(reply.ids()[..ids.len() - 1], ids[1..], "{reply:?}");
        assert!(
            reply.ids().len() == ids.len() && reply.events().last().unwrap().contains("ping"),
            "{reply:?}"
        );
        ids.extend(reply.ids().last().cloned());
    }
}

#[test]
fn session_holds_a_limited_number_of_messages() {
    let mut limits = HTTP.get_limits();
    (limits.held, limits.body, limits.page) = (2, 2048, 64);
    let (mut harness, session) = subscribed(HTTP.limits(limits), replay(4000));
    let other = harness.initialize("2025-11-25");
    for count in 0..5 {
        update(&mut harness);
        assert_eq!(harness.http.dropped_messages(), u16::saturating_sub(count, 1));
    }
    // Each session has a separate limit.
    ping(&mut harness, &other);
    assert_eq!(harness.http.dropped_messages(), 3);
    for (session, count) in [(&session, 2), (&other, 1)] {
        let stream = harness.send(&get(session)).unwrap();
        assert_eq!(harness.reply(stream).events().len(), count);
        // After the server has sent these messages, the session can hold further messages.
        harness.http.close(stream);
        harness.run();
        ping(&mut harness, session);
        assert_eq!(harness.http.dropped_messages(), 3);
    }
}

#[test]
fn full_memory_drops_the_oldest_held_messages() {
    for size in [100, 250, 500, 1000] {
        let (mut harness, session) = subscribed(HTTP, replay(size));
        for _ in 0..3 {
            update(&mut harness);
        }
        for _ in 0..5 {
            ping(&mut harness, &session);
        }
        let stream = harness.send(&get(&session)).unwrap();
        let events = harness.reply(stream).events();
        assert_eq!(events.len() + usize::from(harness.http.dropped_messages()), 8, "{size}: {events:?}");
        assert!(events.last().unwrap().contains("ping"), "{size}: {events:?}");
        assert!(events.len() == 8 || size < 1000, "{size}");
        // Events that a stream has sent do not count as dropped when they are removed.
        let dropped = harness.http.dropped_messages();
        for _ in 0..20 {
            update(&mut harness);
        }
        assert_eq!(harness.http.dropped_messages(), dropped, "{size}");
    }
}

#[test]
fn held_messages_wait_for_space_in_their_order() {
    let (mut harness, session) = subscribed(HTTP, Sizes { output: 600, ..replay(4000) });
    for _ in 0..7 {
        ping(&mut harness, &session);
    }
    let stream = harness.begin(&get(&session)).unwrap();
    harness.stalled.push(stream);
    harness.run();
    update(&mut harness);
    harness.stalled.clear();
    harness.read(stream);
    harness.run();
    let events = harness.reply(stream).events();
    assert!(events.len() == 8 && events[7].contains("updated"), "{events:?}");
    assert!(events[..7].iter().all(|event| event.contains("ping")), "{events:?}");
}

/// D-S11, B-S20: the next session in the same slot gets no held message. A held message has no event id, so no
/// `Last-Event-ID` can request it.
#[test]
fn held_messages_end_with_their_session() {
    let (mut harness, session) = subscribed(HTTP, Sizes { sessions: 1, ..replay(2000) });
    update(&mut harness);
    for id in ["0-0", "g0-0"] {
        assert_eq!(harness.ask(&resume(&session, id)).status, 400, "{id}");
    }
    assert_eq!(harness.ask(&Request { method: "DELETE", ..get(&session) }).status, 204);
    let next = harness.initialize("2025-11-25");
    let stream = harness.send(&get(&next)).unwrap();
    assert!(harness.reply(stream).events().is_empty());
    update(&mut harness);
    assert_eq!((harness.reply(stream).events().len(), harness.http.dropped_messages()), (0, 0));
}

#[test]
fn message_without_memory_is_counted_as_dropped() {
    for size in [0, 20] {
        let (mut harness, session) = subscribed(HTTP, replay(size));
        update(&mut harness);
        assert_eq!(harness.http.dropped_messages(), 1);
        let stream = harness.send(&get(&session)).unwrap();
        assert!(harness.reply(stream).events().is_empty());
    }
}

/// B-S19: with a replay buffer, the notification that ends a slow stream is sent when the client resumes the stream.
#[test]
fn notification_that_ends_a_slow_stream_is_not_lost() {
    for size in [4000, 0] {
        let mut limits = HTTP.get_limits();
        (limits.stream, limits.body, limits.page) = (500, 2048, 64);
        let (mut harness, session) = subscribed(HTTP.limits(limits), replay(size));
        let stream = harness.send(&get(&session)).unwrap();
        update(&mut harness);
        let mut ids = harness.reply(stream).ids();
        harness.stalled.push(stream);
        for _ in 0..10 {
            update(&mut harness);
        }
        assert!(harness.reply(stream).cut);
        if size == 0 {
            // The limit of unread output has space for five notifications. The sixth ends the stream, and is dropped
            // like the four after it.
            assert_eq!(harness.http.dropped_messages(), 5);
            continue;
        }
        let resumed = harness.send(&resume(&session, &ids[0])).unwrap();
        let reply = harness.reply(resumed);
        ids.extend(reply.ids());
        assert_eq!((reply.events().len(), harness.http.dropped_messages()), (10, 0), "{reply:?}");
        let number = |id: &String| id.split_once('-').unwrap().1.parse::<u32>().unwrap();
        assert!(ids.iter().map(number).eq(1..12), "{ids:?}");
    }
}
