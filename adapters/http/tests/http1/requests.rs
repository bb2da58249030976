//! Tests of valid request heads, and of the limits of their length.

use super::{BodyFraming, HttpVersion, accepted, parse_request, rejected, request};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::http1::{BodyDecoder, RequestDecoder};

#[test]
fn request_has_method_target_and_known_fields() {
    let head = accepted(
        "POST /mcp?x=1 HTTP/1.1\r\nHost: localhost:3000\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: 12\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMCP-NAME: hello\r\nmcp-session-id:\t abc \t\r\nLast-Event-ID:7\r\n\
         Authorization: Bearer x\r\nConnection: keep-alive\r\nMcp-Param-Region: EU\r\nMcp-Param-X:\r\n\r\n",
    );
    assert_eq!((head.method.as_str(), head.target.as_str()), ("POST", "/mcp?x=1"));
    assert_eq!((head.path.as_str(), head.query.as_deref()), ("/mcp", Some("x=1")));
    assert_eq!(
        (head.version, head.body, head.keeps_alive),
        (HttpVersion::Http11, BodyFraming::Length(12), true)
    );
    let expected = [
        ("host", "localhost:3000"),
        ("origin", "http://localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("content-length", "12"),
        ("connection", "keep-alive"),
        ("authorization", "Bearer x"),
        ("mcp-session-id", "abc"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "hello"),
        ("last-event-id", "7"),
        ("mcp-param-region", "EU"),
        ("mcp-param-x", ""),
    ];
    assert_eq!(head.fields, expected.map(|(name, value)| (name, value.to_owned())));
}

#[test]
fn browser_request_fits_in_300_bytes() {
    let mut text = String::from("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nConnection: keep-alive\r\n");
    text += "sec-ch-ua: \"Chromium\";v=\"140\", \"Not=A?Brand\";v=\"24\", \"Google Chrome\";v=\"140\"\r\n";
    text += "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0\r\n";
    text += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    text += &format!("Cookie: {}\r\n", "session=0123456789abcdef; ".repeat(100));
    text += "Origin: http://127.0.0.1:8000\r\nSec-Fetch-Site: same-origin\r\nAccept-Encoding: gzip, deflate, br\r\n";
    text += "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\nMcp-Protocol-Version: 2025-11-25\r\n";
    text += "Referer: http://127.0.0.1:8000/\r\nContent-Length: 1234\r\n\r\n";
    let (head, consumed) = request(300, 16 * 1024, [text.as_bytes()]).unwrap().unwrap();
    assert_eq!((head.body, consumed), (BodyFraming::Length(1234), text.len()));
    assert_eq!(head.field("cookie"), None);
}

#[test]
fn unknown_fields_with_similar_names_are_dropped() {
    let head = accepted(
        "GET / HTTP/1.1\r\nHost: a\r\nHostX: b\r\nHos: c\r\nX-Host: d\r\nMcp-Param-: e\r\nMcp-Para: f\r\n\
         Content-Length_: 5\r\nContent_Length: 6\r\nAcceptx: g\r\n\r\n",
    );
    assert_eq!(head.fields, [("host", "a".to_owned())]);
    assert_eq!(head.body, BodyFraming::EMPTY);
}

#[test]
fn repeated_lists_are_joined() {
    let head = accepted(
        "GET / HTTP/1.1\r\nAccept: a\r\nHost: h\r\nAccept:  b/c \r\nMcp-Param-X: 1\r\nConnection: x\r\naccept:\r\n\
         Connection: close\r\nOrigin: o\r\n\r\n",
    );
    assert_eq!(head.field("accept"), Some("a, b/c, "));
    assert_eq!(head.field("connection"), Some("x, close"));
    assert!(!head.keeps_alive);
    for (name, value) in [("host", "h"), ("origin", "o"), ("mcp-param-x", "1")] {
        assert_eq!(head.field(name), Some(value));
    }
}

#[test]
fn names_are_compared_without_regard_to_case() {
    fn value<'a>(head: &'a impl HeaderFields, name: &str) -> Option<&'a [u8]> {
        head.field(name)
    }
    let mut buffer = [0; 100];
    let mut decoder = RequestDecoder::new(&mut buffer);
    decoder.feed(b"GET / HTTP/1.1\r\nhOST: h\r\nMCP-Param-ReGion: 1\r\n\r\n").unwrap();
    let head = decoder.head().unwrap();
    for (name, expected) in
        [("host", "h"), ("HOST", "h"), ("mcp-param-region", "1"), ("Mcp-Param-REGION", "1")]
    {
        assert_eq!(value(&&head, name), Some(expected.as_bytes()));
    }
    assert_eq!(value(&&head, "mcp-param-reg"), None);
}

#[test]
fn parameters_differ_by_name() {
    let head = accepted("GET / HTTP/1.1\r\nHost: h\r\nmcp-param-x: 1\r\nMcp-Param-Region: 2\r\n\r\n");
    assert_eq!((head.field("mcp-param-x"), head.field("mcp-param-region")), (Some("1"), Some("2")));
}

#[test]
fn connection_persists_by_version_and_option() {
    for (version, field, expected) in [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: CLOSE\r\n", false),
        ("1.1", "Connection: keep-alive, close\r\n", false),
        ("1.1", "Connection: closed\r\n", true),
        ("1.1", "Connection: upgrade\r\nConnection: close\r\n", false),
        ("1.0", "", false),
        ("1.0", "Connection: Keep-Alive\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
        ("1.7", "", true),
    ] {
        let head = accepted(format!("GET / HTTP/{version}\r\nHost: h\r\n{field}\r\n"));
        assert_eq!(head.keeps_alive, expected, "{version} {field}");
    }
}

#[test]
fn http_1_0_needs_no_host() {
    let head = accepted("GET / HTTP/1.0\r\n\r\n");
    assert_eq!((head.version, head.field("host")), (HttpVersion::Http10, None));
}

#[test]
fn targets_have_a_path_and_a_host() {
    for (target, path, query, host) in [
        ("/", "/", None, "h"),
        ("/mcp", "/mcp", None, "h"),
        ("/mcp?", "/mcp", Some(""), "h"),
        ("/mcp?a=b?c", "/mcp", Some("a=b?c"), "h"),
        ("//evil/x", "//evil/x", None, "h"),
        ("/r?u=http://evil/", "/r", Some("u=http://evil/"), "h"),
        ("http://other:80/mcp", "/mcp", None, "other:80"),
        ("HTTPS://other", "/", None, "other"),
        ("http://other?q", "/", Some("q"), "other"),
        ("http://[::1]:3000/mcp?q", "/mcp", Some("q"), "[::1]:3000"),
    ] {
        let head = accepted(format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n"));
        assert_eq!((head.target.as_str(), head.path.as_str(), head.query.as_deref()), (target, path, query));
        assert_eq!(head.field("host"), Some(host), "{target}");
    }
    assert_eq!(accepted("ABCDEFGHIJKLMNOP / HTTP/1.1\r\nHost: h\r\n\r\n").method.len(), 16);
    assert_eq!(accepted("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").target, "*");
    assert_eq!(accepted("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n").method, "CONNECT");
}

#[test]
fn hosts_are_checked_by_form_only() {
    for host in ["h", "h:80", "[::1]", "[::1]:3000", "127.0.0.1:3000", "", "evil.example", "xn--a.example."] {
        let head = accepted(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(head.field("host"), Some(host));
    }
}

#[test]
fn expectation_needs_http_1_1_and_a_body() {
    for (line, fields, expected) in [
        ("POST / HTTP/1.1", "Content-Length: 5\r\nExpect: 100-continue\r\n", true),
        ("POST / HTTP/1.1", "Transfer-Encoding: chunked\r\nEXPECT: 100-Continue\r\n", true),
        ("POST / HTTP/1.1", "Content-Length: 5\r\n", false),
        ("POST / HTTP/1.1", "Content-Length: 5\r\nExpect:\r\n", false),
        ("POST / HTTP/1.1", "Content-Length: 0\r\nExpect: 100-continue\r\n", false),
        ("POST / HTTP/1.0", "Content-Length: 5\r\nExpect: 100-continue\r\n", false),
    ] {
        let head = accepted(format!("{line}\r\nHost: h\r\n{fields}\r\n"));
        assert_eq!(head.expects_continue, expected, "{line} {fields}");
    }
}

#[test]
fn pipelined_requests_are_parsed_in_order() {
    let input = b"\r\nPOST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n{1}\r\n\
        POST /2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{2\r\n1\r\n}\r\n0\r\n\r\n\
        GET /3 HTTP/1.1\r\nHost: h\r\n\r\nDELETE /4 HTTP/1.1\r\nHost: h\r\nMcp-Session-Id: s\r\n\r\n";
    for size in 1..=input.len() {
        let mut buffer = [0; 100];
        let mut decoder = RequestDecoder::new(&mut buffer);
        let mut body: Option<BodyDecoder> = None;
        let (mut requests, mut data) = (Vec::new(), Vec::new());
        for mut piece in input.chunks(size) {
            loop {
                if let Some(current) = &mut body {
                    if !current.is_complete() {
                        let step = current.decode(piece).unwrap();
                        data.extend_from_slice(step.data);
                        piece = &piece[step.consumed..];
                    }
                    if current.is_complete() {
                        let head = decoder.head().unwrap();
                        requests
                            .push((head.path().to_owned(), String::from_utf8(data.split_off(0)).unwrap()));
                        decoder.reset();
                        assert!(decoder.is_idle());
                        body = None;
                    }
                } else {
                    let consumed = decoder.feed(piece).unwrap();
                    piece = &piece[consumed..];
                    body = decoder.head().map(|head| BodyDecoder::new(head.body()));
                }
                let is_complete = body.as_ref().is_some_and(BodyDecoder::is_complete);
                if piece.is_empty() && !is_complete {
                    break;
                }
            }
        }
        let expected = [("/1", "{1}"), ("/2", "{2}"), ("/3", ""), ("/4", "")];
        assert_eq!(requests, expected.map(|(path, body)| (path.to_owned(), body.to_owned())), "{size}");
    }
}

#[test]
fn idle_decoder_has_no_byte_of_a_request() {
    let mut buffer = [0; 100];
    let mut decoder = RequestDecoder::new(&mut buffer);
    for (input, is_idle) in [("", true), ("\r", true), ("\n", true), ("G", false), ("ET ", false)] {
        decoder.feed(input.as_bytes()).unwrap();
        assert_eq!(decoder.is_idle(), is_idle, "{input:?}");
    }
}

#[test]
fn small_buffer_is_reported_by_status() {
    let text = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: a\r\nContent-Length: 1\r\nAccept: b\r\nmcp-param-x: 1\r\n\r\n";
    let mut statuses = Vec::new();
    for size in 0..100 {
        match super::cut_everywhere(text.as_bytes(), |pieces| request(size, 1000, pieces)) {
            Ok(head) => {
                assert_eq!(head.unwrap().0.field("accept"), Some("a, b"));
                statuses.push(0);
            }
            Err(error) => statuses.push(error.status()),
        }
    }
    statuses.dedup();
    assert_eq!(statuses, [501, 414, 431, 0]);
}

#[test]
fn long_head_is_reported_by_status() {
    let text = "GET /mcp HTTP/1.1\r\nHost: h\r\nCookie: 0123456789\r\n\r\n";
    for limit in 0..=text.len() {
        let parsed = super::cut_everywhere(text.as_bytes(), |pieces| request(300, limit, pieces));
        let expected = match limit {
            4..9 => 414,
            _ if limit < text.len() => 431,
            _ => {
                assert!(parsed.is_ok());
                continue;
            }
        };
        assert_eq!(parsed.unwrap_err().status(), expected, "{limit}");
    }
}

#[test]
fn error_text_names_the_field_and_the_reason() {
    let text = |input: &str| rejected(parse_request(input)).1;
    assert_eq!(text("GET / HTTP/1.1\r\n\r\n"), "Host: missing");
    assert_eq!(text("GET / HTTP/1.1\r\nMcp-Method: a\r\nMcp-Method: b\r\n"), "Mcp-Method: repeated");
    let long = format!("GET / HTTP/1.1\r\nAuthorization: {}", "x".repeat(300));
    assert_eq!(text(&long), "Authorization: does not fit in the head buffer");
}
