//! A client in message mode, its HTTP side, and a server that a test scripts.

use std::collections::VecDeque;

use mcp_proto::client::{Client, ClientConfig, Connect, Event, Options, Slot};
use mcp_proto::{Action, Millis, Outcome, RequestFailure};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::client::{Begin, Exchange, ExchangeId, Finish, Head, HttpClient, Method};

/// An HTTP request that the client sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) exchange: ExchangeId,
    pub(crate) method: Method,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) endpoint: Option<String>,
}

impl Sent {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// Returns the id of the message, as JSON.
    pub(crate) fn id(&self) -> &str {
        let after = self.body.split(r#""id":"#).nth(1).unwrap_or_default();
        after.split([',', '}']).next().unwrap_or_default()
    }
}

/// The header fields of a response, as tests write them.
pub(crate) struct Fields<'f>(pub(crate) &'f [(&'f str, &'f str)]);

impl HeaderFields for Fields<'_> {
    fn field(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_bytes())
    }
}

pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json; charset=utf-8");
pub(crate) const EVENTS: (&str, &str) = ("content-type", "text/event-stream");

pub(crate) struct Harness<'t, 'b> {
    pub(crate) client: Client<'b>,
    pub(crate) http: HttpClient<'b, &'t mut [Exchange<'b>]>,
    pub(crate) now: Millis,
    /// The revision with which the server responds to `initialize`.
    pub(crate) revision: &'static str,
    /// The largest piece of a body.
    pub(crate) piece: usize,
    pub(crate) events: Vec<String>,
    pub(crate) sent: VecDeque<Sent>,
    pub(crate) closed: Vec<ExchangeId>,
}

/// Runs a test with a client whose configuration has this `connect` value.
pub(crate) fn with_harness(connect: Connect, piece: usize, test: impl FnOnce(Harness<'_, '_>)) {
    let config = ClientConfig::new("c", "1").connect(connect);
    let config = config.extensions(&[("com.example/own", "{}")]).result_types(&["com.example/later"]);
    let (mut rx, mut tx) = ([0; 2048], [0; 8192]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 1024]);
    let client = Client::new(&config, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    let client = client.in_flight(&mut slots, &mut text);
    let (mut buffers, mut headers) = ([[0; 1024]; 4], [0; 256]);
    let mut exchanges = buffers.each_mut().map(Exchange::new);
    let http = HttpClient::new(exchanges.as_mut_slice(), &mut headers);
    test(Harness {
        client,
        http,
        now: Millis(1_000),
        revision: "2025-11-25",
        piece,
        events: Vec::new(),
        sent: VecDeque::new(),
        closed: Vec::new(),
    });
}

impl Harness<'_, '_> {
    /// Sends all pending messages and due requests of the client, and collects its events.
    pub(crate) fn run(&mut self) {
        loop {
            match self.client.poll(self.now) {
                Action::Io(_) => {
                    if !self.send() {
                        break;
                    }
                }
                Action::Event => {
                    let event = self.client.event().unwrap();
                    self.events.push(describe(event));
                }
                Action::Closed => break,
            }
        }
        while let Some(exchange) = self.http.poll(self.now) {
            self.record(exchange, None);
        }
    }

    /// Sends one message. Returns `false` if there is no message, or no exchange for the message. If an event is
    /// pending or the client is closed, sends nothing and returns `true`.
    fn send(&mut self) -> bool {
        let Action::Io(io) = self.client.poll(self.now) else { return true };
        let (out, _) = io.split();
        let Some(message) = out.frame() else { return false };
        let body = message.message().to_vec();
        let begun = self.http.begin(&message);
        let length = out.bytes().len();
        match begun {
            Begin::Busy => return false,
            Begin::Drop => out.sent(length),
            Begin::Close(exchange) => {
                out.sent(length);
                self.closed.push(exchange);
            }
            Begin::Send(exchange) => {
                out.sent(length);
                self.record(exchange, Some(&body));
            }
        }
        true
    }

    /// Closes the exchanges whose connection is no longer needed. No other request may be due.
    #[track_caller]
    pub(crate) fn close_due(&mut self) {
        while let Some(exchange) = self.http.poll(self.now) {
            assert!(self.http.request(exchange, None).is_none());
            self.closed.push(exchange);
            assert_eq!(self.http.finish(exchange, self.now), Finish::Ended);
        }
    }

    fn record(&mut self, exchange: ExchangeId, message: Option<&[u8]>) {
        let Some(request) = self.http.request(exchange, message) else {
            self.closed.push(exchange);
            return self.finish(exchange);
        };
        let (mut scratch, mut fields) = ([0; 256], Vec::new());
        request
            .fields(&mut scratch, &mut |name, value| fields.push((name.to_owned(), value.to_owned())))
            .expect("space for a value");
        let body = String::from_utf8(request.body().unwrap_or_default().to_vec()).unwrap();
        let (method, endpoint) = (request.method(), request.endpoint().map(str::to_owned));
        self.sent.push_back(Sent { exchange, method, fields, body, endpoint });
    }

    /// Takes the oldest request that the client sent.
    #[track_caller]
    pub(crate) fn request(&mut self) -> Sent {
        self.run();
        self.sent.pop_front().expect("a request")
    }

    /// Passes a whole response to the client.
    pub(crate) fn respond(
        &mut self,
        exchange: ExchangeId,
        status: u16,
        fields: &[(&str, &str)],
        body: &str,
    ) -> Head {
        let head = self.http.head(exchange, status, &Fields(fields));
        if matches!(head, Head::Body | Head::Refused) {
            self.pass(exchange, body);
            self.finish(exchange);
        }
        head
    }

    /// Passes a part of a body to the client, in pieces.
    pub(crate) fn pass(&mut self, exchange: ExchangeId, body: &str) {
        for piece in body.as_bytes().chunks(self.piece) {
            let mut rest = piece;
            while !rest.is_empty() {
                self.run();
                let step = self.http.body(exchange, rest);
                rest = &rest[step.consumed..];
                if let Some(inbound) = step.message {
                    let Action::Io(io) = self.client.poll(self.now) else { panic!("nothing else is due") };
                    assert!(io.split().1.message(inbound.message, inbound.stream).is_ok());
                }
            }
        }
        self.run();
    }

    /// Ends a response.
    pub(crate) fn finish(&mut self, exchange: ExchangeId) {
        self.run();
        let finish = self.http.finish(exchange, self.now);
        let closed = match finish {
            Finish::Ended | Finish::Continues => return self.run(),
            Finish::Close(exchange) => {
                self.closed.push(exchange);
                return self.run();
            }
            Finish::SessionLost => {
                self.events.push("session lost".into());
                return;
            }
            Finish::Closed(stream) => stream,
            Finish::Message(inbound) => {
                let Action::Io(io) = self.client.poll(self.now) else { panic!("nothing else is due") };
                assert!(io.split().1.message(inbound.message, inbound.stream).is_ok());
                inbound.stream
            }
        };
        self.run();
        match self.client.poll(self.now) {
            Action::Io(io) => assert_eq!(io.split().1.stream_closed(closed), Ok(())),
            // The message has ended the connection.
            Action::Closed => return,
            Action::Event => panic!("nothing else is due"),
        }
        self.run();
    }

    #[track_caller]
    pub(crate) fn expect(&mut self, events: &[&str]) {
        self.run();
        assert_eq!(std::mem::take(&mut self.events), events);
    }

    /// Connects in the stateless era.
    pub(crate) fn connect_stateless(&mut self) {
        let probe = self.request();
        let result = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}},"resources":{{}}}},"resultType":"complete","_meta":{{}}}}}}"#,
            probe.id()
        );
        assert_eq!(self.respond(probe.exchange, 200, &[JSON], &result), Head::Body);
        self.expect(&["connected 2026-07-28"]);
    }

    /// Connects with a session, and returns the GET request for the stream of the session.
    pub(crate) fn connect_session(&mut self) -> Sent {
        self.connect_session_and(|_| {})
    }

    /// Connects like `connect_session`, and calls `connected` before the server responds to
    /// `notifications/initialized`.
    pub(crate) fn connect_session_and(&mut self, connected: impl FnOnce(&mut Self)) -> Sent {
        let initialized = self.connect_until_initialized();
        connected(self);
        self.respond(initialized.exchange, 202, &[], "");
        self.request()
    }

    /// Connects with a session, and returns the request with `notifications/initialized`.
    pub(crate) fn connect_until_initialized(&mut self) -> Sent {
        let initialize = self.request();
        let result = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"{}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#,
            initialize.id(),
            self.revision
        );
        self.respond(initialize.exchange, 200, &[JSON, ("MCP-Session-Id", "s-1")], &result);
        self.expect(&[&format!("connected {}", self.revision)]);
        let initialized = self.request();
        assert!(initialized.body.contains("notifications/initialized"));
        assert_eq!(initialized.field("Mcp-Session-Id"), Some("s-1"));
        initialized
    }

    /// Calls the tool `add`, and returns the request.
    pub(crate) fn call(&mut self) -> Sent {
        self.client.call_json("add", r#"{"region":"eu"}"#, Options::DEFAULT).unwrap();
        self.request()
    }
}

/// Returns a response with the text `7`.
pub(crate) fn result(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"7"}}],"resultType":"complete"}}}}"#
    )
}

fn describe(event: Event<'_>) -> String {
    match event {
        Event::Connected(connected) => format!("connected {}", connected.revision()),
        Event::Response(response) => match response.outcome() {
            Outcome::Failed(RequestFailure::Closed) => "closed".into(),
            Outcome::Failed(failure) => format!("failed {failure:?}"),
            Outcome::Error(error) => format!("error {}", error.code()),
            Outcome::Result(result) => match result.get("content") {
                Some(content) => {
                    content.index(0).unwrap().get("text").unwrap().string().unwrap().raw().into()
                }
                None => "result".into(),
            },
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    }
}
