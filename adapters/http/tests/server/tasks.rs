//! Tasks over HTTP: their users.

use super::support::{Harness, Request, initialize};
use mcp_proto::server::{ServerConfig, Slot, TaskSlot, TaskTable, Tasks, Tool, Tools};
use mcp_proto::{Server, TaskSupport};
use mcp_proto_http::server::{HttpConfig, SessionMode};

static TOOLS: Tools = Tools::new(&[Tool::new("task", "{}").task_support(TaskSupport::Optional)]);
static CONFIG: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS, &Tasks::new().list()]);

fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// Creates a request of a client that declares the tasks extension.
fn request(method: &str, members: &str, name: &str, token: &str) -> Request {
    let mut request = Request::modern(1, method, members).with("mcp-name", name).with("authorization", token);
    let declared = r#"clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    request.body = request.body.replace(r#"clientCapabilities":{}"#, declared);
    request
}

/// Creates a server with tasks.
fn harness(config: HttpConfig<'static>) -> Harness {
    let mut harness = Harness::new(config);
    let table = leak(TaskTable::new(leak([TaskSlot::EMPTY; 2]), leak([0; 200])));
    let server =
        Server::new(&CONFIG, leak([0; 4096]).as_mut_slice(), leak([0; 4096]).as_mut_slice()).unwrap();
    let server = server.message_mode().unwrap().in_flight(leak([Slot::EMPTY; 2]), leak([0; 64])).unwrap();
    harness.server = server.tasks(table);
    harness
}

/// The key of a session that is not stored may later belong to another client. The tasks of the session would then
/// belong to that client, too.
#[test]
fn task_without_a_user_needs_a_stored_session() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task","task":{}}}"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tasks/list"}"#;
    let plain = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
    // `null` requests no task. The core server refuses this call, because there is no such tool.
    let null = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"other","task":null}}"#;
    for mode in [SessionMode::Sealed, SessionMode::Stateless, SessionMode::Sessions] {
        for token in ["", "Bearer a"] {
            let mut harness = harness(HttpConfig::new().sessions(mode));
            let initialize = Request::post(initialize("2025-11-25")).with("authorization", token);
            let session = harness.ask(&initialize).field("mcp-session-id").to_owned();
            let is_refused = mode != SessionMode::Sessions && token.is_empty();
            for (body, code) in [(call, -32601), (list, -32601), (plain, 0), (null, -32602)] {
                let request = Request::old(body, &session).with("authorization", token);
                let reply = harness.ask(&request.with("mcp-protocol-version", "2025-11-25"));
                let expected = if is_refused || body == null { code } else { 0 };
                assert_eq!(
                    (reply.status, reply.code()),
                    (200, expected),
                    "{mode:?} {token} {body} {reply:?}"
                );
            }
        }
    }
}

/// TC-32, TX-25: a task belongs to the user whose request created it.
#[test]
fn task_belongs_to_the_user_of_its_request() {
    let mut harness = harness(HttpConfig::new());
    let created = harness.ask(&request("tools/call", r#""name":"task""#, "task", "Bearer a"));
    let (_, rest) = created.body.split_once(r#""taskId":""#).unwrap();
    let (id, _) = rest.split_once('"').unwrap();
    let members = format!(r#""taskId":"{id}""#);
    for (token, code) in [("Bearer a", 0), ("Bearer b", -32602), ("", -32602), ("Bearer a", 0)] {
        let reply = harness.ask(&request("tasks/get", &members, id, token));
        assert_eq!(reply.code(), code, "{token} {reply:?}");
    }
}
