//! The slots of ended automatic tasks, which a full table gives to new tasks.

use super::*;

#[test]
fn requested_task_takes_the_slot_of_the_oldest_ended_task() {
    let done = |call: Call<'_>| call.text("done");
    let mut host = Host::automatic(table()).session("2025-11-25");
    let open = host.request("tools/call", json!({"name": "optional", "task": {}}));
    let mut ids = vec![text(&open["result"]["task"]["taskId"])];
    for _ in 0..4 {
        host.now.0 += 1;
        ids.push(text(&host.call_with_task(done)["result"]["task"]["taskId"]));
    }
    let is_known = |host: &mut Host, id: &String| {
        host.request("tasks/get", json!({"taskId": id})).get("result").is_some()
    };
    assert!(host.take_events().is_empty());
    let known: Vec<bool> = ids.iter().map(|id| is_known(&mut host, id)).collect();
    assert_eq!(known, [true, false, false, true, true]);
}

#[test]
fn slot_of_a_requested_task_is_taken_from_the_same_user_first() {
    let mut host = Host::automatic(table()).session("2025-11-25");
    let mut ids = Vec::new();
    for user in [1, 2, 3, 2, 2] {
        host.now.0 += 1;
        host.server.set_user(user);
        ids.push((user, text(&host.call_with_task(|call| call.text("done"))["result"]["task"]["taskId"])));
    }
    host.server.set_user(4);
    ids.push((4, text(&host.call_with_task(|call| call.text("done"))["result"]["task"]["taskId"])));
    let mut known = Vec::new();
    for (user, id) in &ids {
        host.server.set_user(*user);
        known.push(host.request("tasks/get", json!({"taskId": id})).get("result").is_some());
    }
    assert_eq!(known, [false, false, true, false, true, true]);
}
