//! Owners, sessions and eras: who may access a task.

use super::*;
use mcp_proto::server::Session;
use mcp_proto::{SessionKey, StreamId};

#[test]
fn task_belongs_to_its_user() {
    // TX-25
    let mut host = Host::extension();
    host.server.set_task_owner(1);
    let id = host.create();
    host.server.set_task_owner(2);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let refused = host.modern(method, json!({"taskId": id, "inputResponses": {}}));
        assert_eq!(code(&refused), -32602, "{method}");
    }
    host.server.set_task_owner(1);
    assert_eq!(host.get(&id)["status"], "working");
}

#[test]
fn session_task_belongs_to_its_user() {
    // TC-32
    let mut host = Host::core();
    host.server.set_task_owner(1);
    let id = host.create_core();
    host.server.set_task_owner(2);
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(code(&host.request(method, json!({"taskId": id}))), -32602, "{method}");
    }
    let own = host.create_core();
    let listed = host.request("tasks/list", json!({}));
    assert_eq!(listed["result"]["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(listed["result"]["tasks"][0]["taskId"], own.as_str());
}

#[test]
fn client_of_another_revision_does_not_see_the_task() {
    let mut host = Host::core();
    let id = host.create_core();
    assert_eq!(code(&host.modern("tasks/get", json!({"taskId": id}))), -32602);
    let modern = host.create();
    assert_eq!(code(&host.request("tasks/get", json!({"taskId": modern}))), -32602);
    assert_eq!(host.request("tasks/list", json!({}))["result"]["tasks"].as_array().unwrap().len(), 1);
}

fn session(key: u16) -> Session {
    use mcp_proto::{ClientCapabilities, Revision};
    Session::ready(SessionKey(key), Revision::V2025_11_25, ClientCapabilities::NONE)
}

#[test]
fn without_users_a_task_belongs_to_its_session() {
    // TC-33
    let mut host = Host::extension();
    let first = host.server.replace_session(session(1)).unwrap();
    let id = host.create_core();
    let one = host.server.replace_session(session(2)).unwrap();
    assert_eq!(code(&host.request("tasks/get", json!({"taskId": id}))), -32602);
    assert!(host.request("tasks/list", json!({}))["result"]["tasks"].as_array().unwrap().is_empty());
    host.server.replace_session(one).unwrap();
    assert_eq!(host.get_core(&id)["status"], "working");
    host.server.replace_session(first).unwrap();
}

#[test]
fn user_keeps_tasks_in_another_session() {
    // TC-32
    let mut host = Host::extension();
    host.server.replace_session(session(1)).unwrap();
    host.server.set_task_owner(7);
    let id = host.create_core();
    host.server.replace_session(session(2)).unwrap();
    assert_eq!(host.get_core(&id)["status"], "working");
}

#[test]
fn session_with_the_key_of_an_ended_one_sees_no_task() {
    // TC-33
    let server = Server::new(&CONFIG, leak([0; 1024]), leak([0; 1024])).unwrap().message_mode().unwrap();
    let mut server = server.tasks(leak(table()));
    server.replace_session(session(1)).unwrap();
    let tool = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "optional", "task": {}}});
    let created = post(&mut server, &tool);
    let id = text(&created["result"]["task"]["taskId"]);
    let get = json!({"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {"taskId": id}});
    assert_eq!(post(&mut server, &get)["result"]["status"], "working");
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
    io.split().1.stream_closed(SessionKey(1).stream()).unwrap();
    assert!(matches!(server.poll(Millis(0)), Action::Io(_)));
    server.replace_session(session(2)).unwrap();
    server.replace_session(session(1)).unwrap();
    assert_eq!(code(&post(&mut server, &get)), -32602);
}

/// Sends a message of session 1 in message mode, and returns the only response.
fn post(server: &mut Server<'_>, message: &Value) -> Value {
    let stream = StreamId::in_session(SessionKey(1), 1);
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
    io.split().1.message(message.to_string().as_bytes(), stream).unwrap();
    if let Action::Event = server.poll(Millis(0)) {
        let Some(Event::Call(call)) = server.event() else { return post_response(server) };
        call.into_task(TaskOptions::new([1; 16])).unwrap();
    }
    post_response(server)
}

fn post_response(server: &mut Server<'_>) -> Value {
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("the response is written") };
    let out = io.split().0;
    let response = serde_json::from_slice(out.frame().unwrap().message()).unwrap();
    let length = out.bytes().len();
    out.sent(length);
    response
}

#[test]
fn ids_are_unique_and_hard_to_guess() {
    // TC-9, TC-33, TX-25: 128 random bits, and never the same id, even without randomness.
    let mut host = Host::extension();
    let first = host.create();
    host.next_random = 0;
    host.modern("tasks/cancel", json!({"taskId": first}));
    let ticket = host.last();
    host.server.remove_task(ticket);
    host.take();
    host.next_random = 0;
    let second = host.create();
    assert_eq!((first.len(), &first[12..]), (44, &second[12..]), "the same random bits");
    assert_ne!(first, second);
    assert_eq!(code(&host.modern("tasks/get", json!({"taskId": first}))), -32602);
    let debug = format!("{:?}", TaskOptions::new([0x5A; 16]));
    assert!(!debug.contains("90"), "{debug}");
}
