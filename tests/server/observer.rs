//! The observer of a server receives every message once, unchanged, in order.

use std::sync::{Arc, Mutex};

use super::batches::{cancel, gets, ping, pong, sends, text, tool};
use crate::support::server::tools::CONFIG;
use crate::support::server::{ServerHarness, glob, hello};
use crate::support::transport::{Order, Pace, PeerInput};
use mcp_proto::server::{Event, Server, Slot};
use mcp_proto::{Action, Direction, KeepAlive, Millis, Observer, ProtocolError, SendError, StreamId};

/// Records each message as `> line`, `> line ! ProtocolError` or `< line`.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<String>>>);

impl Recorder {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Recorder {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        let line = String::from_utf8_lossy(line);
        let sign = if direction == Direction::In { '>' } else { '<' };
        let fault = match outcome {
            Ok(()) => String::new(),
            Err(fault) => format!(" ! {}", crate::support::server::tools::name_of(&format!("{fault:?}"))),
        };
        self.0.lock().unwrap().push(format!("{sign} {line}{fault}"));
    }
}

/// Guaranteed response space in these scripts.
const MAX_REPLY: usize = 800;

/// Runs a script after the handshake. A step is `> line`, or a command of the application. Returns the observed
/// messages and the output.
fn run(version: &str, tx: usize, pace: Pace, steps: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut rx, mut tx, mut batches) = ([0; 1000], vec![0; tx], [0; 2000]);
    let (mut slots, mut ids, mut recorder) = ([Slot::EMPTY; 4], [0; 256], Recorder::default());
    let seen = recorder.clone();
    let server = Server::new(&CONFIG, &mut rx, &mut tx[..]).unwrap().max_reply_size(MAX_REPLY).unwrap();
    let server = server.batch_buffer(&mut batches).in_flight(&mut slots, &mut ids).unwrap();
    let pings = KeepAlive { interval: Millis(100), timeout: Millis(10), close: false };
    let mut harness = ServerHarness::new(server.keep_alive(pings).observe(&mut recorder), pace);
    let open = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}"#, hello(version));
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    harness.transport.write_line(open.as_bytes());
    harness.transport.write_line(ready.as_bytes());
    harness.run();
    let welcome = harness.take_output();
    assert_eq!(seen.take(), [format!("> {open}"), out(welcome.trim_end()), format!("> {ready}")]);
    for step in steps {
        match step.trim_end().strip_prefix("> ") {
            Some(line) => harness.transport.write_line(line.as_bytes()),
            None => {
                harness.run();
                harness.command(step);
            }
        }
    }
    harness.run();
    let output = harness.take_output();
    (seen.take(), output.lines().map(out).collect())
}

/// Compares the observed messages with `expected`, unless `expected` is empty. Varies the sizes of reads, writes and
/// the transmit buffer. `…` in `expected` matches any text. Always compares the observed sent messages with the output.
#[track_caller]
fn check(version: &str, steps: &[String], expected: &[String]) {
    for tx in [MAX_REPLY, MAX_REPLY + 1, MAX_REPLY + 61, 2 * MAX_REPLY, 5000] {
        for (read, write, order) in [
            (usize::MAX, usize::MAX, Order::WriteFirst),
            (1, 1, Order::WriteFirst),
            (usize::MAX, 1, Order::ReadFirst),
            (7, 5, Order::ReadFirst),
        ] {
            let pace = Pace { read, write, order, messages: false };
            let (seen, output) = run(version, tx, pace, steps);
            let sent: Vec<_> = seen.iter().filter(|line| line.starts_with("< ")).cloned().collect();
            assert_eq!(sent, output, "{pace:?}");
            let same = seen.len() == expected.len()
                && seen.iter().zip(expected).all(|(seen, expected)| glob(expected.trim_end(), seen));
            assert!(
                same || expected.is_empty(),
                "{pace:?}\nseen:\n{}\nexpected:\n{}",
                seen.join("\n"),
                expected.join("\n")
            );
        }
    }
}

fn out(line: &str) -> String {
    format!("< {line}")
}

fn call(id: &str, name: &str, params: &str) -> String {
    format!(r#"> {{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"{params}}}}}"#)
}

fn echo(id: &str, arguments: &str) -> [String; 2] {
    let result = arguments.replace('"', "\\\"");
    [call(id, "echo", &format!(",\"arguments\":{arguments}")), out(&text(id, &result))]
}

/// Returns the received lines among the observed messages.
fn received(seen: &[String]) -> Vec<String> {
    let lines = seen.iter().filter(|line| line.starts_with("> "));
    lines.map(|line| line.split(" ! ").next().unwrap_or_default().to_string()).collect()
}

#[test]
fn repeated_calls_are_observed_with_their_own_bytes() {
    let mut expected = Vec::new();
    // The same call repeatedly, with ids and arguments of different lengths.
    for id in ["1", "2", "99", "100", "4294967295", "\"a\"", "\"\\u0061\\\"\"", "2"] {
        for arguments in [r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":22}"#, "{}", r#"{"b":"x"}"#] {
            expected.extend(echo(id, arguments));
        }
    }
    let hidden = call("7", "echo", r#","_meta":{"progressToken":7}"#);
    expected.extend([hidden, out(&text("7", "{}"))]);
    expected.extend(echo("1", r#"{"a":1}"#));
    check("2025-11-25", &received(&expected), &expected);
}

#[test]
fn every_server_message_is_observed_once_in_order() {
    let done = |id: &str| out(&text(id, "done"));
    let progress = call("2", "progress", r#","_meta":{"progressToken":"t"}"#);
    let told = out("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",…}");
    let log = out("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",…}");
    let changed = out("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    let dropped = out("{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":…}");
    let (log_call, change, drop) = (call("3", "log", ""), call("4", "change", ""), call("5", "drop", ""));
    let expected = [
        &[progress, told.clone(), told.clone(), told, done("2")][..],
        &[log_call, log.clone(), log.clone(), log, done("3")],
        &[change, done("4"), changed, drop, dropped],
    ]
    .concat();
    check("2025-11-25", &received(&expected), &expected);

    let defer = call("7", "defer", "");
    let steps = [
        &defer,
        "answer 0 done",
        "ask ping",
        "cancel 0 x",
        "ask ping ms 5",
        "time 5",
        "time 100",
        "time 110",
    ];
    let ask = |id: &str| out(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}"));
    let cancelled =
        |id: u32| out(&format!("{{…\"notifications/cancelled\",\"params\":{{\"requestId\":{id}…}}"));
    let expected =
        [defer.clone(), done("7"), ask("5"), cancelled(5), ask("9"), cancelled(9), ask("\"ping-1\"")];
    check("2025-11-25", &steps.map(String::from), &expected);

    // The buffer size determines which messages fit after unread output. The observer receives exactly the messages
    // that the server writes.
    let late = call("8", "defer", r#","arguments":{"ms":20}"#);
    let steps =
        [&late, &defer, "block", "changed", "answer 1 done", "ask ping", "time 20", "log error x", "unblock"];
    check("2025-11-25", &steps.map(String::from), &[]);
}

#[test]
fn batch_and_its_responses_are_observed_as_one_line_each() {
    let progress = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":5}}}"#;
    let told =
        "< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":5,…";
    let first = sends(&[&ping("1"), progress, &cancel("9"), &tool("3", "echo")]);
    let second = sends(&[&tool("4", "defer"), &ping("5"), &tool("6", "defer")]);
    let silent = sends(&[&cancel("9"), &cancel("8")]);
    let alone = format!("> {}", ping("7"));
    let steps = [first.clone(), silent.clone(), second.clone(), alone.clone(), "answer 0 a".into()];
    let steps = [&steps[..], &["answer 1 b".into(), alone.clone()]].concat();
    let expected = [
        first,
        told.into(),
        told.into(),
        told.into(),
        gets(&[&pong("1"), &text("2", "done"), &text("3", "{}")]),
        silent,
        second,
        alone.clone(),
        out(&pong("7")),
        gets(&[&pong("5"), &text("4", "a"), &text("6", "b")]),
        alone,
        out(&pong("7")),
    ];
    check("2025-03-26", &steps, &expected);
    // The server refuses each of these batches as a whole.
    let expected = [
        "> [] ! EmptyBatch".into(),
        "< {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":…}".into(),
        format!("> [{}] ! BatchTooLarge", vec![ping("1"); 12].join(",")),
        "< {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":…}".into(),
    ];
    check("2025-03-26", &received(&expected), &expected);
}

#[test]
fn refused_message_is_observed_before_its_error() {
    let error = |id: &str| format!("< {{\"jsonrpc\":\"2.0\",{id}\"error\":…}}");
    let long = format!(r#"{{"jsonrpc":"2.0","id":77,"method":"m","params":"{}"}}"#, "x".repeat(1200));
    let silent = format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{}"}}"#, "x".repeat(1200));
    let messages = [
        ("nonsense", "NotJson", error("")),
        ("{", "NotJson", error("")),
        ("{}", "WrongJsonRpcVersion", error("")),
        (r#"{"id":1,"method":"ping"}"#, "WrongJsonRpcVersion", error("\"id\":1,")),
        (r#"{"jsonrpc":"2.0","id":2,"method":"no"}"#, "UnknownMethod", error("\"id\":2,")),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":7}"#, "InvalidParams", error("\"id\":3,")),
        (r#"{"jsonrpc":"2.0","id":4,"result":{}}"#, "UnknownResponse", String::new()),
        (r#"{"jsonrpc":"2.0","method":"no"}"#, "UnknownNotification", String::new()),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
            "UnknownCancel",
            String::new(),
        ),
        (r#"{"jsonrpc":"2.0","id":"ok","method":"ping"}"#, "", out(&pong("\"ok\""))),
    ];
    let (mut steps, mut expected) = (Vec::new(), Vec::new());
    for (line, fault, answer) in &messages {
        steps.push(format!("> {line}"));
        expected.push(if fault.is_empty() { format!("> {line}") } else { format!("> {line} ! {fault}") });
        expected.extend(Some(answer.clone()).filter(|answer| !answer.is_empty()));
    }
    // Of an oversized line, the observer receives only the id, or an empty text if there is no id.
    for (line, shown, answer) in [(&long, "77", error("\"id\":77,")), (&silent, "", String::new())] {
        steps.push(format!("> {line}"));
        expected.push(format!("> {shown} ! LineTooLong"));
        expected.extend(Some(answer).filter(|answer| !answer.is_empty()));
    }
    // After eight errors without an id since the last valid message, the server writes no further error without an id.
    for nth in 0..10 {
        steps.push("> 7".into());
        let fault = if nth < 8 { "NotAnObject" } else { "Muted" };
        expected.push(format!("> 7 ! {fault}"));
        expected.extend((nth < 8).then(|| error("")));
    }
    check("2025-11-25", &steps, &expected);
}

/// Polls a server that has no event. Passes `line`, which must fit, and takes at most `write` bytes. Returns the
/// number of bytes taken.
fn step(server: &mut Server<'_>, line: &[u8], write: usize) -> usize {
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
    let (sink, mut source) = io.split();
    let n = sink.bytes().len().min(write);
    sink.sent(n);
    source.space()[..line.len()].copy_from_slice(line);
    source.filled(line.len());
    n
}

#[test]
fn response_is_observed_whole_after_output_moved() {
    // The transport has taken a part of each response when the server writes the next response. Unsent bytes stay in
    // place, or move to the start of the buffer.
    let answer = |id: u32| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\",\"content\":[{{\"type\":\"text\",\"text\":\"{id}\"}}]}}}}"
        )
    };
    let info = CONFIG.anonymous_results();
    let (room, length) = (430, answer(10).len() + 1);
    for tx in [room, room + 1, room + length / 2, room + length, room + 2 * length - 1, 2 * room] {
        for written in 1..=length + 1 {
            let (mut rx, mut tx, mut recorder) = ([0; 512], vec![0; tx], Recorder::default());
            let (mut slots, mut ids) = ([Slot::EMPTY; 6], [0; 96]);
            let seen = recorder.clone();
            let server = Server::new(&info, &mut rx, &mut tx[..]).unwrap().max_reply_size(room).unwrap();
            let mut server = server.in_flight(&mut slots, &mut ids).unwrap().observe(&mut recorder);
            let (mut expected, mut tickets) = (Vec::new(), Vec::new());
            for id in 10..16 {
                let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
                let line = call(&id.to_string(), "defer", &format!(",{meta}"));
                step(&mut server, format!("{}\n", &line[2..]).as_bytes(), 0);
                let Action::Event = server.poll(Millis(0)) else { panic!("a call") };
                let Some(Event::Call(call)) = server.event() else { panic!("a call") };
                tickets.push(call.defer(None).unwrap());
                expected.push(line);
            }
            for (id, ticket) in (10..16).zip(tickets) {
                // Retry until the response has space.
                while let Err(SendError::Busy) = server.reply(ticket).map(|reply| reply.text(id)) {
                    step(&mut server, b"", 1);
                    if let Action::Event = server.poll(Millis(0)) {
                        assert!(matches!(server.event(), Some(Event::Writable)));
                    }
                }
                step(&mut server, b"", written);
                expected.push(out(&answer(id)));
            }
            while step(&mut server, b"", 1) > 0 {}
            drop(server);
            assert_eq!(seen.take(), expected, "{written} bytes written at a time");
        }
    }
}

#[test]
fn message_mode_observer_sees_messages_without_framing() {
    let (mut rx, mut tx, mut recorder) = ([0; 512], [0; 1200], Recorder::default());
    let seen = recorder.clone();
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().max_reply_size(500).unwrap();
    let mut server = server.message_mode().unwrap().observe(&mut recorder);
    let mut expected = Vec::new();
    let send = |server: &mut Server<'_>, message: &str, stream: u32| {
        let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
        assert!(io.split().1.message(message.as_bytes(), StreamId(stream)).is_ok());
    };
    // The messages contain newlines. All responses are in the transmit buffer before the caller takes the first one.
    for (stream, id) in [(7, "\"a\\n\""), (8, "2"), (9, "3")] {
        let message = format!("{{\"jsonrpc\":\"2.0\",\n\"id\":{id},\"method\":\"ping\"}}");
        send(&mut server, &message, stream);
        expected.extend([format!("> {message}"), out(&pong(id))]);
    }
    send(&mut server, "nonsense", 1);
    expected.push("> nonsense ! NotJson".into());
    let Action::Event = server.poll(Millis(0)) else { panic!("a fault") };
    server.event();
    let mut sent = Vec::new();
    loop {
        let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
        let (sink, _) = io.split();
        let Some(frame) = sink.frame() else { break };
        sent.push(format!("< {}", String::from_utf8_lossy(frame.message())));
        let n = frame.message().len();
        sink.sent(n);
    }
    expected.push(sent.last().unwrap().clone());
    drop(server);
    let seen = seen.take();
    assert_eq!(seen, expected);
    let shown: Vec<_> = seen.into_iter().filter(|line| line.starts_with('<')).collect();
    assert_eq!(shown, sent);
}

#[test]
fn observer_sees_only_new_messages_after_a_reset() {
    let (mut rx, mut tx, mut recorder) = ([0; 1000], [0; 2000], Recorder::default());
    let seen = recorder.clone();
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().max_reply_size(MAX_REPLY).unwrap();
    let mut harness = ServerHarness::new(server.observe(&mut recorder), Pace::FAST);
    let line = |id: &str| format!("{}\n", ping(id));
    for end in ["reset", "broken"] {
        harness.transport.peer_input = PeerInput::Blocked;
        harness.transport.write((line("1") + &line("22") + "half of a line").as_bytes());
        harness.run();
        // The server offered the responses, but the transport never took them.
        let before = [format!("> {}", ping("1")), out(&pong("1")), format!("> {}", ping("22"))];
        assert_eq!(seen.take(), [&before[..], &[out(&pong("22"))]].concat());
        harness.command(end);
        harness.run();
        harness.reset();
        harness.transport.peer_input = PeerInput::Open;
        harness.transport.write((line("333") + &line("4")).as_bytes());
        harness.run();
        let after = [format!("> {}", ping("333")), out(&pong("333")), format!("> {}", ping("4"))];
        assert_eq!(seen.take(), [&after[..], &[out(&pong("4"))]].concat());
        assert_eq!(harness.take_output(), pong("333") + "\n" + &pong("4") + "\n");
    }
}
