//! A client that does not read: deadlines, shutdown, reserved output space.
use crate::support::server::{Setup, tools};
use crate::support::transport::{end_input, feed, take};
use mcp_proto::server::{Event, Limits, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Action, Millis, Revision, SendError, Server};

static TOOLS: Tools = Tools::new(&[Tool::new("slow", "{}")]);
static CONFIG: ServerConfig =
    ServerConfig::new("s", "1").features(&[&TOOLS]).limits(Limits::DEFAULT.with_deferred_timeout(Millis(10)));

/// Connects, and takes all output.
fn connect(server: &mut Server<'_>) {
    feed(server, Millis(0), br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
"#);
    while let Action::Event = server.poll(Millis(0)) {
        server.event();
    }
    take(server, Millis(0), usize::MAX);
}

const SLOW: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
"#;
const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";

fn is_closed(server: &mut Server<'_>, now: u64) -> bool {
    matches!(server.poll(Millis(now)), Action::Closed)
}

#[test]
fn response_waiting_for_space_sets_no_deadline() {
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 64]);
    let mut server =
        Server::new(&CONFIG, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text).unwrap();
    connect(&mut server);
    feed(&mut server, Millis(0), SLOW);
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    let Some(Event::Call(call)) = server.event() else { panic!("call") };
    call.defer(None).unwrap();
    feed(&mut server, Millis(0), PING);
    let Action::Io(io) = server.poll(Millis(5)) else { panic!("io") };
    assert_eq!(io.deadline(), Some(Millis(10)));
    assert!(matches!(server.poll(Millis(10)), Action::Event));
    assert!(matches!(server.event(), Some(Event::Expired(_))));
    // The error of the expired call waits. A response may fill the whole transmit buffer, but the buffer contains the
    // response to the ping.
    let Action::Io(io) = server.poll(Millis(10)) else { panic!("io") };
    assert_eq!(io.deadline(), None, "a response needs space first");
    io.split().1.eof();
    let Action::Io(io) = server.poll(Millis(11)) else { panic!("io") };
    assert_eq!(io.deadline(), Some(Millis(2011)), "the grace");
    let Action::Io(io) = server.poll(Millis(3000)) else { panic!("io") };
    assert_eq!(io.deadline(), Some(Millis(5000)), "the client gets another grace period");
    let sent = io.split().0;
    let n = sent.bytes().len();
    sent.sent(n);
    let Action::Io(io) = server.poll(Millis(3000)) else { panic!("io") };
    let sent = io.split().0;
    assert!(sent.bytes().starts_with(br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603"#));
    let n = sent.bytes().len();
    sent.sent(n);
    assert!(matches!(server.poll(Millis(3000)), Action::Closed));
}

#[test]
fn end_of_input_closes_although_the_client_reads_nothing() {
    // In one case a call is in flight, and its response has no space. In the other case a request waits for space.
    for in_flight in [true, false] {
        let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
        let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 64]);
        let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
        let mut server = server.in_flight(&mut slots, &mut text).unwrap();
        connect(&mut server);
        if in_flight {
            feed(&mut server, Millis(0), SLOW);
            assert!(matches!(server.poll(Millis(0)), Action::Event));
            let Some(Event::Call(call)) = server.event() else { panic!("call") };
            call.defer(Some(Millis::seconds(100))).unwrap();
            feed(&mut server, Millis(0), PING);
        } else {
            feed(&mut server, Millis(0), PING);
            feed(&mut server, Millis(0), PING);
        }
        end_input(&mut server, Millis(0));
        let (mut now, mut polls) = (Millis(0), 0);
        loop {
            match server.poll(now) {
                Action::Io(io) => now = io.deadline().expect("a draining server has a deadline"),
                Action::Event => drop(server.event()),
                Action::Closed => break,
            }
            polls += 1;
            assert!(polls < 10, "the server does not close, in flight: {in_flight}");
        }
    }
}

#[test]
fn slow_reader_gets_all_output() {
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    connect(&mut server);
    feed(&mut server, Millis(0), PING);
    end_input(&mut server, Millis(0));
    let answer = b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n".len();
    for nth in 0..answer as u64 {
        assert!(!is_closed(&mut server, nth * 1500), "after {nth} of {answer} bytes");
        take(&mut server, Millis(nth * 1500), 1);
    }
    assert!(is_closed(&mut server, answer as u64 * 1500));
}

#[test]
fn space_reserved_for_a_call_is_not_used_by_another() {
    let (mut rx, mut tx) = ([0; 1024], [0; 640]);
    let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 64]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    connect(&mut server);
    feed(&mut server, Millis(0), SLOW);
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    let Some(Event::Call(call)) = server.event() else { panic!("call") };
    let ticket = call.defer(None).unwrap();
    feed(&mut server, Millis(0), &[&SLOW[..22], b"2", &SLOW[23..]].concat());
    // The application replies to another request between `poll` and `event`.
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    match server.reply(ticket) {
        Ok(reply) => reply.text("x".repeat(400)),
        Err(why) => assert_eq!(why, SendError::Busy),
    }
    let Some(Event::Call(call)) = server.event() else { panic!("call") };
    call.text("y".repeat(400));
    match server.poll(Millis(0)) {
        Action::Event => panic!("{:?}", server.event()),
        Action::Io(io) => assert!(io.split().0.bytes().ends_with(b"yyy\"}]}}\n")),
        Action::Closed => panic!("closed"),
    }
}

#[test]
fn oversized_line_without_a_response_needs_no_space() {
    let x = "x".repeat(400);
    Setup::new(tools::CONFIG).tx(1024).rx(&[350]).session(Revision::V2025_11_25).check(&format!(
        "> call 1 tools/call {{\"name\":\"defer\"}}\n! call defer {{}}\n* block\n* answer 0 x\n\
         > {{\"jsonrpc\":\"2.0\",\"method\":\"{x}\"}}\n! fault LineTooLong\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{{\"x\":\"{x}\"}}}}\n! fault LineTooLong\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"{x}\"}}\n* unblock\n\
         < result 1 …\n< error 2 -32600 …\n! fault LineTooLong\n"
    ));
}
