//! Message mode: kind and stream of each outbound message.

use crate::support::server::hello;
use crate::support::server::tools::CONFIG;
use mcp_proto::rpc::Message;
use mcp_proto::server::{Change, Event, RequestOptions, Server, Slot};
use mcp_proto::{
    Action, Buffer, ClientCapabilities, Level, Millis, OutboundMessageKind, Relation, Revision, State,
    StreamId, Ticket,
};

/// Acts like an HTTP server. Each request has a stream until its response. A general stream takes other messages.
struct Router<'b> {
    server: Server<'b>,
    now: Millis,
    /// The messages of each stream. `general` holds the messages without a stream.
    streams: [Vec<String>; 4],
    general: Vec<String>,
    open: [bool; 4],
    tickets: Vec<Ticket>,
    events: Vec<String>,
}

impl<'b> Router<'b> {
    fn new(server: Server<'b>) -> Router<'b> {
        let streams = Default::default();
        let (general, tickets, events) = (Vec::new(), Vec::new(), Vec::new());
        Router { server, now: Millis(0), streams, general, open: [false; 4], tickets, events }
    }

    /// Passes a message to the server, as bytes or `parsed`.
    fn post(&mut self, stream: u32, message: &str, parsed: bool) {
        self.run();
        self.open[stream as usize] = message.contains("\"id\"");
        let parsed = parsed.then(|| self.server.parse(message.as_bytes()).unwrap());
        let Action::Io(io) = self.server.poll(self.now) else { panic!("no event is pending") };
        let (_, input) = io.split();
        let taken = match parsed {
            Some(parsed) => input.parsed(parsed, StreamId(stream)).is_ok(),
            None => input.message(message.as_bytes(), StreamId(stream)).is_ok(),
        };
        assert!(taken);
        self.run();
    }

    fn run(&mut self) {
        loop {
            match self.server.poll(self.now) {
                Action::Io(io) => {
                    let (out, _) = io.split();
                    let Some(frame) = out.frame() else { return };
                    let text = String::from_utf8(frame.message().to_vec()).unwrap();
                    assert!(!text.contains('\n') && frame.message() == out.bytes());
                    let is_labelled = match frame.kind() {
                        OutboundMessageKind::Result => text.contains(r#","result":{"#),
                        OutboundMessageKind::Error { code } => {
                            text.contains(&format!(r#""error":{{"code":{code},"#))
                        }
                        _ => text.contains(r#""method":"#),
                    };
                    assert!(is_labelled, "{:?}: {text}", frame.kind());
                    match frame.relation() {
                        Relation::Request(StreamId(stream)) => {
                            assert!(self.open[stream as usize], "{text} after the end of stream {stream}");
                            self.open[stream as usize] = !frame.kind().is_response();
                            self.streams[stream as usize].push(text);
                        }
                        Relation::Connection => self.general.push(format!("{:?} {text}", frame.kind())),
                        other => panic!("{other:?}"),
                    }
                    let n = out.bytes().len();
                    out.sent(n);
                }
                Action::Event => match self.server.event().unwrap() {
                    Event::Call(mut call) if call.name() == "defer" => {
                        let _ = call.log(Level::Info, None, call.stream().0);
                        let _ = call.progress(1, None, "");
                        self.tickets.push(call.defer(None).unwrap());
                    }
                    Event::Call(mut call) => {
                        call.changed(Change::Tools);
                        let arguments = call.raw_arguments().raw().to_string();
                        call.text(arguments);
                    }
                    Event::ProtocolError(fault) => self.events.push(fault.to_string()),
                    _ => {}
                },
                Action::Closed => return,
            }
        }
    }
}

fn with_router(rx: usize, test: impl FnOnce(Router<'_>)) {
    let (mut rx, mut tx) = (vec![0; rx], [0; 4096]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
    let server = Server::new(&CONFIG, &mut rx[..], &mut tx).unwrap().message_mode().unwrap();
    let mut router = Router::new(server.in_flight(&mut slots, &mut text).unwrap());
    router.post(
        0,
        &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}"#, hello("2025-11-25")),
        false,
    );
    router.post(0, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, true);
    router.streams[0].clear();
    test(router);
}

fn defer(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"defer","_meta":{{"progressToken":"t{id}"}}}}}}"#
    )
}

#[test]
fn messages_go_to_the_stream_they_belong_to() {
    for parsed in [false, true] {
        with_router(512, |mut router| {
            for stream in [1, 2, 3] {
                router.post(stream, &defer(stream), parsed);
            }
            assert_eq!(router.open, [false, true, true, true]);
            router.post(
                0,
                r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo"}}"#,
                parsed,
            );
            // The application responds in another order, and reports progress between the responses.
            router.server.reply(router.tickets[1]).unwrap().progress(2, None, "").unwrap();
            router.run();
            router.server.reply(router.tickets[2]).unwrap().text("three");
            router.run();
            router.server.reply(router.tickets[0]).unwrap().log(Level::Error, None, "x").unwrap();
            router.run();
            router.server.reply(router.tickets[1]).unwrap().text("two");
            router.now = Millis(60_000);
            router.run();

            let progress = |stream, n| {
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"t{stream}","progress":{n}}}}}"#
                )
            };
            let log = |level: &str, data: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":"{data}"}}}}"#
                )
            };
            let result = |id, text: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
                )
            };
            assert_eq!(router.streams[0], [result(9, "{}")]);
            assert_eq!(router.streams[1][..3], [log("info", "1"), progress(1, 1), log("error", "x")]);
            assert!(router.streams[1][3].contains(r#""id":1,"error":{"code":-32603"#));
            assert_eq!(
                router.streams[2],
                [log("info", "2"), progress(2, 1), progress(2, 2), result(2, "two")]
            );
            assert_eq!(router.streams[3], [log("info", "3"), progress(3, 1), result(3, "three")]);
            assert_eq!(
                router.general,
                [r#"Notification {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#]
            );
            assert_eq!(router.open, [false; 4]);
        });
    }
}

#[test]
fn message_may_contain_newlines_and_a_byte_order_mark() {
    with_router(512, |mut router| {
        router.post(1, "\u{feff}\n{\"jsonrpc\":\"2.0\",\r\n\"id\":1,\n\"method\":\"ping\"}\n", false);
        router.post(2, "{\n\"jsonrpc\":\"2.0\",\"id\":\n2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\n\"a\":1}}}", true);
        assert_eq!(router.streams[1], [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
        assert!(router.streams[2][0].contains(r#""text":"{\n\"a\":1}""#), "{:?}", router.streams[2]);
        router.post(3, " \n ", false);
        assert!(router.streams[3].is_empty() && router.events.is_empty());
    });
}

#[test]
fn trimmed_buffer_keeps_the_id_of_an_oversized_message() {
    let server = Server::new(&CONFIG, Buffer::grown(512), Buffer::grown(2048)).unwrap();
    let mut server = server.message_mode().unwrap();
    let message =
        format!(r#"{{"jsonrpc":"2.0","id":"seven","method":"ping","params":{{"x":"{}"}}}}"#, "x".repeat(600));
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
    assert!(io.split().1.message(message.as_bytes(), StreamId(1)).is_ok());
    server.trim();
    let mut router = Router::new(server);
    router.open[1] = true;
    router.run();
    assert!(router.streams[1][0].contains(r#""id":"seven","error":"#), "{:?}", router.streams[1]);
}

#[test]
fn oversized_or_invalid_message_is_answered_on_its_stream() {
    with_router(160, |mut router| {
        let x = "x".repeat(300);
        router.post(
            1,
            &format!(r#"{{"jsonrpc":"2.0","id":"one","method":"m","params":{{"x":"{x}"}}}}"#),
            false,
        );
        router.post(2, &format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"x":"{x}"}},"id":2}}"#), true);
        router.post(3, &format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"id":1,"x":"{x}"}}}}"#), false);
        router.post(3, &format!(r#"{{"jsonrpc":"2.0","result":{{"x":"{x}"}},"id":1}}"#), true);
        assert!(router.streams[1][0].starts_with(r#"{"jsonrpc":"2.0","id":"one","error":{"code":-32600"#));
        assert!(router.streams[2][0].starts_with(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600"#));
        assert!(router.streams[3].is_empty());
        assert_eq!(router.events.len(), 4);
        router.open[3] = true;
        router.post(3, r#"{"jsonrpc":"2.0","id":"#, false);
        assert!(router.streams[3][0].contains("-32700"));
        router.post(1, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, false);
        assert_eq!(router.streams[1][1], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    });
}

#[test]
fn depth_limit_holds_for_every_input_method() {
    use mcp_proto::server::Limits;
    let info = CONFIG.limits(Limits::DEFAULT.with_depth(4));
    for parsed in [false, true] {
        let (mut rx, mut tx) = ([0; 256], [0; 1024]);
        let mut router = Router::new(Server::new(&info, &mut rx, &mut tx).unwrap().message_mode().unwrap());
        router.post(1, r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[[]]}}"#, parsed);
        router.post(2, r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":[[[]]]}}"#, parsed);
        assert_eq!(router.streams[1], [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
        assert!(router.streams[2][0].contains(r#""id":2,"error":{"code":-32600"#), "{:?}", router.streams[2]);
    }
}

#[test]
fn repeated_meta_changes_no_parsed_message() {
    const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion""#;
    const CAPABILITIES: &str = r#""io.modelcontextprotocol/clientCapabilities""#;
    let ping =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#);
    let meta = |token: &str| {
        format!(
            r#"{{"_meta":{{{VERSION}:"2026-07-28",{CAPABILITIES}:{{"sampling":{{}}}},"progressToken":{token}}}}}"#
        )
    };
    let texts = [
        ping(&meta("7")),
        ping(&meta("\"other\"")),
        ping(&meta("1.5")),
        ping(&meta("\"")),
        ping(&meta("7").replace("2026", "2099")),
        ping(&meta("7").replace("sampling", "roots")),
        ping(&format!(r#"{{"_meta":{{{VERSION}:7,{CAPABILITIES}:[]}}}}"#)),
        ping(&format!(r#"{{"_meta":{{{VERSION}:null,{CAPABILITIES}:{{}}}}}}"#)),
        ping("{}"),
    ];
    let mut buffers = ([0; 1024], [0; 1024]);
    let unused = Server::new(&CONFIG, &mut buffers.0, &mut buffers.1).unwrap();
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let mut router = Router::new(Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap());
    for first in &texts {
        router.post(1, first, false);
        for text in texts.iter().map(String::as_bytes) {
            let (parsed, expected) = (router.server.parse(text), Message::parse(text));
            let (Ok(parsed), Ok(expected)) = (parsed, expected) else {
                assert_eq!(parsed.err(), expected.err());
                continue;
            };
            assert_eq!(format!("{parsed:?}"), format!("{expected:?}"));
            let [meta] = expected.pick_params(["_meta"]);
            let parsed = meta.map(|meta| router.server.request_meta(meta));
            assert_eq!(parsed, meta.map(|meta| unused.request_meta(meta)));
        }
    }
    let [known, unknown] = [&texts[0], &texts[4]].map(|text| {
        let [meta] = Message::parse(text.as_bytes()).unwrap().pick_params(["_meta"]);
        unused.request_meta(meta.unwrap()).unwrap()
    });
    assert_eq!((known.revision, unknown.revision), (Some(Revision::V2026_07_28), None));
    assert!(known.capabilities.unwrap().has(ClientCapabilities::SAMPLING));
}

#[test]
fn messages_are_returned_if_busy_or_not_in_message_mode() {
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let (mut rx, mut tx) = ([0; 256], [0; 1024]);
    let mut lines = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let Action::Io(io) = lines.poll(Millis(0)) else { panic!() };
    assert_eq!(
        io.split().1.message(ping, StreamId(1)),
        Err(&ping[..]),
        "a server outside message mode takes bytes"
    );

    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    // While the first response is unsent, the buffer has no space for another response of the maximum size. So the second
    // message waits, and the server returns the third message.
    for (nth, taken) in [(0, true), (1, true), (2, false)] {
        let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
        let (_, input) = io.split();
        assert_eq!(input.is_ready(), taken);
        assert_eq!(input.message(ping, StreamId(nth)).is_ok(), taken);
    }
    // The transport must take a whole message. Otherwise the server offers the message again.
    let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
    let (out, _) = io.split();
    let n = out.bytes().len();
    out.sent(n - 1);
    let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
    let (out, _) = io.split();
    assert_eq!((out.bytes().len(), out.frame().unwrap().relation()), (n, Relation::Request(StreamId(0))));
    out.sent(n);
    let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
    let (out, _) = io.split();
    assert_eq!(out.frame().unwrap().relation(), Relation::Request(StreamId(1)));
}

#[test]
fn last_message_is_answered_after_the_end_of_input() {
    with_router(512, |mut router| {
        router.post(1, &defer(1), false);
        let Action::Io(io) = router.server.poll(router.now) else { panic!() };
        io.split().1.eof();
        router.run();
        assert_eq!(router.server.state(), State::Draining);
        router.server.reply(router.tickets[0]).unwrap().text("done");
        router.run();
        assert!(router.streams[1].last().unwrap().contains(r#""text":"done""#));
        assert_eq!(router.server.state(), State::Closed);
    });
}

#[test]
fn message_can_be_received_in_place() {
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let (mut rx, mut tx) = ([0; 256], [0; 1024]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    for stream in [4, 5] {
        let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
        let (_, mut input) = io.split();
        input.space()[..ping.len()].copy_from_slice(ping);
        input.framed(ping.len(), StreamId(stream));
        let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
        let (out, _) = io.split();
        let frame = out.frame().unwrap();
        assert_eq!(frame.relation(), Relation::Request(StreamId(stream)));
        assert_eq!(
            (frame.kind(), frame.message()),
            (OutboundMessageKind::Result, &br#"{"jsonrpc":"2.0","id":1,"result":{}}"#[..])
        );
        let n = out.bytes().len();
        out.sent(n);
    }
}

#[test]
fn request_during_a_call_goes_to_the_stream_of_the_call() {
    with_router(512, |mut router| {
        router.post(1, &defer(1), false);
        let during = RequestOptions::DEFAULT.timeout(Millis(10));
        router.server.ping(during.during(router.tickets[0])).unwrap();
        router.run();
        router.server.ping(RequestOptions::DEFAULT).unwrap();
        router.run();
        let asked = router.streams[1].last().unwrap();
        assert_eq!(asked, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
        assert!(router.open[1], "the request has no response yet");
        assert_eq!(router.general, [r#"Request {"jsonrpc":"2.0","id":3,"method":"ping"}"#]);
        // The client's response arrives on another stream.
        router.post(2, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, true);
        // The call ends before the first ping times out, so the cancellation of this ping belongs to no stream.
        router.server.reply(router.tickets[0]).unwrap().text("done");
        router.run();
        router.now = Millis(10);
        router.run();
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
        assert_eq!(router.general[1..], [format!("Notification {cancelled}")]);
        assert!(router.events.is_empty(), "{:?}", router.events);
    });
}
