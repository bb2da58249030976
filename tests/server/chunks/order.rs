//! Chunked responses and other messages, events and deadlines.

use super::{CONTENTS, SMALL, request, with_session};
use mcp_proto::server::Event;
use mcp_proto::{KeepAlive, Level, Millis, Revision, SendError};

#[test]
fn other_messages_wait_for_the_end_of_the_response() {
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    let mut tx = [0; SMALL];
    with_session(revision, (&mut tx).into(), |mut session| {
        session.feed(&request(revision, 5, "tools/call", r#""name":"t""#));
        let Some(Event::Call(call)) = session.poll(0) else { panic!("a call") };
        let other = call.defer(None).unwrap();
        let ticket = session.open(content, revision).unwrap();
        session.server.changed(mcp_proto::server::Change::Tools);
        assert_eq!(session.server.log(Level::Error, None, "later"), Err(SendError::Busy));
        assert!(matches!(session.server.reply(other), Err(SendError::Busy)));
        assert!(matches!(session.server.reply(ticket), Err(SendError::Gone)));
        assert!(matches!(session.server.chunks(other), Err(SendError::Gone)));
        session.feed("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n");
        assert_eq!(session.chunks(ticket).text("abc"), 3);
        for _ in 0..3 {
            assert!(session.poll(usize::MAX).is_none(), "nothing awaits space of the open response");
        }
        session.chunks(ticket).end();
        let mut waits = true;
        for _ in 0..10 {
            match session.poll(usize::MAX) {
                Some(Event::Writable) => {
                    waits = session.server.reply(other).map(|reply| reply.text("other")).is_err()
                }
                event => assert!(event.is_none(), "{event:?}"),
            }
        }
        assert!(!waits, "an application that waits for space is woken");
        let lines = session.lines();
        let names: Vec<String> =
            lines.iter().map(|line| line.get("id").unwrap_or(&line["method"]).to_string()).collect();
        assert_eq!(names[0], "7");
        let mut rest = names[1..].to_vec();
        rest.sort();
        assert_eq!(rest, ["\"notifications/tools/list_changed\"", "5", "8"]);
    });
}

/// A ping waits for the end of the response. A client that has read all output is not unresponsive.
#[test]
fn open_response_holds_pings_without_a_timeout() {
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    let mut tx = [0; SMALL];
    with_session(revision, (&mut tx).into(), |mut session| {
        let pings = KeepAlive { interval: Millis(20), timeout: Millis(10), close: true };
        session.server = session.server.keep_alive(pings);
        let ticket = session.open(content, revision).unwrap();
        for time in [30, 50, 70, 90] {
            session.now = Millis(time);
            assert!(session.poll(usize::MAX).is_none(), "{time}");
        }
        session.chunks(ticket).end();
        for time in [90, 90, 99] {
            session.now = Millis(time);
            assert!(session.poll(usize::MAX).is_none(), "{time}");
        }
        assert_eq!(session.lines().last().unwrap()["id"], "ping-1");
        session.now = Millis(100);
        assert!(matches!(session.poll(usize::MAX), Some(Event::PeerUnresponsive)));
    });
}

#[test]
fn writable_follows_once_when_half_of_the_space_is_free() {
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    let mut tx = [0; SMALL];
    with_session(revision, (&mut tx).into(), |mut session| {
        let ticket = session.open(content, revision).unwrap();
        let (text, mut events, mut sent) = ("x".repeat(10_000), 0, 0);
        sent += session.chunks(ticket).text(&text[sent..]);
        assert!(sent > SMALL / 2, "the whole buffer is used");
        assert_eq!(session.chunks(ticket).text(&text[sent..]), 0);
        while sent < text.len() {
            let before = session.output.len();
            while session.poll(1).is_none() {}
            assert!(session.output.len() - before < SMALL, "{sent} bytes were sent");
            assert!(session.poll(0).is_none(), "one event is enough");
            let taken = session.chunks(ticket).text(&text[sent..]);
            assert!(taken > 0, "an event, but no space");
            (events, sent) = (events + 1, sent + taken);
        }
        assert!(events < 2 * text.len() / (SMALL / 4), "{events} events");
        session.chunks(ticket).end();
        assert_eq!(content.string_of(&session.lines()[0]), text);
    });
}

#[test]
fn every_chunk_restarts_the_timeout() {
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    let mut tx = [0; SMALL];
    with_session(revision, (&mut tx).into(), |mut session| {
        let ticket = session.open(content, revision).unwrap();
        for time in [50, 149, 200] {
            session.now = Millis(time);
            assert!(session.poll(usize::MAX).is_none());
            assert_eq!(session.chunks(ticket).text("x"), 1);
        }
        session.now = Millis(299);
        assert!(session.poll(usize::MAX).is_none());
        session.now = Millis(300);
        assert!(matches!(session.poll(usize::MAX), Some(Event::Expired(expired)) if expired == ticket));
    });
}
