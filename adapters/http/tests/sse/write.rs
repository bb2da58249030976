//! Tests of the writer of event streams.

use mcp_proto::Millis;
use mcp_proto_http::WriteError;
use mcp_proto_http::sse::{DATA_END, KEEP_ALIVE, SseDecoder, SseItem, SseWriter};

/// Decodes a stream with at most one event. Returns the name and the data of the event, and the last id. Returns `None`
/// without an event.
fn decode(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let mut buffer = [0; 300];
    let mut decoder = SseDecoder::new(&mut buffer);
    let step = decoder.decode(text);
    assert_eq!(step.consumed, text.len());
    let Some(SseItem::Event(event)) = step.item else { return None };
    Some((event.name.to_vec(), event.data.to_vec(), event.last_event_id.to_vec()))
}

#[test]
fn events_are_written() {
    let mut buffer = [0; 100];
    let text = SseWriter::new(&mut buffer).event("endpoint").id(("s", 7)).data(b"/m").finish().unwrap();
    assert_eq!(text, b"event: endpoint\nid: s7\ndata: /m\n\n");
    let text = SseWriter::new(&mut buffer).id("7").retry(Millis(500)).data(b"").finish().unwrap();
    assert_eq!(text, b"id: 7\nretry: 500\ndata:\n\n");
    assert_eq!(decode(text), Some((b"message".to_vec(), Vec::new(), b"7".to_vec())));
    let text = SseWriter::new(&mut buffer).comment("still here").finish().unwrap();
    assert_eq!(text, b": still here\n\n");
    assert_eq!((decode(text), decode(KEEP_ALIVE)), (None, None));
}

#[test]
fn lines_of_data_are_joined_by_the_decoder() {
    let mut buffer = [0; 200];
    for (data, decoded) in [
        ("", ""),
        (" ", " "),
        ("{}", "{}"),
        ("a\nb", "a\nb"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\n", "\n"),
        ("\n\n", "\n\n"),
        ("a\n\nid: 1\nevent: x", "a\n\nid: 1\nevent: x"),
        ("a\r", "a\n"),
        ("a\r\n", "a\n"),
        ("a\n\r", "a\n\n"),
        (":\0\u{feff}", ":\0\u{feff}"),
    ] {
        let text = SseWriter::new(&mut buffer).data(data.as_bytes()).finish().unwrap();
        let expected = (b"message".to_vec(), decoded.as_bytes().to_vec(), Vec::new());
        assert_eq!(decode(text), Some(expected), "{data:?}");
    }
}

#[test]
fn data_can_follow_without_a_copy() {
    let mut buffer = [0; 100];
    let start = SseWriter::new(&mut buffer).id(1).begin_data().unwrap();
    let text = [start, b"{}", DATA_END].concat();
    assert_eq!(decode(&text), Some((b"message".to_vec(), b"{}".to_vec(), b"1".to_vec())));
}

#[test]
fn line_ends_in_names_and_ids_are_refused() {
    let mut buffer = [0; 100];
    for text in ["a\nb", "a\r", "\r\n", "\n\ndata: x", "\0"] {
        for event in [
            SseWriter::new(&mut buffer).event(text).finish().map(<[u8]>::len),
            SseWriter::new(&mut buffer).id(text).finish().map(<[u8]>::len),
            SseWriter::new(&mut buffer).id(("a", text)).begin_data().map(<[u8]>::len),
            SseWriter::new(&mut buffer).comment(text).finish().map(<[u8]>::len),
        ] {
            assert_eq!(event, Err(WriteError::InvalidByte), "{text:?}");
        }
    }
}

#[test]
fn small_buffer_is_reported() {
    let write = |buffer: &mut [u8]| {
        SseWriter::new(buffer).event("e").id(1).retry(Millis(5)).data(b"a\nb").finish().map(<[u8]>::len)
    };
    let length = write(&mut [0; 100]).unwrap();
    for size in 0..length {
        assert_eq!(write(&mut vec![0; size]), Err(WriteError::BufferFull), "{size}");
    }
    assert_eq!(write(&mut vec![0; length]), Ok(length));
}
