//! Chunked responses that end before their content: cancellation, timeout, shutdown, failure.

use super::{
    CONFIG, CONTENTS, Content, SMALL, Session, TOOLS, data_of, expected, request, with_config, with_session,
};
use crate::support::transport::end_input;
use mcp_proto::server::{
    Change, ChunkedContent, Event, Limits, Resource, Resources, ServerConfig, Subscriptions,
};
use mcp_proto::{Action, Buffer, Millis, ProtocolError, Revision, SendError};
use serde_json::Value;

const CANCELLATION: &str =
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}\n";

/// How a response ends before its content.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Cancelled,
    Expired,
    ShutDown,
    InputEnded,
    Failed,
    FailedAtLength,
    WrongKind,
}

#[test]
fn every_early_end_completes_the_message() {
    use End::{Cancelled, Expired, Failed, FailedAtLength, InputEnded, ShutDown, WrongKind};
    let ends = [Cancelled, Expired, ShutDown, InputEnded, Failed, FailedAtLength, WrongKind];
    for revision in Revision::ALL {
        for content in CONTENTS.into_iter().filter(|content| content.exists_in(revision)) {
            for (end, length) in ends.into_iter().flat_map(|end| [0, 1, 2, 3, 50, 2000].map(|at| (end, at))) {
                for full in [true, false] {
                    let mut tx = [0; SMALL];
                    with_session(revision, (&mut tx).into(), |session| {
                        early_end(session, content, revision, end, length, full);
                    });
                }
            }
        }
    }
}

/// Ends a response after at most `length` bytes. The client reads meanwhile, unless the buffer is to be `full`.
fn early_end(
    mut session: Session<'_>,
    content: Content,
    revision: Revision,
    end: End,
    length: usize,
    full: bool,
) {
    let ticket = session.open(content, revision).unwrap();
    let data = data_of(content, length);
    let taken = content.write(&mut session.chunks(ticket), &data, usize::MAX);
    assert!(length > 100 || taken == data.len());
    if !full {
        session.poll(usize::MAX);
        assert_eq!(matches!(session.poll(0), Some(Event::Writable)), taken < data.len());
    }
    let event = match end {
        End::Cancelled => {
            session.feed(CANCELLATION);
            "Cancelled"
        }
        End::Expired => {
            session.now = Millis(100);
            "Expired"
        }
        End::ShutDown => {
            session.server.shutdown_by(Millis(0), Millis(10));
            session.now = Millis(10);
            "Expired"
        }
        End::InputEnded => {
            end_input(&mut session.server, session.now);
            session.poll(0);
            session.now = Millis(99);
            assert!(session.poll(0).is_none());
            session.now = Millis(100_000);
            "Expired"
        }
        End::Failed => {
            session.chunks(ticket).fail("the \"reason\"");
            ""
        }
        End::FailedAtLength => {
            session.chunks(ticket).fail("x".repeat(1000));
            ""
        }
        End::WrongKind => {
            let mut chunks = session.chunks(ticket);
            let wrong = if content.is_text() { chunks.blob(b"abc") } else { chunks.text("abc") };
            assert_eq!(wrong, 0);
            "ProtocolError(InvalidReply)"
        }
    };
    if !event.is_empty() {
        let seen = format!("{:?}", session.poll(0).expect("an event"));
        assert!(seen.starts_with(event), "{seen}");
    }
    assert!(matches!(session.server.chunks(ticket), Err(SendError::Gone)));
    assert!(matches!(session.server.reply(ticket), Err(SendError::Gone)));
    let lines = session.lines();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    let string = content.string_of(line);
    match content.is_text() {
        true => assert_eq!(string.as_bytes(), &data[..taken]),
        false => assert_eq!(decode(string), data[..taken], "{string}"),
    }
    let result = &line["result"];
    assert_eq!(result.get("isError"), content.is_tool().then_some(&Value::Bool(true)), "{line}");
    let whole = expected(content, revision, b"");
    assert_eq!(result.get("structuredContent"), whole["result"].get("structuredContent"));
    let blocks = result["content"].as_array().map_or(1, Vec::len);
    let has_reason = end == End::Failed && content.is_tool() && (length < 100 || !full);
    assert!(blocks == 1 + usize::from(has_reason), "{end:?} {full} {line}");
    if has_reason {
        assert_eq!(result["content"][1]["text"], "the \"reason\"");
    }
    if !matches!(end, End::ShutDown | End::InputEnded) {
        session.send(&request(revision, 8, "tools/list", ""));
        assert_eq!(session.lines()[0]["id"], 8, "the session continues");
    }
}

fn decode(base64: &str) -> Vec<u8> {
    let whole = format!("\"{base64}\"");
    let view = mcp_proto::json::Json::parse(whole.as_bytes()).unwrap();
    mcp_proto::client::Base64::new(view.string().unwrap()).bytes().collect::<Result<_, _>>().expect("base64")
}

/// The notification waits for the end of the response, so the cancellation must not wait for the notification.
#[test]
fn pending_notification_does_not_delay_a_cancellation() {
    static RESOURCES: Resources = Resources::new(&[Resource::new("x:r", "r")]).subscribe();
    static WATCHED: ServerConfig =
        ServerConfig::new("s", "1").features(&[&TOOLS, &RESOURCES, &Subscriptions]);
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    let mut tx = [0; SMALL];
    with_config(&WATCHED, revision, (&mut tx).into(), |mut session| {
        session.server = session.server.subscription_buffer(vec![0; 64].leak());
        session.send(&request(revision, 1, "resources/subscribe", r#""uri":"x:r""#));
        session.output.clear();
        let ticket = session.open(content, revision).unwrap();
        assert_eq!(session.chunks(ticket).text("half"), 4);
        session.server.changed(Change::Resource("x:r"));
        session.feed(CANCELLATION);
        assert!(matches!(session.poll(0), Some(Event::Cancelled { .. })));
        assert!(matches!(session.server.chunks(ticket), Err(SendError::Gone)));
        let [response, notification] = &session.lines()[..] else { panic!("two lines") };
        assert_eq!(response["result"]["isError"], true);
        assert_eq!(notification["method"], "notifications/resources/updated");
    });
}

#[test]
fn reset_and_broken_connection_drop_the_open_message() {
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    for broken in [false, true] {
        let mut tx = [0; SMALL];
        with_session(revision, (&mut tx).into(), |mut session| {
            let ticket = session.open(content, revision).unwrap();
            assert_eq!(session.chunks(ticket).text("half"), 4);
            if broken {
                let Action::Io(io) = session.server.poll(Millis(0)) else { panic!("io") };
                io.split().0.broken();
                assert!(matches!(session.server.poll(Millis(0)), Action::Closed));
            }
            assert_eq!(session.server.chunks(ticket).is_err(), broken);
            session.server.reset();
            assert!(session.server.chunks(ticket).is_err());
            session.output.clear();
            session.connect(revision);
            session.send(&request(revision, 8, "ping", ""));
            assert_eq!(session.lines()[0]["id"], 8);
        });
    }
}

#[test]
fn reason_of_any_length_leaves_space_for_the_end() {
    for (tx, lengths) in [(None, 3700..4100), (Some(SMALL), 350..520)] {
        for length in lengths {
            let mut lent = vec![0; tx.unwrap_or(0)];
            let tx = if tx.is_some() { (&mut lent[..]).into() } else { Buffer::grown(8192) };
            with_session(Revision::V2025_11_25, tx, |mut session| {
                let ticket = session.open(CONTENTS[0], Revision::V2025_11_25).unwrap();
                session.chunks(ticket).fail("x".repeat(length));
                assert_eq!(session.lines()[0]["result"]["isError"], true);
            });
        }
    }
}

#[test]
fn chunk_without_space_does_not_restart_the_timeout() {
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    let mut tx = [0; SMALL];
    with_session(revision, (&mut tx).into(), |mut session| {
        let ticket = session.open(content, revision).unwrap();
        while session.chunks(ticket).text(&"x".repeat(SMALL)) > 0 {}
        session.now = Millis(60);
        assert!(session.poll(0).is_none());
        assert_eq!(session.chunks(ticket).text("x"), 0);
        session.now = Millis(100);
        assert!(matches!(session.poll(0), Some(Event::Expired(_))));
    });
}

#[test]
fn call_that_is_dropped_after_refused_chunks_is_answered() {
    let revision = Revision::V2025_11_25;
    let mut tx = [0; SMALL];
    with_session(revision, (&mut tx).into(), |mut session| {
        session.feed(&CONTENTS[0].request(revision));
        let Some(Event::Call(call)) = session.poll(0) else { panic!("a call") };
        let mime_type = "x".repeat(SMALL);
        drop(call.chunked(ChunkedContent::Image { mime_type: &mime_type }).expect_err("no space"));
        let event = session.poll(0);
        assert!(matches!(event, Some(Event::ProtocolError(ProtocolError::Unanswered))), "{event:?}");
        assert_eq!(session.server.deferred(), 0);
        assert_eq!(session.lines()[0]["error"]["code"], -32603);
    });
}

/// After the end of the input, a slow application does not prevent the response to a request that waits behind the open
/// response. A client that does not read prevents this response.
#[test]
fn end_of_input_ends_an_open_response_before_other_requests() {
    let (content, revision) = (CONTENTS[0], Revision::V2025_11_25);
    let config = CONFIG.limits(Limits::DEFAULT.with_deferred_timeout(Millis(1_000_000)));
    for reads in [true, false] {
        let mut tx = [0; SMALL];
        with_config(&config, revision, (&mut tx).into(), |mut session| {
            let ticket = session.open(content, revision).unwrap();
            assert_eq!(session.chunks(ticket).text("half"), 4);
            for id in [8, 9] {
                session.feed(&request(revision, id, "tools/call", r#""name":"t""#));
            }
            end_input(&mut session.server, session.now);
            assert!(session.poll(if reads { usize::MAX } else { 0 }).is_none());
            session.now = Millis(1000);
            assert!(session.poll(0).is_none());
            session.now = Millis(100_000);
            let expired = format!("{:?}", session.poll(0));
            if !reads {
                assert_eq!(expired, "None");
                assert!(matches!(session.server.poll(session.now), Action::Closed));
                return;
            }
            assert!(expired.starts_with("Some(Expired("), "{expired}");
            assert!(matches!(session.server.chunks(ticket), Err(SendError::Gone)));
            assert!(session.poll(usize::MAX).is_none());
            let Some(Event::Call(call)) = session.poll(0) else { panic!("a call") };
            // The grace period begins again, so the next response may be chunked, too.
            let ticket = call.chunked(ChunkedContent::Text).unwrap();
            assert!(session.poll(usize::MAX).is_none());
            session.now = Millis(101_000);
            assert!(session.poll(usize::MAX).is_none());
            session.chunks(ticket).end();
            assert!(session.poll(usize::MAX).is_none());
            let Some(Event::Call(call)) = session.poll(0) else { panic!("a call") };
            call.text("x");
            let lines = session.lines();
            let ended = [(7, true), (8, false), (9, false)];
            assert_eq!(lines.len(), ended.len(), "{lines:?}");
            for (line, (id, is_error)) in lines.iter().zip(ended) {
                assert_eq!(line["id"], id);
                assert_eq!(line["result"]["isError"] == true, is_error, "{line}");
            }
            assert!(matches!(session.server.poll(session.now), Action::Closed));
        });
    }
}
