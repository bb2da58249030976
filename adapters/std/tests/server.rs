//! The server over pipes and sockets, with hand-written messages.
#![cfg(unix)]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write, pipe};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::peer::{Peer, call, initialize};
use mcp_proto::json::Json;
use mcp_proto::server::{Call, Change, Event, Limits, Logging, ServerConfig, Tool, Tools};
use mcp_proto::{Level, Millis};
use mcp_proto_std::{Serve, ServerHandle};

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("wait", "{}"),
    Tool::new("panic", "{}"),
    Tool::new("drop", "{}"),
    Tool::new("tidy", "{}"),
    Tool::new("steps", "{}"),
    Tool::new("chatter", "{}"),
    Tool::new("spoilt", "{}"),
])
.list_changed();
static CONFIG: ServerConfig = ServerConfig::new("test", "1")
    .features(&[&TOOLS, &Logging])
    .limits(Limits::DEFAULT.with_grace(Millis(500)));

/// Responds to calls by tool name.
fn tool(call: Call<'_>, server: &ServerHandle) {
    match call.name() {
        "echo" => {
            let arguments = call.raw_arguments().to_string();
            call.text(arguments);
        }
        "wait" => {
            let time = call.raw_arguments().get("ms").and_then(Json::unsigned).unwrap_or(0);
            server.run(call, move |answer| {
                match answer.sleep_unless_cancelled(Duration::from_millis(time)) {
                    Ok(()) => answer.text("waited"),
                    Err(error) => answer.fail(error),
                }
            });
        }
        "panic" => server.run(call, |_| panic!("expected panic")),
        "drop" => server.run(call, drop),
        "tidy" => server.run(call, |answer| {
            answer.text("done");
            thread::sleep(Duration::from_millis(100));
        }),
        "steps" => server.run(call, |answer| {
            for step in 1..=100u32 {
                answer.progress(step, Some(100.into()), format_args!("step {step}"));
            }
            answer.log(Level::Info, "all steps done");
            answer.text("done");
        }),
        // The client requests no progress, so this loop never waits.
        "chatter" => server.run(call, |answer| {
            while !answer.is_cancelled() {
                answer.progress(1, None, "");
            }
        }),
        "spoilt" => server.run(call, |answer| answer.answer(|_| panic!("expected panic, in the answer"))),
        _ => call.unknown_tool(),
    }
}

fn handler(event: Event<'_>, server: &ServerHandle) {
    if let Event::Call(call) = event {
        tool(call, server);
    }
}

/// Connects a client without capabilities.
fn connect(info: &'static ServerConfig<'static>, workers: usize) -> (Peer, thread::JoinHandle<()>) {
    Peer::connect(info, workers, ("2025-11-25", "{}"), handler)
}

#[test]
fn failing_workers_answer_with_an_error() {
    let (mut peer, server) = connect(&CONFIG, 8);
    peer.send(&call(1, "panic", "{}"));
    let line = peer.line();
    assert!(line.contains(r#""id":1,"error":{"code":-32603"#) && line.contains("panicked"), "{line}");
    peer.send(&call(2, "drop", "{}"));
    let line = peer.line();
    assert!(line.contains(r#""id":2,"error":{"code":-32603"#) && !line.contains("panicked"), "{line}");
    peer.send(&call(3, "wait", r#"{"ms":1}"#));
    assert!(peer.line().contains("waited"));
    drop(peer);
    server.join().unwrap();
}

#[test]
fn progress_is_complete_and_precedes_the_response() {
    let (mut peer, _server) = connect(&CONFIG, 8);
    peer.send(&call(7, "steps", "{}"));
    for step in 1..=100 {
        let line = peer.line();
        assert!(
            line.contains(&format!(r#""progress":{step},"total":100,"message":"step {step}""#)),
            "{line}"
        );
    }
    assert!(peer.line().contains("all steps done"));
    assert!(peer.line().contains(r#""id":7,"result""#));
}

#[test]
fn pool_is_bounded_and_cancellation_frees_a_worker() {
    let (mut peer, server) = connect(&CONFIG, 2);
    let start = Instant::now();
    for id in 1..=3 {
        peer.send(&call(id, "wait", r#"{"ms":30000}"#));
    }
    let line = peer.line();
    assert!(line.contains(r#""id":3,"error":{"code":-32603"#) && line.contains("at most 2"), "{line}");
    peer.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n");
    // The cancelled work ends, so its worker can take another request.
    let id = (4..).find(|id| {
        peer.send(&call(*id, "wait", r#"{"ms":1}"#));
        let line = peer.line();
        assert!(!line.contains(r#""id":1,"#), "a cancelled call has no response: {line}");
        line.contains("waited")
    });
    assert!(id.is_some());
    drop(peer);
    server.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(20), "cancelled workers must not sleep to the end");
}

#[test]
fn client_with_response_may_call_again_immediately() {
    let (mut peer, server) = connect(&CONFIG, 1);
    for id in 1..=3 {
        peer.send(&call(id, "tidy", "{}"));
        let line = peer.line();
        assert!(line.contains("done"), "the previous call still occupies the worker: {line}");
    }
    drop(peer);
    server.join().unwrap();
}

#[test]
fn expired_request_is_answered_and_cancelled() {
    static SHORT_TIMEOUT: ServerConfig = ServerConfig::new("test", "1")
        .features(&[&TOOLS])
        .limits(Limits::DEFAULT.with_deferred_timeout(Millis(50)));
    let (mut peer, server) = connect(&SHORT_TIMEOUT, 1);
    peer.send(&call(1, "wait", r#"{"ms":60000}"#));
    assert!(peer.line().contains("the request timed out"));
    let served = (2..).find(|id| {
        peer.send(&call(*id, "wait", r#"{"ms":1}"#));
        peer.line().contains("waited")
    });
    assert!(served.is_some(), "the worker is free again");
    drop(peer);
    server.join().unwrap();
}

#[test]
fn many_responses_are_sent_in_one_write() {
    struct Counted(std::sync::mpsc::Sender<Vec<u8>>);
    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.send(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut input = initialize("2025-11-25", "{}");
    for id in 1..=100 {
        input += &call(id, "echo", r#"{"a":1}"#);
    }
    let (sender, writes) = channel();
    Serve::new(&CONFIG).streams(std::io::Cursor::new(input.into_bytes()), Counted(sender), handler).unwrap();
    let writes: Vec<Vec<u8>> = writes.into_iter().collect();
    assert_eq!(writes.concat().iter().filter(|byte| **byte == b'\n').count(), 101);
    assert_eq!(writes.len(), 1);
}

#[test]
fn workers_respond_after_end_of_input() {
    let (input, mut requests) = pipe().unwrap();
    let (mut answers, output) = pipe().unwrap();
    let server = thread::spawn(move || Serve::new(&CONFIG).streams(input, output, handler));
    requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
    requests.write_all(call(1, "wait", r#"{"ms":50}"#).as_bytes()).unwrap();
    requests.write_all(call(2, "wait", r#"{"ms":60000}"#).as_bytes()).unwrap();
    drop(requests);
    let mut text = String::new();
    answers.read_to_string(&mut text).unwrap();
    assert!(text.contains("waited"), "{text}");
    assert!(text.contains(r#""id":2,"error":{"code":-32603"#), "the grace period ends: {text}");
    server.join().unwrap().unwrap();
}

#[test]
fn broken_output_pipe_ends_the_server() {
    let (input, mut requests) = pipe().unwrap();
    let (answers, output) = pipe().unwrap();
    drop(answers);
    let server = thread::spawn(move || Serve::new(&CONFIG).streams(input, output, handler));
    requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
    // The server ends while its input is open.
    server.join().unwrap().unwrap();
    drop(requests);
}

#[test]
fn server_stops_reading_a_peer_that_does_not_read() {
    let (mut peer, server) = connect(&CONFIG, 2);
    peer.stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let filler = "x".repeat(1000);
    let mut written = 0;
    let (mut last, mut left) = (0, Vec::new());
    for id in 1.. {
        let line = call(id, "echo", &format!(r#"{{"a":"{filler}"}}"#)).into_bytes();
        match peer.stream.write(&line) {
            Ok(n) => {
                written += n;
                left = line[n..].to_vec();
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
        last = id;
        if !left.is_empty() {
            break;
        }
        assert!(written < 64 << 20, "the server never stops reading");
    }
    // All received requests get responses when the client reads.
    let mut writer = peer.stream.try_clone().unwrap();
    let rest = thread::spawn(move || {
        writer.set_write_timeout(None).unwrap();
        writer.write_all(&left).unwrap();
    });
    for id in 1..=last {
        let line = peer.line();
        assert!(line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{id}: {line}");
    }
    rest.join().unwrap();
    drop(peer);
    server.join().unwrap();
}

#[test]
fn other_threads_send_changes_and_shut_down() {
    let (here, there) = UnixStream::pair().unwrap();
    let (go, wait) = channel::<()>();
    let mut wait = Some(wait);
    let server = thread::spawn(move || {
        Serve::new(&CONFIG).stream(there, |event, server| {
            if let Event::Ready = event {
                let (server, wait) = (server.clone(), wait.take().unwrap());
                thread::spawn(move || {
                    server.changed(Change::Tools);
                    server.log(Level::Warning, "look");
                    wait.recv().unwrap();
                    server.shutdown();
                });
            }
        })
    });
    (&here).write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
    let mut lines = BufReader::new(&here);
    let mut text = String::new();
    for _ in 0..3 {
        lines.read_line(&mut text).unwrap();
    }
    go.send(()).unwrap();
    lines.read_to_string(&mut text).unwrap();
    assert!(text.contains("notifications/tools/list_changed") && text.contains("look"), "{text}");
    server.join().unwrap().unwrap();
}

#[test]
fn chatty_workers_do_not_starve_requests() {
    let (mut peer, server) = Peer::connect(&CONFIG, 4, ("2025-11-25", "{}"), handler);
    for id in 1..=4 {
        peer.send(&call(id, "chatter", "{}").replace(r#""_meta":{"progressToken":"#, r#""_meta":{"other":"#));
    }
    for _ in 0..20 {
        peer.send("{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n");
        assert!(peer.line().contains(r#""id":"p","result":{}"#));
    }
    drop(peer);
    server.join().unwrap();
}

#[test]
fn panic_in_reply_fails_only_its_request() {
    let (mut peer, server) = Peer::connect(&CONFIG, 1, ("2025-11-25", "{}"), handler);
    for id in 1..=3 {
        peer.send(&call(id, "spoilt", "{}"));
        let line = peer.line();
        assert!(line.contains(&format!(r#""id":{id},"error":{{"code":-32603"#)), "{line}");
        assert!(line.contains("panicked"), "{line}");
    }
    peer.send(&call(4, "echo", "{}"));
    assert!(peer.line().contains(r#""id":4,"result""#));
    drop(peer);
    server.join().unwrap();
}
