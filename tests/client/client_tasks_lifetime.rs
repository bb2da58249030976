//! Tasks of 2025-11-25 that the client runs: expiry, limits, transmit space, the end of the connection.
//!
//! Names such as `TC-25` are those of requirements in `docs/task-rules.md`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::client_tasks::{ACCEPTED, ALL, FORM, about, defers, options, payload, run, setup, table, unknown};
use crate::support::client::{ClientHarness, Setup, bytes};
use mcp_proto::client::ClientConfig;
use mcp_proto::{Action, Client, ConfigError, Millis, SendError};

/// TC-25, TC-26: a task is removed after its time to live.
#[test]
fn task_expires_after_its_time_to_live() {
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).at(59_999).events(&[]).sent(&[]);
        assert_eq!(harness.deadline, Some(60_000));
        harness.at(60_000).events(&["expired"]).sent(&[&unknown(2)]);
        assert_eq!(harness.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
}

/// TC-34: a client with a full table refuses further tasks.
#[test]
fn full_table_makes_no_task() {
    Setup { task_table: Some(|| table(1, 256)), ..setup() }.run(|harness| {
        harness.connect();
        defers(harness);
        harness.server_sends(FORM).discard();
        harness.on_server_request(|request| {
            let request = request.defer(None).unwrap_err();
            request.decline();
            None
        });
        harness.server_sends(&FORM.replace(r#""id":1"#, r#""id":2"#));
        harness.events(&["asked form m", "fault TooManyInFlight"]);
        assert!(harness.take_sent()[0].contains(r#""id":2,"error":{"code":-32603"#));
        assert_eq!(harness.client.pending(), 0);
    });
}

/// A deferred result that does not fit into the table fails its task. An immediate result that does not fit creates no
/// task. In both cases, the application gets the error as an event.
#[test]
fn oversized_result_fails_the_task() {
    let long = "x".repeat(300);
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.accept(|content| content.field_string("name", &long));
        harness.pump();
        harness.events(&["fault ReplyTooLarge"]).server_sends(&about(2, "result"));
        assert!(harness.take_sent()[0].contains("-32603"));
    });
    run(|harness| {
        let long = long.clone();
        harness.on_server_request(move |request| {
            request.accept(|content| content.field_string("name", &long));
            None
        });
        harness.server_sends(FORM).events(&["asked form m", "fault ReplyTooLarge"]);
        assert!(harness.take_sent()[0].contains("-32603"));
        harness
            .server_sends(r#"{"id":9,"method":"tasks/list"}"#)
            .sent(&[r#"{"id":9,"result":{"tasks":[]}}"#]);
    });
}

/// If a stored result does not fit into a response, `tasks/result` gets an error. The next event reports this error.
#[test]
fn stored_result_beyond_the_transmit_buffer_is_an_error() {
    Setup { task_table: Some(|| table(1, 4096)), tx: 2048, ..setup() }.run(|harness| {
        harness.connect();
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).sent(&[]);
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.accept(|content| content.field_string("name", &"x".repeat(3000)));
        assert!(matches!(harness.client.poll(Millis(0)), Action::Event), "the error is emitted at once");
        harness.pump();
        harness.events(&["fault ReplyTooLarge"]);
        assert!(harness.take_sent()[0].contains(r#""id":2,"error":{"code":-32603"#));
    });
}

#[test]
fn panic_in_a_response_removes_no_task() {
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        let respond = || reply.accept(|_| panic!("in the response"));
        assert!(catch_unwind(AssertUnwindSafe(respond)).is_err());
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.accept(|content| content.field_string("name", "x"));
        harness.server_sends(&about(2, "result")).sent(&[&payload(2, ACCEPTED)]);
    });
}

/// A request that the application drops becomes no task.
#[test]
fn dropped_request_becomes_no_task() {
    run(|harness| {
        harness.server_sends(FORM).events(&["asked form m", "fault Unanswered"]);
        assert!(harness.take_sent()[0].contains("-32603"));
        harness
            .server_sends(r#"{"id":9,"method":"tasks/list"}"#)
            .sent(&[r#"{"id":9,"result":{"tasks":[]}}"#]);
    });
}

/// Responses about tasks wait until the server reads.
#[test]
fn responses_wait_for_transmit_space() {
    run(|harness| {
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).peer_reads(false);
        harness.call("add", Default::default()).unwrap();
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.accept(|content| content.field_string("name", "x"));
        harness.server_sends(&about(3, "result"));
        harness.peer_reads(true);
        harness.pump();
        let sent = harness.take_sent();
        assert!(sent[0].contains("tools/call"), "{sent:?}");
        assert_eq!(sent[1..], [payload(2, ACCEPTED), payload(3, ACCEPTED)]);
    });
}

/// By default, the end of the connection cancels the requests of open tasks, and removes all tasks.
#[test]
fn tasks_end_with_their_connection() {
    let start = |harness: &mut ClientHarness| {
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).sent(&[]);
        tickets.borrow()[0]
    };
    let list_is_empty = |harness: &mut ClientHarness| {
        harness.connect();
        harness
            .server_sends(r#"{"id":9,"method":"tasks/list"}"#)
            .sent(&[r#"{"id":9,"result":{"tasks":[]}}"#]);
    };
    run(|harness| {
        let ticket = start(harness);
        harness.eof().events(&["cancelled", "closed"]);
        assert_eq!(harness.client.reply(ticket).err(), Some(SendError::Gone));
        harness.reconnect();
        list_is_empty(harness);
    });
    run(|harness| {
        let ticket = start(harness);
        harness.reconnect().events(&["cancelled"]);
        assert_eq!(harness.client.reply(ticket).err(), Some(SendError::Gone));
        list_is_empty(harness);
    });
    run(|harness| {
        let ticket = start(harness);
        harness.reset();
        assert_eq!(harness.client.reply(ticket).err(), Some(SendError::Gone));
        list_is_empty(harness);
    });
}

/// A table can keep its tasks for the next connection.
#[test]
fn kept_tasks_continue_on_the_next_connection() {
    Setup { task_table: Some(|| table(4, 256).keep_on_reset()), ..setup() }.run(|harness| {
        harness.connect();
        let tickets = defers(harness);
        harness.server_sends(FORM).discard();
        harness.server_sends(&about(2, "result")).eof().events(&["closed"]);
        let reply = harness.client.reply(tickets.borrow()[0]).unwrap();
        reply.accept(|content| content.field_string("name", "x"));
        harness.reconnect().connect();
        harness.server_sends(&about(3, "result")).sent(&[&payload(3, ACCEPTED)]);
        assert_eq!(harness.client.pending(), 0);
    });
}

/// A transmit buffer without space for a response about a task is refused.
#[test]
fn small_transmit_buffer_is_refused() {
    static CONFIG: ClientConfig = ClientConfig::new("c", "1").capabilities(ALL).client_tasks(options);
    let client = || Client::new(&CONFIG, bytes(1024), bytes(2048)).unwrap().max_reply_size(300).unwrap();
    let table = Box::leak(Box::new(table(1, 256)));
    assert!(matches!(client().client_tasks(table), Err(ConfigError::TxTooSmall { .. })));
}
