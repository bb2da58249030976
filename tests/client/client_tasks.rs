//! Tasks of 2025-11-25 that the client runs for its server. `TC-1` is a requirement of `docs/task-rules.md`.

use std::cell::RefCell;
use std::rc::Rc;

use crate::support::client::{ClientHarness, Setup, bytes};
use mcp_proto::client::{ClientConfig, Connect, TaskLimits, TaskOptions, TaskSlot, TaskTable};
use mcp_proto::{Action, Client, ClientCapabilities as C, Millis, Revision, Revisions, SendError, Ticket};

pub(super) const ALL: C = C::ROOTS.with(C::SAMPLING).with(C::ELICITATION_FORM).with(C::ELICITATION_URL);

pub(super) fn options() -> TaskOptions {
    TaskOptions::new([0xAB; 16]).longest_ttl(Millis(100_000))
}

pub(super) fn table(slots: usize, text: usize) -> TaskTable<'static> {
    TaskTable::new(Box::leak(vec![TaskSlot::EMPTY; slots].into_boxed_slice()), bytes(slots * text))
}

pub(super) fn setup() -> Setup {
    let setup = Setup::handshake().declares(ALL);
    Setup { info: setup.info.client_tasks(options), task_table: Some(|| table(4, 256)), ..setup }
}

pub(super) fn run(dialogue: impl Fn(&mut ClientHarness)) {
    setup().run(|harness| {
        harness.connect();
        dialogue(harness);
    });
}

/// Defers each server request and records its ticket.
pub(super) fn defers(harness: &mut ClientHarness) -> Rc<RefCell<Vec<Ticket>>> {
    let tickets = Rc::new(RefCell::new(Vec::new()));
    let kept = tickets.clone();
    harness.on_server_request(move |request| {
        assert!(request.is_task());
        let ticket = request.defer(None).unwrap();
        kept.borrow_mut().push(ticket);
        None
    });
    tickets
}

/// Accepts each form, with the name `x`.
fn accepts(harness: &mut ClientHarness) {
    harness.on_server_request(|request| {
        request.accept(|content| content.field_string("name", "x"));
        None
    });
}

const BITS: &str = "abababababababababababababababab";

/// Returns the id of the task in the first slot, with this generation.
fn id(generation: u8) -> String {
    format!("0000{generation:02x}000000{BITS}")
}

/// Returns the members of a task that is created and updated at these seconds.
fn task(id: &str, status: &str, created: u8, updated: u8, ttl: u64) -> String {
    format!(
        r#""taskId":"{id}","status":"{status}","createdAt":"1970-01-01T00:00:{created:02}.000Z","lastUpdatedAt":"1970-01-01T00:00:{updated:02}.000Z","ttl":{ttl},"pollInterval":1000"#
    )
}

fn working() -> String {
    task(&id(0), "working", 0, 0, 60_000)
}

/// A request with the id 1 that becomes a task.
pub(super) const FORM: &str = r#"{"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{},"task":{"ttl":60000}}}"#;
const SAMPLE: &str =
    r#"{"id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9,"task":{}}}"#;

fn created() -> String {
    format!(r#"{{"id":1,"result":{{"task":{{{}}}}}}}"#, working())
}

/// Returns a request about the task in the first slot.
pub(super) fn about(id_of_request: u32, method: &str) -> String {
    format!(r#"{{"id":{id_of_request},"method":"tasks/{method}","params":{{"taskId":"{}"}}}}"#, id(0))
}

/// Returns a response with these members of a result, and with the metadata of the task.
pub(super) fn payload(id_of_request: u32, members: &str) -> String {
    let task = id(0);
    format!(
        r#"{{"id":{id_of_request},"result":{{"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{task}"}}}},{members}}}}}"#
    )
}

pub(super) const ACCEPTED: &str = r#""action":"accept","content":{"name":"x"}"#;

pub(super) fn unknown(id_of_request: u32) -> String {
    format!(r#"{{"id":{id_of_request},"error":{{"code":-32602,"message":"Invalid params"}}}}"#)
}

/// TC-1, TC-2: the client declares the requests that can become tasks, in the revision with tasks.
#[test]
fn capability_names_the_requests_that_can_become_tasks() {
    const ELICITATION: &str = r#""elicitation":{"create":{}}"#;
    const SAMPLING: &str = r#""sampling":{"createMessage":{}}"#;
    let latest = Revision::V2025_11_25;
    for (declared, revision, has_table, expected) in [
        (C::SAMPLING, latest, true, Some(SAMPLING.to_owned())),
        (C::ELICITATION_FORM, latest, true, Some(ELICITATION.to_owned())),
        (C::ELICITATION_URL, latest, true, Some(ELICITATION.to_owned())),
        (ALL, latest, true, Some(format!("{SAMPLING},{ELICITATION}"))),
        (C::ROOTS, latest, true, None),
        (ALL, latest, false, None),
        (ALL, Revision::V2025_06_18, true, None),
    ] {
        let info = Box::leak(Box::new(
            ClientConfig::new("c", "1")
                .connect(Connect::Handshake)
                .revisions(Revisions::only(revision))
                .capabilities(declared)
                .client_tasks(options),
        ));
        let mut client = Client::new(info, bytes(1024), bytes(1024)).unwrap();
        if has_table {
            client = client.client_tasks(Box::leak(Box::new(table(1, 64)))).unwrap();
        }
        let Action::Io(io) = client.poll(Millis(0)) else { panic!("the client connects") };
        let sent = String::from_utf8(io.split().0.bytes().to_vec()).unwrap();
        let tasks = expected
            .map(|requests| format!(r#""tasks":{{"list":{{}},"cancel":{{}},"requests":{{{requests}}}}}"#));
        match tasks {
            Some(tasks) => assert!(sent.contains(&tasks), "{sent}"),
            None => assert!(!sent.contains("tasks"), "{sent}"),
        }
    }
}

/// TC-8, TC-9, TC-10, TC-11, TC-14, TC-19, TC-20, TC-22, TC-28: a deferred request becomes a task, which ends with the
/// response of the application.
#[test]
fn deferred_request_becomes_a_task_with_its_result() {
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(FORM).events(&["asked form m"]).sent(&[&created()]);
        let ticket = tickets.borrow()[0];
        assert!(harness.client.is_pending(ticket));
        assert_eq!((harness.client.pending(), harness.deadline), (0, Some(60_000)));
        let got = |id, task: &str| format!(r#"{{"id":{id},"result":{{{task}}}}}"#);
        harness.server_sends(&about(2, "get")).sent(&[&got(2, &working())]);
        harness.at(3_000);
        let reply = harness.client.reply(ticket).unwrap();
        reply.accept(|content| content.field_string("name", "x"));
        harness.pump();
        assert!(!harness.client.is_pending(ticket));
        assert_eq!(harness.client.reply(ticket).err(), Some(SendError::Gone));
        harness.sent(&[]).server_sends(&about(3, "get"));
        harness.sent(&[&got(3, &task(&id(0), "completed", 0, 3, 60_000))]);
        // The result remains until the time to live ends.
        for id in 4..6 {
            harness.server_sends(&about(id, "result")).sent(&[&payload(id, ACCEPTED)]);
        }
    });
}

/// TC-9, TC-10, TC-20: a request with an immediate result also becomes a task. The ids of tasks are unique.
#[test]
fn immediate_response_becomes_a_task_that_has_ended() {
    run(|harness| {
        accepts(harness);
        harness.server_sends(FORM).events(&["asked form m"]).sent(&[&created()]);
        harness.server_sends(&about(2, "result")).sent(&[&payload(2, ACCEPTED)]);
        harness.at(60_000).sent(&[]).server_sends(&about(3, "result"));
        harness.events(&["fault InvalidParams"]).sent(&[&unknown(3)]);
        harness.server_sends(&FORM.replace(r#""id":1"#, r#""id":4"#)).events(&["asked form m"]);
        let sent = harness.take_sent();
        assert!(sent[0].contains(&id(1)), "{sent:?}");
    });
}

/// TC-20: the result of a task for sampling is that of `sampling/createMessage`.
#[test]
fn sampled_message_is_the_result_of_its_task() {
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(SAMPLE).events(&["asked sample 9"]);
        harness.discard();
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.sampled("m", "endTurn", |content| content.text("hello"));
        harness.server_sends(&about(2, "result"));
        let message = r#""role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"hello"}"#;
        harness.sent(&[&payload(2, message)]);
    });
}

/// TC-6, TC-7, TC-8: a request becomes a task only if it has `task`, and if the client declares tasks for its method.
#[test]
fn request_without_a_task_gets_an_ordinary_response() {
    run(|harness| {
        harness.on_server_request(|request| {
            assert!(!request.is_task());
            match request.input() {
                mcp_proto::client::InputRequest::Roots => request.roots(|_| {}),
                _ => request.decline(),
            }
            None
        });
        for task in ["", r#","task":null"#] {
            let plain = FORM.replace(r#","task":{"ttl":60000}"#, task);
            harness
                .server_sends(&plain)
                .events(&["asked form m"])
                .sent(&[r#"{"id":1,"result":{"action":"decline"}}"#]);
        }
        harness.server_sends(r#"{"id":2,"method":"roots/list","params":{"task":{"ttl":1}}}"#);
        harness.events(&["asked roots"]).sent(&[r#"{"id":2,"result":{"roots":[]}}"#]);
        for wrong in ["true", "7", "[]"] {
            harness.server_sends(&FORM.replace(r#"{"ttl":60000}"#, wrong));
            harness.events(&["fault InvalidParams"]).sent(&[&unknown(1)]);
        }
    });
    for setup in [Setup { task_table: None, ..setup() }, setup().revision(Revision::V2025_06_18)] {
        setup.run(|harness| {
            harness.connect();
            accepts(harness);
            harness.server_sends(FORM).events(&["asked form m"]);
            harness.sent(&[&format!(r#"{{"id":1,"result":{{{ACCEPTED}}}}}"#)]);
            for method in ["get", "result", "list", "cancel"] {
                harness.server_sends(&about(2, method)).events(&["fault UnknownMethod"]);
                assert!(harness.take_sent()[0].contains("-32601"));
            }
        });
    }
}

/// TC-13, TC-34: the client limits the time to live, and reports the actual one.
#[test]
fn requested_time_to_live_is_limited() {
    for (requested, ttl) in [("", 300_000), (r#""ttl":60000"#, 60_000), (r#""ttl":9000000"#, 100_000)] {
        run(|harness| {
            defers(harness);
            harness.server_sends(&FORM.replace(r#""ttl":60000"#, requested)).events(&["asked form m"]);
            let task = task(&id(0), "working", 0, 0, ttl);
            harness.sent(&[&format!(r#"{{"id":1,"result":{{"task":{{{task}}}}}}}"#)]);
        });
    }
}

/// TC-17, TC-20: an error in a deferred response fails the task, and `tasks/result` returns the error.
#[test]
fn error_of_the_application_fails_the_task() {
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(SAMPLE).discard();
        harness.client.reply(tickets.borrow()[0]).unwrap().error_with(-7, "no", |data| data.boolean(true));
        harness.server_sends(&about(2, "get"));
        assert!(harness.take_sent()[0].contains(r#""status":"failed""#));
        harness.server_sends(&about(3, "result"));
        harness.sent(&[r#"{"id":3,"error":{"code":-7,"message":"no","data":true}}"#]);
    });
    // The application sends the wrong kind of response.
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(SAMPLE).discard();
        harness.client.reply(tickets.borrow()[0]).unwrap().roots(|_| {});
        harness.pump();
        harness.events(&["fault InvalidReply"]).server_sends(&about(3, "result"));
        assert!(harness.take_sent()[0].contains("-32603"));
    });
    // An immediate error is an ordinary response, so the request becomes no task.
    run(|harness| {
        harness.on_server_request(|request| {
            request.error(-7, "no");
            None
        });
        harness.server_sends(SAMPLE).events(&["asked sample 9"]);
        harness.sent(&[r#"{"id":1,"error":{"code":-7,"message":"no"}}"#]);
    });
}

/// TC-21: `tasks/result` waits for the end of the task.
#[test]
fn result_waits_for_the_end_of_the_task() {
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).server_sends(&about(3, "result"));
        harness.sent(&[]).events(&[]);
        assert_eq!(harness.client.pending(), 2);
        // The cancellation of a waiting `tasks/result` causes no event.
        harness.server_sends(r#"{"method":"notifications/cancelled","params":{"requestId":2}}"#);
        harness.events(&[]);
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.accept(|content| content.field_string("name", "x"));
        harness.pump();
        harness.sent(&[&payload(3, ACCEPTED)]);
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TC-21: a waiting `tasks/result` needs a slot of the client.
#[test]
fn waiting_request_without_a_slot_is_refused() {
    Setup { slots: 1, ..setup() }.run(|harness| {
        harness.connect();
        defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).sent(&[]);
        harness.server_sends(&about(3, "result")).events(&["fault TooManyInFlight"]);
        assert!(harness.take_sent()[0].contains(r#""id":3,"error":{"code":-32603"#));
    });
    // Beside the link to its task, a slot of eight bytes has space for an id of one byte.
    Setup { text: 32, ..setup() }.run(|harness| {
        harness.connect();
        defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).sent(&[]);
        harness.server_sends(&about(33, "result")).events(&["fault IdTooLong"]);
        assert!(harness.take_sent()[0].contains(r#""id":33,"error":{"code":-32600"#));
    });
}

/// TC-16, TC-18, TC-24: a cancelled task stays cancelled, and an ended task cannot be cancelled.
#[test]
fn cancelled_task_stays_cancelled() {
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).sent(&[]);
        harness.at(2_000).server_sends(&about(3, "cancel")).events(&["cancelled"]);
        let cancelled = task(&id(0), "cancelled", 0, 2, 60_000);
        harness.sent(&[
            &format!(r#"{{"id":3,"result":{{{cancelled}}}}}"#),
            r#"{"id":2,"error":{"code":-32603,"message":"the task was cancelled"}}"#,
        ]);
        let ticket = tickets.borrow()[0];
        assert!(!harness.client.is_pending(ticket));
        assert_eq!(harness.client.reply(ticket).err(), Some(SendError::Gone));
        harness.server_sends(&about(4, "get")).sent(&[&format!(r#"{{"id":4,"result":{{{cancelled}}}}}"#)]);
        harness.server_sends(&about(5, "cancel")).events(&["fault InvalidParams"]).sent(&[&unknown(5)]);
    });
    run(|harness| {
        accepts(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(5, "cancel")).events(&["fault InvalidParams"]).sent(&[&unknown(5)]);
        harness.server_sends(&about(6, "result")).sent(&[&payload(6, ACCEPTED)]);
    });
}

/// TC-25: a request about a task that does not exist gets -32602.
#[test]
fn unknown_task_is_refused() {
    let other = id(1);
    let bits = id(0).replace("ab", "ac");
    for method in ["get", "result", "cancel"] {
        for params in [
            format!(r#"{{"taskId":"{other}"}}"#),
            format!(r#"{{"taskId":"{bits}"}}"#),
            r#"{"taskId":"x"}"#.to_owned(),
            r#"{"taskId":7}"#.to_owned(),
            "{}".to_owned(),
        ] {
            run(|harness| {
                defers(harness);
                harness.server_sends(FORM).discard();
                let request = format!(r#"{{"id":2,"method":"tasks/{method}","params":{params}}}"#);
                harness.server_sends(&request).events(&["fault InvalidParams"]).sent(&[&unknown(2)]);
            });
        }
    }
}

/// TC-23: the pages of `tasks/list` have every task once. A request with an unknown cursor gets -32602.
#[test]
fn list_has_pages() {
    Setup { max_reply_size: Some(600), ..setup() }.run(|harness| {
        harness.connect();
        defers(harness);
        for id in 1..4 {
            harness.server_sends(&FORM.replace(r#""id":1"#, &format!(r#""id":{id}"#))).discard();
        }
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            harness.server_sends(&format!(r#"{{"id":9,"method":"tasks/list","params":{{{cursor}}}}}"#));
            let page: serde_json::Value = serde_json::from_str(&harness.take_sent()[0]).unwrap();
            let tasks = page["result"]["tasks"].as_array().unwrap();
            assert!((1..3).contains(&tasks.len()), "{page}");
            found.extend(tasks.iter().map(|task| task["taskId"].as_str().unwrap().to_owned()));
            let Some(next) = page["result"].get("nextCursor") else { break };
            cursor = format!(r#""cursor":{next}"#);
        }
        let expected: Vec<_> = (0..3).map(|slot| format!("{slot:02x}0000000000{BITS}")).collect();
        assert_eq!(found, expected);
        for wrong in [r#""x""#, "7", r#""p4""#] {
            harness
                .server_sends(&format!(r#"{{"id":9,"method":"tasks/list","params":{{"cursor":{wrong}}}}}"#));
            harness.events(&["fault BadCursor"]);
            assert!(harness.take_sent()[0].contains("-32602"));
        }
    });
}

/// TC-28, TC-31: with `TaskTable::notify`, the client notifies the server of each change, with the whole task.
#[test]
fn changed_status_is_notified_on_request() {
    Setup { task_table: Some(|| table(4, 256).notify()), ..setup() }.run(|harness| {
        harness.connect();
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).at(4_000);
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.accept(|content| content.field_string("name", "x"));
        harness.pump();
        let ended = task(&id(0), "completed", 0, 4, 60_000);
        harness.sent(&[
            &format!(r#"{{"method":"notifications/tasks/status","params":{{{ended}}}}}"#),
            &payload(2, ACCEPTED),
        ]);
    });
}

/// TC-27: if the server sends a request for one of its tasks, the response has the metadata of that task, even if the
/// request becomes a task of the client.
#[test]
fn request_of_a_task_of_the_server_keeps_its_metadata() {
    let setup = setup();
    Setup { info: setup.info.tasks(TaskLimits::DEFAULT), ..setup }.run(|harness| {
        harness.connect();
        defers(harness);
        let related = r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"s"}}"#;
        harness.server_sends(&FORM.replace(r#""message""#, &format!(r#"{related},"message""#)));
        harness.events(&["asked form m"]);
        harness.sent(&[&format!(r#"{{"id":1,"result":{{"task":{{{}}},{related}}}}}"#, working())]);
    });
}
