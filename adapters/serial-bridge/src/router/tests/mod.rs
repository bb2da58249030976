//! Tests of the router without I/O. Each test sets the time.

mod damage;
mod frames;
mod random;
mod restart;
mod silence;

use std::time::{Duration, Instant};

use super::{MARK, Router, Settings};

/// A router and the time of the test.
struct Bench {
    router: Router,
    now: Instant,
}

impl Bench {
    /// Creates a router whose board has answered the first ping.
    fn new() -> Bench {
        let mut bench = Bench::started();
        let id = bench.ping_id();
        bench.board(&pong(&id));
        bench
    }

    /// Creates a router whose board has not answered yet.
    fn started() -> Bench {
        let settings = Settings {
            settle: Duration::from_secs(5),
            timeout: Duration::from_secs(60),
            mark: true,
            framed: false,
        };
        let mut bench = Bench { router: Router::new(settings, 7), now: Instant::now() };
        bench.router.connected(bench.now);
        bench
    }

    /// Creates a router with an open session of the handshake era.
    fn initialized() -> Bench {
        let mut bench = Bench::new();
        bench.client(INITIALIZE);
        bench.board(INITIALIZED_RESULT);
        bench.client(INITIALIZED);
        assert_eq!(bench.client_output(), [INITIALIZED_RESULT]);
        assert_eq!(bench.board_output(), [INITIALIZE, INITIALIZED]);
        bench
    }

    fn client(&mut self, line: &str) {
        self.router.client_input(format!("{line}\n").as_bytes(), self.now);
    }

    fn board(&mut self, line: &str) {
        self.board_bytes(format!("{line}\n").as_bytes());
    }

    fn board_bytes(&mut self, bytes: &[u8]) {
        self.router.board_input(bytes, self.now);
    }

    fn advance(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.router.tick(self.now);
    }

    fn client_output(&mut self) -> Vec<String> {
        lines(self.router.to_client.drain(..).collect())
    }

    fn board_output(&mut self) -> Vec<String> {
        lines(self.router.to_board.drain(..).collect())
    }

    fn log(&mut self) -> Vec<String> {
        lines(self.router.log.drain(..).collect())
    }

    /// Expects the mark and a ping. Returns the id of the ping.
    fn ping_id(&mut self) -> String {
        let output: Vec<u8> = self.router.to_board.drain(..).collect();
        let text = String::from_utf8(output).unwrap();
        let ping = text.strip_prefix(MARK).unwrap_or_else(|| panic!("no mark in {text:?}"));
        assert!(ping.ends_with(",\"method\":\"ping\"}\n"), "{ping}");
        id_of(ping)
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED_RESULT: &str =
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const MARK_LINE: &str = "\x04\x04\x04\x04";

fn lines(output: Vec<u8>) -> Vec<String> {
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the string id of a line.
fn id_of(line: &str) -> String {
    line.split('"').nth(7).unwrap().to_owned()
}

fn pong(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#)
}

fn call(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#)
}

fn error(id: &str, code: i32, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

#[test]
fn mark_is_the_mark_of_the_pumps() {
    assert_eq!(MARK.as_bytes(), mcp_proto_embedded::SESSION_MARK);
}

#[test]
fn messages_pass_unchanged_in_both_directions() {
    let mut bench = Bench::new();
    let call = call(r#""päivä""#);
    bench.client(&call);
    assert_eq!(bench.board_output(), [call.as_str()]);
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#;
    bench.board(notification);
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    bench.board(request);
    bench.board(&result(r#""p\u00e4iv\u00e4""#));
    assert_eq!(bench.client_output(), [notification, request, &result(r#""p\u00e4iv\u00e4""#)]);
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
    bench.client(response);
    bench.client(response);
    assert_eq!(bench.board_output(), [response], "a request has one response");
    assert_eq!((bench.log(), bench.router.awaited()), (vec![], 0));
}

#[test]
fn input_may_arrive_in_any_pieces() {
    for cut in 1..40 {
        let mut bench = Bench::new();
        for piece in format!("{}\r\n{}", call("1"), call("2")).as_bytes().chunks(cut) {
            bench.router.client_input(piece, bench.now);
        }
        bench.router.client_ended(bench.now);
        for piece in format!("boot\n\r{}\n\0\0{}\r\n", result("1"), result("2")).as_bytes().chunks(cut) {
            bench.board_bytes(piece);
        }
        assert_eq!(bench.board_output(), [call("1"), call("2")]);
        assert_eq!(bench.client_output(), [result("1"), result("2")]);
        assert_eq!(bench.log(), ["boot"]);
    }
}

#[test]
fn only_messages_reach_the_client() {
    let cases: [(&[u8], &str); 12] = [
        (b"booting...", "booting..."),
        (b"{\"half\":", "{\"half\":"),
        (b"{ temperature: 21 }", "{ temperature: 21 }"),
        (b"{\"temperature\":21}", "{\"temperature\":21}"),
        (b"[INFO] {}", "[INFO] {}"),
        (b"[]", "[]"),
        (b"[{\"jsonrpc\":\"2.0\",\"method\":\"m\"},{}]", "[{\"jsonrpc\":\"2.0\",\"method\":\"m\"},{}]"),
        (b"\x1b[31mred\x1b[0m\x07\r", "\\x1b[31mred\\x1b[0m\\x07"),
        ("\u{9b}31m päivää".as_bytes(), "\\x9b31m päivää"),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"m\xff\"}", "{\"jsonrpc\":\"2.0\",\"method\":\"m\\xff\"}"),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"m\"} {}", "{\"jsonrpc\":\"2.0\",\"method\":\"m\"} {}"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}", "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}"),
    ];
    for (line, shown) in cases {
        let mut bench = Bench::new();
        bench.board_bytes(&[line, b"\n"].concat());
        assert_eq!(bench.client_output(), [""; 0], "{shown}");
        assert_eq!(bench.log(), [shown]);
        bench.board_bytes(b"\r\n\n");
        assert_eq!(bench.log(), [""; 0], "empty lines are no log");
    }
}

#[test]
fn log_is_bounded() {
    let mut bench = Bench::new();
    bench.board(&"x".repeat(5000));
    assert_eq!(bench.log(), [format!("{}…", "x".repeat(1000))]);
    for _ in 0..1000 {
        bench.board(&"y".repeat(1000));
    }
    assert!(bench.router.log.len() < 300_000);
}

#[test]
fn batches_pass_without_responses_that_are_not_in_flight() {
    let mut bench = Bench::new();
    let batch = format!("[{},{},{INITIALIZED}]", call("1"), call("2"));
    bench.client(&batch);
    assert_eq!((bench.board_output(), bench.router.awaited()), (vec![batch], 2));
    let both = format!("[{},{}]", result("1"), result("2"));
    bench.board(&both);
    assert_eq!(bench.client_output(), [both.as_str()]);
    bench.client(&call("3"));
    bench.board(&format!("[{},{}]", result("3"), result("2")));
    assert_eq!(bench.client_output(), [format!("[{}]", result("3"))]);
    bench.board(&both);
    assert_eq!(bench.client_output(), [""; 0]);
}

#[test]
fn unreadable_lines_of_the_client_are_answered() {
    let cases = [
        ("nonsense", Some(error("null", -32700, "unexpected character at byte 1"))),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"m","x":}"#,
            Some(error("5", -32700, "unexpected character at byte 41")),
        ),
        ("[]", Some(error("null", -32600, "not a JSON-RPC message"))),
        (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, Some(error("null", -32600, "not a JSON-RPC message"))),
        (r#"{"jsonrpc":"2.0","id":5,"result":}"#, None),
        ("", None),
    ];
    for (line, answer) in cases {
        let mut bench = Bench::new();
        bench.client(line);
        assert_eq!(bench.client_output(), Vec::from_iter(answer), "{line}");
        assert_eq!(bench.board_output(), [""; 0], "{line}");
    }
}

#[test]
fn error_omits_an_unknown_id_from_2025_11_25_on() {
    let discover = call("1").replace(
        r#""params":{"#,
        r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"#,
    );
    let requests = ["2025-06-18", "2025-11-25"].map(|revision| (revision, INITIALIZE.to_owned()));
    for (revision, request) in requests.into_iter().chain([("2026-07-28", discover)]) {
        let mut bench = Bench::new();
        bench.client(&request);
        if request == INITIALIZE {
            bench.board(&INITIALIZED_RESULT.replace("2025-11-25", revision));
        }
        bench.client_output();
        bench.client("[]");
        let null = if revision == "2025-06-18" { r#""id":null,"# } else { "" };
        let expected = format!(
            r#"{{"jsonrpc":"2.0",{null}"error":{{"code":-32600,"message":"not a JSON-RPC message"}}}}"#
        );
        assert_eq!(bench.client_output(), [expected], "{revision}");
    }
}

#[test]
fn request_without_a_version_passes_to_the_board() {
    let mut bench = Bench::new();
    let line = r#"{"id":5,"method":"ping"}"#;
    bench.client(line);
    assert_eq!((bench.board_output(), bench.router.awaited()), (vec![line.to_owned()], 1));
    bench.board(&error("5", -32600, "version"));
    assert_eq!(bench.client_output(), [error("5", -32600, "version")]);
}

#[test]
fn oversized_line_is_answered_with_its_id() {
    let long = "x".repeat(crate::lines::MAX_LINE);
    let why = "longer than 16 MiB";
    let mut bench = Bench::new();
    bench.client(&format!(r#"{{"id":"first","method":"m","params":{{"id":3,"x":"{long}"}}}}"#));
    bench
        .client(&format!(r#"{{"method":"m","params":{{"id":3,"x":"{long}"}},"jsonrpc":"2.0","id":"last"}}"#));
    assert_eq!(bench.board_output(), [""; 0]);
    assert_eq!(bench.client_output(), [error("\"first\"", -32600, why), error("\"last\"", -32600, why)]);
    bench.client(&call("1"));
    bench.board(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":"{long}"}}}}"#));
    assert_eq!(
        bench.client_output(),
        [error("1", -32603, &format!("the board's response was damaged: {why}"))]
    );
    assert!(bench.log().iter().all(|line| line.len() < 1100));
}

#[test]
fn request_is_awaited_until_answered_or_cancelled() {
    let mut bench = Bench::new();
    for (line, left) in [
        (call("1"), 1),
        (call("\"1\""), 2),
        (INITIALIZED.into(), 2),
        (r#"{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen"}"#.into(), 2),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}"#.into(), 1),
    ] {
        bench.client(&line);
        assert_eq!(bench.router.awaited(), left, "requests in flight after {line}");
    }
    // The board sends its response before it receives the cancellation.
    bench.board(&result("\"1\""));
    bench.board(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    assert_eq!(bench.router.awaited(), 1);
    bench.board(&result("1"));
    assert_eq!((bench.router.awaited(), bench.client_output().len()), (0, 2));
}
