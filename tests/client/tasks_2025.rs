//! Tasks of 2025-11-25: requests of tasks, `tasks/result`, status notifications, progress.
//!
//! Numbers such as `TC-1` refer to requirements in `docs/task-rules.md`.

use crate::documents::text;
use crate::support::client::{ClientHarness, Setup, TIMES};
use mcp_proto::client::{Options, TaskLimits};
use mcp_proto::{ClientCapabilities as C, Millis, Revision, SendError, ServerCapabilities, Ticket};

const DEFAULT: Options = Options::DEFAULT;

fn setup() -> Setup {
    let setup = Setup::handshake().declares(C::ELICITATION_FORM);
    Setup { info: setup.info.tasks(TaskLimits { interval: Millis(500), ..TaskLimits::DEFAULT }), ..setup }
}

/// Connects to a server with these capabilities.
fn connect(harness: &mut ClientHarness, capabilities: &str) {
    let revision = harness.setup.revision;
    harness.pump();
    harness.server_sends(&format!(
        r#"{{"id":@initialize,"result":{{"protocolVersion":"{revision}","capabilities":{{{capabilities}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    ));
    harness.events(&[&format!("connected {revision}")]).discard();
}

const CAPABILITIES: &str = r#""tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#;

fn run(dialogue: impl Fn(&mut ClientHarness)) {
    setup().run(|harness| {
        connect(harness, CAPABILITIES);
        dialogue(harness);
    });
}

fn task(status: &str, more: &str) -> String {
    format!(
        r#""taskId":"t","status":"{status}","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":60000{more}"#
    )
}

fn got(status: &str, more: &str) -> String {
    format!(r#"{{"id":@get,"result":{{{}}}}}"#, task(status, more))
}

const GET: &str = r#"{"id":@,"method":"tasks/get","params":{"taskId":"t"}}"#;
const RESULT: &str = r#"{"id":@,"method":"tasks/result","params":{"taskId":"t"}}"#;
const CANCEL: &str = r#"{"id":@,"method":"tasks/cancel","params":{"taskId":"t"}}"#;
const RESPONSE: &str = concat!(
    r#"{"id":@result,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":"#,
    r#"{"taskId":"t"}}}}"#
);
const ENDED: &str =
    r#"add: result {"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#;

/// Calls `add` and requests a task. The server creates task `t`.
fn start(harness: &mut ClientHarness, options: Options<'_>) -> Ticket {
    let ticket = harness.call("add", options.task(Millis(60_000))).unwrap();
    harness.discard();
    let created = format!(r#"{{"id":@add,"result":{{"task":{{{}}}}}}}"#, task("working", ""));
    harness.server_sends(&created).events(&["add: task t working"]);
    harness.sent(&[]);
    ticket
}

/// TC-3, TC-4, TC-8: only a call with the option, to a server with tasks, requests a task.
#[test]
fn task_is_requested_only_from_a_server_with_tasks() {
    const PLAIN: &str = r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{}}}"#;
    for (capabilities, ttl, expected) in [
        (CAPABILITIES, None, PLAIN),
        (
            CAPABILITIES,
            Some(60_000),
            r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{},"task":{"ttl":60000}}}"#,
        ),
        (
            CAPABILITIES,
            Some(u64::MAX),
            r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{},"task":{}}}"#,
        ),
        (r#""tools":{}"#, Some(60_000), PLAIN),
        (r#""tools":{},"tasks":{"cancel":{}}"#, Some(60_000), PLAIN),
    ] {
        setup().run(|harness| {
            connect(harness, capabilities);
            let options = ttl.map_or(DEFAULT, |ttl| DEFAULT.task(Millis(ttl)));
            harness.call("add", options).unwrap();
            harness.sent(&[expected]);
            // A server without tasks responds with an ordinary result.
            harness.server_sends(r#"{"id":@add,"result":{"content":[]}}"#);
            harness.events(&[r#"add: result {"content":[]}"#]);
        });
    }
    let earlier = setup().revision(Revision::V2025_06_18);
    earlier.run(|harness| {
        connect(harness, CAPABILITIES);
        harness.call("add", DEFAULT.task(Millis(1))).unwrap();
        harness.sent(&[PLAIN]);
        harness.server_sends(r#"{"id":@add,"result":{"task":{"taskId":"t","status":"working"}}}"#);
        harness.events(&[r#"add: result {"task":{"taskId":"t","status":"working"}}"#]);
    });
}

/// TC-24: a call that has ended at the client may become a task. The client cancels this task, if the server supports
/// cancellation.
#[test]
fn late_task_of_an_ended_call_is_cancelled() {
    let created = format!(r#"{{"id":@add,"result":{{"task":{{{}}}}}}}"#, task("working", ""));
    let plain = r#"{"id":@add,"result":{"content":[],"task":{"taskId":"t","status":"working"}}}"#;
    let uncancellable = r#""tools":{},"tasks":{"requests":{"tools":{"call":{}}}}"#;
    let cases: [(&str, &str, &[&str]); 3] =
        [(CAPABILITIES, &created, &[CANCEL]), (CAPABILITIES, plain, &[]), (uncancellable, &created, &[])];
    for (capabilities, late, expected) in cases {
        setup().run(|harness| {
            connect(harness, capabilities);
            let call = harness.call("add", DEFAULT.task(Millis(60_000))).unwrap();
            harness.cancel(call, "why");
            harness.discard().server_sends(late).events(&[]).sent(expected);
            if !expected.is_empty() {
                let cancelled = format!(r#"{{"id":@cancel,"result":{{{}}}}}"#, task("cancelled", ""));
                harness.server_sends(&cancelled).events(&[]).sent(&[]);
            }
        });
    }
}

/// TC-19, TC-20, TC-22: the client polls until the task ends, and then requests the result.
#[test]
fn ended_task_is_followed_by_its_result() {
    for status in ["completed", "failed"] {
        run(|harness| {
            start(harness, DEFAULT);
            harness.at(500).sent(&[GET]);
            let message = r#","statusMessage":"half","pollInterval":700"#;
            harness.server_sends(&got("working", message)).events(&["add: task t working half"]);
            harness.at(1200).sent(&[GET]);
            harness.server_sends(&got(status, "")).events(&[&format!("add: task t {status}")]);
            harness.sent(&[RESULT]);
            harness.server_sends(RESPONSE).events(&[ENDED]);
            assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        });
    }
    run(|harness| {
        start(harness, DEFAULT);
        harness.at(500).sent(&[GET]);
        harness.server_sends(&got("failed", "")).events(&["add: task t failed"]).sent(&[RESULT]);
        harness
            .server_sends(r#"{"id":@result,"error":{"code":-32603,"message":"no"}}"#)
            .events(&["add: error no (-32603)"]);
    });
    run(|harness| {
        start(harness, DEFAULT);
        harness.at(500).sent(&[GET]);
        harness.server_sends(&got("cancelled", "")).events(&["add: lost TaskCancelled"]).sent(&[]);
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TC-27, TC-29, TC-30: input arrives as requests of the server, while the client waits for the result.
#[test]
fn task_with_input_waits_for_its_result() {
    run(|harness| {
        harness.on_server_request(|request| {
            request.accept(|content| content.field_string("name", "octocat"));
            None
        });
        start(harness, DEFAULT);
        harness.at(500).sent(&[GET]);
        harness.server_sends(&got("input_required", "")).events(&["add: task t input_required"]);
        harness.sent(&[RESULT]);
        harness.server_sends(concat!(
            r#"{"id":"q","method":"elicitation/create","params":{"message":"Name?","requestedSchema":{},"#,
            r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#
        ));
        harness.events(&["asked form Name?"]);
        // The `_meta` of the response also names the task.
        harness.sent(&[concat!(
            r#"{"id":"q","result":{"action":"accept","content":{"name":"octocat"},"#,
            r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#
        )]);
        // A deferred request keeps its relation to the task, and its progress token.
        harness.on_server_request(|request| Some(request.defer(None).unwrap()));
        harness.server_sends(concat!(
            r#"{"id":"q","method":"elicitation/create","params":{"message":"Age?","requestedSchema":{},"#,
            r#""_meta":{"progressToken":7,"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#
        ));
        harness.events(&["asked form Age?"]).sent(&[]);
        let deferred = harness.deferred_requests()[0];
        harness.client.reply(deferred).unwrap().progress(1u32, None, "").unwrap();
        harness.pump();
        harness.client.reply(deferred).unwrap().decline();
        harness.pump();
        harness.sent(&[
            r#"{"method":"notifications/progress","params":{"progressToken":7,"progress":1}}"#,
            concat!(
                r#"{"id":"q","result":{"action":"decline","#,
                r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#
            ),
        ]);
        // The timeout of requests does not apply to a result that waits for the task.
        harness.at(500 + 2 * TIMES.request.0).events(&[]).sent(&[]);
        harness.server_sends(RESPONSE).events(&[ENDED]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
}

/// The timeout of requests applies to polls, also after the first `tasks/result`.
#[test]
fn poll_after_a_lost_result_request_has_its_timeout() {
    let limits = TaskLimits { maximum: Millis(100_000), interval: Millis(500), ..TaskLimits::DEFAULT };
    let base = setup();
    Setup { info: base.info.tasks(limits), ..base }.run(|harness| {
        connect(harness, CAPABILITIES);
        start(harness, DEFAULT);
        harness.at(500).sent(&[GET]);
        harness.server_sends(&got("completed", "")).discard();
        // Only the maximum duration of the task applies to the request for its result.
        assert_eq!(harness.deadline, Some(100_000));
        harness.reconnect();
        connect(harness, CAPABILITIES);
        assert_eq!(harness.deadline, Some(500 + TIMES.request.0));
        harness.at(500 + TIMES.request.0).events(&["add: lost TimedOut"]).sent(&[CANCEL]);
    });
}

/// TC-31: a status notification has the effect of a response to a poll.
#[test]
fn status_notification_is_followed_by_the_result() {
    run(|harness| {
        start(harness, DEFAULT);
        let notify = |status: &str| {
            format!(r#"{{"method":"notifications/tasks/status","params":{{{}}}}}"#, task(status, ""))
        };
        harness.at(300).server_sends(&notify("working")).events(&[]).sent(&[]);
        assert_eq!(harness.deadline, Some(800));
        harness.server_sends(&notify("completed")).events(&["add: task t completed"]).sent(&[RESULT]);
        harness.server_sends(RESPONSE).events(&[ENDED]);
    });
}

/// TC-15: the progress token of the call remains valid during the task.
#[test]
fn progress_continues_during_the_task() {
    run(|harness| {
        let ticket = harness.call("add", DEFAULT.with_progress().task(Millis(60_000))).unwrap();
        let token = harness.message("@add");
        let progress = |progress: u32| {
            format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress},"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"t"}}}}}}}}"#
            )
        };
        let created = format!(r#"{{"id":@add,"result":{{"task":{{{}}}}}}}"#, task("working", ""));
        harness.discard().server_sends(&progress(1)).events(&["add: 1"]);
        harness.server_sends(&created).events(&["add: task t working"]);
        harness.server_sends(&progress(2)).events(&["add: 2"]);
        harness.at(500).sent(&[GET]);
        harness.server_sends(&progress(3)).events(&["add: 3"]);
        harness.cancel(ticket, "");
        harness.sent(&[CANCEL]);
        harness.server_sends(&progress(4)).events(&[]);
    });
    run(|harness| {
        let ticket = start(harness, DEFAULT);
        let token = harness.message("@add");
        harness.server_sends(&format!(
            r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
        ));
        harness.events(&["fault UnknownProgress"]);
        harness.cancel(ticket, "");
        harness.discard();
    });
}

/// TC-24: the client cancels a task only if the server supports this.
#[test]
fn task_is_cancelled_only_if_the_server_can() {
    run(|harness| {
        let ticket = start(harness, DEFAULT);
        harness.cancel(ticket, "why");
        harness.sent(&[CANCEL]);
        assert_eq!(harness.client.pending(), 0);
    });
    setup().run(|harness| {
        connect(harness, r#""tools":{},"tasks":{"requests":{"tools":{"call":{}}}}"#);
        let ticket = start(harness, DEFAULT);
        harness.cancel(ticket, "why");
        harness.sent(&[]);
        assert_eq!(harness.client.pending(), 0);
    });
}

#[test]
fn capabilities_of_tasks_are_part_of_the_server() {
    for (capabilities, expected) in [
        (CAPABILITIES, ServerCapabilities::TASKS.with(ServerCapabilities::TASKS_CANCEL)),
        (r#""tasks":{"cancel":{}}"#, ServerCapabilities::TASKS_CANCEL),
        (r#""tools":{}"#, ServerCapabilities::NONE),
    ] {
        setup().run(|harness| {
            connect(harness, capabilities);
            let declared = harness.client.capabilities().unwrap();
            let all = ServerCapabilities::TASKS.with(ServerCapabilities::TASKS_CANCEL);
            let others = declared.without(all.with(ServerCapabilities::TASKS_LIST));
            assert_eq!(declared.without(others).without(ServerCapabilities::TASKS_LIST), expected);
        });
    }
}

/// TC-25: a resumed task that the server does not know ends with the error of the server.
#[test]
fn resumed_task_is_followed_by_its_result() {
    run(|harness| {
        let ticket = harness.client.resume_task("t", DEFAULT).unwrap();
        harness.name(ticket, "add");
        harness.sent(&[GET]);
        harness.server_sends(&got("completed", "")).events(&["add: task t completed"]).sent(&[RESULT]);
        harness.server_sends(RESPONSE).events(&[ENDED]);
        let ticket = harness.client.resume_task("u", DEFAULT).unwrap();
        harness.name(ticket, "other");
        harness.discard().server_sends(r#"{"id":@get,"error":{"code":-32602,"message":"no"}}"#);
        harness.events(&["other: error no (-32602)"]);
    });
    setup().run(|harness| {
        connect(harness, r#""tools":{}"#);
        assert_eq!(harness.client.resume_task("t", DEFAULT), Err(SendError::Unsupported));
    });
}

/// TC-1, TC-2, TC-6: the client declares no tasks of its own, so it ignores `task` in a request of the server.
#[test]
fn server_request_with_a_task_gets_an_ordinary_response() {
    run(|harness| {
        harness.on_server_request(|request| {
            request.decline();
            None
        });
        harness.server_sends(
            r#"{"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{},"task":{"ttl":1}}}"#,
        );
        harness.events(&["asked form m"]).sent(&[r#"{"id":1,"result":{"action":"decline"}}"#]);
        harness.server_sends(r#"{"id":2,"method":"tasks/get","params":{"taskId":"x"}}"#);
        harness.events(&["fault UnknownMethod"]);
        let sent = harness.take_sent();
        assert!(sent[0].contains("-32601"), "{sent:?}");
    });
}

/// The rows for clients in `docs/task-rules.md` name tests that cite their numbers.
#[test]
fn every_requirement_of_clients_has_tests_that_cite_it() {
    let document = text("docs/task-rules.md");
    let (_, document) = document.split_once("\n## Clients\n").unwrap();
    let mut cited = 0;
    for row in document.lines().filter(|line| line.starts_with("| T")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        for test in cells[3].split('`').skip(1).step_by(2).filter(|word| word.contains("tasks")) {
            let (file, name) = test.split_once("::").unwrap();
            let code = text(&format!("tests/client/{file}.rs"));
            let (before, _) = code
                .split_once(&format!("\n#[test]\nfn {name}() {{\n"))
                .unwrap_or_else(|| panic!("{test} does not exist"));
            let comment = before.rsplit("\n\n").next().unwrap();
            for number in cells[1].split(", ") {
                let words = comment.split(|c: char| !c.is_alphanumeric() && c != '-');
                assert!(words.into_iter().any(|word| word == number), "{test} does not cite {number}");
                cited += 1;
            }
        }
    }
    assert!(cited > 40, "{cited}");
}
