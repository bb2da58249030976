//! Users of requests: handlers, hooks and tasks of a server with several users.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::map_request;
use mcp_proto::client::{Connect, TaskLimits};
use mcp_proto::server::{Call, Event, ServerConfig, TaskOptions, Tasks, Tool, Tools};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, Connector, HttpEndpoint, TaskCall};
use mcp_proto_tower::handler::ClientDetails;
use mcp_proto_tower::{
    HttpAccess, McpService, Millis, Refusal, RequestHook, RequestInfo, Router, Serve, ServerHandle, User,
    Verdict, route, router, tool,
};

use crate::support::{HTTP, TestServer};

fn name_of(user: Option<u64>) -> String {
    user.map_or("no user".into(), |user| format!("user {user}"))
}

#[tool]
fn immediate(call: Call<'_>) {
    let name = name_of(call.user());
    call.text(name);
}

#[tool]
async fn later(client: ClientDetails) -> String {
    tokio::time::sleep(Duration::from_millis(5)).await;
    name_of(client.user())
}

#[tool(blocking)]
fn on_a_thread(client: ClientDetails) -> String {
    name_of(client.user())
}

/// Takes so long that the call becomes a task.
#[tool(task_support = optional)]
async fn slow(client: ClientDetails) -> String {
    tokio::time::sleep(Duration::from_millis(200)).await;
    name_of(client.user())
}

/// Only for user 1.
#[tool]
fn secret() -> &'static str {
    "the secret"
}

/// A tool that is not in the router: the event handler in [`service`] runs it.
static EVENTS: Tools = Tools::new(&[Tool::new("event", "{}")]);
static ROUTER: Router<()> = router![immediate, later, on_a_thread, slow, secret];
static TASKS: Tasks = Tasks::new().automatic(Millis(10), || TaskOptions::new(random_bytes()));
static CONFIG: LazyLock<ServerConfig> = LazyLock::new(|| {
    let features = [ROUTER.features(), &[&EVENTS, &TASKS]].concat();
    ServerConfig::new("test", "1").features(features.leak())
});
const LIMITS: TaskLimits =
    TaskLimits { shortest_interval: Millis(5), longest_interval: Millis(5), ..TaskLimits::DEFAULT };

/// Returns different bytes at each call.
fn random_bytes() -> [u8; 16] {
    static CALLS: AtomicU64 = AtomicU64::new(1);
    u128::from(CALLS.fetch_add(1, Ordering::Relaxed)).to_le_bytes()
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

fn service(access: HttpAccess<'static>) -> McpService {
    let route = route(&ROUTER, ());
    let handler = move |event: Event<'_>, server: &ServerHandle| match event {
        Event::Call(call) if call.name() == "event" => server.run(call, |responder| async {
            tokio::task::yield_now().await;
            let name = name_of(responder.user());
            responder.text(name);
        }),
        event => route(event, server),
    };
    Serve::new(&CONFIG).hook(Secrets).service(access, handler).unwrap()
}

/// Serves with a layer that reads the user from the field `X-User`.
fn serve_with_layer(access: HttpAccess<'static>) -> TestServer {
    let service = service(access);
    let layer = map_request(|mut request: Request| async {
        let user = request.headers().get("x-user").and_then(|user| user.to_str().ok()?.parse().ok());
        if let Some(user) = user {
            request.extensions_mut().insert(User(user));
        }
        request
    });
    let router = axum::Router::new().fallback_service(service.clone()).layer(layer);
    TestServer::serve_router(router, service, channel().1)
}

fn connect(server: &TestServer, era: Connect, field: (&str, &str)) -> ClientHandle {
    let endpoint = HttpEndpoint::new(format!("http://{}/mcp", server.address)).header(field.0, field.1);
    Connector::new("c", "1").connect(era).tasks(LIMITS).http(endpoint).unwrap()
}

fn text(client: &ClientHandle, tool: &str) -> String {
    client.call_json(tool, "{}").unwrap().text().unwrap()
}

const TOOLS: [&str; 4] = ["immediate", "later", "on_a_thread", "event"];

/// Checks which user handlers, the hook and a task see. `first` is a client of user 1, and `second` a client of user 2.
fn check(first: &ClientHandle, second: &ClientHandle) {
    for tool in TOOLS {
        assert_eq!(text(first, tool), "user 1", "{tool}");
        assert_eq!(text(second, tool), "user 2", "{tool}");
    }
    assert_eq!(text(first, "secret"), "the secret");
    let refused = second.call_json("secret", "{}");
    assert!(matches!(&refused, Err(CallError::Server(error)) if error.code == -31_001), "{refused:?}");
    let begun = first.call_task("slow", &BTreeMap::<&str, &str>::new(), CallOptions::new()).unwrap();
    let TaskCall::Task { id, call } = begun else { panic!("{begun:?}") };
    // Messages of another user arrive before the task ends.
    assert_eq!(text(second, "immediate"), "user 2");
    let unknown = second.resume_task(&id, CallOptions::new()).unwrap().wait();
    assert!(matches!(&unknown, Err(CallError::Server(error)) if error.code == -32602), "{unknown:?}");
    assert_eq!(call.wait().unwrap().text().unwrap(), "user 1");
}

#[test]
fn user_of_a_token_reaches_handlers_hooks_and_tasks() {
    let access = HttpAccess::new(&HTTP).bearer(["first", "second"]);
    let server = TestServer::serve(service(access), channel().1);
    for era in [Connect::Handshake, Connect::Stateless] {
        let clients = ["Bearer first", "Bearer second"];
        let [first, second] = clients.map(|token| connect(&server, era, ("Authorization", token)));
        check(&first, &second);
    }
}

#[test]
fn user_of_a_layer_reaches_handlers_hooks_and_tasks() {
    let server = serve_with_layer(HttpAccess::new(&HTTP));
    for era in [Connect::Handshake, Connect::Stateless] {
        let [first, second] = ["1", "2"].map(|user| connect(&server, era, ("X-User", user)));
        check(&first, &second);
        let anonymous = connect(&server, era, ("X-Other", "1"));
        for tool in TOOLS {
            assert_eq!(text(&anonymous, tool), "no user", "{tool}");
        }
        assert!(anonymous.call_json("secret", "{}").is_err());
    }
}

#[test]
fn session_belongs_to_the_user_of_the_layer() {
    let server = serve_with_layer(HttpAccess::new(&HTTP));
    let fields = "Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let post = |user: u64, more: &str, body: &str| {
        let length = body.len();
        server.exchange(&format!(
            "POST /mcp HTTP/1.1\r\n{fields}X-User: {user}\r\nConnection: close\r\n{more}Content-Length: {length}\r\n\r\n{body}"
        ))
    };
    let begun = post(
        1,
        "",
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    let session = begun.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
    for (user, status) in [(1, "HTTP/1.1 200 "), (2, "HTTP/1.1 404 "), (0, "HTTP/1.1 404 ")] {
        let pinged = post(user, &format!("{session}\r\n"), r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
        assert!(pinged.starts_with(status), "{user}: {pinged}");
    }
}

#[test]
fn authorization_replaces_the_user_of_a_layer() {
    let server = serve_with_layer(HttpAccess::new(&HTTP).authorize(|_| Verdict::Allow { user: 7 }));
    let client = connect(&server, Connect::Stateless, ("X-User", "1"));
    assert_eq!(text(&client, "immediate"), "user 7");
}
