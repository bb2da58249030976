//! Owners, sessions and eras: who may access a task. Ids such as `TC-32` refer to `docs/task-rules.md`.

use super::*;
use mcp_proto::server::Session;
use mcp_proto::{ClientCapabilities, Relation, Revision, SendError, SessionKey, StreamId};

#[test]
fn task_belongs_to_its_user() {
    // TX-25
    let mut host = Host::extension();
    host.server.set_user(1);
    let id = host.create();
    host.server.set_user(2);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let refused = host.modern(method, json!({"taskId": id, "inputResponses": {}}));
        assert_eq!(code(&refused), -32602, "{method}");
    }
    host.server.set_user(1);
    assert_eq!(host.get(&id)["status"], "working");
}

#[test]
fn session_task_belongs_to_its_user() {
    // TC-32
    let mut host = Host::core();
    host.server.set_user(1);
    let id = host.create_core();
    host.server.set_user(2);
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
    session_with(key, ClientCapabilities::ELICITATION_FORM)
}

fn session_with(key: u16, capabilities: ClientCapabilities) -> Session {
    Session::ready(SessionKey(key), Revision::V2025_11_25, capabilities)
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
    host.server.set_user(7);
    let id = host.create_core();
    host.server.replace_session(session(2)).unwrap();
    assert_eq!(host.get_core(&id)["status"], "working");
}

/// A server of several sessions in message mode, and its application.
struct Sessions {
    server: Server<'static>,
    /// The messages of the server, with their relations.
    sent: Vec<(Relation, Value)>,
    tickets: Vec<TaskTicket>,
    events: Vec<String>,
}

impl Sessions {
    fn new() -> Sessions {
        let server = Server::new(&CONFIG, leak([0; 1024]), leak([0; 1024])).unwrap();
        let server = server.in_flight(leak([Slot::EMPTY; 6]), leak([0; 6 * 40])).unwrap();
        let server = server.message_mode().unwrap().tasks(leak(table()));
        Sessions { server, sent: Vec::new(), tickets: Vec::new(), events: Vec::new() }
    }

    /// Makes another session the current session.
    fn select(&mut self, session: Session) {
        self.run();
        self.server.replace_session(session).unwrap();
    }

    /// Passes a message to the server on a stream of the session, and returns the messages of the server.
    fn post(&mut self, session: u16, stream: u16, message: &Value) -> Vec<(Relation, Value)> {
        let stream = StreamId::in_session(SessionKey(session), stream);
        let Action::Io(io) = self.server.poll(Millis(0)) else { panic!("no event is pending") };
        io.split().1.message(message.to_string().as_bytes(), stream).unwrap();
        self.run();
        std::mem::take(&mut self.sent)
    }

    /// Creates a task in a session, and returns its id.
    fn create(&mut self, session: u16) -> String {
        let params = json!({"name": "optional", "task": {}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        text(&self.post(session, 1, &call)[0].1["result"]["task"]["taskId"])
    }

    /// Requires input for the last task, and returns the messages of the server.
    fn ask(&mut self) -> Result<Vec<(Relation, Value)>, SendError> {
        let ticket = *self.tickets.last().unwrap();
        self.server.task(ticket).unwrap().require_input("who", &FORM)?;
        self.run();
        Ok(std::mem::take(&mut self.sent))
    }

    fn end_session(&mut self, session: u16) {
        let Action::Io(io) = self.server.poll(Millis(0)) else { panic!("no event is pending") };
        io.split().1.stream_closed(SessionKey(session).stream()).unwrap();
        self.run();
    }

    fn run(&mut self) {
        loop {
            match self.server.poll(Millis(0)) {
                Action::Io(io) => {
                    let out = io.split().0;
                    let Some(message) = out.frame() else { return };
                    let value = serde_json::from_slice(message.message()).unwrap();
                    self.sent.push((message.relation(), value));
                    let length = out.bytes().len();
                    out.sent(length);
                }
                Action::Event => {
                    let (event, options) = (self.server.event().unwrap(), TaskOptions::new([0; 16]));
                    handle(event, options, 1, &mut self.tickets, &mut self.events);
                }
                Action::Closed => return,
            }
        }
    }
}

/// Returns a request for a task. The id of the request is its method.
fn task_request(method: &str, id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": method, "method": method, "params": {"taskId": id}})
}

#[test]
fn tasks_of_an_ended_session_expire_unless_a_user_owns_them() {
    // TC-33
    let mut host = Sessions::new();
    host.select(session(1));
    host.create(1);
    host.server.set_user(7);
    let owned = host.create(1);
    host.server.set_user(0);
    host.end_session(1);
    assert_eq!(host.events, ["expired 0"]);
    host.select(session(2));
    host.server.set_user(7);
    let get = task_request("tasks/get", &owned);
    assert_eq!(host.post(2, 1, &get)[0].1["result"]["status"], "working");
}

#[test]
fn session_with_the_key_of_an_ended_one_sees_no_task() {
    // TC-33
    let mut host = Sessions::new();
    host.select(session(1));
    let id = host.create(1);
    let get = task_request("tasks/get", &id);
    assert_eq!(host.post(1, 2, &get)[0].1["result"]["status"], "working");
    host.end_session(1);
    host.select(session(1));
    assert_eq!(code(&host.post(1, 2, &get)[0].1), -32602);
}

#[test]
fn waiting_session_gets_the_input_request_and_responds() {
    // TC-30, TC-32
    for ends in [false, true] {
        let mut host = Sessions::new();
        host.select(session(1));
        host.server.set_user(7);
        let id = host.create(1);
        host.select(session(2));
        if ends {
            host.end_session(1);
            assert_eq!(host.ask(), Err(SendError::NotConnected), "no session gets the request");
        }
        assert!(host.post(2, 3, &task_request("tasks/result", &id)).is_empty());
        let (relation, asked) = host.ask().unwrap().remove(0);
        assert_eq!(relation, Relation::Request(StreamId::in_session(SessionKey(2), 3)));
        let response = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}});
        host.post(2, 4, &response);
        assert_eq!(host.events, [r#"input 0 who=Result({"action":"decline"})"#]);
        let status = host.post(2, 5, &task_request("tasks/get", &id)).remove(0).1;
        assert_eq!(status["result"]["status"], "working");
    }
}

#[test]
fn waiting_session_must_support_the_input_request() {
    let mut host = Sessions::new();
    host.select(session(1));
    host.server.set_user(7);
    let id = host.create(1);
    host.select(session_with(2, ClientCapabilities::NONE));
    host.post(2, 3, &task_request("tasks/result", &id));
    host.select(session(3));
    assert_eq!(host.ask(), Err(SendError::NotConnected));
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
