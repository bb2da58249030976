//! Deferred calls that become tasks automatically. Ids such as `TX-2` refer to `docs/task-rules.md`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use mcp_proto::server::{ChunkedContent, Reply, RequestOptions, ResponseStatus};
use mcp_proto::{Level, ProtocolError, SendError};

static AUTOMATIC: Tasks = Tasks::new().list().automatic(Millis(2000), || TaskOptions::new([7; 16]));
static SLOW: ServerConfig = ServerConfig::new("s", "1")
    .features(&[&TOOLS, &AUTOMATIC, &Subscriptions, &mcp_proto::server::Logging])
    .anonymous_results();

impl Host {
    /// Creates a server with automatic tasks, and an application that defers each call.
    pub(super) fn automatic(table: TaskTable<'static>) -> Host {
        let mut host = Host::new(&SLOW, Some(table));
        host.deferred = Some(Vec::new());
        host
    }

    /// Calls a tool in `2026-07-28`, without waiting for the response.
    fn call(&mut self, tool: &str, capabilities: &str) -> u64 {
        self.start("tools/call", with_meta(json!({"name": tool}), capabilities))
    }

    /// Responds to the last deferred call.
    fn reply(&mut self, respond: impl FnOnce(Reply<'_>)) {
        let call = *self.deferred.as_ref().unwrap().last().unwrap();
        respond(self.server.reply(call).unwrap());
    }

    /// Calls the tool `optional` in `2025-11-25` with a task, and returns the event.
    fn receive_call(&mut self) -> Call<'_> {
        let params = json!({"name": "optional", "task": {"ttl": 60_000}, "_meta": {"progressToken": 1}});
        let line =
            format!("{}\n", json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}));
        let mut input = line.as_bytes();
        while let Action::Io(io) = self.server.poll(self.now) {
            assert!(exchange(io, &mut input, &mut self.output));
        }
        let Some(Event::Call(call)) = self.server.event() else { panic!("a call") };
        call
    }

    /// Calls the tool `optional` in `2025-11-25` with a task, and passes the event to `handle`. Returns the response.
    pub(super) fn call_with_task(&mut self, handle: impl FnOnce(Call<'_>)) -> Value {
        handle(self.receive_call());
        let mut messages = self.take();
        assert_eq!((messages.len(), &messages[0]["id"]), (1, &json!(7)), "{messages:?}");
        messages.remove(0)
    }

    /// Creates an automatic task of `2026-07-28`, and returns its id.
    fn create_automatic(&mut self) -> String {
        self.call("optional", DECLARED);
        self.at(self.now.0 + 2000);
        let messages = self.take();
        assert_eq!(messages.len(), 1, "{messages:?}");
        text(&messages[0]["result"]["taskId"])
    }
}

#[test]
fn slow_call_becomes_a_task_that_its_response_ends() {
    // TX-2, TX-5, TX-7, TX-9
    let mut host = Host::automatic(table());
    let id = host.call("optional", DECLARED);
    host.at(1999);
    assert!(host.take().is_empty());
    host.at(2000);
    let created = host.take().remove(0);
    let task = text(&created["result"]["taskId"]);
    let expected = json!({
        "resultType": "task",
        "taskId": task,
        "status": "working",
        "createdAt": "2026-07-28T09:30:02.000Z",
        "lastUpdatedAt": "2026-07-28T09:30:02.000Z",
        "ttlMs": 300_000,
        "pollIntervalMs": 1000,
    });
    assert_eq!((&created["id"], &created["result"]), (&json!(id), &expected));
    assert_eq!((host.get(&task)["status"].clone(), host.server.deferred()), ("working".into(), 0));
    host.at(9000);
    host.reply(|reply| reply.text("done"));
    let completed = host.get(&task);
    assert_eq!(completed["status"], "completed");
    let result = json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]});
    assert_eq!(completed["result"], result);
    assert!(host.take_events().is_empty());
    let call = host.deferred.as_ref().unwrap()[0];
    assert_eq!(host.server.reply(call).map(drop), Err(SendError::Gone));
}

#[test]
fn fast_call_gets_its_result_and_leaves_no_task() {
    let mut host = Host::automatic(table());
    for _ in 0..10 {
        host.call("optional", DECLARED);
        host.reply(|reply| reply.text("fast"));
        assert_eq!(host.take()[0]["result"]["content"][0]["text"], "fast");
    }
    host.at(2000);
    assert!(host.take().is_empty() && host.take_events().is_empty());
    assert_eq!(host.server.deferred(), 0);
}

#[test]
fn call_that_may_not_become_a_task_stays_a_call() {
    // TX-2: a call becomes a task only if the client declares the extension and the tool supports tasks.
    for (tool, capabilities) in [("optional", "{}"), ("plain", DECLARED)] {
        let mut host = Host::automatic(table());
        host.call(tool, capabilities);
        host.at(20_000);
        assert!(host.take().is_empty());
        host.reply(|reply| reply.text("done"));
        assert_eq!(host.take()[0]["result"]["resultType"], "complete", "{tool} {capabilities}");
    }
}

#[test]
fn call_of_a_revision_without_tasks_stays_a_call() {
    let mut host = Host::automatic(table()).session("2025-06-18");
    // The application does not defer this call, so the permission for an automatic task stays unused. The permission
    // must not apply to the next call.
    let deferred = host.deferred.take();
    host.call("optional", DECLARED);
    host.take();
    host.deferred = deferred;
    host.start("tools/call", json!({"name": "optional"}));
    host.at(20_000);
    assert!(host.take().is_empty());
    host.reply(|reply| reply.text("done"));
    assert_eq!(host.take()[0]["result"], json!({"content": [{"type": "text", "text": "done"}]}));
}

#[test]
fn client_of_2025_gets_the_task_that_it_requests_at_once() {
    // TC-3, TC-8, TC-10, TC-11, TC-13, TC-20, TC-22
    let mut host = Host::automatic(table()).session("2025-11-25");
    host.start("tools/call", json!({"name": "optional"}));
    host.at(5000);
    assert!(host.take().is_empty());
    let params = json!({"name": "optional", "task": {"ttl": 60_000}, "_meta": {"progressToken": 1}});
    let created = host.request("tools/call", params);
    let task = &created["result"]["task"];
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(60_000)));
    let id = json!({"taskId": task["taskId"]});
    host.reply(|mut reply| {
        // TC-27: progress and log messages of a task must carry its metadata. The reply of an automatic task
        // cannot add the metadata, so the server refuses both messages.
        assert_eq!(reply.progress(1u32, None, ""), Err(SendError::NotWanted));
        assert_eq!(reply.log(Level::Error, None, "x"), Err(SendError::NotWanted));
        reply.fail("broken");
    });
    assert_eq!(host.request("tasks/get", id.clone())["result"]["status"], "failed");
    let result = &host.request("tasks/result", id)["result"];
    assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!("broken")));
    let related = &result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
    assert_eq!(related, &task["taskId"]);
}

#[test]
fn failures_of_the_application_end_the_task() {
    // TX-10
    let long = "x".repeat(2000);
    for (respond, status, expected, event) in [
        (&(|reply: Reply<'_>| reply.fail("no")) as &dyn Fn(Reply<'_>), "completed", None, ""),
        (&|reply: Reply<'_>| reply.error(7, "no"), "failed", Some(7), ""),
        (&|reply: Reply<'_>| reply.busy(), "failed", Some(-32603), ""),
        (&|reply: Reply<'_>| reply.text(&*long), "failed", Some(-32603), "ReplyTooLarge { limit: 600 }"),
        (&|reply: Reply<'_>| reply.messages(|_| ()), "failed", Some(-32603), "InvalidReply"),
        (&|reply: Reply<'_>| reply.contents(|_| ()), "failed", Some(-32603), "InvalidReply"),
        (&|reply: Reply<'_>| reply.result_of_type("own", |_| ()), "failed", Some(-32603), "InvalidReply"),
        (
            &|reply: Reply<'_>| reply.require_input(&[("k", &FORM)], None),
            "failed",
            Some(-32603),
            "InvalidInputRequest",
        ),
    ] {
        let mut host = Host::automatic(table());
        let id = host.create_automatic();
        host.reply(respond);
        let failed = expected.map_or(ResponseStatus::ToolFailure, |code| ResponseStatus::Error { code });
        assert_eq!(host.server.take_response_status(), Some(failed));
        assert_eq!(host.take_events().concat(), event);
        let task = host.get(&id);
        assert_eq!(task["status"], status, "{task}");
        assert_eq!(task["error"]["code"].as_i64(), expected.map(i64::from), "{task}");
    }
}

#[test]
fn call_that_has_become_a_task_cannot_require_input() {
    let mut host = Host::automatic(table());
    host.call("optional", DECLARED);
    host.reply(|reply| assert!(reply.can_require_input()));
    host.at(2000);
    host.reply(|reply| assert!(!reply.can_require_input()));
}

#[test]
fn call_that_has_become_a_task_sends_no_requests() {
    let mut host = Host::automatic(table()).session("2025-11-25");
    host.request("tools/call", json!({"name": "optional", "task": {}}));
    let call = host.deferred.as_ref().unwrap()[0];
    let options = RequestOptions::DEFAULT.during(call);
    assert_eq!(host.server.request(&FORM, options), Err(SendError::Unsupported));
    host.reply(|reply| reply.text("done"));
    assert_eq!(host.server.request(&FORM, options), Err(SendError::Gone));
    assert!(host.take().is_empty());
    // Neither does a call of the stateless era, with or without a session.
    let mut host = Host::automatic(table());
    for _ in 0..2 {
        host.call("optional", DECLARED);
        let options = RequestOptions::DEFAULT.during(*host.deferred.as_ref().unwrap().last().unwrap());
        assert_eq!(host.server.request(&FORM, options), Err(SendError::Unsupported));
        host.at(host.now.0 + 2000);
        assert_eq!(host.server.request(&FORM, options), Err(SendError::Unsupported));
        assert_eq!(host.server.ping(options), Err(SendError::Unsupported));
        host.take();
        host = host.session("2025-11-25");
    }
}

#[test]
fn cancelled_or_expired_task_ends_its_call() {
    let mut host = Host::automatic(table());
    let id = host.create_automatic();
    host.modern("tasks/cancel", json!({"taskId": id}));
    assert_eq!(host.take_events(), ["request cancelled"]);
    let cancelled = host.deferred.as_ref().unwrap()[0];
    assert_eq!(host.server.reply(cancelled).map(drop), Err(SendError::Gone));
    assert_eq!(host.get(&id)["status"], "cancelled");
    host.create_automatic();
    host.reply(|reply| reply.text("done"));
    host.create_automatic();
    host.at(host.now.0 + 300_000);
    // The calls of the other tasks have already ended, so only one call expires.
    assert_eq!(host.take_events(), ["request expired"]);
    assert_eq!(host.modern("tasks/get", json!({"taskId": id}))["error"]["code"], -32602);
}

#[test]
fn call_that_has_become_a_task_survives_a_reset() {
    let mut host = Host::automatic(table().keep_on_reset());
    let id = host.create_automatic();
    // The connection ends before this call becomes a task, so the reset ends the call.
    host.call("optional", DECLARED);
    host.server.reset();
    host.at(host.now.0 + 2000);
    assert!(host.take().is_empty());
    let calls = host.deferred.clone().unwrap();
    assert_eq!(host.server.reply(calls[1]).map(drop), Err(SendError::Gone));
    host.server.reply(calls[0]).unwrap().text("done");
    assert_eq!(host.get(&id)["status"], "completed");
}

#[test]
fn call_stays_a_call_while_the_connection_ends() {
    for keeps in [false, true] {
        let mut host = Host::automatic(if keeps { table().keep_on_reset() } else { table() });
        host.call("optional", DECLARED);
        host.at(1500);
        host.server.shutdown_by(host.now, Millis(10_000));
        host.at(2000);
        if keeps {
            assert_eq!(host.take()[0]["result"]["resultType"], "task");
            continue;
        }
        assert!(host.take().is_empty());
        host.reply(|reply| reply.text("done"));
        assert_eq!(host.take()[0]["result"]["content"][0]["text"], "done");
    }
}

#[test]
fn calls_that_have_ended_take_no_slots_from_tasks() {
    // TC-34: the table has three slots.
    let mut host = Host::automatic(table());
    for _ in 0..3 {
        host.call("optional", DECLARED);
        host.reply(|reply| reply.text("fast"));
        host.take();
    }
    let id = host.create_automatic();
    assert_eq!(host.get(&id)["status"], "working");
    // If the table is full, a call does not become a task.
    for _ in 0..2 {
        host.create_automatic();
    }
    host.call("optional", DECLARED);
    host.at(host.now.0 + 2000);
    assert!(host.take().is_empty());
    host.reply(|reply| reply.text("done"));
    assert_eq!(host.take()[0]["result"]["resultType"], "complete");
}

#[test]
fn reply_of_a_task_cannot_be_chunked() {
    let mut host = Host::automatic(table());
    let id = host.create_automatic();
    host.reply(|reply| assert_eq!(reply.chunked(ChunkedContent::Text), Err(SendError::Unsupported)));
    assert_eq!(host.get(&id)["status"], "working");
    host.reply(|reply| reply.text("done"));
    assert_eq!(host.get(&id)["status"], "completed");
}

#[test]
fn requested_task_has_no_chunked_response() {
    // TC-11
    let mut host = Host::automatic(table()).session("2025-11-25");
    let created = host.call_with_task(|call| {
        let call = call.chunked(ChunkedContent::Text).unwrap_err();
        call.defer(None).unwrap();
    });
    assert_eq!(created["result"]["task"]["status"], "working");
}

#[test]
fn immediate_result_becomes_a_task_that_has_ended() {
    // TC-8, TC-9, TC-10, TC-11, TC-14, TC-17, TC-20, TC-22
    let blocks = |text: &str| json!([{"type": "text", "text": text}]);
    for (respond, status, expected) in [
        (
            &(|call: Call<'_>| call.text("done")) as &dyn Fn(Call<'_>),
            "completed",
            json!({"content": blocks("done")}),
        ),
        (&|call| call.fail("no"), "failed", json!({"content": blocks("no"), "isError": true})),
        (
            &|call| call.invalid("no `n`"),
            "failed",
            json!({"content": blocks("Invalid arguments: no `n`"), "isError": true}),
        ),
        (
            &|call| call.structured(&BTreeMap::from([("n", 1)])),
            "completed",
            json!({"content": blocks("{\"n\":1}"), "structuredContent": {"n": 1}}),
        ),
    ] {
        let mut host = Host::automatic(table()).session("2025-11-25");
        let created = host.call_with_task(respond);
        let task = &created["result"]["task"];
        assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(60_000)), "{created}");
        assert_eq!(task["createdAt"], "2026-07-28T09:30:00.000Z");
        let reported = if status == "failed" { ResponseStatus::ToolFailure } else { ResponseStatus::Result };
        assert_eq!(host.server.take_response_status(), Some(reported), "{expected}");
        let id = text(&task["taskId"]);
        assert_eq!(host.get_core(&id)["status"], status, "{expected}");
        let mut result = host.request("tasks/result", json!({"taskId": id}))["result"].take();
        let related = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
        assert_eq!(result.as_object_mut().unwrap().remove("_meta"), Some(related));
        assert_eq!(result, expected);
        assert!(host.take_events().is_empty());
    }
}

#[test]
fn application_may_create_the_requested_task() {
    let mut host = Host::automatic(table()).session("2025-11-25");
    let created = host.call_with_task(|call| {
        assert!(call.can_become_task());
        call.into_task(TaskOptions::new([1; 16]).poll_interval(Millis(5))).unwrap();
    });
    assert_eq!(created["result"]["task"]["pollInterval"], 5);
    assert_eq!(host.request("tasks/list", json!({}))["result"]["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn response_before_the_next_poll_ends_the_requested_task() {
    // TC-11: the application may respond to a deferred call at any time.
    let mut host = Host::automatic(table()).session("2025-11-25");
    let ticket = host.receive_call().defer(None).unwrap();
    host.server.reply(ticket).unwrap().text("done");
    let created = host.take().remove(0);
    let id = text(&created["result"]["task"]["taskId"]);
    assert_eq!(host.get_core(&id)["status"], "completed");
}

#[test]
fn error_instead_of_a_requested_task_is_sent_at_once() {
    // TC-11
    for (respond, expected) in [
        (&(|call: Call<'_>| call.error(7, "no")) as &dyn Fn(Call<'_>), 7),
        (&|call| call.unknown_tool(), -32602),
        (&|call| call.busy(), -32603),
        (&|call| drop(call), -32603),
    ] {
        let mut host = Host::automatic(table()).session("2025-11-25");
        let response = host.call_with_task(respond);
        assert_eq!(code(&response), expected, "{response}");
        assert_eq!(host.request("tasks/list", json!({}))["result"]["tasks"], json!([]));
    }
}

#[test]
fn immediate_result_that_does_not_fit_fails_the_task() {
    // TC-17
    let mut host = Host::automatic(table()).session("2025-11-25");
    let created = host.call_with_task(|call| call.text("x".repeat(2000)));
    let id = text(&created["result"]["task"]["taskId"]);
    assert_eq!(host.take_events(), ["ReplyTooLarge { limit: 600 }"]);
    assert_eq!(host.get_core(&id)["status"], "failed");
    assert_eq!(code(&host.request("tasks/result", json!({"taskId": id}))), -32603);
}

#[test]
fn requested_task_without_a_free_slot_is_refused() {
    // TC-34: the table has three slots. The application must not see a call whose result the client could not get.
    let mut host = Host::automatic(table()).session("2025-11-25");
    for _ in 0..3 {
        host.request("tools/call", json!({"name": "optional", "task": {}}));
    }
    let response = host.request("tools/call", json!({"name": "optional", "task": {}}));
    let expected = ProtocolError::TooManyInFlight { limit: 3 };
    assert_eq!((code(&response), host.deferred.as_ref().unwrap().len()), (-32603, 3));
    assert_eq!(response["error"]["message"], expected.to_string());
    // A call without a task needs no slot.
    host.start("tools/call", json!({"name": "optional"}));
    host.reply(|reply| reply.text("done"));
    assert_eq!(host.take()[0]["result"]["content"][0]["text"], "done");
}

#[test]
fn task_of_an_immediate_result_expires_without_an_event() {
    let mut host = Host::automatic(table()).session("2025-11-25");
    let created = host.call_with_task(|call| call.text("done"));
    let id = text(&created["result"]["task"]["taskId"]);
    host.at(400_000);
    assert_eq!(host.take_events(), [""; 0]);
    assert_eq!(code(&host.request("tasks/get", json!({"taskId": id}))), -32602);
}

#[test]
fn panic_in_an_immediate_response_leaves_no_task() {
    let mut host = Host::automatic(table()).session("2025-11-25");
    for _ in 0..4 {
        let respond = |call: Call<'_>| {
            let respond = || call.content(|_| panic!("in the response"));
            assert!(catch_unwind(AssertUnwindSafe(respond)).is_err());
        };
        assert_eq!(code(&host.call_with_task(respond)), -32603);
    }
    assert_eq!(host.request("tasks/list", json!({}))["result"]["tasks"], json!([]));
}

#[test]
fn panic_in_the_reply_of_a_task_leaves_the_task_open() {
    let mut host = Host::automatic(table());
    let id = host.create_automatic();
    let reply = || host.reply(|reply| reply.content(|_| panic!("in the reply")));
    assert!(catch_unwind(AssertUnwindSafe(reply)).is_err());
    assert_eq!(host.get(&id)["status"], "working");
    host.reply(|reply| reply.error(7, "no response"));
    assert_eq!(host.get(&id)["error"]["code"], 7);
}

#[test]
fn each_refused_reply_of_a_task_is_reported() {
    let mut host = Host::automatic(table());
    host.create_automatic();
    host.create_automatic();
    let calls = host.deferred.clone().unwrap();
    host.server.reply(calls[0]).unwrap().messages(|_| ());
    assert_eq!(host.server.reply(calls[1]).map(drop), Err(SendError::Busy));
    assert_eq!(host.take_events(), ["InvalidReply"]);
    host.server.reply(calls[1]).unwrap().text("x".repeat(2000));
    assert_eq!(host.take_events(), ["ReplyTooLarge { limit: 600 }"]);
}
