//! The server over streams, with hand-written messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::peer::{PING, Peer, SOON, Trickle, call, cancel, initialize};
use mcp_proto::json::Json;
use mcp_proto::server::{Call, Change, Event, Limits, Logging, ServerConfig, Tool, Tools};
use mcp_proto::{Level, Millis};
use mcp_proto_tokio::{Serve, ServerHandle};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("wait", "{}"),
    Tool::new("deaf", "{}"),
    Tool::new("panic", "{}"),
    Tool::new("early", "{}"),
    Tool::new("drop", "{}"),
    Tool::new("tidy", "{}"),
    Tool::new("steps", "{}"),
    Tool::new("chatter", "{}"),
    Tool::new("spoilt", "{}"),
])
.list_changed();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &Logging]);
const NEWEST: (&str, &str) = ("2025-11-25", "{}");

/// Responds to calls by tool name.
fn tool(call: Call<'_>, server: &ServerHandle) {
    let time = call.raw_arguments().get("ms").and_then(Json::unsigned).unwrap_or(0);
    let time = Duration::from_millis(time);
    match call.name() {
        "echo" => {
            let arguments = call.raw_arguments().to_string();
            call.text(arguments);
        }
        "wait" => server.run(call, move |answer| async move {
            tokio::select! {
                () = sleep(time) => answer.text("waited"),
                () = answer.cancelled() => answer.text("must not be sent"),
            }
        }),
        "deaf" => server.run(call, move |answer| async move {
            sleep(time).await;
            answer.text("slept");
        }),
        "panic" => server.run(call, |answer| async move {
            let _answer = answer;
            panic!("expected panic")
        }),
        "early" => server.run(call, |_| -> std::future::Ready<()> { panic!("expected panic, too") }),
        "drop" => server.run(call, |answer| async { drop(answer) }),
        "tidy" => server.run(call, |answer| async {
            answer.text("done");
            sleep(Duration::from_millis(300)).await;
        }),
        "steps" => server.run(call, |answer| async move {
            for step in 1..=100u32 {
                answer.progress(step, Some(100.into()), format!("step {step}")).await;
            }
            answer.log(Level::Info, "all steps done").await;
            answer.text("done");
        }),
        // The client requests no progress, so this loop never waits.
        "chatter" => server.run(call, |answer| async move {
            while !answer.is_cancelled() {
                answer.progress(1, None, "").await;
            }
        }),
        "spoilt" => server.run(call, |answer| async {
            answer.answer(|_| panic!("expected panic, in the answer"));
        }),
        _ => call.unknown_tool(),
    }
}

fn handler(event: Event<'_>, server: &ServerHandle) {
    if let Event::Call(call) = event {
        tool(call, server);
    }
}

#[tokio::test]
async fn failing_tasks_answer_with_an_error() {
    let (mut peer, server) = Peer::connect(&CONFIG, 8, NEWEST, handler).await;
    for (id, name) in (1..).zip(["panic", "early", "drop"]) {
        peer.send(&call(id, name, "{}")).await;
        let line = peer.line().await;
        assert!(line.contains(&format!(r#""id":{id},"error":{{"code":-32603"#)), "{line}");
        assert_eq!(line.contains("panicked"), name != "drop", "{line}");
    }
    peer.send(&call(4, "wait", r#"{"ms":1}"#)).await;
    assert!(peer.line().await.contains("waited"));
    peer.end(server).await;
}

#[tokio::test]
async fn progress_is_complete_and_precedes_the_response() {
    let (mut peer, server) = Peer::connect(&CONFIG, 8, NEWEST, handler).await;
    peer.send(&call(7, "steps", "{}")).await;
    for step in 1..=100 {
        let line = peer.line().await;
        let expected = format!(r#""progress":{step},"total":100,"message":"step {step}""#);
        assert!(line.contains(&expected), "{line}");
    }
    assert!(peer.line().await.contains("all steps done"));
    assert!(peer.line().await.contains(r#""id":7,"result""#));
    peer.end(server).await;
}

#[tokio::test(start_paused = true)]
async fn tasks_are_bounded_while_other_messages_are_served() {
    let (mut peer, server) = Peer::connect(&CONFIG, 2, NEWEST, handler).await;
    let start = Instant::now();
    for id in 1..=3 {
        peer.send(&call(id, "wait", r#"{"ms":30000}"#)).await;
    }
    let line = peer.line().await;
    assert!(line.contains(r#""id":3,"error":{"code":-32603"#) && line.contains("at most 2"), "{line}");
    // All permits are in use, but pings and direct responses still work.
    peer.send(PING).await;
    assert!(peer.line().await.contains(r#""id":"p","result":{}"#));
    peer.send(&call(4, "echo", r#"{"a":1}"#)).await;
    assert!(peer.line().await.contains(r#""id":4,"result""#));
    peer.send(&cancel(1)).await;
    // The cancelled task ends and frees its permit.
    let mut id = 5;
    loop {
        peer.send(&call(id, "wait", r#"{"ms":1}"#)).await;
        let line = peer.line().await;
        assert!(!line.contains("must not be sent"), "a cancelled call has no response: {line}");
        if line.contains("waited") {
            break;
        }
        id += 1;
        assert!(id < 1000, "the cancelled task never ended");
    }
    assert!(start.elapsed() < Duration::from_secs(20), "cancelled tasks must not sleep to the end");
    peer.send(&cancel(2)).await;
    peer.end(server).await;
    assert!(start.elapsed() < Duration::from_secs(20), "cancelled tasks must not sleep to the end");
}

#[tokio::test]
async fn client_with_response_may_call_again_immediately() {
    let (mut peer, server) = Peer::connect(&CONFIG, 1, NEWEST, handler).await;
    for id in 1..=3 {
        peer.send(&call(id, "tidy", "{}")).await;
        let line = peer.line().await;
        assert!(line.contains("done"), "the previous call still occupies the permit: {line}");
    }
    peer.end(server).await;
}

#[tokio::test(start_paused = true)]
async fn expired_request_is_answered_and_cancelled() {
    static SHORT_TIMEOUT: ServerConfig = ServerConfig::new("test", "1")
        .features(&[&TOOLS])
        .limits(Limits::DEFAULT.with_deferred_timeout(Millis(50)));
    let (mut peer, server) = Peer::connect(&SHORT_TIMEOUT, 1, NEWEST, handler).await;
    let start = Instant::now();
    peer.send(&call(1, "wait", r#"{"ms":60000}"#)).await;
    assert!(peer.line().await.contains("the request timed out"));
    assert_eq!(start.elapsed(), Duration::from_millis(50));
    tokio::task::yield_now().await;
    peer.send(&call(2, "wait", r#"{"ms":1}"#)).await;
    assert!(peer.line().await.contains("waited"), "the permit is free again");
    peer.end(server).await;
}

#[tokio::test]
async fn timeout_of_a_request_starts_when_the_handler_defers_it() {
    const SLOW: Duration = Duration::from_millis(1500);
    let handler = |event: Event<'_>, server: &ServerHandle| {
        if let Event::Call(call) = event {
            std::thread::sleep(SLOW);
            server.run_within(SLOW / 2, call, |answer| async { answer.text("in time") });
        }
    };
    let (mut peer, server) = Peer::connect(&CONFIG, 1, NEWEST, handler).await;
    peer.send(&call(1, "wait", "{}")).await;
    let line = peer.line().await;
    assert!(line.contains("in time"), "{line}");
    peer.end(server).await;
}

#[tokio::test(start_paused = true)]
async fn tasks_respond_after_end_of_input() {
    let (mut requests, input) = duplex(4096);
    let (output, mut answers) = duplex(4096);
    let server = tokio::spawn(Serve::new(&CONFIG).streams(input, output, handler));
    let calls = [
        initialize("2025-11-25", "{}"),
        call(1, "wait", r#"{"ms":200}"#),
        call(2, "wait", r#"{"ms":60000}"#),
    ];
    requests.write_all(calls.concat().as_bytes()).await.unwrap();
    drop(requests);
    let mut text = String::new();
    timeout(SOON, answers.read_to_string(&mut text)).await.unwrap().unwrap();
    assert!(text.contains("waited"), "{text}");
    assert!(text.contains(r#""id":2,"error":{"code":-32603"#), "the grace period ends: {text}");
    server.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn peer_closing_either_direction_ends_the_server() {
    // The peer closes its input.
    let (mut requests, input) = duplex(4096);
    let (output, answers) = duplex(4096);
    drop(answers);
    let server = tokio::spawn(Serve::new(&CONFIG).streams(input, output, handler));
    requests.write_all(initialize("2025-11-25", "{}").as_bytes()).await.unwrap();
    timeout(SOON, server).await.unwrap().unwrap().unwrap();
    // The peer closes its output within a line, while a request runs.
    let (mut peer, server) = Peer::connect(&CONFIG, 2, NEWEST, handler).await;
    peer.send(&call(1, "wait", r#"{"ms":60000}"#)).await;
    peer.send(&call(2, "echo", "{}")[..40]).await;
    peer.output.shutdown().await.unwrap();
    let line = peer.line().await;
    assert!(line.contains(r#""id":1,"error":{"code":-32603"#), "{line}");
    peer.end(server).await;
}

#[tokio::test(start_paused = true)]
async fn server_stops_reading_a_peer_that_does_not_read() {
    let (mut peer, server) = Peer::connect(&CONFIG, 2, NEWEST, handler).await;
    let filler = "x".repeat(1000);
    let (mut written, mut last, mut left) = (0, 0, String::new());
    for id in 1.. {
        let line = call(id, "echo", &format!(r#"{{"a":"{filler}"}}"#));
        let mut sent = 0;
        while sent < line.len() {
            match timeout(Duration::from_millis(500), peer.output.write(&line.as_bytes()[sent..])).await {
                Ok(n) => sent += n.unwrap(),
                Err(_) => break,
            }
        }
        last = id;
        written += sent;
        if sent < line.len() {
            left = line[sent..].to_owned();
            break;
        }
        assert!(written < 64 << 20, "the server never stops reading");
    }
    // All received requests get responses when the client reads.
    let Peer { mut output, mut lines } = peer;
    let rest = tokio::spawn(async move {
        output.write_all(left.as_bytes()).await.unwrap();
        output
    });
    for id in 1..=last {
        let mut line = String::new();
        tokio::io::AsyncBufReadExt::read_line(&mut lines, &mut line).await.unwrap();
        assert!(line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{id}: {line}");
    }
    drop((rest.await.unwrap(), lines));
    timeout(SOON, server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn byte_wise_peer_receives_everything() {
    let (here, there) = duplex(1);
    let (input, output) = split(Trickle::new(there));
    let server = tokio::spawn(Serve::new(&CONFIG).streams(input, output, handler));
    let (input, output) = split(Trickle::new(here));
    let mut peer = (tokio::io::BufReader::new(input), output);
    let mut text = initialize("2025-11-25", "{}") + &call(1, "steps", "{}");
    text += &call(2, "echo", r#"{"a":"ü"}"#);
    let writer = tokio::spawn(async move {
        peer.1.write_all(text.as_bytes()).await.unwrap();
        peer.1.shutdown().await.unwrap();
    });
    let mut received = String::new();
    timeout(SOON, peer.0.read_to_string(&mut received)).await.unwrap().unwrap();
    assert_eq!(received.lines().count(), 1 + 102 + 1, "{received}");
    assert!(received.contains(r#""id":2,"result""#));
    writer.await.unwrap();
    timeout(SOON, server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn other_tasks_send_changes_and_shut_down() {
    let (go, mut wait) = mpsc::channel::<()>(1);
    let (sender, mut handles) = mpsc::channel(1);
    let (mut peer, server) = Peer::start(Serve::new(&CONFIG), 4096, move |event, server| {
        if let Event::Ready = event {
            sender.try_send(server.clone()).unwrap();
        }
    });
    peer.send(&initialize("2025-11-25", "{}")).await;
    let handle = handles.recv().await.unwrap();
    tokio::spawn(async move {
        handle.changed(Change::Tools);
        handle.log(Level::Warning, "look").await;
        wait.recv().await.unwrap();
        handle.shutdown();
    });
    let lines = [peer.line().await, peer.line().await, peer.line().await].concat();
    assert!(lines.contains("notifications/tools/list_changed") && lines.contains("look"), "{lines}");
    go.send(()).await.unwrap();
    assert_eq!(peer.line().await, "");
    timeout(SOON, server).await.unwrap().unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn shutdown_finishes_running_requests_by_deadline() {
    // One deadline is longer than the grace period, the other is shorter.
    for (deadline, waits) in [(Duration::from_secs(10), 9_999), (Duration::from_millis(100), 99)] {
        let (sender, mut handles) = mpsc::channel(1);
        let (mut peer, server) = Peer::start(Serve::new(&CONFIG), 4096, move |event, server| match event {
            Event::Ready => sender.try_send(server.clone()).unwrap(),
            event => handler(event, server),
        });
        peer.send(&initialize("2025-11-25", "{}")).await;
        let handle = handles.recv().await.unwrap();
        peer.line().await;
        let slow = format!(r#"{{"ms":{waits}}}"#);
        peer.send(
            &(call(1, "wait", &slow)
                + &call(2, "wait", r#"{"ms":60000}"#)
                + &call(3, "deaf", r#"{"ms":60000}"#)),
        )
        .await;
        peer.send(PING).await;
        peer.line().await;
        let start = Instant::now();
        handle.shutdown_within(deadline);
        tokio::task::yield_now().await;
        peer.send(&call(4, "echo", "{}")).await;
        let line = peer.line().await;
        assert!(line.contains(r#""id":4,"error""#), "a new request is refused: {line}");
        assert!(
            peer.line().await.contains("waited"),
            "a request that ends before the deadline gets its response"
        );
        let lines = [peer.line().await, peer.line().await].concat();
        assert_eq!(lines.matches("the request timed out").count(), 2, "{lines}");
        assert_eq!(peer.line().await, "");
        server.await.unwrap().unwrap();
        assert_eq!(start.elapsed(), deadline);
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_when_client_does_not_read() {
    let (sender, mut handles) = mpsc::channel(1);
    let (mut peer, server) = Peer::start(Serve::new(&CONFIG), 512, move |event, server| match event {
        Event::Ready => sender.try_send(server.clone()).unwrap(),
        event => handler(event, server),
    });
    peer.send(&initialize("2025-11-25", "{}")).await;
    peer.line().await;
    peer.send(&call(1, "echo", &format!(r#"{{"a":"{}"}}"#, "x".repeat(5000)))).await;
    let handle = handles.recv().await.unwrap();
    sleep(Duration::from_millis(10)).await;
    let start = Instant::now();
    handle.shutdown_within(Duration::from_secs(1));
    timeout(SOON, server).await.unwrap().unwrap().unwrap();
    assert!(start.elapsed() <= Duration::from_secs(6), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn dropped_server_cancels_its_tasks() {
    let cancelled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&cancelled);
    let (mut peer, server) = Peer::connect(&CONFIG, 4, NEWEST, move |event, server| {
        let Event::Call(call) = event else { return };
        let count = Arc::clone(&count);
        server.run(call, |answer| async move {
            answer.cancelled().await;
            count.fetch_add(1, Ordering::SeqCst);
        });
    })
    .await;
    peer.send(&(call(1, "wait", "{}") + &call(2, "wait", "{}") + PING)).await;
    peer.line().await;
    server.abort();
    assert!(server.await.unwrap_err().is_cancelled());
    assert_eq!(peer.line().await, "", "the connection is closed");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(cancelled.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn chatty_tasks_do_not_starve_requests() {
    let (mut peer, server) = Peer::connect(&CONFIG, 2, NEWEST, handler).await;
    for id in 1..=2 {
        let call = call(id, "chatter", "{}");
        peer.send(&call.replace(r#""_meta":{"progressToken":"#, r#""_meta":{"other":"#)).await;
    }
    for _ in 0..20 {
        peer.send(PING).await;
        assert!(peer.line().await.contains(r#""id":"p","result":{}"#));
    }
    for id in 1..=2 {
        peer.send(&cancel(id)).await;
    }
    peer.end(server).await;
}

#[tokio::test]
async fn panic_in_reply_fails_only_its_request() {
    let (mut peer, server) = Peer::connect(&CONFIG, 1, NEWEST, handler).await;
    for id in 1..=3 {
        peer.send(&call(id, "spoilt", "{}")).await;
        let line = peer.line().await;
        assert!(line.contains(&format!(r#""id":{id},"error":{{"code":-32603"#)), "{line}");
    }
    peer.send(&call(4, "echo", "{}")).await;
    assert!(peer.line().await.contains(r#""id":4,"result""#));
    peer.end(server).await;
}
