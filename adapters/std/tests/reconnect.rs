//! Clients that connect again when their server is gone.
#![cfg(unix)]

use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::hard::{HARD, within};
use mcp_proto::client::{Connect, Listed};
use mcp_proto::server::{Change, Event, ServerConfig, Subscriptions, Tool, Tools};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, Connector, Notification, Reconnect, Serve, ServerHandle, Stderr,
    Stop,
};

static TOOLS: Tools =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("crash", "{}"), Tool::new("wait", "{}")]).list_changed();
static INFO: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &Subscriptions]);

const SOON: Reconnect = Reconnect { attempts: 5, pause: Duration::from_millis(50) };

/// A server that crashes when it is told to, and a client that may connect as long as the test lets it.
struct Test {
    client: ClientHandle,
    /// So many times a socket may be opened.
    may_open: Arc<AtomicUsize>,
    opened: Arc<AtomicUsize>,
    subscribed: Receiver<ServerHandle>,
    stop: Stop,
}

fn test(era: Connect, reconnect: Reconnect) -> Test {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), Stop::new());
    let (sender, subscribed) = channel();
    let (serve, sender) = (Serve::new(&INFO).stopped_by(&stop), Mutex::new(sender));
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
            server.run(call, |answer| _ = answer.sleep_unless_cancelled(HARD));
        }
        Event::Call(_) => panic!("as it should"),
        Event::Listening(_) => subscribed.lock().unwrap().send(server.clone()).unwrap(),
        _ => {}
    }
}

impl Test {
    fn crash(&self) {
        assert_eq!(self.client.call_json("crash", "{}"), Err(CallError::Closed));
    }

    fn works(&self) {
        assert_eq!(self.client.call_json("echo", "{}").unwrap().text().as_deref(), Some("here"));
    }
}

#[test]
fn what_is_begun_while_there_is_no_server_waits_for_the_next_one_in_both_eras() {
    within(HARD, || {
        for era in [Connect::Handshake, Connect::Automatic] {
            let test = test(era, SOON);
            let mut notices = test.client.notifications();
            for _ in 0..3 {
                let lost = test.client.begin_json("wait", "{}", CallOptions::new()).unwrap();
                test.crash();
                assert_eq!(
                    lost.wait(),
                    Err(CallError::Closed),
                    "only the host knows whether it may be repeated"
                );
                test.works();
                assert_eq!(notices.next(), Some(Notification::Reconnected));
            }
            assert_eq!(test.opened.load(Ordering::SeqCst), 4);
            test.client.close();
            assert_eq!(notices.next(), None);
            test.stop.within(Duration::ZERO);
        }
    });
}

#[test]
fn subscriptions_go_on_and_those_that_are_dropped_meanwhile_do_not() {
    within(HARD, || {
        let test = test(Connect::Automatic, Reconnect { pause: Duration::from_millis(300), ..SOON });
        let mut kept = test.client.listen(&[Listed::Tools], &[]).unwrap();
        let dropped = test.client.listen(&[Listed::Tools], &[]).unwrap();
        assert_eq!(test.subscribed.iter().take(2).count(), 2);
        test.crash();
        drop(dropped);
        test.works();
        test.subscribed.recv().unwrap().changed(Change::Tools);
        assert_eq!(kept.next(), Some(Notification::Reconnected));
        assert_eq!(kept.next(), Some(Notification::Changed(Listed::Tools)));
        assert!(test.subscribed.try_recv().is_err(), "one subscription");
        test.client.close();
        assert_eq!(kept.next(), None);
    });
}

#[test]
fn attempts_are_made_until_there_are_enough_and_the_client_is_over() {
    within(HARD, || {
        let test = test(Connect::Automatic, Reconnect { attempts: 3, pause: Duration::from_millis(20) });
        let mut kept = test.client.listen(&[Listed::Tools], &[]).unwrap();
        test.may_open.store(0, Ordering::SeqCst);
        let start = Instant::now();
        test.crash();
        assert_eq!(test.client.call_json("echo", "{}"), Err(CallError::Closed));
        assert!(start.elapsed() >= Duration::from_millis(20 + 40 + 80), "it paused: {:?}", start.elapsed());
        assert_eq!(kept.next(), None);
        assert!(test.client.is_closed());
    });
}

#[test]
fn a_client_can_be_closed_and_requests_given_up_while_there_is_no_server() {
    within(HARD, || {
        let test = test(Connect::Automatic, Reconnect { attempts: 5, pause: HARD });
        test.crash();
        let hasty = CallOptions::new().timeout(Duration::from_millis(50));
        assert_eq!(test.client.begin_json("echo", "{}", hasty).unwrap().wait(), Err(CallError::TimedOut));
        let pending = test.client.begin_json("echo", "{}", CallOptions::new()).unwrap();
        assert!(!test.client.is_closed());
        let start = Instant::now();
        test.client.close();
        assert!(start.elapsed() < HARD / 4);
        assert_eq!(pending.wait(), Err(CallError::Closed));
    });
}

#[test]
fn a_child_process_is_started_again() {
    within(HARD, || {
        let answer = r#"{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}\n"#;
        let id = r#"$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')"#;
        let script = format!("read line; printf '{answer}' \"{id}\"; read line; read line; echo gone >&2");
        let (sender, said) = channel();
        let stderr = Stderr::lines(move |line| sender.send(line.to_owned()).unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        let connector = Connector::new("test", "1").connect(Connect::Handshake).stderr(stderr);
        let (told, notices) = channel();
        let connector = connector.reconnect(SOON).on_notification(move |notice| told.send(notice).unwrap());
        let client = connector.spawn(command).unwrap();
        for _ in 0..3 {
            // It ends at the first request.
            assert_eq!(client.ping(), Err(CallError::Closed));
            assert_eq!(said.recv().unwrap(), "gone");
            assert_eq!(notices.recv().unwrap(), Notification::Reconnected);
        }
        client.close();
    });
}

#[test]
fn streams_that_cannot_be_opened_again_are_the_end() {
    within(HARD, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let sender = Mutex::new(channel().0);
        let (there, _) = listener.accept().unwrap();
        thread::spawn(move || {
            Serve::new(&INFO).stream(there, |event, server| handler(event, server, &sender))
        });
        let client = Connector::new("test", "1").reconnect(SOON).stream(stream).unwrap();
        assert_eq!(client.call_json("crash", "{}"), Err(CallError::Closed));
        assert_eq!(client.call_json("echo", "{}"), Err(CallError::Closed));
    });
}
