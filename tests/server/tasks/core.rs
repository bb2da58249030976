//! Tasks of `2025-11-25`: negotiation, creation, results, lists, cancellation, messages.
//!
//! Ids such as `TC-1` refer to `docs/task-rules.md`.

use super::*;
use mcp_proto::SendError;
use mcp_proto::server::TaskOutcome;

#[test]
fn server_declares_the_capability_in_its_revision() {
    // TC-1, TC-2
    for (revision, expected) in [
        ("2025-11-25", json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}})),
        ("2025-06-18", Value::Null),
    ] {
        let mut host = Host::new(&CONFIG, Some(table()));
        let client = json!({"name": "c", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let response = host.request("initialize", params);
        assert_eq!(response["result"]["capabilities"]["tasks"], expected, "{revision}");
        assert_eq!(response["result"]["capabilities"]["extensions"], Value::Null);
    }
}

#[test]
fn tool_shows_its_support_in_one_revision() {
    // TC-4
    for (revision, expected) in
        [("2025-11-25", [None, Some("optional"), Some("required")]), ("2025-06-18", [None; 3])]
    {
        let mut host = Host::new(&CONFIG, Some(table())).session(revision);
        let listed = host.request("tools/list", json!({}));
        let support = |at: usize| listed["result"]["tools"][at]["execution"]["taskSupport"].as_str();
        assert_eq!([support(0), support(1), support(2)], expected, "{revision}");
    }
}

#[test]
fn call_must_fit_the_support_of_its_tool() {
    // TC-5
    let mut host = Host::core();
    assert_eq!(code(&host.request("tools/call", json!({"name": "plain", "task": {}}))), -32601);
    assert_eq!(code(&host.request("tools/call", json!({"name": "required"}))), -32601);
    assert_eq!(code(&host.request("tools/call", json!({"name": "optional", "task": 7}))), -32602);
    assert!(host.tickets.is_empty());
    for params in
        [json!({"name": "plain"}), json!({"name": "optional"}), json!({"name": "optional", "task": null})]
    {
        assert_eq!(host.request("tools/call", params)["result"]["content"][0]["text"], "plain");
    }
    assert!(host.tickets.is_empty());
    assert!(
        host.request("tools/call", json!({"name": "required", "task": {}}))["result"]["task"].is_object()
    );
}

#[test]
fn server_without_tasks_ignores_the_member() {
    // TC-6
    static WITHOUT: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]);
    for table in [None, Some(table())] {
        let mut host = Host::new(&WITHOUT, table).session("2025-11-25");
        for name in ["plain", "optional"] {
            let response = host.request("tools/call", json!({"name": name, "task": {}}));
            assert_eq!(response["result"]["content"][0]["text"], "plain");
            assert!(host.tickets.is_empty());
        }
        for method in ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"] {
            assert_eq!(code(&host.request(method, json!({"taskId": "x"}))), -32601);
        }
    }
}

#[test]
fn requested_task_is_created() {
    // TC-8, TC-9, TC-10, TC-11, TC-14
    let mut host = Host::core();
    host.now = Millis(250);
    let created = host.request("tools/call", json!({"name": "optional", "task": {}}));
    let task = created["result"]["task"].clone();
    let expected = json!({
        "taskId": task["taskId"],
        "status": "working",
        "createdAt": "2026-07-28T09:30:00.250Z",
        "lastUpdatedAt": "2026-07-28T09:30:00.250Z",
        "ttl": 300_000,
        "pollInterval": 1000,
    });
    assert_eq!(created["result"], json!({"task": expected}));
    assert_eq!(host.get_core(&text(&task["taskId"])), expected);
    assert_ne!(host.create_core(), text(&task["taskId"]));
}

#[test]
fn requested_time_to_live_is_limited() {
    // TC-13, TC-34
    let mut host = Host::core();
    host.options = host.options.longest_ttl(Millis(10_000));
    for (requested, expected) in [(json!(5000), 5000), (json!(60_000), 10_000), (json!(-1), 300_000)] {
        let created = host.request("tools/call", json!({"name": "optional", "task": {"ttl": requested}}));
        assert_eq!(created["result"]["task"]["ttl"], expected);
    }
}

#[test]
fn result_is_that_of_the_call() {
    // TC-20, TC-22
    let mut host = Host::core();
    let id = host.create_core();
    host.complete("done");
    let related = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
    for _ in 0..2 {
        let response = host.request("tasks/result", json!({"taskId": id}));
        assert_eq!(
            response["result"],
            json!({"_meta": related, "content": [{"type": "text", "text": "done"}]})
        );
    }
    // The task itself has neither the result nor the metadata (TC-28).
    let task = host.get_core(&id);
    assert_eq!(
        (&task["status"], &task["result"], &task["_meta"]),
        (&json!("completed"), &Value::Null, &Value::Null)
    );
}

#[test]
fn result_with_metadata_has_both() {
    // TC-22
    let mut host = Host::core();
    let id = host.create_core();
    let task = host.server.task(host.last()).unwrap();
    task.complete(|result| {
        result.meta(r#"{"com.example/a":1}"#);
        result.text("done");
    })
    .unwrap();
    let response = host.request("tasks/result", json!({"taskId": id}));
    let meta = json!({"io.modelcontextprotocol/related-task": {"taskId": id}, "com.example/a": 1});
    assert_eq!(response["result"]["_meta"], meta);
}

#[test]
fn failures_are_failed_tasks() {
    // TC-17, TC-20
    let mut host = Host::core();
    let id = host.create_core();
    let mut task = host.server.task(host.last()).unwrap();
    task.set_message("no disk").unwrap();
    task.complete(|result| {
        result.text("no");
        result.failed();
    })
    .unwrap();
    let task = host.get_core(&id);
    assert_eq!((&task["status"], &task["statusMessage"]), (&json!("failed"), &json!("no disk")));
    assert_eq!(host.request("tasks/result", json!({"taskId": id}))["result"]["isError"], true);
    let id = host.create_core();
    host.server.task(host.last()).unwrap().fail(-32603, "broken").unwrap();
    assert_eq!(host.get_core(&id)["status"], "failed");
    let response = host.request("tasks/result", json!({"taskId": id}));
    assert_eq!(response["error"], json!({"code": -32603, "message": "broken"}));
}

#[test]
fn kept_results_get_the_metadata() {
    // TC-20, TC-22
    let mut host = Host::core();
    let id = host.create_core();
    host.server.task(host.last()).unwrap().finish(TaskOutcome::ToolFailed);
    assert_eq!(host.get_core(&id)["status"], "failed");
    let response = host.request("tasks/result", json!({"taskId": id}));
    let related = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
    assert_eq!(response["result"], json!({"_meta": related, "content": [{"type": "text", "text": "kept"}]}));
    let kept = json!([{"type": "text", "text": "kept"}]);
    for (word, outcome, member, expected) in [
        ("error", TaskOutcome::Failed, "error", json!({"code": 7, "message": "kept"})),
        ("error with data", TaskOutcome::Failed, "error", json!({"code": 7, "message": "kept", "data": 1})),
        ("failure", TaskOutcome::ToolFailed, "result", json!({"content": kept, "isError": true})),
        (
            "structured",
            TaskOutcome::Completed,
            "result",
            json!({"content": [{"type": "text", "text": "{\"n\":1}"}], "structuredContent": {"n": 1}}),
        ),
    ] {
        let mut host = Host::core();
        let id = host.create_core();
        host.server.task(host.last()).unwrap().finish(outcome);
        host.events.push(word.into());
        let mut response = host.request("tasks/result", json!({"taskId": id}));
        response[member].as_object_mut().unwrap_or_else(|| panic!("{word}")).remove("_meta");
        assert_eq!(response[member], expected, "{word}");
    }
}

#[test]
fn result_waits_for_the_end_of_the_task() {
    // TC-21
    let mut host = Host::core();
    let id = host.create_core();
    let waiting = [
        host.start("tasks/result", json!({"taskId": id})),
        host.start("tasks/result", json!({"taskId": id})),
    ];
    host.at(200_000);
    assert!(host.take().is_empty());
    host.server.task(host.last()).unwrap().set_message("soon").unwrap();
    assert!(host.take().is_empty());
    host.complete("done");
    let responses = host.take();
    assert_eq!(responses.iter().map(|it| it["id"].as_u64().unwrap()).collect::<Vec<_>>(), waiting);
    assert!(responses.iter().all(|it| it["result"]["content"][0]["text"] == "done"), "{responses:?}");
    assert_eq!(host.server.deferred(), 0);
}

#[test]
fn waiting_requests_get_kept_results_errors_and_cancellations() {
    // TC-21
    let mut host = Host::core();
    let id = host.create_core();
    for _ in 0..2 {
        host.start("tasks/result", json!({"taskId": id}));
    }
    host.server.task(host.last()).unwrap().finish(TaskOutcome::Completed);
    let responses = host.take();
    assert_eq!(responses.len(), 2);
    assert!(responses.iter().all(|it| it["result"]["content"][0]["text"] == "kept"), "{responses:?}");
    assert_eq!(host.take_events(), ["result 0", "result 0"]);

    let id = host.create_core();
    host.start("tasks/result", json!({"taskId": id}));
    host.events.push("drop".into());
    host.server.task(host.last()).unwrap().finish(TaskOutcome::Completed);
    assert_eq!(code(&host.take()[0]), -32603);
    assert_eq!(host.take_events(), ["drop", "result 1", "Unanswered"]);

    let id = host.create_core();
    let waiting = host.start("tasks/result", json!({"taskId": id}));
    host.start("tasks/cancel", json!({"taskId": id}));
    let responses = host.take();
    assert_eq!(responses[0]["result"]["status"], "cancelled");
    assert_eq!((&responses[1]["id"], code(&responses[1])), (&json!(waiting), -32603));
}

#[test]
fn waiting_request_can_be_cancelled() {
    let mut host = Host::core();
    let id = host.create_core();
    let waiting = host.start("tasks/result", json!({"taskId": id}));
    host.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}}),
    );
    assert_eq!((host.take_events(), host.server.deferred()), (vec!["request cancelled".to_owned()], 0));
    host.complete("done");
    assert!(host.take().is_empty());
    assert_eq!(host.get_core(&id)["status"], "completed");
}

#[test]
fn waiting_request_ends_with_the_connection() {
    let mut host = Host::core();
    let id = host.create_core();
    host.start("tasks/result", json!({"taskId": id}));
    host.server.shutdown(host.now);
    assert!(host.take().is_empty());
    host.at(10_000);
    assert_eq!(code(&host.take()[0]), -32603);
    assert_eq!(host.server.state(), mcp_proto::State::Closed);
}

#[test]
fn every_slot_may_wait_but_no_more() {
    let mut host = Host::core();
    let id = host.create_core();
    for _ in 0..6 {
        host.start("tasks/result", json!({"taskId": id}));
    }
    assert_eq!(code(&host.request("tasks/result", json!({"taskId": id}))), -32603);
}

#[test]
fn list_has_every_task_of_the_session_once() {
    // TC-23
    let mut host = Host::core();
    let mut ids: Vec<_> = (0..3).map(|_| host.create_core()).collect();
    host.complete("done");
    let listed = host.request("tasks/list", json!({}));
    let tasks = listed["result"]["tasks"].as_array().unwrap();
    assert_eq!(tasks.iter().map(|task| text(&task["taskId"])).collect::<Vec<_>>(), ids);
    assert_eq!((&tasks[2]["status"], &listed["result"]["nextCursor"]), (&json!("completed"), &Value::Null));
    let first = host.tickets[0];
    host.server.remove_task(first);
    ids.remove(0);
    let listed = host.request("tasks/list", json!({}));
    assert_eq!(listed["result"]["tasks"].as_array().unwrap().len(), 2);
    for cursor in [json!("x"), json!("p9"), json!(7)] {
        assert_eq!(code(&host.request("tasks/list", json!({"cursor": cursor}))), -32602, "{cursor}");
    }
    assert_eq!(
        host.request("tasks/list", json!({"cursor": "p2"}))["result"]["tasks"][0]["taskId"],
        ids[1].as_str()
    );
}

#[test]
fn long_list_has_pages() {
    // TC-23
    let (rx, tx) = (leak([0; 1024]), leak([0; 1024]));
    let mut host = Host::core();
    host.server = Server::new(&CONFIG, rx, tx)
        .unwrap()
        .tasks(leak(TaskTable::new(leak([TaskSlot::EMPTY; 9]), &mut [])));
    let mut host = host.session("2025-11-25");
    let ids: Vec<_> = (0..9).map(|_| host.create_core()).collect();
    let (mut found, mut cursor, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let listed = host.request("tasks/list", cursor)["result"].clone();
        found.extend(listed["tasks"].as_array().unwrap().iter().map(|task| text(&task["taskId"])));
        pages += 1;
        match listed["nextCursor"].as_str() {
            Some(next) => cursor = json!({"cursor": next}),
            None => break,
        }
    }
    assert_eq!(found, ids);
    assert!(pages > 2, "{pages}");
}

#[test]
fn list_needs_its_declaration() {
    // TC-23, TC-33
    static UNLISTED: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS, &Tasks::new()]);
    let mut host = Host::new(&UNLISTED, Some(table())).session("2025-11-25");
    host.create_core();
    assert_eq!(code(&host.request("tasks/list", json!({}))), -32601);
}

#[test]
fn list_of_a_server_without_a_table_is_empty() {
    let mut host = Host::new(&CONFIG, None).session("2025-11-25");
    assert_eq!(host.request("tasks/list", json!({}))["result"], json!({"tasks": []}));
}

#[test]
fn cancelled_task_stays_cancelled() {
    // TC-16, TC-18, TC-24
    let mut host = Host::core();
    let id = host.create_core();
    let ticket = host.last();
    let cancelled = host.request("tasks/cancel", json!({"taskId": id}));
    assert_eq!(
        (&cancelled["result"]["status"], &cancelled["result"]["taskId"]),
        (&json!("cancelled"), &json!(id))
    );
    assert_eq!(host.take_events(), ["cancelled 0"]);
    assert_eq!(host.server.task(ticket).map(drop), Err(SendError::Gone));
    assert_eq!(host.get_core(&id)["status"], "cancelled");
    assert_eq!(code(&host.request("tasks/cancel", json!({"taskId": id}))), -32602);
    assert_eq!(code(&host.request("tasks/result", json!({"taskId": id}))), -32603);
}

#[test]
fn ended_task_cannot_be_cancelled_or_changed() {
    // TC-16, TC-24
    let mut host = Host::core();
    let id = host.create_core();
    host.complete("done");
    assert_eq!(code(&host.request("tasks/cancel", json!({"taskId": id}))), -32602);
    let ticket = host.last();
    assert_eq!(host.server.task(ticket).map(drop), Err(SendError::Gone));
    assert_eq!(host.get_core(&id)["status"], "completed");
    assert!(host.take_events().iter().all(|event| event == "InvalidParams"));
}

#[test]
fn unknown_task_is_refused() {
    // TC-25
    let mut host = Host::core();
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(code(&host.request(method, json!({"taskId": "x"}))), -32602, "{method}");
        assert_eq!(code(&host.request(method, json!({}))), -32602, "{method}");
    }
}

#[test]
fn changed_status_is_notified_on_request() {
    // TC-31, TC-28
    let mut host = Host::new(&CONFIG, Some(table().notify_sessions())).session("2025-11-25");
    let id = host.create_core();
    let ticket = host.last();
    host.server.task(ticket).unwrap().set_message("half").unwrap();
    host.server.task(ticket).unwrap().set_message("more").unwrap();
    let messages = host.take();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["method"], "notifications/tasks/status");
    let params = &messages[0]["params"];
    assert_eq!(
        (&params["taskId"], &params["statusMessage"], &params["_meta"]),
        (&json!(id), &json!("more"), &Value::Null)
    );
    assert_eq!(*params, host.get_core(&id));
    // The notification precedes the result of a waiting request.
    host.start("tasks/result", json!({"taskId": id}));
    host.complete("done");
    let messages = host.take();
    assert_eq!(messages[0]["params"]["status"], "completed");
    assert_eq!(messages[1]["result"]["content"][0]["text"], "done");
    // Without `notify_sessions`, the server sends no notifications, so clients poll.
    let mut silent = Host::core();
    silent.create_core();
    silent.complete("done");
    assert!(silent.take().is_empty());
}

#[test]
fn progress_continues_after_the_response() {
    // TC-15, TC-27
    let mut host = Host::core();
    let params = json!({"name": "optional", "task": {}, "_meta": {"progressToken": "p"}});
    let created = host.request("tools/call", params);
    let id = text(&created["result"]["task"]["taskId"]);
    let ticket = host.last();
    host.server.task(ticket).unwrap().set_message("half").unwrap();
    host.server.task(ticket).unwrap().progress(1, Some(2.into()), "one").unwrap();
    assert_eq!(host.server.task(ticket).unwrap().progress(1, None, ""), Err(SendError::NotWanted));
    let related = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
    let expected =
        json!({"progressToken": "p", "progress": 1, "total": 2, "message": "one", "_meta": related});
    let messages = host.take();
    assert_eq!((messages.len(), &messages[0]["params"]), (1, &expected));
    assert_eq!(host.get_core(&id)["statusMessage"], "half");
    host.create_core();
    let ticket = host.last();
    assert_eq!(
        host.server.task(ticket).unwrap().progress(1, None, ""),
        Err(SendError::NotWanted),
        "no token"
    );
}

#[test]
fn only_a_server_with_the_feature_gets_a_table() {
    let table = CONFIG.grown_tasks(4, 256).unwrap();
    assert!(table.is_empty());
    static WITHOUT: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]);
    assert!(WITHOUT.grown_tasks(4, 256).is_none());
}
