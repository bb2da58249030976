//! Tests of watched resources, with a minimal feature that declares `subscribe`.

use super::*;
use crate::server::features::subscriptions::registry::HEADER;
use crate::server::{Event, SecondInitialize, Server, ServerConfig, Slot};
use crate::{Action, Millis, Revision};
use std::borrow::ToOwned;
use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec::Vec;

/// A feature that allows subscriptions to every resource except `file:///gone`.
struct Files;

impl Feature for Files {}

impl Sealed for Files {
    fn write_capability(&self, _: &ServerConfig<'_>, _: Revision, out: &mut Writer<'_>) {
        out.token(r#""resources":{"subscribe":true}"#);
    }

    fn declares_subscribe(&self) -> bool {
        true
    }

    fn contains_uri(&self, uri: Str<'_>) -> Option<bool> {
        (uri == "file:///gone").then_some(false)
    }

    fn check(&self, _: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        Ok(())
    }
}

const CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1")
    .features(&[&Files, &Subscriptions])
    .second_initialize(SecondInitialize::Restart);

/// A server and a client, which exchange chunks of at most `chunk` bytes.
struct Pipe<'b> {
    server: Server<'b>,
    chunk: usize,
    blocked: bool,
    output: String,
    events: Vec<String>,
    tickets: Vec<Ticket>,
}

impl Pipe<'_> {
    fn send(&mut self, line: &str) {
        let mut input = [line.as_bytes(), b"\n"].concat();
        loop {
            match self.server.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, mut receive) = io.split();
                    let n = out.bytes().len().min(self.chunk);
                    if n > 0 && !self.blocked {
                        self.output += core::str::from_utf8(&out.bytes()[..n]).unwrap();
                        out.sent(n);
                    } else if receive.is_ready() && !input.is_empty() {
                        let n = self.chunk.min(input.len()).min(receive.space().len());
                        receive.space()[..n].copy_from_slice(&input[..n]);
                        receive.filled(n);
                        input.drain(..n);
                    } else {
                        return;
                    }
                }
                Action::Event => {
                    let text = match self.server.event().unwrap() {
                        Event::Listening(listening) => {
                            self.tickets.push(listening.ticket());
                            assert!(listening.uris().all(|uri| listening.includes(Change::Resource(uri))));
                            format!("listening {}", listening.uris().collect::<Vec<_>>().join(" "))
                        }
                        Event::Subscribed(uri) => format!("subscribed {uri}"),
                        Event::Unsubscribed(uri) => format!("unsubscribed {uri}"),
                        Event::Cancelled { .. } => "cancelled".into(),
                        Event::ProtocolError(error) => format!("{error:?}"),
                        _ => continue,
                    };
                    self.events.push(text);
                }
                Action::Closed => return,
            }
        }
    }

    fn changed(&mut self, uri: &str) {
        self.server.changed(Change::Resource(uri));
        self.send("");
    }

    /// Checks and clears the collected output and events.
    #[track_caller]
    fn expect(&mut self, output: &[&str], events: &[&str]) {
        assert_eq!(core::mem::take(&mut self.output).lines().collect::<Vec<_>>(), output);
        assert_eq!(core::mem::take(&mut self.events), events);
    }

    fn connect(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}}"#;
        self.expect(&[answer], &[]);
    }
}

/// Runs `dialogue` for several chunk sizes, with a lent subscription buffer and, with the feature `alloc`, a grown one.
/// `capacity` is the size of the subscription buffer, and `tx` is the size of the transmit buffer.
fn with(capacity: usize, tx: usize, dialogue: impl Fn(&mut Pipe<'_>)) {
    for chunk in [usize::MAX, 1, 7] {
        for grown in [false, true] {
            let (mut rx, mut tx, mut uris) = ([0; 2048], std::vec![0; tx], std::vec![0; capacity]);
            let (mut slots, mut text) = ([Slot::EMPTY; 3], [0; 3 * 64]);
            let server = Server::new(&CONFIG, &mut rx, &mut tx[..]).unwrap();
            let server = server.in_flight(&mut slots, &mut text).unwrap();
            #[cfg(feature = "alloc")]
            let uris = if grown { crate::Buffer::grown(capacity) } else { uris.as_mut_slice().into() };
            #[cfg(not(feature = "alloc"))]
            let uris = (grown, uris.as_mut_slice()).1;
            let server = server.subscription_buffer(uris);
            let (output, events, tickets) = (String::new(), Vec::new(), Vec::new());
            dialogue(&mut Pipe { server, chunk, blocked: false, output, events, tickets });
        }
    }
}

fn call(id: u32, method: &str, uri: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"uri":"{uri}"}}}}"#)
}

fn listen(id: u32, uris: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}},"notifications":{{"resourceSubscriptions":{uris}}}}}}}"#
    )
}

fn acknowledged(id: u32, filter: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{{filter}}}}}}}"#
    )
}

fn updated(id: u32, uri: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"uri":"{uri}"}}}}"#
    )
}

fn session_updated(uri: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}"#)
}

fn ok(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[test]
fn session_is_notified_of_watched_resources() {
    with(200, 1024, |pipe| {
        pipe.connect();
        pipe.send(&call(1, "resources/subscribe", r"file:\/\/\/\u0061"));
        pipe.expect(&[&ok(1)], &["subscribed file:///a"]);
        assert!(pipe.server.is_watched("file:///a") && !pipe.server.is_watched("file:///b"));
        // A repeated subscription has no effect.
        pipe.send(&call(2, "resources/subscribe", "file:///a"));
        pipe.send(&call(3, "resources/subscribe", "file:///b"));
        pipe.expect(&[&ok(2), &ok(3)], &["subscribed file:///b"]);
        pipe.changed("file:///a");
        pipe.changed("file:///c");
        pipe.expect(&[&session_updated("file:///a")], &[]);
        pipe.send(&call(4, "resources/unsubscribe", "file:///a"));
        pipe.send(&call(5, "resources/unsubscribe", "file:///a"));
        pipe.expect(&[&ok(4), &ok(5)], &["unsubscribed file:///a"]);
        pipe.changed("file:///a");
        pipe.changed("file:///b");
        pipe.expect(&[&session_updated("file:///b")], &[]);
        // Repeated changes cause one notification.
        pipe.server.changed(Change::Resource("file:///b"));
        pipe.changed("file:///b");
        pipe.expect(&[&session_updated("file:///b")], &[]);
    });
}

#[test]
fn unwatchable_resource_is_refused_with_reason() {
    with(200, 640, |pipe| {
        pipe.connect();
        pipe.send(&call(1, "resources/subscribe", "file:///gone"));
        let gone = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Resource not found","data":{"uri":"file:///gone"}}}"#;
        pipe.expect(&[gone], &["UnknownResource { code: -32002 }"]);
        pipe.send(r#"{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":7}}"#);
        let wrong = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params: `uri` must be a string"}}"#;
        pipe.expect(&[wrong], &["InvalidParams"]);
        let full = |id: u32, limit: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"Too many resource subscriptions: at most {limit} bytes of URIs"}}}}"#
            )
        };
        // One URI fills the buffer exactly, the other URI is one byte longer.
        let (fits, more) = ("x".repeat(200 - HEADER), "x".repeat(200 - HEADER + 1));
        pipe.send(&call(3, "resources/subscribe", &more));
        pipe.expect(&[&full(3, 200)], &["TooManySubscriptions { limit: 200 }"]);
        pipe.send(&call(4, "resources/subscribe", &fits));
        pipe.expect(&[&ok(4)], &[&format!("subscribed {fits}")]);
        pipe.send(&call(5, "resources/subscribe", "a:b"));
        pipe.expect(&[&full(5, 200)], &["TooManySubscriptions { limit: 200 }"]);
        pipe.send(&call(6, "resources/unsubscribe", &fits));
        pipe.send(&call(7, "resources/subscribe", "a:b"));
        pipe.expect(&[&ok(6), &ok(7)], &[&format!("unsubscribed {fits}"), "subscribed a:b"]);
    });
    // A URI is too long if its change notification would not fit into the transmit buffer.
    with(4000, 640, |pipe| {
        pipe.connect();
        let space = 640 - 1 - session_updated("").len();
        pipe.send(&call(1, "resources/subscribe", &"x".repeat(space + 1)));
        assert!(pipe.output.contains("`uri` is too long for a change notification"));
        pipe.output.clear();
        pipe.send(&call(2, "resources/subscribe", &"x".repeat(space)));
        pipe.events.clear();
        pipe.changed(&"x".repeat(space));
        pipe.expect(&[&ok(2), &session_updated(&"x".repeat(space))], &[]);
    });
    with(0, 1024, |pipe| {
        pipe.connect();
        pipe.send(&call(1, "resources/subscribe", "a:b"));
        assert!(pipe.output.contains("-32603"), "an empty subscription buffer refuses every URI");
    });
}

#[test]
fn subscription_is_notified_of_its_own_resources() {
    with(300, 1024, |pipe| {
        pipe.send(&listen(1, r#"["a:1","a:2","file:///gone",7,"a:1"]"#));
        pipe.expect(&[&acknowledged(1, r#""resourceSubscriptions":["a:1","a:2"]"#)], &["listening a:1 a:2"]);
        pipe.send(&listen(2, r#"["\u0061:2"]"#));
        pipe.expect(&[&acknowledged(2, r#""resourceSubscriptions":["\u0061:2"]"#)], &["listening a:2"]);
        pipe.connect();
        pipe.send(&call(3, "resources/subscribe", "a:2"));
        pipe.expect(&[&ok(3)], &["subscribed a:2"]);
        pipe.changed("a:1");
        pipe.changed("a:2");
        let expected = [updated(1, "a:1"), updated(1, "a:2"), updated(2, "a:2"), session_updated("a:2")];
        pipe.expect(&expected.each_ref().map(String::as_str), &[]);
        // A cancelled subscription receives nothing more. The other subscription and the session still receive
        // notifications.
        pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
        assert!(!pipe.server.is_watched("a:1") && pipe.server.is_watched("a:2"));
        pipe.changed("a:1");
        pipe.changed("a:2");
        pipe.expect(&[&updated(2, "a:2"), &session_updated("a:2")], &["cancelled"]);
        // The server sends pending notifications before it ends a subscription.
        pipe.server.changed(Change::Resource("a:2"));
        let second = pipe.tickets[1];
        pipe.server.end_subscription(second).unwrap();
        pipe.send("");
        let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":2,"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#;
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
        pipe.expect(&[&updated(2, "a:2"), &session_updated("a:2"), answer, cancelled], &[]);
    });
}

#[test]
fn resource_without_space_is_not_acknowledged() {
    // The buffer holds two URIs of three bytes.
    with(2 * (HEADER + 3), 1024, |pipe| {
        pipe.send(&listen(1, r#"["a:1","a:2","a:3"]"#));
        pipe.expect(&[&acknowledged(1, r#""resourceSubscriptions":["a:1","a:2"]"#)], &["listening a:1 a:2"]);
        pipe.send(&listen(2, r#"["a:3"]"#));
        pipe.expect(&[&acknowledged(2, "")], &["listening "]);
        // The server reuses the space of an ended subscription.
        pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
        pipe.send(&listen(3, r#"["a:3"]"#));
        pipe.expect(
            &[&acknowledged(3, r#""resourceSubscriptions":["a:3"]"#)],
            &["cancelled", "listening a:3"],
        );
        pipe.changed("a:1");
        pipe.changed("a:3");
        pipe.expect(&[&updated(3, "a:3")], &[]);
    });
    // The transmit buffer limits the number of acknowledged resources.
    with(2000, 600, |pipe| {
        let many: Vec<String> = (0..100).map(|n| format!("\"a:{n:03}\"")).collect();
        pipe.send(&listen(1, &format!("[{}]", many.join(","))));
        let fit = (600 - 1 - acknowledged(1, r#""resourceSubscriptions":[]"#).len() + 1) / 8;
        let first = acknowledged(1, &format!(r#""resourceSubscriptions":[{}]"#, many[..fit].join(",")));
        assert_eq!(pipe.output.lines().collect::<Vec<_>>(), [first]);
        assert!(pipe.server.is_watched(&format!("a:{:03}", fit - 1)));
        assert!(!pipe.server.is_watched(&format!("a:{fit:03}")));
    });
}

#[test]
fn new_session_watches_nothing() {
    with(200, 1024, |pipe| {
        pipe.connect();
        pipe.send(&call(1, "resources/subscribe", "a:b"));
        pipe.expect(&[&ok(1)], &["subscribed a:b"]);
        pipe.connect();
        assert!(!pipe.server.is_watched("a:b"));
        pipe.changed("a:b");
        pipe.expect(&[], &[]);
        pipe.send(&call(2, "resources/subscribe", "a:b"));
        pipe.expect(&[&ok(2)], &["subscribed a:b"]);
        pipe.server.reset();
        assert!(!pipe.server.is_watched("a:b"));
    });
}

#[test]
fn changes_wait_for_space_and_handshake() {
    with(200, 640, |pipe| {
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        pipe.send(initialize);
        pipe.send(&call(1, "resources/subscribe", "a:1"));
        pipe.send(&call(2, "resources/subscribe", "a:2"));
        pipe.output.clear();
        pipe.events.clear();
        pipe.changed("a:1");
        pipe.expect(&[], &[]);
        pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        pipe.expect(&[&session_updated("a:1")], &[]);
        pipe.blocked = true;
        for uri in ["a:1", "a:2", "a:1", "a:2"] {
            pipe.changed(uri);
        }
        pipe.blocked = false;
        pipe.send("");
        let output = core::mem::take(&mut pipe.output);
        let lines: Vec<_> = output.lines().map(ToOwned::to_owned).collect();
        // The transmit buffer had space for the first notification only. The later changes of each resource cause one
        // notification.
        assert_eq!(lines, [session_updated("a:1"), session_updated("a:1"), session_updated("a:2")]);
    });
}

#[test]
fn random_subscriptions_match_a_reference_set() {
    const SPACE: usize = 6;
    with(SPACE * (HEADER + 4), 1024, |pipe| {
        pipe.connect();
        let (mut random, mut expected) = (1u32, BTreeSet::new());
        for _ in 0..300 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let uri = format!("a:{:02}", random >> 16 & 15);
            if random >> 24 & 1 == 0 {
                pipe.send(&call(1, "resources/subscribe", &uri));
                let has_space = expected.contains(&uri) || expected.len() < SPACE;
                assert_eq!(pipe.output.contains("result"), has_space, "{uri} {expected:?}");
                if has_space {
                    expected.insert(uri);
                }
            } else {
                pipe.send(&call(1, "resources/unsubscribe", &uri));
                expected.remove(&uri);
            }
            pipe.output.clear();
            for n in 0..16 {
                let uri = format!("a:{n:02}");
                assert_eq!(pipe.server.is_watched(&uri), expected.contains(&uri), "{uri} {expected:?}");
            }
        }
    });
}
