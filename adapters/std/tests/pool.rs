//! The workers of a server: used again, waited for, and ended, in both eras.
#![cfg(unix)]

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use crate::hard::{HARD, within};
use crate::peer::{Peer, call, stateless_call};
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{Serve, ServerHandle};

static TOOLS: Tools = Tools::new(&[
    Tool::new("who", "{}"),
    Tool::new("panic", "{}"),
    Tool::new("gate", "{}"),
    Tool::new("stubborn", "{}"),
    Tool::new("tidy", "{}"),
]);
static INFO: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

/// How a call is written in each era.
const ERAS: [fn(u32, &str, &str) -> String; 2] = [call, stateless_call];

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n";

fn cancel(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#) + "\n"
}

/// What the workers have in common with the test.
#[derive(Clone)]
struct Shared {
    threads: Arc<Mutex<HashSet<ThreadId>>>,
    /// Each call of `gate` says that it has begun, and waits to be let through.
    begun: Sender<()>,
    gate: Arc<Mutex<Receiver<()>>>,
    tidied: Arc<AtomicBool>,
}

struct Test {
    peer: Peer,
    server: JoinHandle<()>,
    shared: Shared,
    begun: Receiver<()>,
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
        "panic" => server.run(call, |_| panic!("as it should")),
        "gate" => server.run(call, move |answer| {
            shared.begun.send(()).unwrap();
            shared.gate.lock().unwrap().recv().unwrap();
            answer.text("through");
        }),
        "stubborn" => server.run(call, move |_answer| {
            shared.begun.send(()).unwrap();
            thread::sleep(HARD);
        }),
        _ => server.run(call, move |answer| {
            shared.begun.send(()).unwrap();
            while !answer.is_cancelled() {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(300));
            shared.tidied.store(true, Ordering::SeqCst);
        }),
    }
}

fn test(workers: usize, waiting: usize) -> Test {
    let ((begun_sender, begun), (open, gate)) = (channel(), channel());
    let shared = Shared {
        threads: Arc::default(),
        begun: begun_sender,
        gate: Arc::new(Mutex::new(gate)),
        tidied: Arc::default(),
    };
    let theirs = shared.clone();
    let serve = Serve::new(&INFO).workers(workers).waiting(waiting);
    let (peer, server) = Peer::from_config(serve, ("2025-11-25", "{}"), move |event, server| {
        handler(event, server, &theirs);
    });
    Test { peer, server, shared, begun, open }
}

#[test]
fn threads_are_used_again_and_a_panic_does_not_cost_one() {
    within(HARD, || {
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
fn what_finds_no_worker_waits_and_what_finds_no_room_to_wait_is_refused() {
    within(HARD, || {
        for call in ERAS {
            let mut test = test(1, 2);
            (1..=4).for_each(|id| test.peer.send(&call(id, "gate", "{}")));
            let line = test.peer.line();
            assert!(
                line.contains(r#""id":4,"error":{"code":-32603"#) && line.contains("at most 3"),
                "{line}"
            );
            test.begun.recv().unwrap();
            // All workers are busy, and still the rest of the protocol is dealt with.
            test.peer.send(PING);
            assert!(test.peer.line().contains(r#""id":"p","result":{}"#));
            assert!(test.begun.try_recv().is_err(), "there is one worker");
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
fn a_request_that_is_cancelled_while_it_waits_is_never_begun_and_leaves_its_place() {
    within(HARD, || {
        for call in ERAS {
            let mut test = test(1, 1);
            test.peer.send(&call(1, "gate", "{}"));
            test.begun.recv().unwrap();
            test.peer.send(&(call(2, "gate", "{}") + &cancel(2) + &call(3, "who", "{}") + PING));
            let line = test.peer.line();
            assert!(line.contains(r#""id":"p""#), "the third waits where the second did: {line}");
            test.open.send(()).unwrap();
            assert!(test.peer.line().contains(r#""id":1,"#));
            assert!(test.peer.line().contains(r#""id":3,"#));
            assert!(test.begun.try_recv().is_err());
            drop(test.peer);
            test.server.join().unwrap();
        }
    });
}

#[test]
fn what_waits_too_long_is_answered_and_never_begun() {
    within(HARD, || {
        use mcp_proto::{Millis, server::Limits};
        static HASTY: ServerConfig = ServerConfig::new("test", "1")
            .features(&[&TOOLS])
            .limits(Limits::DEFAULT.with_deferred_timeout(Millis(100)));
        let ((begun, heard), (open, gate)) = (channel(), channel());
        let gate = Arc::new(Mutex::new(gate));
        let shared = Shared { threads: Arc::default(), begun, gate, tidied: Arc::default() };
        let serve = Serve::new(&HASTY).workers(1);
        let (mut peer, server) = Peer::from_config(serve, ("2025-11-25", "{}"), move |event, server| {
            handler(event, server, &shared)
        });
        peer.send(&(call(1, "gate", "{}") + &call(2, "gate", "{}")));
        let lines = [peer.line(), peer.line()].concat();
        assert_eq!(lines.matches("not finished in time").count(), 2, "{lines}");
        open.send(()).unwrap();
        peer.send(&call(3, "who", "{}"));
        assert!(peer.line().contains(r#""id":3,"#));
        assert_eq!(heard.try_iter().count(), 1);
        drop(peer);
        server.join().unwrap();
    });
}

#[test]
fn at_the_end_workers_are_waited_for_and_those_that_hang_are_left_behind() {
    within(HARD, || {
        let mut end = test(2, 0);
        end.peer.send(&call(1, "tidy", "{}"));
        end.begun.recv().unwrap();
        drop(end.peer);
        end.server.join().unwrap();
        assert!(end.shared.tidied.load(Ordering::SeqCst), "it was given the time to tidy up");

        let mut end = test(1, 1);
        end.peer.send(&call(1, "stubborn", "{}"));
        end.begun.recv().unwrap();
        end.peer.send(&call(2, "stubborn", "{}"));
        let start = Instant::now();
        drop(end.peer);
        end.server.join().unwrap();
        assert!(start.elapsed() < HARD / 4, "{:?}", start.elapsed());
        assert!(end.begun.try_recv().is_err(), "what waited is not begun");
    });
}
