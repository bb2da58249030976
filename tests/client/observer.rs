//! The observer of a client receives each message once and in order.
//!
//! When the client moves unsent output within its buffer, the observer receives no message again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::support::FailureContext;
use crate::support::client::TIMES;
use mcp_proto::client::{ClientConfig, Connect, Event, Options, Slot};
use mcp_proto::{Action, Buffer, Client, Direction, KeepAlive, Millis, Observer, ProtocolError, SendError};

/// A message received by the observer.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    direction: Direction,
    text: String,
    accepted: bool,
}

#[derive(Clone, Default)]
struct Trace(Arc<Mutex<Vec<Seen>>>);

impl Observer for Trace {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        let text = String::from_utf8_lossy(line).into_owned();
        self.0.lock().unwrap().push(Seen { direction, text, accepted: outcome.is_ok() });
    }
}

/// A client with an observer, and the bytes in both directions.
struct Traced<'b> {
    client: Client<'b>,
    trace: Trace,
    now: u64,
    incoming: VecDeque<u8>,
    outgoing: Vec<u8>,
    /// Maximum bytes of one read.
    read: usize,
    /// Maximum bytes of one write.
    write: usize,
    results: usize,
    /// Whether the application calls a tool at each notification.
    calls_when_notified: bool,
}

impl Traced<'_> {
    /// Polls until nothing moves. Writes at most `budget` bytes.
    fn pump_until(&mut self, budget: usize) {
        let mut left = budget;
        loop {
            match self.client.poll(Millis(self.now)) {
                Action::Closed => return,
                Action::Event => match self.client.event() {
                    Some(Event::Response(_)) => self.results += 1,
                    Some(Event::Notification { .. }) if self.calls_when_notified => {
                        self.client.call_json("add", "{}", DEFAULT).unwrap();
                    }
                    _ => {}
                },
                Action::Io(io) => {
                    let (out, mut input) = io.split();
                    let written = out.bytes().len().min(self.write).min(left);
                    self.outgoing.extend_from_slice(&out.bytes()[..written]);
                    out.sent(written);
                    left -= written;
                    let mut read = 0;
                    for byte in input.space().iter_mut().take(self.read) {
                        let Some(next) = self.incoming.pop_front() else { break };
                        *byte = next;
                        read += 1;
                    }
                    input.filled(read);
                    if written + read == 0 {
                        return;
                    }
                }
            }
        }
    }

    fn pump(&mut self) {
        self.pump_until(usize::MAX);
    }

    /// Sends these lines from the server, without a pause between the lines.
    fn server(&mut self, lines: &[String]) {
        for line in lines {
            self.incoming.extend(line.as_bytes());
            self.incoming.push_back(b'\n');
        }
        self.pump();
    }

    fn connect(&mut self, connect: Connect) {
        self.pump();
        self.server(&[match connect {
            Connect::Handshake => r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#.to_owned(),
            _ => r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#.to_owned(),
        }]);
        assert!(self.client.capabilities().is_some(), "connected");
    }

    /// Returns the lines that the server has received.
    fn received(&self) -> Vec<String> {
        let text = std::str::from_utf8(&self.outgoing).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "an incomplete line: {text}");
        text.lines().map(str::to_owned).collect()
    }

    fn seen(&self, direction: Direction) -> Vec<String> {
        let trace = self.trace.0.lock().unwrap();
        trace.iter().filter(|it| it.direction == direction).map(|it| it.text.clone()).collect()
    }

    /// Returns the directions of the observed messages: `<` from the server, `>` to the server.
    fn order(&self) -> String {
        let trace = self.trace.0.lock().unwrap();
        trace.iter().map(|it| if it.direction == Direction::In { '<' } else { '>' }).collect()
    }
}

/// Returns the ids of the requests in these lines.
fn ids(lines: &[String]) -> Vec<String> {
    let values = lines.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    values.filter(|it| it.get("method").is_some()).filter_map(|it| Some(it.get("id")?.to_string())).collect()
}

fn answer(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"{id}"}}]}}}}"#
    )
}

const PACES: [(usize, usize); 5] =
    [(usize::MAX, usize::MAX), (1, 1), (usize::MAX, 1), (1, usize::MAX), (13, 7)];

/// Runs a dialogue in both eras, with several buffers and paces.
fn traced(tx: usize, pings: Option<KeepAlive>, dialogue: impl Fn(&mut Traced<'_>)) {
    for connect in [Connect::Handshake, Connect::Stateless] {
        let info = ClientConfig::new("c", "1").connect(connect).timeouts(TIMES);
        for grown in [false, true] {
            for (read, write) in PACES {
                let _context =
                    FailureContext(format!("{connect:?}, grown {grown}, {read} and {write} bytes"));
                let (mut lent_rx, mut lent_tx) = (vec![0; 1024], vec![0; tx]);
                let (rx, tx): (Buffer<'_>, Buffer<'_>) = if grown {
                    (Buffer::grown(1024), Buffer::grown(tx))
                } else {
                    ((&mut lent_rx[..]).into(), (&mut lent_tx[..]).into())
                };
                let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
                let trace = Trace::default();
                let mut observer = trace.clone();
                let client = Client::new(&info, rx, tx).unwrap().in_flight(&mut slots, &mut text);
                let mut client = client.observe(&mut observer);
                if let Some(pings) = pings {
                    client = client.keep_alive(pings);
                }
                let (incoming, outgoing) = (VecDeque::new(), Vec::new());
                let mut traced = Traced {
                    client,
                    trace,
                    now: 0,
                    incoming,
                    outgoing,
                    read,
                    write,
                    results: 0,
                    calls_when_notified: false,
                };
                traced.connect(connect);
                dialogue(&mut traced);
                // The observed messages must equal the sent messages, in order and without duplicates.
                assert_eq!(traced.seen(Direction::Out), traced.received());
            }
        }
    }
}

const DEFAULT: Options = Options::DEFAULT;

#[test]
fn repeated_calls_and_responses_are_observed_once() {
    traced(2048, None, |traced| {
        let before = traced.order().len();
        let mut answers = traced.seen(Direction::In);
        for round in 0..20 {
            traced.client.call_json("add", r#"{"a":1,"b":2}"#, DEFAULT).unwrap();
            traced.pump();
            let id = ids(&traced.received()).pop().unwrap();
            answers.push(answer(&id));
            traced.server(&answers[answers.len() - 1..]);
            assert_eq!(traced.results, round + 1);
        }
        assert_eq!(traced.order()[before..], "><".repeat(20));
        assert_eq!(traced.seen(Direction::In), answers);
    });
}

#[test]
fn concurrent_calls_are_observed_before_their_responses() {
    traced(2048, None, |traced| {
        let before = traced.order().len();
        for _ in 0..4 {
            traced.client.call_json("add", "{}", DEFAULT).unwrap();
        }
        traced.pump();
        let received = traced.received();
        let answers: Vec<String> = ids(&received).iter().rev().take(4).map(|id| answer(id)).collect();
        traced.server(&answers);
        assert_eq!((traced.results, &traced.order()[before..]), (4, ">>>><<<<"));
        assert_eq!(traced.seen(Direction::In)[1..], answers);
    });
}

/// The transmit buffer contains an unsent call when further input arrives.
#[test]
fn unsent_call_is_observed_before_later_input() {
    traced(2048, None, |traced| {
        let before = traced.order().len();
        traced.client.call_json("add", "{}", DEFAULT).unwrap();
        traced.write = 0;
        traced.server(&[r#"{"jsonrpc":"2.0","method":"x"}"#.to_owned()]);
        assert_eq!(&traced.order()[before..], "><");
        traced.write = 5;
        traced.pump();
        assert_eq!(&traced.order()[before..], "><");
    });
}

/// If one read contains several messages, the next message is already in the receive buffer when the application calls
/// a tool.
#[test]
fn call_during_an_event_is_observed_before_the_next_message() {
    traced(2048, None, |traced| {
        let before = traced.order().len();
        traced.calls_when_notified = true;
        let notification = || r#"{"jsonrpc":"2.0","method":"x"}"#.to_owned();
        traced.server(&[notification(), notification(), notification()]);
        assert_eq!(&traced.order()[before..], "<><><>");
    });
}

#[test]
fn server_request_is_observed_before_its_response() {
    traced(2048, None, |traced| {
        let before = traced.order().len();
        let is_handshake = traced.client.revision().unwrap().era() == mcp_proto::Era::Handshake;
        let ping = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        traced.server(&[ping(1), ping(2)]);
        // In the stateless era, servers may send no requests. The client drops such requests without a response.
        assert_eq!(&traced.order()[before..], if is_handshake { "<><>" } else { "<<" });
    });
}

#[test]
fn refused_messages_are_observed_with_errors_late_ones_without() {
    traced(2048, None, |traced| {
        let before = traced.order().len();
        let ticket = traced.client.call_json("add", "{}", DEFAULT).unwrap();
        traced.pump();
        let id = ids(&traced.received()).pop().unwrap();
        traced.client.cancel(ticket, "").unwrap();
        let long = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"x":"{}"}}}}"#, "x".repeat(2000));
        let lines = ["garbage".to_owned(), answer(&id), answer("777777"), long, "{}".to_owned()];
        traced.server(&lines);
        let trace = traced.trace.0.lock().unwrap();
        let seen: Vec<(&str, bool)> = trace[before..]
            .iter()
            .filter(|it| it.direction == Direction::In)
            .map(|it| (&*it.text, it.accepted))
            .collect();
        // The observer receives only the id of an oversized line, and this line has no id.
        let expected =
            [(&*lines[0], false), (&*lines[1], true), (&*lines[2], false), ("", false), (&*lines[4], false)];
        assert_eq!(seen, expected);
    });
}

#[test]
fn keep_alive_pings_are_observed() {
    let pings = KeepAlive { interval: Millis(100), timeout: Millis(50), close: false };
    traced(2048, Some(pings), |traced| {
        let before = traced.order().len();
        for number in 1..4 {
            traced.now += 100;
            traced.pump();
            traced.server(&[format!(r#"{{"jsonrpc":"2.0","id":"ping-{number}","result":{{}}}}"#)]);
        }
        assert_eq!(&traced.order()[before..], "><><><");
    });
}

/// The server takes `taken` bytes at a time. Before each transfer, the application makes calls until the client refuses
/// a call, or until the number of calls is a multiple of 40. Therefore, unsent output of many lengths moves to the
/// front of its buffer.
#[test]
fn partial_writes_lose_and_repeat_nothing() {
    traced(700, None, |traced| {
        traced.outgoing.clear();
        traced.trace.0.lock().unwrap().clear();
        let (mut calls, mut busy) = (0, 0);
        for taken in (1..150).chain([400, 699, 700]) {
            loop {
                let arguments = format!(r#"{{"n":{calls},"x":"{}"}}"#, "x".repeat(calls % 23));
                match traced.client.call_json("add", &arguments, DEFAULT) {
                    Ok(ticket) => {
                        calls += 1;
                        // The slot is free once the cancellation is written.
                        traced.client.cancel(ticket, "").unwrap();
                    }
                    Err(SendError::Busy | SendError::Full) => {
                        busy += 1;
                        break;
                    }
                    Err(why) => panic!("{why:?}"),
                }
                // A growing buffer has space for many calls, so also stop after every 40 calls.
                if calls % 40 == 0 {
                    break;
                }
            }
            traced.pump_until(taken);
        }
        traced.pump();
        let received = traced.received();
        assert_eq!(traced.seen(Direction::Out), received);
        let called: Vec<usize> = received
            .iter()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("whole messages"))
            .filter_map(|line| line.pointer("/params/arguments/n")?.as_u64())
            .map(|n| n as usize)
            .collect();
        assert_eq!(called, (0..calls).collect::<Vec<_>>());
        let cancelled = received.iter().filter(|line| line.contains("notifications/cancelled")).count();
        assert_eq!(cancelled, calls);
        assert!(calls > 20 && busy > 50, "{calls} calls, {busy} refusals");
    });
}
