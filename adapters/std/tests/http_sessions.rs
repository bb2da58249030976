//! Messages to the clients of a server over HTTP, which serves several sessions.

use std::io::Write;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_proto::client::{Connect, Listed};
use mcp_proto::input::ListRoots;
use mcp_proto::server::{Call, Change, Event, Logging, ServerConfig, Tool, Tools};
use mcp_proto::{ClientCapabilities, Level};
use mcp_proto_std::handler::ClientDetails;
use mcp_proto_std::http::{HttpAccess, HttpConfig, SessionMode};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, Connector, HttpEndpoint, InputResponse, Notification, Reconnect,
    Refusal, RequestError, RequestHook, RequestInfo, Router, Serve, ServerHandle, Stop, route, router, tool,
};

use crate::http::{ACCEPTED, LIMIT, NOT_ALLOWED, NOT_FOUND, STREAM, TEXT, start, write};
use crate::time_limit::{TEST_TIMEOUT, within};

static TOOLS: Tools = Tools::new(&[Tool::new("complete", "{}")]).list_changed();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &Logging]);
static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);
const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_URL);

/// Connects a client of the handshake era. Returns the client and its notifications.
fn connect(url: &str) -> (ClientHandle, Receiver<Notification>) {
    let (sender, notifications) = channel();
    let client = Connector::new("c", "1")
        .connect(Connect::Handshake)
        .on_server_request(DECLARED, |_| InputResponse::roots([("file:///a", "a")]))
        .on_notification(move |notification| _ = sender.send(notification))
        .http(HttpEndpoint::new(url))
        .unwrap();
    (client, notifications)
}

#[test]
fn message_without_a_request_reaches_no_other_session() {
    within(TEST_TIMEOUT, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (stop, (sender, handle)) = (Stop::new(), channel::<ServerHandle>());
        let server = Serve::new(&CONFIG).stopped_by(&stop);
        let server = thread::spawn(move || {
            server.http(listener, HttpAccess::new(&HTTP), |event, server| match event {
                Event::Ready => _ = sender.send(server.clone()),
                Event::Call(call) => server.run(call, |responder| {
                    responder.elicitation_complete("e1");
                    responder.text("sent");
                }),
                _ => {}
            })
        });
        let clients = [connect(&url), connect(&url)];
        let handle = handle.recv().unwrap();
        // A client sends a call only after it has requested the event stream of its session.
        let call = |client: &ClientHandle| client.call_json("complete", "{}").unwrap().text();
        assert!(clients.iter().all(|(client, _)| call(client).as_deref() == Some("sent")));
        let refused = handle.request(&ListRoots);
        assert!(matches!(refused, Err(RequestError::Invalid(_))), "{refused:?}");
        handle.log(Level::Error, "log");
        handle.log_data(Level::Error, None, "data");
        handle.notify("com.example/own", &());
        handle.elicitation_complete("e2");
        // So far, each client has received one notification: the one that its own call has sent.
        let complete = |text: &str| text.contains("elicitation/complete") && text.contains("e1");
        for (_, notifications) in &clients {
            let first = notifications.recv().unwrap();
            assert!(complete(&format!("{first:?}")), "{first:?}");
        }
        handle.changed(Change::Tools);
        for (_, notifications) in &clients {
            assert_eq!(notifications.recv().unwrap(), Notification::Changed(Listed::Tools));
        }
        stop.within(Duration::ZERO);
        server.join().unwrap().unwrap();
    });
}

#[test]
fn request_to_a_client_does_not_time_out_during_a_slow_handler() {
    const TIMEOUT: Duration = Duration::from_secs(1);
    static TOOLS: Tools = Tools::new(&[Tool::new("ask", "{}"), Tool::new("block", "{}")]);
    static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);
    within(TEST_TIMEOUT, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let stop = Stop::new();
        let server = Serve::new(&CONFIG).stopped_by(&stop);
        let (begin, blocked) = channel();
        let server = thread::spawn(move || {
            server.http(listener, HttpAccess::new(&HTTP), |event, server| match event {
                Event::Call(call) if call.name() == "block" => {
                    begin.send(()).unwrap();
                    thread::sleep(TIMEOUT * 2);
                    call.text("slept");
                }
                Event::Call(call) => {
                    server.run(call, |responder| match responder.request_within(TIMEOUT, &ListRoots) {
                        Ok(_) => responder.text("answered"),
                        Err(error) => responder.fail(error),
                    })
                }
                _ => {}
            })
        });
        let (sender, requests) = channel();
        let blocked = Mutex::new(blocked);
        let asked = Connector::new("c", "1")
            .connect(Connect::Handshake)
            .on_server_request(DECLARED, move |_| {
                sender.send(()).unwrap();
                blocked.lock().unwrap().recv().unwrap();
                InputResponse::roots([("file:///a", "a")])
            })
            .http(HttpEndpoint::new(&url))
            .unwrap();
        let blocking = connect(&url).0;
        thread::scope(|scope| {
            let answer = scope.spawn(|| asked.call_json("ask", "{}").unwrap().text());
            requests.recv().unwrap();
            assert_eq!(blocking.call_json("block", "{}").unwrap().text().as_deref(), Some("slept"));
            assert_eq!(answer.join().unwrap().as_deref(), Some("answered"));
        });
        stop.within(Duration::ZERO);
        server.join().unwrap().unwrap();
    });
}

#[test]
fn end_of_a_session_has_a_time_limit_while_the_server_sends() {
    const INITIALIZED: &str =
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
    let (sender, deleted) = channel();
    let url = start(move |request, stream| {
        if request.line.starts_with("DELETE") {
            sender.send(()).unwrap();
            write(stream, STREAM);
            while stream.write_all(&[b'\n'; 65_536]).is_ok() {}
            return;
        }
        let response = if request.has(r#""initialize""#) {
            request.result(INITIALIZED).replacen("\r\n", "\r\nMcp-Session-Id: s-1\r\n", 1)
        } else if request.line.starts_with("GET") {
            NOT_ALLOWED.into()
        } else {
            ACCEPTED.into()
        };
        write(stream, &response);
    });
    within(LIMIT, move || connect(&url).0.close());
    deleted.recv_timeout(LIMIT).unwrap();
}

#[tool(blocking)]
fn whoami(client: ClientDetails) -> String {
    format!("{:?}", client.user())
}

#[tool]
fn secret(call: Call<'_>) {
    let user = format!("{:?}", call.user());
    call.text(user);
}

/// Refuses the tool `secret`, except for user 1.
struct Secrets;

impl RequestHook for Secrets {
    fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
        match request.tool() {
            Some("secret") if request.user() != Some(1) => Err(Refusal::new(-31_001, "not permitted")),
            _ => Ok(()),
        }
    }
}

#[test]
fn user_of_a_token_reaches_handlers_and_hooks() {
    static ROUTER: Router<()> = router![whoami, secret];
    static EVENTS: Tools = Tools::new(&[Tool::new("event", "{}")]);
    static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[ROUTER.tools(), &EVENTS]);
    within(TEST_TIMEOUT, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let stop = Stop::new();
        let server = Serve::new(&CONFIG).hook(Secrets).stopped_by(&stop);
        let server = thread::spawn(move || {
            let route = route(&ROUTER, ());
            let access = HttpAccess::new(&HTTP).bearer(["first", "second"]);
            server.http(listener, access, |event, server| match event {
                Event::Call(call) if call.name() == "event" => server.run(call, |responder| {
                    let user = format!("{:?}", responder.user());
                    responder.text(user);
                }),
                event => route(event, server),
            })
        });
        for era in [Connect::Handshake, Connect::Stateless] {
            let [first, second] = ["Bearer first", "Bearer second"].map(|token| {
                let endpoint = HttpEndpoint::new(&url).header("Authorization", token);
                Connector::new("c", "1").connect(era).http(endpoint).unwrap()
            });
            let call =
                |client: &ClientHandle, tool| client.call_json(tool, "{}").map(|it| it.text().unwrap());
            for tool in ["whoami", "event", "secret"] {
                assert_eq!(call(&first, tool).unwrap(), "Some(1)", "{tool}");
            }
            for tool in ["whoami", "event"] {
                assert_eq!(call(&second, tool).unwrap(), "Some(2)", "{tool}");
            }
            let refused = call(&second, "secret");
            assert!(
                matches!(&refused, Err(CallError::Server(error)) if error.code == -31_001),
                "{refused:?}"
            );
        }
        stop.within(LIMIT);
        server.join().unwrap().unwrap();
    });
}

/// The server refuses the requests of its first session at different times.
#[test]
fn concurrent_requests_refused_with_their_lost_session_are_repeated() {
    let handshakes = Arc::new(AtomicUsize::new(0));
    let url = start(move |request, stream| {
        let response = if request.has(r#""initialize""#) {
            let session = format!("\r\nMcp-Session-Id: s-{}\r\n", handshakes.fetch_add(1, Ordering::Relaxed));
            let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
            request.result(result).replacen("\r\n", &session, 1)
        } else if request.line.starts_with("GET") {
            NOT_ALLOWED.into()
        } else if request.has("initialized") || request.line.starts_with("DELETE") {
            ACCEPTED.into()
        } else if request.field("mcp-session-id") == Some("s-0") {
            let pause = if request.has(r#""late""#) { 300 } else { 100 };
            thread::sleep(Duration::from_millis(pause));
            NOT_FOUND.into()
        } else {
            request.result(TEXT)
        };
        write(stream, &response);
    });
    let reconnect = Reconnect { pause: Duration::from_millis(1), ..Reconnect::DEFAULT };
    let client = Connector::new("c", "1")
        .connect(Connect::Handshake)
        .reconnect(reconnect)
        .http(HttpEndpoint::new(url))
        .unwrap();
    let calls = ["early", "early", "late", "late"]
        .map(|tool| client.begin_json(tool, "{}", CallOptions::new()).unwrap());
    for call in calls {
        assert_eq!(call.wait().unwrap().text().as_deref(), Some("7"));
    }
}
