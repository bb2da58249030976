//! A peer that does not read: nothing is due that cannot be done, so that a host can sleep.
use mcp_proto::server::{Event, Limits, ServerInfo, Slot, Tool, Tools};
use mcp_proto::{Action, Millis, Server};

static TOOLS: Tools = Tools::new(&[Tool::new("slow", "{}")]);
static INFO: ServerInfo =
    ServerInfo::new("s", "1").features(&[&TOOLS]).limits(Limits::DEFAULT.with_deferred(Millis(10)));

fn feed(server: &mut Server<'_>, line: &[u8]) {
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
    let mut input = io.split().1;
    input.space()[..line.len()].copy_from_slice(line);
    input.filled(line.len());
}

#[test]
fn what_waits_for_room_is_not_due() {
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 64]);
    let mut server = Server::new(&INFO, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text).unwrap();
    feed(&mut server, br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
"#);
    while let Action::Event = server.poll(Millis(0)) {
        server.event();
    }
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("io") };
    let sent = io.split().0;
    let n = sent.bytes().len();
    sent.sent(n);
    feed(
        &mut server,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
"#,
    );
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    let Some(Event::Call(call)) = server.event() else { panic!("call") };
    call.defer(None).unwrap();
    feed(&mut server, b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    let Action::Io(io) = server.poll(Millis(5)) else { panic!("io") };
    assert_eq!(io.deadline(), Some(Millis(10)));
    assert!(matches!(server.poll(Millis(10)), Action::Event));
    assert!(matches!(server.event(), Some(Event::Expired(_))));
    // The answer to the ping is not written, and an answer may use the whole buffer: there is no room for this one.
    let Action::Io(io) = server.poll(Millis(10)) else { panic!("io") };
    assert_eq!(io.deadline(), None, "it cannot be answered before something is sent");
    io.split().1.eof();
    let Action::Io(io) = server.poll(Millis(11)) else { panic!("io") };
    assert_eq!(io.deadline(), Some(Millis(2011)), "the grace");
    let Action::Io(io) = server.poll(Millis(3000)) else { panic!("io") };
    assert_eq!(io.deadline(), None, "the grace is over, but nothing can be written");
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
