//! Tests of the line decoder: splits, invalid bytes, oversized lines.

use super::fill::{MAX_READ_AHEAD, READ_AHEAD};
use super::outbound_message::StreamId;
use super::*;
use crate::buffer::Buffer;
use crate::json::{Member, Span};
use std::string::String;
use std::vec::Vec;

/// Decodes `input` in pieces of `size` bytes, and describes each line.
fn lines(rx: usize, input: &[u8], size: usize) -> Vec<String> {
    let mut buffer = std::vec![0; rx];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    let (mut out, mut rest, mut at_eof) = (Vec::new(), input, false);
    loop {
        while let Some(found) = decoder.line() {
            let text = String::from_utf8_lossy(decoder.bytes()).into_owned();
            out.push(match found {
                LineKind::Message => text,
                LineKind::TooLong if decoder.intact_id().len() == text.len() => {
                    std::format!("too long, id {text}")
                }
                LineKind::TooLong => String::from("too long, id too long"),
                LineKind::Truncated => std::format!("truncated{text}"),
                LineKind::StreamClosed => String::from("stream closed"),
                _ => std::format!("broken {:?}", decoder.scanner().error().kind),
            });
            decoder.release();
        }
        if at_eof {
            return out;
        }
        decoder.provide_space();
        assert!(decoder.is_ready(), "without a complete line there is always space");
        let space = decoder.space();
        let n = size.min(rest.len()).min(space.len());
        if n == 0 {
            decoder.eof();
            at_eof = true;
            continue;
        }
        space[..n].copy_from_slice(&rest[..n]);
        decoder.filled(n, StreamId::NONE);
        rest = &rest[n..];
    }
}

#[test]
fn lines_are_independent_of_input_splits() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[]),
        ("{}\n", &["{}"]),
        ("{}\n[]\n", &["{}", "[]"]),
        ("{}\r\n", &["{}\r"]),
        ("{\r}\n", &["{\r}"]),
        ("{}\r[]\n", &["broken Syntax"]),
        ("\n \n\r\n\t\n{}\n\n", &["{}"]),
        ("\u{feff}{}\n", &["{}"]),
        ("{}\n\u{feff}[]\n", &["{}", "[]"]),
        ("\u{feff}\u{feff}{}\n", &["broken Syntax"]),
        ("\u{feff}\n{}\n", &["{}"]),
        ("\u{feff}", &[]),
        ("\"\u{2028}\u{2029}\u{85}\"\n", &["\"\u{2028}\u{2029}\u{85}\""]),
        ("{\u{feff}}\n{}\n", &["broken Syntax", "{}"]),
        ("nonsense\n{}\n", &["broken Syntax", "{}"]),
        ("{}\n{\"a\":1}", &["{}", "{\"a\":1}"]),
        ("{}\n{\"a\":", &["{}", "truncated"]),
        ("{}\n  ", &["{}"]),
        ("\"é\u{1F600}\"\n", &["\"é\u{1F600}\""]),
        ("{}{}\n", &["broken Syntax"]),
    ];
    for (input, expected) in cases {
        for size in [1, 2, 3, 7, 1000] {
            for rx in [32, 33, 64, 1000] {
                assert_eq!(lines(rx, input.as_bytes(), size), *expected, "{input:?} by {size} into {rx}");
            }
        }
    }
}

#[test]
fn invalid_utf8_breaks_one_line() {
    assert_eq!(lines(64, b"\"\xff\"\n{}\n", 2), ["broken Utf8", "{}"]);
}

#[test]
fn input_ending_in_a_partial_byte_order_mark_is_truncated() {
    for size in [1, 2, 3, 1000] {
        assert_eq!(lines(64, b"{}\n\xEF\xBB", size), ["{}", "truncated"]);
    }
}

#[test]
fn cancel_byte_anywhere_drops_its_line() {
    let line =
        "{\"jsonrpc\":\"2.0\",\"id\":12,\"n\":-1.5e3,\"é\u{1F600}\":\"\\n\\uD83D\\uDE00\",\"t\":[true,null]}";
    for at in 1..line.len() {
        let (before, after) = line.as_bytes().split_at(at);
        for after in [&b""[..], after] {
            let input = [before, b"\x18", after, b"\n[1]\n"].concat();
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(lines(128, &input, size), ["broken Gap", "[1]"], "at {at} by {size}");
            }
        }
    }
}

#[test]
fn newline_at_any_position_is_independent_of_splits() {
    let text = r#"{"jsonrpc":"2.0","id":12,"params":{"name":"echo","x":[-1.5e3,true]},"method":"\n"}"#;
    for at in 0..=text.len() {
        let (before, after) = text.split_at(at);
        for newline in ["\n", "\r\n", " \n ", "\n\n"] {
            let input = [before, newline, after, "\n", text, newline, "7", newline, text].concat();
            let expected = lines(256, input.as_bytes(), 1);
            for size in [7, 50, 100, 1000] {
                assert_eq!(lines(256, input.as_bytes(), size), expected, "{input} by {size}");
            }
        }
    }
}

#[test]
fn line_may_fill_the_buffer_but_not_exceed_it() {
    let rx = 40;
    for length in 30..60 {
        let line = std::format!("\"{}\"\n", "x".repeat(length - 3));
        assert_eq!(line.len(), length);
        let input = [line.as_str(), "{}\n"].concat();
        let expected = if length <= rx { line.trim_end() } else { "too long, id " };
        for size in [1, 3, 1000] {
            assert_eq!(lines(rx, input.as_bytes(), size), [expected, "{}"], "{length} by {size}");
        }
    }
}

#[test]
fn later_line_may_fill_the_buffer() {
    let text = std::format!("\"{}\"", "x".repeat(37));
    for size in [1, 3, 39, 40] {
        assert_eq!(lines(40, std::format!("{{}}\n{text}\n[]\n").as_bytes(), size), ["{}", &text, "[]"]);
    }
}

#[test]
fn full_buffer_holds_the_last_line_at_eof() {
    let mut buffer = [0; 32];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    let text = std::format!("\"{}\"", "x".repeat(30));
    read(&mut decoder, &text);
    assert!(!decoder.is_ready() && decoder.space().is_empty());
    decoder.eof();
    decoder.provide_space();
    assert_eq!(decoder.line(), Some(LineKind::Message));
    assert_eq!(decoder.bytes(), text.as_bytes());
}

#[test]
fn oversized_line_keeps_its_id_at_any_position() {
    let filler = "x".repeat(500);
    // Deeper than the limit of the decoder.
    let (deep, close) = ("[".repeat(200), "]".repeat(200));
    let cases = [
        (std::format!(r#"{{"id":12345,"params":"{filler}","method":"m"}}"#), "too long, id 12345"),
        (std::format!(r#"{{"params":"{filler}","id":"abc","method":"m"}}"#), r#"too long, id "abc""#),
        (std::format!(r#"{{"params":"{filler}","method":"m","id":7}}"#), "too long, id 7"),
        (std::format!(r#"{{"params":"{filler}","method":"m"}}"#), "too long, id "),
        (std::format!(r#"{{"params":{{"id":9,"x":"{filler}"}},"method":"m"}}"#), "too long, id "),
        (std::format!(r#"{{"id":1,"params":"{filler}","id":22}}"#), "too long, id 22"),
        (std::format!(r#"{{"id":1,"id":22,"params":"{filler}"}}"#), "too long, id 22"),
        (std::format!(r#"{{"id":12345678,"params":"{filler}"}}"#), "too long, id 12345678"),
        (std::format!(r#"{{"id":123456789,"params":"{filler}"}}"#), "too long, id too long"),
        (std::format!(r#"{{"params":"{filler}","id":"{filler}"}}"#), "too long, id too long"),
        (std::format!(r#"{{"params":"{filler}","id":}}"#), "broken Syntax"),
        (std::format!(r#"{{"\u0069d":5,"params":"{filler}"}}"#), "too long, id 5"),
        (std::format!(r#"{{"params":{deep}"{filler}"{close},"id":5}}"#), "too long, id 5"),
        (std::format!(r#"{{"params":{deep}"{filler}"{close},"id":"ab"#), "broken Incomplete"),
        (std::format!(r#"{{"id":5,"params":{deep}"{filler}""#), "broken Incomplete"),
    ];
    for (line, expected) in cases {
        let input = [line.as_str(), "\n[1]\n"].concat();
        for rx in [LineDecoder::min_buffer_size(8), 26, 30, 64, 100, 499] {
            for size in [1, 2, 5, 64, 10_000] {
                assert_eq!(
                    lines(rx, input.as_bytes(), size),
                    [expected, "[1]"],
                    "{line} by {size} into {rx}"
                );
            }
        }
    }
}

#[test]
fn input_may_end_in_an_oversized_line() {
    let whole = std::format!(r#"{{"params":"{}","id":3}}"#, "x".repeat(200));
    assert_eq!(lines(64, whole.as_bytes(), 9), ["too long, id 3"]);
    assert_eq!(lines(64, &whole.as_bytes()[..150], 9), ["truncated"]);
}

/// Reads `text` into the space of the decoder.
fn read(input: &mut LineDecoder<'_>, text: &str) {
    input.space()[..text.len()].copy_from_slice(text.as_bytes());
    input.filled(text.len(), StreamId::NONE);
}

#[test]
fn oversized_line_keeps_its_id_up_to_the_limit() {
    let mut buffer = [0; 40];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 5);
    assert_eq!(decoder.limit(), 40);
    for (id, fits) in [(12345, true), (123_456, false)] {
        let text = std::format!("{{\"id\":{id},\"x\":\"{}\"}}\n", "x".repeat(60));
        for piece in text.as_bytes().chunks(20) {
            assert!(decoder.line().is_none());
            decoder.provide_space();
            read(&mut decoder, std::str::from_utf8(piece).unwrap());
        }
        assert_eq!(decoder.line(), Some(LineKind::TooLong), "{text}");
        assert_eq!(!decoder.intact_id().is_empty(), fits);
        decoder.release();
    }
}

#[test]
fn spans_start_at_the_line_and_may_be_replaced() {
    let mut buffer = [0; 40];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    read(&mut decoder, "[]\n\n {\"id\":7}\n{\"id\":8}\n");
    assert!(decoder.line().is_some());
    decoder.release();
    assert!(decoder.line().is_some());
    let id = decoder.scanner().span(Member::Id);
    assert_eq!(&decoder.bytes()[id.range()], b"7");
    decoder.bytes_mut()[id.start] = b'9';
    assert_eq!(decoder.bytes(), b" {\"id\":9}");
    let spans = [1, 2, 3, 4, 5, 6].map(|start| Span { start, end: 7 });
    decoder.hold_event(spans);
    assert_eq!(*decoder.event_spans(), spans);
    decoder.release();
    assert!(decoder.line().is_some());
    assert_eq!(decoder.scanner().span(Member::Id), Span { start: 6, end: 7 });
}

#[test]
fn reset_drops_buffered_input_and_reopens() {
    let mut buffer = [0; 32];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    let long = "x".repeat(32);
    for before in ["", "{\"a", "\u{feff}", "\u{feff}[1]\n[2", "!", long.as_str()] {
        read(&mut decoder, before);
        let _ = decoder.line();
        decoder.provide_space();
        decoder.eof();
        assert!(decoder.is_ended() && !decoder.is_ready() && decoder.space().is_empty());
        decoder.reset();
        assert!(
            !decoder.is_ended()
                && decoder.is_ready()
                && decoder.line().is_none()
                && decoder.bytes().is_empty()
        );
        read(&mut decoder, "\u{feff}[3]\n");
        assert_eq!(decoder.line(), Some(LineKind::Message), "after {before:?}");
        assert_eq!(decoder.bytes(), b"[3]");
        decoder.release();
    }
}

#[test]
fn close_drops_buffered_input_and_refuses_more() {
    let mut buffer = [0; 32];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    read(&mut decoder, "[1]\n[2]\n");
    assert!(decoder.line().is_some());
    decoder.close();
    assert!(decoder.is_ended() && decoder.line().is_none());
    decoder.filled(4, StreamId::NONE);
    assert!(decoder.line().is_none(), "buffered lines are dropped too");
}

#[test]
fn release_without_a_line_changes_nothing() {
    let mut buffer = [0; 32];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    read(&mut decoder, "\u{feff}[1,");
    assert!(decoder.line().is_none());
    decoder.release();
    read(&mut decoder, "2]\n");
    assert!(decoder.line().is_some());
    assert_eq!(decoder.bytes(), b"[1,2]");
}

#[test]
fn input_after_an_unreleased_oversized_line_is_kept() {
    let mut buffer = [0; 64];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    let text = std::format!("{{\"id\":42,\"x\":\"{}\"}}\n[1]\n", "x".repeat(90));
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let _ = decoder.line();
        decoder.provide_space();
        let space = decoder.space();
        let n = space.len().min(rest.len());
        assert!(n > 0);
        space[..n].copy_from_slice(&rest[..n]);
        decoder.filled(n, StreamId::NONE);
        rest = &rest[n..];
    }
    for _ in 0..3 {
        decoder.provide_space();
        assert_eq!(decoder.line(), Some(LineKind::TooLong));
        assert_eq!(decoder.bytes(), b"42");
    }
    decoder.release();
    assert!(decoder.line().is_some());
    assert_eq!(decoder.bytes(), b"[1]");
}

#[cfg(feature = "alloc")]
#[test]
fn grown_buffer_accepts_lines_up_to_its_limit() {
    let mut decoder = LineDecoder::new(Buffer::grown(20_000), 128, 8);
    let text = std::format!("\"{}\"\n", "x".repeat(19_000));
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        assert!(decoder.line().is_none());
        decoder.provide_space();
        let space = decoder.space();
        let n = space.len().min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        decoder.filled(n, StreamId::NONE);
        rest = &rest[n..];
    }
    assert_eq!(decoder.line(), Some(LineKind::Message));
    assert_eq!(decoder.bytes().len(), 19_002);
}

/// The heap has less space than the limit of the buffer. A line that exhausts the heap is refused like a line beyond
/// the limit.
#[cfg(feature = "alloc")]
#[test]
fn line_that_exceeds_the_heap_is_too_long() {
    crate::buffer::tests::HEAP.set(3000);
    let mut decoder = LineDecoder::new(Buffer::grown(20_000), 128, 8);
    let long = std::format!("{{\"id\":7,\"x\":\"{}\"}}", "x".repeat(3000));
    let fits = std::format!("{{\"x\":\"{}\"}}", "x".repeat(2800));
    let text = [&fits, &long, "{}", &fits].map(|line| std::format!("{line}\n")).concat();
    let (mut rest, mut found) = (text.as_bytes(), Vec::new());
    while found.len() < 4 {
        while let Some(line) = decoder.line() {
            found.push((line == LineKind::Message).then_some(decoder.bytes().len()));
            decoder.release();
        }
        decoder.provide_space();
        let space = decoder.space();
        let n = space.len().min(rest.len());
        assert!(n > 0 || rest.is_empty(), "no space to read");
        space[..n].copy_from_slice(&rest[..n]);
        decoder.filled(n, StreamId::NONE);
        rest = &rest[n..];
    }
    crate::buffer::tests::HEAP.set(usize::MAX);
    assert_eq!(found, [Some(fits.len()), None, Some(2), Some(fits.len())]);
}

#[cfg(feature = "alloc")]
#[test]
fn grown_buffer_grows_when_read_space_is_low() {
    let mut decoder = LineDecoder::new(Buffer::grown(20_000), 128, 8);
    let room = |decoder: &mut LineDecoder<'_>, filled| {
        decoder.filled(filled, StreamId::NONE);
        decoder.provide_space();
        decoder.buffer.bytes().len()
    };
    let size = room(&mut decoder, 0);
    assert!(size >= READ_AHEAD);
    assert_eq!(room(&mut decoder, 10), size, "no growth at the first bytes of a line");
    assert_eq!(room(&mut decoder, size - READ_AHEAD / 4 - 10), size);
    assert!(room(&mut decoder, 1) > size);
    let mut decoder = LineDecoder::new(Buffer::grown(20_000), 128, 8);
    assert_eq!(room(&mut decoder, 0), size);
    decoder.filled(size - 1, StreamId::NONE);
    decoder.eof();
    assert_eq!(room(&mut decoder, 0), size, "no growth after the end of input");
}

#[cfg(feature = "alloc")]
#[test]
fn grown_buffer_grows_when_reads_fill_it() {
    let mut decoder = LineDecoder::new(Buffer::grown(1 << 20), 128, 8);
    // Reads up to `most` bytes of short lines into the space. Returns the number of bytes.
    let read = |decoder: &mut LineDecoder<'_>, most: usize| {
        decoder.provide_space();
        let space = decoder.space();
        let n = most.min(space.len());
        space[..n].fill(b' ');
        space[..n].iter_mut().skip(99).step_by(100).for_each(|byte| *byte = b'\n');
        decoder.filled(n, StreamId::NONE);
        assert!(decoder.line().is_none(), "blank");
        n
    };
    let sizes: Vec<usize> = (0..8).map(|_| read(&mut decoder, usize::MAX)).collect();
    assert!(sizes[0] < 10_000 && sizes[..4].is_sorted(), "{sizes:?}");
    assert!((MAX_READ_AHEAD - 100..2 * MAX_READ_AHEAD).contains(&sizes[7]), "{sizes:?}");
    for _ in 0..100 {
        read(&mut decoder, 10_000);
        decoder.start_line();
    }
    assert!(decoder.buffer.bytes().len() < 2 * 10_000 + READ_AHEAD, "{}", decoder.buffer.bytes().len());
    let mut decoder = LineDecoder::new(Buffer::grown(20_000), 128, 8);
    for _ in 0..8 {
        assert!(read(&mut decoder, usize::MAX) <= 20_000);
    }
}

#[test]
fn small_lines_do_not_move_the_whole_buffer() {
    let mut buffer = [0; 1024];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    decoder.provide_space();
    decoder.space().copy_from_slice(&b"{}\n".repeat(342)[..1024]);
    decoder.filled(1024, StreamId::NONE);
    // Each line waits for transmit space once. The decoder provides read space only if much of the buffer is free.
    let (mut moved, mut found) = (0, 0);
    while decoder.line().is_some() {
        let before = decoder.start;
        decoder.provide_space();
        if decoder.start < before {
            moved += decoder.end;
        }
        let space = decoder.space();
        let n = space.len().min(3);
        space[..n].copy_from_slice(&b"{}\n"[..n]);
        decoder.filled(n, StreamId::NONE);
        decoder.release();
        found += 1;
        if found == 2000 {
            break;
        }
    }
    assert!(moved <= 2 * 3 * found, "{moved} bytes were moved for {found} lines of 3 bytes");
}
