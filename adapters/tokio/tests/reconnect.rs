//! Reconnection of clients after the loss of a server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_proto::client::{Connect, Listed};
use mcp_proto::server::{Change, Event, ServerConfig, Subscriptions, Tool, Tools};
use mcp_proto_tokio::{
    CallError, CallOptions, ClientHandle, Connector, Notification, Reconnect, Serve, ServerHandle, Stderr,
};
use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::peer::SOON as LIMIT;

static TOOLS: Tools =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("crash", "{}"), Tool::new("wait", "{}")]).list_changed();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &Subscriptions]);

const SOON: Reconnect = Reconnect { attempts: 5, pause: Duration::from_millis(50) };

/// A client of a server that crashes on request, with a count of the attempts to connect.
struct Test {
    client: ClientHandle,
    /// The number of attempts after which opening fails.
    may_open: Arc<AtomicUsize>,
    /// The number of attempts, refused ones included.
    attempts: Arc<AtomicUsize>,
    subscribed: UnboundedReceiver<ServerHandle>,
}

impl Test {
    async fn start(era: Connect, reconnect: Reconnect) -> Test {
        let (sender, subscribed) = unbounded_channel();
        let (may_open, attempts) = (Arc::new(AtomicUsize::new(usize::MAX)), Arc::new(AtomicUsize::new(0)));
        let (may, count) = (Arc::clone(&may_open), Arc::clone(&attempts));
        let open = move || {
            let opened = match count.load(Ordering::SeqCst) < may.load(Ordering::SeqCst) {
                true => Ok(serve(sender.clone())),
                false => Err(io::ErrorKind::ConnectionRefused.into()),
            };
            count.fetch_add(1, Ordering::SeqCst);
            async { opened }
        };
        let connector = Connector::new("test", "1").connect(era).reconnect(reconnect);
        Test { client: connector.open(open).await.unwrap(), may_open, attempts, subscribed }
    }

    async fn crash(&self) {
        assert_eq!(self.client.call_json("crash", "{}").await, Err(CallError::Closed));
    }

    async fn assert_works(&self) {
        let result = timeout(LIMIT, self.client.call_json("echo", "{}")).await.unwrap();
        assert_eq!(result.unwrap().text().as_deref(), Some("here"));
    }
}

/// Starts a server for one connection.
fn serve(subscribed: UnboundedSender<ServerHandle>) -> DuplexStream {
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&CONFIG).stream(there, move |event, server| match event {
        Event::Call(call) if call.name() == "echo" => call.text("here"),
        Event::Call(call) if call.name() == "wait" => {
            server.run(call, |answer| async move { answer.cancelled().await });
        }
        Event::Call(_) => panic!("expected panic"),
        Event::Listening(_) => subscribed.send(server.clone()).unwrap(),
        _ => {}
    }));
    here
}

#[tokio::test(start_paused = true)]
async fn new_requests_wait_for_the_next_connection() {
    for era in [Connect::Handshake, Connect::Automatic] {
        let test = Test::start(era, SOON).await;
        let mut notifications = test.client.notifications();
        for _ in 0..3 {
            let lost = test.client.begin_json("wait", "{}", CallOptions::new()).unwrap();
            test.crash().await;
            let closed = Err(CallError::Closed);
            assert_eq!(lost.await, closed, "only the application knows whether the request may be repeated");
            test.assert_works().await;
            assert_eq!(notifications.next().await, Some(Notification::Reconnected));
        }
        assert_eq!(test.attempts.load(Ordering::SeqCst), 4);
        test.client.close().await;
        assert_eq!(notifications.next().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn subscriptions_continue_after_reconnection_unless_dropped() {
    let mut test = Test::start(Connect::Automatic, SOON).await;
    let mut kept = test.client.listen(&[Listed::Tools], &[]).await.unwrap();
    let dropped = test.client.listen(&[Listed::Tools], &[]).await.unwrap();
    for _ in 0..2 {
        test.subscribed.recv().await.unwrap();
    }
    test.crash().await;
    drop(dropped);
    test.assert_works().await;
    test.subscribed.recv().await.unwrap().changed(Change::Tools);
    assert_eq!(kept.next().await, Some(Notification::Reconnected));
    assert_eq!(kept.next().await, Some(Notification::Changed(Listed::Tools)));
    assert!(test.subscribed.try_recv().is_err(), "only one subscription may continue");
    test.client.close().await;
    assert_eq!(kept.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn client_closes_after_the_last_failed_attempt() {
    let test =
        Test::start(Connect::Automatic, Reconnect { attempts: 3, pause: Duration::from_millis(20) }).await;
    test.may_open.store(0, Ordering::SeqCst);
    let start = Instant::now();
    test.crash().await;
    assert_eq!(test.client.call_json("echo", "{}").await, Err(CallError::Closed));
    let pauses = Duration::from_millis(20 + 40 + 80);
    assert!((pauses..pauses * 2).contains(&start.elapsed()), "{:?}", start.elapsed());
    assert_eq!(test.attempts.load(Ordering::SeqCst), 4);
    assert!(test.client.is_closed());
}

#[tokio::test(start_paused = true)]
async fn server_dying_after_each_handshake_is_not_restarted_forever() {
    let reconnect = Reconnect { attempts: 3, pause: Duration::from_millis(20) };
    let test = Test::start(Connect::Automatic, reconnect).await;
    // Each connection completes its handshake, and is lost too early to restore all attempts.
    for _ in 0..3 {
        test.crash().await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        test.assert_works().await;
    }
    test.crash().await;
    assert_eq!(test.client.call_json("echo", "{}").await, Err(CallError::Closed));
    assert_eq!(test.attempts.load(Ordering::SeqCst), 4);
}

#[tokio::test(start_paused = true)]
async fn connection_open_for_ten_seconds_restores_all_attempts() {
    let reconnect = Reconnect { attempts: 1, pause: Duration::from_millis(20) };
    let test = Test::start(Connect::Automatic, reconnect).await;
    for _ in 0..5 {
        test.assert_works().await;
        tokio::time::sleep(Duration::from_secs(11)).await;
        test.crash().await;
    }
    test.assert_works().await;
    assert_eq!(test.attempts.load(Ordering::SeqCst), 6);
}

#[tokio::test(start_paused = true)]
async fn close_and_timeouts_work_while_disconnected() {
    let test = Test::start(Connect::Automatic, Reconnect { attempts: 5, pause: LIMIT }).await;
    test.crash().await;
    let short = CallOptions::new().timeout(Duration::from_millis(50));
    assert_eq!(test.client.begin_json("echo", "{}", short).unwrap().await, Err(CallError::TimedOut));
    let pending = test.client.begin_json("echo", "{}", CallOptions::new()).unwrap();
    assert!(!test.client.is_closed());
    let start = Instant::now();
    test.client.close().await;
    assert!(start.elapsed() < LIMIT / 4);
    assert_eq!(pending.await, Err(CallError::Closed));
}

#[tokio::test(start_paused = true)]
async fn close_and_timeouts_work_while_a_connection_opens() {
    let mut is_first = true;
    let open = move || {
        let is_first = std::mem::take(&mut is_first);
        async move {
            match is_first {
                true => Ok(serve(unbounded_channel().0)),
                false => std::future::pending().await,
            }
        }
    };
    let connector = Connector::new("test", "1").reconnect(SOON);
    let client = connector.open(open).await.unwrap();
    assert_eq!(client.call_json("crash", "{}").await, Err(CallError::Closed));
    let late = CallOptions::new().timeout(Duration::from_secs(1));
    assert_eq!(client.begin_json("echo", "{}", late).unwrap().await, Err(CallError::TimedOut));
    timeout(LIMIT, client.close()).await.unwrap();
}

/// The last attempt of the opener never completes. The connections of earlier attempts close at once.
#[tokio::test]
async fn dropped_future_ends_opening_of_any_attempt() {
    for earlier_attempts in [0, 1] {
        let (guard, is_dropped) = oneshot::channel::<()>();
        let (opening, mut opens) = unbounded_channel();
        let (mut guard, mut attempts) = (Some(guard), 0..earlier_attempts);
        let open = move || {
            let guard = attempts.next().is_none().then(|| guard.take());
            let opening = opening.clone();
            async move {
                let Some(_guard) = guard else { return Ok(duplex(1).0) };
                opening.send(()).unwrap();
                std::future::pending().await
            }
        };
        let connecting = tokio::spawn(Connector::new("test", "1").open(open));
        timeout(LIMIT, opens.recv()).await.unwrap().unwrap();
        connecting.abort();
        assert!(timeout(LIMIT, is_dropped).await.unwrap().is_err());
    }
}

#[tokio::test]
async fn streams_without_opener_are_not_reconnected() {
    let connector = Connector::new("test", "1").reconnect(SOON);
    let client = connector.stream(serve(unbounded_channel().0)).await.unwrap();
    assert_eq!(client.call_json("crash", "{}").await, Err(CallError::Closed));
    assert_eq!(client.call_json("echo", "{}").await, Err(CallError::Closed));
}

#[cfg(unix)]
#[tokio::test]
async fn exited_child_process_is_started_again() {
    let answer = r#"{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}\n"#;
    let id = r#"$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')"#;
    let script = format!("read line; printf '{answer}' \"{id}\"; read line; read line; echo gone >&2");
    let (sender, mut lines) = unbounded_channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_owned()).unwrap());
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", &script]);
    let connector = Connector::new("test", "1").connect(Connect::Handshake).stderr(stderr).reconnect(SOON);
    let client = timeout(LIMIT, connector.spawn(command)).await.unwrap().unwrap();
    let mut notifications = client.notifications();
    for _ in 0..3 {
        // The child exits at the first request after the handshake.
        assert_eq!(timeout(LIMIT, client.ping()).await.unwrap(), Err(CallError::Closed));
        assert_eq!(timeout(LIMIT, lines.recv()).await.unwrap().unwrap(), "gone");
        assert_eq!(timeout(LIMIT, notifications.next()).await.unwrap(), Some(Notification::Reconnected));
    }
    client.close().await;
}
