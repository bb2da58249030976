//! Checks of a head: method, host, origin, authorization, media types, length.

use super::support::{Harness, Request};
use mcp_proto_http::server::{AllowList, HttpConfig};

/// A row: requirement, change of a valid request, status, text in the response.
type Row = (&'static str, fn(Request) -> Request, u16, &'static str);

/// A change of a request, and the status that follows.
type Change = (fn(Request) -> Request, u16);

const DEFAULT: &[Row] = &[
    ("E-S1", |it| it, 200, "echo"),
    ("E-S2 GET", |it| Request { method: "GET", ..it }, 405, "method"),
    ("E-S2 DELETE", |it| Request { method: "DELETE", ..it }, 405, "method"),
    ("RFC 9110 PUT", |it| Request { method: "PUT", ..it }, 405, "method"),
    ("host", |it| it.with("host", "evil.example"), 403, "`Host`"),
    ("host", |it| it.with("host", "127.evil.example"), 403, "`Host`"),
    ("host with a port", |it| it.with("host", "localhost:3000"), 200, ""),
    ("host with a port", |it| it.with("host", "[::1]:3000"), 200, ""),
    ("host with a port", |it| it.with("host", "127.0.0.1:80"), 200, ""),
    ("another loopback address", |it| it.with("host", "127.200.30.4"), 200, ""),
    ("an address with a sign", |it| it.with("host", "127.+1.0.1"), 403, "`Host`"),
    ("an address with an octal byte", |it| it.with("host", "127.0.0.010"), 403, "`Host`"),
    ("origin null", |it| it.with("origin", "null"), 403, "`Origin`"),
    ("A-S4 B-S2 D-S1 E-S4", |it| it.with("origin", "http://evil.example"), 403, "`Origin`"),
    ("D-S1", |it| it.with("origin", "http://localhost.evil.example"), 403, "`Origin`"),
    ("D-S1", |it| it.with("origin", "http://localhost:5173"), 200, ""),
    ("D-S1", |it| it.with("origin", "http://[::1]:5173"), 200, ""),
    ("D-S1", |it| it.with("origin", "file://localhost"), 403, "`Origin`"),
    ("two hosts", |it| it.with("host", "localhost").with("Host", "localhost"), 400, "`Host`"),
    ("two origins", |it| it.with("origin", "http://localhost").with("Origin", "null"), 400, "`Origin`"),
    (
        "two sessions",
        |it| it.with("mcp-session-id", "a").with("Mcp-Session-Id", "a"),
        400,
        "`Mcp-Session-Id`",
    ),
    ("media type", |it| it.with("content-type", ""), 415, "`Content-Type`"),
    ("media type", |it| it.with("content-type", "text/plain"), 415, "`Content-Type`"),
    ("media type", |it| it.with("content-type", "Application/JSON; charset=utf-8"), 200, ""),
    ("accept", |it| it.with("accept", "text/html"), 406, "`Accept`"),
    ("accept", |it| it.with("accept", "application/json;q=0, text/html"), 406, "`Accept`"),
    ("accept", |it| it.with("accept", ""), 200, ""),
    ("accept", |it| it.with("accept", "*/*"), 200, ""),
    ("length", |it| Request { body: " ".repeat(2049), ..it }, 413, "longer"),
];

#[test]
fn each_part_of_the_head_is_checked() {
    for (rule, change, status, text) in DEFAULT {
        let mut harness = Harness::new(HttpConfig::new());
        let reply = harness.ask(&change(Request::call(1, "echo")));
        assert_eq!(reply.status, *status, "{rule}: {reply:?}");
        assert!(reply.body.contains(text), "{rule}: {reply:?}");
        assert_eq!(reply.field("allow"), if *status == 405 { "POST" } else { "" }, "{rule}");
        assert_eq!(harness.http.open_exchanges(), 0, "{rule}");
    }
}

#[test]
fn earlier_check_wins_over_later_ones() {
    // Each change breaks one more check, in the reverse order of the checks.
    let changes: [Change; 6] = [
        (|it| Request { body: " ".repeat(2049), ..it }, 413),
        (|it| it.with("accept", "text/html"), 406),
        (|it| it.with("content-type", "text/plain"), 415),
        (|it| it.with("authorization", "Bearer narrow"), 403),
        (|it| it.with("origin", "http://evil.example"), 403),
        (|it| Request { method: "PUT", ..it }, 405),
    ];
    let mut request = Request::call(1, "echo");
    for (change, status) in changes {
        request = change(request);
        let mut harness = Harness::new(HttpConfig::new());
        assert_eq!(harness.ask(&request).status, status, "{request:?}");
    }
}

#[test]
fn lists_of_hosts_and_origins_replace_loopback() {
    let names: &[&str] = &["mcp.example.com", "other.example:8080"];
    let origins: &[&str] = &["https://app.example.com", "null"];
    let config = HttpConfig::new().hosts(AllowList::Names(names)).origins(AllowList::Names(origins));
    let rows = [
        ("mcp.example.com", "", 200),
        ("MCP.example.com:443", "", 200),
        ("other.example:8080", "", 200),
        ("other.example:8081", "", 403),
        ("localhost", "", 403),
        ("mcp.example.com", "https://app.example.com:443", 200),
        ("mcp.example.com", "http://app.example.com", 403),
        ("mcp.example.com", "null", 200),
    ];
    for (host, origin, status) in rows {
        let request = Request::call(1, "echo").with("host", host).with("origin", origin);
        assert_eq!(Harness::new(config).ask(&request).status, status, "{host} {origin}");
        let any = HttpConfig::new().hosts(AllowList::Any).origins(AllowList::Any);
        assert_eq!(Harness::new(any).ask(&request).status, 200, "{host} {origin}");
    }
}

#[test]
fn strict_accept_needs_both_media_types() {
    let config = HttpConfig::new().strict_accept();
    for (accept, status) in
        [("application/json", 406), ("*/*", 406), ("text/event-stream, application/json", 200)]
    {
        let request = Request::call(1, "echo").with("accept", accept);
        assert_eq!(Harness::new(config).ask(&request).status, status, "{accept}");
    }
}

#[test]
fn only_the_path_of_the_endpoint_is_served() {
    let config = HttpConfig::new().path("/mcp");
    for (target, status) in [("/mcp", 200), ("/mcp?x=1", 200), ("/mcp/", 404), ("/", 404)] {
        let request = Request { target: target.into(), ..Request::call(1, "echo") };
        assert_eq!(Harness::new(config).ask(&request).status, status, "{target}");
    }
}
