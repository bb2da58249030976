//! Input requests during a task, in `2025-11-25` and `2026-07-28`.

use super::*;
use mcp_proto::SendError;
use mcp_proto::input::{CreateMessage, SampleMessage};

const ACCEPTED: &str = r#"{"action":"accept","content":{"name":"Ada"}}"#;

/// Adds an input request to the last task.
fn ask(host: &mut Host, key: &str) -> Result<(), SendError> {
    let ticket = host.last();
    host.server.task(ticket).unwrap().require_input(key, &FORM)
}

fn answer(host: &mut Host, id: &str, responses: Value) -> Value {
    host.modern("tasks/update", json!({"taskId": id, "inputResponses": responses}))
}

fn accepted() -> Value {
    serde_json::from_str(ACCEPTED).unwrap()
}

fn keys(task: &Value) -> Vec<&str> {
    task["inputRequests"].as_object().map(|it| it.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn open_input_requests_are_part_of_the_task() {
    // TX-9
    let mut host = Host::extension();
    let id = host.create();
    ask(&mut host, "who").unwrap();
    let task = host.get(&id);
    assert_eq!(task["status"], "input_required");
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let params = json!({"mode": "form", "message": "Who are you?", "requestedSchema": schema});
    assert_eq!(task["inputRequests"], json!({"who": {"method": "elicitation/create", "params": params}}));
    host.server.task(host.last()).unwrap().set_message("waiting").unwrap();
    let task = host.get(&id);
    assert_eq!((keys(&task), &task["statusMessage"]), (vec!["who"], &json!("waiting")));
}

#[test]
fn responses_close_their_input_requests() {
    // TX-12, TX-13
    for (first, left) in [("a", ["b", "c\""]), ("b", ["a", "c\""]), ("c\"", ["a", "b"])] {
        let mut host = Host::extension();
        let id = host.create();
        for key in ["a", "b", "c\""] {
            ask(&mut host, key).unwrap();
        }
        let response = answer(&mut host, &id, json!({first: accepted(), "unknown": {}}));
        assert_eq!(response["result"], json!({"resultType": "complete"}));
        let raw = first.replace('"', "\\\"");
        let result: Value = accepted();
        assert_eq!(host.take_events(), [format!("input 0 {raw}=Result({result})")]);
        let task = host.get(&id);
        assert_eq!((&task["status"], keys(&task)), (&json!("input_required"), left.to_vec()));
        // A repeated response is ignored.
        answer(&mut host, &id, json!({first: accepted()}));
        assert!(host.take_events().is_empty());
        answer(&mut host, &id, json!({left[0]: accepted(), left[1]: accepted()}));
        assert_eq!(host.take_events().len(), 1, "one event for both");
        assert_eq!(host.get(&id)["status"], "working");
        host.complete("done");
        assert_eq!(host.get(&id)["status"], "completed");
    }
}

#[test]
fn responses_without_input_requests_are_acknowledged() {
    // TX-13
    let mut host = Host::extension();
    let id = host.create();
    for responses in [json!({}), json!({"a": {}})] {
        assert_eq!(answer(&mut host, &id, responses)["result"], json!({"resultType": "complete"}));
    }
    for wrong in [json!(null), json!(7), json!([])] {
        assert_eq!(code(&answer(&mut host, &id, wrong)), -32602);
    }
    host.complete("done");
    answer(&mut host, &id, json!({"content": {}}));
    assert!(host.take_events().iter().all(|event| event == "InvalidParams"));
}

#[test]
fn many_responses_are_taken_in_parts() {
    // TX-13
    let mut host = Host::extension();
    let id = host.create();
    ask(&mut host, "last").unwrap();
    let mut responses = serde_json::Map::new();
    for at in 0..40 {
        responses.insert(format!("k{at}"), json!({}));
    }
    responses.insert("last".into(), accepted());
    answer(&mut host, &id, Value::Object(responses));
    assert!(host.take_events().is_empty());
    assert_eq!(host.get(&id)["status"], "input_required");
    answer(&mut host, &id, json!({"last": accepted()}));
    assert_eq!(host.get(&id)["status"], "working");
}

#[test]
fn refused_input_request_changes_nothing() {
    // TX-11
    let mut host = Host::extension();
    let id = host.create();
    ask(&mut host, "a").unwrap();
    assert_eq!(ask(&mut host, "a"), Err(SendError::Invalid), "the key is open");
    assert_eq!(ask(&mut host, &"x".repeat(600)), Err(SendError::Unwritable), "no space");
    static MESSAGES: [SampleMessage; 1] = [SampleMessage::user("hi")];
    let sampling = CreateMessage::new(&MESSAGES, 10);
    let ticket = host.last();
    let refused = host.server.task(ticket).unwrap().require_input("s", &sampling);
    assert_eq!(refused, Err(SendError::Unsupported));
    assert_eq!(keys(&host.get(&id)), ["a"]);
}

#[test]
fn result_that_does_not_fit_leaves_the_task_open() {
    let mut host = Host::extension();
    let id = host.create();
    ask(&mut host, "a").unwrap();
    let ticket = host.last();
    let long = "x".repeat(700);
    for now in [1000, 2000] {
        host.at(now);
        let task = host.server.task(ticket).unwrap();
        assert_eq!(task.complete(|result| result.text(&*long)), Err(SendError::Unwritable));
        // The first failed `complete` removes the input request. The second has nothing to remove, and does not
        // change the task.
        let task = host.get(&id);
        assert_eq!(
            (&task["status"], &task["lastUpdatedAt"]),
            (&json!("working"), &json!("2026-07-28T09:30:01.000Z"))
        );
    }
    host.complete("short");
    assert_eq!(host.get(&id)["result"]["content"][0]["text"], "short");
}

#[test]
fn ended_task_has_no_input_requests() {
    let mut host = Host::extension();
    let id = host.create();
    ask(&mut host, "a").unwrap();
    host.modern("tasks/cancel", json!({"taskId": id}));
    let task = host.get(&id);
    assert_eq!((&task["status"], &task["inputRequests"]), (&json!("cancelled"), &Value::Null));
    answer(&mut host, &id, json!({"a": accepted()}));
    assert_eq!(host.take_events(), ["cancelled 0"]);
}

#[test]
fn input_request_of_a_session_is_a_related_request() {
    // TC-27, TC-29
    let mut host = Host::core();
    let id = host.create_core();
    ask(&mut host, "who").unwrap();
    let asked = host.take().remove(0);
    assert_eq!(asked["method"], "elicitation/create");
    let related = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
    assert_eq!((&asked["params"]["message"], &asked["params"]["_meta"]), (&json!("Who are you?"), &related));
    assert_eq!(host.get_core(&id)["status"], "input_required");
    // The request has no timeout of its own. Without a response, it stays in flight as long as the task is open.
    host.at(200_000);
    assert!(host.take().is_empty() && host.take_events().is_empty());
    host.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted()}));
    assert_eq!(host.take_events(), [format!("input 0 who=Result({ACCEPTED})")]);
    assert_eq!(host.get_core(&id)["status"], "working");
    host.complete("done");
    assert_eq!(host.get_core(&id)["status"], "completed");
}

#[test]
fn several_input_requests_of_a_session_end_one_by_one() {
    // TC-29
    let mut host = Host::core();
    let id = host.create_core();
    host.server.task(host.last()).unwrap().set_message("asking").unwrap();
    let asked = ["a", "b\""].map(|key| {
        ask(&mut host, key).unwrap();
        host.take().remove(0)
    });
    host.send(&json!({"jsonrpc": "2.0", "id": asked[1]["id"], "error": {"code": -1, "message": "no"}}));
    let events = host.take_events();
    assert!(events[0].starts_with(r#"input 0 b\"=Error("#), "{events:?}");
    let task = host.get_core(&id);
    assert_eq!((&task["status"], &task["statusMessage"]), (&json!("input_required"), &json!("asking")));
    host.send(&json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": accepted()}));
    assert_eq!(host.get_core(&id)["status"], "working");
    // A second response to a request is ignored.
    host.send(&json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": accepted()}));
    assert_eq!(host.take_events().len(), 1);
}

#[test]
fn cancelled_task_cancels_its_requests() {
    // TC-24, TC-27
    let mut host = Host::core();
    let id = host.create_core();
    ask(&mut host, "who").unwrap();
    let asked = host.take().remove(0);
    host.start("tasks/cancel", json!({"taskId": id}));
    let messages = host.take();
    assert_eq!(messages[0]["result"]["status"], "cancelled");
    assert_eq!(messages[1]["method"], "notifications/cancelled");
    let related = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
    assert_eq!(messages[1]["params"], json!({"requestId": asked["id"], "_meta": related}));
    host.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted()}));
    assert_eq!(host.take_events(), ["cancelled 0"]);
}

#[test]
fn removed_task_is_related_to_the_late_cancellation() {
    // TC-27
    let mut host = Host::core();
    let id = host.create_core();
    ask(&mut host, "who").unwrap();
    host.server.remove_task(host.last());
    // While the request is unsent, the transmit buffer has no space for the cancellation.
    assert!(matches!(host.server.poll(host.now), Action::Io(_)));
    let messages = host.take();
    assert_eq!(messages[1]["method"], "notifications/cancelled");
    let related = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
    assert_eq!(messages[1]["params"], json!({"requestId": messages[0]["id"], "_meta": related}));
    // The slot of the task is free again.
    let ids: Vec<_> = (0..3).map(|_| host.create_core()).collect();
    assert!(!ids.contains(&id));
}

#[test]
fn lost_connection_ends_the_input_requests_of_a_session() {
    let mut host = Host::core();
    host.create_core();
    ask(&mut host, "who").unwrap();
    host.server.shutdown(host.now);
    assert_eq!(host.take_events(), ["input 0 who=Failed(Closed)"]);
}

#[test]
fn input_request_of_an_ending_session_is_refused() {
    let mut host = Host::core();
    host.create_core();
    host.deferred = Some(Vec::new());
    host.start("tools/call", json!({"name": "plain"}));
    host.server.shutdown(host.now);
    assert!(host.take().is_empty(), "the call is in flight");
    assert_eq!(ask(&mut host, "who"), Err(SendError::NotConnected));
    host.at(100_000);
    assert_eq!(host.take_events(), ["request expired"]);
}

#[test]
fn response_to_an_input_request_needs_only_space_for_its_key() {
    // TC-29
    let table = TaskTable::new(leak([TaskSlot::EMPTY; 3]), leak([0; 3 * 8]));
    let mut host = Host::new(&CONFIG, Some(table)).session("2025-11-25");
    let id = host.create_core();
    assert_eq!(ask(&mut host, "seven b"), Err(SendError::Unwritable), "nine bytes with its quotes");
    let cancelled = host.take().remove(1);
    assert_eq!(cancelled["method"], "notifications/cancelled");
    let related = &cancelled["params"]["_meta"]["io.modelcontextprotocol/related-task"];
    assert_eq!(related["taskId"], json!(id));
    assert_eq!(host.get_core(&id)["status"], "working");
    ask(&mut host, "six by").unwrap();
    let asked = host.take().remove(0);
    host.server.task(host.last()).unwrap().set_message("12345678").unwrap();
    let task = host.get_core(&id);
    assert_eq!((&task["status"], &task["statusMessage"]), (&json!("input_required"), &json!("12345678")));
    host.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted()}));
    assert_eq!(host.take_events(), [format!("input 0 six by=Result({ACCEPTED})")]);
    // The text of the task's slot has only eight bytes, so the key of the response replaces the status message.
    let task = host.get_core(&id);
    assert_eq!((&task["status"], &task["statusMessage"]), (&json!("working"), &Value::Null));
}

#[test]
fn input_request_of_a_session_needs_space_and_a_slot() {
    let mut host = Host::core();
    host.create_core();
    for at in 0..6 {
        ask(&mut host, &format!("k{at}")).unwrap();
        host.take();
    }
    assert_eq!(ask(&mut host, "k6"), Err(SendError::Full));
    let mut other = Host::core();
    other.create_core();
    assert_eq!(ask(&mut other, &"x".repeat(40)), Err(SendError::Unwritable), "the key does not fit");
    let messages = other.take();
    assert_eq!(messages[1]["method"], "notifications/cancelled");
    let id = other.get_core("x");
    assert!(id.is_null());
}
