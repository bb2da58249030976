//! Worker threads of a server: reuse, waiting, end; in both eras.
#![cfg(unix)]

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use crate::peer::{Peer, call, stateless_call};
use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::Millis;
use mcp_proto::server::{Event, Limits, ServerConfig, Tool, Tools};
use mcp_proto_std::{Serve, ServerHandle};

static TOOLS: Tools = Tools::new(&[
    Tool::new("who", "{}"),
    Tool::new("panic", "{}"),
    Tool::new("gate", "{}"),
    Tool::new("stubborn", "{}"),
    Tool::new("tidy", "{}"),
]);
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS]).limits(Limits::DEFAULT.with_grace(Millis(100)));

/// The encoders of a call, one for each era.
const ERAS: [fn(u32, &str, &str) -> String; 2] = [call, stateless_call];

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n";

fn cancel(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#) + "\n"
}

/// State shared by the workers and the test.
#[derive(Clone)]
struct Shared {
    threads: Arc<Mutex<HashSet<ThreadId>>>,
    /// Each call of the tool `gate` reports its start here, then waits for a message in the field `gate`.
    started: Sender<()>,
    gate: Arc<Mutex<Receiver<()>>>,
    has_cleaned_up: Arc<AtomicBool>,
}

struct Test {
    peer: Peer,
    server: JoinHandle<()>,
    shared: Shared,
    started: Receiver<()>,
    open: Sender<()>,
}

fn handler(event: Event<'_>, server: &ServerHandle, shared: &Shared) {
    let Event::Call(call) = event else { return };
    let shared = shared.clone();
    match call.name() {
        "who" => server.run(call, move |answer| {
            shared.threads.lock().unwrap().insert(thread::current().id());
            answer.text("me");
        }),
        "panic" => server.run(call, |_| panic!("expected panic")),
        "gate" => server.run(call, move |answer| {
            shared.started.send(()).unwrap();
            shared.gate.lock().unwrap().recv().unwrap();
            answer.text("through");
        }),
        "stubborn" => server.run(call, move |_answer| {
            shared.started.send(()).unwrap();
            thread::sleep(TEST_TIMEOUT);
        }),
        _ => server.run(call, move |answer| {
            shared.started.send(()).unwrap();
            while !answer.is_cancelled() {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(100));
            shared.has_cleaned_up.store(true, Ordering::SeqCst);
        }),
    }
}

fn test(workers: usize, waiting: usize) -> Test {
    let ((started_sender, started), (open, gate)) = (channel(), channel());
    let shared = Shared {
        threads: Arc::default(),
        started: started_sender,
        gate: Arc::new(Mutex::new(gate)),
        has_cleaned_up: Arc::default(),
    };
    let handler_shared = shared.clone();
    let serve = Serve::new(&CONFIG).workers(workers).waiting(waiting);
    let (peer, server) = Peer::with_server(serve, ("2025-11-25", "{}"), move |event, server| {
        handler(event, server, &handler_shared);
    });
    Test { peer, server, shared, started, open }
}

#[test]
fn threads_are_reused_after_panics() {
    within(TEST_TIMEOUT, || {
        for call in ERAS {
            let mut test = test(2, 8);
            for id in 1..=20 {
                test.peer.send(&call(id, "panic", "{}"));
                let line = test.peer.line();
                assert!(line.contains(&format!(r#""id":{id},"error":{{"code":-32603"#)), "{line}");
                test.peer.send(&call(id, "who", "{}"));
                assert!(test.peer.line().contains("me"));
            }
            let threads = test.shared.threads.lock().unwrap().len();
            assert!(threads <= 2, "{threads} threads for one call at a time");
            drop(test.peer);
            test.server.join().unwrap();
        }
    });
}

#[test]
fn requests_beyond_waiting_limit_are_refused() {
    within(TEST_TIMEOUT, || {
        for call in ERAS {
            let mut test = test(1, 2);
            (1..=4).for_each(|id| test.peer.send(&call(id, "gate", "{}")));
            let line = test.peer.line();
            assert!(
                line.contains(r#""id":4,"error":{"code":-32603"#) && line.contains("at most 3"),
                "{line}"
            );
            test.started.recv().unwrap();
            // Pings get responses while all workers are busy.
            test.peer.send(PING);
            assert!(test.peer.line().contains(r#""id":"p","result":{}"#));
            assert!(test.started.try_recv().is_err(), "only one worker may run");
            for id in 1..=3 {
                test.open.send(()).unwrap();
                let line = test.peer.line();
                assert!(line.contains(&format!(r#""id":{id},"#)) && line.contains("through"), "{line}");
            }
            drop(test.peer);
            test.server.join().unwrap();
        }
    });
}

#[test]
fn request_cancelled_while_waiting_never_starts() {
    within(TEST_TIMEOUT, || {
        for call in ERAS {
            let mut test = test(1, 1);
            test.peer.send(&call(1, "gate", "{}"));
            test.started.recv().unwrap();
            test.peer.send(&(call(2, "gate", "{}") + &cancel(2) + &call(3, "who", "{}") + PING));
            let line = test.peer.line();
            assert!(line.contains(r#""id":"p""#), "the third request takes the place of the second: {line}");
            test.open.send(()).unwrap();
            assert!(test.peer.line().contains(r#""id":1,"#));
            assert!(test.peer.line().contains(r#""id":3,"#));
            assert!(test.started.try_recv().is_err());
            drop(test.peer);
            test.server.join().unwrap();
        }
    });
}

#[test]
fn request_expired_while_waiting_never_starts() {
    within(TEST_TIMEOUT, || {
        static SHORT_TIMEOUT: ServerConfig = ServerConfig::new("test", "1")
            .features(&[&TOOLS])
            .limits(Limits::DEFAULT.with_deferred_timeout(Millis(1000)));
        let ((started, received), (open, gate)) = (channel(), channel());
        let gate = Arc::new(Mutex::new(gate));
        let shared = Shared { threads: Arc::default(), started, gate, has_cleaned_up: Arc::default() };
        let serve = Serve::new(&SHORT_TIMEOUT).workers(1);
        let (mut peer, server) = Peer::with_server(serve, ("2025-11-25", "{}"), move |event, server| {
            handler(event, server, &shared)
        });
        peer.send(&(call(1, "gate", "{}") + &call(2, "gate", "{}")));
        let lines = [peer.line(), peer.line()].concat();
        assert_eq!(lines.matches("the request timed out").count(), 2, "{lines}");
        open.send(()).unwrap();
        peer.send(&call(3, "who", "{}"));
        assert!(peer.line().contains(r#""id":3,"#));
        assert_eq!(received.try_iter().count(), 1);
        drop(peer);
        server.join().unwrap();
    });
}

#[test]
fn server_end_waits_for_workers_for_limited_time() {
    within(TEST_TIMEOUT, || {
        let mut case = test(2, 0);
        case.peer.send(&call(1, "tidy", "{}"));
        case.started.recv().unwrap();
        drop(case.peer);
        case.server.join().unwrap();
        assert!(case.shared.has_cleaned_up.load(Ordering::SeqCst), "the worker had time to clean up");

        let mut case = test(1, 1);
        case.peer.send(&call(1, "stubborn", "{}"));
        case.started.recv().unwrap();
        case.peer.send(&call(2, "stubborn", "{}"));
        let start = Instant::now();
        drop(case.peer);
        case.server.join().unwrap();
        assert!(start.elapsed() < TEST_TIMEOUT / 4, "{:?}", start.elapsed());
        assert!(case.started.try_recv().is_err(), "the waiting request must not start");
    });
}
