//! Tests of response heads, valid and invalid.

use super::{BodyFraming, HttpVersion, cut_everywhere, parse_response, rejected, response};
use mcp_proto_http::http1::ResponseDecoder;

#[test]
fn response_has_status_and_known_fields() {
    let input = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: 2\r\nDate: x\r\n\
         WWW-Authenticate: Bearer a=\"1\", b=2\r\nRetry-After: 5\r\nAllow: POST\r\nMcp-Session-Id: s\r\n\
         www-authenticate: Basic\r\nALLOW: GET\r\nHost: h\r\nCache-Control: no-cache\r\n\r\n{}";
    let (head, consumed) = parse_response(input).unwrap().unwrap();
    assert_eq!((head.status, head.version, head.keeps_alive), (401, HttpVersion::Http11, true));
    assert_eq!((head.body, head.field("host")), (BodyFraming::Length(2), None));
    let expected = [
        ("content-type", "application/json"),
        ("content-length", "2"),
        ("mcp-session-id", "s"),
        ("retry-after", "5"),
        ("www-authenticate", "Bearer a=\"1\", b=2, Basic"),
        ("allow", "POST, GET"),
    ];
    assert_eq!(head.fields, expected.map(|(name, value)| (name, value.to_owned())));
    assert_eq!(consumed, input.len() - 2);
}

#[test]
fn status_line_is_parsed() {
    for (line, status) in [
        ("HTTP/1.1 200 OK", 200),
        ("HTTP/1.1 202 ", 202),
        ("HTTP/1.1 204", 204),
        ("HTTP/1.0 404 Nicht gefunden \u{e4}\t", 404),
        ("HTTP/1.5 999 x", 999),
    ] {
        let (head, _) = parse_response(format!("{line}\r\n\r\n")).unwrap().unwrap();
        assert_eq!(head.status, status, "{line}");
    }
}

#[test]
fn invalid_responses_are_rejected() {
    for (status, text, input) in [
        (400, "status line: invalid version", "\r\nHTTP/1.1 200 OK\r\n\r\n"),
        (400, "status line: invalid version", "HTTP/1.1\r\n"),
        (400, "status line: invalid version", "HTTP/1 200 OK\r\n"),
        (400, "status line: invalid version", "http/1.1 200 OK\r\n"),
        (400, "status line: invalid version", "SSH-2.0-OpenSSH_9.6\r\n"),
        (505, "status line: only HTTP/1.1 and HTTP/1.0 are supported", "HTTP/2.0 200 OK\r\n"),
        (400, "status line: invalid status", "HTTP/1.1  200 OK\r\n"),
        (400, "status line: invalid status", "HTTP/1.1 20 OK\r\n"),
        (400, "status line: invalid status", "HTTP/1.1 2000 OK\r\n"),
        (400, "status line: invalid status", "HTTP/1.1 099 OK\r\n"),
        (400, "status line: invalid status", "HTTP/1.1 200\n"),
        (400, "status line: invalid status", "HTTP/1.1 2x0\r\n"),
        (400, "status line: invalid reason phrase", "HTTP/1.1 200 O\0K\r\n"),
        (400, "status line: invalid reason phrase", "HTTP/1.1 200 OK\n"),
        (400, "status line: CR without LF", "HTTP/1.1 200 OK\rX"),
        (400, "field line: line folding is obsolete", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n"),
        (
            400,
            "Content-Length: repeated",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ),
        (
            400,
            "Mcp-Session-Id: repeated",
            "HTTP/1.1 200 OK\r\nMcp-Session-Id: 1\r\nMcp-Session-Id: 2\r\n\r\n",
        ),
        (
            400,
            "Content-Length: not allowed with Transfer-Encoding",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ),
        (
            501,
            "Transfer-Encoding: only chunked is supported",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        ),
        (
            400,
            "Transfer-Encoding: not allowed in HTTP/1.0",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        ),
    ] {
        assert_eq!(rejected(parse_response(input)), (status, text.to_owned()), "{input:?}");
    }
}

#[test]
fn body_and_connection_follow_from_the_head() {
    let chunked = "Transfer-Encoding: chunked\r\n";
    for (line, fields, body, keeps_alive) in [
        ("HTTP/1.1 200 OK", "Content-Length: 7\r\n", BodyFraming::Length(7), true),
        ("HTTP/1.1 200 OK", "Content-Length: 7\r\nConnection: close\r\n", BodyFraming::Length(7), false),
        ("HTTP/1.1 200 OK", chunked, BodyFraming::Chunked, true),
        ("HTTP/1.1 200 OK", "", BodyFraming::UntilClose, false),
        ("HTTP/1.0 200 OK", "Content-Length: 7\r\n", BodyFraming::Length(7), false),
        ("HTTP/1.0 200 OK", "Content-Length: 7\r\nConnection: Keep-Alive\r\n", BodyFraming::Length(7), true),
        ("HTTP/1.1 202 Accepted", "Content-Length: 0\r\n", BodyFraming::EMPTY, true),
        ("HTTP/1.1 204 No Content", "", BodyFraming::EMPTY, true),
        ("HTTP/1.1 304 Not Modified", "Content-Length: 7\r\n", BodyFraming::EMPTY, true),
        ("HTTP/1.1 100 Continue", "", BodyFraming::EMPTY, true),
        ("HTTP/1.1 200 OK", "Mcp-Session-Id: 1\r\nMcp-Session-Id: 1\r\n", BodyFraming::UntilClose, false),
    ] {
        let (head, _) = parse_response(format!("{line}\r\n{fields}\r\n")).unwrap().unwrap();
        assert_eq!((head.body, head.keeps_alive), (body, keeps_alive), "{line} {fields}");
    }
}

#[test]
fn interim_responses_precede_the_final_one() {
    let mut input: &[u8] =
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 101 X\r\n\r\n";
    let mut buffer = [0; 16];
    let mut decoder = ResponseDecoder::new(&mut buffer);
    let mut seen = Vec::new();
    while !input.is_empty() {
        let consumed = decoder.feed(input).unwrap();
        input = &input[consumed..];
        let head = decoder.head().unwrap();
        seen.push((head.status(), head.is_interim()));
        decoder.reset();
    }
    assert_eq!(seen, [(100, true), (103, true), (101, false)]);
}

#[test]
fn response_limits_have_status_431() {
    let text = "HTTP/1.1 200 OK\r\nServer: something long\r\nRetry-After: 120\r\n\r\n";
    for limit in 0..text.len() {
        let error = cut_everywhere(text.as_bytes(), |pieces| response(300, limit, pieces)).unwrap_err();
        assert_eq!((error.status(), error.element()), (431, "head"), "{limit}");
    }
    assert!(response(7, text.len(), [text.as_bytes()]).is_ok());
    let error = response(6, text.len(), [text.as_bytes()]).unwrap_err();
    assert_eq!((error.status(), error.element()), (431, "Retry-After"));
}
