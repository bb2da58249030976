//! New sessions, and boards that restart.

use super::*;

/// Answers the ping and the replayed lines of a session. Returns the replayed lines.
fn reopen(bench: &mut Bench) -> Vec<String> {
    let id = bench.ping_id();
    bench.board(&pong(&id));
    let mut replayed = Vec::new();
    loop {
        let mut lines = bench.board_output();
        let Some(request) = lines.iter().find(|line| line.contains(r#""id":"b00000007-"#)).cloned() else {
            // The notification has no response, so lines of the client may follow it at once.
            let count = lines.iter().take_while(|line| **line == INITIALIZED).count();
            replayed.extend(lines.drain(..count));
            bench.router.to_board.extend(lines.iter().flat_map(|line| format!("{line}\n").into_bytes()));
            return replayed;
        };
        replayed.extend(lines);
        bench.board(&pong(&id_of(&request)));
    }
}

/// Returns the line with this id in place of the id 0.
fn renamed(line: &str, id: &str) -> String {
    line.replacen(r#""id":0"#, &format!(r#""id":"{id}""#), 1)
}

#[test]
fn messages_before_the_answer_to_the_ping_are_dropped() {
    let mut bench = Bench::started();
    let old = bench.ping_id();
    bench.router.connected(bench.now);
    let missed = bench.ping_id();
    bench.client(INITIALIZE);
    bench.board("rst:0x1 (POWERON)");
    bench.advance(499);
    assert_eq!(bench.board_output(), [""; 0]);
    bench.advance(1);
    let id = bench.ping_id();
    assert_ne!(id, missed);
    for line in [MARK_LINE, &result("0"), &pong(&old), "{half"] {
        bench.board(line);
    }
    assert_eq!(bench.board_output(), [""; 0], "the client's line is held back");
    assert_eq!(bench.router.awaited(), 1);
    bench.board(&format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"resu{}", pong(&id)));
    assert_eq!(bench.board_output(), [INITIALIZE]);
    assert_eq!(bench.client_output(), [""; 0]);
    assert_eq!(bench.log(), ["rst:0x1 (POWERON)", "{half"]);
}

#[test]
fn slow_board_gets_the_session_again() {
    for (latency, timeout) in
        [(0, 60), (550, 60), (1000, 60), (2500, 60), (7000, 60), (9000, 120), (30_000, 600), (30_000, 0)]
    {
        let mut bench = Bench::initialized();
        bench.router.settings.timeout = Duration::from_secs(timeout);
        let ticks = if timeout == 0 { 60_000 } else { timeout * 100 - 100 };
        bench.board(MARK_LINE);
        bench.client(&call("1"));
        let mut answers = Vec::new();
        let is_passed = (0..ticks).any(|_| {
            let lines = bench.board_output();
            let due = bench.now + Duration::from_millis(latency);
            let own = lines.iter().filter(|line| line.contains(r#""id":"b00000007-"#));
            answers.extend(own.map(|line| (due, pong(&id_of(line)))));
            bench.advance(10);
            let is_due = |(at, _): &mut (Instant, String)| *at <= bench.now;
            let due: Vec<_> = answers.extract_if(.., is_due).collect();
            due.iter().for_each(|(_, line)| bench.board(line));
            lines.contains(&call("1"))
        });
        assert!(is_passed, "latency {latency}, time limit {timeout}");
    }
}

#[test]
fn client_reaches_a_silent_board_after_the_settle_time() {
    let mut bench = Bench::started();
    bench.client(&call("1"));
    for _ in 0..9 {
        bench.advance(500);
        bench.ping_id();
    }
    bench.advance(500);
    assert_eq!(bench.board_output(), [call("1")]);
    assert_eq!(
        bench.log(),
        ["mcp-serial-bridge: the board does not respond; the client is connected anyway"]
    );
}

#[test]
fn restarted_board_gets_the_session_again() {
    let mut bench = Bench::initialized();
    let level = r#"{"jsonrpc":"2.0","id":0,"method":"logging/setLevel","params":{"level":"info"}}"#;
    let subscribe = |uri: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":0,"method":"resources/subscribe","params":{{"uri":"{uri}"}}}}"#)
    };
    let unsubscribe = subscribe("b").replace("subscribe", "unsubscribe");
    let refused = subscribe("d");
    for line in [&level.replace("info", "debug"), level, &subscribe("a"), &subscribe("b"), &unsubscribe] {
        bench.client(line);
        bench.board(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
    }
    bench.client(&refused);
    bench.board(&error("0", -32602, "no such resource"));
    bench.client(&call("1"));
    bench.client(&call("\"two\""));
    bench.client_output();
    bench.board_output();
    bench.board(MARK_LINE);
    let why = "the board has restarted";
    assert_eq!(bench.client_output(), [error("1", -32603, why), error("\"two\"", -32603, why)]);
    bench.client(&call("3"));
    let replayed = reopen(&mut bench);
    let ids: Vec<String> = (3..6).map(|number| format!("b00000007-{number}")).collect();
    assert_eq!(
        replayed,
        [
            renamed(INITIALIZE, &ids[0]),
            INITIALIZED.into(),
            renamed(level, &ids[1]),
            renamed(&subscribe("a"), &ids[2])
        ]
    );
    assert_eq!(bench.board_output(), [call("3")]);
    bench.board(&result("3"));
    assert_eq!(bench.client_output(), [result("3")]);
    assert_eq!(bench.log(), ["mcp-serial-bridge: the board has restarted"]);
}

#[test]
fn session_of_2026_07_28_needs_no_replay() {
    let mut bench = Bench::new();
    bench.client(&call("1"));
    bench.board_output();
    bench.board(MARK_LINE);
    assert_eq!(bench.client_output(), [error("1", -32603, "the board has restarted")]);
    bench.client(&call("2"));
    assert_eq!(reopen(&mut bench), [""; 0]);
    assert_eq!(bench.board_output(), [call("2")]);
}

#[test]
fn interrupted_handshake_is_sent_again() {
    for line in [INITIALIZE, &INITIALIZE.replace("initialize", "server/discover")] {
        let mut bench = Bench::new();
        bench.client(line);
        bench.board_output();
        bench.board(MARK_LINE);
        assert_eq!(reopen(&mut bench), [""; 0]);
        assert_eq!(bench.board_output(), [line]);
        bench.board(INITIALIZED_RESULT);
        assert_eq!(bench.client_output(), [INITIALIZED_RESULT]);
    }
}

#[test]
fn refusal_for_lack_of_a_session_opens_the_session_again() {
    for (code, message) in [
        (-32602, "Invalid params: `_meta` needs x, or send `initialize` first"),
        (-32600, "send `initialize` first"),
    ] {
        let mut bench = Bench::initialized();
        bench.client(&call("1"));
        bench.client(&call("2"));
        bench.board_output();
        bench.board(&error("2", code, message));
        assert_eq!(bench.client_output(), [error("1", -32603, "the board has restarted")]);
        assert_eq!(reopen(&mut bench).len(), 2);
        assert_eq!(bench.board_output(), [call("2")], "the refused request is sent again");
        bench.board(&result("2"));
        assert_eq!(bench.client_output(), [result("2")]);
    }
}

#[test]
fn refusal_that_the_client_has_caused_passes() {
    let refusal = error("1", -32602, "send `initialize` first");
    let mut bench = Bench::new();
    bench.client(&call("1"));
    bench.board(&refusal);
    assert_eq!(bench.client_output(), [refusal.as_str()]);
    let mut bench = Bench::initialized();
    let meta = r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"#;
    bench.client(&call("1").replace(r#""params":{"#, meta));
    bench.board(&refusal);
    assert_eq!(bench.client_output(), [refusal]);
}

#[test]
fn unanswered_replay_is_repeated_after_doubled_times() {
    let mut bench = Bench::initialized();
    bench.board(MARK_LINE);
    for timeout in [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
        let id = bench.ping_id();
        bench.board(&pong(&id));
        assert_eq!(bench.board_output().len(), 1);
        bench.advance(timeout - 1);
        assert_eq!(bench.board_output(), [""; 0]);
        bench.advance(1);
    }
    bench.client(&call("1"));
    assert_eq!(reopen(&mut bench).len(), 2);
    assert_eq!(bench.board_output(), [call("1")]);
    bench.board(MARK_LINE);
    let id = bench.ping_id();
    bench.board(&pong(&id));
    let initialize = bench.board_output().remove(0);
    bench.board(&error(&format!("\"{}\"", id_of(&initialize)), -32700, "damaged"));
    assert_eq!(bench.board_output(), [""; 0]);
    bench.board(MARK_LINE);
    assert_eq!(reopen(&mut bench).len(), 2, "a second restart during a replay begins again");
}

#[test]
fn replayed_line_that_the_board_could_not_read_is_repeated() {
    let mut bench = Bench::initialized();
    let subscribe = r#"{"jsonrpc":"2.0","id":0,"method":"resources/subscribe","params":{"uri":"a"}}"#;
    let level = r#"{"jsonrpc":"2.0","id":0,"method":"logging/setLevel","params":{"level":"info"}}"#;
    for line in [level, subscribe] {
        bench.client(line);
        bench.board(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
    }
    bench.board_output();
    bench.board(MARK_LINE);
    for (damaged, timeout) in [("initialize", 1000), ("setLevel", 2000), ("/subscribe", 4000)] {
        let id = bench.ping_id();
        bench.board(&pong(&id));
        let line = loop {
            let line = bench.board_output().pop().unwrap();
            if line.contains(damaged) {
                break line;
            }
            bench.board(&pong(&id_of(&line)));
        };
        bench.board(&error(&format!("\"{}\"", id_of(&line)), -32700, "damaged"));
        bench.advance(timeout - 1);
        assert_eq!(bench.board_output(), [""; 0], "{damaged}");
        bench.advance(1);
    }
    assert_eq!(reopen(&mut bench).len(), 4);
}

#[test]
fn replayed_line_that_the_board_refuses_is_not_repeated() {
    let mut bench = Bench::initialized();
    bench.client(r#"{"jsonrpc":"2.0","id":0,"method":"resources/subscribe","params":{"uri":"a"}}"#);
    bench.board(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
    bench.board_output();
    bench.board(MARK_LINE);
    let id = bench.ping_id();
    bench.board(&pong(&id));
    bench.client(&call("1"));
    for _ in 0..2 {
        let line = bench.board_output().pop().unwrap();
        let answer = if line.contains("initialize") {
            pong(&id_of(&line))
        } else {
            error(&format!("\"{}\"", id_of(&line)), -32600, "no")
        };
        bench.board(&answer);
    }
    assert_eq!(bench.board_output(), [call("1")]);
}

#[test]
fn refused_replay_leaves_the_decision_to_the_board() {
    let mut bench = Bench::initialized();
    let refusal = error("1", -32602, "send `initialize` first");
    bench.client(&call("1"));
    for _ in 0..3 {
        bench.board_output();
        bench.board(&refusal);
        let id = bench.ping_id();
        bench.board(&pong(&id));
        let initialize = bench.board_output().remove(0);
        bench.board(&error(&format!("\"{}\"", id_of(&initialize)), -32603, "no"));
        assert_eq!((bench.client_output(), bench.board_output()), (vec![], vec![call("1")]));
    }
    bench.board(&refusal);
    assert_eq!(bench.client_output(), [refusal]);
}

#[test]
fn requests_of_a_restarted_board_are_cancelled() {
    let mut bench = Bench::initialized();
    for id in ["7", "\"x\""] {
        bench.board(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{}}}}"#));
    }
    bench.board(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#);
    assert_eq!(bench.client_output().len(), 3);
    bench.board(MARK_LINE);
    assert_eq!(
        bench.client_output(),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"the board has restarted"}}"#
        ]
    );
    reopen(&mut bench);
    bench.client(&result("7"));
    bench.client(&format!("[{}]", result("7")));
    assert_eq!(bench.board_output(), [""; 0], "a late response would answer another request");
    bench.client(&format!("[{},{}]", result("7"), call("1")));
    assert_eq!(bench.board_output(), [format!("[{}]", call("1"))]);
}

#[test]
fn lost_link_ends_requests_and_keeps_the_session() {
    let mut bench = Bench::initialized();
    bench.client(&call("1"));
    bench.board_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"re");
    bench.router.disconnected();
    assert_eq!(bench.client_output(), [error("1", -32603, "the board has disconnected")]);
    bench.client(&call("2"));
    bench.advance(59_000);
    assert_eq!(bench.board_output(), [""; 0]);
    bench.router.connected(bench.now);
    assert_eq!(reopen(&mut bench).len(), 2);
    assert_eq!(bench.board_output(), [call("2")]);
}

#[test]
fn session_is_not_opened_again_while_output_waits() {
    for settle in [5, 0] {
        let mut bench = Bench::initialized();
        bench.router.settings.settle = Duration::from_secs(settle);
        bench.board(MARK_LINE);
        let output = bench.router.to_board.clone();
        for _ in 0..7200 {
            bench.advance(500);
        }
        assert!(bench.router.to_board == output, "{} bytes", bench.router.to_board.len());
        // The line accepts the output, but the board does not respond.
        bench.board_output();
        bench.advance(1000);
        assert!(bench.router.to_board.len() >= output.len());
    }
}

/// The error of a request that waits for a silent board until its time limit.
const SILENT: &str = "the board did not respond in time. Is it switched on?";

#[test]
fn held_requests_fail_at_the_time_limit() {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#;
    for loses_link in [false, true] {
        let mut bench = Bench::initialized();
        if loses_link {
            bench.router.disconnected();
        } else {
            // The board hangs after its mark.
            bench.board(MARK_LINE);
        }
        bench.client(&call("1"));
        bench.client(progress);
        bench.client(&format!("[{},{progress},{}]", call("2"), call("3")));
        for _ in 0..120 {
            assert_eq!(bench.client_output(), [""; 0]);
            bench.board_output();
            bench.advance(500);
        }
        assert_eq!(bench.client_output(), ["1", "2", "3"].map(|id| error(id, -32603, SILENT)));
        assert_eq!(bench.router.awaited(), 1, "only the notification is held");
        bench.client(&call("4"));
        bench.advance(59_000);
        bench.board_output();
        bench.router.connected(bench.now);
        assert_eq!(reopen(&mut bench).len(), 2);
        assert_eq!(bench.board_output(), [progress, &call("4")]);
    }
}

#[test]
fn interrupted_request_fails_at_the_time_limit() {
    let mut bench = Bench::new();
    bench.client(INITIALIZE);
    bench.board_output();
    bench.advance(1000);
    bench.board(MARK_LINE);
    for _ in 0..118 {
        assert_eq!(bench.client_output(), [""; 0]);
        bench.board_output();
        bench.advance(500);
    }
    assert_eq!((bench.client_output(), bench.router.awaited()), (vec![error("0", -32603, SILENT)], 0));
    assert_eq!(reopen(&mut bench), [""; 0]);
    assert_eq!(bench.board_output(), [""; 0]);
}

#[test]
fn held_request_has_no_time_limit_during_the_settle_time() {
    let mut bench = Bench::new();
    bench.router.settings.settle = Duration::from_secs(100);
    bench.router.connected(bench.now);
    bench.client(&call("1"));
    bench.advance(99_000);
    assert_eq!(bench.client_output(), [""; 0]);
    bench.board_output();
    bench.advance(1000);
    assert_eq!(bench.board_output(), [call("1")]);
}

#[test]
fn empty_line_is_not_held() {
    let mut bench = Bench::started();
    bench.client(" \r");
    bench.router.client_ended(bench.now);
    assert_eq!((bench.router.awaited(), bench.router.held.len()), (0, 0));
}

#[test]
fn held_lines_are_bounded() {
    let mut bench = Bench::started();
    bench.router.client_input(&vec![b'x'; 1 << 20], bench.now);
    assert!(!bench.router.is_full(), "an incomplete line has its own bound");
    bench.router.client_input(b"\ny\n", bench.now);
    assert!(bench.router.is_full());
    let id = bench.ping_id();
    bench.board(&pong(&id));
    assert!(!bench.router.is_full());
}
