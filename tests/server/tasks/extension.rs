//! Tasks of the extension (`2026-07-28`): creation, status, results, cancellation.
//!
//! Ids such as `TX-1` refer to `docs/task-rules.md`.

use super::*;
use mcp_proto::SendError;
use mcp_proto::server::TaskOutcome;

#[test]
fn server_declares_the_extension_beside_others() {
    // TX-1, TX-19
    let discovered = Host::extension().modern("server/discover", json!({}));
    let capabilities = &discovered["result"]["capabilities"];
    assert_eq!(
        capabilities["extensions"],
        json!({"com.example/other": {"a": 1}, "io.modelcontextprotocol/tasks": {}})
    );
    assert_eq!(capabilities["tasks"], Value::Null);
}

#[test]
fn call_of_a_declaring_client_becomes_a_task() {
    // TX-2, TX-5, TX-6, TX-7
    let mut host = Host::extension();
    let created = host.modern("tools/call", json!({"name": "optional"}));
    let id = text(&created["result"]["taskId"]);
    let expected = json!({
        "resultType": "task",
        "taskId": id,
        "status": "working",
        "createdAt": "2026-07-28T09:30:00.000Z",
        "lastUpdatedAt": "2026-07-28T09:30:00.000Z",
        "ttlMs": 300_000,
        "pollIntervalMs": 1000,
    });
    assert_eq!(created["result"], expected);
    let mut detailed = expected;
    detailed["resultType"] = "complete".into();
    assert_eq!(host.get(&id), detailed);
}

#[test]
fn call_of_another_client_gets_its_result() {
    // TX-2, TX-18, TX-19: neither the old capability nor the old member declares the extension.
    for capabilities in ["{}", r#"{"tasks":{}}"#, r#"{"extensions":{"io.modelcontextprotocol/tasks":7}}"#] {
        let mut host = Host::extension();
        let params = with_meta(json!({"name": "optional", "task": {"ttl": 1}}), capabilities);
        let response = host.request("tools/call", params);
        assert_eq!(response["result"]["resultType"], "complete", "{capabilities}");
        assert!(host.tickets.is_empty());
    }
}

#[test]
fn methods_need_the_declaration() {
    // TX-17
    let mut host = Host::extension();
    let id = host.create();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let refused = host.request(method, with_meta(json!({"taskId": id, "inputResponses": {}}), "{}"));
        let needed = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        assert_eq!((code(&refused), &refused["error"]["data"]["requiredCapabilities"]), (-32021, &needed));
    }
    assert_eq!(host.get(&id)["status"], "working");
}

#[test]
fn tool_that_requires_a_task_refuses_other_clients() {
    // TX-4
    let mut host = Host::extension();
    let refused = host.request("tools/call", with_meta(json!({"name": "required"}), "{}"));
    assert_eq!(code(&refused), -32021);
    assert_eq!(
        refused["error"]["data"]["requiredCapabilities"]["extensions"],
        json!({"io.modelcontextprotocol/tasks": {}})
    );
    assert_eq!(host.modern("tools/call", json!({"name": "required"}))["result"]["resultType"], "task");
}

#[test]
fn removed_methods_are_unknown() {
    // TX-18
    for method in ["tasks/result", "tasks/list"] {
        assert_eq!(code(&Host::extension().modern(method, json!({"taskId": "x"}))), -32601, "{method}");
    }
}

#[test]
fn legacy_member_makes_no_task() {
    // TX-18
    let mut host = Host::extension();
    let response = host.modern("tools/call", json!({"name": "plain", "task": {"ttl": 60000}}));
    assert_eq!(response["result"]["resultType"], "task", "the application decides for every tool");
    let unknown = host.modern("tools/call", json!({"name": "optional", "task": 7}));
    assert_eq!(unknown["result"]["resultType"], "task");
}

#[test]
fn stored_result_is_that_of_the_call() {
    // TX-5, TX-9, TX-10
    let mut host = Host::extension();
    let id = host.create();
    host.at(1500);
    host.complete("done");
    let task = host.get(&id);
    assert_eq!((&task["resultType"], &task["status"]), (&json!("complete"), &json!("completed")));
    assert_eq!(task["lastUpdatedAt"], "2026-07-28T09:30:01.500Z");
    let content = json!([{"type": "text", "text": "done"}]);
    assert_eq!(task["result"], json!({"resultType": "complete", "content": content}));
    assert_eq!(task["error"], Value::Null);
}

#[test]
fn tool_failure_is_a_completed_task() {
    // TX-10
    let mut host = Host::extension();
    let id = host.create();
    let task = host.server.task(host.last()).unwrap();
    task.complete(|result| {
        result.text("no");
        result.failed();
    })
    .unwrap();
    let task = host.get(&id);
    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)));
}

#[test]
fn protocol_error_is_a_failed_task() {
    // TX-9, TX-10
    let mut host = Host::extension();
    let id = host.create();
    host.server.task(host.last()).unwrap().fail(-32603, "broken").unwrap();
    let task = host.get(&id);
    assert_eq!(task["status"], "failed");
    assert_eq!(task["error"], json!({"code": -32603, "message": "broken"}));
    assert_eq!(task["result"], Value::Null);
}

#[test]
fn application_writes_results_that_it_keeps() {
    // TX-9
    let mut host = Host::extension();
    let id = host.create();
    host.server.task(host.last()).unwrap().finish(TaskOutcome::Completed);
    for _ in 0..2 {
        let task = host.get(&id);
        assert_eq!(
            (&task["status"], &task["result"]["content"][0]["text"]),
            (&json!("completed"), &json!("kept"))
        );
        assert_eq!(task["result"]["resultType"], "complete");
    }
    assert_eq!(host.take_events(), ["result 0", "result 0"]);
    let failed = host.create();
    host.server.task(host.last()).unwrap().finish(TaskOutcome::Failed);
    host.events.push("error".into());
    let task = host.get(&failed);
    assert_eq!((&task["status"], &task["error"]), (&json!("failed"), &json!({"code": 7, "message": "kept"})));
}

#[test]
fn kept_result_of_another_kind_is_an_application_error() {
    let mut host = Host::extension();
    let id = host.create();
    host.server.task(host.last()).unwrap().finish(TaskOutcome::Failed);
    let response = host.modern("tasks/get", json!({"taskId": id}));
    assert_eq!(code(&response), -32603);
    assert_eq!(host.take_events(), ["result 0", "InvalidReply"]);
    host.events.push("drop".into());
    assert_eq!(code(&host.modern("tasks/get", json!({"taskId": id}))), -32603);
    assert_eq!(host.take_events(), ["drop", "result 0", "Unanswered"]);
}

#[test]
fn message_is_part_of_the_task() {
    // TX-6
    let mut host = Host::extension();
    let id = host.create();
    let ticket = host.last();
    let (long, quotes) = ("ä".repeat(100), "\"".repeat(100));
    let short = ["1 of 3", "2 \"of\" 3"].map(|message| (message, message));
    for (message, expected) in short.into_iter().chain([(&*quotes, &quotes[..64]), (&long, &long[..128])]) {
        host.server.task(ticket).unwrap().set_message(message).unwrap();
        assert_eq!(host.get(&id)["statusMessage"], expected);
    }
    host.complete("done");
    assert_eq!(host.get(&id)["statusMessage"], &long[..128]);
    assert_eq!(host.get(&id)["result"]["content"][0]["text"], "done");
}

#[test]
fn cancellation_is_acknowledged_with_an_empty_result() {
    // TX-5, TX-14
    let mut host = Host::extension();
    let id = host.create();
    let ticket = host.last();
    let cancelled = host.modern("tasks/cancel", json!({"taskId": id}));
    assert_eq!(cancelled["result"], json!({"resultType": "complete"}));
    assert_eq!(host.take_events(), ["cancelled 0"]);
    assert_eq!(host.get(&id)["status"], "cancelled");
    assert_eq!(host.server.task(ticket).map(drop), Err(SendError::Gone));
    // The cancellation of an ended task is acknowledged, too.
    let again = host.modern("tasks/cancel", json!({"taskId": id}));
    assert_eq!(again["result"], json!({"resultType": "complete"}));
    assert!(host.take_events().is_empty());
}

#[test]
fn cancelled_notification_does_not_cancel_a_task() {
    // TX-15
    let mut host = Host::extension();
    let id = host.create();
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert!(host.take_events().is_empty());
    assert_eq!(host.get(&id)["status"], "working");
}

#[test]
fn unknown_task_is_refused() {
    // TX-16
    let mut host = Host::extension();
    let id = host.create();
    for wrong in [json!("x"), json!(""), json!(id[..43]), json!(id.replace("abab", "abac"))] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let refused = host.modern(method, json!({"taskId": wrong, "inputResponses": {}}));
            assert_eq!(code(&refused), -32602, "{method} {wrong}");
        }
    }
    assert_eq!(code(&host.modern("tasks/get", json!({}))), -32602);
    assert_eq!(code(&host.modern("tasks/get", json!({"taskId": 7}))), -32602);
    // Escapes do not change an id.
    let escaped = format!(r#"{{"taskId":"\u00{:x}{}"}}"#, id.as_bytes()[0], &id[1..]);
    let line = with_meta(json!({}), DECLARED).to_string().replacen(
        '{',
        &(escaped[..escaped.len() - 1].to_owned() + ","),
        1,
    );
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"tasks/get\",\"params\":{line}}}\n");
    host.run(&mut line.as_bytes());
    assert_eq!(host.take()[0]["result"]["status"], "working");
}

#[test]
fn task_of_the_extension_sends_no_progress() {
    // TX-21
    let mut host = Host::extension();
    let mut params = with_meta(json!({"name": "optional"}), DECLARED);
    params["_meta"]["progressToken"] = json!("p");
    host.request("tools/call", params);
    let ticket = host.last();
    assert_eq!(host.server.task(ticket).unwrap().progress(1, None, ""), Err(SendError::NotWanted));
    assert!(host.take().is_empty());
}

#[test]
fn task_may_have_no_limit_and_no_poll_interval() {
    // TX-6
    let mut host = Host::extension();
    host.options = host.options.ttl(Millis(u64::MAX)).poll_interval(Millis(0));
    let id = host.create();
    let task = host.get(&id);
    assert!(task.get("ttlMs").is_some_and(Value::is_null) && task.get("pollIntervalMs").is_none(), "{task}");
    host.at(u64::MAX / 2);
    assert_eq!(host.get(&id)["status"], "working");
}
