//! Messages that were damaged on the line.

use super::*;

/// Returns the ping that finds out whether the board still has the request with this id.
fn probe(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn empty(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[test]
fn damaged_response_becomes_an_error_for_the_client() {
    let cases: [(&[u8], &str); 8] = [
        (br#"{"jsonrpc":"2.0","id":1,"result":{"content":[}}"#, "unexpected character at byte 45"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"\xff\":1}}", "invalid UTF-8 at byte 35"),
        (br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"mess"#, "unexpected end of text at byte 47"),
        (br#"{"jsonrpc":"3.0","id":1,"result":{}}"#, "not a JSON-RPC message"),
        (br#"{"jsonrpc":"2.0","id":1,"error":{"cofe":1,"message":"m"}}"#, "not a JSON-RPC message"),
        (br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"mecsage":"m"}}"#, "not a JSON-RPC message"),
        (br#"{"jso.rpc":"2.0","id":1,"result":{}}"#, "not a JSON-RPC message"),
        (br#"{"result":{},"id":1,"jsonrpc":"2.0"x"#, "unexpected character at byte 35"),
    ];
    for (line, why) in cases {
        let mut bench = Bench::new();
        bench.client(&call("1"));
        bench.board_bytes(&[line, b"\n"].concat());
        let message = format!("the board's response was damaged: {why}");
        assert_eq!(bench.client_output(), [error("1", -32603, &message)]);
        assert_eq!(bench.log().len(), 1);
        bench.board(&result("1"));
        assert_eq!((bench.client_output(), bench.log()), (vec![], vec![]), "a late response is dropped");
    }
}

#[test]
fn damaged_response_without_a_reliable_id_is_dropped() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1"#,
        r#"{"jsonrpc":"2.0","id":1x,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"re"#,
        r#"{"jsonrpc":"2.0","id":2,"result":}"#,
    ] {
        let mut bench = Bench::new();
        bench.client(&call("1"));
        bench.board(line);
        assert_eq!((bench.client_output(), bench.router.awaited()), (vec![], 1), "{line}");
    }
}

#[test]
fn damaged_request_of_the_board_is_refused() {
    let mut bench = Bench::new();
    bench.board(r#"{"jsonrpc":"2.0","id":"q","method":"roots/list","params":{]}"#);
    assert_eq!(bench.board_output(), [error("\"q\"", -32700, "the request was damaged on the line")]);
    assert_eq!(bench.client_output(), [""; 0]);
    bench.board(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{]}"#);
    assert_eq!(bench.board_output(), [""; 0]);
}

#[test]
fn damaged_handshake_is_repeated() {
    for damage in [
        &error("0", -32700, "no JSON"),
        r#"{"jsonrpc":"2.0","id":0,"result":]}"#,
        r#"{"id":0,"error":{"code":1}}"#,
    ] {
        let mut bench = Bench::new();
        bench.client(INITIALIZE);
        for _ in 0..20 {
            bench.board_output();
            bench.board(damage);
            assert_eq!((bench.client_output(), bench.board_output()), (vec![], vec![INITIALIZE.to_owned()]));
        }
        bench.board(damage);
        let answer = bench.client_output();
        assert!(
            answer.len() == 1 && answer[0].contains(r#""id":0,"error""#),
            "the last attempt fails: {answer:?}"
        );
    }
}

#[test]
fn request_that_the_board_could_not_read_is_repeated() {
    let mut bench = Bench::new();
    let unread = error("1", -32700, "no JSON");
    for repeats in [1, 3] {
        bench.client(&call("1"));
        for _ in 0..repeats {
            bench.board_output();
            bench.board(&unread);
            assert_eq!((bench.client_output(), bench.board_output()), (vec![], vec![call("1")]));
        }
        let answer = if repeats == 3 { &unread } else { &result("1") };
        bench.board(answer);
        assert_eq!((bench.client_output(), bench.board_output()), (vec![answer.clone()], vec![]));
    }
}

#[test]
fn lost_request_is_found_by_a_probe() {
    let mut bench = Bench::new();
    bench.client(&call("1"));
    bench.client(&call("2"));
    bench.board_output();
    bench.advance(14_000);
    assert_eq!(bench.board_output(), [""; 0], "no probe before damage");
    bench.board(&error("null", -32700, "no JSON"));
    bench.advance(100);
    assert_eq!(bench.board_output(), [probe("1"), probe("2")]);
    bench.board(&error("1", -32600, "a request with this id is still in flight"));
    bench.board(&empty("2"));
    let why = "the request or its response was lost on the line";
    assert_eq!(bench.client_output(), [error("2", -32603, why)]);
    bench.advance(200);
    assert_eq!(bench.board_output(), [probe("1")], "a request in flight is probed again");
    bench.board(&result("1"));
    assert_eq!(bench.client_output(), [result("1")]);
    bench.log();
    bench.board(&empty("1"));
    assert_eq!(
        (bench.client_output(), bench.log()),
        (vec![], vec![]),
        "the probe arrived after the response"
    );
    bench.advance(60_000);
    assert_eq!(bench.board_output(), [""; 0]);
}

#[test]
fn request_with_an_empty_result_is_its_own_probe() {
    for method in ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let mut bench = Bench::initialized();
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"uri":"a"}}}}"#);
        bench.client(&line);
        bench.board_output();
        bench.board("{\"jsonrpc");
        bench.advance(150);
        assert_eq!(bench.board_output(), [line.as_str()]);
        bench.log();
        bench.board(&empty("1"));
        assert_eq!(bench.client_output(), [empty("1")], "{method}");
        let replayed = bench.router.session.replay(String::new);
        assert_eq!(replayed.len() > 2, method.ends_with("setLevel") || method.ends_with("/subscribe"));
        bench.board(&empty("1"));
        assert_eq!((bench.client_output(), bench.log()), (vec![], vec![]), "{method}");
    }
}

#[test]
fn answer_to_a_probe_after_an_error_is_not_a_result() {
    let lost = error("1", -32603, "the request or its response was lost on the line");
    for (method, outcome) in [("tools/call", &lost), ("com.example/extension", &empty("1"))] {
        let mut bench = Bench::new();
        bench.client(&call("1").replace("tools/call", method));
        bench.board_output();
        bench.board("{\"jsonrpc");
        bench.advance(150);
        // The error may be the response to the request, or the refusal of the probe.
        bench.board(&error("1", -32600, "no"));
        assert_eq!(bench.client_output(), [""; 0]);
        bench.board(&empty("1"));
        assert_eq!(bench.client_output(), [outcome.as_str()], "{method}");
    }
}

#[test]
fn probes_slow_down_and_take_turns() {
    let mut bench = Bench::new();
    for id in 0..6 {
        bench.client(&call(&id.to_string()));
    }
    bench.board_output();
    bench.board("{\"jsonrpc");
    let mut probed = Vec::new();
    for delay in [100, 200, 400, 800, 1600, 2000, 2000] {
        bench.advance(delay - 1);
        assert_eq!(bench.board_output(), [""; 0]);
        bench.advance(1);
        probed.push(bench.board_output());
    }
    assert_eq!(probed[0], ["0", "1", "2", "3"].map(probe));
    assert_eq!(probed[1], ["4", "5", "0", "1"].map(probe));
    // New damage restarts the schedule.
    bench.board("{\"jsonrpc");
    bench.advance(100);
    assert_eq!(bench.board_output().len(), 4);
}

#[test]
fn no_probe_is_sent_while_output_waits() {
    let mut bench = Bench::new();
    bench.client(&call("1"));
    bench.board("{\"jsonrpc");
    for _ in 0..10 {
        bench.advance(1000);
    }
    assert_eq!(bench.board_output(), [call("1")]);
    bench.advance(2000);
    assert_eq!(bench.board_output(), [probe("1")]);
}

#[test]
fn only_a_line_that_may_be_a_damaged_message_causes_a_probe() {
    let cases = [
        (&b"booting"[..], false),
        (b"\x04\x04", false),
        (b"boot \xff", true),
        (b"{ temperature: 21 }", false),
        (b"{\"temperature\":21}", false),
        (b"{\"jsonrpc", true),
        (b"z*jsonrpc\":", true),
        (b"{\"jsonrqc\":\"2.0\",\"id", true),
        (b",\"id\":5,\"re", true),
        (b"z\"method\":\"m\"}", true),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}", true),
        (b"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"m\"}}", true),
    ];
    for (line, is_evidence) in cases {
        let mut bench = Bench::new();
        bench.client(&call("1"));
        bench.board_bytes(&[line, b"\n"].concat());
        bench.board_output();
        bench.advance(200);
        let probes = bench.board_output().len();
        assert_eq!(probes, usize::from(is_evidence), "{}", String::from_utf8_lossy(line));
    }
}
