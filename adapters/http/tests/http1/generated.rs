//! Generated and mutated heads, compared with `httparse`.

use super::head_oracle::{check_request, check_response};
use super::random::Random;
use super::{request, response};

const NAMES: [&str; 22] = [
    "Host",
    "host",
    "Content-Length",
    "content-length",
    "Transfer-Encoding",
    "Connection",
    "Accept",
    "Content-Type",
    "Mcp-Session-Id",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Param-A",
    "Mcp-Param-Region",
    "Mcp-Param-",
    "Expect",
    "User-Agent",
    "Retry-After",
    "WWW-Authenticate",
    "Allow",
    "X",
    "Last-Event-ID",
];

const VALUES: [&str; 18] = [
    "",
    "h",
    "localhost:3000",
    "5",
    "0",
    "12",
    "chunked",
    "gzip, chunked",
    "close",
    "keep-alive",
    "application/json",
    "a, b",
    "\u{fc}",
    "100-continue",
    "x y",
    "a\tb",
    "2026-07-28",
    "Bearer x",
];

const VOCABULARY: &[u8] = b"\r\n\r\n\r\n::  \t\0\x7F\xFF\x80aA05,;/HTP.1\x0B\"";

fn head(random: &mut Random, start_line: &str) -> Vec<u8> {
    let mut text = format!("{start_line}\r\n");
    for _ in 0..random.below(6) {
        let before = random.choose(&["", " ", " ", " ", "\t ", "  "]);
        let behind = random.choose(&["", "", "", " ", " \t"]);
        let (name, value) = (random.choose(&NAMES), random.choose(&VALUES));
        text += &format!("{name}:{before}{value}{behind}\r\n");
    }
    text += random.choose(&["\r\n", "\r\n", "\r\n", "\r\n{}", "", "\r", "X"]);
    text.into_bytes()
}

#[test]
fn generated_requests_parse_as_with_httparse() {
    let mut random = Random::new(1);
    let mut accepted = 0;
    for _ in 0..40_000 {
        let method = random.choose(&["GET", "POST", "POST", "DELETE", "OPTIONS", "X", ""]);
        let target = random.choose(&["/", "/mcp", "/mcp?x=1", "/a", "http://h/mcp", "*", "x"]);
        let version =
            random.choose(&["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0"]);
        let host = random.choose(&["\r\nHost: h", "\r\nHost: h\r\nContent-Length: 5", ""]);
        let mut text = head(&mut random, &format!("{method} {target} {version}{host}"));
        if random.below(2) == 0 {
            random.mutate(&mut text, VOCABULARY);
        }
        check_request(&text, &random.pieces(text.len()));
        accepted += usize::from(matches!(request(300, 1000, [&text[..]]), Ok(Some(_))));
    }
    assert!(accepted > 1500, "{accepted}");
}

#[test]
fn generated_responses_parse_as_with_httparse() {
    let mut random = Random::new(2);
    let mut accepted = 0;
    for _ in 0..40_000 {
        let version =
            random.choose(&["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0"]);
        let status = random.choose(&["200", "200", "202", "401", "503", "100", "099", "20", "2000"]);
        let reason = random.choose(&["", " ", " OK", " Not Found", " \u{fc}"]);
        let mut text = head(&mut random, &format!("{version} {status}{reason}"));
        if random.below(2) == 0 {
            random.mutate(&mut text, VOCABULARY);
        }
        check_response(&text, &random.pieces(text.len()));
        accepted += usize::from(matches!(response(300, 1000, [&text[..]]), Ok(Some(_))));
    }
    assert!(accepted > 1500, "{accepted}");
}
