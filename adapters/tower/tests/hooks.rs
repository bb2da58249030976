//! Hooks before and after requests over HTTP, on tower and on threads.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_proto::client::Connect;
use mcp_proto::server::Event;
use mcp_proto_std::{CallError, ClientHandle, Connector, HttpEndpoint, Stop};
use mcp_proto_tower::{HttpAccess, Refusal, RequestHook, RequestInfo, RequestOutcome, Serve};

use crate::support::{CONFIG, HTTP, TestServer};

/// Refuses the tool `large`, and records the outcome of each request.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl RequestHook for Recorder {
    fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
        match request.tool() {
            Some("large") => Err(Refusal::new(-31_001, "too large")),
            _ => Ok(()),
        }
    }

    fn after(&self, request: &RequestInfo, outcome: RequestOutcome, _: Duration) {
        self.0.lock().unwrap().push(format!("{}: {outcome}", request.name().unwrap_or_default()));
    }
}

/// Panics before the tool `panic`, and after each request that reaches this hook. The recorder was added
/// earlier, so its `after` runs later.
struct Panics;

impl RequestHook for Panics {
    fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
        assert_ne!(request.tool(), Some("panic"), "a panic for the test");
        Ok(())
    }

    fn after(&self, _: &RequestInfo, _: RequestOutcome, _: Duration) {
        panic!("a panic for the test");
    }
}

fn check(client: &ClientHandle, recorder: &Recorder) {
    let text = |tool| client.call_json(tool, "{}").unwrap().text().unwrap();
    assert_eq!((text("echo"), text("task")), ("7".into(), "done".into()));
    match client.call_json("large", "{}") {
        Err(CallError::Server(error)) => assert_eq!((error.code, &*error.message), (-31_001, "too large")),
        other => panic!("{other:?}"),
    }
    match client.call_json("panic", "{}") {
        Err(CallError::Server(error)) => assert_eq!(error.code, -32_603),
        other => panic!("{other:?}"),
    }
    // The hook observes the end before the client receives the response.
    let ended = std::mem::take(&mut *recorder.0.lock().unwrap());
    assert_eq!(ended, ["echo: result", "task: result", "large: error -31001", "panic: closed"]);
}

#[test]
fn hooks_observe_requests_over_http_on_tower() {
    let recorder = Arc::<Recorder>::default();
    let serve = Serve::new(&CONFIG).hook(Arc::clone(&recorder)).hook(Panics);
    let server = TestServer::start_with(serve, HttpAccess::new(&HTTP));
    for era in [Connect::Handshake, Connect::Automatic] {
        check(&server.connect(era), &recorder);
    }
}

#[test]
fn hooks_observe_requests_over_http_on_threads() {
    let recorder = Arc::<Recorder>::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Stop::new();
    let serve = mcp_proto_std::Serve::new(&CONFIG).hook(Arc::clone(&recorder)).hook(Panics).stopped_by(&stop);
    let server = thread::spawn(move || {
        serve.http(listener, HttpAccess::new(&HTTP), |event, server| match event {
            Event::Call(call) if call.name() == "task" => server.run(call, |answer| answer.text("done")),
            Event::Call(call) => call.text("7"),
            _ => {}
        })
    });
    for era in [Connect::Handshake, Connect::Automatic] {
        let endpoint = HttpEndpoint::new(format!("http://{address}/mcp"));
        check(&Connector::new("c", "1").connect(era).http(endpoint).unwrap(), &recorder);
    }
    stop.within(Duration::from_secs(10));
    server.join().unwrap().unwrap();
}
