//! Subscriptions to tasks (`2026-07-28`).

use super::*;
use mcp_proto::server::TaskOutcome;

/// Opens a subscription, and returns its id and the acknowledged filter.
fn listen(host: &mut Host, ids: &[&str]) -> (u64, Value) {
    let params = with_meta(json!({"notifications": {"taskIds": ids}}), DECLARED);
    let id = host.start("subscriptions/listen", params);
    let messages = host.take();
    assert_eq!(messages[0]["method"], "notifications/subscriptions/acknowledged");
    (id, messages[0]["params"]["notifications"].clone())
}

#[test]
fn acknowledgment_names_the_watched_tasks() {
    // TX-20
    let mut host = Host::extension();
    let (first, second) = (host.create(), host.create());
    let (_, filter) = listen(&mut host, &[&first, "x", &second, &first]);
    assert_eq!(filter, json!({"taskIds": [first, second]}));
    assert_eq!(listen(&mut host, &["x"]).1, json!({}));
}

#[test]
fn acknowledgment_omits_tasks_that_do_not_fit() {
    // TX-20
    let mut host = Host::extension();
    let server = Server::new(&CONFIG, leak([0; 4096]), leak([0; 1024])).unwrap();
    let server = server.in_flight(leak([Slot::EMPTY; 6]), leak([0; 6 * 40])).unwrap();
    let server = server.subscription_buffer(leak([0; 4096]));
    let tasks = TaskTable::new(leak([TaskSlot::EMPTY; 25]), leak([0; 25 * 600])).wall_clock(START);
    host.server = server.tasks(leak(tasks));
    let ids: Vec<_> = (0..25).map(|_| host.create()).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let watched = listen(&mut host, &ids).1["taskIds"].as_array().unwrap().len();
    assert!(watched > 10 && watched < 25, "{watched}");
    for (at, ticket) in host.tickets.clone().into_iter().enumerate() {
        host.server.task(ticket).unwrap().set_message("half").unwrap();
        assert_eq!(host.take().len(), usize::from(at < watched), "{at}");
    }
}

#[test]
fn subscription_to_tasks_needs_the_declaration() {
    // TX-20
    let mut host = Host::extension();
    let params = with_meta(json!({"notifications": {"taskIds": []}}), "{}");
    assert_eq!(code(&host.request("subscriptions/listen", params)), -32021);
}

#[test]
fn watched_task_is_notified_as_get_would_show_it() {
    // TX-20, TX-21
    let mut host = Host::extension();
    let (id, other) = (host.create(), host.create());
    let watched = host.tickets[0];
    let (listener, _) = listen(&mut host, &[&id]);
    let changes: [&dyn Fn(&mut Host); 4] = [
        &|host| host.server.task(watched).unwrap().set_message("half").unwrap(),
        &|host| host.server.task(watched).unwrap().require_input("who", &FORM).unwrap(),
        &|host| host.server.task(watched).unwrap().set_message("waiting").unwrap(),
        &|host| host.server.task(watched).unwrap().complete(|result| result.text("done")).unwrap(),
    ];
    for change in changes {
        change(&mut host);
        let messages = host.take();
        assert_eq!(
            (messages.len(), &messages[0]["method"]),
            (1, &json!("notifications/tasks")),
            "{messages:?}"
        );
        let mut params = messages[0]["params"].clone();
        let meta = params.as_object_mut().unwrap().remove("_meta").unwrap();
        assert_eq!(meta, json!({"io.modelcontextprotocol/subscriptionId": listener}));
        params["resultType"] = "complete".into();
        assert_eq!(params, host.get(&id));
    }
    host.complete("not watched");
    assert!(host.take().is_empty(), "{other}");
}

#[test]
fn several_changes_are_one_notification() {
    let mut host = Host::extension();
    let id = host.create();
    listen(&mut host, &[&id]);
    for message in ["1", "2", "3"] {
        host.server.task(host.last()).unwrap().set_message(message).unwrap();
    }
    let messages = host.take();
    assert_eq!((messages.len(), &messages[0]["params"]["statusMessage"]), (1, &json!("3")));
}

#[test]
fn kept_result_is_written_for_each_subscription() {
    // TX-20
    let mut host = Host::extension();
    let id = host.create();
    let listeners = [listen(&mut host, &[&id]).0, listen(&mut host, &[&id]).0];
    host.server.task(host.last()).unwrap().finish(TaskOutcome::Completed);
    let messages = host.take();
    assert_eq!(messages.len(), 2);
    for (message, listener) in messages.iter().zip(listeners) {
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listener);
        assert_eq!(message["params"]["result"]["content"][0]["text"], "kept");
    }
    assert_eq!(host.take_events(), ["result 0", "result 0"]);
    // If the application drops `Event::TaskResult`, the server sends nothing, and the subscription continues.
    let id = host.create();
    listen(&mut host, &[&id]);
    host.events.push("drop".into());
    host.server.task(host.last()).unwrap().finish(TaskOutcome::Completed);
    assert!(host.take().is_empty());
    assert_eq!(host.server.deferred(), 3);
}

#[test]
fn ended_subscription_gets_nothing() {
    let mut host = Host::extension();
    let id = host.create();
    let (listener, _) = listen(&mut host, &[&id]);
    host.server.task(host.last()).unwrap().set_message("before").unwrap();
    // The change happened before the cancellation, so the server still sends the notification.
    host.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": listener}}),
    );
    assert_eq!(host.take()[0]["params"]["statusMessage"], "before");
    host.complete("done");
    assert!(host.take().is_empty());
}

#[test]
fn cancelled_task_is_notified_and_expired_task_is_not() {
    let mut host = Host::extension();
    let (id, other) = (host.create(), host.create());
    listen(&mut host, &[&id, &other]);
    host.start("tasks/cancel", with_meta(json!({"taskId": id}), DECLARED));
    let messages = host.take();
    assert_eq!(messages[1]["params"]["status"], "cancelled");
    host.at(300_000);
    assert!(host.take().is_empty());
}

#[test]
fn task_is_no_resource() {
    let mut host = Host::extension();
    let id = host.create();
    listen(&mut host, &[&id]);
    assert!(!host.server.is_watched(&id));
    host.server.changed(mcp_proto::server::Change::Resource(&id));
    assert!(host.take().is_empty());
}

#[test]
fn task_is_notified_before_its_subscription_ends_within_a_batch() {
    let host = Host::new(&CONFIG, Some(table()));
    let server = host.server.batch_buffer(leak([0; 2048])).max_reply_size(1500).unwrap();
    let mut host = Host { server, ..host }.session("2025-03-26");
    let id = host.create();
    let listen = with_meta(json!({"notifications": {"taskIds": [id]}}), DECLARED);
    let listen = json!({"jsonrpc": "2.0", "id": 70, "method": "subscriptions/listen", "params": listen});
    let call = json!({"jsonrpc": "2.0", "id": 71, "method": "tools/call", "params": {"name": "plain"}});
    let lines = format!("{listen}\n{}\n", json!([call]));
    let (mut input, mut subscription) = (lines.as_bytes(), None);
    loop {
        match host.server.poll(host.now) {
            Action::Io(io) => {
                if !exchange(io, &mut input, &mut host.output) {
                    break;
                }
            }
            Action::Event => match host.server.event() {
                Some(Event::Listening(listening)) => subscription = Some(listening.ticket()),
                Some(Event::Call(call)) => {
                    call.text("x");
                    host.complete("done");
                    host.server.end_subscription(subscription.unwrap()).unwrap();
                }
                event => panic!("{event:?}"),
            },
            Action::Closed => panic!("closed"),
        }
    }
    let messages = host.take();
    let statuses: Vec<&Value> = messages.iter().map(|message| &message["params"]["status"]).collect();
    let ended = messages.iter().position(|message| message["id"] == 70).unwrap();
    assert!(statuses[..ended].contains(&&json!("completed")), "{messages:?}");
}

#[test]
fn messages_about_tasks_do_not_delay_the_end() {
    let mut modern = Host::extension();
    let id = modern.create();
    listen(&mut modern, &[&id]);
    let mut session = Host::new(&CONFIG, Some(table().notify_sessions())).session("2025-11-25");
    session.request("tools/call", json!({"name": "optional", "task": {}, "_meta": {"progressToken": "p"}}));
    for mut host in [modern, session] {
        let ticket = host.last();
        host.server.shutdown(Millis(0));
        let is_closed = (0..5000u32).any(|step| {
            let mut task = host.server.task(ticket).unwrap();
            task.set_message("half").unwrap();
            let _ = task.progress(step + 1, None, "");
            match host.server.poll(Millis(step.into())) {
                Action::Closed => true,
                Action::Event => host.server.event().is_none(),
                Action::Io(io) => {
                    let out = io.split().0;
                    let length = out.bytes().len();
                    out.sent(length);
                    false
                }
            }
        });
        assert!(is_closed, "the grace period is two seconds");
    }
}
