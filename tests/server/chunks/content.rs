//! The content of a chunked response: all kinds, revisions, buffers and sizes of chunks.

use super::{CONFIG, CONTENTS, Content, SMALL, Session, data_of, expected, request, with_session};
use mcp_proto::server::{ChunkedContent, Event, Server, Slot};
use mcp_proto::{Buffer, Millis, Revision, SendError};

#[test]
fn chunked_response_equals_the_whole_one() {
    for revision in Revision::ALL {
        for content in CONTENTS.into_iter().filter(|content| content.exists_in(revision)) {
            for length in [0, 1, 2, 3, 4, 5, 100, 1500] {
                let data = data_of(content, length);
                let whole = expected(content, revision, &data);
                for tx in [SMALL, SMALL + 1, SMALL + 64, 4096, 64 * 1024] {
                    for (most, pace) in
                        [(usize::MAX, usize::MAX), (1, 3), (7, usize::MAX), (64, 1), (300, 50)]
                    {
                        let mut tx = vec![0; tx];
                        with_session(revision, (&mut tx[..]).into(), |mut session| {
                            let ticket = session.open(content, revision).expect("an open response");
                            session.write_all(content, ticket, &data, most, pace);
                            assert_eq!(
                                session.lines(),
                                std::slice::from_ref(&whole),
                                "{content:?} {most} {pace}"
                            );
                            assert_eq!(session.server.deferred(), 0);
                            assert!(matches!(session.server.chunks(ticket), Err(SendError::Gone)));
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn growing_buffer_keeps_its_limit_of_unsent_bytes() {
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    let data = data_of(content, 300_000);
    with_session(revision, Buffer::grown(1 << 20), |mut session| {
        let ticket = session.open(content, revision).unwrap();
        let taken = content.write(&mut session.chunks(ticket), &data, usize::MAX);
        assert!((1000..64 * 1024).contains(&taken), "{taken} bytes are not sent");
        let rest = &data[taken..];
        session.write_all(content, ticket, rest, usize::MAX, 5000);
        let line = session.lines().remove(0);
        assert_eq!(content.string_of(&line).as_bytes(), data);
    });
}

#[test]
fn buffer_without_space_for_chunks_refuses_them() {
    // The URI is so long that a buffer can be large enough for the server, but too small for the members around this
    // content.
    static URI: &str = match str::from_utf8(&[b'u'; 700]) {
        Ok(uri) => uri,
        Err(_) => "",
    };
    let content = Content::Tool(ChunkedContent::ResourceText { uri: URI, mime_type: None });
    for (size, opens) in [(700, false), (850, false), (1000, true)] {
        let mut tx = vec![0; size];
        with_session(Revision::V2025_11_25, (&mut tx[..]).into(), |mut session| {
            let ticket = session.open(content, Revision::V2025_11_25);
            assert_eq!(ticket.is_some(), opens, "{size} bytes");
            match ticket {
                Some(ticket) => session.write_all(content, ticket, b"\x01\xc3\xa9", usize::MAX, 1),
                None => assert_eq!(session.server.deferred(), 0),
            }
            let line = session.lines().remove(0);
            assert_eq!(line.get("error").is_some(), !opens, "{line}");
        });
    }
}

#[test]
fn deferred_request_can_respond_in_chunks() {
    let revision = Revision::V2025_06_18;
    let mut tx = [0; SMALL];
    with_session(revision, (&mut tx).into(), |mut session| {
        session.feed(&request(revision, 5, "tools/call", r#""name":"t""#));
        let Some(Event::Call(call)) = session.poll(0) else { panic!("a call") };
        let ticket = call.defer(None).unwrap();
        let other_kind = ChunkedContent::Text;
        assert_eq!(session.server.reply(ticket).unwrap().chunked(other_kind), Ok(ticket));
        session.chunks(ticket).text("late");
        session.chunks(ticket).end();
        assert_eq!(session.lines()[0]["result"]["content"][0]["text"], "late");
        // The response to `resources/read` cannot contain a block of a tool result.
        session.feed(&Content::ReadText.request(revision));
        let Some(Event::ReadResource(read)) = session.poll(0) else { panic!("a read") };
        let ticket = read.defer(None).unwrap();
        assert_eq!(session.server.reply(ticket).unwrap().chunked(other_kind), Err(SendError::Unsupported));
        session.server.reply(ticket).unwrap().not_found("x:r");
        assert!(session.lines()[0].get("error").is_some());
    });
}

#[test]
fn chunks_without_a_slot_or_without_the_content_are_refused() {
    let revision = Revision::V2024_11_05;
    let mut tx = [0; SMALL];
    with_session(revision, (&mut tx).into(), |mut session| {
        assert_eq!(session.open(CONTENTS[2], revision), None, "no audio in this revision");
        assert!(session.lines()[0].get("error").is_some());
        for id in [1, 2] {
            session.feed(&request(revision, id, "tools/call", r#""name":"t""#));
            let Some(Event::Call(call)) = session.poll(0) else { panic!("a call") };
            call.defer(None).unwrap();
        }
        assert_eq!(session.open(CONTENTS[0], revision), None, "no slot");
        assert!(session.lines()[0].get("error").is_some());
    });
}

#[test]
fn batch_members_have_no_chunks() {
    let (mut rx, mut tx, mut slots) = ([0; 1024], [0; 2048], [Slot::EMPTY; 1]);
    let (mut ids, mut batch) = ([0; 64], [0; 1024]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut ids).unwrap();
    let mut session = Session { server: server.batch_buffer(&mut batch), now: Millis(0), output: Vec::new() };
    session.connect(Revision::V2025_03_26);
    session.feed("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}]\n");
    let Some(Event::Call(call)) = session.poll(0) else { panic!("a call") };
    call.chunked(ChunkedContent::Text).expect_err("its response joins others").text("whole");
    assert_eq!(session.lines()[0][0]["result"]["content"][0]["text"], "whole");
}
