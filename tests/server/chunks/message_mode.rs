//! Chunked responses in message mode: pieces of several streams, and other messages between them.

use super::{CONFIG, CONTENTS, Content, SMALL, data_of, expected, request};
use crate::support::Random;
use mcp_proto::server::{Event, Server, Slot};
use mcp_proto::{Action, Millis, OutboundMessageKind, Relation, Revision, StreamId, Ticket};
use serde_json::Value;
use std::collections::BTreeMap;

const REVISION: Revision = Revision::V2026_07_28;

/// A transport with one stream for each request.
struct Streams<'b> {
    server: Server<'b>,
    now: Millis,
    /// The text of each stream, and whether it is complete.
    texts: BTreeMap<u32, (String, bool)>,
    events: Vec<String>,
}

fn with_streams(tx: usize, test: impl FnOnce(Streams<'_>)) {
    let (mut rx, mut tx, mut slots, mut text) = ([0; 1024], vec![0; tx], [Slot::EMPTY; 4], [0; 4 * 64]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx[..]).unwrap().message_mode().unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    server.accept_pieces(true);
    test(Streams { server, now: Millis(0), texts: BTreeMap::new(), events: Vec::new() });
}

impl Streams<'_> {
    /// Passes a request to the server. Returns `false` if the server has an event, or is not ready.
    fn post(&mut self, stream: u32, request: &str) -> bool {
        let Action::Io(io) = self.server.poll(self.now) else { return false };
        io.split().1.message(request.trim_end().as_bytes(), StreamId(stream)).is_ok()
    }

    /// Opens the chunked response to a request on this stream.
    fn open(&mut self, stream: u32, content: Content) -> Ticket {
        self.run();
        assert!(self.post(stream, &content.request(REVISION)));
        assert!(matches!(self.server.poll(self.now), Action::Event));
        content.open(self.server.event().unwrap()).expect("an open response")
    }

    /// Polls once, and takes at most one message. Returns `false` if nothing is left.
    fn step(&mut self) -> bool {
        let io = match self.server.poll(self.now) {
            Action::Event => {
                let event = self.server.event().unwrap();
                self.events.push(format!("{event:?}"));
                return true;
            }
            Action::Io(io) => io,
            Action::Closed => return false,
        };
        let (out, _) = io.split();
        let Some(frame) = out.frame() else { return false };
        let Relation::Request(StreamId(stream)) = frame.relation() else { panic!("{frame:?}") };
        let (text, is_complete) = self.texts.entry(stream).or_default();
        assert!(!*is_complete, "a message after the end of stream {stream}");
        *text += str::from_utf8(frame.message()).unwrap();
        *is_complete = match frame.kind() {
            OutboundMessageKind::LastPiece => true,
            kind => kind.is_response(),
        };
        let length = frame.message().len();
        assert!(length > 0);
        out.sent(length);
        true
    }

    fn run(&mut self) {
        while self.step() {}
    }

    /// Returns the complete message of a stream.
    fn message(&self, stream: u32) -> Value {
        let (text, is_complete) = &self.texts[&stream];
        assert!(is_complete, "{text}");
        serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
    }
}

#[test]
fn responses_of_several_streams_are_sent_side_by_side() {
    for seed in 0..60 {
        let mut random = Random(seed + 1);
        let tx = SMALL + random.below(400);
        with_streams(tx, |mut streams| {
            let mut open = Vec::new();
            for stream in 1..=3 {
                let content = CONTENTS[random.below(CONTENTS.len())];
                let data = data_of(content, random.below(3000));
                open.push((stream, content, data, streams.open(stream, content), 0));
                streams.run();
            }
            let all = open.clone();
            let mut pings = 0;
            for _ in 0..100_000 {
                if open.is_empty() {
                    break;
                }
                let at = random.below(open.len());
                let (stream, content, data, ticket, sent) = &mut open[at];
                match random.below(6) {
                    0 if pings < 20 => {
                        let list = request(REVISION, 90, "tools/list", "");
                        pings += u32::from(streams.post(100 + pings, &list));
                    }
                    1 => streams.server.pause_stream(StreamId(*stream), true),
                    2 => streams.server.pause_stream(StreamId(*stream), false),
                    3 => _ = streams.step(),
                    _ if *sent == data.len() => {
                        streams.server.chunks(*ticket).unwrap().end();
                        open.remove(at);
                    }
                    _ => {
                        let most = 1 + random.below(700);
                        let mut chunks = streams.server.chunks(*ticket).unwrap();
                        *sent += content.write(&mut chunks, &data[*sent..], most);
                    }
                }
            }
            assert!(open.is_empty(), "{seed}: no progress");
            streams.run();
            for (stream, content, data, ..) in &all {
                assert_eq!(streams.message(*stream), expected(*content, REVISION, data), "{seed}");
            }
            for ping in 0..pings {
                assert_eq!(streams.message(100 + ping)["id"], 90);
            }
            assert_eq!(streams.server.deferred(), 0);
            assert!(streams.events.iter().all(|event| event == "Writable"), "{:?}", streams.events);
        });
    }
}

#[test]
fn waiting_request_has_precedence_over_chunks() {
    with_streams(SMALL, |mut streams| {
        let ticket = streams.open(1, CONTENTS[0]);
        let (text, mut sent) = ("x".repeat(20_000), 0);
        sent += streams.server.chunks(ticket).unwrap().text(&text);
        assert!(streams.post(2, &request(REVISION, 8, "tools/list", "")));
        for _ in 0..20 {
            // The application writes whenever it can.
            streams.step();
            sent += streams.server.chunks(ticket).unwrap().text(&text[sent..]);
            if streams.texts.contains_key(&2) {
                break;
            }
        }
        assert_eq!(streams.message(2)["id"], 8);
        assert!(sent < text.len());
        streams.server.chunks(ticket).unwrap().end();
        streams.run();
        assert_eq!(streams.message(1)["result"]["content"][0]["text"], text[..sent]);
    });
}

/// Returns the length of the longest text that fits into a response.
fn largest_text() -> usize {
    let fits = |length: &usize| {
        let mut fits = false;
        with_streams(SMALL, |mut streams| {
            assert!(streams.post(1, &CONTENTS[0].request(REVISION)));
            assert!(matches!(streams.server.poll(streams.now), Action::Event));
            let Some(Event::Call(call)) = streams.server.event() else { panic!("a call") };
            call.text("y".repeat(*length));
            streams.run();
            fits = streams.events.is_empty();
        });
        fits
    };
    (0..SMALL).rev().find(fits).unwrap()
}

#[test]
fn chunks_take_no_space_from_a_pending_response() {
    // The application writes chunks of another response before it gets the request, or after it dropped the request.
    for is_dropped in [false, true] {
        with_streams(SMALL, |mut streams| {
            let (first, text) = (streams.open(1, CONTENTS[0]), "x".repeat(2000));
            streams.run();
            assert!(streams.post(2, &CONTENTS[0].request(REVISION)));
            assert!(matches!(streams.server.poll(streams.now), Action::Event));
            if is_dropped {
                assert!(streams.server.event().is_some());
            }
            assert_eq!(streams.server.chunks(first).unwrap().text(&text), 0);
            streams.server.chunks(first).unwrap().end();
            let long = "y".repeat(largest_text());
            match streams.server.event() {
                Some(Event::Call(call)) => call.text(&*long),
                event => assert!(event.is_none() && is_dropped, "{event:?}"),
            }
            streams.run();
            let response = streams.message(2);
            match is_dropped {
                true => assert_eq!(response["error"]["code"], -32603),
                false => assert_eq!(response["result"]["content"][0]["text"], long),
            }
            assert_eq!(streams.message(1)["result"]["content"][0]["text"], "");
        });
    }
}

#[test]
fn paused_response_takes_no_chunk_until_it_resumes() {
    with_streams(SMALL, |mut streams| {
        let (first, second) = (streams.open(1, CONTENTS[0]), streams.open(2, CONTENTS[0]));
        streams.run();
        streams.server.pause_stream(StreamId(1), true);
        streams.server.pause_stream(StreamId(1), true);
        assert_eq!(streams.server.chunks(first).unwrap().text("abc"), 0);
        assert_eq!(streams.server.chunks(second).unwrap().text("abc"), 3);
        streams.run();
        assert!(streams.events.is_empty());
        streams.server.pause_stream(StreamId(1), false);
        streams.run();
        assert_eq!(streams.events, ["Writable"]);
        assert_eq!(streams.server.chunks(first).unwrap().text("abc"), 3);
        streams.server.pause_stream(StreamId(2), true);
        assert_eq!(streams.server.chunks(second).unwrap().text("abc"), 0);
        assert_eq!(streams.server.chunks(first).unwrap().text("abc"), 3);
        streams.server.pause_stream(StreamId(1), true);
        streams.server.chunks(first).unwrap().end();
        streams.run();
        assert_eq!(
            streams.message(1)["result"]["content"][0]["text"],
            "abcabc",
            "a pause does not delay the end"
        );
    });
}

#[test]
fn end_that_does_not_fit_is_sent_later() {
    for is_cancelled in [false, true] {
        with_streams(SMALL, |mut streams| {
            let tickets = [1, 2, 3].map(|stream| {
                let ticket = streams.open(stream, CONTENTS[0]);
                streams.run();
                ticket
            });
            // One response fills the buffer, which then has no space for the ends of three responses.
            let text = "x".repeat(1000);
            let sent = streams.server.chunks(tickets[0]).unwrap().text(&text);
            match is_cancelled {
                true => {
                    streams.now = Millis(100);
                    for _ in tickets {
                        assert!(matches!(streams.server.poll(streams.now), Action::Event));
                        assert!(matches!(streams.server.event(), Some(Event::Expired(_))));
                    }
                }
                false => tickets
                    .map(|ticket| streams.server.chunks(ticket).unwrap().fail("x".repeat(200)))
                    .into_iter()
                    .collect(),
            }
            for ticket in tickets {
                assert!(streams.server.chunks(ticket).is_err());
                assert!(streams.server.reply(ticket).is_err());
            }
            streams.run();
            for (stream, length) in [(1, sent), (2, 0), (3, 0)] {
                let result = &streams.message(stream)["result"];
                assert_eq!(result["content"][0]["text"], text[..length]);
                assert_eq!(result["isError"], true);
            }
            assert_eq!(streams.server.deferred(), 0);
            assert!(streams.events.iter().all(|event| event == "Writable"), "{:?}", streams.events);
        });
    }
}

#[test]
fn closed_stream_ends_its_response_without_a_message() {
    with_streams(SMALL, |mut streams| {
        let ticket = streams.open(1, CONTENTS[0]);
        streams.run();
        let Action::Io(io) = streams.server.poll(streams.now) else { panic!("io") };
        io.split().1.stream_closed(StreamId(1)).unwrap();
        let before = streams.texts.clone();
        streams.run();
        assert!(streams.events[0].starts_with("Cancelled"), "{:?}", streams.events);
        assert_eq!(streams.texts, before);
        assert!(streams.server.chunks(ticket).is_err());
        assert_eq!(streams.server.deferred(), 0);
    });
}

#[test]
fn transport_without_pieces_refuses_chunked_responses() {
    with_streams(SMALL, |mut streams| {
        streams.server.accept_pieces(false);
        assert!(streams.post(1, &CONTENTS[0].request(REVISION)));
        assert!(matches!(streams.server.poll(streams.now), Action::Event));
        assert!(CONTENTS[0].open(streams.server.event().unwrap()).is_none());
        streams.run();
        assert_eq!(streams.message(1)["id"], 7);
    });
}

#[test]
fn chunk_of_the_wrong_kind_hides_no_earlier_error() {
    for (is_answered, error) in [(true, "ProtocolError(ReplyTooLarge"), (false, "ProtocolError(Unanswered)")]
    {
        with_streams(SMALL, |mut streams| {
            let ticket = streams.open(1, CONTENTS[0]);
            streams.run();
            assert!(streams.post(2, &CONTENTS[0].request(REVISION)));
            assert!(matches!(streams.server.poll(streams.now), Action::Event));
            let event = streams.server.event().unwrap();
            if is_answered {
                CONTENTS[0].respond_at_once(event, &[b'x'; 999]);
            }
            while let Ok(mut chunks) = streams.server.chunks(ticket) {
                assert_eq!(chunks.blob(b"x"), 0);
                streams.run();
            }
            let [first, second] = [0, 1].map(|at| streams.events.get(at).map_or("", String::as_str));
            assert!(first.starts_with(error), "{:?}", streams.events);
            assert!(second.starts_with("Writable"), "{:?}", streams.events);
            assert_eq!(streams.events.last().unwrap(), "ProtocolError(InvalidReply)");
            assert_eq!(streams.message(1)["result"]["isError"], true);
        });
    }
}
