//! Servers and clients close within their deadlines, for any behavior of the peer.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write, pipe};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::peer::{Peer, call};
use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::client::Connect;
use mcp_proto::server::{Event, Limits, ServerConfig, Tool, Tools};
use mcp_proto::{KeepAlive, Millis};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, Connector, Serve, ServerHandle, Stderr, Stop};

static TOOLS: Tools = Tools::new(&[
    Tool::new("wait", "{}"),
    Tool::new("stubborn", "{}"),
    Tool::new("large", "{}"),
    Tool::new("end", "{}"),
    Tool::new("end slowly", "{}"),
]);
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS]).limits(Limits::DEFAULT.with_grace(Millis(500)));

/// Slack for a busy test machine.
const SLACK: Duration = Duration::from_secs(8);

/// The grace period for the last responses, and one second for the workers.
const CLOSE_TIME: Duration = Duration::from_millis(1500);

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    match call.name() {
        "wait" => {
            server.run(call, |answer| match answer.sleep_unless_cancelled(Duration::from_millis(300)) {
                Ok(()) => answer.text("waited"),
                Err(error) => answer.fail(error),
            })
        }
        "stubborn" => server.run(call, |_answer| thread::sleep(TEST_TIMEOUT)),
        "large" => call.text("x".repeat(1 << 20)),
        "end" => {
            server.shutdown_within(Duration::from_millis(200));
            call.text("ending");
        }
        _ => {
            server.shutdown_within(TEST_TIMEOUT);
            call.text("ending");
        }
    }
}

#[test]
fn shutdown_finishes_running_and_refuses_new() {
    within(TEST_TIMEOUT, || {
        let (mut peer, server) = Peer::connect(&CONFIG, 4, ("2025-11-25", "{}"), handler);
        let start = Instant::now();
        peer.send(&(call(1, "wait", "{}") + &call(2, "end slowly", "{}")));
        assert!(peer.line().contains(r#""id":2,"result""#));
        peer.send(&call(3, "wait", "{}"));
        let line = peer.line();
        assert!(line.contains(r#""id":3,"error":{"code":-32"#), "{line}");
        assert!(peer.line().contains("waited"));
        server.join().unwrap();
        assert!(start.elapsed() < TEST_TIMEOUT / 2, "the server returns when nothing runs");
    });
}

#[test]
fn shutdown_deadline_answers_hanging_requests() {
    within(TEST_TIMEOUT, || {
        let (mut peer, server) = Peer::connect(&CONFIG, 4, ("2025-11-25", "{}"), handler);
        peer.send(&(call(1, "stubborn", "{}") + &call(2, "end", "{}")));
        let start = Instant::now();
        assert!(peer.line().contains(r#""id":2,"result""#));
        let line = peer.line();
        assert!(line.contains(r#""id":1,"error":{"code":-32603"#), "{line}");
        assert_eq!(peer.line(), "", "the connection is closed");
        server.join().unwrap();
        assert!(start.elapsed() < CLOSE_TIME + SLACK, "{:?}", start.elapsed());
    });
}

#[test]
fn timeout_of_a_request_starts_when_the_handler_defers_it() {
    const SLOW: Duration = Duration::from_millis(1500);
    within(TEST_TIMEOUT, || {
        let handler = |event: Event<'_>, server: &ServerHandle| {
            let Event::Call(call) = event else { return };
            match call.name() {
                "large" => call.text("quick"),
                "end" => {
                    thread::sleep(SLOW);
                    call.text("slow");
                }
                name => {
                    if name == "stubborn" {
                        thread::sleep(SLOW);
                    }
                    server.run_within(SLOW / 2, call, |answer| answer.text("in time"));
                }
            }
        };
        // In the first case, another event before the deferral is slow. In the second case, the handler is slow before
        // it defers the request.
        for calls in [["large", "end", "wait"], ["large", "large", "stubborn"]] {
            let (mut peer, server) = Peer::connect(&CONFIG, 4, ("2025-11-25", "{}"), handler);
            peer.send(&(1..).zip(calls).map(|(id, name)| call(id, name, "{}")).collect::<String>());
            let lines = calls.map(|_| peer.line());
            assert!(lines.iter().any(|line| line.contains("in time")), "{lines:?}");
            drop(peer);
            server.join().unwrap();
        }
    });
}

#[test]
fn ping_does_not_time_out_during_a_slow_handler() {
    const TIMEOUT: Duration = Duration::from_secs(1);
    within(TEST_TIMEOUT, || {
        let keep_alive = KeepAlive { interval: TIMEOUT.into(), timeout: TIMEOUT.into(), close: true };
        let handler = |event: Event<'_>, _: &ServerHandle| {
            let Event::Call(call) = event else { return };
            if call.name() == "wait" {
                thread::sleep(TIMEOUT * 2);
            }
            call.text("done");
        };
        let serve = Serve::new(&CONFIG).keep_alive(keep_alive);
        let (mut peer, server) = Peer::with_server(serve, ("2025-11-25", "{}"), handler);
        let ping = peer.line();
        let id = ping.split_once(r#""id":"#).unwrap().1.split(',').next().unwrap().to_owned();
        peer.send(&(call(1, "large", "{}") + &call(2, "wait", "{}")));
        thread::sleep(TIMEOUT / 3);
        peer.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"));
        for id in 1..=2 {
            let line = peer.line();
            assert!(line.contains(&format!(r#""id":{id},"result""#)), "{line}");
        }
        assert!(peer.line().contains("ping"), "the connection is open");
        drop(peer);
        server.join().unwrap();
    });
}

#[test]
fn stop_returns_when_client_does_not_read() {
    within(TEST_TIMEOUT, || {
        let stop = Stop::new();
        let (mut peer, server) =
            Peer::with_server(Serve::new(&CONFIG).stopped_by(&stop), ("2025-11-25", "{}"), handler);
        (1..=20).for_each(|id| peer.send(&call(id, "large", "{}")));
        thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        stop.within(Duration::from_millis(200));
        server.join().unwrap();
        assert!(start.elapsed() < CLOSE_TIME + SLACK, "{:?}", start.elapsed());
    });
}

#[test]
fn stop_works_before_the_first_message() {
    within(TEST_TIMEOUT, || {
        let (input, _requests) = pipe().unwrap();
        let (_answers, output) = pipe().unwrap();
        let stop = Stop::new();
        let serve = Serve::new(&CONFIG).stopped_by(&stop);
        let server = thread::spawn(move || serve.streams(input, output, handler));
        thread::sleep(Duration::from_millis(50));
        stop.clone().within(TEST_TIMEOUT);
        server.join().unwrap().unwrap();
    });
}

/// The start of a shell script: reads one line, and responds to `initialize`.
const HANDSHAKE: &str = r#"read line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'; "#;

fn child(script: &str) -> ClientHandle {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{HANDSHAKE}{script}")]);
    Connector::new("test", "1")
        .connect(Connect::Handshake)
        .longest_request(4 << 20)
        .stderr(Stderr::null())
        .spawn(command)
        .unwrap()
}

/// Queues megabytes of requests that the server does not read.
fn queue_unsent(client: &ClientHandle) {
    let arguments = format!(r#"{{"x":"{}"}}"#, "x".repeat(1 << 20));
    for _ in 0..3 {
        let pending = client.begin_json("t", &arguments, CallOptions::new()).unwrap();
        thread::spawn(move || assert!(matches!(pending.wait(), Err(CallError::Closed))));
    }
}

#[test]
fn close_deadline_covers_exit_and_termination() {
    within(TEST_TIMEOUT, || {
        // A well-behaved child exits immediately.
        let client = child("cat >/dev/null; exit 7");
        let start = Instant::now();
        assert_eq!(client.close_within(TEST_TIMEOUT).unwrap().code(), Some(7));
        assert!(start.elapsed() < TEST_TIMEOUT / 4);

        let client = child("exec sleep 1000");
        assert_eq!(client.close_within(Duration::from_millis(400)).unwrap().signal(), Some(15));

        let client = child("trap '' TERM; exec sleep 1000");
        let start = Instant::now();
        assert_eq!(client.close_within(Duration::from_millis(400)).unwrap().signal(), Some(9));
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(390), "the child has the configured time to exit: {took:?}");
        assert_eq!(
            client.close_within(TEST_TIMEOUT).unwrap().signal(),
            Some(9),
            "the status stays available"
        );
    });
}

#[test]
fn close_deadline_holds_when_child_does_not_read() {
    within(TEST_TIMEOUT, || {
        let client = child("trap '' TERM; exec sleep 1000");
        queue_unsent(&client);
        thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        let status = client.close_within(Duration::from_millis(400));
        let took = start.elapsed();
        assert_eq!(status.unwrap().signal(), Some(9));
        assert!(took < Duration::from_millis(400) + SLACK, "{took:?}");
    });
}

#[test]
fn close_within_shortens_a_waiting_close() {
    within(TEST_TIMEOUT, || {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{HANDSHAKE}trap '' TERM; exec sleep 1000")]);
        let long = mcp_proto_std::Ending { after_close: TEST_TIMEOUT, after_terminate: TEST_TIMEOUT };
        let connector = Connector::new("test", "1").connect(Connect::Handshake).ending(long);
        let client = connector.stderr(Stderr::null()).spawn(command).unwrap();
        let same = client.clone();
        let closing = thread::spawn(move || same.close());
        thread::sleep(Duration::from_millis(200));
        assert_eq!(client.close_within(Duration::from_millis(100)).unwrap().signal(), Some(9));
        assert_eq!(closing.join().unwrap().unwrap().signal(), Some(9));
    });
}

#[test]
fn close_deadline_holds_when_socket_is_not_read() {
    within(TEST_TIMEOUT, || {
        let (here, there) = UnixStream::pair().unwrap();
        let (done, wait) = channel::<()>();
        let server = thread::spawn(move || {
            BufReader::new(&there).read_line(&mut String::new()).unwrap();
            let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
            writeln!(&there, "{answer}").unwrap();
            let _ = wait.recv();
        });
        let connector = Connector::new("test", "1").connect(Connect::Handshake);
        let client = connector.longest_request(4 << 20).stream(here).unwrap();
        queue_unsent(&client);
        thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        assert_eq!(client.close_within(Duration::from_millis(200)), None);
        assert!(start.elapsed() < SLACK, "{:?}", start.elapsed());
        assert!(client.is_closed());
        drop(done);
        server.join().unwrap();
    });
}
