//! Rejected requests, above all those that two parsers may read differently (RFC 9112, section 11.2).

use super::{BodyFraming, accepted, parse_request, rejected};

/// Start of a valid request, to which a test appends fields.
const POST: &str = "POST / HTTP/1.1\r\nHost: h\r\n";

#[test]
fn invalid_requests_are_rejected_with_their_status() {
    let table: &[(u16, &str, &[u8])] = &[
        // Start line.
        (400, "request line: invalid method", b"\nGET / HTTP/1.1\r\n"),
        (400, "request line: invalid method", b"\r\rGET / HTTP/1.1\r\n"),
        (400, "request line: invalid method", b" GET / HTTP/1.1\r\n"),
        (400, "request line: invalid method", b"G(T / HTTP/1.1\r\n"),
        (400, "request line: invalid method", b"GET\t/ HTTP/1.1\r\n"),
        (400, "request line: invalid method", b"GET\0 / HTTP/1.1\r\n"),
        (400, "request line: invalid method", b"GET\r\n"),
        (400, "request line: invalid method", b"\x16\x03\x01\x02\0\x01"),
        (400, "request line: invalid method", b"{\"jsonrpc\":\"2.0\"}\n"),
        (501, "request line: unknown method", b"ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\n"),
        (400, "request line: invalid target", b"GET  / HTTP/1.1\r\n"),
        (400, "request line: invalid target", b"GET /\t HTTP/1.1\r\n"),
        (400, "request line: invalid target", b"GET /\0 HTTP/1.1\r\n"),
        (400, "request line: invalid target", b"GET /\x7F HTTP/1.1\r\n"),
        (400, "request line: invalid target", b"GET /\xC3\xA4 HTTP/1.1\r\n"),
        (400, "request line: invalid target", b"GET mcp HTTP/1.1\r\nHost: h\r\n\r\n"),
        (400, "request line: invalid target", b"GET * HTTP/1.1\r\nHost: h\r\n\r\n"),
        (400, "request line: invalid target", b"OPTIONS x HTTP/1.1\r\nHost: h\r\n\r\n"),
        (400, "request line: invalid target", b"GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n"),
        (400, "request line: invalid host in the target", b"GET http:///x HTTP/1.1\r\nHost: h\r\n\r\n"),
        (400, "request line: invalid host in the target", b"GET http://u@h/ HTTP/1.1\r\nHost: h\r\n\r\n"),
        (400, "request line: no version", b"GET /\r\n"),
        (400, "request line: no version", b"GET /\n"),
        (400, "request line: invalid version", b"GET / \r\n"),
        (400, "request line: invalid version", b"GET /  HTTP/1.1\r\n"),
        (400, "request line: invalid version", b"GET / x HTTP/1.1\r\n"),
        (400, "request line: invalid version", b"GET / http/1.1\r\n"),
        (400, "request line: invalid version", b"GET / HTTP/1\r\n"),
        (400, "request line: invalid version", b"GET / HTTP/1.\r\n"),
        (400, "request line: invalid version", b"GET / HTTP/1.10\r\n"),
        (400, "request line: invalid version", b"GET / HTTP/1.1 \r\n"),
        (400, "request line: invalid version", b"GET / HTTP/1.1\n"),
        (400, "request line: CR without LF", b"GET / HTTP/1.1\rHost: h\r\n\r\n"),
        (505, "request line: only HTTP/1.1 and HTTP/1.0 are supported", b"GET / HTTP/0.9\r\n"),
        (505, "request line: only HTTP/1.1 and HTTP/1.0 are supported", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        // Field lines.
        (400, "field line: line folding is obsolete", b"GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
        (400, "field line: line folding is obsolete", b"GET / HTTP/1.1\r\nHost: h\r\n x\r\n\r\n"),
        (400, "field line: line folding is obsolete", b"GET / HTTP/1.1\r\nX: h\r\n\tx\r\n\r\n"),
        (400, "field line: white space before the colon", b"GET / HTTP/1.1\r\nHost : h\r\n\r\n"),
        (400, "field line: white space before the colon", b"GET / HTTP/1.1\r\nX\t: h\r\n\r\n"),
        (400, "field line: empty name", b"GET / HTTP/1.1\r\n: h\r\n\r\n"),
        (400, "field line: line without a colon", b"GET / HTTP/1.1\r\nHost\r\n\r\n"),
        (400, "field line: invalid byte in a name", b"GET / HTTP/1.1\r\nH\0st: h\r\n\r\n"),
        (400, "field line: invalid byte in a name", b"GET / HTTP/1.1\r\nH\xF6st: h\r\n\r\n"),
        (400, "field line: invalid byte in a name", b"GET / HTTP/1.1\r\n\0: h\r\n\r\n"),
        (400, "field line: invalid byte in a name", b"GET / HTTP/1.1\r\nX(: h\r\n\r\n"),
        (400, "Host: control character in a value", b"GET / HTTP/1.1\r\nHost: \0h\r\n\r\n"),
        (400, "field line: control character in a value", b"GET / HTTP/1.1\r\nX: a\0\r\n\r\n"),
        (400, "field line: control character in a value", b"GET / HTTP/1.1\r\nX: a\x0Bb\r\n\r\n"),
        (400, "field line: control character in a value", b"GET / HTTP/1.1\r\nX: \x7F\r\n\r\n"),
        (400, "Origin: CR without LF", b"GET / HTTP/1.1\r\nOrigin: h\rX: y\r\n\r\n"),
        (400, "Origin: CR without LF", b"GET / HTTP/1.1\r\nOrigin: h\r\r\n\r\n"),
        (400, "Host: LF without CR", b"GET / HTTP/1.1\r\nHost: h\n\r\n"),
        (400, "field line: LF without CR", b"GET / HTTP/1.1\r\nHost: h\r\n\n"),
        (400, "field line: LF without CR", b"GET / HTTP/1.1\r\nHost\n\r\n"),
        (400, "field line: CR without LF", b"GET / HTTP/1.1\r\nHost: h\r\n\rx"),
        // Fields.
        (400, "Host: missing", b"GET / HTTP/1.1\r\n\r\n"),
        (400, "Host: repeated", b"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"),
        (400, "Host: invalid", b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        (400, "Host: invalid", b"GET / HTTP/1.1\r\nHost: h/x\r\n\r\n"),
        (400, "Host: invalid", b"GET / HTTP/1.1\r\nHost: evil@h\r\n\r\n"),
        (400, "Host: invalid", b"GET / HTTP/1.1\r\nHost: \xFF\r\n\r\n"),
        (400, "Origin: repeated", b"GET / HTTP/1.1\r\nHost: h\r\nOrigin: a\r\nORIGIN: a\r\n\r\n"),
        (
            400,
            "Mcp-Session-Id: repeated",
            b"GET / HTTP/1.1\r\nMcp-Session-Id: a\r\nMcp-Session-Id: b\r\n\r\n",
        ),
        (400, "Mcp-Param-*: repeated", b"GET / HTTP/1.1\r\nMcp-Param-A: 1\r\nmcp-param-a: 1\r\n\r\n"),
    ];
    for (status, text, input) in table {
        let shown = input.escape_ascii();
        assert_eq!(rejected(parse_request(input)), (*status, (*text).to_owned()), "{shown}");
    }
}

#[test]
fn ambiguous_body_lengths_are_rejected() {
    for (status, text, fields) in [
        (411, "Content-Length: missing", ""),
        (400, "Content-Length: not a number", "Content-Length:\r\n"),
        (400, "Content-Length: not a number", "Content-Length: +5\r\n"),
        (400, "Content-Length: not a number", "Content-Length: -5\r\n"),
        (400, "Content-Length: not a number", "Content-Length: 5 5\r\n"),
        (400, "Content-Length: not a number", "Content-Length: 5, 5\r\n"),
        (400, "Content-Length: not a number", "Content-Length: 0x5\r\n"),
        (400, "Content-Length: not a number", "Content-Length: 5.0\r\n"),
        (400, "Content-Length: not a number", "Content-Length: \u{665}\r\n"),
        (400, "Content-Length: repeated", "Content-Length: 5\r\nContent-Length: 6\r\n"),
        (400, "Content-Length: repeated", "Content-Length: 5\r\nContent-Length: x\r\n"),
        (400, "Content-Length: repeated", "Content-Length: x\r\nContent-Length: x\r\n"),
        (
            400,
            "Content-Length: not allowed with Transfer-Encoding",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        ),
        (
            400,
            "Content-Length: not allowed with Transfer-Encoding",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        ),
        (
            400,
            "Content-Length: not allowed with Transfer-Encoding",
            "Content-Length: 5\r\nTransfer-Encoding:\r\n",
        ),
        (400, "Transfer-Encoding: chunked is not the last coding", "Transfer-Encoding:\r\n"),
        (400, "Transfer-Encoding: chunked is not the last coding", "Transfer-Encoding: identity\r\n"),
        (400, "Transfer-Encoding: chunked is not the last coding", "Transfer-Encoding: gzip\r\n"),
        (400, "Transfer-Encoding: chunked is not the last coding", "Transfer-Encoding: chunked, gzip\r\n"),
        (400, "Transfer-Encoding: chunked is not the last coding", "Transfer-Encoding: xchunked\r\n"),
        (400, "Transfer-Encoding: chunked is not the last coding", "Transfer-Encoding: chunked;q=1\r\n"),
        (400, "Transfer-Encoding: chunked is not the last coding", "Transfer-Encoding: \"chunked\"\r\n"),
        (
            400,
            "Transfer-Encoding: chunked is not the last coding",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        ),
        (400, "Transfer-Encoding: chunked is repeated", "Transfer-Encoding: chunked, chunked\r\n"),
        (
            400,
            "Transfer-Encoding: chunked is repeated",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        ),
        (400, "Transfer-Encoding: control character in a value", "Transfer-Encoding: \u{b}chunked\r\n"),
        (501, "Transfer-Encoding: only chunked is supported", "Transfer-Encoding: gzip, chunked\r\n"),
        (
            501,
            "Transfer-Encoding: only chunked is supported",
            "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        ),
        (417, "Expect: only 100-continue is supported", "Content-Length: 5\r\nExpect: 200-ok\r\n"),
        (417, "Expect: only 100-continue is supported", "Content-Length: 5\r\nExpect: 100-continue, x\r\n"),
    ] {
        let parsed = parse_request(format!("{POST}{fields}\r\n"));
        assert_eq!(rejected(parsed), (status, text.to_owned()), "{fields:?}");
    }
    let old = parse_request("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!(rejected(old), (400, "Transfer-Encoding: not allowed in HTTP/1.0".to_owned()));
}

#[test]
fn unambiguous_body_lengths_are_accepted() {
    for (fields, expected) in [
        ("Content-Length: 0\r\n", BodyFraming::EMPTY),
        ("Content-Length: 00012\r\n", BodyFraming::Length(12)),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", BodyFraming::Length(5)),
        ("Content-Length: 5\r\nContent-Length: 05\r\n", BodyFraming::Length(5)),
        (&"Content-Length: 5\r\n".repeat(100), BodyFraming::Length(5)),
        ("Content-Length: 18446744073709551615\r\n", BodyFraming::Length(u64::MAX)),
        ("Content-Length: 99999999999999999999999\r\n", BodyFraming::Length(u64::MAX)),
        ("Transfer-Encoding: chunked\r\n", BodyFraming::Chunked),
        ("transfer-ENCODING:\tChunked \r\n", BodyFraming::Chunked),
        ("Transfer-Encoding: , chunked,\r\n", BodyFraming::Chunked),
    ] {
        assert_eq!(accepted(format!("{POST}{fields}\r\n")).body, expected, "{fields:?}");
    }
}

#[test]
fn incomplete_heads_are_neither_accepted_nor_rejected() {
    let text = format!("{POST}Content-Length: 5\r\n\r\n");
    for length in 0..text.len() {
        assert_eq!(parse_request(&text[..length]), Ok(None), "{length}");
    }
}
