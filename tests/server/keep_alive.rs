//! Keep-alive: due times of pings, responses, and silent clients.

use super::batches::{self, gets, sends};
use crate::support::server::Setup;
use crate::support::server::tools::CONFIG;
use mcp_proto::Millis;
use mcp_proto::{KeepAlive, Revision};

fn with(setup: Setup, close: bool) -> Setup {
    setup.keep_alive(KeepAlive { interval: Millis(100), timeout: Millis(10), close })
}

fn session() -> Setup {
    with(Setup::new(CONFIG), false).session(Revision::V2025_11_25)
}

fn ping(number: u32) -> String {
    format!("< {{\"jsonrpc\":\"2.0\",\"id\":\"ping-{number}\",\"method\":\"ping\"}}\n")
}

fn pong(number: u32) -> String {
    format!("> {{\"jsonrpc\":\"2.0\",\"id\":\"ping-{number}\",\"result\":{{}}}}\n")
}

const CHANGED: &str = "< note notifications/tools/list_changed\n";

#[test]
fn every_line_postpones_the_next_ping() {
    let x = "x".repeat(400);
    let lines = [
        "> call 1 ping\n< result 1\n",
        "> call 1 no/such\n< error 1 -32601 …\n! fault UnknownMethod\n",
        "> call 1 tools/call {\"name\":\"echo\"}\n! call echo {}\n< result 1 …\n",
        "> call 1 tools/call {\"name\":\"defer\"}\n! call defer {}\n",
        "> note notifications/unheard-of\n! fault UnknownNotification\n",
        "> {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n! fault UnknownResponse\n",
        // Lines that are not messages, or too long.
        "> nonsense\n< error - -32700 …\n! fault NotJson\n",
        "> 7\n< error - -32600 …\n! fault NotAnObject\n",
        "> {}\n< error - -32600 …\n! fault WrongJsonRpcVersion\n",
        &format!(
            "> {{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{x}\"}}\n< error 7 -32600 …\n! fault LineTooLong\n"
        ),
        &format!("> {{\"jsonrpc\":\"2.0\",\"method\":\"{x}\"}}\n! fault LineTooLong\n"),
        &("> nonsense\n< error - -32700 …\n! fault NotJson\n".repeat(8) + "> nonsense\n! fault Muted\n"),
    ];
    let one = ping(1);
    for line in lines {
        session().rx(&[350]).check(&format!(
            "* deadline 100\n* time 60\n{line}* deadline 160\n* time 159\n* time 160\n{one}* deadline 170\n"
        ));
    }
    // A batch counts as one line.
    with(batches::session(), false).check(&format!(
        "* time 60\n{}{}* deadline 160\n* time 160\n{one}",
        sends(&[&batches::ping("1"), &batches::ping("2")]),
        gets(&[&batches::pong("1"), &batches::pong("2")]),
    ));
    // The response to a ping follows another member of a batch.
    with(batches::session(), false).check(&format!(
        "* time 100\n{one}* time 105\n{}{}* deadline 205\n",
        sends(&[&batches::ping("1"), r#"{"jsonrpc":"2.0","id":"ping-1","result":{}}"#]),
        gets(&[&batches::pong("1")]),
    ));
}

#[test]
fn line_counts_as_activity_when_complete() {
    session().check(&format!(
        "* time 40\n* send {{\"jsonrpc\":\"2.0\",\"id\":1,\n* deadline 100\n* time 80\n> \"method\":\"ping\"}}\n< result 1\n\
         * deadline 180\n* time 180\n{}",
        ping(1)
    ));
    // A line that is incomplete when the ping is due does not count, so the ping still needs a response.
    session().check(&format!(
        "* time 40\n* send {{\"jsonrpc\":\"2.0\",\"id\":1,\n* time 100\n{}* time 105\n> \"method\":\"ping\"}}\n< result 1\n\
         * deadline 110\n",
        ping(1)
    ));
    // The line arrives in the last millisecond, or one millisecond later. The server sends a due ping before it reads
    // any input.
    session().check("* late 99 send \n> call 1 ping\n< result 1\n* deadline 199\n");
    session().check(&format!("* late 100 send \n> call 1 ping\n{}< result 1\n* deadline 110\n", ping(1)));
}

#[test]
fn only_the_last_ping_response_ends_the_wait() {
    let (one, two, three) = (ping(1), ping(2), ping(3));
    let unknown = "! fault UnknownResponse\n";
    let silent = "* time 110\n! silent\n";
    let response = |id: &str| format!("> {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    for id in [
        "1",
        "\"1\"",
        "\"ping-0\"",
        "\"ping-2\"",
        "\"ping-\"",
        "\"ping\"",
        "\"Ping-1\"",
        "\"ping-1 \"",
        "\"ping-4294967297\"",
    ] {
        session().check(&format!(
            "* time 100\n{one}* time 105\n{}{unknown}* deadline 110\n{silent}",
            response(id)
        ));
    }
    let malformed =
        "> {\"jsonrpc\":\"2.0\",\"id\":\"ping-1\",\"result\":{},\"error\":{}}\n! fault MalformedResponse\n";
    session().check(&format!("* time 100\n{one}{malformed}* deadline 110\n{silent}"));
    // Other input is not a response to the ping, and does not postpone the next ping.
    session()
        .check(&format!("* time 100\n{one}* time 105\n> call 1 ping\n< result 1\n{silent}* deadline 210\n"));
    // The server accepts a response until one millisecond before the timeout. A second copy has no effect.
    session().check(&format!(
        "* time 100\n{one}* time 109\n{}* deadline 209\n{}* deadline 209\n* time 209\n{two}{}\
         * deadline 219\n{}* deadline 309\n* time 309\n{three}",
        pong(1),
        pong(1),
        pong(1),
        pong(2),
    ));
    // A late response to one ping is no error, but does not count for the next.
    session().check(&format!(
        "* time 100\n{one}{silent}{}* time 210\n{two}{}* time 220\n! silent\n",
        pong(1),
        pong(1)
    ));
}

#[test]
fn silent_client_is_reported_once_per_ping() {
    let (one, two, three) = (ping(1), ping(2), ping(3));
    let times = |from: u32| (from..from + 9).map(|time| format!("* time {time}\n")).collect::<String>();
    session().check(&format!(
        "* time 100\n{one}{}* time 110\n! silent\n{}* time 209\n* state Ready\n* time 210\n{two}* time 220\n! silent\n\
         * time 320\n{three}{}* time 400\n* state Ready\n* deadline 420\n",
        times(101),
        times(111),
        pong(3),
    ));
    // A late poll emits one event. The time to the next ping starts at that poll.
    session().check(&format!("* time 5000\n{one}* time 9000\n! silent\n* deadline 9100\n* time 9100\n{two}"));
    // If silence closes the connection, all requests end with it.
    let defer = "> call 1 tools/call {\"name\":\"defer\"}\n! call defer {}\n";
    with(Setup::new(CONFIG), true).session(Revision::V2025_11_25).check(&format!(
        "{defer}* ask ping\n< {{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}}\n* time 100\n{one}* time 110\n! silent\n\
         ! answered 0 Closed\n! closed\n* deferred 0\n* state Closed\n* answer 0 x\n! not now Gone\n* time 10000\n"
    ));
}

#[test]
fn due_ping_waits_for_space() {
    let full = "* block\n* changed\n";
    session().tx(1024).check(&format!(
        "{full}* time 100\n* deadline 110\n* time 109\n* deadline 110\n* unblock\n{CHANGED}{}* deadline 119\n\
         * time 119\n! silent\n",
        ping(1)
    ));
    // Input does not cancel a due ping that waits for space. Otherwise pings would depend on the speed of output.
    session().tx(1024).check(&format!(
        "{full}* time 100\n> note x\n! fault UnknownNotification\n* time 105\n* deadline 110\n* unblock\n{CHANGED}{}\
         * deadline 115\n",
        ping(1)
    ));
    // A line counts when the server has handled it, not while it waits for space.
    session().tx(1024).check(&format!(
        "{full}* time 50\n> call 1 ping\n* deadline 100\n* time 90\n* unblock\n{CHANGED}< result 1\n* deadline 190\n"
    ));
}

/// A client that does not read gets no ping, so its timeout starts when the ping is due.
#[test]
fn client_that_reads_nothing_is_reported() {
    let full = "* block\n* changed\n";
    session().tx(1024).check(&format!(
        "{full}* time 100\n> note x\n! fault UnknownNotification\n* time 109\n* state Ready\n* time 110\n! silent\n\
         * deadline 210\n* time 210\n* deadline 220\n* time 215\n* unblock\n{CHANGED}{}* deadline 225\n{}* deadline 315\n",
        ping(1),
        pong(1)
    ));
    with(Setup::new(CONFIG), true).session(Revision::V2025_11_25).tx(1024).check(&format!(
        "{full}* time 100\n* time 109\n* state Ready\n* time 110\n! silent\n! closed\n* state Closed\n"
    ));
}

#[test]
fn draining_connection_is_not_pinged() {
    let defer = "> call 1 tools/call {\"name\":\"defer\"}\n! call defer {}\n";
    for end in ["eof", "shutdown"] {
        session().check(&format!(
            "{defer}* {end}\n* deadline 2000\n* time 100\n* time 1000\n* answer 0 done\n< result 1 …\n! closed\n"
        ));
        // A draining server does not report a silent client.
        session().check(&format!(
            "{defer}* time 100\n{}* {end}\n* time 110\n* deadline 2100\n* state Draining\n",
            ping(1)
        ));
    }
}
