//! Deferred requests: replies, cancellation, timeouts, progress, shutdown, reset.

use crate::support::server::tools::CONFIG;
use crate::support::server::{ServerHarness, Setup, hello};
use crate::support::transport::{Pace, feed, serve};
use mcp_proto::server::{Change, Event, Limits, SecondInitialize, Server, Slot};
use mcp_proto::{Action, Buffer, ConfigError, KeepAlive, Millis, Revision, State};

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

const DONE: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

fn defer(id: &str) -> String {
    format!("> call {id} tools/call {{\"name\":\"defer\"}}\n! call defer {{}}\n")
}

#[test]
fn ticket_is_eight_bytes_and_copy() {
    fn is_copy<T: Copy>() {}
    is_copy::<mcp_proto::Ticket>();
    assert_eq!(size_of::<mcp_proto::Ticket>(), 8);
}

#[test]
fn deferred_request_is_answered_once_by_ticket() {
    session().check(&format!(
        "{}{}* deferred 2\n* answer 1 done\n< result \"b\" {DONE}\n* answer 1 again\n! not now Gone\n\
         * forget 0\n* deferred 1\n* fail 0 no\n< error 1 7 no\n* answer 0 again\n! not now Gone\n* deferred 0\n\
         {}* answer 0 stale\n! not now Gone\n* answer 2 done\n< result 1 {DONE}",
        defer("1"),
        defer("\"b\""),
        defer("1"),
    ));
}

#[test]
fn dropped_call_gets_an_error() {
    session().check(
        "> call 1 tools/call {\"name\":\"drop\"}\n! call drop {}\n! fault Unanswered\n\
         < error 1 -32603 Internal error: the request was dropped without a response\n> call 2 ping\n< result 2",
    );
}

#[test]
fn call_is_returned_if_every_slot_is_taken() {
    session().slots(1, 32).check(&format!(
        "{}{}! full\n< error 2 -32603 Too many requests in flight (at most 1)\n\
         > call 3 ping\n< result 3\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{{}}}}\n! fault UnknownResponse\n\
         > note notifications/cancelled {{\"requestId\":1}}\n! cancelled 0\n\
         {}* answer 1 done\n< result 4 {DONE}",
        defer("1"),
        defer("2"),
        defer("4"),
    ));
    session()
        .slots(0, 0)
        .check(&format!("{}! full\n< error 2 -32603 Too many requests in flight (at most 0)\n", defer("2")));
}

#[test]
fn server_can_refuse_calls_while_every_slot_is_taken() {
    let setup = || Setup::new(CONFIG.refuse_when_full()).session(Revision::V2025_11_25);
    setup().slots(1, 32).check(&format!(
        "{}> call 2 tools/call {{\"name\":\"echo\"}}\n\
         < error 2 -32603 Too many requests in flight (at most 1)\n! fault TooManyInFlight\n\
         > call 3 ping\n< result 3\n* answer 0 done\n< result 1 {DONE}\n\
         > call 4 tools/call {{\"name\":\"echo\"}}\n! call echo {{}}\n< result 4 …",
        defer("1"),
    ));
    // Without slots the application can defer no request, and the server refuses no request.
    setup().slots(0, 0).check("> call 2 tools/call {\"name\":\"echo\"}\n! call echo {}\n< result 2 …");
}

#[test]
fn cancelled_request_gets_no_response() {
    session().check(&format!(
        "{}> note notifications/cancelled {{\"requestId\":\"\\u0061\",\"reason\":\"too \\\"slow\\\"\"}}\n\
         ! cancelled 0 too \"slow\"\n* deferred 0\n* answer 0 late\n! not now Gone\n\
         > note notifications/cancelled {{\"requestId\":\"a\"}}\n\
         {}> note notifications/cancelled {{\"requestId\":1,\"reason\":7}}\n! cancelled 1\n\
         {}> note notifications/cancelled {{\"requestId\":\"1\"}}\n\
         * answer 2 done\n< result 1 {DONE}",
        defer("\"a\""),
        defer("1"),
        defer("1"),
    ));
}

#[test]
fn expired_request_gets_an_error() {
    let late = "Internal error: the request timed out";
    session().check(&format!(
        "* deadline none\n{}* deadline 60000\n\
         > call 2 tools/call {{\"name\":\"defer\",\"arguments\":{{\"ms\":500}}}}\n! call defer {{\"ms\":500}}\n\
         * deadline 500\n* time 499\n* deferred 2\n* time 500\n< error 2 -32603 {late}\n! expired 1\n\
         * deadline 60000\n* answer 1 late\n! not now Gone\n\
         * time 70000\n< error 1 -32603 {late}\n! expired 0\n* deadline none\n* deferred 0",
        defer("1")
    ));
    let info = CONFIG.limits(Limits::DEFAULT.with_deferred_timeout(Millis(10)));
    Setup::new(info).session(Revision::V2025_11_25).check(&format!(
        "* time 5\n{}* deadline 15\n* answer 0 done\n< result 1 {DONE}\n* deadline none\n* time 100",
        defer("1")
    ));
}

#[test]
fn progress_restarts_the_default_timeout() {
    let info = CONFIG.limits(Limits::DEFAULT.with_deferred_timeout(Millis(10)));
    let call = |id: u32, arguments: &str| {
        format!(
            "> call {id} tools/call {{\"name\":\"defer\",\"arguments\":{arguments},\
             \"_meta\":{{\"progressToken\":{id}}}}}\n! call defer {arguments}\n"
        )
    };
    let note = |id: u32| format!("< note notifications/progress {{\"progressToken\":{id},\"progress\":1}}\n");
    Setup::new(info).session(Revision::V2025_11_25).check(&format!(
        "{}* deadline 10\n* time 9\n* progress 0 1\n{}* deadline 19\n\
         * time 18\n* progress 0 1\n! not now NotWanted\n* deadline 28\n\
         {}* deadline 23\n* progress 1 1\n{}* deadline 23\n\
         * time 23\n< error 2 -32603 …\n! expired 1\n* deadline 28\n* time 28\n< error 1 -32603 …\n! expired 0",
        call(1, "{}"),
        note(1),
        call(2, "{\"ms\":5}"),
        note(2),
    ));
}

#[test]
fn slots_on_the_heap_have_no_default_timeout() {
    let mut server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
    server = server.in_flight_grown(4).unwrap();
    let mut harness = ServerHarness::new(server, Pace::FAST);
    let hello = hello("2025-11-25");
    harness.transport.write_line(
        format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#).as_bytes(),
    );
    harness
        .transport
        .write_line(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"defer"}}"#);
    harness.run();
    assert_eq!((harness.server.deferred(), harness.deadline), (1, None));
    harness.now = Millis::seconds(1 << 30);
    harness.run();
    assert_eq!(harness.server.deferred(), 1);
    // The request still ends with the grace period of its connection.
    harness.server.shutdown(harness.now);
    harness.run();
    harness.now = harness.now.plus(Millis::seconds(3));
    harness.run();
    assert_eq!(harness.server.deferred(), 0);
    assert!(harness.record.events.contains(&"expired 0".into()), "{:?}", harness.record.events);
}

#[test]
fn progress_increases_and_needs_a_token() {
    for token in ["7", "\"t\\u0061/\\/\"", "-0", "\"\""] {
        let note =
            |rest: &str| format!("< note notifications/progress {{\"progressToken\":{token},{rest}}}\n");
        for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_11_25] {
            let message = |text: &str| {
                if revision == Revision::V2024_11_05 {
                    String::new()
                } else {
                    format!(",\"message\":\"{text}\"")
                }
            };
            let notified = [
                note(&format!("\"progress\":1,\"total\":10{}", message("a"))),
                note("\"progress\":1.5,\"total\":10"),
                note(&format!("\"progress\":1…0,\"total\":10{}", message("b"))),
            ];
            Setup::new(CONFIG).session(revision).check(&format!(
                "> call 1 tools/call {{\"name\":\"progress\",\"_meta\":{{\"progressToken\":{token}}}}}\n\
                 ! call progress {{}}\n! not now NotWanted\n{}< result 1 {DONE}",
                notified.concat()
            ));
        }
        session().check(&format!(
            "> call 1 tools/call {{\"name\":\"defer\",\"arguments\":{{\"progress\":1}},\"_meta\":{{\"progressToken\":{token}}}}}\n\
             ! call defer {{\"progress\":1}}\n{}\
             * progress 0 1 x\n! not now NotWanted\n* progress 0 0.5\n! not now NotWanted\n\
             * progress 0 2.5 half\n{}* progress 0 2.50\n! not now NotWanted\n\
             * answer 0 done\n< result 1 {DONE}\n* progress 0 3\n! not now Gone",
            note("\"progress\":1"),
            note("\"progress\":2.5,\"message\":\"half\""),
        ));
    }
}

#[test]
fn progress_needs_a_token_that_fits() {
    let refused = "! not now NotWanted\n".repeat(4);
    for meta in [
        "",
        ",\"_meta\":{}",
        r#","_meta":{"progressToken":null}"#,
        r#","_meta":{"progressToken":1.5}"#,
        r#","_meta":7"#,
    ] {
        session().check(&format!(
            "> call 1 tools/call {{\"name\":\"progress\"{meta}}}\n! call progress {{}}\n{refused}< result 1 {DONE}\n\
             > call 2 tools/call {{\"name\":\"defer\"{meta}}}\n! call defer {{}}\n* progress 0 1\n! not now NotWanted"
        ));
    }
    // A slot has 64 bytes, of which the id takes two. A token of more than 62 bytes does not fit.
    for (length, refusal) in [(62, ""), (63, "! not now NotWanted\n")] {
        let token = format!("\"{}\"", "t".repeat(length - 2));
        let notified = if refusal.is_empty() {
            format!("< note notifications/progress {{\"progressToken\":{token},\"progress\":1}}\n")
        } else {
            refusal.into()
        };
        session().check(&format!(
            "> call 11 tools/call {{\"name\":\"defer\",\"_meta\":{{\"progressToken\":{token}}}}}\n! call defer {{}}\n\
             * progress 0 1\n{notified}* answer 0 done\n< result 11 {DONE}"
        ));
    }
}

#[test]
fn deferred_request_logs_at_its_requested_level() {
    session().check(&format!(
        "{}* log-to 0 debug a\n< note notifications/message {{\"level\":\"debug\",\"data\":\"a\"}}\n\
         > call 2 logging/setLevel {{\"level\":\"error\"}}\n< result 2\n* log-to 0 debug b\n! not now NotWanted\n\
         * answer 0 done\n< result 1 {DONE}\n* log-to 0 error c\n! not now Gone",
        defer("1")
    ));
}

#[test]
fn busy_send_leads_to_writable() {
    let setup = session().tx(1024);
    setup.check(&format!(
        "{}{}* block\n* answer 0 done\n* answer 1 no room\n! not now Busy\n* log error no room\n! not now Busy\n\
         * unblock\n< result 1 {DONE}\n! room\n* answer 1 done\n< result 2 {DONE}",
        defer("1"),
        defer("2"),
    ));
}

#[test]
fn request_waiting_for_space_is_not_lost() {
    let waiting = "> call 3 ping\n";
    // The buffer gets free space while a line waits.
    session().tx(1024).check(&format!(
        "{}{}* block\n* answer 0 done\n* answer 1 no room\n! not now Busy\n{waiting}* unblock\n\
         < result 1 {DONE}\n! room\n< result 3\n* answer 1 done\n< result 2 {DONE}",
        defer("1"),
        defer("2"),
    ));
    // A timeout occurs while a line waits. The server emits the event immediately. The error also waits for space.
    session().tx(1024).check(&format!(
        "{}{}* block\n* answer 0 done\n{waiting}* time 60000\n! expired 1\n* answer 1 late\n! not now Gone\n* unblock\n\
         < result 1 {DONE}\n< error 2 -32603 …\n< result 3\n",
        defer("1"),
        defer("2"),
    ));
}

#[test]
fn cancellations_are_received_while_output_is_blocked() {
    session().tx(1024).check(&format!(
        "{}{}* block\n* answer 0 done\n> note notifications/cancelled {{\"requestId\":2}}\n\
         ! cancelled 1\n* deferred 0\n* unblock\n< result 1 {DONE}",
        defer("1"),
        defer("2"),
    ));
}

#[test]
fn requests_in_flight_at_end_of_input_get_a_grace_period() {
    session().check(&format!(
        "{}{}> call 3 ping\n< result 3\n* eof\n* state Draining\n* deadline 2000\n\
         * answer 1 done\n< result 2 {DONE}\n* time 1999\n* time 2000\n< error 1 -32603 …\n! expired 0\n! closed",
        defer("1"),
        defer("2"),
    ));
    session().check(&format!("{}* eof\n* answer 0 done\n< result 1 {DONE}\n! closed", defer("1")));
    let info = CONFIG.limits(Limits::DEFAULT.with_grace(Millis(7)));
    Setup::new(info).session(Revision::V2025_11_25).check(&format!(
        "* time 100\n{}* eof\n* deadline 107\n* time 107\n< error 1 -32603 …\n! expired 0\n! closed",
        defer("1")
    ));
    // A request directly before the end still gets its response.
    session().check(
        r#"* send {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}
           * eof
           ! call echo {}
           < result 1 …
           ! closed"#,
    );
    // If the client does not read, the server waits for the grace period again after the last response.
    let stuck = format!(
        "{}* block\n* eof\n* time 5000\n! expired 0\n* deadline 7000\n* state Draining\n",
        defer("1")
    );
    session().check(&format!("{stuck}* unblock\n< error 1 -32603 …\n! closed"));
    session().check(&format!("{stuck}* time 6999\n* state Draining\n* time 7000\n! closed"));
}

#[test]
fn shutdown_refuses_new_requests_and_finishes_others() {
    session().check(&format!(
        "{}* time 50\n* shutdown\n* state Draining\n* deadline 2050\n> call 2 tools/call {{\"name\":\"echo\"}}\n\
         < error 2 -32600 …\n! fault ShuttingDown\n> note notifications/cancelled {{\"requestId\":1}}\n\
         ! cancelled 0\n! closed",
        defer("1")
    ));
    session().check("* shutdown\n! closed\n* state Closed");
    session().check(&format!("{}* shutdown\n* answer 0 done\n< result 1 {DONE}\n! closed", defer("1")));
    Setup::new(CONFIG).check("* shutdown\n! closed");
}

#[test]
fn failed_write_closes_the_server() {
    session().check(&format!(
        "{}* deferred 1\n* broken\n! closed\n* deferred 0\n* answer 0 late\n! not now Gone\n* state Closed",
        defer("1")
    ));
}

#[test]
fn reset_forgets_all_and_old_tickets_stay_invalid() {
    let hello = crate::support::server::hello("2025-11-25");
    session().check(&format!(
        "{}* changed\n< note notifications/tools/list_changed\n* block\n* changed\n* eof\n* reset\n* unblock\n* state Waiting\n* deferred 0\n\
         * answer 0 late\n! not now Gone\n\
         > call 1 initialize {hello}\n< result 1 …\n! connected 2025-11-25 c {{}}\n> note notifications/initialized\n! ready\n\
         {}* answer 0 late\n! not now Gone\n* answer 1 done\n< result 1 {DONE}",
        defer("1"),
        defer("1"),
    ));
}

#[test]
fn silent_client_is_pinged_then_closed() {
    let pings = |close| KeepAlive { interval: Millis(100), timeout: Millis(10), close };
    let setup = |close| Setup::new(CONFIG).keep_alive(pings(close)).session(Revision::V2025_11_25);
    let ping = |n| format!("< {{\"jsonrpc\":\"2.0\",\"id\":\"ping-{n}\",\"method\":\"ping\"}}\n");
    let pong = |n| format!("> {{\"jsonrpc\":\"2.0\",\"id\":\"ping-{n}\",\"result\":{{}}}}\n");
    let (one, two) = (ping(1), ping(2));
    setup(true).check(&format!(
        "* deadline 100\n* time 99\n> call 1 ping\n< result 1\n* deadline 199\n* time 199\n{one}* deadline 209\n\
         {}* deadline 299\n* time 299\n{two}* time 309\n! silent\n! closed",
        pong(1)
    ));
    setup(false).check(&format!(
        "* time 100\n{one}* time 110\n! silent\n* deadline 210\n{}* state Ready\n* time 210\n{two}",
        pong(1)
    ));
    // An error is a response, too: some clients do not know the method.
    setup(true).check(&format!(
        "* time 100\n{one}> {{\"jsonrpc\":\"2.0\",\"id\":\"ping-1\",\"error\":{{\"code\":-32601,\"message\":\"\"}}}}\n* time 150\n* state Ready"
    ));
    // The server sends no ping before the handshake is complete.
    Setup::new(CONFIG)
        .keep_alive(pings(true))
        .check("> call 1 ping\n< result 1\n* deadline none\n* time 1000");
    // The silence of the old client does not count for the new client.
    let info = CONFIG.second_initialize(SecondInitialize::Restart);
    Setup::new(info).keep_alive(pings(true)).session(Revision::V2025_11_25).check(&format!(
        "* time 100\n{one}> call 1 initialize {}\n< result 1 …\n! restarted\n! connected 2025-11-25 c {{}}\n\
         > note notifications/initialized\n! ready\n* time 110\n* state Ready\n* time 200\n{two}",
        crate::support::server::hello("2025-11-25")
    ));
}

#[test]
fn list_change_is_sent_once_when_a_client_can_receive_it() {
    let notified = "< note notifications/tools/list_changed\n";
    session().check(&format!("* changed\n{notified}* changed\n{notified}"));
    session().check(&format!("* block\n* changed\n* changed\n* changed\n* unblock\n{notified}{notified}"));
    session().check(&format!(
        "> call 1 tools/call {{\"name\":\"change\"}}\n! call change {{}}\n< result 1 {DONE}\n{notified}"
    ));
    // The server also sends pending notifications before it closes, even if the client reads slowly.
    session().check(&format!(
        "* block\n* changed\n* changed\n* shutdown\n* unblock\n{notified}{notified}! closed"
    ));
    session()
        .check(&format!("* block\n* changed\n* changed\n* eof\n* unblock\n{notified}{notified}! closed"));
    session().check(&format!("* changed\n{notified}* shutdown\n! closed"));
    // The server sends no notification before the handshake is complete.
    Setup::new(CONFIG).check(&format!(
        "* changed\n> call 1 initialize {}\n< result 1 …\n! connected 2025-11-25 c {{}}\n* shutdown\n! closed",
        crate::support::server::hello("2025-11-25")
    ));
    Setup::new(CONFIG).check(&format!(
        "* changed\n> call 1 initialize {}\n< result 1 …\n! connected 2025-11-25 c {{}}\n\
         > call 2 tools/call {{\"name\":\"change\"}}\n! call change {{}}\n< result 2 {DONE}\n\
         * changed\n* state Serving\n> note notifications/initialized\n! ready\n{notified}",
        crate::support::server::hello("2025-11-25")
    ));
}

#[test]
fn list_change_precedes_the_next_response_at_any_pace() {
    // Responses have almost the maximum size, and the buffer has space for two responses. The server sends
    // notifications between waiting responses.
    let calls: String = (10..40)
        .map(|id| {
            let arguments = "{\"bytes\":320}";
            format!(
                "> call {id} tools/call {{\"name\":\"change\",\"arguments\":{arguments}}}\n! call change {arguments}\n\
                 < result {id} {{\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}\n\
                 < note notifications/tools/list_changed\n",
                "x".repeat(320),
            )
        })
        .collect();
    for tx in [800, 830, 860, 900] {
        session().tx(tx).max_reply_size(400).check(&calls);
    }
}

#[test]
fn list_change_is_sent_before_the_end() {
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let lines = [
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}}\n",
            hello("2025-11-25")
        ),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".into(),
    ];
    for line in lines {
        feed(&mut server, Millis(0), line.as_bytes());
        while let Action::Event = server.poll(Millis(0)) {
            server.event();
        }
        if let Action::Io(io) = server.poll(Millis(0)) {
            let out = io.split().0;
            let all = out.bytes().len();
            out.sent(all);
        }
    }
    assert_eq!(server.state(), State::Ready);
    server.changed(Change::Tools);
    server.shutdown(Millis(0));
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
    let written = String::from_utf8(io.split().0.bytes().to_vec()).unwrap();
    assert!(
        written.ends_with("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n"),
        "{written}"
    );
}

#[test]
fn cancellation_of_an_ended_request_is_only_counted() {
    let server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
    let mut harness = ServerHarness::new(server, Pace::FAST);
    assert_eq!(harness.server.late_messages(), 0);
    let hello = hello("2025-11-25");
    harness.transport.write_line(
        format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#).as_bytes(),
    );
    for _ in 0..2 {
        harness
            .transport
            .write_line(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    }
    harness.run();
    assert_eq!(harness.server.late_messages(), 2);
    assert!(harness.record.faults.is_empty(), "{:?}", harness.record.faults);
}

#[test]
fn storage_cannot_change_after_a_request() {
    let mut server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
    server.set_in_flight_grown(2).unwrap();
    server.set_in_flight_grown(4).unwrap();
    let mut ticket = None;
    let defer = |event: Event<'_>| {
        if let Event::Call(call) = event {
            ticket = call.defer(None).ok();
        }
    };
    let hello = hello("2025-11-25");
    let lines = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"defer\"}}}}\n"
    );
    serve(&mut server, lines.as_bytes(), &mut { defer });
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 128]);
    assert_eq!(server.set_in_flight_grown(4), Err(ConfigError::RequestsInFlight));
    assert_eq!(server.set_in_flight(&mut slots, &mut text), Err(ConfigError::RequestsInFlight));
    server.reply(ticket.unwrap()).unwrap().text("done");
    assert_eq!(
        serve(&mut server, b"", &mut |_| ()),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{DONE}}}\n")
    );
    // With new storage, a later request could have the ticket of the request that has ended.
    server.reset();
    assert_eq!(server.set_in_flight_grown(4), Err(ConfigError::RequestsInFlight));
}
