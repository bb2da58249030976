//! Message mode: the stream of each request, cancellations, failed exchanges.

use mcp_proto::client::{Client, ClientConfig, Connect, ConnectFailure, Event, Options, Slot, TaskLimits};
use mcp_proto::{
    Action, ClientCapabilities, Millis, OutboundMessageKind, Outcome, Relation, RequestFailure, StreamId,
    Ticket,
};

/// A message that the client sent, and its stream, if any.
#[derive(Debug)]
struct Sent {
    kind: OutboundMessageKind,
    stream: Option<StreamId>,
    text: String,
}

struct Harness<'b> {
    client: Client<'b>,
    sent: Vec<Sent>,
    events: Vec<String>,
}

impl Harness<'_> {
    fn run(&mut self) {
        loop {
            match self.client.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, _) = io.split();
                    let Some(frame) = out.frame() else { return };
                    let stream = match frame.relation() {
                        Relation::Request(stream) => Some(stream),
                        _ => None,
                    };
                    let text = String::from_utf8(frame.message().to_vec()).unwrap();
                    self.sent.push(Sent { kind: frame.kind(), stream, text });
                    let n = out.bytes().len();
                    out.sent(n);
                }
                Action::Event => self.events.push(match self.client.event().unwrap() {
                    Event::Connected(connected) => format!("connected {}", connected.revision()),
                    Event::ConnectFailed(ConnectFailure::Closed) => "connection failed: closed".into(),
                    Event::Response(response) => match response.outcome() {
                        Outcome::Failed(RequestFailure::Closed) => {
                            format!("failed {:?}, retryable {}", response.ticket(), response.is_retryable())
                        }
                        _ => format!("response {:?}", response.ticket()),
                    },
                    other => format!("{other:?}"),
                }),
                Action::Closed => return,
            }
        }
    }

    fn receive(&mut self, stream: StreamId, message: &str) {
        self.run();
        let Action::Io(io) = self.client.poll(Millis(0)) else { panic!("nothing else is due") };
        assert!(io.split().1.message(message.as_bytes(), stream).is_ok());
        self.run();
    }

    fn close(&mut self, stream: StreamId) {
        self.run();
        let Action::Io(io) = self.client.poll(Millis(0)) else { panic!("nothing else is due") };
        assert_eq!(io.split().1.stream_closed(stream), Ok(()));
        self.run();
    }

    /// Takes the only sent message, a request. Returns its stream and its id.
    #[track_caller]
    fn request(&mut self) -> (StreamId, String) {
        self.run();
        let [Sent { kind: OutboundMessageKind::Request, stream: Some(stream), text }] = &self.sent[..] else {
            panic!("{:?}", self.sent)
        };
        let id = text.split(r#""id":"#).nth(1).unwrap().split(',').next().unwrap();
        let request = (*stream, id.to_owned());
        self.sent.clear();
        request
    }

    #[track_caller]
    fn expect(&mut self, events: &[String]) {
        self.run();
        assert_eq!(std::mem::take(&mut self.events), events);
    }

    fn connect_stateless(&mut self) {
        let (stream, id) = self.request();
        self.receive(stream, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}},"extensions":{{"io.modelcontextprotocol/tasks":{{}}}}}},"resultType":"complete","_meta":{{}}}}}}"#));
        self.expect(&["connected 2026-07-28".into()]);
    }

    fn connect_handshake(&mut self) {
        let (stream, id) = self.request();
        self.receive(stream, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#));
        self.expect(&["connected 2025-11-25".into()]);
        let [Sent { kind: OutboundMessageKind::Notification, stream: None, text }] = &self.sent[..] else {
            panic!("{:?}", self.sent)
        };
        assert!(text.contains("notifications/initialized"));
        self.sent.clear();
    }

    fn call(&mut self) -> Ticket {
        self.client.call_json("add", "{}", Options::DEFAULT).unwrap()
    }
}

fn with_harness(connect: Connect, test: impl FnOnce(Harness<'_>)) {
    // With these intervals the client polls tasks immediately. The time of the harness does not change.
    let limits =
        TaskLimits { interval: Millis::ZERO, shortest_interval: Millis::ZERO, ..TaskLimits::DEFAULT };
    let config =
        ClientConfig::new("c", "1").connect(connect).tasks(limits).capabilities(ClientCapabilities::ROOTS);
    let (mut rx, mut tx) = ([0; 1024], [0; 4096]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 512]);
    let client = Client::new(&config, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    let client = client.in_flight(&mut slots, &mut text);
    test(Harness { client, sent: Vec::new(), events: Vec::new() });
}

#[test]
fn each_request_has_a_stream_of_its_own() {
    for connect in [Connect::Automatic, Connect::Handshake] {
        with_harness(connect, |mut harness| {
            match connect {
                Connect::Handshake => harness.connect_handshake(),
                _ => harness.connect_stateless(),
            }
            let mut streams = Vec::new();
            for _ in 0..4 {
                harness.call();
                let (stream, id) = harness.request();
                assert!(!streams.contains(&stream), "{stream:?} {streams:?}");
                streams.push(stream);
                if streams.len() % 2 == 0 {
                    harness.receive(
                        stream,
                        &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#),
                    );
                }
            }
        });
    }
}

#[test]
fn next_page_is_requested_on_another_stream() {
    with_harness(Connect::Automatic, |mut harness| {
        harness.connect_stateless();
        harness.client.list_tools(Options::DEFAULT).unwrap();
        let (first, id) = harness.request();
        harness.receive(first, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[],"nextCursor":"c","resultType":"complete"}}}}"#));
        let (second, _) = harness.request();
        assert_ne!(first, second);
        // The end of the first exchange arrives late.
        harness.events.clear();
        harness.close(first);
        harness.expect(&[]);
        harness.close(second);
        assert_eq!(harness.events.len(), 1);
        assert!(harness.events[0].ends_with("retryable true"), "{:?}", harness.events);
    });
}

#[test]
fn failed_poll_of_a_task_is_repeated() {
    with_harness(Connect::Automatic, |mut harness| {
        harness.connect_stateless();
        let ticket = harness.call();
        let (first, id) = harness.request();
        let task = r#""taskId":"t","status":"working""#;
        harness.receive(
            first,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"task",{task}}}}}"#),
        );
        assert_eq!(std::mem::take(&mut harness.events).len(), 1);
        let (second, _) = harness.request();
        // The end of the first exchange does not affect the poll.
        harness.close(first);
        harness.close(second);
        harness.expect(&[]);
        let (third, id) = harness.request();
        assert!(first != second && second != third);
        harness.receive(third, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"taskId":"t","status":"completed","result":{{"content":[]}}}}}}"#));
        harness.expect(&[format!("response {ticket:?}")]);
    });
}

/// The connection is replaced before the application has taken the event.
#[test]
fn lost_event_of_required_input_is_emitted_again() {
    with_harness(Connect::Automatic, |mut harness| {
        harness.connect_stateless();
        harness.call();
        let (stream, id) = harness.request();
        let task = r#""taskId":"t","status":"input_required""#;
        harness.receive(
            stream,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"task",{task}}}}}"#),
        );
        let (stream, id) = harness.request();
        let ask = |id: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{{task},"inputRequests":{{"r":{{"method":"roots/list"}}}}}}}}"#
            )
        };
        let Action::Io(io) = harness.client.poll(Millis(0)) else { panic!("nothing else is due") };
        assert!(io.split().1.message(ask(&id).as_bytes(), stream).is_ok());
        assert!(matches!(harness.client.poll(Millis(0)), Action::Event));
        harness.client.reconnect();
        harness.events.clear();
        harness.connect_stateless();
        let (stream, id) = harness.request();
        harness.receive(stream, &ask(&id));
        let [event] = &harness.events[..] else { panic!("{:?}", harness.events) };
        assert!(event.starts_with("InputRequired"), "{event}");
    });
}

#[test]
fn cancellation_aborts_the_stream_of_the_request() {
    for connect in [Connect::Automatic, Connect::Handshake] {
        with_harness(connect, |mut harness| {
            match connect {
                Connect::Handshake => harness.connect_handshake(),
                _ => harness.connect_stateless(),
            }
            let ticket = harness.call();
            let (stream, id) = harness.request();
            harness.client.cancel(ticket, "enough").unwrap();
            harness.run();
            let [Sent { kind: OutboundMessageKind::Abort, stream: Some(aborted), text }] = &harness.sent[..]
            else {
                panic!("{:?}", harness.sent)
            };
            assert_eq!(*aborted, stream);
            let params = format!(r#""params":{{"requestId":{id},"reason":"enough"}}"#);
            assert!(text.contains(&params), "{text}");
            // The caller closes the exchange, but no request is left to fail.
            harness.close(stream);
            harness.expect(&[]);
        });
    }
}

#[test]
fn failed_exchange_fails_its_request_only() {
    for connect in [Connect::Automatic, Connect::Handshake] {
        with_harness(connect, |mut harness| {
            match connect {
                Connect::Handshake => harness.connect_handshake(),
                _ => harness.connect_stateless(),
            }
            let first = harness.call();
            let (stream, _) = harness.request();
            let second = harness.call();
            let (other, id) = harness.request();
            harness.close(stream);
            harness.expect(&[format!("failed {first:?}, retryable false")]);
            assert!(harness.client.is_pending(second) && !harness.client.is_pending(first));
            // Closing an unknown stream, or the stream of an ended request, fails no request.
            for stream in [stream, StreamId(0), StreamId(9999), StreamId(u32::MAX)] {
                harness.close(stream);
                harness.expect(&[]);
            }
            harness.receive(other, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
            harness.expect(&[format!("response {second:?}")]);
            assert!(harness.sent.is_empty(), "a failed exchange needs no cancellation");
        });
    }
}

#[test]
fn failed_probe_falls_back_to_the_handshake() {
    with_harness(Connect::Automatic, |mut harness| {
        let (probe, _) = harness.request();
        harness.close(probe);
        harness.expect(&[]);
        let [Sent { text, .. }] = &harness.sent[..] else { panic!("{:?}", harness.sent) };
        assert!(text.contains(r#""method":"initialize""#), "{text}");
        harness.connect_handshake();
    });
    // The probe can have no late response, so an error without an id belongs to `initialize`.
    with_harness(Connect::Automatic, |mut harness| {
        let (probe, _) = harness.request();
        harness.close(probe);
        let (initialize, _) = harness.request();
        harness.receive(initialize, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#);
        let [event] = &harness.events[..] else { panic!("{:?}", harness.events) };
        assert!(event.starts_with("ConnectFailed(Refused"), "{event}");
    });
}

#[test]
fn failed_initialize_exchange_fails_the_connection() {
    with_harness(Connect::Handshake, |mut harness| {
        let (initialize, _) = harness.request();
        harness.close(initialize);
        harness.expect(&["connection failed: closed".into()]);
    });
}
