//! Many threads on one client: every answer is the right one, and nothing leaks on either side.
#![cfg(unix)]

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::hard::{HARD, within};
use mcp_proto::client::Connect;
use mcp_proto::json::Json;
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, Connector, PendingCall, Serve, ServerHandle};

const THREADS: u32 = 16;
const CALLS: u32 = 500;

/// As many requests as there may be on their way.
const REQUESTS: usize = 64;

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("work", "{}"),
    Tool::new("steps", "{}"),
    Tool::new("wait", "{}"),
]);
static INFO: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    let arguments = call.raw_arguments().to_string();
    match call.name() {
        "echo" => call.text(arguments),
        "work" => server.run(call, |answer| answer.text(arguments)),
        "steps" => server.run(call, |answer| {
            let number =
                Json::parse(arguments.as_bytes()).unwrap().get("n").and_then(Json::unsigned).unwrap();
            // The message says whose it is.
            (1..=3u32).for_each(|step| answer.progress(step, Some(3.into()), number));
            answer.text(arguments);
        }),
        _ => server.run(call, |answer| {
            let _ = answer.sleep_unless_cancelled(Duration::from_secs(600));
            answer.text("too late");
        }),
    }
}

/// What became of the calls.
#[derive(Default)]
struct Count {
    answered: AtomicU32,
    cancelled: AtomicU32,
    timed_out: AtomicU32,
}

impl Count {
    fn one(counter: &AtomicU32) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// One call of the `n`th kind, with a number that is its own.
fn one(client: &ClientHandle, number: u32, n: u32, count: &Count) {
    let arguments = format!(r#"{{"n":{number}}}"#);
    let options = CallOptions::new();
    let right = |result: Result<mcp_proto_std::CallResult, CallError>| {
        assert_eq!(result.unwrap().text(), Some(arguments.clone()));
        Count::one(&count.answered);
    };
    match n % 10 {
        0..4 => right(client.call_json("echo", &arguments)),
        4..6 => right(client.call_json("work", &arguments)),
        6 => {
            let mut heard = 0;
            let call = client.begin_json("steps", &arguments, options.with_progress()).unwrap();
            right(call.wait_with(|step| {
                assert_eq!(step.message, Some(number.to_string()), "that is another call's");
                heard += 1;
                assert_eq!(step.progress, heard.into());
            }));
            assert_eq!(heard, 3);
        }
        7 => {
            let hasty = options.timeout(Duration::from_millis(3));
            let outcome = client.begin_json("wait", &arguments, hasty).and_then(PendingCall::wait);
            assert_eq!(outcome, Err(CallError::TimedOut));
            Count::one(&count.timed_out);
        }
        8 => {
            let call = client.begin_json("wait", &arguments, options).unwrap();
            call.cancel("enough");
            assert_eq!(call.wait(), Err(CallError::Cancelled));
            Count::one(&count.cancelled);
        }
        _ => {
            // A race: it is answered or cancelled, and nothing else.
            let call = client.begin_json("echo", &arguments, options).unwrap();
            let canceller = call.canceller();
            let racing = thread::spawn(move || canceller.cancel(""));
            match call.wait() {
                Err(CallError::Cancelled) => Count::one(&count.cancelled),
                outcome => right(outcome),
            }
            racing.join().unwrap();
        }
    }
}

fn stress(era: Connect) {
    let (here, there) = UnixStream::pair().unwrap();
    let server = thread::spawn(move || Serve::new(&INFO).workers(8).waiting(REQUESTS).stream(there, handler));
    let client = Connector::new("test", "1").connect(era).requests(REQUESTS).stream(here).unwrap();
    let count = Count::default();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, count) = (client.clone(), &count);
            scope.spawn(move || {
                for call in 0..CALLS {
                    one(&client, thread * CALLS + call, thread + call, count);
                }
            });
        }
    });
    let sum =
        [&count.answered, &count.cancelled, &count.timed_out].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(sum.iter().sum::<u32>(), THREADS * CALLS, "{sum:?}");
    assert!(sum[1] >= THREADS * CALLS / 10 && sum[2] == THREADS * CALLS / 10, "{sum:?}");

    // Nothing has leaked: there is room for all requests that there may be, here and there, and for none more here.
    client.ping().unwrap();
    let all: Vec<_> = (0..REQUESTS)
        .map(|_| client.begin_json("wait", "{}", CallOptions::new()).expect("every slot is free"))
        .collect();
    assert!(matches!(client.begin_json("wait", "{}", CallOptions::new()), Err(CallError::Busy)));
    drop(all);
    // On the server eight run and all the others wait: none is refused.
    while matches!(client.ping(), Err(CallError::Busy)) {}
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
fn sixteen_threads_call_cancel_and_give_up_in_the_handshake_era() {
    within(HARD * 4, || stress(Connect::Handshake));
}

#[test]
fn sixteen_threads_call_cancel_and_give_up_in_the_stateless_era() {
    within(HARD * 4, || stress(Connect::Automatic));
}
