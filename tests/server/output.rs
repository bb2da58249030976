//! The transmit buffer: sharing, reserved space, observers.

use crate::support::server::tools::{CONFIG, Record, handle};
use crate::support::server::{ServerHarness, Setup};
use crate::support::transport::{Pace, feed};
use mcp_proto::server::Server;
use mcp_proto::{Action, Buffer, Direction, Millis, Observer, ProtocolError, Revision};

#[test]
fn several_responses_leave_in_one_write() {
    let (mut one, mut two) = ([0; 1024], [0; 1024]);
    let cases: [(Buffer<'_>, _, _); 3] =
        [((&mut one).into(), None, 1), ((&mut two).into(), Some(400), 10), (Buffer::grown(1024), None, 10)];
    for (tx, max_reply_size, answers) in cases {
        let mut rx = [0; 2048];
        let mut server = Server::new(&CONFIG, &mut rx, tx).unwrap();
        if let Some(bytes) = max_reply_size {
            server = server.max_reply_size(bytes).unwrap();
        }
        let lines: String =
            (0..10).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")).collect();
        feed(&mut server, Millis(0), lines.as_bytes());
        let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
        let (out, _) = io.split();
        assert_eq!(out.bytes().iter().filter(|byte| **byte == b'\n').count(), answers);
    }
}

#[test]
fn response_never_exceeds_its_reserved_space() {
    let frame = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""}]}}"#.len() + 1;
    let call = |bytes: usize| {
        let arguments = format!("{{\"bytes\":{bytes}}}");
        format!(
            "> call 1 tools/call {{\"name\":\"large\",\"arguments\":{arguments}}}\n! call large {arguments}\n"
        )
    };
    let error = "< error 1 -32603 Internal error: the response is too large (at most 500 bytes)\n! fault ReplyTooLarge\n";
    let most = call(500 - frame) + "< result 1 …\n";
    let more = call(500 - frame + 1) + error;
    for tx in [500, 501, 999, 1000, 1001, 1700, 4096] {
        let setup = Setup::new(CONFIG).tx(tx).max_reply_size(500).session(Revision::V2025_11_25);
        setup.check(&format!("{most}{more}{most}{most}{more}{more}"));
    }
}

#[test]
fn reply_space_is_limited_by_the_buffer() {
    for room in [600, 601, usize::MAX] {
        let setup = Setup::new(CONFIG).tx(600).max_reply_size(room).session(Revision::V2025_11_25);
        setup.check("> call 1 ping\n< result 1\n");
    }
}

#[test]
fn list_has_the_same_pages_at_any_output_pace() {
    let list = "> call 1 tools/list\n< result 1 {…\"nextCursor\":\"p…\"}\n! fault ListSplit\n".repeat(5);
    for tx in [500, 700, 1500] {
        Setup::new(CONFIG).tx(tx).max_reply_size(500).session(Revision::V2025_11_25).check(&list);
    }
}

/// Records the observed lines.
#[derive(Default)]
struct Trace(Vec<(Direction, String, Option<ProtocolError>)>);

impl Observer for Trace {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        self.0.push((direction, String::from_utf8_lossy(line).into_owned(), outcome.err()));
    }
}

#[test]
fn observer_sees_every_line_with_its_outcome() {
    let mut trace = Trace::default();
    let (mut rx, mut tx) = ([0; 160], [0; 1024]);
    let (mut slots, mut text) = ([mcp_proto::server::Slot::EMPTY; 1], [0; 64]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().observe(&mut trace);
    let server = server.in_flight(&mut slots, &mut text).unwrap();
    let mut harness = ServerHarness::new(server, Pace { read: 5, write: 3, ..Pace::FAST });
    let long = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"x":"{}"}}}}"#, "x".repeat(300));
    let open = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}"#,
        crate::support::server::hello("2025-11-25")
    );
    let lines = [
        open.as_str(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "nonsense",
        &long,
        r#"{"jsonrpc":"2.0","id":2,"method":"no"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"log","_meta":{"progressToken":1}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"defer"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"drop"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
    ];
    for line in lines {
        harness.transport.write_line(line.as_bytes());
    }
    harness.run();
    harness.command("answer 0 done");
    harness.command("changed");
    harness.run();
    let output = harness.take_output();
    drop(harness);
    let of = |wanted: Direction| trace.0.iter().filter(move |(direction, ..)| *direction == wanted);
    let seen_out: Vec<_> = of(Direction::Out).map(|(_, line, _)| line.as_str()).collect();
    assert_eq!(seen_out, output.lines().collect::<Vec<_>>(), "all written lines in order");
    assert!(of(Direction::Out).all(|(.., fault)| fault.is_none()));
    let seen_in: Vec<_> = of(Direction::In).map(|(_, line, _)| line.as_str()).collect();
    let shown: Vec<_> = lines.iter().map(|line| if line.len() > 160 { "7" } else { *line }).collect();
    assert_eq!(seen_in, shown, "all received lines in order; an oversized line as its id");
    let faults: Vec<_> = of(Direction::In)
        .map(|(.., fault)| fault.map(|fault| format!("{fault:?}")).unwrap_or_default())
        .map(|fault| fault.split([' ', '(', '{']).next().unwrap_or_default().to_string())
        .collect();
    assert_eq!(
        faults,
        ["", "", "", "NotJson", "LineTooLong", "UnknownMethod", "", "", "", "UnknownResponse"]
    );
}

/// Calls a tool once for each response size in bytes. Returns the output. After each poll the transport takes at
/// most `written` bytes. The server reads the next call when it is ready.
fn drained(tx: usize, max_reply_size: usize, written: usize, sizes: &[usize]) -> String {
    let (mut rx, mut tx) = ([0; 512], vec![0; tx]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx[..]).unwrap();
    let mut server = server.max_reply_size(max_reply_size).unwrap();
    let mut calls = sizes.iter().enumerate().map(|(id, bytes)| {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let params = format!(r#"{{"name":"large","arguments":{{"bytes":{bytes}}},"_meta":{meta}}}"#);
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n")
    });
    let (mut output, mut record) = (Vec::new(), Record::default());
    loop {
        match server.poll(Millis(0)) {
            Action::Closed => panic!("the connection is open"),
            Action::Event => handle(server.event().unwrap(), &mut record),
            Action::Io(io) => {
                let (out, mut input) = io.split();
                let n = out.bytes().len().min(written);
                output.extend_from_slice(&out.bytes()[..n]);
                out.sent(n);
                let has_space = input.is_ready() && input.space().len() >= 256;
                match Some(()).filter(|()| has_space).and_then(|()| calls.next()) {
                    Some(call) => {
                        input.space()[..call.len()].copy_from_slice(call.as_bytes());
                        input.filled(call.len());
                    }
                    None if n == 0 => return String::from_utf8(output).unwrap(),
                    None => {}
                }
            }
        }
    }
}

#[test]
fn output_does_not_depend_on_partial_writes() {
    // Some responses use all of their space. Others use only a part. So unsent output often moves to the front.
    let frame = r#"{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},"content":[{"type":"text","text":""}]}}"#.len() + 1;
    let room = 480;
    let sizes = [1, 60, room - frame, 0, 200, 90, room - frame, room - frame, 3, 17];
    let whole = drained(20 * room, room, usize::MAX, &sizes);
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), sizes.len());
    for (nth, (line, bytes)) in lines.iter().zip(sizes).enumerate() {
        assert!(line.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{nth},\"result\"")), "{line}");
        assert_eq!(line.len() + 1, frame + bytes, "{line}");
    }
    for tx in [room, room + 1, room + 39, 2 * room - 1, 2 * room, 2 * room + 1, 3 * room + 7] {
        for written in 1..=room + 1 {
            let output = drained(tx, room, written, &sizes);
            assert!(
                output == whole,
                "{written} bytes at a time, transmit buffer of {tx}:\n{output}\n{whole}"
            );
        }
    }
}

#[test]
fn response_is_written_once_its_space_is_free() {
    let pong = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    let (room, length) = (450, pong(1).len());
    for taken in 1..=length {
        // The second response fits only after the transport has taken `taken` bytes of the first. The remaining bytes
        // of the first response then move to the front.
        let (mut rx, mut tx) = ([0; 256], vec![0; room + length - taken]);
        let server = Server::new(&CONFIG, &mut rx, &mut tx[..]).unwrap();
        let mut server = server.max_reply_size(room).unwrap();
        for id in [1, 2] {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            feed(&mut server, Millis(0), line.as_bytes());
        }
        let mut offered = |sent: usize| {
            let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
            let out = io.split().0;
            let text = String::from_utf8(out.bytes().to_vec()).unwrap();
            out.sent(sent);
            text
        };
        let (first, second) = (pong(1), pong(2));
        assert_eq!(offered(taken - 1), first, "{taken}");
        assert_eq!(offered(1), first[taken - 1..], "{taken}");
        assert_eq!(offered(0), format!("{}{second}", &first[taken..]), "{taken}");
    }
}
