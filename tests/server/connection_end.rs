//! The end of a connection: end of input, `exit`, and draining.

use super::batches::{self, cancel, error, gets, ping, pong, sends, text, tool};
use crate::support::server::tools::CONFIG;
use crate::support::server::{Setup, hello};
use crate::support::transport::feed;
use mcp_proto::server::{Change, Event, Server, ServerConfig, Slot, Subscriptions};
use mcp_proto::{Action, KeepAlive, Level, Millis, Revision, SendError};

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

fn batching() -> Setup {
    batches::session()
}

fn defer(id: &str, ms: u32) -> String {
    format!(
        "> call {id} tools/call {{\"name\":\"defer\",\"arguments\":{{\"ms\":{ms}}}}}\n! call defer {{\"ms\":{ms}}}\n"
    )
}

const EXIT: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

const LATE: &str = "Internal error: the request timed out";

const REFUSED: &str = "Invalid request: the receiver is shutting down: reconnect";

#[test]
fn end_of_input_while_idle_closes_immediately() {
    let open = format!("> call 0 initialize {}\n< result 0 …\n! connected …\n", hello("2025-11-25"));
    let serving =
        format!("{open}> call 1 tools/call {{\"name\":\"echo\"}}\n! call echo {{}}\n< result 1 …\n");
    let ready = format!("{open}> note notifications/initialized\n! ready\n");
    let stateless = r#"> call 1 tools/call {"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}
! call echo {}
< result 1 …
"#;
    let after = "* state Closed\n* deferred 0\n* log error x\n! not now NotConnected\n\
                 * ask ping\n! not now NotConnected\n* changed\n* time 100000\n* state Closed\n";
    let pings = KeepAlive { interval: Millis(100), timeout: Millis(10), close: true };
    for before in ["", &open, &serving, &ready, stateless] {
        for setup in [Setup::new(CONFIG), Setup::new(CONFIG).keep_alive(pings)] {
            setup.check(&format!("{before}* time 7\n* eof\n! closed\n{after}"));
        }
    }
}

#[test]
fn messages_before_the_end_of_input_are_still_answered() {
    // The first response fills the buffer, so later input waits: a call, a ping and the end.
    let blocked = format!(
        "{}{}* block\n* answer 0 done\n> call 3 tools/call {{\"name\":\"defer\"}}\n> call 4 ping\n* eof\n",
        defer("1", 60_000),
        defer("2", 60_000)
    );
    let setup = session().tx(1024);
    setup.check(&format!(
        "{blocked}* state Ready\n* deadline 2000\n* time 500\n* state Ready\n* unblock\n< {}\n! call defer {{}}\n< {}\n\
         * state Draining\n* deadline 2500\n* answer 1 b\n< {}\n* state Draining\n* answer 2 c\n< {}\n! closed\n",
        text("1", "done"),
        pong("4"),
        text("2", "b"),
        text("3", "c"),
    ));
    // The connection closes if the client stops reading.
    setup.check(&format!("{blocked}* time 1999\n* state Ready\n* time 2000\n! closed\n* deferred 0\n"));
}

#[test]
fn slow_reader_restarts_the_grace_period() {
    let (mut rx, mut tx) = ([0; 256], [0; 1024]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let line = format!("{}\n", ping("1"));
    let mut answer = format!("{}\n", pong("1")).into_bytes();
    feed(&mut server, Millis(0), line.as_bytes());
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
    io.split().1.eof();
    // First the grace period of requests in flight runs, then the grace period of output.
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
    assert_eq!(io.deadline(), Some(Millis(2000)));
    let mut now = 2000;
    for _ in 0..5 {
        let Action::Io(io) = server.poll(Millis(now)) else { panic!("io") };
        assert_eq!(io.deadline(), Some(Millis(now + 2000)));
        now += 1999;
        let Action::Io(io) = server.poll(Millis(now)) else { panic!("io") };
        let out = io.split().0;
        assert_eq!(out.bytes(), answer);
        out.sent(1);
        answer.remove(0);
    }
    let Action::Io(_) = server.poll(Millis(now)) else { panic!("io") };
    let Action::Io(_) = server.poll(Millis(now + 1999)) else { panic!("io") };
    assert!(matches!(server.poll(Millis(now + 2000)), Action::Closed));
}

#[test]
fn requests_in_flight_end_in_the_order_of_their_deadlines() {
    let three = [defer("1", 50_000), defer("2", 500), defer("3", 40_000)].concat();
    session().check(&format!(
        "* time 100\n{three}* eof\n* state Draining\n* deadline 600\n* time 600\n! expired 1\n< error 2 -32603 {LATE}\n\
         * deadline 2100\n* time 2099\n* deferred 2\n* time 2100\n! expired 2\n! expired 0\n\
         < error 3 -32603 {LATE}\n< error 1 -32603 {LATE}\n! closed\n* deferred 0\n"
    ));
    // While draining, requests still get their responses, progress and logs.
    let call = r#"> call 1 tools/call {"name":"defer","_meta":{"progressToken":"t"}}"#;
    session().check(&format!(
        "{call}\n! call defer {{}}\n* eof\n* progress 0 1\n\
         < note notifications/progress {{\"progressToken\":\"t\",\"progress\":1}}\n\
         * log-to 0 error x\n< note notifications/message {{\"level\":\"error\",\"data\":\"x\"}}\n\
         * answer 0 done\n< {}\n! closed\n* answer 0 again\n! not now Gone\n",
        text("1", "done")
    ));
}

#[test]
fn end_of_input_in_the_middle_of_a_batch_answers_all_of_it() {
    let progress = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":5}}}"#;
    let told = "< note notifications/progress …\n".repeat(3);
    // The receive buffer has space after the batch, so the server detects the end of the input.
    let setup = batching().rx(&[1000, 4000]);
    // The second member waits for space when the input ends.
    let half = format!(
        "* block\n{}! call progress {{}}\n! not now NotWanted\n* eof\n* state Ready\n* deadline 2000\n",
        sends(&[progress, &tool("2", "echo"), &tool("3", "defer"), &ping("4")])
    );
    setup.check(&format!(
        "{half}* time 1000\n* unblock\n{told}! call echo {{}}\n! call defer {{}}\n* state Draining\n* deadline 3000\n\
         * answer 0 a\n{}! closed\n",
        gets(&[&text("1", "done"), &text("2", "{}"), &pong("4"), &text("3", "a")])
    ));
    setup.check(&format!("{half}* time 2000\n! closed\n"));
    // A deferred member expires, and the array contains the error for this member.
    setup.check(&format!(
        "{}! call defer {{}}\n! call defer {{}}\n* eof\n* answer 1 b\n* state Draining\n* time 2000\n! expired 0\n{}! closed\n",
        sends(&[&tool("1", "defer"), &ping("2"), &tool("3", "defer")]),
        gets(&[&pong("2"), &text("3", "b"), &error("1", -32603, LATE)])
    ));
}

#[test]
fn exit_in_a_batch_ends_the_input_after_the_batch() {
    let answers = gets(&[&pong("1"), &text("2", "{}"), &text("3", "a")]);
    let both = "! call echo {}\n! call defer {}\n";
    let (one, two, three) = (ping("1"), tool("2", "echo"), tool("3", "defer"));
    for members in [[&one, EXIT, &two, &three], [EXIT, &one, &two, &three], [&one, &two, &three, EXIT]] {
        batching().check(&format!(
            "{}{both}* state Draining\n* deadline 2000\n* answer 0 a\n{answers}! closed\n",
            sends(&members)
        ));
    }
    batching().check(&format!("{}! closed\n", sends(&[EXIT])));
    batching().check(&format!("{}! closed\n", sends(&[EXIT, EXIT])));
    batching().check(&format!("{}{}! closed\n", sends(&[&ping("1"), EXIT]), gets(&[&pong("1")])));
    // The same batch may cancel a deferred member.
    batching().check(&format!(
        "{}! call defer {{}}\n! cancelled 0\n{}! closed\n",
        sends(&[&tool("1", "defer"), EXIT, &cancel("1"), &ping("2")]),
        gets(&[&pong("2")])
    ));
    // A `shutdown` in a batch affects all following members.
    let shutdown = r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#;
    batching().check(&format!(
        "{}! fault ShuttingDown\n{}! closed\n",
        sends(&[shutdown, &ping("2"), EXIT]),
        gets(&[&pong("1"), &error("2", -32600, REFUSED)])
    ));
}

#[test]
fn lines_after_a_batch_with_exit_are_not_read() {
    let (batch, answers) = (sends(&[&ping("1"), EXIT, &ping("2")]), gets(&[&pong("1"), &pong("2")]));
    batching().check(&format!("{batch}> call 3 ping\n> nonsense\n{answers}! closed\n"));
}

#[test]
fn requests_while_draining_are_refused_in_the_order_of_arrival() {
    let refused = |id: &str| format!("< error {id} -32600 {REFUSED}\n! fault ShuttingDown\n");
    let stateless = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let (first, last) = (defer("\"a\"", 60_000), defer("\"c\"", 60_000));
    let three = format!("{first}{}{last}", defer("\"b\"", 500));
    let new = [
        format!("> call 1 ping\n{}", refused("1")),
        format!("> call 2 tools/call {{\"name\":\"echo\"}}\n{}", refused("2")),
        format!("> call 3 no/such\n{}", refused("3")),
        format!("> call 4 tools/list {stateless}\n{}", refused("4")),
        format!("> call 5 initialize {}\n{}", hello("2025-11-25"), refused("5")),
        format!("> call 6 shutdown\n{}", refused("6")),
        format!("> call 7 ping []\n{}", refused("7")),
    ]
    .concat();
    let answer = |ticket: u32, id: &str| format!("* answer {ticket} x\n< {}\n", text(id, "x"));
    for (begin, end) in [("* shutdown\n", ""), ("> call \"s\" shutdown\n< result \"s\"\n", "> note exit\n")] {
        let close = format!("{}{end}! closed\n", answer(2, "\"c\""));
        session().check(&format!(
            "{three}{begin}{new}{}> call 7 ping\n{}> call \"b\" ping []\n< error \"b\" -32600 …\n! fault DuplicateId\n\
             {}> call 8 ping\n{}{close}",
            answer(0, "\"a\""),
            refused("7"),
            answer(1, "\"b\""),
            refused("8"),
        ));
        // The buffer is full. Refusals wait after the earlier response, and keep their order.
        let blocked = format!("{three}{begin}* block\n* answer 0 x\n> call 1 ping\n");
        let cancel = "> note notifications/cancelled {\"requestId\":\"b\"}\n";
        session().tx(1024).check(&format!(
            "{blocked}{cancel}> call 2 ping\n> nonsense\n> call 3 ping\n* unblock\n< {}\n{}! cancelled 1\n{}\
             < error - -32700 …\n! fault NotJson\n{}{close}",
            text("\"a\"", "x"),
            refused("1"),
            refused("2"),
            refused("3"),
        ));
        // The error of an expired request precedes refusals that wait for space.
        session().tx(1024).check(&format!(
            "{blocked}> call 2 ping\n* time 500\n! expired 1\n* unblock\n< {}\n< error \"b\" -32603 {LATE}\n{}{}{close}",
            text("\"a\"", "x"),
            refused("1"),
            refused("2"),
        ));
    }
}

const READY: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

/// Returns a server with a complete handshake.
fn ready_server() -> Server<'static> {
    let mut server = Server::new(&CONFIG, vec![0; 1024].leak(), vec![0; 1024].leak()).unwrap();
    let initialize = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}}",
        hello("2025-11-25")
    );
    for line in [&initialize, READY] {
        feed(&mut server, Millis(0), format!("{line}\n").as_bytes());
        while run_step(&mut server, Millis(0), usize::MAX) > 0 {}
    }
    server
}

/// Polls once, and takes at most `most` bytes of output. Returns the number of bytes, or 1 for an event.
fn run_step(server: &mut Server<'_>, now: Millis, most: usize) -> usize {
    match server.poll(now) {
        Action::Io(io) => {
            let out = io.split().0;
            let count = out.bytes().len().min(most);
            out.sent(count);
            count
        }
        Action::Event => server.event().map_or(0, |_| 1),
        Action::Closed => 0,
    }
}

#[test]
fn changes_do_not_delay_the_end() {
    for is_shutdown in [false, true] {
        let mut server = ready_server();
        server.changed(Change::Tools);
        match is_shutdown {
            true => server.shutdown(Millis(0)),
            false => crate::support::transport::end_input(&mut server, Millis(0)),
        }
        for _ in 0..200 {
            run_step(&mut server, Millis(0), 1);
            server.changed(Change::Tools);
        }
        assert!(matches!(server.poll(Millis(0)), Action::Closed), "shutdown: {is_shutdown}");
    }
}

#[test]
fn log_messages_do_not_delay_the_end() {
    for is_shutdown in [false, true] {
        let mut server = ready_server();
        server.log(Level::Error, None, "before the end").unwrap();
        match is_shutdown {
            true => server.shutdown(Millis(0)),
            false => crate::support::transport::end_input(&mut server, Millis(0)),
        }
        for _ in 0..200 {
            run_step(&mut server, Millis(0), usize::MAX);
            let sent = server.log(Level::Error, None, "still here");
            assert_eq!(sent, Err(SendError::NotConnected), "shutdown: {is_shutdown}");
        }
        assert!(matches!(server.poll(Millis(0)), Action::Closed), "shutdown: {is_shutdown}");
    }
}

#[test]
fn requests_of_the_client_do_not_delay_the_end() {
    let mut server = ready_server();
    server.shutdown(Millis(0));
    let requests = format!("{}\n", ping("1")).repeat(100).into_bytes();
    for now in 0..10_000 {
        if let Action::Closed = server.poll(Millis(now)) {
            return;
        }
        if let Action::Io(io) = server.poll(Millis(now)) {
            crate::support::transport::give_input(io.split().1, 41, &mut &requests[..]);
        }
        run_step(&mut server, Millis(now), 1);
    }
    panic!("not closed");
}

#[test]
fn notifications_of_a_subscription_do_not_delay_the_end() {
    static CONFIG: ServerConfig<'_> = ServerConfig::new("s", "1").features(&[&Subscriptions]);
    let (mut rx, mut tx, mut slots, mut text) = ([0; 1024], [0; 1024], [Slot::EMPTY; 1], [0; 16]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    let listen = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    feed(&mut server, Millis(0), format!("{listen}\n").as_bytes());
    let Action::Event = server.poll(Millis(0)) else { panic!("no event") };
    let Some(Event::Listening(listening)) = server.event() else { panic!("no subscription") };
    let ticket = listening.ticket();
    while run_step(&mut server, Millis(0), usize::MAX) > 0 {}
    server.notify_subscription(ticket, "own/note", |_| {}).unwrap();
    server.shutdown(Millis(0));
    for _ in 0..100 {
        let _ = server.notify_subscription(ticket, "own/note", |_| {});
        run_step(&mut server, Millis(0), usize::MAX);
    }
    assert!(matches!(server.poll(Millis(0)), Action::Closed));
}
