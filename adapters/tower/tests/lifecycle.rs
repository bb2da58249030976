//! The end of a server, and many sessions.

use std::io::Read;
use std::time::{Duration, Instant};

use mcp_proto::ClientCapabilities;
use mcp_proto::client::Connect;
use mcp_proto::client::Listed;
use mcp_proto_std::{CallError, CallOptions, Connector, HttpEndpoint, InputResponse};
use mcp_proto_tower::{HttpAccess, Serve, Stop};

use crate::support::{CONFIG, HTTP, LIMIT, Report, TestServer, post};

const CLOSE: &str = "Connection: close\r\n";

#[test]
fn shutdown_ends_subscriptions_and_calls() {
    let server = TestServer::start();
    let client = server.connect(Connect::Automatic);
    let mut subscription = client.listen(&[Listed::Tools], &[]).unwrap();
    server.expect(Report::Listening);
    let call = client.begin_json("wait", "{}", CallOptions::new()).unwrap();
    server.expect(Report::Waiting);
    let start = Instant::now();
    server.service.handle().shutdown_within(Duration::from_millis(100));
    assert_eq!(subscription.next_within(LIMIT), None);
    assert!(call.wait().is_err());
    server.expect(Report::Cancelled);
    assert!(start.elapsed() >= Duration::from_millis(90) && start.elapsed() < LIMIT);
    server.expect_no_exchange();
    assert!(server.exchange(&post("echo", CLOSE)).starts_with("HTTP/1.1 503 "));
}

#[test]
fn switch_ends_subscriptions_and_calls() {
    let stop = Stop::new();
    let server = TestServer::start_with(Serve::new(&CONFIG).stopped_by(&stop), HttpAccess::new(&HTTP));
    let client = server.connect(Connect::Automatic);
    let mut subscription = client.listen(&[Listed::Tools], &[]).unwrap();
    let call = client.begin_json("wait", "{}", CallOptions::new()).unwrap();
    server.expect(Report::Listening);
    server.expect(Report::Waiting);
    stop.within(Duration::ZERO);
    assert_eq!(subscription.next_within(LIMIT), None);
    assert!(call.wait().is_err());
    server.expect_no_exchange();
}

#[test]
fn subscriptions_leave_exchanges_and_slots_to_calls() {
    // Without additional slots for the event streams of the 80 exchanges, the core server would have 35 slots.
    let serve = Serve::new(&CONFIG).exchanges(80).workers(1).waiting(1);
    let server = TestServer::start_with(serve, HttpAccess::new(&HTTP));
    let clients: Vec<_> = (0..4).map(|_| server.connect(Connect::Stateless)).collect();
    let listen = |at: usize| clients[at / 20].listen(&[Listed::Tools], &[]);
    let subscriptions: Vec<_> = (0..40).map(|at| listen(at).unwrap()).collect();
    let Err(CallError::Http(failure)) = listen(40) else { panic!("the subscription is not refused") };
    assert_eq!(failure.status, Some(503));
    let result = clients[0].call_json("task", "{}").unwrap();
    assert_eq!(result.text().as_deref(), Some("done"));
    drop(subscriptions);
}

#[test]
fn running_call_finishes_during_a_shutdown() {
    let server = TestServer::start();
    let mut stream = server.open(&post("slow", CLOSE));
    server.expect(Report::Waiting);
    server.service.handle().shutdown();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.contains("done"), "{response}");
}

/// During a shutdown, the core server cannot switch to another session. Nevertheless, a log message of the other
/// session delays no response.
#[test]
fn calls_of_several_sessions_finish_during_a_shutdown() {
    let server = TestServer::start();
    let clients = [Connect::Handshake; 2].map(|connect| server.connect(connect));
    let calls = clients.each_ref().map(|client| client.begin_json("slow", "{}", CallOptions::new()).unwrap());
    server.expect(Report::Waiting);
    server.expect(Report::Waiting);
    let start = Instant::now();
    server.service.handle().shutdown_within(LIMIT);
    for call in calls {
        assert_eq!(call.wait().unwrap().text().as_deref(), Some("done"));
    }
    assert!(start.elapsed() < LIMIT / 2, "{:?}", start.elapsed());
}

/// The general stream of a session, which a GET opens, has no response that could end it.
#[test]
fn shutdown_ends_general_streams() {
    let server = TestServer::start();
    let client = server.connect(Connect::Handshake);
    assert!(client.call_json("echo", "{}").is_ok());
    server.service.handle().shutdown_within(Duration::ZERO);
    server.expect_no_exchange();
    client.close();
}

/// A request to the client goes to the session of its call, even if the server serves other sessions between the call
/// and the request.
#[test]
fn requests_to_clients_find_their_sessions() {
    let server = TestServer::start();
    let url = format!("http://{}/mcp", server.address);
    let clients: Vec<_> = (0..8)
        .map(|number| {
            Connector::new("c", "1")
                .connect(Connect::Handshake)
                .on_server_request(ClientCapabilities::ELICITATION_FORM, move |_| {
                    InputResponse::accept_json(&format!(r#"{{"name":"client {number}"}}"#))
                })
                .http(HttpEndpoint::new(&url))
                .unwrap()
        })
        .collect();
    let calls: Vec<_> =
        clients.iter().map(|client| client.begin_json("name", "{}", CallOptions::new()).unwrap()).collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.wait().unwrap().text(), Some(format!("client {number}")));
    }
}
