//! Requests about which the board is silent.

use super::*;

fn probe(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn in_flight(id: &str) -> String {
    error(id, -32600, "the id is in flight")
}

fn cancelled(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"timeout"}}}}"#
    )
}

#[test]
fn request_lost_without_a_sign_fails_with_its_id() {
    let mut bench = Bench::new();
    bench.client(&call("1"));
    bench.client(&call("2"));
    bench.board_output();
    bench.advance(14_999);
    assert_eq!(bench.board_output(), [""; 0], "no probe before its time");
    bench.advance(1);
    assert_eq!(bench.board_output(), [probe("1"), probe("2")]);
    // The board knows the second call only.
    bench.board(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    bench.board(&in_flight("2"));
    let lost = error("1", -32603, "the request or its response was lost on the line");
    assert_eq!(bench.client_output(), [lost]);
    bench.board(&result("2"));
    assert_eq!(bench.client_output(), [result("2")]);
    assert_eq!(bench.router.deadline(), None);
}

#[test]
fn requests_to_a_silent_board_fail_at_the_time_limit() {
    let mut bench = Bench::new();
    bench.client(&call("1"));
    bench.client(&call(r#""a""#));
    bench.board_output();
    let mut pings = 0;
    for second in 1..=60 {
        assert_eq!(bench.client_output(), [""; 0], "second {second}");
        // Log output does not show that the board has a request.
        bench.board("I (9) {alive");
        bench.advance(1000);
        if second < 60 {
            pings += bench.board_output().len();
        }
    }
    assert_eq!(pings, 6, "three probes for each request");
    let why = "the board did not respond in time";
    assert_eq!(bench.client_output(), [error("1", -32603, why), error("\"a\"", -32603, why)]);
    assert_eq!(bench.board_output(), [cancelled("1"), cancelled("\"a\"")]);
    bench.board(&result("1"));
    assert_eq!((bench.client_output(), bench.router.awaited()), (vec![], 0), "a late response is dropped");
}

#[test]
fn handshake_with_a_silent_board_fails_at_the_time_limit() {
    let failure = error("0", -32603, "the board did not respond in time. Is it switched on?");
    for (method, is_cancelled) in [("initialize", false), ("server/discover", true)] {
        let mut bench = Bench::new();
        let line = INITIALIZE.replace("initialize", method);
        bench.client(&line);
        for second in 1..=60 {
            assert_eq!(bench.client_output(), [""; 0], "second {second}");
            bench.advance(1000);
            if second < 60 {
                bench.board_output();
            }
        }
        assert_eq!(bench.client_output(), std::slice::from_ref(&failure));
        assert_eq!(bench.board_output(), [cancelled("0")][..usize::from(is_cancelled)]);
        // The board is switched on, and the client tries again.
        bench.client(&line);
        assert_eq!(bench.board_output(), [line]);
        bench.board(INITIALIZED_RESULT);
        assert_eq!(bench.client_output(), [INITIALIZED_RESULT]);
    }
}

#[test]
fn board_that_is_switched_on_late_gets_the_handshake_again() {
    for has_mark in [false, true] {
        let mut bench = Bench::new();
        bench.router.settings.settle = Duration::ZERO;
        bench.client(INITIALIZE);
        for _ in 0..44 {
            bench.board_output();
            bench.advance(1000);
        }
        if has_mark {
            bench.board(MARK_LINE);
        } else {
            bench.advance(1000);
            assert_eq!(bench.board_output(), [probe("0")]);
            bench.board(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
        }
        assert_eq!(bench.board_output().last().unwrap(), INITIALIZE);
        bench.board(INITIALIZED_RESULT);
        assert_eq!(bench.client_output(), [INITIALIZED_RESULT]);
    }
}

#[test]
fn slow_request_stays_in_flight_while_the_board_has_it() {
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#;
    for confirms in [true, false] {
        let mut bench = Bench::new();
        bench.client(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}"#);
        for _ in 0..30 {
            bench.advance(14_000);
            for ping in bench.board_output() {
                if confirms && ping == probe("1") {
                    bench.board(&in_flight("1"));
                }
            }
            if !confirms {
                bench.board(progress);
            }
        }
        bench.board(&result("1"));
        assert_eq!(bench.client_output().last(), Some(&result("1")));
    }
}

#[test]
fn time_does_not_run_while_bytes_move_or_the_board_waits() {
    let mut bench = Bench::new();
    // The line accepts no bytes for ten minutes.
    bench.client(&call("1"));
    bench.advance(600_000);
    assert_eq!(bench.client_output(), [""; 0]);
    assert_eq!(bench.board_output(), [call("1")]);
    // The board sends a long response.
    let response = result("1") + "\n";
    for byte in response.bytes().take(response.len() - 1) {
        bench.board_bytes(&[byte]);
        bench.advance(900);
    }
    assert_eq!(bench.board_output(), [""; 0]);
    bench.board_bytes(b"\n");
    assert_eq!(bench.client_output(), [result("1")]);
    // A tool waits for the user.
    bench.client(&call("2"));
    bench.board(r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}"#);
    bench.board_output();
    bench.advance(600_000);
    assert_eq!((bench.client_output().len(), bench.board_output()), (1, vec![]));
    bench.client(r#"{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}"#);
    bench.board_output();
    for _ in 0..4 {
        bench.advance(15_000);
        bench.board_output();
    }
    assert_eq!(bench.client_output(), [error("2", -32603, "the board did not respond in time")]);
}

#[test]
fn subscription_or_zero_timeout_has_no_time_limit() {
    let listen = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}"#;
    let mut bench = Bench::new();
    bench.client(listen);
    assert_eq!(bench.router.deadline(), None);
    let mut bench = Bench::new();
    bench.router.settings.timeout = Duration::ZERO;
    bench.client(&call("1"));
    assert_eq!(bench.router.deadline(), None);
}
