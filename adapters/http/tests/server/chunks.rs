//! Chunked responses over HTTP: larger than the memory of the server, beside other exchanges.

use super::support::{Harness, Reply, Request, Sizes, old_call};
use mcp_proto::Ticket;
use mcp_proto::server::ChunkedContent;
use mcp_proto_http::server::{ExchangeId, HttpConfig, LegacyPaths, SessionMode};

const HTTP: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sessions);
const MODERN: &str = r#""resultType":"complete""#;

/// Creates a server with memory for one piece of each of two responses.
fn harness(replay: usize) -> Harness {
    let mut harness = Harness::with_sizes(HTTP, Sizes { output: 10_240, replay, ..Sizes::default() });
    harness.chunked = true;
    harness
}

fn text(length: usize) -> String {
    "plain \"quoted\" \n\r\u{1} ".chars().cycle().take(length).collect()
}

impl Harness {
    /// Sends a call whose response is chunked.
    fn open(&mut self, request: &Request) -> (ExchangeId, Ticket) {
        let id = self.send(request).unwrap();
        (id, *self.tickets.last().expect("a ticket"))
    }

    /// Writes parts of a text until the text ends or the server accepts no part. Returns the number of accepted bytes.
    fn write(&mut self, ticket: Ticket, text: &str) -> usize {
        let mut sent = 0;
        while let Ok(mut chunks) = self.server.chunks(ticket) {
            let taken = chunks.text(&text[sent..]);
            sent += taken;
            self.run();
            if taken == 0 || sent == text.len() {
                break;
            }
        }
        sent
    }

    fn finish(&mut self, ticket: Ticket) {
        self.server.chunks(ticket).expect("an open response").end();
        self.run();
    }
}

/// Returns the text in a JSON response, or in the last event of a stream.
fn text_of(reply: &Reply) -> String {
    assert!(reply.ended && !reply.cut, "{reply:?}");
    let message = if reply.is_stream() { reply.events().pop().unwrap() } else { reply.body.clone() };
    let message = mcp_proto::json::Json::parse(message.as_bytes()).expect("a whole message");
    let result = message.get("result").unwrap();
    let block = result.get("content").unwrap().elements().next().unwrap();
    block.get("text").and_then(|text| text.string()).unwrap().to_string()
}

#[test]
fn response_larger_than_the_memory_is_sent_in_pieces() {
    for (accept, is_stream) in [("application/json, text/event-stream", false), ("text/event-stream", true)] {
        for piece in [1, 7, 1000, usize::MAX] {
            for is_modern in [true, false] {
                let mut harness = harness(0);
                harness.piece = piece;
                let request = match is_modern {
                    true => Request::call(1, "defer"),
                    false => Request::old(old_call(1, "defer"), &harness.initialize("2025-11-25")),
                };
                // In the handshake era, the specification requires that a client accepts both content types.
                let accept = if is_modern { accept } else { "application/json, text/event-stream" };
                let (id, ticket) = harness.open(&request.with("accept", accept));
                let text = text(50_000);
                assert_eq!(harness.write(ticket, &text), text.len());
                assert!(!harness.reply(id).ended);
                harness.finish(ticket);
                let reply = harness.reply(id);
                assert_eq!((reply.status, reply.field("content-length")), (200, ""));
                assert_eq!(reply.is_stream(), is_stream && is_modern);
                assert_eq!(text_of(&reply), text);
                assert_eq!(reply.body.contains(MODERN), is_modern);
                assert_eq!(harness.http.open_exchanges(), 0);
            }
        }
    }
}

#[test]
fn slow_client_delays_no_other_exchange() {
    let mut harness = harness(0);
    let (slow, slow_ticket) = harness.open(&Request::call(1, "defer"));
    let (fast, fast_ticket) = harness.open(&Request::call(2, "defer"));
    let text = text(50_000);
    harness.stalled.push(slow);
    let mut sent = harness.write(slow_ticket, &text);
    assert!(sent < 4096, "the server takes no more than its memory: {sent}");
    assert_eq!(harness.write(fast_ticket, &text), text.len());
    harness.finish(fast_ticket);
    assert_eq!(text_of(&harness.reply(fast)), text);
    harness.chunked = false;
    assert_eq!(harness.ask(&Request::call(3, "echo")).status, 200);
    assert_eq!(harness.write(slow_ticket, &text[sent..]), 0, "the response is paused");
    harness.stalled.clear();
    harness.read(slow);
    harness.run();
    sent += harness.write(slow_ticket, &text[sent..]);
    assert_eq!(sent, text.len());
    harness.finish(slow_ticket);
    assert_eq!(text_of(&harness.reply(slow)), text);
}

#[test]
fn client_that_does_not_read_is_cut_and_its_call_cancelled() {
    for is_modern in [true, false] {
        let mut harness = harness(0);
        let request = match is_modern {
            true => Request::call(1, "defer"),
            false => Request::old(old_call(1, "defer"), &harness.initialize("2025-11-25")),
        };
        let (id, ticket) = harness.open(&request);
        harness.stalled.push(id);
        harness.write(ticket, &text(50_000));
        harness.events.clear();
        harness.advance(HTTP.get_times().stall.0);
        assert_eq!(harness.events, ["cancelled Some(0)"]);
        assert!(harness.server.chunks(ticket).is_err());
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

#[test]
fn disconnected_client_cancels_a_response_that_has_begun() {
    for has_begun in [true, false] {
        let mut harness = harness(4096);
        let session = harness.initialize("2025-11-25");
        harness.chunked = has_begun;
        let (id, ticket) = harness.open(&Request::old(old_call(1, "defer"), &session));
        harness.events.clear();
        harness.http.close(id);
        harness.run();
        if !has_begun {
            assert!(harness.events.is_empty(), "the call of a session continues");
            harness.server.reply(ticket).unwrap().chunked(ChunkedContent::Text).unwrap();
            harness.run();
        }
        assert_eq!(harness.events, ["cancelled Some(0)"]);
        assert!(harness.server.chunks(ticket).is_err());
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

/// The server has no further event, so another resumption would be in vain.
#[test]
fn resumption_of_a_lost_chunked_response_is_refused() {
    // Without progress, the stream has only the event that begins it.
    for has_progress in [true, false] {
        let mut harness = harness(4096);
        let session = harness.initialize("2025-11-25");
        harness.chunked = false;
        let (id, ticket) = harness.open(&Request::old(old_call(1, "defer"), &session));
        match has_progress {
            true => harness.progress(0, 1),
            false => harness.advance(HTTP.get_times().upgrade_after.0),
        }
        let ids = harness.reply(id).ids();
        let (last, others) = ids.split_last().expect("the first event has an id");
        harness.server.reply(ticket).unwrap().chunked(ChunkedContent::Text).unwrap();
        assert_eq!(harness.write(ticket, "half"), 4);
        harness.http.close(id);
        harness.run();
        let resume =
            |id: &str| Request::new("GET").with("mcp-session-id", &session).with("last-event-id", id);
        for id in others {
            let reply = harness.ask(&resume(id));
            assert_eq!((reply.status, reply.ids().as_slice(), reply.ended), (200, &ids[1..], true));
        }
        let reply = harness.ask(&resume(last));
        assert_eq!((reply.status, reply.code()), (400, -32600));
        assert_eq!(harness.http.open_exchanges(), 0);
        assert_eq!(others.len(), usize::from(has_progress));
    }
}

#[test]
fn cancellation_completes_a_response_that_has_begun() {
    let mut harness = harness(0);
    let session = harness.initialize("2025-11-25");
    let (id, ticket) = harness.open(&Request::old(old_call(7, "defer"), &session));
    assert_eq!(harness.write(ticket, "half"), 4);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(harness.ask(&Request::old(cancel, &session)).status, 202);
    let reply = harness.reply(id);
    assert_eq!(text_of(&reply), "half");
    assert!(reply.body.contains(r#""isError":true"#), "{reply:?}");
    assert_eq!(harness.http.open_exchanges(), 0);
}

#[test]
fn response_after_progress_is_one_event_without_comments() {
    let mut harness = harness(4096);
    let session = harness.initialize("2025-11-25");
    harness.chunked = false;
    let (id, ticket) = harness.open(&Request::old(old_call(1, "defer"), &session));
    harness.progress(0, 1);
    let ids = harness.reply(id).ids().len();
    harness.server.reply(ticket).unwrap().chunked(ChunkedContent::Text).unwrap();
    assert_eq!(harness.write(ticket, "one "), 4);
    for _ in 0..3 {
        harness.advance(HTTP.get_times().keep_alive.0);
        assert_eq!(harness.write(ticket, "more "), 5);
    }
    harness.finish(ticket);
    let reply = harness.reply(id);
    assert_eq!(text_of(&reply), "one more more more ");
    assert!(!reply.body.contains("\n:") && reply.ids().len() == ids, "{reply:?}");
}

#[test]
fn piece_longer_than_all_memory_is_refused() {
    let sizes = Sizes { output: 512, ..Sizes::default() };
    let mut harness = Harness::with_sizes(HTTP, sizes);
    harness.chunked = true;
    let (id, ticket) = harness.open(&Request::call(1, "defer"));
    harness.write(ticket, &text(5000));
    let reply = harness.reply(id);
    assert!(reply.cut && reply.ended, "{reply:?}");
    assert!(harness.server.chunks(ticket).is_err());
    assert_eq!(harness.http.open_exchanges(), 0);
}

/// A regular end of the body would make the incomplete response look complete.
#[test]
fn end_of_the_session_cuts_a_response_that_has_begun() {
    let mut harness = harness(4096);
    let session = harness.initialize("2025-11-25");
    let (id, ticket) = harness.open(&Request::old(old_call(1, "defer"), &session));
    assert_eq!(harness.write(ticket, "half"), 4);
    harness.events.clear();
    let delete = Request { method: "DELETE", ..Request::old("", &session) };
    assert_eq!(harness.ask(&delete).status, 204);
    let reply = harness.reply(id);
    assert!(reply.cut && reply.body.contains("half"), "{reply:?}");
    assert_eq!(harness.events, ["cancelled Some(0)"]);
    assert_eq!(harness.http.open_exchanges(), 0);
}

/// If the request continued, the next exchange in the same slot would get the later pieces.
#[test]
fn first_piece_longer_than_all_memory_ends_its_request() {
    let config = HTTP.sessions(SessionMode::Stateless);
    for request in [Request::post(old_call(1, "defer")), Request::call(1, "defer")] {
        let mut harness = Harness::with_sizes(config, Sizes { output: 200, ..Sizes::default() });
        harness.chunked = true;
        let (id, ticket) = harness.open(&request);
        assert!(harness.reply(id).ended && harness.server.chunks(ticket).is_err());
        assert_eq!(harness.events, ["cancelled Some(0)"]);
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

#[test]
fn server_with_http_sse_refuses_chunked_responses() {
    let paths = LegacyPaths { events: "/sse", messages: "/messages" };
    let mut harness = Harness::new(HTTP.legacy(paths));
    harness.chunked = true;
    assert!(harness.ask(&Request::call(1, "defer")).body.contains(r#""error""#));
}
