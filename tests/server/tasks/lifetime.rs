//! Expiry, stale tickets, full tables, and tasks that outlive their connection.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use mcp_proto::SendError;
use mcp_proto::server::{SecondInitialize, TaskOutcome};

#[test]
fn slot_has_at_most_96_bytes() {
    assert!(size_of::<TaskSlot>() <= 96, "{}", size_of::<TaskSlot>());
    assert_eq!(size_of::<TaskTicket>(), 8);
}

#[test]
fn task_expires_after_its_time_to_live() {
    // TC-25, TC-26, TX-16, TX-23
    let mut host = Host::extension();
    host.options = host.options.ttl(Millis(5000));
    let (open, ended) = (host.create(), host.create());
    host.complete("done");
    host.at(4999);
    assert_eq!(host.get(&ended)["status"], "completed");
    assert!(host.take_events().is_empty());
    host.at(5000);
    assert_eq!(host.take_events(), ["expired 0", "expired 1"]);
    for id in [open, ended] {
        assert_eq!(code(&host.modern("tasks/get", json!({"taskId": id}))), -32602);
    }
    let first = host.tickets[0];
    assert_eq!(host.server.task(first).map(drop), Err(SendError::Gone));
}

#[test]
fn server_announces_the_next_expiry() {
    let mut host = Host::extension();
    host.create();
    let deadline = |host: &mut Host| match host.server.poll(host.now) {
        Action::Io(io) => io.deadline(),
        _ => panic!("no event is pending"),
    };
    assert_eq!(deadline(&mut host), Some(Millis(300_000)));
    host.at(300_000);
    assert_eq!(deadline(&mut host), None);
}

#[test]
fn request_that_waits_for_an_expired_task_is_refused() {
    // TC-25
    let mut host = Host::core();
    let id = host.create_core();
    host.start("tasks/result", json!({"taskId": id}));
    host.at(300_000);
    assert_eq!(host.take_events(), ["expired 0"]);
    assert_eq!(code(&host.take()[0]), -32602);
    assert_eq!(host.server.deferred(), 0);
}

#[test]
fn full_table_makes_no_task() {
    // TC-34
    let mut host = Host::extension();
    let ids: Vec<_> = (0..3).map(|_| host.create()).collect();
    let response = host.modern("tools/call", json!({"name": "optional"}));
    assert_eq!((&response["result"]["resultType"], host.tickets.len()), (&json!("complete"), 3));
    host.complete("done");
    let ticket = host.last();
    host.server.remove_task(ticket);
    assert_eq!(code(&host.modern("tasks/get", json!({"taskId": ids[2]}))), -32602);
    assert_ne!(host.create(), ids[2]);
    assert_eq!(host.server.task(ticket).map(drop), Err(SendError::Gone), "the ticket is stale");
    host.server.remove_task(ticket);
    assert_eq!(host.tickets.len(), 4);
}

#[test]
fn task_whose_response_does_not_fit_is_removed() {
    // The progress leaves only the space for an error.
    let mut host = Host::extension();
    host.events.push("progress".into());
    for _ in 0..4 {
        let mut params = with_meta(json!({"name": "optional"}), DECLARED);
        params["_meta"]["progressToken"] = json!(1);
        host.start("tools/call", params);
        assert_eq!(code(&host.take()[1]), -32603);
        let ticket = host.last();
        assert_eq!(host.server.task(ticket).map(drop), Err(SendError::Gone));
    }
    assert_eq!(host.take_events()[1..], ["ReplyTooLarge { limit: 4096 }"; 4]);
}

#[test]
fn reset_removes_tasks_unless_the_table_keeps_them() {
    for keeps in [false, true] {
        let table = if keeps { table().keep_on_reset() } else { table() };
        let mut host = Host::new(&CONFIG, Some(table));
        let (modern, kept) = (host.create(), host.create());
        host.server.task(host.last()).unwrap().finish(TaskOutcome::Completed);
        host.server.reset();
        host.take();
        if !keeps {
            assert_eq!(code(&host.modern("tasks/get", json!({"taskId": modern}))), -32602);
            assert!(host.tickets.iter().all(|ticket| host.server.task(*ticket).is_err()));
            continue;
        }
        assert_eq!(host.get(&modern)["status"], "working");
        assert_eq!(host.get(&kept)["result"]["content"][0]["text"], "kept");
        let first = host.tickets[0];
        host.server.task(first).unwrap().complete(|result| result.text("late")).unwrap();
        assert_eq!(host.get(&modern)["result"]["content"][0]["text"], "late");
    }
}

#[test]
fn restart_removes_tasks_unless_the_table_keeps_them() {
    // TC-33
    static RESTART: ServerConfig =
        ServerConfig::new("s", "1").features(&[&TOOLS, &TASKS]).second_initialize(SecondInitialize::Restart);
    for keeps in [false, true] {
        let table = if keeps { table().keep_on_reset() } else { table() };
        let mut host = Host::new(&RESTART, Some(table)).session("2025-11-25");
        host.server.set_user(7);
        host.create_core();
        host.server.task(host.last()).unwrap().require_input("who", &FORM).unwrap();
        let mut host = host.session("2025-11-25");
        let listed = host.request("tasks/list", json!({}));
        let tasks = listed["result"]["tasks"].as_array().unwrap();
        assert_eq!(tasks.len(), usize::from(keeps), "{listed}");
        assert!(tasks.iter().all(|task| task["status"] == "working"), "its input request has ended");
        assert_eq!(host.server.task(host.last()).is_ok(), keeps);
    }
}

#[test]
fn next_session_finds_tasks_of_the_last_one() {
    let mut host = Host::new(&CONFIG, Some(table().keep_on_reset())).session("2025-11-25");
    let id = host.create_core();
    host.start("tasks/result", json!({"taskId": id}));
    host.server.task(host.last()).unwrap().require_input("who", &FORM).unwrap();
    host.server.reset();
    let mut host = host.session("2025-11-25");
    assert_eq!(host.get_core(&id)["status"], "working", "its input request has ended");
    host.complete("done");
    let response = host.request("tasks/result", json!({"taskId": id}));
    assert_eq!(response["result"]["content"][0]["text"], "done");
}

#[test]
fn messages_of_a_task_need_a_session_of_its_revision() {
    let mut host = Host::new(&CONFIG, Some(table().keep_on_reset())).session("2025-11-25");
    let params = json!({"name": "optional", "task": {}, "_meta": {"progressToken": "p"}});
    host.request("tools/call", params);
    let ticket = host.last();
    let attempt = |host: &mut Host| {
        let asked = host.server.task(ticket).unwrap().require_input("who", &FORM);
        (asked, host.server.task(ticket).unwrap().progress(1, None, ""))
    };
    host.server.reset();
    let none = (Err(SendError::NotConnected), Err(SendError::NotConnected));
    assert_eq!(attempt(&mut host), none, "no session");
    let mut host = host.session("2024-11-05");
    assert_eq!(attempt(&mut host), none, "a revision without tasks");
    host.server.reset();
    let mut host = host.session("2025-11-25");
    host.server.task(ticket).unwrap().progress(1, None, "").unwrap();
    host.take();
    assert_eq!(attempt(&mut host), (Ok(()), Err(SendError::NotWanted)));
}

#[test]
fn table_on_the_heap_works_like_a_lent_one() {
    let mut host = Host::extension();
    let (rx, tx) = (leak([0; 4096]), leak([0; 4096]));
    host.server =
        Server::new(&CONFIG, rx, tx).unwrap().tasks_owned(TaskTable::grown(2, 300).wall_clock(START));
    let id = host.create();
    let ticket = host.last();
    let mut task = host.server.task(ticket).unwrap();
    task.set_message("half").unwrap();
    task.require_input("who", &FORM).unwrap();
    assert_eq!(host.get(&id)["status"], "input_required");
    let long = "x".repeat(500);
    let task = host.server.task(ticket).unwrap();
    assert_eq!(task.complete(|result| result.text(&*long)), Err(SendError::Unwritable));
    host.complete("done");
    assert_eq!(host.get(&id)["result"]["content"][0]["text"], "done");
    host.create();
    let response = host.modern("tools/call", json!({"name": "optional"}));
    assert_eq!(response["result"]["resultType"], "complete", "the limit is two tasks");
}

#[test]
fn payload_that_fits_no_response_is_refused() {
    // TX-9
    let mut host = Host::extension();
    let server = Server::new(&CONFIG, leak([0; 4096]), leak([0; 1024])).unwrap();
    let tasks = TaskTable::new(leak([TaskSlot::EMPTY; 1]), leak([0; 4096])).wall_clock(START);
    host.server = server.tasks(leak(tasks));
    let id = host.create();
    let ticket = host.last();
    let mut keys = (0..100).map(|key| key.to_string());
    let refused = keys
        .find_map(|key| host.server.task(ticket).unwrap().require_input(&key, &FORM).err().map(|e| (key, e)));
    let (key, error) = refused.unwrap();
    assert_eq!(error, SendError::Unwritable);
    for letter in ["\u{1}", "\"", "m"] {
        host.server.task(ticket).unwrap().set_message(&letter.repeat(128)).unwrap();
        let task = host.get(&id);
        assert_eq!(task["status"], "input_required", "{letter:?}");
        assert_eq!(task["inputRequests"].as_object().unwrap().len(), key.parse::<usize>().unwrap());
    }
    let mut complete = |length| {
        let text = "x".repeat(length);
        host.server.task(ticket).unwrap().complete(|result| result.text(&*text))
    };
    assert_eq!(complete(2048), Err(SendError::Unwritable));
    let longest = (0..2048).rev().find(|length| complete(*length).is_ok()).unwrap();
    assert!(longest > 200, "{longest}");
    assert_eq!(host.get(&id)["result"]["content"][0]["text"].as_str().unwrap().len(), longest);
}

#[test]
fn panic_in_the_result_of_a_task_removes_no_task() {
    let mut host = Host::extension();
    let ids = [host.create(), host.create()];
    let first = host.tickets[0];
    let complete = || host.server.task(first).unwrap().complete(|_| panic!("in the result"));
    assert!(catch_unwind(AssertUnwindSafe(complete)).is_err());
    for id in ids {
        assert_eq!(host.get(&id)["status"], "working");
    }
    for ticket in host.tickets.clone() {
        host.server.task(ticket).unwrap().complete(|result| result.text("done")).unwrap();
    }
}
