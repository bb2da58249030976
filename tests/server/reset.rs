//! `reset` drops the session, in any state of the connection.

use super::batches::{gets, ping, pong, sends, text, tool};
use super::between_polls::event;
use crate::support::server::catalog::EVERYTHING;
use crate::support::server::{Setup, hello};
use crate::support::transport::feed;
use mcp_proto::server::{Event, SecondInitialize, Server, ServerConfig, Slot};
use mcp_proto::{Action, KeepAlive, Millis, Revision, SendError, State};

const CLIENT: &str = r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;

/// Returns a script of a complete new connection. `tickets` is the number of tickets issued in the old session.
fn fresh(tickets: usize) -> String {
    let hello = hello("2025-03-26");
    let next = tickets + 1;
    let call = r#"{"name":"defer","_meta":{"progressToken":"new"}}"#;
    let progress =
        |n: u32| format!("< note notifications/progress {{\"progressToken\":\"new\",\"progress\":{n}}}\n");
    [
        "* state Waiting\n* deferred 0\n* deadline none\n* log error x\n! not now NotConnected\n\
         * ask ping\n! not now NotConnected\n",
        &"> nonsense\n< error null -32700 …\n! fault NotJson\n".repeat(8),
        "> nonsense\n! fault Muted\n\
         > {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n! fault UnknownResponse\n\
         > call 1 tools/call {\"name\":\"echo\"}\n< error 1 -32602 …\n! fault InvalidParams\n",
        &format!("> call 1 initialize {hello}\n< result 1 {{\"protocolVersion\":\"2025-03-26\",…\n"),
        "! connected 2025-03-26 c {}\n* state Negotiated\n\
         > note notifications/initialized\n! ready\n* state Ready\n* deadline none\n\
         > note notifications/roots/list_changed\n! fault UnknownNotification\n\
         * log debug x\n< note notifications/message {\"level\":\"debug\",\"data\":\"x\"}\n\
         * ask roots\n! not now Unsupported\n* ask model\n! not now Unsupported\n\
         * updated lib:log\n",
        &format!("> call 2 tools/call {call}\n! call defer {{}}\n* deferred 1\n"),
        &format!("* progress {tickets} 1\n{}", progress(1)),
        &format!("* progress {tickets} 2\n{}", progress(2)),
        &format!("* answer {tickets} done\n< {}\n* deadline none\n", text("2", "done")),
        &sends(&[&tool("5", "defer"), &ping("6")]),
        &format!("! call defer {{}}\n* answer {next} a\n{}", gets(&[&pong("6"), &text("5", "a")])),
        "* deferred 0\n> call 7 ping\n< result 7\n* time 10000000\n* deadline none\n* eof\n! closed\n",
    ]
    .concat()
}

/// Runs a session, a reset, and then a new connection.
fn check(revision: Revision, tickets: usize, before: &str) {
    let setup =
        Setup::new(EVERYTHING).batch_buffer(2000).subscription_buffer(60).session_with(revision, CLIENT);
    setup.check(&format!("{before}* reset\n* unblock\n{}", fresh(tickets)));
}

#[test]
fn reset_drops_client_settings() {
    let now = Revision::V2025_11_25;
    check(now, 0, "> call 1 logging/setLevel {\"level\":\"error\"}\n< result 1\n");
    check(now, 0, &"> nonsense\n< error - -32700 …\n! fault NotJson\n".repeat(8));
    check(
        now,
        0,
        "> call 1 resources/subscribe {\"uri\":\"lib:log\"}\n< result 1\n! subscribed lib:log\n\
         * block\n* updated lib:log\n* updated lib:log\n",
    );
    let listen = r#"> call 1 subscriptions/listen {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["lib:log"]}}
< note notifications/subscriptions/acknowledged …
! listening [Tools] ["lib:log"]
"#;
    check(now, 1, listen);
    check(now, 1, &format!("{listen}* block\n* changed\n* updated lib:log\n* end 0\n"));
}

#[test]
fn reset_drops_requests_in_flight() {
    let now = Revision::V2025_11_25;
    let defer = "> call 1 tools/call {\"name\":\"defer\",\"arguments\":{\"ms\":10},\"_meta\":{\"progressToken\":\"new\"}}\n\
                 ! call defer {\"ms\":10}\n";
    let progress =
        "* progress 0 5\n< note notifications/progress {\"progressToken\":\"new\",\"progress\":5}\n";
    check(now, 1, &format!("{defer}{progress}"));
    // The request has expired, and its error waits for space.
    check(now, 1, &format!("{defer}* block\n* changed\n* time 10\n! expired 0\n"));
    // The application waits for space.
    check(now, 1, &format!("{defer}* block\n* changed\n* answer 0 x\n! not now Busy\n"));
    let ask =
        "* ask roots progress\n< …\"method\":\"roots/list\"…\n* ask ping ms 50\n< …\"method\":\"ping\"}\n";
    check(now, 0, ask);
    check(now, 0, &format!("{ask}* block\n* changed\n* cancel 0 x\n* time 50\n! answered 1 TimedOut\n"));
    check(now, 1, &format!("{defer}{ask}* shutdown\n! answered 0 Closed\n! answered 1 Closed\n"));
}

#[test]
fn reset_drops_batches() {
    let old = Revision::V2025_03_26;
    let open = sends(&[&tool("5", "defer"), &ping("6")]) + "! call defer {}\n";
    check(old, 1, &open);
    check(
        old,
        1,
        &format!("{open}{}! call echo {{}}\n< [{}]\n", sends(&[&tool("7", "echo")]), text("7", "{}")),
    );
    // The reset happens within a batch, after its first member.
    let progress = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":5}}}"#;
    let half = sends(&[progress, &ping("2")]) + "! call progress {}\n! not now NotWanted\n";
    check(old, 0, &format!("* block\n{half}"));
    check(old, 1, &format!("{open}* block\n{half}"));
}

#[test]
fn reset_drops_the_end_of_a_connection() {
    let now = Revision::V2025_11_25;
    let defer = "> call 1 tools/call {\"name\":\"defer\"}\n! call defer {}\n";
    check(now, 0, "* eof\n! closed\n");
    check(now, 0, "* shutdown\n! closed\n");
    check(now, 0, "* broken\n! closed\n");
    check(now, 1, &format!("{defer}* broken\n! closed\n"));
    check(now, 1, &format!("{defer}* eof\n* time 500\n* state Draining\n"));
    check(now, 1, &format!("{defer}* shutdown 700\n* time 500\n* state Draining\n"));
    check(now, 1, &format!("{defer}* block\n* eof\n* time 5000\n! expired 0\n* state Draining\n"));
    check(now, 0, "* block\n* changed\n> call 1 ping\n* eof\n* time 500\n");
    check(now, 0, "> call 1 shutdown\n< result 1\n* state Draining\n");
    check(now, 1, &format!("{defer}> call 2 shutdown\n< result 2\n> note exit\n* state Draining\n"));
}

#[test]
fn reset_drops_an_incomplete_line() {
    let now = Revision::V2025_11_25;
    check(now, 0, "* send {\"jsonrpc\":\"2.0\",\"id\":1,\"met\n");
    check(now, 0, "* send \u{feff}\n");
    check(now, 0, &format!("* send {{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"{}\n", "x".repeat(3000)));
    // The reset happens while a line waits for space.
    check(now, 0, "* block\n* changed\n> call 1 ping\n");
    check(now, 0, "* block\n* changed\n* changed\n> nonsense\n");
}

#[test]
fn reset_drops_keep_alive_but_not_used_ids() {
    let pings = |close| KeepAlive { interval: Millis(100), timeout: Millis(10), close };
    let hello = hello("2025-11-25");
    let again = |time: u32, ping: u32| {
        let (due, late) = (time + 100, time + 110);
        format!(
            "* reset\n* unblock\n* deadline none\n* time {time}\n* deadline none\n\
             > call 0 initialize {hello}\n< result 0 …\n! connected 2025-11-25 c {{}}\n* deadline none\n\
             > note notifications/initialized\n! ready\n* deadline {due}\n* time {due}\n\
             < {{\"jsonrpc\":\"2.0\",\"id\":\"ping-{ping}\",\"method\":\"ping\"}}\n\
             > {{\"jsonrpc\":\"2.0\",\"id\":\"ping-1\",\"result\":{{}}}}\n* deadline {}\n",
            if ping == 1 { due + 100 } else { late },
        )
    };
    let setup = Setup::new(EVERYTHING).keep_alive(pings(false)).session(Revision::V2025_11_25);
    // The states of a ping: not sent, awaited, unanswered, and due without space.
    let one = "* time 100\n< {\"jsonrpc\":\"2.0\",\"id\":\"ping-1\",\"method\":\"ping\"}\n";
    setup.check(&again(1000, 1));
    setup.check(&format!("{one}{}", again(105, 2)));
    setup.check(&format!("{one}{}", again(1000, 2)));
    setup.check(&format!("{one}* time 110\n! silent\n{}", again(150, 2)));
    setup.check(&format!("* block\n* changed\n* time 200\n{}", again(250, 1)));
    let closes = Setup::new(EVERYTHING).keep_alive(pings(true)).session(Revision::V2025_11_25);
    closes.check(&format!("{one}* time 110\n! silent\n! closed\n{}", again(150, 2)));
}

/// Passes a line to the server. Returns `true` if an event is pending.
fn send(server: &mut Server<'_>, line: &str) -> bool {
    event(server, &mut line.as_bytes(), &mut Vec::new())
}

/// Opens a session, runs `act`, and resets the server. Expects no trace of the session.
fn between_polls(what: &str, act: &dyn Fn(&mut Server<'_>)) {
    let info: ServerConfig<'static> = EVERYTHING.second_initialize(SecondInitialize::Restart);
    let (mut rx, mut tx, mut slots, mut ids) = ([0; 1024], [0; 2000], [Slot::EMPTY; 2], [0; 200]);
    let server = Server::new(&info, &mut rx, &mut tx).unwrap();
    let mut server = server.in_flight(&mut slots, &mut ids).unwrap();
    let open = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}}\n\
         {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n",
        hello("2025-11-25")
    );
    let mut output = Vec::new();
    let mut input = open.as_bytes();
    while event(&mut server, &mut input, &mut output) {
        assert!(matches!(server.event(), Some(Event::Connected(_) | Event::Ready)), "{what}");
    }
    act(&mut server);
    server.reset();
    assert!(server.event().is_none(), "{what}");
    assert_eq!((server.state(), server.deferred(), server.revision()), (State::Waiting, 0, None), "{what}");
    let (mut output, mut heard) = (Vec::new(), Vec::new());
    let mut input = open.as_bytes();
    while event(&mut server, &mut input, &mut output) {
        heard.push(format!("{:?}", server.event().unwrap()).split(['(', ' ']).next().unwrap().to_string());
    }
    assert_eq!(heard, ["Connected", "Ready"], "{what}");
    let output = String::from_utf8(output).unwrap();
    assert_eq!(output.lines().count(), 1, "{what}: {output}");
    assert!(output.starts_with("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":"), "{what}: {output}");
}

#[test]
fn reset_before_the_next_poll_drops_pending_work() {
    let call = |id: u32, name: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\"}}}}\n"
        )
    };
    let hello = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}}\n",
        hello("2025-06-18")
    );
    between_polls("an unread protocol error", &|server| assert!(send(server, "nonsense\n")));
    between_polls("an unread call", &|server| assert!(send(server, &call(1, "echo"))));
    between_polls("a dropped call", &|server| {
        assert!(send(server, &call(1, "echo")));
        assert!(server.event().is_some());
    });
    between_polls("an oversized response", &|server| {
        assert!(send(server, &call(1, "echo")));
        let Some(Event::Call(call)) = server.event() else { panic!("a call") };
        call.text("x".repeat(3000));
    });
    between_polls("an unread restart", &|server| assert!(send(server, &hello)));
    between_polls("a restarted session", &|server| {
        assert!(send(server, &hello));
        assert!(matches!(server.event(), Some(Event::Restarted)));
    });
    between_polls("a partly written response", &|server| {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        feed(server, Millis(0), line);
        let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
        io.split().0.sent(9);
    });
    between_polls("a pending `Writable` event", &|server| {
        assert!(send(server, &call(1, "defer")));
        let Some(Event::Call(call)) = server.event() else { panic!("a call") };
        let ticket = call.defer(None).unwrap();
        server.changed(mcp_proto::server::Change::Tools);
        let Action::Io(_) = server.poll(Millis(0)) else { panic!("io") };
        assert_eq!(server.reply(ticket).map(drop), Err(SendError::Busy));
    });
    between_polls("a shutdown", &|server| server.shutdown_by(Millis(0), Millis(9)));
    between_polls("a failed write", &|server| {
        let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
        io.split().0.broken();
    });
}
