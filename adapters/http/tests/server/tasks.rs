//! Tasks over HTTP: their users.

use super::support::{Harness, Request};
use mcp_proto::Server;
use mcp_proto::server::{ServerConfig, Slot, TaskSlot, TaskTable, Tasks, Tool, Tools};
use mcp_proto_http::server::HttpConfig;

static TOOLS: Tools = Tools::new(&[Tool::new("task", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS, &Tasks::new()]);

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

/// TC-32, TX-25: a task belongs to the user whose request created it.
#[test]
fn task_belongs_to_the_user_of_its_request() {
    let mut harness = Harness::new(HttpConfig::new());
    let table = leak(TaskTable::new(leak([TaskSlot::EMPTY; 2]), leak([0; 200])));
    let server =
        Server::new(&CONFIG, leak([0; 4096]).as_mut_slice(), leak([0; 4096]).as_mut_slice()).unwrap();
    let server = server.message_mode().unwrap().in_flight(leak([Slot::EMPTY; 2]), leak([0; 64])).unwrap();
    harness.server = server.tasks(table);
    let created = harness.ask(&request("tools/call", r#""name":"task""#, "task", "Bearer a"));
    let (_, rest) = created.body.split_once(r#""taskId":""#).unwrap();
    let (id, _) = rest.split_once('"').unwrap();
    let members = format!(r#""taskId":"{id}""#);
    for (token, code) in [("Bearer a", 0), ("Bearer b", -32602), ("", -32602), ("Bearer a", 0)] {
        let reply = harness.ask(&request("tasks/get", &members, id, token));
        assert_eq!(reply.code(), code, "{token} {reply:?}");
    }
}
