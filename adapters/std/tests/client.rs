//! The client against a server of this crate, over sockets.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::client::{Connect, Listed, Timeouts};
use mcp_proto::json::Json;
use mcp_proto::server::{Call, Change, Event, Logging, ServerConfig, Tool, Tools};
use mcp_proto::{Direction, Millis, Observer, ProtocolError, Revision, ServerCapabilities};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, ConnectError, Connector, Notification, Serve, ServerHandle,
};

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}").description("Echoes."),
    Tool::new("wait", "{}"),
    Tool::new("fail", "{}"),
])
.list_changed();
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1.2").instructions("Use it well.").features(&[&TOOLS, &Logging]);

fn tool(call: Call<'_>, server: &ServerHandle, cancelled: &Arc<AtomicUsize>) {
    match call.name() {
        "echo" => {
            let arguments = call.raw_arguments().to_string();
            call.text(arguments);
        }
        "wait" => {
            let time = call.raw_arguments().get("ms").and_then(Json::unsigned).unwrap_or(0);
            let cancelled = Arc::clone(cancelled);
            server.run(call, move |answer| {
                answer.progress(1u32, Some(2.into()), "started");
                match answer.sleep_unless_cancelled(Duration::from_millis(time)) {
                    Ok(()) => answer.text("waited"),
                    Err(_) => _ = cancelled.fetch_add(1, Ordering::SeqCst),
                }
            });
        }
        _ => call.error_with(-1, "no", |data| data.integer(7)),
    }
}

/// Starts a server. Returns the client's end of the socket and the count of cancelled calls.
fn server() -> (UnixStream, Arc<AtomicUsize>) {
    let (here, there) = UnixStream::pair().unwrap();
    let cancelled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&cancelled);
    thread::spawn(move || {
        Serve::new(&CONFIG).workers(64).stream(there, |event, server| {
            if let Event::Call(call) = event {
                tool(call, server, &count);
            }
        })
    });
    (here, cancelled)
}

fn connect(connect: Connect) -> (ClientHandle, Arc<AtomicUsize>) {
    let (stream, cancelled) = server();
    (Connector::new("test", "1").connect(connect).stream(stream).unwrap(), cancelled)
}

#[test]
fn client_connects_lists_calls_and_pings_in_both_eras() {
    for (mode, revision) in
        [(Connect::Automatic, Revision::V2026_07_28), (Connect::Handshake, Revision::V2025_11_25)]
    {
        let (client, _) = connect(mode);
        let details = client.server();
        assert_eq!((details.revision, &*details.name, &*details.version), (revision, "test", "1.2"));
        assert_eq!(details.instructions.as_deref(), Some("Use it well."));
        assert!(details.capabilities.has(ServerCapabilities::TOOLS));
        let tools = client.list_tools().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["echo", "wait", "fail"]);
        assert_eq!(tools[0].description.as_deref(), Some("Echoes."));
        let result = client.call_tool("echo", &BTreeMap::from([("a", "ü\n")])).unwrap();
        assert_eq!(result.text().as_deref(), Some("{\"a\":\"ü\\n\"}"));
        let Err(CallError::Server(error)) = client.call_json("fail", "{}") else { panic!() };
        assert_eq!((error.code, &*error.message, error.data.as_deref()), (-1, "no", Some("7")));
        assert!(matches!(client.call_json("nope", "{}"), Err(CallError::Server(_))));
        assert!(matches!(client.call_json("echo", "[1]"), Err(CallError::Invalid(_))));
        client.ping().unwrap();
        assert_eq!(client.close(), None);
        assert!(client.is_closed());
        assert_eq!(client.ping(), Err(CallError::Closed));
    }
}

#[test]
fn many_threads_share_one_client() {
    let (client, _) = connect(Connect::Automatic);
    thread::scope(|scope| {
        for thread in 0..16 {
            let client = client.clone();
            scope.spawn(move || {
                for call in 0..100 {
                    let arguments = format!(r#"{{"thread":{thread},"call":{call}}}"#);
                    let result = client.call_json("echo", &arguments).unwrap();
                    assert_eq!(result.text(), Some(arguments));
                }
            });
        }
    });
}

#[test]
fn megabytes_in_both_directions_do_not_deadlock() {
    let (client, _) = connect(Connect::Handshake);
    let payload = "x".repeat(1 << 20);
    thread::scope(|scope| {
        for _ in 0..8 {
            let (client, payload) = (client.clone(), &payload);
            scope.spawn(move || {
                for _ in 0..2 {
                    let result = client.call_tool("echo", &BTreeMap::from([("payload", payload)])).unwrap();
                    assert_eq!(result.text().unwrap().len(), payload.len() + 14);
                }
            });
        }
    });
}

#[test]
fn progress_cancellation_timeout_and_drop_work() {
    let (client, cancelled) = connect(Connect::Automatic);
    let options = CallOptions::new().with_progress();
    let mut seen = Vec::new();
    let result = client
        .call_tool_with("wait", &BTreeMap::from([("ms", 20)]), options, |step| seen.push(step))
        .unwrap();
    assert_eq!(result.text().as_deref(), Some("waited"));
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].progress, seen[0].total), (1u32.into(), Some(2u32.into())));
    assert_eq!(seen[0].message.as_deref(), Some("started"));

    let long = r#"{"ms":60000}"#;
    let pending = client.begin_json("wait", long, options).unwrap();
    let canceller = pending.canceller();
    // Cancels from another thread when the call has started.
    let outcome = pending.wait_with(move |_| {
        let canceller = canceller.clone();
        thread::spawn(move || canceller.cancel("enough"));
    });
    assert_eq!(outcome, Err(CallError::Cancelled));

    let short = CallOptions::new().timeout(Duration::from_millis(50));
    assert_eq!(client.begin_json("wait", long, short).unwrap().wait(), Err(CallError::TimedOut));
    let capped = options.maximum(Duration::from_millis(50));
    assert_eq!(client.begin_json("wait", long, capped).unwrap().wait(), Err(CallError::TimedOut));
    drop(client.begin_json("wait", long, options).unwrap());

    // The server receives every cancellation except perhaps the last, because that call may never have been sent.
    let start = Instant::now();
    while cancelled.load(Ordering::SeqCst) < 3 {
        client.ping().unwrap();
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn requests_beyond_limit_fail_and_close_ends_the_rest() {
    let (stream, _) = server();
    let client = Connector::new("test", "1").requests(2).waiting(0).stream(stream).unwrap();
    let wait = |client: &ClientHandle| client.begin_json("wait", r#"{"ms":60000}"#, CallOptions::new());
    let (one, two) = (wait(&client).unwrap(), wait(&client).unwrap());
    assert!(matches!(wait(&client), Err(CallError::Busy)));
    let waiter = thread::spawn(move || (one.wait(), two.wait()));
    client.close();
    assert_eq!(waiter.join().unwrap(), (Err(CallError::Closed), Err(CallError::Closed)));
}

#[test]
fn calls_begun_before_close_reach_the_server() {
    for connect in [Connect::Automatic, Connect::Handshake] {
        let mut received = 0;
        for _ in 0..50 {
            let (here, there) = UnixStream::pair().unwrap();
            let server = thread::spawn(move || {
                let mut calls = 0;
                let _ = Serve::new(&CONFIG).stream(there, |event, _| {
                    if let Event::Call(call) = event {
                        calls += 1;
                        call.text("");
                    }
                });
                calls
            });
            let client = Connector::new("test", "1").connect(connect).stream(here).unwrap();
            client.begin_json("echo", "{}", CallOptions::new()).unwrap().detach();
            client.close_within(Duration::from_secs(2));
            received += server.join().unwrap();
        }
        assert_eq!(received, 50, "{connect:?}");
    }
}

#[test]
fn calls_time_out_when_server_does_not_read() {
    // The server responds to the handshake, and then stops reading.
    let (here, there) = UnixStream::pair().unwrap();
    let (done, wait) = channel::<()>();
    let server = thread::spawn(move || {
        let mut lines = BufReader::new(there.try_clone().unwrap()).lines();
        lines.next().unwrap().unwrap();
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
        writeln!(&there, "{answer}").unwrap();
        let _ = wait.recv();
    });
    let client = Connector::new("test", "1")
        .connect(Connect::Handshake)
        .timeouts(Timeouts { grace: Millis(200), ..Timeouts::DEFAULT })
        .longest_request(1 << 20)
        .stream(here)
        .unwrap();
    let payload = BTreeMap::from([("x", "x".repeat(900_000))]);
    let options = CallOptions::new().timeout(Duration::from_millis(200));
    let pending: Vec<_> = (0..5).map(|_| client.begin("wait", &payload, options).unwrap()).collect();
    for pending in pending {
        assert_eq!(pending.wait(), Err(CallError::TimedOut));
    }
    let start = Instant::now();
    client.close();
    assert!(start.elapsed() < Duration::from_secs(10), "the grace period ends");
    drop(done);
    server.join().unwrap();
}

/// Opens a connection whose server is a script in the test. Returns both ends and the lines that the server receives.
fn scripted_server() -> (UnixStream, UnixStream, Receiver<String>) {
    let (here, there) = UnixStream::pair().unwrap();
    let (sender, receiver) = channel();
    let reader = BufReader::new(there.try_clone().unwrap());
    thread::spawn(move || {
        for line in reader.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    (here, there, receiver)
}

#[test]
fn connect_errors_are_distinct() {
    let (here, there, lines) = scripted_server();
    let script = thread::spawn(move || {
        lines.recv().unwrap();
        writeln!(&there, r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-5,"message":"go away"}}}}"#).unwrap();
        drop(lines.recv());
    });
    let error = Connector::new("test", "1").connect(Connect::Handshake).stream(here).unwrap_err();
    let ConnectError::Refused(error) = error else { panic!("{error:?}") };
    assert_eq!((error.code, &*error.message), (-5, "go away"));
    script.join().unwrap();

    let (here, there) = UnixStream::pair().unwrap();
    drop(there);
    assert!(matches!(Connector::new("test", "1").stream(here), Err(ConnectError::Closed(None))));
}

/// A stateless-era server responds to a call with a request state, and the client repeats the call with this state.
#[test]
fn input_required_call_is_sent_again_with_state() {
    let (here, there, lines) = scripted_server();
    let script = thread::spawn(move || {
        let answer = |line: &str, result: &str| {
            let id = Json::parse(line.as_bytes()).unwrap().get("id").unwrap();
            writeln!(&there, r#"{{"jsonrpc":"2.0","id":{id},"result":{{{result}}}}}"#).unwrap();
        };
        let capabilities = r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}"#;
        answer(&lines.recv().unwrap(), &format!(r#""resultType":"complete",{capabilities}"#));
        answer(&lines.recv().unwrap(), r#""resultType":"input_required","requestState":"later""#);
        let resent = lines.recv().unwrap();
        assert!(resent.contains(r#""arguments":{"a":1},"requestState":"later""#), "{resent}");
        answer(&resent, r#""content":[{"type":"text","text":"done"}]"#);
    });
    let client = Connector::new("test", "1").stream(here).unwrap();
    assert_eq!(client.call_json("echo", r#"{"a":1}"#).unwrap().text().as_deref(), Some("done"));
    script.join().unwrap();
}

#[test]
fn notification_callback_may_use_the_client() {
    struct Trace(Arc<Mutex<Vec<String>>>);
    impl Observer for Trace {
        fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
            let line = String::from_utf8_lossy(line);
            self.0.lock().unwrap().push(format!("{direction:?} {} {line}", outcome.is_ok()));
        }
    }
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        let mut noise = there.try_clone().unwrap();
        Serve::new(&CONFIG).stream(there, move |event, server| match event {
            Event::Call(call) => {
                noise.write_all(b"this is not JSON\n").unwrap();
                server.changed(Change::Tools);
                call.text("ok");
            }
            Event::Ready => server.log(mcp_proto::Level::Info, "ready"),
            _ => {}
        })
    });
    let (sender, notifications) = channel();
    let shared: Arc<Mutex<Option<ClientHandle>>> = Arc::default();
    let later = Arc::clone(&shared);
    let trace = Arc::default();
    let client = Connector::new("test", "1")
        .connect(Connect::Handshake)
        .observe(Trace(Arc::clone(&trace)))
        .on_notification(move |notification| {
            if notification == Notification::Changed(Listed::Tools) {
                let client = later.lock().unwrap().take().unwrap();
                assert_eq!(client.list_tools().unwrap().len(), 3);
            }
            sender.send(notification).unwrap();
        })
        .stream(here)
        .unwrap();
    *shared.lock().unwrap() = Some(client.clone());
    client.call_json("echo", "{}").unwrap();
    let notifications: Vec<Notification> =
        (0..3).map(|_| notifications.recv_timeout(Duration::from_secs(20)).unwrap()).collect();
    assert!(
        notifications.iter().any(
            |notification| matches!(notification, Notification::Log { data, .. } if data == "\"ready\"")
        )
    );
    assert!(notifications.contains(&Notification::Changed(Listed::Tools)));
    assert!(
        notifications.iter().any(|notification| matches!(
            notification,
            Notification::ProtocolError(ProtocolError::NotJson(_))
        ))
    );
    client.close();
    let trace = trace.lock().unwrap();
    assert!(
        trace
            .iter()
            .any(|line| line.starts_with(r#"Out true {"jsonrpc":"2.0","id":1,"method":"initialize""#))
    );
    assert!(trace.contains(&"In false this is not JSON".to_string()), "{trace:?}");
}
