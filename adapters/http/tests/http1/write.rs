//! Tests of the writer of heads.

use super::{BodyFraming, accepted, parse_response};
use mcp_proto_http::WriteError;
use mcp_proto_http::http1::{CONTINUE, HeadWriter};

#[test]
fn response_head_is_written() {
    let mut buffer = [0; 300];
    let head = HeadWriter::response(&mut buffer, 405)
        .field("Allow", "POST")
        .raw_field("X-Id", b"\xFF")
        .field("Retry-After", ("", 5))
        .content_length(0)
        .close()
        .finish()
        .unwrap();
    let expected = b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nX-Id: \xFF\r\nRetry-After: 5\r\n\
        Content-Length: 0\r\nConnection: close\r\n\r\n";
    assert_eq!(head, expected);
    let (parsed, _) = parse_response(head).unwrap().unwrap();
    assert_eq!((parsed.status, parsed.body, parsed.keeps_alive), (405, BodyFraming::EMPTY, false));
}

#[test]
fn status_always_has_three_digits() {
    let mut buffer = [0; 100];
    for (status, line) in
        [(200, "HTTP/1.1 200 OK"), (299, "HTTP/1.1 299 "), (0, "HTTP/1.1 100 "), (65535, "HTTP/1.1 999 ")]
    {
        let head = HeadWriter::response(&mut buffer, status).finish().unwrap();
        assert_eq!(head, format!("{line}\r\n\r\n").as_bytes());
        assert!(parse_response(head).is_ok());
    }
    assert_eq!(parse_response(CONTINUE).unwrap().unwrap().0.status, 100);
}

#[test]
fn request_head_is_written() {
    let mut buffer = [0; 300];
    let head = HeadWriter::request(&mut buffer, "POST", "/mcp?x", "localhost:3000")
        .field("Accept", "application/json, text/event-stream")
        .chunked()
        .finish()
        .unwrap();
    let parsed = accepted(head);
    assert_eq!((parsed.method.as_str(), parsed.target.as_str()), ("POST", "/mcp?x"));
    assert_eq!((parsed.field("host"), parsed.body), (Some("localhost:3000"), BodyFraming::Chunked));
}

#[test]
fn injected_lines_are_refused() {
    let refused = |head: HeadWriter<'_>| assert_eq!(head.finish(), Err(WriteError::InvalidByte));
    let mut buffer = [0; 300];
    for value in ["a\r\nX: y", "a\nb", "\r", "\0", "\u{7f}"] {
        refused(HeadWriter::response(&mut buffer, 200).field("X", value));
        refused(HeadWriter::response(&mut buffer, 200).raw_field("X", value.as_bytes()));
        refused(HeadWriter::request(&mut buffer, "GET", "/", value));
    }
    for name in ["", "a b", "a:", "a\r\n", "\u{e4}"] {
        refused(HeadWriter::response(&mut buffer, 200).field(name, "x"));
        refused(HeadWriter::request(&mut buffer, name, "/", "h"));
    }
    for target in ["", "/ x", "/\r\n", "/\u{e4}"] {
        refused(HeadWriter::request(&mut buffer, "GET", target, "h"));
    }
}

#[test]
fn small_buffer_is_reported_once() {
    let write = |buffer: &mut [u8]| {
        let head =
            HeadWriter::response(buffer, 200).field("Content-Type", "application/json").content_length(12);
        head.finish().map(<[u8]>::len)
    };
    let length = write(&mut [0; 100]).unwrap();
    for size in 0..length {
        assert_eq!(write(&mut vec![0; size]), Err(WriteError::BufferFull), "{size}");
    }
    assert_eq!(write(&mut vec![0; length]), Ok(length));
    assert_eq!(WriteError::BufferFull.to_string(), "the buffer is full");
}
