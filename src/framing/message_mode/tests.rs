//! Tests of message mode.

use super::super::line_decoder::{InputSink, MIN_READ_SIZE};
use super::*;
use crate::buffer::Buffer;
use crate::json::{Member, ScanErrorKind};
use crate::rpc::Message;
use std::string::String;
use std::vec::Vec;

fn in_message_mode(buffer: &mut [u8], depth: u8) -> LineDecoder<'_> {
    let mut input = LineDecoder::new(Buffer::from(buffer), depth, 8);
    input.use_message_mode();
    input
}

/// Returns a description of the current message, and its stream.
fn current(input: &mut LineDecoder<'_>) -> Option<(String, u32)> {
    let line = input.line()?;
    let text = String::from_utf8_lossy(input.bytes()).into_owned();
    let what = match line {
        LineKind::Message => text,
        LineKind::TooLong => {
            std::format!("over {}, id {text} {}", input.limit(), input.intact_id().len() == text.len())
        }
        LineKind::Truncated => String::from("truncated"),
        LineKind::StreamClosed => String::from("stream closed"),
        _ => {
            let error = input.scanner().error();
            std::format!("broken {:?} at {}", error.kind, error.at)
        }
    };
    Some((what, input.stream().0))
}

#[test]
fn message_consists_of_all_bytes_received_at_once() {
    let long = std::format!(r#"{{"id":12345,"x":"{}"}}"#, "x".repeat(100));
    let marked = std::format!("\u{feff}{long}");
    let late = std::format!(r#"{{"x":"{}","id":"abcdefg"}}"#, "x".repeat(100));
    let cases = [
        ("{}", "{}"),
        ("[1]\n", "[1]\n"),
        ("{\n \"a\":\n[]}", "{\n \"a\":\n[]}"),
        ("\u{feff}{}", "{}"),
        ("{}\n{}", "broken Syntax at 3"),
        ("{\"a\"", "broken Incomplete at 4"),
        // In message mode the byte CAN has no meaning, because a message arrives whole.
        ("{\"a\"\u{18}", "broken Syntax at 4"),
        (&long, "over 40, id 12345 true"),
        (&late, "over 40, id \"abcdefg\" false"),
        (&marked, "over 40, id 12345 true"),
    ];
    let mut buffer = [0; 40];
    let mut input = in_message_mode(&mut buffer, 128);
    for round in 1..3 {
        for (text, expected) in cases {
            assert!(input.is_ready() && current(&mut input).is_none());
            assert!(input.message(text.as_bytes(), None, StreamId(round)));
            input.provide_space();
            assert_eq!(current(&mut input), Some((String::from(expected), round)), "{text}");
            assert!(!input.message(b"[2]", None, StreamId(9)), "one message at a time");
            assert!(!input.is_ready() && input.space().is_empty());
            input.filled(1, StreamId(9));
            assert_eq!(current(&mut input), Some((String::from(expected), round)), "{text}");
            input.release();
        }
    }
}

#[test]
fn bytes_read_into_the_space_are_one_message() {
    let mut buffer = [0; 8];
    let mut input = in_message_mode(&mut buffer, 128);
    for (text, stream) in [("{}", 1), ("\"abcdef\"", 2), ("[1]\n", 3)] {
        input.filled(0, StreamId(7));
        assert!(current(&mut input).is_none(), "no bytes, no message");
        assert_eq!(input.stream(), StreamId::NONE);
        input.space()[..text.len()].copy_from_slice(text.as_bytes());
        input.filled(text.len(), StreamId(stream));
        input.provide_space();
        assert_eq!(current(&mut input), Some((String::from(text), stream)));
        input.release();
        assert_eq!(input.stream(), StreamId::NONE);
    }
}

#[test]
fn blank_message_is_ignored() {
    let mut buffer = [0; 40];
    let mut input = in_message_mode(&mut buffer, 128);
    let oversized = " ".repeat(41);
    for blank in ["", " \r\n", "\u{feff}", "\u{feff} ", &oversized] {
        assert!(input.message(blank.as_bytes(), None, StreamId(1)));
        assert!(current(&mut input).is_none() && input.is_ready(), "{blank:?}");
        assert_eq!(input.space().len(), 40);
    }
}

#[test]
fn parsed_message_is_not_scanned_again() {
    let message = br#"{"id":[[7]]}"#;
    let scanned = Message::parse(message).map(|message| *message.scanned()).ok();
    let mut buffer = [0; 40];
    let mut input = in_message_mode(&mut buffer, 128);
    // The decoder accepts invalid JSON, because it does not scan a parsed message.
    assert!(input.message(b"{\"id\":!!!!!}", scanned.as_ref(), StreamId(1)));
    assert_eq!(current(&mut input), Some((String::from("{\"id\":!!!!!}"), 1)));
    for member in [Member::Jsonrpc, Member::Id, Member::Method, Member::Params, Member::Result, Member::Error]
    {
        assert_eq!(Some(input.scanner().span(member)), scanned.map(|scanned| scanned.span(member)));
    }
    input.release();
    assert!(input.message(b"{\"id\":!!!!!}", None, StreamId(1)));
    assert_eq!(current(&mut input), Some((String::from("broken Syntax at 6"), 1)));
    input.release();
    // The caller's parser allows deeper nesting than this decoder.
    let mut input = in_message_mode(&mut buffer, 2);
    assert!(input.message(message, scanned.as_ref(), StreamId(1)));
    assert_eq!(input.line(), Some(LineKind::TooDeep));
    let error = input.scanner().error();
    assert_eq!((error.kind, error.at), (ScanErrorKind::TooDeep, 7));
}

#[test]
fn message_after_eof_is_refused() {
    let mut buffer = [0; 40];
    let mut input = in_message_mode(&mut buffer, 128);
    assert!(input.message(b"[1]", None, StreamId(1)));
    input.eof();
    assert_eq!(current(&mut input), Some((String::from("[1]"), 1)), "the last message is still returned");
    input.release();
    assert!(!input.message(b"[2]", None, StreamId(1)) && current(&mut input).is_none());
    assert!(!input.is_ready() && input.space().is_empty());
}

#[test]
fn line_mode_refuses_messages() {
    let mut buffer = [0; 40];
    let mut input = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    assert!(!input.message(b"[1]", None, StreamId(1)));
    input.space()[..4].copy_from_slice(b"[1]\n");
    input.filled(4, StreamId(5));
    assert_eq!(current(&mut input), Some((String::from("[1]"), 0)), "lines have no streams");
}

#[cfg(feature = "alloc")]
#[test]
fn grown_buffer_accepts_messages_up_to_its_limit() {
    let mut input = LineDecoder::new(Buffer::grown(10_000), 128, 8);
    input.use_message_mode();
    for length in [10, 5_000, 10_000, 10_001, 8] {
        let text = std::format!("\"{}\"", "x".repeat(length - 2));
        assert!(input.message(text.as_bytes(), None, StreamId(1)));
        let expected = if length > 10_000 { "over 10000, id  true" } else { &text };
        assert_eq!(current(&mut input), Some((String::from(expected), 1)), "{length}");
        input.release();
    }
}

#[test]
fn smallest_buffer_holds_the_longest_id() {
    let mut buffer: Vec<u8> = std::vec![0; LineDecoder::min_buffer_size(8)];
    assert_eq!(buffer.len(), 8 + 1 + MIN_READ_SIZE);
    let mut input = in_message_mode(&mut buffer, 128);
    let text = std::format!(r#"{{"x":"{}","id":12345678}}"#, "x".repeat(100));
    assert!(input.message(text.as_bytes(), None, StreamId(1)));
    assert_eq!(current(&mut input), Some((String::from("over 25, id 12345678 true"), 1)));
}

#[test]
fn stream_close_is_refused_until_the_message_is_released() {
    let mut buffer = [0; 64];
    let mut input = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    assert!(!input.stream_closed(StreamId(1)), "a decoder of lines has no streams");
    input.use_message_mode();
    assert!(input.message(b"{}", None, StreamId(1)));
    assert!(!input.stream_closed(StreamId(1)), "the message comes first");
    assert_eq!(current(&mut input), Some((String::from("{}"), 1)));
    input.release();
    assert!(input.stream_closed(StreamId(2)));
    assert!(
        !input.is_ready() && !input.message(b"{}", None, StreamId(3)) && !input.stream_closed(StreamId(3))
    );
    assert_eq!(current(&mut input), Some((String::from("stream closed"), 2)));
    input.release();
    assert!(current(&mut input).is_none() && input.is_ready());
    assert!(input.message(b"[]", None, StreamId(3)));
    assert_eq!(current(&mut input), Some((String::from("[]"), 3)));
}
