//! The client with a server of this crate and with scripted servers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::peer::{SOON, Trickle};
use mcp_proto::client::{Connect, Listed};
use mcp_proto::json::Json;
use mcp_proto::server::{Call, Change, Event, Logging, ServerConfig, Tool, Tools};
use mcp_proto::{Direction, Level, Observer, ProtocolError, Revision, ServerCapabilities};
use mcp_proto_tokio::{
    CallError, CallOptions, ClientHandle, ConnectError, Connector, InputResponse, Notification, Serve,
    ServerHandle,
};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

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
            server.run(call, move |answer| async move {
                answer.progress(1u32, Some(2.into()), "started").await;
                tokio::select! {
                    () = sleep(Duration::from_millis(time)) => answer.text("waited"),
                    () = answer.cancelled() => { cancelled.fetch_add(1, Ordering::SeqCst); }
                }
            });
        }
        _ => call.error_with(-1, "no", |data| data.integer(7)),
    }
}

/// Starts a server. Returns the client's end of the stream and the count of cancelled calls.
fn server(width: usize) -> (DuplexStream, Arc<AtomicUsize>) {
    let (here, there) = duplex(width);
    let cancelled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&cancelled);
    tokio::spawn(Serve::new(&CONFIG).workers(64).stream(there, move |event, server| {
        if let Event::Call(call) = event {
            tool(call, server, &count);
        }
    }));
    (here, cancelled)
}

async fn connect(connect: Connect) -> (ClientHandle, Arc<AtomicUsize>) {
    let (stream, cancelled) = server(4096);
    (Connector::new("test", "1").connect(connect).stream(stream).await.unwrap(), cancelled)
}

#[tokio::test]
async fn client_connects_lists_calls_and_pings_in_both_eras() {
    for (mode, revision) in
        [(Connect::Automatic, Revision::V2026_07_28), (Connect::Handshake, Revision::V2025_11_25)]
    {
        let (client, _) = connect(mode).await;
        let details = client.server();
        assert_eq!((details.revision, &*details.name, &*details.version), (revision, "test", "1.2"));
        assert_eq!(details.instructions.as_deref(), Some("Use it well."));
        assert!(details.capabilities.has(ServerCapabilities::TOOLS));
        let tools = client.list_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["echo", "wait", "fail"]);
        assert_eq!(tools[0].description.as_deref(), Some("Echoes."));
        let result = client.call_tool("echo", &BTreeMap::from([("a", "ü\n")])).await.unwrap();
        assert_eq!(result.text().as_deref(), Some("{\"a\":\"ü\\n\"}"));
        let Err(CallError::Server(error)) = client.call_json("fail", "{}").await else { panic!() };
        assert_eq!((error.code, &*error.message, error.data.as_deref()), (-1, "no", Some("7")));
        assert!(matches!(client.call_json("nope", "{}").await, Err(CallError::Server(_))));
        assert!(matches!(client.call_json("echo", "[1]").await, Err(CallError::Invalid(_))));
        client.ping().await.unwrap();
        assert_eq!(client.close().await, None);
        assert!(client.is_closed());
        assert_eq!(client.ping().await, Err(CallError::Closed));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_tasks_share_one_client_with_large_messages() {
    let (client, _) = connect(Connect::Handshake).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..16 {
        let client = client.clone();
        tasks.spawn(async move {
            let times = if task < 4 { 2 } else { 100 };
            let text = "x".repeat(if task < 4 { 1 << 20 } else { task });
            for call in 0..times {
                let arguments = format!(r#"{{"task":{task},"call":{call},"text":"{text}"}}"#);
                let result = client.call_json("echo", &arguments).await.unwrap();
                assert!(result.text() == Some(arguments), "{task} {call}");
            }
        });
    }
    timeout(SOON, tasks.join_all()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dropped_future_cancels_its_request() {
    for mode in [Connect::Automatic, Connect::Handshake] {
        let (stream, cancelled) = server(4096);
        // The limit is one request in flight.
        let client =
            Connector::new("test", "1").connect(mode).requests(1).waiting(0).stream(stream).await.unwrap();
        let long = r#"{"ms":60000}"#;
        for n in 1..=3 {
            let call = client.call_json("wait", long);
            assert!(timeout(Duration::from_millis(50), call).await.is_err());
            // The slot is free immediately.
            client.ping().await.unwrap();
            assert_eq!(cancelled.load(Ordering::SeqCst), n, "the server received the cancellation");
        }
        // A future that was never polled sends nothing. A begun call is sent.
        drop(client.call_json("wait", long));
        let call = client.begin_json("wait", long, CallOptions::new()).unwrap();
        assert_eq!(client.ping().await, Err(CallError::Busy));
        sleep(Duration::from_millis(1)).await;
        drop(call);
        client.ping().await.unwrap();
        assert_eq!(cancelled.load(Ordering::SeqCst), 4);
        // A call that is dropped before it was sent is never sent.
        drop(client.begin_json("wait", long, CallOptions::new()).unwrap());
        client.ping().await.unwrap();
        assert_eq!(cancelled.load(Ordering::SeqCst), 4);
    }
}

#[tokio::test(start_paused = true)]
async fn progress_cancellation_and_timeouts_work() {
    let (client, cancelled) = connect(Connect::Automatic).await;
    let options = CallOptions::new().with_progress();
    let mut call = client.begin("wait", &BTreeMap::from([("ms", 20)]), options).unwrap();
    let mut seen = Vec::new();
    while let Some(step) = call.progress().await {
        seen.push(step);
    }
    assert_eq!(call.await.unwrap().text().as_deref(), Some("waited"));
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].progress, seen[0].total), (1u32.into(), Some(2u32.into())));
    assert_eq!(seen[0].message.as_deref(), Some("started"));
    // Polls result and progress in turn, and drops the future of the progress each time.
    let mut call = client.begin("wait", &BTreeMap::from([("ms", 20)]), options).unwrap();
    let mut steps = 0;
    let result = loop {
        tokio::select! {
            result = &mut call => break result,
            () = sleep(Duration::from_millis(3)) => {}
        }
        if let Ok(Some(_)) = timeout(Duration::ZERO, call.progress()).await {
            steps += 1;
        }
    };
    assert_eq!((result.unwrap().text().as_deref(), steps), (Some("waited"), 1));

    let long = r#"{"ms":60000}"#;
    let pending = client.begin_json("wait", long, options).unwrap();
    let canceller = pending.canceller();
    tokio::spawn(async move {
        sleep(Duration::from_millis(5)).await;
        canceller.cancel("enough");
    });
    assert_eq!(pending.await, Err(CallError::Cancelled));
    let start = Instant::now();
    let short = CallOptions::new().timeout(Duration::from_millis(50));
    assert_eq!(client.begin_json("wait", long, short).unwrap().await, Err(CallError::TimedOut));
    let capped = options.maximum(Duration::from_millis(50));
    assert_eq!(client.begin_json("wait", long, capped).unwrap().await, Err(CallError::TimedOut));
    assert_eq!(start.elapsed(), Duration::from_millis(100));
    client.ping().await.unwrap();
    assert_eq!(cancelled.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn requests_beyond_limit_fail_and_close_ends_the_rest() {
    let (stream, _) = server(4096);
    let client = Connector::new("test", "1").requests(2).waiting(0).stream(stream).await.unwrap();
    let wait = |client: &ClientHandle| client.begin_json("wait", r#"{"ms":60000}"#, CallOptions::new());
    let (one, two) = (wait(&client).unwrap(), wait(&client).unwrap());
    assert!(matches!(wait(&client), Err(CallError::Busy)));
    let waiter = tokio::spawn(async { (one.await, two.await) });
    client.close().await;
    assert_eq!(waiter.await.unwrap(), (Err(CallError::Closed), Err(CallError::Closed)));
}

#[tokio::test]
async fn limit_of_zero_requests_counts_as_one() {
    let (stream, _) = server(4096);
    let client = Connector::new("test", "1").requests(0).stream(stream).await.unwrap();
    timeout(SOON, client.ping()).await.unwrap().unwrap();
}

#[tokio::test]
async fn dropping_last_handle_closes_the_connection() {
    let (here, mut server) = scripted_server();
    let client = tokio::spawn(Connector::new("test", "1").connect(Connect::Handshake).stream(here));
    server.handshake().await;
    let client = client.await.unwrap().unwrap();
    drop(client.clone());
    client.roots_changed();
    drop(client);
    assert_eq!(timeout(SOON, server.lines.next_line()).await.unwrap().unwrap(), None);
}

/// A server whose messages the test writes.
struct ScriptedServer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
}

fn scripted_server() -> (DuplexStream, ScriptedServer) {
    let (here, there) = duplex(4096);
    let (input, output) = split(there);
    (here, ScriptedServer { lines: BufReader::new(input).lines(), output })
}

impl ScriptedServer {
    async fn line(&mut self) -> String {
        timeout(SOON, self.lines.next_line()).await.unwrap().unwrap().unwrap()
    }

    async fn send(&mut self, line: &str) {
        timeout(SOON, self.output.write_all(format!("{line}\n").as_bytes())).await.unwrap().unwrap();
    }

    async fn respond(&mut self, line: &str, result: &str) {
        let id = Json::parse(line.as_bytes()).unwrap().get("id").unwrap().to_string();
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{result}}}}}"#)).await;
    }

    /// Responds to the handshake.
    async fn handshake(&mut self) {
        let hello = r#""protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}"#;
        let line = self.line().await;
        self.respond(&line, hello).await;
        assert!(self.line().await.contains("notifications/initialized"));
    }
}

#[tokio::test(start_paused = true)]
async fn timeouts_and_close_work_when_server_does_not_read() {
    for how in ["close", "close within", "drop"] {
        let (here, mut server) = scripted_server();
        let connector =
            Connector::new("test", "1").connect(Connect::Handshake).longest_request(1 << 20).stream(here);
        let (client, ()) = tokio::join!(connector, server.handshake());
        let client = client.unwrap();
        let payload = BTreeMap::from([("x", "x".repeat(900_000))]);
        let options = CallOptions::new().timeout(Duration::from_millis(200));
        let start = Instant::now();
        let pending: Vec<_> = (0..5).map(|_| client.begin("wait", &payload, options).unwrap()).collect();
        for pending in pending {
            assert_eq!(pending.await, Err(CallError::TimedOut));
        }
        assert_eq!(start.elapsed(), Duration::from_millis(200));
        let time = match how {
            "close" => {
                client.close().await;
                // The grace period, and the same time for the shutdown of the stream.
                Duration::from_secs(4)
            }
            "close within" => {
                client.close_within(Duration::from_millis(10)).await;
                Duration::from_millis(10)
            }
            _ => {
                drop(client);
                while server.lines.next_line().await.is_ok_and(|line| line.is_some()) {}
                Duration::ZERO
            }
        };
        assert!(start.elapsed() <= Duration::from_millis(200) + time, "{how} {:?}", start.elapsed());
    }
}

#[tokio::test]
async fn connect_errors_are_distinct() {
    let (here, mut server) = scripted_server();
    let refuse = async {
        server.line().await;
        server.send(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"go away"}}"#).await;
    };
    let connector = Connector::new("test", "1").connect(Connect::Handshake).stream(here);
    let (outcome, ()) = tokio::join!(connector, refuse);
    let Err(ConnectError::Refused(error)) = outcome else { panic!("{outcome:?}") };
    assert_eq!((error.code, &*error.message), (-5, "go away"));

    let (here, there) = duplex(64);
    drop(there);
    let outcome = Connector::new("test", "1").stream(here).await;
    assert!(matches!(outcome, Err(ConnectError::Closed(None))));

    // Dropping the connect future closes the connection.
    let (here, mut server) = scripted_server();
    let connector = Connector::new("test", "1").connect(Connect::Handshake).stream(here);
    assert!(timeout(Duration::from_millis(20), connector).await.is_err());
    assert!(server.line().await.contains("initialize"));
    let end = timeout(Duration::from_secs(10), server.lines.next_line()).await;
    assert_eq!(end.expect("the end comes before the handshake timeout").unwrap(), None);
}

#[tokio::test]
async fn server_closing_mid_message_ends_requests() {
    let (here, mut server) = scripted_server();
    let connector = Connector::new("test", "1").connect(Connect::Handshake).stream(here);
    let (client, ()) = tokio::join!(connector, server.handshake());
    let client = client.unwrap();
    let call = client.begin_json("echo", "{}", CallOptions::new()).unwrap();
    server.line().await;
    server.output.write_all(br#"{"jsonrpc":"2.0","id":2,"resu"#).await.unwrap();
    drop(server);
    assert_eq!(timeout(SOON, call).await.unwrap(), Err(CallError::Closed));
    assert_eq!(client.close().await, None);
}

#[tokio::test]
async fn client_works_over_byte_wise_streams() {
    for mode in [Connect::Automatic, Connect::Handshake] {
        let (here, there) = duplex(1);
        tokio::spawn(Serve::new(&CONFIG).stream(there, |event, _| {
            if let Event::Call(call) = event {
                let arguments = call.raw_arguments().to_string();
                call.text(arguments);
            }
        }));
        let (input, output) = split(Trickle::new(here));
        let client = Connector::new("test", "1").connect(mode).streams(input, output).await.unwrap();
        let calls = (0..20).map(|n| {
            let client = client.clone();
            tokio::spawn(async move {
                let arguments = format!(r#"{{"n":{n},"text":"ü{}"}}"#, "x".repeat(n));
                let result = client.call_json("echo", &arguments).await.unwrap();
                assert_eq!(result.text(), Some(arguments));
            })
        });
        for call in calls.collect::<Vec<_>>() {
            timeout(SOON, call).await.unwrap().unwrap();
        }
        client.close().await;
    }
}

/// The server responds to a call with a request state. The client sends the call again with this state.
#[tokio::test]
async fn input_required_call_is_sent_again_with_state() {
    let (here, mut server) = scripted_server();
    let script = tokio::spawn(async move {
        let capabilities = r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}"#;
        let line = server.line().await;
        server.respond(&line, &format!(r#""resultType":"complete",{capabilities}"#)).await;
        let line = server.line().await;
        server.respond(&line, r#""resultType":"input_required","requestState":"later""#).await;
        let resent = server.line().await;
        assert!(resent.contains(r#""arguments":{"a":1},"requestState":"later""#), "{resent}");
        server.respond(&resent, r#""content":[{"type":"text","text":"done"}]"#).await;
    });
    let client = Connector::new("test", "1").stream(here).await.unwrap();
    assert_eq!(client.call_json("echo", r#"{"a":1}"#).await.unwrap().text().as_deref(), Some("done"));
    script.await.unwrap();
}

#[tokio::test]
async fn too_many_required_inputs_fail_the_request() {
    let (here, mut server) = scripted_server();
    let script = tokio::spawn(async move {
        let capabilities = r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}"#;
        let line = server.line().await;
        server.respond(&line, &format!(r#""resultType":"complete",{capabilities}"#)).await;
        for count in [33, 32] {
            let line = server.line().await;
            let inputs: Vec<_> = (0..count).map(|n| format!(r#""q{n}":{{"method":"roots/list"}}"#)).collect();
            let required =
                format!(r#""resultType":"input_required","inputRequests":{{{}}}"#, inputs.join(","));
            server.respond(&line, &required).await;
        }
        let resent = server.line().await;
        assert_eq!(resent.matches("file:///a").count(), 32, "{resent}");
        server.respond(&resent, r#""content":[{"type":"text","text":"done"}]"#).await;
    });
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let connector =
        Connector::new("test", "1").on_server_request(mcp_proto::ClientCapabilities::ROOTS, move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            async { InputResponse::roots([("file:///a", "a")]) }
        });
    let client = connector.stream(here).await.unwrap();
    let refused = timeout(SOON, client.call_json("echo", "{}")).await.unwrap();
    assert!(matches!(refused, Err(CallError::Invalid(_))), "{refused:?}");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let result = timeout(SOON, client.call_json("echo", "{}")).await.unwrap();
    assert_eq!(result.unwrap().text().as_deref(), Some("done"));
    script.await.unwrap();
}

#[tokio::test]
async fn notification_callback_may_use_the_client() {
    struct Trace(Arc<Mutex<Vec<String>>>);
    impl Observer for Trace {
        fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
            let line = String::from_utf8_lossy(line);
            self.0.lock().unwrap().push(format!("{direction:?} {} {line}", outcome.is_ok()));
        }
    }
    let (here, there) = duplex(4096);
    let (mut between, other) = duplex(4096);
    tokio::spawn(Serve::new(&CONFIG).stream(other, move |event, server| match event {
        Event::Call(call) => {
            server.changed(Change::Tools);
            call.text("ok");
        }
        Event::Ready => {
            let server = server.clone();
            tokio::spawn(async move { server.log(Level::Info, "ready").await });
        }
        _ => {}
    }));
    tokio::spawn(async move {
        let mut there = there;
        there.write_all(b"this is not JSON\n").await.unwrap();
        tokio::io::copy_bidirectional(&mut there, &mut between).await
    });
    let (sender, mut notifications) = mpsc::unbounded_channel();
    let shared: Arc<Mutex<Option<ClientHandle>>> = Arc::default();
    let later = Arc::clone(&shared);
    let trace = Arc::default();
    let client = Connector::new("test", "1")
        .connect(Connect::Handshake)
        .observe(Trace(Arc::clone(&trace)))
        .on_notification(move |notification| {
            let (sender, later) = (sender.clone(), Arc::clone(&later));
            async move {
                if notification == Notification::Changed(Listed::Tools) {
                    let client = later.lock().unwrap().take().unwrap();
                    assert_eq!(client.list_tools().await.unwrap().len(), 3);
                }
                sender.send(notification).unwrap();
            }
        })
        .stream(here)
        .await
        .unwrap();
    *shared.lock().unwrap() = Some(client.clone());
    client.call_json("echo", "{}").await.unwrap();
    let mut received = Vec::new();
    while received.len() < 3 {
        received.push(timeout(SOON, notifications.recv()).await.unwrap().unwrap());
    }
    assert!(
        received.iter().any(
            |notification| matches!(notification, Notification::Log { data, .. } if data == "\"ready\"")
        )
    );
    assert!(received.contains(&Notification::Changed(Listed::Tools)));
    assert!(
        received.iter().any(|notification| matches!(
            notification,
            Notification::ProtocolError(ProtocolError::NotJson(_))
        ))
    );
    client.close().await;
    assert!(notifications.recv().await.is_none(), "the task ends with the connection");
    let trace = trace.lock().unwrap();
    let hello = r#"Out true {"jsonrpc":"2.0","id":1,"method":"initialize""#;
    assert!(trace.iter().any(|line| line.starts_with(hello)), "{trace:?}");
    assert!(trace.contains(&"In false this is not JSON".to_string()), "{trace:?}");
}
