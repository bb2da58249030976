//! Message mode: the streams of subscriptions and batches.

use crate::support::server::hello;
use crate::support::server::tools::TOOLS;
use mcp_proto::server::{Change, Event, Feature, Server, ServerConfig, Slot, Subscriptions};
use mcp_proto::{Action, Millis, StreamId, Ticket};

static FEATURES: [&dyn Feature; 2] = [&TOOLS, &Subscriptions];

static INFO: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

struct ServerHarness<'b> {
    server: Server<'b>,
    sent: Vec<String>,
    tickets: Vec<Ticket>,
}

impl ServerHarness<'_> {
    fn post(&mut self, stream: u32, message: &str) {
        self.run();
        let Action::Io(io) = self.server.poll(Millis(0)) else { panic!("no event is pending") };
        assert!(io.split().1.message(message.as_bytes(), StreamId(stream)).is_ok());
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
                        assert!(listening.hears(Change::Tools) && !listening.hears(Change::Prompts));
                        self.tickets.push(listening.ticket());
                    }
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
        Server::new(&INFO, &mut rx, &mut tx).unwrap().message_mode().unwrap().batch_buffer(&mut batches);
    let server = server.in_flight(&mut slots, &mut text).unwrap();
    let mut harness = ServerHarness { server, sent: Vec::new(), tickets: Vec::new() };
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
            "Response",
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
        harness.expect(&[r#"Response Request(StreamId(1)) [{"jsonrpc":"2.0","id":3,"result":{}}]"#.into()]);
        let ticket = harness.tickets[0];
        harness.server.reply(ticket).unwrap().text("x");
        harness.expect(&[r#"Response Request(StreamId(3)) [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}]}}]"#.into()]);
        // The array has the maximum length: the second response uses all space that the first left.
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
