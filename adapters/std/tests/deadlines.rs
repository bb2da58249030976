//! Both roles end within the time that they are given, whatever the other side does.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write, pipe};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::hard::{HARD, within};
use crate::peer::{Peer, call};
use mcp_proto::client::Connect;
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, Connector, Serve, ServerHandle, Stderr, Stop};

static TOOLS: Tools = Tools::new(&[
    Tool::new("wait", "{}"),
    Tool::new("stubborn", "{}"),
    Tool::new("large", "{}"),
    Tool::new("end", "{}"),
    Tool::new("end slowly", "{}"),
]);
static INFO: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

/// A busy machine may take so much longer.
const SLACK: Duration = Duration::from_secs(8);

/// For the last answers, and for the workers.
const LAST: Duration = Duration::from_secs(3);

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    match call.name() {
        "wait" => {
            server.run(call, |answer| match answer.sleep_unless_cancelled(Duration::from_millis(300)) {
                Ok(()) => answer.text("waited"),
                Err(why) => answer.fail(why),
            })
        }
        "stubborn" => server.run(call, |_answer| thread::sleep(HARD)),
        "large" => call.text("x".repeat(1 << 20)),
        "end" => {
            server.shutdown_within(Duration::from_millis(200));
            call.text("ending");
        }
        _ => {
            server.shutdown_within(HARD);
            call.text("ending");
        }
    }
}

#[test]
fn a_server_that_shuts_down_finishes_what_runs_and_refuses_what_is_new() {
    within(HARD, || {
        let (mut peer, server) = Peer::connect(&INFO, 4, ("2025-11-25", "{}"), handler);
        let start = Instant::now();
        peer.send(&(call(1, "wait", "{}") + &call(2, "end slowly", "{}")));
        assert!(peer.line().contains(r#""id":2,"result""#));
        peer.send(&call(3, "wait", "{}"));
        let line = peer.line();
        assert!(line.contains(r#""id":3,"error":{"code":-32"#), "{line}");
        assert!(peer.line().contains("waited"));
        server.join().unwrap();
        assert!(start.elapsed() < HARD / 2, "it does not wait for nothing");
    });
}

#[test]
fn a_server_past_its_deadline_answers_what_hangs_and_returns() {
    within(HARD, || {
        let (mut peer, server) = Peer::connect(&INFO, 4, ("2025-11-25", "{}"), handler);
        peer.send(&(call(1, "stubborn", "{}") + &call(2, "end", "{}")));
        let start = Instant::now();
        assert!(peer.line().contains(r#""id":2,"result""#));
        let line = peer.line();
        assert!(line.contains(r#""id":1,"error":{"code":-32603"#), "{line}");
        assert_eq!(peer.line(), "", "it hangs up");
        server.join().unwrap();
        assert!(start.elapsed() < LAST + SLACK, "{:?}", start.elapsed());
    });
}

#[test]
fn a_server_whose_client_does_not_read_returns_all_the_same() {
    within(HARD, || {
        let stop = Stop::new();
        let (mut peer, server) =
            Peer::from_config(Serve::new(&INFO).stopped_by(&stop), ("2025-11-25", "{}"), handler);
        (1..=20).for_each(|id| peer.send(&call(id, "large", "{}")));
        thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        stop.within(Duration::from_millis(200));
        server.join().unwrap();
        assert!(start.elapsed() < LAST + SLACK, "{:?}", start.elapsed());
    });
}

#[test]
fn a_server_is_stopped_before_anybody_has_said_anything() {
    within(HARD, || {
        let (input, _requests) = pipe().unwrap();
        let (_answers, output) = pipe().unwrap();
        let stop = Stop::new();
        let serve = Serve::new(&INFO).stopped_by(&stop);
        let server = thread::spawn(move || serve.streams(input, output, handler));
        thread::sleep(Duration::from_millis(50));
        stop.clone().within(HARD);
        server.join().unwrap().unwrap();
    });
}

/// Answers the handshake, in the shell.
const ANSWER: &str = r#"read line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'; "#;

fn child(script: &str) -> ClientHandle {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{ANSWER}{script}")]);
    Connector::new("test", "1")
        .connect(Connect::Handshake)
        .longest_request(4 << 20)
        .stderr(Stderr::null())
        .spawn(command)
        .unwrap()
}

/// A megabyte that waits to be read.
fn unsent(client: &ClientHandle) {
    let arguments = format!(r#"{{"x":"{}"}}"#, "x".repeat(1 << 20));
    for _ in 0..3 {
        let pending = client.begin_json("t", &arguments, CallOptions::new()).unwrap();
        thread::spawn(move || assert!(matches!(pending.wait(), Err(CallError::Closed))));
    }
}

#[test]
fn a_child_gets_its_share_of_the_time_to_end_and_is_killed_in_the_end() {
    within(HARD, || {
        // A good one needs none of it.
        let client = child("cat >/dev/null; exit 7");
        let start = Instant::now();
        assert_eq!(client.close_within(HARD).unwrap().code(), Some(7));
        assert!(start.elapsed() < HARD / 4);

        let client = child("exec sleep 1000");
        assert_eq!(client.close_within(Duration::from_millis(400)).unwrap().signal(), Some(15));

        let client = child("trap '' TERM; exec sleep 1000");
        let start = Instant::now();
        assert_eq!(client.close_within(Duration::from_millis(400)).unwrap().signal(), Some(9));
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(390), "it was asked first: {took:?}");
        assert_eq!(client.close_within(HARD).unwrap().signal(), Some(9), "it can be asked again");
    });
}

#[test]
fn a_child_that_does_not_read_is_ended_in_time() {
    within(HARD, || {
        let client = child("trap '' TERM; while :; do sleep 1000; done");
        unsent(&client);
        thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        let status = client.close_within(Duration::from_millis(800));
        let took = start.elapsed();
        assert_eq!(status.unwrap().signal(), Some(9));
        assert!(took < Duration::from_millis(800) + SLACK, "{took:?}");
    });
}

#[test]
fn a_close_that_waits_can_be_hurried() {
    within(HARD, || {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{ANSWER}trap '' TERM; exec sleep 1000")]);
        let patient = mcp_proto_std::Ending { after_close: HARD, after_terminate: HARD };
        let connector = Connector::new("test", "1").connect(Connect::Handshake).ending(patient);
        let client = connector.stderr(Stderr::null()).spawn(command).unwrap();
        let same = client.clone();
        let closing = thread::spawn(move || same.close());
        thread::sleep(Duration::from_millis(200));
        assert_eq!(client.close_within(Duration::from_millis(100)).unwrap().signal(), Some(9));
        assert_eq!(closing.join().unwrap().unwrap().signal(), Some(9));
    });
}

#[test]
fn a_socket_whose_other_end_does_not_read_is_hung_up_in_time() {
    within(HARD, || {
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
        unsent(&client);
        thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        assert_eq!(client.close_within(Duration::from_millis(200)), None);
        assert!(start.elapsed() < SLACK, "{:?}", start.elapsed());
        assert!(client.is_closed());
        drop(done);
        server.join().unwrap();
    });
}
