//! Reconnection of clients after the loss of a server.
#![cfg(unix)]

use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::client::{Connect, Listed};
use mcp_proto::server::{Change, Event, ServerConfig, Subscriptions, Tool, Tools};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, Connector, Notification, Reconnect, Serve, ServerHandle, Stderr,
    Stop,
};

static TOOLS: Tools =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("crash", "{}"), Tool::new("wait", "{}")]).list_changed();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &Subscriptions]);

const SOON: Reconnect = Reconnect { attempts: 5, pause: Duration::from_millis(50) };

/// A server that crashes on request, and a client whose connection attempts the test permits.
struct Test {
    client: ClientHandle,
    /// The maximum number of sockets that the client may open.
    may_open: Arc<AtomicUsize>,
    opened: Arc<AtomicUsize>,
    subscribed: Receiver<ServerHandle>,
    stop: Stop,
}

fn test(era: Connect, reconnect: Reconnect) -> Test {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), Stop::new());
    let (sender, subscribed) = channel();
    let (serve, sender) = (Serve::new(&CONFIG).stopped_by(&stop), Mutex::new(sender));
    thread::spawn(move || serve.listen(listener, |event, server| handler(event, server, &sender)));
    let (may_open, opened) = (Arc::new(AtomicUsize::new(usize::MAX)), Arc::new(AtomicUsize::new(0)));
    let (may, count) = (Arc::clone(&may_open), Arc::clone(&opened));
    let connector = Connector::new("test", "1").connect(era).reconnect(reconnect);
    let client = connector
        .open(move || {
            if count.load(Ordering::SeqCst) >= may.load(Ordering::SeqCst) {
                return Err(std::io::ErrorKind::ConnectionRefused.into());
            }
            count.fetch_add(1, Ordering::SeqCst);
            TcpStream::connect(address)
        })
        .unwrap();
    Test { client, may_open, opened, subscribed, stop }
}

fn handler(event: Event<'_>, server: &ServerHandle, subscribed: &Mutex<Sender<ServerHandle>>) {
    match event {
        Event::Call(call) if call.name() == "echo" => call.text("here"),
        Event::Call(call) if call.name() == "wait" => {
            server.run(call, |answer| _ = answer.sleep_unless_cancelled(TEST_TIMEOUT));
        }
        Event::Call(_) => panic!("expected panic"),
        Event::Listening(_) => subscribed.lock().unwrap().send(server.clone()).unwrap(),
        _ => {}
    }
}

impl Test {
    fn crash(&self) {
        assert_eq!(self.client.call_json("crash", "{}"), Err(CallError::Closed));
    }

    fn assert_works(&self) {
        assert_eq!(self.client.call_json("echo", "{}").unwrap().text().as_deref(), Some("here"));
    }
}

#[test]
fn new_requests_wait_for_the_next_connection() {
    within(TEST_TIMEOUT, || {
        for era in [Connect::Handshake, Connect::Automatic] {
            let test = test(era, SOON);
            let mut notifications = test.client.notifications();
            for _ in 0..3 {
                let lost = test.client.begin_json("wait", "{}", CallOptions::new()).unwrap();
                test.crash();
                assert_eq!(
                    lost.wait(),
                    Err(CallError::Closed),
                    "only the application knows whether the request may be repeated"
                );
                test.assert_works();
                assert_eq!(notifications.next(), Some(Notification::Reconnected));
            }
            assert_eq!(test.opened.load(Ordering::SeqCst), 4);
            test.client.close();
            assert_eq!(notifications.next(), None);
            test.stop.within(Duration::ZERO);
        }
    });
}

#[test]
fn subscriptions_continue_after_reconnection_unless_dropped() {
    within(TEST_TIMEOUT, || {
        let test = test(Connect::Automatic, Reconnect { pause: Duration::from_millis(300), ..SOON });
        let mut kept = test.client.listen(&[Listed::Tools], &[]).unwrap();
        let dropped = test.client.listen(&[Listed::Tools], &[]).unwrap();
        assert_eq!(test.subscribed.iter().take(2).count(), 2);
        test.may_open.store(0, Ordering::SeqCst);
        test.crash();
        drop(dropped);
        test.may_open.store(usize::MAX, Ordering::SeqCst);
        test.assert_works();
        test.subscribed.recv().unwrap().changed(Change::Tools);
        assert_eq!(kept.next(), Some(Notification::Reconnected));
        assert_eq!(kept.next(), Some(Notification::Changed(Listed::Tools)));
        assert!(test.subscribed.try_recv().is_err(), "only one subscription may continue");
        test.client.close();
        assert_eq!(kept.next(), None);
    });
}

#[test]
fn client_closes_after_the_last_failed_attempt() {
    within(TEST_TIMEOUT, || {
        let test = test(Connect::Automatic, Reconnect { attempts: 3, pause: Duration::from_millis(20) });
        let mut kept = test.client.listen(&[Listed::Tools], &[]).unwrap();
        test.may_open.store(0, Ordering::SeqCst);
        let start = Instant::now();
        test.crash();
        assert_eq!(test.client.call_json("echo", "{}"), Err(CallError::Closed));
        // The clock of the client has whole milliseconds, so each pause may be one millisecond shorter.
        let pauses = start.elapsed();
        assert!(pauses >= Duration::from_millis(20 + 40 + 80 - 3), "pauses between attempts: {pauses:?}");
        assert_eq!(kept.next(), None);
        assert!(test.client.is_closed());
    });
}

#[test]
fn server_dying_after_each_handshake_is_not_restarted_forever() {
    within(TEST_TIMEOUT, || {
        let test = test(Connect::Automatic, Reconnect { attempts: 3, pause: Duration::from_millis(1) });
        for _ in 0..3 {
            test.crash();
            test.assert_works();
        }
        test.crash();
        assert_eq!(test.client.call_json("echo", "{}"), Err(CallError::Closed));
        assert_eq!(test.opened.load(Ordering::SeqCst), 4);
    });
}

#[test]
fn close_and_timeouts_work_while_disconnected() {
    within(TEST_TIMEOUT, || {
        let test = test(Connect::Automatic, Reconnect { attempts: 5, pause: TEST_TIMEOUT });
        test.crash();
        let short = CallOptions::new().timeout(Duration::from_millis(50));
        assert_eq!(test.client.begin_json("echo", "{}", short).unwrap().wait(), Err(CallError::TimedOut));
        let pending = test.client.begin_json("echo", "{}", CallOptions::new()).unwrap();
        assert!(!test.client.is_closed());
        let start = Instant::now();
        test.client.close();
        assert!(start.elapsed() < TEST_TIMEOUT / 4);
        assert_eq!(pending.wait(), Err(CallError::Closed));
    });
}

#[test]
fn exited_child_process_is_started_again() {
    within(TEST_TIMEOUT, || {
        let answer = r#"{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}\n"#;
        let id = r#"$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')"#;
        let script = format!("read line; printf '{answer}' \"{id}\"; read line; read line; echo gone >&2");
        let (sender, lines) = channel();
        let stderr = Stderr::lines(move |line| sender.send(line.to_owned()).unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        let connector = Connector::new("test", "1").connect(Connect::Handshake).stderr(stderr);
        let (queue, notifications) = channel();
        let connector =
            connector.reconnect(SOON).on_notification(move |notification| queue.send(notification).unwrap());
        let client = connector.spawn(command).unwrap();
        for _ in 0..3 {
            // The child exits at the first request after the handshake.
            assert_eq!(client.ping(), Err(CallError::Closed));
            assert_eq!(lines.recv().unwrap(), "gone");
            assert_eq!(notifications.recv().unwrap(), Notification::Reconnected);
        }
        client.close();
    });
}

#[test]
fn streams_without_opener_are_not_reconnected() {
    within(TEST_TIMEOUT, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let sender = Mutex::new(channel().0);
        let (there, _) = listener.accept().unwrap();
        thread::spawn(move || {
            Serve::new(&CONFIG).stream(there, |event, server| handler(event, server, &sender))
        });
        let client = Connector::new("test", "1").reconnect(SOON).stream(stream).unwrap();
        assert_eq!(client.call_json("crash", "{}"), Err(CallError::Closed));
        assert_eq!(client.call_json("echo", "{}"), Err(CallError::Closed));
    });
}
