//! Tasks of the extension of 2026-07-28: polls, results, input.
//!
//! Numbers such as `TX-2` refer to requirements in `docs/task-rules.md`.

use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::{Connect, InputResponses, Options, TaskLimits};
use mcp_proto::{ClientCapabilities as C, Millis, SendError, Ticket};

pub(super) const DEFAULT: Options = Options::DEFAULT;
pub(super) const LIMITS: TaskLimits = TaskLimits {
    interval: Millis(500),
    shortest_interval: Millis(100),
    longest_interval: Millis(2000),
    maximum: Millis(100_000),
    listens: false,
};

pub(super) fn setup() -> Setup {
    let setup = Setup::new(Connect::Stateless).declares(C::ELICITATION_FORM.with(C::ROOTS));
    Setup { info: setup.info.tasks(LIMITS), ..setup }.rx(1024)
}

pub(super) const DISCOVERED: &str = concat!(
    r#"{"id":@discover,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"#,
    r#""capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}"#
);

fn connect(harness: &mut ClientHarness) {
    harness.pump();
    harness.server_sends(DISCOVERED).events(&["connected 2026-07-28"]).discard();
}

/// Completes the next connection to the same server.
pub(super) fn connect_again(harness: &mut ClientHarness) {
    harness.discard().server_sends(DISCOVERED).events(&["connected 2026-07-28"]);
}

pub(super) fn run(setup: Setup, dialogue: impl Fn(&mut ClientHarness)) {
    setup.run(|harness| {
        connect(harness);
        dialogue(harness);
    });
}

/// Returns the members of task `t` with this status. `more` are further members.
pub(super) fn task(status: &str, more: &str) -> String {
    format!(
        r#""taskId":"t","status":"{status}","createdAt":"2026-07-28T10:00:00Z","lastUpdatedAt":"2026-07-28T10:00:00Z","ttlMs":60000{more}"#
    )
}

/// Returns the response to a call: a new task.
pub(super) fn created(name: &str, more: &str) -> String {
    format!(r#"{{"id":@{name},"result":{{"resultType":"task",{}}}}}"#, task("working", more))
}

/// Returns the response to `tasks/get`.
pub(super) fn got(status: &str, more: &str) -> String {
    format!(r#"{{"id":@get,"result":{{"resultType":"complete",{}}}}}"#, task(status, more))
}

pub(super) const GET: &str = r#"{"id":@,"method":"tasks/get","params":{"taskId":"t","_meta":{..}}}"#;
pub(super) const CANCEL: &str = r#"{"id":@,"method":"tasks/cancel","params":{"taskId":"t","_meta":{..}}}"#;
pub(super) const RESULT: &str = r#","result":{"content":[{"type":"text","text":"42"}]}"#;

/// Calls `add`. The server makes the call a task with the id `t`.
pub(super) fn start(harness: &mut ClientHarness, more: &str) -> Ticket {
    let ticket = harness.call("add", DEFAULT).unwrap();
    harness.discard().server_sends(&created("add", more)).events(&["add: task t working"]);
    harness.sent(&[]);
    ticket
}

pub(super) fn respond(
    harness: &mut ClientHarness,
    ticket: Ticket,
    responses: impl FnOnce(&mut InputResponses<'_, '_>),
) -> Result<(), SendError> {
    let resumed = harness.client.resume_call_json(ticket, "add", "{}", responses);
    harness.pump();
    resumed
}

/// TX-1, TX-19, TC-1, TC-2: every request of 2026-07-28 declares the extension. In earlier revisions, a client without
/// tasks of its own declares no tasks.
#[test]
fn extension_is_declared_in_its_revision() {
    let extension = r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#;
    setup().run(|harness| {
        connect(harness);
        harness.call("add", DEFAULT).unwrap();
        assert!(harness.take_sent_lines()[0].contains(extension));
    });
    let handshake = Setup::handshake();
    Setup { info: handshake.info.tasks(LIMITS), ..handshake }.run(|harness| {
        harness.pump();
        assert!(!harness.take_sent_lines()[0].contains("tasks"), "the client runs no tasks");
    });
    let both = setup();
    Setup { info: both.info.extensions(&[("com.example/x", "{}")]), ..both }.run(|harness| {
        harness.pump();
        let both = r#""extensions":{"com.example/x":{},"io.modelcontextprotocol/tasks":{}}"#;
        assert!(harness.take_sent_lines()[0].contains(both));
    });
}

/// TX-2, TX-3: the client polls a task at the interval of the server. The task ends like a call.
#[test]
fn task_ends_like_a_call() {
    run(setup(), |harness| {
        let ticket = start(harness, r#","pollIntervalMs":1500"#);
        assert_eq!(harness.client.task_id(ticket).map(|id| id.to_string()).as_deref(), Some("t"));
        assert_eq!(harness.deadline, Some(1500));
        harness.at(1499).sent(&[]);
        harness.at(1500).sent(&[GET]);
        // The server changes the interval and the text.
        let message = r#","pollIntervalMs":300,"statusMessage":"half""#;
        harness.server_sends(&got("working", message)).events(&["add: task t working half"]);
        harness.at(1799).sent(&[]);
        harness.at(1800).sent(&[GET]);
        harness.server_sends(&got("working", message)).events(&[]);
        harness.at(2100).sent(&[GET]);
        harness
            .server_sends(&got("completed", RESULT))
            .events(&[r#"add: result {"content":[{"type":"text","text":"42"}]}"#]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        assert_eq!(harness.client.task_id(ticket), None);
    });
}

/// TX-22: the client limits the interval that the server suggests, and has a default.
#[test]
fn interval_has_bounds_and_a_default() {
    for (suggested, expected) in [
        ("", 500),
        ("0", 100),
        ("99999999", 2000),
        ("18446744073709551616", 2000),
        ("1500.0", 1500),
        ("null", 500),
        (r#"null,"pollInterval":700"#, 700),
        ("\"x\"", 500),
    ] {
        run(setup(), |harness| {
            let more = if suggested.is_empty() {
                String::new()
            } else {
                format!(r#","pollIntervalMs":{suggested}"#)
            };
            start(harness, &more);
            assert_eq!(harness.deadline, Some(expected), "{suggested}");
        });
    }
}

/// TX-5, TX-9, TX-10: the status and the members of the task decide how the call ends.
#[test]
fn status_decides_how_the_call_ends() {
    for (status, more, expected) in [
        (
            "completed",
            r#","result":{"content":[],"isError":true}"#,
            r#"result {"content":[],"isError":true}"#,
        ),
        (
            "completed",
            r#","result":{"resultType":"complete","structuredContent":{"a":1}}"#,
            r#"result {"resultType":"complete","structuredContent":{"a":1}}"#,
        ),
        ("failed", r#","error":{"code":-32603,"message":"no"}"#, "error no (-32603)"),
        ("cancelled", "", "lost TaskCancelled"),
        ("completed", "", "lost Invalid"),
        ("completed", r#","result":{"content":7}"#, "lost Invalid"),
        ("completed", r#","result":{"resultType":"task","content":[]}"#, "lost Invalid"),
        ("failed", "", "lost Invalid"),
        ("gone", "", "lost Invalid"),
        ("input_required", r#","inputRequests":[]"#, "lost Invalid"),
        ("input_required", r#","inputRequests":{"s":{"method":"sampling/createMessage"}}"#, "lost Invalid"),
    ] {
        run(setup(), |harness| {
            start(harness, "");
            harness.at(500).sent(&[GET]);
            harness.server_sends(&got(status, more)).events(&[&format!("add: {expected}")]).sent(&[]);
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

/// TX-18: `params.task` belongs to 2025-11-25, so the client omits it.
#[test]
fn member_of_the_earlier_revision_is_omitted() {
    run(setup(), |harness| {
        harness.call("add", DEFAULT.task(Millis(1))).unwrap();
        harness
            .sent(&[r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{},"_meta":{..}}}"#]);
        harness.server_sends(r#"{"id":@add,"result":{}}"#).discard();
    });
}

/// TX-16: the server's error ends the call.
#[test]
fn unknown_task_ends_the_call_with_the_error() {
    run(setup(), |harness| {
        start(harness, "");
        harness.at(500).sent(&[GET]);
        harness
            .server_sends(r#"{"id":@get,"error":{"code":-32602,"message":"unknown task"}}"#)
            .events(&["add: error unknown task (-32602)"]);
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TX-5, TX-9, TX-10: a new task may have any status. If it has ended or needs input, the first poll follows
/// immediately.
#[test]
fn ended_new_task_is_polled_immediately() {
    for status in ["completed", "failed", "input_required"] {
        run(setup(), |harness| {
            harness.call("add", DEFAULT).unwrap();
            let response = format!(r#"{{"id":@add,"result":{{"resultType":"task",{}}}}}"#, task(status, ""));
            harness.discard().server_sends(&response).events(&[&format!("add: task t {status}")]);
            harness.sent(&[GET]);
            harness.server_sends(&got("completed", RESULT)).discard();
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

/// TX-2, TX-3: only a call of a client with tasks may become a task.
#[test]
fn unexpected_task_is_an_invalid_response() {
    run(setup(), |harness| {
        let ticket = harness.client.ping(DEFAULT).unwrap();
        harness.name(ticket, "ping");
        harness.discard().server_sends(&created("discover", "")).events(&["ping: lost Invalid"]).sent(&[]);
        harness.call("add", DEFAULT).unwrap();
        let no_id = r#"{"id":@add,"result":{"resultType":"task","status":"working"}}"#;
        harness.discard().server_sends(no_id).events(&["add: lost Invalid"]);
    });
    let without = Setup::new(Connect::Stateless).rx(1024);
    run(without, |harness| {
        harness.call("add", DEFAULT).unwrap();
        harness.discard().server_sends(&created("add", "")).events(&["add: lost Invalid"]).sent(&[]);
        assert_eq!(harness.client.resume_task("t", DEFAULT), Err(SendError::Unsupported));
    });
}

/// The text of a slot has 24 bytes: 18 for the client's own data, two for quotes, and four for the id. The client
/// cancels a task whose id does not fit.
#[test]
fn too_long_task_id_ends_the_call_and_cancels_the_task() {
    for (id, fits) in [("abcd", true), ("abcde", false)] {
        run(Setup { text: 4 * 24, ..setup() }, |harness| {
            harness.call("add", DEFAULT).unwrap();
            let response = created("add", "").replace("\"t\"", &format!("\"{id}\""));
            harness.discard().server_sends(&response);
            match fits {
                true => harness.events(&[&format!("add: task {id} working")]).sent(&[]),
                false => harness
                    .events(&["add: lost StateTooLong"])
                    .sent(&[r#"{"id":@,"method":"tasks/cancel","params":{"taskId":"abcde","_meta":{..}}}"#]),
            };
            let resumed = harness.client.resume_task(id, DEFAULT);
            assert_eq!(resumed.is_ok(), fits);
            harness.pump();
            harness.discard();
        });
    }
}

const FORM: &str =
    r#"{"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object"}}}"#;
pub(super) const ROOTS: &str = r#"{"method":"roots/list"}"#;

/// TX-11, TX-12, TX-13: each key reaches the application once, unless a connection was lost with the input response.
#[test]
fn input_request_is_emitted_once_per_key() {
    run(setup(), |harness| {
        let ticket = start(harness, "");
        harness.at(500).sent(&[GET]);
        let two = format!(r#","inputRequests":{{"f":{FORM},"r":{ROOTS}}}"#);
        harness.server_sends(&got("input_required", &two)).events(&["add: needs [f=form Name?, r=roots]"]);
        // The client sends no polls while the application obtains the input.
        harness.at(5000).sent(&[]).events(&[]);
        assert_eq!(respond(harness, ticket, |responses| responses.decline("f")), Err(SendError::Invalid));
        respond(harness, ticket, |responses| {
            responses.accept("f", |content| content.field_string("name", "octocat"));
            responses.roots("r", |roots| roots.add("file:///a", "A"));
        })
        .unwrap();
        harness.sent(&[concat!(
            r#"{"id":@,"method":"tasks/update","params":{"taskId":"t","inputResponses":{"#,
            r#""f":{"action":"accept","content":{"name":"octocat"}},"r":{"roots":[{"uri":"file:///a","name":"A"}]}},"#,
            r#""_meta":{..}}}"#
        )]);
        assert_eq!(respond(harness, ticket, |_| {}), Err(SendError::Gone), "the update is in flight");
        harness.server_sends(r#"{"id":@update,"result":{"resultType":"complete"}}"#).events(&[]);
        assert_eq!(respond(harness, ticket, |_| {}), Err(SendError::Gone));
        // The status may still require the input after the update.
        harness.at(5500).sent(&[GET]);
        harness.server_sends(&got("input_required", &two)).events(&[]);
        harness.at(6000).sent(&[GET]);
        let three = format!(r#","inputRequests":{{"f":{FORM},"r2":{ROOTS}}}"#);
        harness.server_sends(&got("input_required", &three)).events(&["add: needs [r2=roots]"]);
        respond(harness, ticket, |responses| responses.roots("r2", |_| {})).unwrap();
        harness.discard().server_sends(r#"{"id":@update,"result":{}}"#);
        harness.at(6500).sent(&[GET]);
        harness.server_sends(&got("completed", RESULT)).discard();
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TX-11, TX-12, TX-13: if a connection is lost with the input responses, the client requires the input again.
#[test]
fn failed_update_ends_the_call_and_lost_one_repeats_requests() {
    let ask = format!(r#","inputRequests":{{"r":{ROOTS}}}"#);
    run(setup(), |harness| {
        let ticket = start(harness, "");
        harness.at(500).server_sends(&got("input_required", &ask)).discard();
        respond(harness, ticket, |responses| responses.roots("r", |_| {})).unwrap();
        // The connection is lost with the update.
        harness.reconnect();
        connect_again(harness);
        harness.sent(&[GET]);
        harness.server_sends(&got("input_required", &ask)).events(&["add: needs [r=roots]"]);
        respond(harness, ticket, |responses| responses.roots("r", |_| {})).unwrap();
        harness
            .discard()
            .server_sends(r#"{"id":@update,"error":{"code":-32602,"message":"unknown task"}}"#)
            .events(&["add: error unknown task (-32602)"]);
        assert_eq!(harness.client.pending(), 0);
    });
}

#[test]
fn endless_input_requests_end_the_call_and_cancel_the_task() {
    let setup = setup();
    run(Setup { info: setup.info.input_limit(2), ..setup }, |harness| {
        let ticket = start(harness, "");
        for round in 1..=3u64 {
            harness.at(round * 500).sent(&[GET]);
            harness
                .server_sends(&got("input_required", &format!(r#","inputRequests":{{"{round}":{ROOTS}}}"#)));
            if round == 3 {
                harness.events(&["add: lost TooManyInputRequests"]).sent(&[CANCEL]);
                continue;
            }
            harness.events(&[&format!("add: needs [{round}=roots]")]);
            respond(harness, ticket, |responses| responses.roots(&round.to_string(), |_| {})).unwrap();
            harness.discard().server_sends(r#"{"id":@update,"result":{}}"#);
        }
        assert_eq!(harness.client.pending(), 0);
    });
}

/// The text of a slot has 28 bytes: 18 for the client's own data, three for the quoted id, and seven for the hashes
/// of keys. Only one hash fits.
#[test]
fn input_requests_that_do_not_fit_end_the_call_and_cancel_the_task() {
    run(Setup { text: 4 * 28, ..setup() }, |harness| {
        start(harness, "");
        let two = format!(r#","inputRequests":{{"a":{ROOTS},"b":{ROOTS}}}"#);
        harness.at(500).sent(&[GET]);
        harness
            .server_sends(&got("input_required", &two))
            .events(&["add: lost StateTooLong"])
            .sent(&[CANCEL]);
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TX-2, TX-3: the content of a task's result arrives in chunks, like the content of a call's result.
#[test]
fn result_of_a_task_arrives_in_chunks() {
    for length in [50, 5000] {
        let text = "x".repeat(length);
        let result =
            format!(r#","result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#);
        run(setup().rx(700).lines_only(), |harness| {
            let ticket = start(harness, "");
            harness.client.receive_chunks(ticket).unwrap();
            harness.at(500).sent(&[GET]);
            harness.server_sends(&got("completed", &result));
            let mut events = harness.take_events();
            let end = events.pop().unwrap().replace(' ', "");
            assert_eq!(end, r#"add:result{"content":[{"type":"text","text":""}],"isError":false}"#);
            let parts = events.iter().map(|event| event.strip_prefix("add: block 0 ").unwrap());
            assert_eq!(parts.collect::<String>(), text);
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

/// TX-20: a notification has the content in one piece. A client that receives the content in chunks polls the task.
#[test]
fn notified_end_of_a_task_with_chunks_is_polled() {
    let end = format!(r#"{{"method":"notifications/tasks","params":{{{}}}}}"#, task("completed", RESULT));
    run(setup(), |harness| {
        let ticket = start(harness, "");
        harness.client.receive_chunks(ticket).unwrap();
        harness.server_sends(&end).events(&[]).sent(&[GET]);
        harness.server_sends(&got("completed", RESULT));
        // The result may have spaces in place of the content.
        let events = harness.take_events().join("\n").replace(' ', "");
        assert_eq!(events, "add:block042\nadd:result{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}");
        assert_eq!(harness.client.pending(), 0);
    });
}
