//! Tests of the decoder of event streams.

use mcp_proto::Millis;
use mcp_proto_http::sse::{SseDecoder, SseEvent, SseItem};

use super::oracle::check;

/// Returns the events as `name=data`, with `!` for an event that is too long.
fn decode<'i>(decoder: &mut SseDecoder<'_>, pieces: impl IntoIterator<Item = &'i [u8]>) -> Vec<String> {
    let mut items = Vec::new();
    for piece in pieces {
        let mut rest = piece;
        loop {
            let step = decoder.decode(rest);
            rest = &rest[step.consumed..];
            match step.item {
                Some(SseItem::Event(SseEvent { name, data, .. })) => {
                    items.push([name, data].map(String::from_utf8_lossy).join("="));
                }
                Some(_) => items.push("!".to_owned()),
                None => break,
            }
        }
        assert!(rest.is_empty());
    }
    items
}

fn owned(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

/// Decodes the text with a buffer of this size: whole, cut at each position, and in single bytes. Returns the items,
/// the last id and the reconnection time.
fn cut_everywhere(text: &[u8], size: usize) -> (Vec<String>, String, Option<Millis>) {
    let run = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut buffer = vec![0; size];
        let mut decoder = SseDecoder::new(buffer.as_mut_slice());
        let items = decode(&mut decoder, pieces);
        (items, String::from_utf8_lossy(decoder.last_event_id()).into_owned(), decoder.retry())
    };
    let whole = run(&mut [text].into_iter());
    for position in 0..=text.len() {
        let (first, second) = text.split_at(position);
        assert_eq!(
            run(&mut [first, second].into_iter()),
            whole,
            "cut at {position}: {}",
            text.escape_ascii()
        );
    }
    assert_eq!(run(&mut text.chunks(1)), whole, "single bytes: {}", text.escape_ascii());
    check(text, size, &[]);
    whole
}

#[test]
fn streams_are_decoded_by_the_rules_of_whatwg_html() {
    let table: &[(&str, &[&str], &str)] = &[
        ("", &[], ""),
        ("data: {}\n\n", &["message={}"], ""),
        ("data: {}\r\n\r\n", &["message={}"], ""),
        ("data: {}\r\r", &["message={}"], ""),
        ("data: a\r\n\rdata: b\n\r\n", &["message=a", "message=b"], ""),
        ("\n\n\ndata: a\n\n\n\n", &["message=a"], ""),
        ("data:a\ndata: b\ndata:  c\n\n", &["message=a\nb\n c"], ""),
        ("data\n\n", &["message="], ""),
        ("data:\n\n", &["message="], ""),
        ("data\ndata\n\n", &["message=\n"], ""),
        ("data: a:b: c\n\n", &["message=a:b: c"], ""),
        ("data:\ta\n\n", &["message=\ta"], ""),
        ("data: a\n", &[], ""),
        ("data: a", &[], ""),
        ("data: a\n\ndata: cut off\n", &["message=a"], ""),
        // Comments and unknown fields.
        (":\n\n: keep-alive\n\ndata: a\n: x\ndata: b\n\n", &["message=a\nb"], ""),
        ("dat: a\ndataX: b\nDATA: c\n data: d\n: data: e\ndata : f\n\n", &[], ""),
        ("data: a\nunknown\nunknown: x\n\n", &["message=a"], ""),
        // Names.
        ("event: endpoint\ndata: /m\n\n", &["endpoint=/m"], ""),
        ("data: a\nevent: x\nevent: yz\n\ndata: b\n\n", &["yz=a", "message=b"], ""),
        ("event: long name\nevent: x\ndata: a\n\n", &["x=a"], ""),
        ("event\ndata: a\n\n", &["message=a"], ""),
        ("event: x\n\ndata: a\n\n", &["message=a"], ""),
        // Ids.
        ("id: 1\ndata: a\n\n", &["message=a"], "1"),
        ("data: a\nid: 1\nevent: e\ndata: b\nid: 23\n\n", &["e=a\nb"], "23"),
        ("id: 1\ndata: a\n\ndata: b\n\n", &["message=a", "message=b"], "1"),
        ("id: 1\n\n", &[], "1"),
        ("id: 1\ndata: a\n", &[], ""),
        ("id: 1\n\nid: 2\ndata: a\n", &[], "1"),
        ("id: 1\n\nid\n\n", &[], ""),
        ("id: 1\n\nid:\ndata: a\n\n", &["message=a"], ""),
        ("id: 1\n\nid: 2\0\ndata: a\n\n", &["message=a"], "1"),
        ("id: longer\n\nid: 2\nevent: e\ndata: a\n\n", &["e=a"], "2"),
        // Byte order marks.
        ("\u{feff}data: a\n\n", &["message=a"], ""),
        ("\u{feff}\u{feff}data: a\n\n", &[], ""),
        ("data: a\n\n\u{feff}data: b\n\n", &["message=a"], ""),
        ("\u{feff}\n\ndata: \u{feff}\n\n", &["message=\u{feff}"], ""),
    ];
    for (text, items, last_id) in table {
        let (seen, seen_id, _) = cut_everywhere(text.as_bytes(), 100);
        assert_eq!((seen.as_slice(), seen_id.as_str()), (owned(items).as_slice(), *last_id), "{text:?}");
    }
}

#[test]
fn incomplete_byte_order_mark_begins_a_name() {
    for text in [
        &b"\xEFdata: a\n\ndata: b\n\n"[..],
        b"\xEF\xBBdata: a\n\ndata: b\n\n",
        b"\xEF\n\xEF\xBB\rdata: b\n\n",
    ] {
        assert_eq!(cut_everywhere(text, 100).0, ["message=b"]);
    }
}

#[test]
fn retry_needs_digits_only() {
    for (text, expected) in [
        ("retry: 500\n", Some(500)),
        ("retry:0\n", Some(0)),
        ("retry: 500", None),
        ("retry: 1\nretry: 2\n", Some(2)),
        ("retry: 1\nretry: x\n", Some(1)),
        ("retry\n", None),
        ("retry:\n", None),
        ("retry: \n", None),
        ("retry:  5\n", None),
        ("retry: 5 \n", None),
        ("retry: 5x6\n", None),
        ("retry: -5\n", None),
        ("retry: 99999999999999999999999999\n", Some(u64::MAX)),
    ] {
        assert_eq!(cut_everywhere(text.as_bytes(), 0).2, expected.map(Millis), "{text:?}");
    }
}

#[test]
fn event_that_is_too_long_is_reported_and_skipped() {
    for (text, items, last_id) in [
        ("data: 0123456789\n\ndata: a\n\n", &["message=0123456789", "message=a"][..], ""),
        ("data: 01234567890\n\ndata: a\n\n", &["!", "message=a"], ""),
        ("data: 01234\ndata: 6789\n\n", &["message=01234\n6789"], ""),
        ("data: 01234\ndata: 67890\n\n", &["!"], ""),
        ("data: 01234567890\ndata: x\nevent: y\n\ndata: a\n\n", &["!", "message=a"], ""),
        ("event: 01234567890\ndata: x\n\ndata: a\n\n", &["!", "message=a"], ""),
        ("event: 01234567890\n\ndata: a\n\n", &["!", "message=a"], ""),
        // The id of a skipped event becomes the last event id if the id fits, in any position.
        ("id: 1\ndata: 01234567890\n\ndata: a\n\n", &["!", "message=a"], "1"),
        ("data: 01234567890\nid: 1\n\ndata: a\n\n", &["!", "message=a"], "1"),
        ("data: 0123456789\nid: 1\n\ndata: a\n\n", &["!", "message=a"], ""),
        ("id: 1\n\nid: 01234567890\ndata: x\n\ndata: a\n\n", &["!", "message=a"], "1"),
        ("id: 1\n\nid: 01234567890\n\ndata: a\n\n", &["!", "message=a"], "1"),
        ("data: 0123456789\ndata\n\ndata: a\n\n", &["!", "message=a"], ""),
        (": 01234567890\nunknown: 01234567890\nretry: 000000000001\ndata: a\n\n", &["message=a"], ""),
    ] {
        let (seen, seen_id, _) = cut_everywhere(text.as_bytes(), 10);
        assert_eq!((seen, seen_id.as_str()), (owned(items), last_id), "{text:?}");
    }
}

#[test]
fn last_event_id_is_that_of_received_events() {
    let mut buffer = [0; 40];
    let mut decoder = SseDecoder::new(&mut buffer);
    assert_eq!(
        decode(&mut decoder, [&b"id: s1-7\nretry: 9\ndata: a\n\nid: s1-8\ndata: b"[..]]),
        ["message=a"]
    );
    assert_eq!(decoder.last_event_id(), b"s1-7");
    decoder.reconnect();
    assert_eq!((decoder.last_event_id(), decoder.retry()), (&b"s1-7"[..], Some(Millis(9))));
    let text = "\u{feff}data: c\n\n";
    assert_eq!(decode(&mut decoder, [text.as_bytes()]), ["message=c"]);
    // After a reconnect, no data remains of the last event or of an event that is too long.
    for text in ["id: 2\ndata: d\n\n", &format!("id: 2\ndata: {}", "x".repeat(50))] {
        decode(&mut decoder, [text.as_bytes()]);
        decoder.reconnect();
        assert_eq!(decode(&mut decoder, [&b"data: e\n\n"[..]]), ["message=e"]);
        assert_eq!(decoder.last_event_id(), b"2");
    }
}
