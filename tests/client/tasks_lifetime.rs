//! Tasks of 2026-07-28: cancellation, time limits, reconnects, stored ids, notifications.
//!
//! Numbers such as `TX-2` refer to requirements in `docs/task-rules.md`.

use super::tasks::{
    CANCEL, DEFAULT, GET, LIMITS, RESULT, ROOTS, connect_again, created, got, respond, run, setup, start,
    task,
};
use crate::support::client::{ClientHarness, Setup, TIMES};
use mcp_proto::client::{Connect, Filter, TaskLimits};
use mcp_proto::{Action, Millis, SendError, Ticket};

/// TX-14, TX-15: the cancellation is `tasks/cancel`, and its response is ignored.
#[test]
fn cancelled_ticket_cancels_its_task() {
    let ask = got("input_required", &format!(r#","inputRequests":{{"r":{ROOTS}}}"#));
    // The states at the cancellation: between polls, during a poll, and while the task needs input.
    for state in 0..3 {
        run(setup(), |harness| {
            let ticket = start(harness, "");
            if state > 0 {
                harness.at(500).sent(&[GET]);
            }
            if state > 1 {
                harness.server_sends(&ask).discard();
            }
            harness.cancel(ticket, "why");
            harness.sent(&[CANCEL]);
            assert_eq!((harness.client.pending(), harness.deadline), (0, None));
            harness.server_sends(r#"{"id":@cancel,"result":{"resultType":"complete"}}"#).events(&[]);
            if state == 1 {
                harness.server_sends(&got("working", "")).events(&[]);
            }
            assert_eq!(harness.client.cancel(ticket, ""), Err(SendError::Gone));
        });
    }
}

/// TX-14, TX-15: a call that has ended at the client may become a task. The client cancels this task once.
#[test]
fn late_task_of_an_ended_call_is_cancelled() {
    let cancelled = r#"{"id":@cancel,"result":{"resultType":"complete"}}"#;
    for is_timeout in [false, true] {
        run(setup(), |harness| {
            let call = harness.call("add", DEFAULT).unwrap();
            match is_timeout {
                true => _ = harness.at(TIMES.request.0).events(&["add: lost TimedOut"]),
                false => harness.cancel(call, "why"),
            }
            harness.discard().server_sends(&created("add", "")).events(&[]).sent(&[CANCEL]);
            harness.server_sends(cancelled).events(&[]).sent(&[]);
            assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        });
    }
    // The client cancels nothing after other late results, or if the new task has already ended.
    for result in [
        r#"{"resultType":"complete","content":[]}"#.to_owned(),
        r#"{"resultType":"task","status":"working"}"#.to_owned(),
        r#"{"resultType":"task","taskId":7,"status":"working"}"#.to_owned(),
        r#"["task"]"#.to_owned(),
        format!(r#"{{"resultType":"task",{}}}"#, task("completed", "")),
    ] {
        run(setup(), |harness| {
            let call = harness.call("add", DEFAULT).unwrap();
            harness.cancel(call, "why");
            harness.discard().server_sends(&format!(r#"{{"id":@add,"result":{result}}}"#));
            harness.events(&[]).sent(&[]);
        });
    }
    // A second response names a task that the client still follows.
    run(setup(), |harness| {
        start(harness, "");
        harness.server_sends(&created("add", "")).events(&[]).sent(&[]);
        harness.at(500).sent(&[GET]);
        harness.server_sends(&created("add", "")).events(&[]).sent(&[]);
        harness.server_sends(&got("completed", RESULT)).discard();
        assert_eq!(harness.client.pending(), 0);
    });
}

/// Without transmit space, the client does not cancel a late task.
#[test]
fn late_task_is_not_cancelled_without_transmit_space() {
    run(Setup { slots: 8, tx: 600, frames: false, ..setup() }, |harness| {
        let call = harness.call("add", DEFAULT).unwrap();
        harness.cancel(call, "why");
        harness.discard().peer_reads(false);
        while harness.call("other", DEFAULT).is_ok() {}
        harness.server_sends(&created("add", "")).events(&[]).peer_reads(true);
        harness.pump();
        harness.events(&["room"]);
        assert!(harness.take_sent_lines().iter().all(|line| !line.contains("tasks/cancel")));
    });
}

/// TX-14, TX-15
#[test]
fn cancellation_waits_for_transmit_space() {
    // Requests fill the buffer while the server does not read.
    run(Setup { slots: 8, text: 1024, tx: 600, frames: false, ..setup() }, |harness| {
        for is_polled in [false, true] {
            let ticket = start(harness, "");
            harness.peer_reads(false);
            let mut others = Vec::new();
            loop {
                match harness.call("other", DEFAULT) {
                    Ok(other) => others.push(other),
                    Err(error) => break assert_eq!(error, SendError::Busy),
                }
            }
            if is_polled {
                harness.at(harness.now + 500).events(&[]);
            }
            harness.cancel(ticket, "why");
            harness.peer_reads(true);
            harness.pump();
            harness.events(&["room"]);
            let sent = harness.take_sent();
            assert_eq!(sent.iter().filter(|line| line.contains("tasks/")).collect::<Vec<_>>(), [CANCEL]);
            for other in others {
                harness.cancel(other, "");
            }
            harness.discard();
            assert_eq!(harness.client.pending(), 0);
        }
    });
}

/// TX-14: a cancellation that never fits must not block the queue.
#[test]
fn task_with_an_id_larger_than_the_transmit_buffer_is_released() {
    run(Setup { text: 4096, tx: 600, rx: 2048, ..setup() }, |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        let created = created("add", "").replace(r#""t""#, &format!("\"{}\"", "t".repeat(500)));
        harness.discard().server_sends(&created);
        harness.events.clear();
        harness.cancel(ticket, "why");
        harness.sent(&[]);
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TX-23
#[test]
fn task_outlives_the_maximum_of_its_call_and_ends_at_its_own() {
    run(setup(), |harness| {
        harness.at(1000);
        start(harness, r#","pollIntervalMs":2000"#);
        let mut now = 1000;
        while now + 2000 < 101_000 {
            now += 2000;
            harness.at(now).sent(&[GET]);
            harness.server_sends(&got("working", r#","pollIntervalMs":2000"#)).events(&[]);
        }
        assert!(now > TIMES.maximum.0);
        assert_eq!(harness.deadline, Some(101_000));
        harness.at(101_000).events(&["add: lost TimedOut"]).sent(&[CANCEL]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
}

/// TX-23: the timeout of the call limits each poll.
#[test]
fn unanswered_poll_ends_the_call() {
    run(setup(), |harness| {
        start(harness, "");
        harness.at(500).sent(&[GET]);
        assert_eq!(harness.deadline, Some(500 + TIMES.request.0));
        harness.at(1500).events(&["add: lost TimedOut"]).sent(&[CANCEL]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
}

/// TX-22: a lost connection does not end the task.
#[test]
fn task_continues_on_the_next_connection() {
    run(setup(), |harness| {
        start(harness, "");
        for is_polled in [false, true] {
            if is_polled {
                harness.at(harness.now + 500).sent(&[GET]);
            }
            harness.eof().events(&["closed"]);
            harness.reconnect();
            connect_again(harness);
            harness.sent(&[GET]);
            harness.server_sends(&got("working", "")).events(&[]);
        }
        harness.at(harness.now + 500).sent(&[GET]);
        harness.server_sends(&got("completed", RESULT)).discard();
        assert_eq!(harness.client.pending(), 0);
    });
}

/// The event has the id of the task, which the application may have to store.
#[test]
fn unread_task_event_is_repeated_on_the_next_connection() {
    run(setup(), |harness| {
        harness.call("add", DEFAULT).unwrap();
        harness.discard();
        if harness.pace().read < 1000 {
            return;
        }
        harness.stop_after(0).server_sends(&created("add", ""));
        assert!(matches!(harness.client.poll(Millis(0)), Action::Event));
        harness.reconnect();
        connect_again(harness);
        harness.sent(&[GET]);
        harness.server_sends(&got("working", "")).events(&["add: task t working"]);
        harness.at(500).sent(&[GET]);
        harness.server_sends(&got("working", "")).events(&[]);
    });
}

#[test]
fn task_ends_if_the_next_server_has_no_tasks() {
    let ask = got("input_required", &format!(r#","inputRequests":{{"r":{ROOTS}}}"#));
    for needs_input in [false, true] {
        run(setup(), |harness| {
            let ticket = start(harness, "");
            if needs_input {
                harness.at(500).server_sends(&ask).discard();
            }
            harness.reconnect();
            let without = r#"{"id":@discover,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#;
            harness.discard().server_sends(without).events(&["connected 2026-07-28", "add: lost Closed"]);
            harness.sent(&[]);
            assert_eq!(respond(harness, ticket, |_| {}), Err(SendError::Gone));
            assert_eq!(harness.client.resume_task("t", DEFAULT), Err(SendError::Unsupported));
        });
    }
}

/// The next server has tasks of 2025-11-25, and so no `tasks/update`. Input requests of such a task are requests of the
/// server.
#[test]
fn task_with_input_is_polled_if_the_next_server_has_no_updates() {
    let ask = got("input_required", &format!(r#","inputRequests":{{"r":{ROOTS}}}"#));
    let accepted = concat!(
        r#"{"id":@initialize,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},"#,
        r#""capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}}}"#
    );
    run(Setup { info: setup().info.connect(Connect::Automatic), ..setup() }, |harness| {
        let ticket = start(harness, "");
        harness.at(500).server_sends(&ask).discard();
        harness.reconnect();
        harness.server_sends(r#"{"id":@discover,"error":{"code":-32601,"message":"no"}}"#).discard();
        harness.server_sends(accepted).events(&["connected 2025-11-25"]);
        harness.sent(&[
            r#"{"method":"notifications/initialized"}"#,
            r#"{"id":@,"method":"tasks/get","params":{"taskId":"t"}}"#,
        ]);
        assert_eq!(respond(harness, ticket, |_| {}), Err(SendError::Gone));
        harness.server_sends(&got("cancelled", "")).events(&["add: lost TaskCancelled"]);
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TX-22: the application may respond on the next connection.
#[test]
fn required_input_survives_the_connection() {
    let ask = format!(r#","inputRequests":{{"r":{ROOTS}}}"#);
    run(setup(), |harness| {
        let ticket = start(harness, "");
        harness.at(500).server_sends(&got("input_required", &ask)).discard();
        harness.eof().events(&["closed"]);
        assert_eq!(respond(harness, ticket, |_| {}), Err(SendError::NotConnected));
        harness.reconnect();
        connect_again(harness);
        harness.sent(&[]);
        respond(harness, ticket, |responses| responses.roots("r", |_| {})).unwrap();
        assert_eq!(harness.take_sent().len(), 1);
        harness.server_sends(r#"{"id":@update,"result":{}}"#);
        harness.at(1000).sent(&[GET]);
        harness.server_sends(&got("completed", RESULT)).discard();
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TX-22: the application stores the id, and continues after a restart.
#[test]
fn resumed_task_ends_like_its_call() {
    run(setup(), |harness| {
        let ticket = harness.client.resume_task("t", DEFAULT).unwrap();
        harness.name(ticket, "again");
        harness.sent(&[GET]);
        harness.server_sends(&got("working", "")).events(&["again: task t working"]);
        harness.at(500).sent(&[GET]);
        harness
            .server_sends(&got("completed", RESULT))
            .events(&[r#"again: result {"content":[{"type":"text","text":"42"}]}"#]);
        let ticket = harness.client.resume_task("u\"\u{e9}", DEFAULT.maximum(Millis(700))).unwrap();
        harness.name(ticket, "other");
        assert_eq!(harness.client.task_id(ticket).map(|id| id.to_string()).as_deref(), Some("u\"\u{e9}"));
        harness.discard().server_sends(r#"{"id":@get,"error":{"code":-32602,"message":"no"}}"#);
        harness.events(&["other: error no (-32602)"]);
    });
}

/// TX-22, TX-23: the maximum duration starts with the first poll, also if this poll is on the next connection.
#[test]
fn resumed_task_continues_after_an_immediate_reconnect() {
    run(setup(), |harness| {
        harness.at(1000);
        let ticket = harness.client.resume_task("t", DEFAULT.maximum(Millis(700))).unwrap();
        harness.name_without_poll(ticket, "again");
        harness.reconnect();
        connect_again(harness);
        harness.sent(&[GET]);
        assert_eq!(harness.deadline, Some(1700));
        harness.server_sends(&got("completed", RESULT)).discard();
        assert_eq!(harness.client.pending(), 0);
    });
}

/// TX-20: a subscription covers tasks, and continues on the next connection.
#[test]
fn subscription_covers_tasks() {
    const LISTEN: &str = concat!(
        r#"{"id":@,"method":"subscriptions/listen","params":{"notifications":"#,
        r#"{"resourceSubscriptions":["a:b"],"taskIds":["t","u"]},"_meta":{..}}}"#
    );
    let acknowledged = concat!(
        r#"{"method":"notifications/subscriptions/acknowledged","params":{"notifications":{"taskIds":["t"]},"#,
        r#""_meta":{"io.modelcontextprotocol/subscriptionId":@listen}}}"#
    );
    let filter = Filter::NOTHING.uris(&["a:b"]).tasks(&["t", "u"]);
    run(setup(), |harness| {
        let ticket = harness.client.listen(filter, DEFAULT).unwrap();
        harness.name(ticket, "listen");
        harness.sent(&[LISTEN]);
        harness.server_sends(acknowledged).events(&["listen: subscribes to [t]"]);
        harness.reconnect();
        connect_again(harness);
        harness.sent(&[LISTEN]);
        harness.server_sends(acknowledged).events(&["listen: subscribes to [t]"]);
    });
    run(Setup::new(Connect::Stateless).rx(1024), |harness| {
        assert_eq!(harness.client.listen(filter, DEFAULT), Err(SendError::Unsupported));
    });
}

/// TX-20: a notification has the whole task, so it replaces a poll.
#[test]
fn notification_ends_the_task_before_the_next_poll() {
    let notify = |status: &str, more: &str| {
        format!(r#"{{"method":"notifications/tasks","params":{{"_meta":{{}},{}}}}}"#, task(status, more))
    };
    run(setup(), |harness| {
        start(harness, "");
        harness
            .at(400)
            .server_sends(&notify("working", r#","statusMessage":"half""#))
            .events(&["add: task t working half"]);
        harness.at(500).sent(&[]);
        // While a poll waits for its response, the client ignores notifications about the task, because the
        // response is at least as new.
        harness.at(900).sent(&[GET]);
        harness.server_sends(&notify("completed", RESULT)).events(&[]);
        harness.server_sends(&got("working", "")).events(&["add: task t working"]);
        harness
            .server_sends(&notify("completed", RESULT))
            .events(&[r#"add: result {"content":[{"type":"text","text":"42"}]}"#]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        // A notification about a task that the client does not follow is an ordinary event.
        let shown = format!("notified notifications/tasks {{{}}}", task("working", ""));
        let other = format!(r#"{{"method":"notifications/tasks","params":{{{}}}}}"#, task("working", ""));
        harness.server_sends(&other).events(&[&shown]);
    });
}

const LISTEN: &str = concat!(
    r#"{"id":@,"method":"subscriptions/listen","params":{"notifications":{"taskIds":["t"]},"#,
    r#""_meta":{..}}}"#
);
const UNLISTEN: &str = r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#;

/// Returns the acknowledgment of a subscription to these tasks.
fn acknowledge(ids: &str) -> String {
    format!(
        r#"{{"method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{"taskIds":{ids}}},"_meta":{{"io.modelcontextprotocol/subscriptionId":@listen}}}}}}"#
    )
}

/// Runs a dialogue with a client that subscribes to its tasks, after a call has become a task.
fn run_listening(dialogue: impl Fn(&mut ClientHarness, Ticket)) {
    let limits = TaskLimits { listens: true, ..LIMITS };
    run(Setup { info: setup().info.tasks(limits), ..setup() }, |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness.discard().server_sends(&created("add", "")).events(&["add: task t working"]);
        harness.sent(&[LISTEN]);
        dialogue(harness, ticket);
    });
}

/// TX-20: after one poll, which finds earlier changes, the client polls only at the longest interval. Notifications
/// replace the other polls.
#[test]
fn granted_subscription_replaces_polls() {
    let notify = format!(
        r#"{{"method":"notifications/tasks","params":{{"_meta":{{}},{}}}}}"#,
        task("completed", RESULT)
    );
    run_listening(|harness, _| {
        harness.server_sends(&acknowledge(r#"["t"]"#)).events(&[]);
        harness.sent(&[GET]);
        harness.server_sends(&got("working", "")).events(&[]);
        harness.at(1999).sent(&[]);
        harness.at(2000).sent(&[GET]);
        harness.server_sends(&got("working", "")).events(&[]);
        harness.server_sends(&notify).events(&[r#"add: result {"content":[{"type":"text","text":"42"}]}"#]);
        harness.sent(&[UNLISTEN]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        // The server may end the subscription before it gets the cancellation.
        harness.server_sends(r#"{"id":@listen,"result":{"resultType":"complete"}}"#).events(&[]);
    });
}

/// TX-20: without a subscription, the client polls.
#[test]
fn refused_subscription_leaves_polls() {
    let refused = r#"{"id":@listen,"error":{"code":-32601,"message":"no"}}"#.to_owned();
    let ended = r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#.to_owned();
    for (response, sent) in [(refused, None), (acknowledge("[]"), Some(UNLISTEN)), (ended, None)] {
        run_listening(|harness, _| {
            harness.server_sends(&response).events(&[]);
            harness.sent(sent.as_slice());
            harness.at(500).sent(&[GET]);
            harness.server_sends(&got("completed", RESULT));
            harness.events(&[r#"add: result {"content":[{"type":"text","text":"42"}]}"#]);
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

/// TX-20: after the end of the subscription, the client polls at once, and then at the interval of the task.
#[test]
fn ended_subscription_leaves_polls() {
    let ended = r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#;
    let finished = r#"{"id":@listen,"result":{"resultType":"complete"}}"#;
    let failed = r#"{"id":@listen,"error":{"code":-32603,"message":"no"}}"#;
    for end in [ended, finished, failed] {
        run_listening(|harness, _| {
            harness.server_sends(&acknowledge(r#"["t"]"#)).events(&[]);
            harness.sent(&[GET]);
            harness.server_sends(&got("working", "")).events(&[]);
            assert_eq!(harness.deadline, Some(2000));
            harness.at(200).server_sends(end).events(&[]).sent(&[GET]);
            assert_eq!(harness.client.pending(), 1);
            harness.server_sends(&got("working", "")).events(&[]);
            harness.at(700).sent(&[GET]);
            harness.server_sends(&got("completed", RESULT)).discard();
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

/// TX-14, TX-20: the subscription ends with the call.
#[test]
fn cancelled_task_ends_its_subscription() {
    run_listening(|harness, ticket| {
        harness.server_sends(&acknowledge(r#"["t"]"#)).discard();
        harness.server_sends(&got("working", "")).events(&[]);
        harness.cancel(ticket, "why");
        harness.sent(&[UNLISTEN, CANCEL]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
    run_listening(|harness, _| {
        harness.server_sends(&acknowledge(r#"["t"]"#)).discard();
        harness.reconnect();
        connect_again(harness);
        harness.sent(&[GET]);
        harness.server_sends(&got("working", "")).events(&[]);
        assert_eq!(harness.client.pending(), 1);
    });
}

/// TX-16, TX-20: the subscription ends with the call, also after an error or an unreadable response to a poll.
#[test]
fn failed_poll_ends_the_subscription() {
    let too_long = got("working", &format!(r#","statusMessage":"{}""#, "x".repeat(2000)));
    for (response, expected) in [
        (r#"{"id":@get,"error":{"code":-32602,"message":"no"}}"#, "add: error no (-32602)"),
        (r#"{"id":@get,"result":{"a":}}"#, "add: lost Invalid"),
        (r#"{"id":@get}"#, "add: lost Invalid"),
        (&too_long, "add: lost TooLong"),
    ] {
        run_listening(|harness, _| {
            harness.server_sends(&acknowledge(r#"["t"]"#)).events(&[]);
            harness.sent(&[GET]);
            harness.server_sends(response).events(&[expected]).sent(&[UNLISTEN]);
            assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        });
    }
}
