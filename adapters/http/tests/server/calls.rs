//! POSTs of 2026-07-28: JSON or an event stream, statuses, header fields that repeat the body.

use super::support::{Harness, Request};
use mcp_proto::json::Json;
use mcp_proto_http::server::{HttpConfig, SessionMode};

/// A row: requirement, request, status, code of the error.
type Row = (&'static str, fn() -> Request, u16, i64);

const ROWS: &[Row] = &[
    ("E-S16 JSON", || Request::call(1, "echo"), 200, 0),
    ("E-S6 Mcp-Method missing", || Request::call(1, "echo").with("mcp-method", ""), 400, -32020),
    ("E-X1 case of values", || Request::call(1, "echo").with("mcp-method", "TOOLS/CALL"), 400, -32020),
    ("E-X2 blanks", || Request::call(1, "echo").with("mcp-method", " tools/call\t"), 200, 0),
    ("E-X1 case of names", || Request::call(1, "echo").with("mcp-name", "").with("MCP-NAME", "echo"), 200, 0),
    ("E-S6 Mcp-Name missing", || Request::call(1, "echo").with("mcp-name", ""), 400, -32020),
    ("E-S6 Mcp-Name differs", || Request::call(1, "echo").with("mcp-name", "other"), 400, -32020),
    ("E-X4 E-X6 base64", || Request::call(1, "echo").with("mcp-name", "=?base64?ZWNobw==?="), 200, 0),
    ("E-X9 padding", || Request::call(1, "echo").with("mcp-name", "=?base64?ZWNobw=?="), 400, -32020),
    ("E-X9 letters", || Request::call(1, "echo").with("mcp-name", "=?base64?ZWN*bw==?="), 400, -32020),
    ("E-X9 spare bits", || Request::call(1, "echo").with("mcp-name", "=?base64?ZWNobx==?="), 400, -32020),
    ("E-X9 without suffix", || Request::call("1", "=?base64?x"), 200, -32602),
    (
        "E-X4 markers in lower case",
        || Request::call(1, "echo").with("mcp-name", "=?BASE64?ZWNobw==?="),
        400,
        -32020,
    ),
    ("E-C6", || read("=?base64?ZmlsZTovLy/DqQ==?="), 200, -32603),
    ("E-C6", || read("file:///é"), 400, -32020),
    (
        "E-S6 version differs",
        || Request::call(1, "echo").with("mcp-protocol-version", "2025-11-25"),
        400,
        -32020,
    ),
    ("E-S6 E-S12 version missing", || Request::call(1, "echo").with("mcp-protocol-version", ""), 400, -32020),
    (
        "E-X5 wrapped",
        || Request::call(1, "=?base64?x?=").with("mcp-name", "=?base64?PT9iYXNlNjQ/eD89?="),
        200,
        -32602,
    ),
    ("E-X5 not wrapped", || Request::call(1, "=?base64?x?="), 400, -32020),
    ("E-S6 escapes", || escaped("tools/call", r"tools\u002fcall", "echo"), 200, 0),
    ("E-S6 escapes", || escaped("tools/call", r"tools\u002fcall", "other"), 400, -32020),
    ("E-S6 escapes", || escaped("echo", r"ech\u006f", "echo"), 200, 0),
    (
        "E-X15 escapes",
        || escaped(r#"echo""#, r#"mar\u006bed","arguments":{"region":"eu"}"#, "marked"),
        400,
        -32020,
    ),
    ("field twice", || Request::call(1, "echo").with("Mcp-Method", "tools/call"), 400, -32020),
    ("E-S7", || unknown_version("v999"), 400, -32022),
    ("order of checks", || unknown_version("2026-07-28"), 400, -32020),
    ("E-S8 no version", || bad_meta(r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#), 400, -32602),
    (
        "E-S8 no capabilities",
        || bad_meta(r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#),
        400,
        -32602,
    ),
    ("E-S8 no _meta", || bad_meta("null"), 400, -32602),
    ("E-S10", || Request::modern(1, "no/such", ""), 404, -32601),
    ("E-S10 removed", || Request::modern(1, "ping", ""), 404, -32601),
    ("E-S10 removed", || Request::modern(1, "initialize", ""), 404, -32601),
    ("E-S9", || Request::call(1, "needs"), 400, -32021),
    ("E-S14", || Request::call(1, "nothing"), 200, -32602),
    ("E-C3 response", || Request::post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), 400, -32600),
    ("E-C3 array", || Request::post(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#), 400, -32600),
    ("B-S6 not JSON", || Request::post("{"), 400, -32700),
    ("B-S6 no body", || Request::post(""), 400, -32700),
    ("B-S6 not JSON-RPC", || Request::post("{}"), 400, -32600),
    ("long id", || Request::call("\"".to_string() + &"x".repeat(80) + "\"", "echo"), 400, -32600),
];

fn read(name: &str) -> Request {
    Request::modern(1, "resources/read", r#""uri":"file:///é""#).with("mcp-name", name)
}

/// Creates a call with escapes in its body: `text` in place of `part`.
fn escaped(part: &str, text: &str, name: &str) -> Request {
    let request = Request::call(1, "echo").with("mcp-name", name);
    Request { body: request.body.replacen(part, text, 1), ..request }
}

fn unknown_version(field: &str) -> Request {
    let request = Request::call(1, "echo").with("mcp-protocol-version", field);
    Request { body: request.body.replace("2026-07-28", "v999"), ..request }
}

fn bad_meta(meta: &str) -> Request {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","_meta":{meta}}}}}"#
    );
    Request { body, ..Request::call(1, "echo") }
}

/// E-S11: each error has the id of its request.
#[test]
fn status_follows_from_the_error() {
    for (rule, request, status, code) in ROWS {
        for piece in [usize::MAX, 7, 1] {
            let mut harness = Harness::new(HttpConfig::new());
            harness.piece = piece;
            let request = request();
            let reply = harness.ask(&request);
            assert_eq!((reply.status, reply.code()), (*status, *code), "{rule}: {reply:?}");
            assert_eq!(reply.field("content-type"), "application/json", "{rule}");
            let has_id = request.body.contains(r#""id":1,"method""#) && !request.body.starts_with('[');
            assert_eq!(reply.body.contains(r#""id":1"#), has_id, "{rule}: {reply:?}");
            assert_eq!(harness.http.open_exchanges(), 0, "{rule}");
        }
    }
}

/// E-S3: `Mcp-Session-Id` and `Last-Event-ID` are ignored.
#[test]
fn session_fields_are_ignored_without_sessions() {
    let mut harness = Harness::new(HttpConfig::new());
    let request = Request::call(1, "echo").with("mcp-session-id", "x").with("last-event-id", "y");
    let reply = harness.ask(&request);
    assert_eq!((reply.status, reply.field("mcp-session-id")), (200, ""));
}

/// E-S7, E-S13: the refusal of `initialize` has the supported versions, and the requested one (`?` if it is unknown).
#[test]
fn initialize_without_sessions_names_the_versions() {
    let rows = [("2025-11-25", "2025-11-25"), ("2027-01-01", "?"), ("", "?"), ("<b>", "?")];
    for (version, requested) in rows {
        let mut harness = Harness::new(HttpConfig::new());
        let reply = harness.ask(&Request::post(super::support::initialize(version)));
        assert_eq!((reply.status, reply.code()), (400, -32022));
        let error = Json::parse(reply.body.as_bytes()).unwrap().get("error").unwrap();
        let data = format!(r#"{{"supported":["2026-07-28"],"requested":"{requested}"}}"#);
        assert_eq!(error.get("data").map(|json| json.bytes()), Some(data.as_bytes()), "{version}");
        assert!(reply.body.contains("2026-07-28 only") && reply.body.contains(r#""id":0"#), "{reply:?}");
    }
    let without = super::support::initialize("x").replace(r#""protocolVersion":"x","#, "");
    let reply = Harness::new(HttpConfig::new()).ask(&Request::post(without));
    assert!(reply.code() == -32022 && reply.body.contains(r#""requested":"?""#), "{reply:?}");
}

/// With the version 2026-07-28 in a header field, `initialize` is a request of this revision that lacks its `_meta`.
/// The endpoint also serves the handshake era.
#[test]
fn initialize_with_a_modern_field_lacks_its_meta() {
    let request =
        Request::post(super::support::initialize("2025-11-25")).with("mcp-protocol-version", "2026-07-28");
    let reply = Harness::new(HttpConfig::new().sessions(SessionMode::Sessions)).ask(&request);
    assert_eq!((reply.status, reply.code()), (400, -32602), "{reply:?}");
}

/// E-S15: the server accepts a notification with 202 and no body.
#[test]
fn notification_gets_202_without_a_body() {
    let mut harness = Harness::new(HttpConfig::new());
    let body = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let reply = harness.ask(&Request::post(body).with("mcp-protocol-version", "2026-07-28"));
    assert_eq!((reply.status, reply.body.as_str(), reply.field("content-length")), (202, "", "0"));
}

/// A row: arguments, fields, status.
type Parameters = (&'static str, &'static [(&'static str, &'static str)], u16);

const LONG_NAME: &str = r#"{"a_property_whose_name_is_longer_than_a_name_of_an_http_header_field_of_which_each_has_at_most_96_bytes":"a"}"#;

/// E-X3, E-X8, E-X10, E-X15, E-X16, E-X17: fields that repeat arguments.
#[test]
fn parameter_fields_equal_their_arguments() {
    let rows: &[Parameters] = &[
        (r#"{"region":"eu"}"#, &[("mcp-param-region", "eu")], 200),
        (r#"{"region":"eu"}"#, &[("mcp-param-region", "us")], 400),
        (r#"{"region":"eu"}"#, &[], 400),
        (r#"{"region":"eu"}"#, &[("mcp-param-region", "eu"), ("Mcp-Param-Region", "us")], 400),
        (r#"{"region":"é"}"#, &[("mcp-param-region", "=?base64?w6k=?=")], 200),
        (r#"{"region":"é"}"#, &[("mcp-param-region", "é")], 400),
        (r#"{"region":null}"#, &[], 200),
        (r#"{}"#, &[("mcp-param-region", "eu")], 400),
        (r#"{"deep":{"count":42.0,"on":true}}"#, &[("mcp-param-count", "42"), ("mcp-param-on", "true")], 200),
        (r#"{"deep":{"count":42}}"#, &[("mcp-param-count", "43")], 400),
        (r#"{"deep":{"count":9007199254740992}}"#, &[("mcp-param-count", "9007199254740993")], 400),
        (r#"{"deep":{"on":true}}"#, &[("mcp-param-on", "True")], 400),
        (r#"{"other":1}"#, &[("mcp-param-other", "2")], 200),
        (r#"{"\u0072egion":"eu","region":"us"}"#, &[("mcp-param-region", "us")], 200),
        (r#"{"\u0072egion":"eu"}"#, &[("mcp-param-region", "us")], 400),
        (LONG_NAME, &[("mcp-param-long", "a")], 200),
        (LONG_NAME, &[("mcp-param-long", "b")], 400),
        (LONG_NAME, &[], 400),
    ];
    for (arguments, fields, status) in rows.iter().copied() {
        let members = format!(r#""name":"marked","arguments":{arguments}"#);
        let mut request = Request::modern(1, "tools/call", &members).with("mcp-name", "marked");
        for (name, value) in fields {
            request = request.with(name, value);
        }
        let reply = Harness::new(HttpConfig::new()).ask(&request);
        let code = if status == 400 { -32020 } else { 0 };
        assert_eq!((reply.status, reply.code()), (status, code), "{arguments} {fields:?}: {reply:?}");
    }
}
