//! Message mode: streams of subscriptions and batches, ids, closed streams.

use crate::support::server::hello;
use crate::support::server::tools::TOOLS;
use mcp_proto::server::{Change, Event, Feature, Server, ServerConfig, Slot, Subscriptions};
use mcp_proto::{Action, Buffer, Millis, StreamId, Ticket};

static FEATURES: [&dyn Feature; 2] = [&TOOLS, &Subscriptions];

static CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

struct ServerHarness<'b> {
    server: Server<'b>,
    sent: Vec<String>,
    tickets: Vec<Ticket>,
    cancelled: Vec<Ticket>,
}

impl ServerHarness<'_> {
    fn post(&mut self, stream: u32, message: &str) {
        self.run();
        let Action::Io(io) = self.server.poll(Millis(0)) else { panic!("no event is pending") };
        assert!(io.split().1.message(message.as_bytes(), StreamId(stream)).is_ok());
        self.run();
    }

    fn close(&mut self, stream: u32) {
        self.run();
        let Action::Io(io) = self.server.poll(Millis(0)) else { panic!("nothing else is due") };
        assert_eq!(io.split().1.stream_closed(StreamId(stream)), Ok(()));
        self.run();
    }

    fn run(&mut self) {
        loop {
            match self.server.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, _) = io.split();
                    let Some(frame) = out.frame() else { return };
                    let text = String::from_utf8(frame.message().to_vec()).unwrap();
                    self.sent.push(format!("{:?} {:?} {text}", frame.kind(), frame.relation()));
                    let n = out.bytes().len();
                    out.sent(n);
                }
                Action::Event => match self.server.event().unwrap() {
                    Event::Call(call) if call.name() == "defer" => {
                        self.tickets.push(call.defer(None).unwrap());
                    }
                    Event::Call(call) => call.text("x"),
                    Event::Listening(listening) => {
                        assert_eq!(listening.stream(), StreamId(2));
                        assert!(listening.includes(Change::Tools) && !listening.includes(Change::Prompts));
                        self.tickets.push(listening.ticket());
                    }
                    Event::Cancelled { ticket, .. } => self.cancelled.push(ticket),
                    _ => {}
                },
                Action::Closed => return,
            }
        }
    }

    /// Expects these messages since the last call.
    #[track_caller]
    fn expect(&mut self, sent: &[String]) {
        self.run();
        assert_eq!(std::mem::take(&mut self.sent), sent);
    }
}

fn with_harness(test: impl FnOnce(ServerHarness<'_>)) {
    let (mut rx, mut tx, mut batches) = ([0; 1024], [0; 1024], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 4 * 16]);
    let server =
        Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap().batch_buffer(&mut batches);
    let server = server.in_flight(&mut slots, &mut text).unwrap();
    let mut harness = ServerHarness { server, sent: Vec::new(), tickets: Vec::new(), cancelled: Vec::new() };
    harness.post(
        0,
        &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}"#, hello("2025-03-26")),
    );
    harness.post(0, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    harness.sent.clear();
    test(harness);
}

#[test]
fn subscription_messages_belong_to_its_stream() {
    with_harness(|mut harness| {
        harness.post(2, r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}"#);
        let of = |kind: &str, text: &str| format!("{kind} Subscription(StreamId(2)) {text}");
        let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":7"#;
        harness.expect(&[of(
            "Notification",
            &format!(r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{tag}}},"notifications":{{"toolsListChanged":true}}}}}}"#),
        )]);
        harness.server.changed(Change::Tools);
        harness.expect(&[
            r#"Notification Connection {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into(),
            of(
                "Notification",
                &format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{tag}}}}}}}"#
                ),
            ),
        ]);
        // The response ends the stream, so no message follows.
        let ticket = harness.tickets[0];
        harness.server.end_subscription(ticket).unwrap();
        harness.expect(&[of(
            "Result",
            &format!(
                r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"complete",{tag},"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}}}}}}"#
            ),
        )]);
        assert_eq!(harness.server.deferred(), 0);
    });
}

#[test]
fn batch_responses_go_to_the_stream_of_the_batch() {
    let mut largest = 0;
    with_harness(|mut harness| {
        harness.post(
            3,
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"defer"}}]"#,
        );
        harness.post(1, r#"[{"jsonrpc":"2.0","id":3,"method":"ping"}]"#);
        harness.expect(&[r#"Result Request(StreamId(1)) [{"jsonrpc":"2.0","id":3,"result":{}}]"#.into()]);
        let ticket = harness.tickets[0];
        harness.server.reply(ticket).unwrap().text("x");
        harness.expect(&[r#"Result Request(StreamId(3)) [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}]}}]"#.into()]);
        // The second response may use all space that the first response left. Try lengths below and above the limit.
        let defer = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"defer"}}"#;
        for bytes in 800..1000 {
            harness.tickets.clear();
            harness.post(3, &format!("[{},{defer}]", defer.replace('4', "5")));
            let tickets = harness.tickets.clone();
            harness.server.reply(tickets[0]).unwrap().text("a");
            harness.run();
            harness.server.reply(tickets[1]).unwrap().text("b".repeat(bytes));
            harness.run();
            let sent = std::mem::take(&mut harness.sent);
            let fits = sent.len() == 1 && sent[0].contains(&"b".repeat(bytes));
            assert!(fits || sent.len() == 1 && sent[0].contains("too large"), "{bytes}: {sent:?}");
            largest = largest.max(if fits { sent[0].len() } else { 0 });
        }
        assert!(largest > 900, "{largest}");
    });
}

/// Returns a call of `2026-07-28` that the application defers.
fn stateless_call(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"defer","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

fn session_call(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"defer"}}}}"#)
}

#[test]
fn streams_of_the_stateless_era_use_the_same_id_at_once() {
    with_harness(|mut harness| {
        for (stream, call) in [(1, stateless_call(1)), (2, stateless_call(1)), (3, session_call(1))] {
            harness.post(stream, &call);
            harness.expect(&[]);
        }
        // A stateless request must not repeat an id of its stream. A session request must not repeat an id of the
        // session on any stream.
        for (stream, call) in [(2, stateless_call(1)), (5, session_call(1))] {
            harness.post(stream, &call);
            let refused = std::mem::take(&mut harness.sent).concat();
            assert!(
                refused.starts_with(&format!("Error {{ code: -32600 }} Request(StreamId({stream}))")),
                "{refused}"
            );
        }
        let tickets = harness.tickets.clone();
        for (stream, ticket) in [(2, tickets[1]), (1, tickets[0]), (3, tickets[2])] {
            harness.server.reply(ticket).unwrap().text("x");
            harness.run();
            let sent = std::mem::take(&mut harness.sent).concat();
            assert!(sent.starts_with(&format!("Result Request(StreamId({stream})) ")), "{sent}");
        }
        assert_eq!(harness.server.deferred(), 0);
    });
}

#[test]
fn cancellation_applies_to_its_stream_and_then_to_the_session() {
    with_harness(|mut harness| {
        for (stream, call) in [(1, stateless_call(1)), (2, stateless_call(1)), (3, session_call(1))] {
            harness.post(stream, &call);
        }
        let tickets = harness.tickets.clone();
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        harness.post(2, cancel);
        assert_eq!(harness.cancelled, [tickets[1]]);
        harness.post(4, cancel);
        assert_eq!(harness.cancelled, [tickets[1], tickets[2]], "the session's request has no stream");
        harness.post(4, cancel);
        assert_eq!(harness.cancelled.len(), 2, "the request of stream 1 is left");
        assert_eq!(harness.server.deferred(), 1);
    });
}

#[test]
fn closed_stream_cancels_stateless_requests_and_subscriptions() {
    with_harness(|mut harness| {
        harness.post(2, r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}"#);
        harness.post(2, &stateless_call(1));
        harness.post(3, &stateless_call(1));
        harness.post(2, &session_call(2));
        harness.sent.clear();
        let tickets = harness.tickets.clone();

        harness.close(2);
        assert_eq!(harness.cancelled, tickets[..2], "in the order of their slots");
        harness.expect(&[]);
        assert_eq!(harness.server.deferred(), 2, "another stream, and the session");
        // The subscription receives no further notification.
        harness.server.changed(Change::Tools);
        let listed =
            r#"Notification Connection {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        harness.expect(&[listed.into()]);
        assert!(harness.server.reply(tickets[1]).is_err());

        // None of these ends a request: closing stream 2 again, closing a stream without requests (9), closing the
        // stream of the handshake (0).
        for stream in [2, 9, 0] {
            harness.close(stream);
        }
        assert_eq!((harness.cancelled.len(), harness.server.deferred()), (2, 2));
        for ticket in &tickets[2..] {
            harness.server.reply(*ticket).unwrap().text("x");
            harness.run();
        }
        assert_eq!(harness.sent.len(), 2);
        // The id is free again.
        harness.post(2, &stateless_call(1));
        assert_eq!(harness.server.deferred(), 1);
    });
}

#[test]
fn closed_stream_is_returned_if_busy_or_not_in_message_mode() {
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let mut lines = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let Action::Io(io) = lines.poll(Millis(0)) else { panic!() };
    assert_eq!(io.split().1.stream_closed(StreamId(1)), Err(StreamId(1)));

    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    // The first response is unsent, so a response of the maximum size does not fit, and the second message waits.
    for _ in 0..2 {
        let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
        assert!(io.split().1.message(ping, StreamId(1)).is_ok());
    }
    let Action::Io(io) = server.poll(Millis(0)) else { panic!() };
    assert_eq!(io.split().1.stream_closed(StreamId(1)), Err(StreamId(1)));
}

#[test]
fn request_has_the_user_of_its_message() {
    static CONFIG: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]);
    let server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
    let mut server = server.message_mode().unwrap();
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let mut users = Vec::new();
    for user in [1, 2, 0, u64::MAX] {
        let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
        assert!(io.split().1.message(message.as_bytes(), StreamId::NONE).is_ok());
        server.set_user(user);
        assert!(matches!(server.poll(Millis(0)), Action::Event));
        let Some(Event::Call(call)) = server.event() else { panic!("a call") };
        users.push(call.user());
        call.text("x");
        let Action::Io(io) = server.poll(Millis(0)) else { panic!("a response is unsent") };
        let (out, _) = io.split();
        let n = out.bytes().len();
        out.sent(n);
    }
    assert_eq!(users, [Some(1), Some(2), None, Some(u64::MAX)]);
}
