//! One HTTP exchange from the client's view, and its invariants.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};

use mcp_proto_http::server::{ExchangeId, MediaType, Method, Output};
use serde_json::Value;

use super::request::Request;

/// The state of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    /// The response is complete.
    Ended,
    /// The server has closed the connection before the end of the response.
    Cut,
    /// The client has closed the connection.
    Closed,
}

/// An event of a stream, or the body of a JSON response.
#[derive(Debug)]
pub(crate) struct Received {
    /// The numbers of the stream and of the event. `None` for an event without an id, and for a JSON response.
    pub(super) id: Option<(u32, u32)>,
    pub(super) message: Value,
}

/// An exchange, and the output that its client has received.
pub(crate) struct Exchange {
    pub(super) id: ExchangeId,
    pub(super) request: Request,
    /// The number of bytes of the request's body that were passed to the server.
    pub(super) passed: usize,
    pub(super) is_passed: bool,
    pub(super) is_stalled: bool,
    /// Whether the server may close the connection: the client did not read, the application released a connection, or
    /// the stream continues on another connection.
    pub(super) may_be_cut: bool,
    pub(super) state: State,
    pub(super) status: u16,
    media_type: MediaType,
    length: Option<usize>,
    body: Vec<u8>,
    /// The number of bytes of `body` whose events are in `received`.
    parsed: usize,
    pub(super) received: Vec<Received>,
}

impl Debug for Exchange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.body);
        writeln!(f, "{:?} {:#?}", self.id, self.request)?;
        write!(f, "{:?}, status {}, passed {}: {text}", self.state, self.status, self.passed)
    }
}

const STATUSES: [u16; 10] = [200, 202, 204, 400, 404, 408, 413, 500, 503, 405];

impl Exchange {
    pub(super) fn new(id: ExchangeId, request: Request) -> Exchange {
        Exchange {
            id,
            request,
            passed: 0,
            is_passed: false,
            is_stalled: false,
            may_be_cut: false,
            state: State::Open,
            status: 0,
            media_type: MediaType::None,
            length: None,
            body: Vec::new(),
            parsed: 0,
            received: Vec::new(),
        }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.media_type == MediaType::EventStream
    }

    /// Returns whether the response is, or may become, a stream that the server does not end by itself.
    pub(super) fn listens(&self) -> bool {
        let listens = self.request.method == Method::Get
            || self.request.body.windows(20).any(|part| part == b"subscriptions/listen");
        listens && (self.is_stream() || self.status == 0)
    }

    /// Takes the head, and at most `most` bytes of the body. Returns the number of bytes to report as sent, or `None`
    /// if the output has nothing new or is cut.
    pub(super) fn take(&mut self, output: Output<'_>, most: usize) -> Option<usize> {
        assert!(self.state == State::Open, "output after the end: {self:#?}");
        if output.is_cut {
            assert!(self.may_be_cut, "cut for no reason: {self:#?}");
            self.state = State::Cut;
            return None;
        }
        let is_first = self.status == 0;
        if is_first && output.head.is_none() {
            assert!(output.body.is_empty() && !output.is_end, "a body before its head: {self:#?}");
            return None;
        }
        assert_eq!(is_first, output.head.is_some(), "one head per response: {self:#?}");
        if let Some(head) = output.head {
            assert!(STATUSES.contains(&head.status), "{head:?}");
            assert_eq!(
                head.length.is_none(),
                head.media_type == MediaType::EventStream || head.status == 204
            );
            (self.status, self.media_type, self.length) = (head.status, head.media_type, head.length);
        }
        let n = output.body.len().min(most);
        self.body.extend_from_slice(&output.body[..n]);
        if output.is_end && n == output.body.len() {
            self.state = State::Ended;
            assert!(self.length.is_none_or(|length| length == self.body.len()), "{self:#?}");
        }
        self.parse();
        let is_news = is_first || n > 0 || self.state == State::Ended;
        is_news.then_some(n)
    }

    /// Parses the complete part of the output.
    fn parse(&mut self) {
        if self.media_type == MediaType::Json && self.state == State::Ended {
            let message = serde_json::from_slice(&self.body).expect("a JSON response");
            self.received.push(Received { id: None, message });
        }
        if !self.is_stream() {
            return;
        }
        while let Some(end) = self.body[self.parsed..].windows(2).position(|pair| pair == b"\n\n") {
            let event = &self.body[self.parsed..self.parsed + end];
            let event = std::str::from_utf8(event).expect("events are UTF-8");
            self.parsed += end + 2;
            let value = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            let id = value("id: ").map(|id| id.split_once('-').expect("two numbers"));
            // `g` marks the stream of a session for messages without a request. Such streams have numbers of their own.
            let id = id.map(|(stream, event)| match stream.strip_prefix('g') {
                Some(session) => (session.parse::<u32>().unwrap() | 1 << 31, event.parse().unwrap()),
                None => (stream.parse().unwrap(), event.parse().unwrap()),
            });
            let data = value("data: ").filter(|_| value("event: ") != Some("endpoint"));
            match data {
                Some(data) => {
                    let message = serde_json::from_str(data).expect("events are JSON");
                    self.received.push(Received { id, message });
                }
                None if id.is_some() => self.received.push(Received { id, message: Value::Null }),
                None => {}
            }
        }
    }

    /// Returns the path to which the client sends messages, from the first event of a stream of HTTP+SSE. Returns
    /// `None` if the body does not begin with this event.
    pub(super) fn legacy_path(&self) -> Option<&str> {
        let text = std::str::from_utf8(self.body.strip_prefix(b"event: endpoint\ndata: ")?).ok()?;
        text.split_once('\n').map(|(path, _)| path)
    }

    /// Returns the number of the stream, from the first event with an id, if any.
    pub(super) fn serial(&self) -> Option<u32> {
        self.received.iter().find_map(|received| received.id).map(|(stream, _)| stream)
    }

    /// Checks the output of an exchange whose method is not GET. If `is_excused`, calls may lack their responses.
    pub(super) fn check(&self, is_excused: bool) {
        let calls = &self.request.calls;
        if self.status >= 400 {
            for Received { message, .. } in &self.received {
                assert!(message.get("error").is_some(), "{self:#?}");
                let id = message.get("id").filter(|id| !id.is_null()).map(Value::to_string);
                assert!(id.is_none_or(|id| calls.iter().any(|(known, _)| *known == id)), "{self:#?}");
            }
            assert!(self.received.len() <= 1, "{self:#?}");
            return;
        }
        let counts = check_responses(self.received.iter(), calls, self);
        let is_complete =
            self.state == State::Ended && self.status == 200 && self.request.method == Method::Post;
        // After the application releases a connection, the response arrives on the stream that continues the exchange.
        if is_complete && !self.may_be_cut && !is_excused {
            for (id, _) in calls {
                assert_eq!(counts.get(id), Some(&1), "one response for {id}: {self:#?}");
            }
        }
        if matches!(self.status, 202 | 204) {
            assert!(self.received.is_empty(), "{self:#?}");
        }
    }
}

/// Checks that each response belongs to one of the calls, and occurs once. Returns the number of responses by id.
pub(super) fn check_responses<'r>(
    received: impl Iterator<Item = &'r Received>,
    calls: &[(String, String)],
    context: &dyn Debug,
) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let messages = received.flat_map(|received| match &received.message {
        Value::Array(elements) => elements.iter().collect(),
        message => vec![message],
    });
    // An error without an id is the response to an invalid element of a batch.
    let has_id = |message: &&Value| message.get("id").is_some_and(|id| !id.is_null());
    for message in messages.filter(|message| message.get("method").is_none() && has_id(message)) {
        let id = message.get("id").map(Value::to_string).unwrap_or_default();
        let Some((_, token)) = calls.iter().find(|(known, _)| *known == id) else {
            panic!("{message} is on a foreign stream: {context:#?}");
        };
        *counts.entry(id).or_insert(0) += 1;
        if let Some(text) = message.pointer("/result/content/0/text").and_then(Value::as_str) {
            let first = text.split(' ').next().unwrap_or_default();
            assert_eq!(first, token, "the result of another call: {context:#?}");
        }
    }
    assert!(counts.values().all(|count| *count == 1), "two responses with one id: {context:#?}");
    counts
}
