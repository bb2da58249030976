//! Stress test: many threads share one client; every response matches and no slot leaks.
#![cfg(unix)]

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::client::Connect;
use mcp_proto::json::Json;
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, Connector, PendingCall, Serve, ServerHandle};

const THREADS: u32 = 16;
const CALLS: u32 = 500;

/// Maximum number of requests in flight.
const REQUESTS: usize = 64;

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("work", "{}"),
    Tool::new("steps", "{}"),
    Tool::new("wait", "{}"),
]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    let arguments = call.raw_arguments().to_string();
    match call.name() {
        "echo" => call.text(arguments),
        "work" => server.run(call, |answer| answer.text(arguments)),
        "steps" => server.run(call, |answer| {
            let number =
                Json::parse(arguments.as_bytes()).unwrap().get("n").and_then(Json::unsigned).unwrap();
            // The message identifies the call.
            (1..=3u32).for_each(|step| answer.progress(step, Some(3.into()), number));
            answer.text(arguments);
        }),
        _ => server.run(call, |answer| {
            let _ = answer.sleep_unless_cancelled(Duration::from_secs(600));
            answer.text("too late");
        }),
    }
}

/// Numbers of calls by outcome.
#[derive(Default)]
struct Count {
    answered: AtomicU32,
    cancelled: AtomicU32,
    timed_out: AtomicU32,
}

impl Count {
    fn increment(counter: &AtomicU32) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes a call of the `n`th kind with a unique number.
fn make_call(client: &ClientHandle, number: u32, n: u32, count: &Count) {
    let arguments = format!(r#"{{"n":{number}}}"#);
    let options = CallOptions::new();
    let check = |result: Result<mcp_proto_std::CallResult, CallError>| {
        assert_eq!(result.unwrap().text(), Some(arguments.clone()));
        Count::increment(&count.answered);
    };
    match n % 10 {
        0..4 => check(client.call_json("echo", &arguments)),
        4..6 => check(client.call_json("work", &arguments)),
        6 => {
            let mut received = 0;
            let call = client.begin_json("steps", &arguments, options.with_progress()).unwrap();
            check(call.wait_with(|step| {
                assert_eq!(step.message, Some(number.to_string()), "the message belongs to another call");
                received += 1;
                assert_eq!(step.progress, received.into());
            }));
            assert_eq!(received, 3);
        }
        7 => {
            let short = options.timeout(Duration::from_millis(3));
            let outcome = client.begin_json("wait", &arguments, short).and_then(PendingCall::wait);
            assert_eq!(outcome, Err(CallError::TimedOut));
            Count::increment(&count.timed_out);
        }
        8 => {
            let call = client.begin_json("wait", &arguments, options).unwrap();
            call.cancel("enough");
            assert_eq!(call.wait(), Err(CallError::Cancelled));
            Count::increment(&count.cancelled);
        }
        _ => {
            // The call is either completed or cancelled.
            let call = client.begin_json("echo", &arguments, options).unwrap();
            let canceller = call.canceller();
            let racing = thread::spawn(move || canceller.cancel(""));
            match call.wait() {
                Err(CallError::Cancelled) => Count::increment(&count.cancelled),
                outcome => check(outcome),
            }
            racing.join().unwrap();
        }
    }
}

fn stress(era: Connect) {
    let (here, there) = UnixStream::pair().unwrap();
    let server =
        thread::spawn(move || Serve::new(&CONFIG).workers(8).waiting(REQUESTS).stream(there, handler));
    let client = Connector::new("test", "1").connect(era).requests(REQUESTS).waiting(0).stream(here).unwrap();
    let count = Count::default();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, count) = (client.clone(), &count);
            scope.spawn(move || {
                for call in 0..CALLS {
                    make_call(&client, thread * CALLS + call, thread + call, count);
                }
            });
        }
    });
    let sum =
        [&count.answered, &count.cancelled, &count.timed_out].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(sum.iter().sum::<u32>(), THREADS * CALLS, "{sum:?}");
    assert!(sum[1] >= THREADS * CALLS / 10 && sum[2] == THREADS * CALLS / 10, "{sum:?}");

    // No slot has leaked: the client permits exactly the maximum number of requests.
    client.ping().unwrap();
    let all: Vec<_> = (0..REQUESTS)
        .map(|_| client.begin_json("wait", "{}", CallOptions::new()).expect("every slot is free"))
        .collect();
    assert!(matches!(client.begin_json("wait", "{}", CallOptions::new()), Err(CallError::Busy)));
    drop(all);
    while matches!(client.ping(), Err(CallError::Busy)) {}
    // The server runs eight requests, queues the others and refuses none.
    let all: Vec<_> = (0..REQUESTS)
        .map(|n| client.begin_json("work", &format!("{{\"n\":{n}}}"), CallOptions::new()))
        .collect();
    for (n, call) in all.into_iter().enumerate() {
        assert_eq!(call.unwrap().wait().unwrap().text(), Some(format!("{{\"n\":{n}}}")));
    }
    client.close();
    server.join().unwrap().unwrap();
}

#[test]
fn many_threads_share_a_client_in_the_handshake_era() {
    within(TEST_TIMEOUT * 4, || stress(Connect::Handshake));
}

#[test]
fn many_threads_share_a_client_in_the_stateless_era() {
    within(TEST_TIMEOUT * 4, || stress(Connect::Automatic));
}
