//! The HTTP exchanges of a client, between its state machine and an HTTP library.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;

use bytes::{Buf, Bytes};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, Request, Uri, response};
use mcp_proto::json::Json;
use mcp_proto::rpc::code;
use mcp_proto::{
    Buffer, Millis, OutboundMessage, OutboundMessageKind, Receive, Relation, StreamId, Transmit,
};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::client::{Begin, Exchange, ExchangeId, Finish, Head, HttpClient, check_tool_headers};

use super::endpoint::HttpEndpoint;
use super::request::to_http;
use super::sent_responses::SentResponses;
use crate::client_settings::ClientSettings;
use crate::http_failure::HttpFailure;

/// Maximum number of exchanges. An [`ExchangeId`] has 16 bits for the position of its exchange.
const MAX_EXCHANGES: usize = u16::MAX as usize;
/// Number of exchanges besides those of requests in flight: for responses, notifications, and the session's stream.
const SPARE_EXCHANGES: usize = 64;
/// Maximum time for which the end of a session waits for the refusals of other requests.
const REFUSAL_TIME: Millis = Millis(1_000);
/// Memory for the tool parameters that the client sends as header fields, in bytes.
const TOOL_HEADERS: usize = 1024 * 1024;

/// The HTTP exchanges of one connection with a server at a URL. No method waits for the network.
///
/// The owner must perform each [`HttpAction`] with its HTTP library, and pass the parts of the responses as
/// [`HttpReport`]s.
pub struct HttpExchanges {
    endpoint: HttpEndpoint,
    uri: Uri,
    http: HttpClient<'static, Vec<Exchange<'static>>>,
    /// Reports to handle before the reports of the HTTP library: the rest of a body, and the ends of requests that
    /// cannot be sent or were aborted.
    reports: VecDeque<HttpReport>,
    /// The statuses with which the server refused requests, for exchanges that have not ended.
    refusals: HashMap<ExchangeId, HttpFailure>,
    /// The responses of the application that the server may refuse.
    responses: SentResponses,
    /// A stream that has closed, and the failure of its request, if there is one. The next call of
    /// [`receive`](HttpExchanges::receive) passes them on.
    closed: Option<(StreamId, Option<HttpFailure>)>,
    /// The failure of the last closed stream, until [`step`](HttpExchanges::step) receives again.
    failure: Option<HttpFailure>,
    /// Whether the server has ended the session, and [`receive`](HttpExchanges::receive) has not reported the end yet.
    is_lost: bool,
    /// The time until which the end of the session waits for the refusals of other requests. Refused requests can be
    /// repeated. `None` before the wait.
    lost_until: Option<Millis>,
}

/// An action for the owner of [`HttpExchanges`].
#[derive(Debug)]
pub enum HttpAction {
    /// Perform this request. A GET or a DELETE has no body.
    Send(ExchangeId, Box<Request<Bytes>>),
    /// Close the connection of this exchange. Later reports of the exchange have no effect.
    Abort(ExchangeId),
    /// Close the connections of all exchanges, because the server has ended the session.
    AbortAll,
    /// This step needs no action. Continue with the next step.
    Continue,
}

/// A part of a response, from the HTTP library.
#[derive(Debug)]
pub struct HttpReport {
    /// The exchange of the response.
    pub exchange: ExchangeId,
    /// The part.
    pub part: HttpPart,
}

/// A part of a response. The owner reports a head, any number of pieces of the body, and an end. If the request fails
/// before the head, the owner reports only an end.
#[derive(Debug)]
pub enum HttpPart {
    /// The head.
    Head(Box<response::Parts>),
    /// Bytes of the body.
    Bytes(Bytes),
    /// The end. Contains the reason if the request failed or the connection was lost.
    End(Option<String>),
}

/// A message or an end that [`HttpExchanges::receive`] passes on.
#[derive(Debug)]
pub enum HttpReceived<'m> {
    /// A message of this stream.
    Message(&'m [u8], StreamId),
    /// The end of a stream, and the failure of its request, if there is one. If the request has no response, it has
    /// failed.
    Closed(StreamId, Option<HttpFailure>),
    /// The end of the session.
    SessionLost,
}

/// Returns whether the annotations `x-mcp-header` of a tool are valid. A client over HTTP omits tools with invalid
/// annotations from its lists.
fn has_valid_headers(tool: Json<'_>) -> bool {
    tool.get("inputSchema").is_none_or(|schema| check_tool_headers(schema).is_ok())
}

impl ClientSettings {
    /// Adapts the settings to HTTP: messages instead of lines, and only tools whose annotations `x-mcp-header` are
    /// valid.
    pub fn use_http(&mut self) {
        self.message_mode = true;
        self.permits_tool = has_valid_headers;
    }
}

impl HttpExchanges {
    /// Creates the exchanges of a new connection, for this number of requests in flight, and for messages of up to
    /// `longest` bytes.
    ///
    /// # Errors
    /// The URL is invalid, or needs TLS and `has_tls` is `false`.
    pub fn new(
        endpoint: &HttpEndpoint,
        has_tls: bool,
        requests: usize,
        longest: usize,
    ) -> io::Result<HttpExchanges> {
        let exchanges = requests.saturating_add(SPARE_EXCHANGES).min(MAX_EXCHANGES);
        let exchanges = (0..exchanges).map(|_| Exchange::new(Buffer::grown(longest))).collect();
        let http = HttpClient::new(exchanges, Buffer::grown(TOOL_HEADERS));
        Ok(HttpExchanges {
            uri: endpoint.parse(has_tls)?,
            http: if endpoint.listens { http } else { http.without_listening() },
            endpoint: endpoint.clone(),
            reports: VecDeque::new(),
            refusals: HashMap::new(),
            responses: SentResponses::default(),
            closed: None,
            failure: None,
            is_lost: false,
            lost_until: None,
        })
    }

    /// Sets how often the client tries to resume the stream of a request: see
    /// [`Reconnect::attempts`](crate::Reconnect::attempts).
    #[must_use]
    pub fn max_resumptions(mut self, attempts: u32) -> HttpExchanges {
        self.http = self.http.max_resumptions(u8::try_from(attempts).unwrap_or(u8::MAX));
        self
    }

    /// Sends one message of the client, begins one [due](HttpExchanges::send_due) request, or handles one report.
    /// `next` returns the next report of the HTTP library.
    ///
    /// Returns the action for the owner. Returns `None` if there is nothing to do, or the client is not ready to
    /// receive.
    pub fn step(
        &mut self,
        transmit: Transmit<'_>,
        receive: Receive<'_>,
        now: Millis,
        next: impl FnOnce() -> Option<HttpReport>,
    ) -> Option<HttpAction> {
        if let Some(message) = transmit.frame()
            && let Some(action) = self.send(&message)
        {
            transmit.sent(message.message().len());
            return Some(action);
        }
        if let Some(action) = self.send_due(now) {
            return Some(action);
        }
        if !receive.is_ready() {
            return None;
        }
        let mut failure = None;
        let action = self.receive(now, next, |received| match received {
            HttpReceived::Message(message, stream) => _ = receive.message(message, stream),
            HttpReceived::Closed(stream, reason) => {
                failure = reason;
                let _ = receive.stream_closed(stream);
            }
            HttpReceived::SessionLost => receive.eof(),
        });
        self.failure = failure;
        action
    }

    /// Returns the failure of the stream that [`step`](HttpExchanges::step) has closed. The failure is kept until
    /// `step` calls [`receive`](HttpExchanges::receive) again. Returns `None` if `step` closed no stream, or the stream
    /// closed without a failure.
    #[must_use]
    pub fn failure(&self) -> Option<HttpFailure> {
        self.failure.clone()
    }

    /// Begins to send a message, and returns the action for the owner. Returns `None` if the message must wait: pass
    /// the message again later.
    pub fn send(&mut self, message: &OutboundMessage<'_>) -> Option<HttpAction> {
        // Send nothing after the end of the session, because responses could no longer arrive.
        if self.is_lost {
            return None;
        }
        match self.http.begin(message) {
            Begin::Busy => None,
            Begin::Drop => Some(HttpAction::Continue),
            Begin::Close(exchange) => Some(self.abort(exchange)),
            Begin::Send(exchange) => {
                self.responses.record(exchange, message);
                Some(self.request(exchange, Some(message.message())))
            }
        }
    }

    /// Begins a request that needs no new message of the client, or ends an exchange. For example, such a request sends
    /// the error that replaces a response refused by the server. An exchange is ended if its stream stays open after
    /// the response. An exchange with a notification or a response of the client is ended if the server does not
    /// respond in time. Returns the action for the owner, or `None` if nothing is due.
    pub fn send_due(&mut self, now: Millis) -> Option<HttpAction> {
        if let Some(error) = self.responses.errors.pop_front() {
            let kind = OutboundMessageKind::Error { code: code::INTERNAL_ERROR };
            if let Some(action) =
                self.send(&OutboundMessage::new(error.as_bytes(), kind, Relation::Connection))
            {
                return Some(action);
            }
            self.responses.errors.push_front(error);
        }
        let exchange = self.http.poll(now)?;
        Some(self.request(exchange, None))
    }

    /// Returns the time at which to call [`step`](HttpExchanges::step), or [`send_due`](HttpExchanges::send_due) and
    /// [`receive`](HttpExchanges::receive). Returns `None` if nothing waits for a time.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        self.http.next_deadline().into_iter().chain(self.lost_until).min()
    }

    /// Removes and returns the failure of the last response of the application that the server has refused.
    pub fn take_refused_response(&mut self) -> Option<HttpFailure> {
        self.responses.failure.take()
    }

    /// Returns whether [`take_refused_response`](HttpExchanges::take_refused_response) has a failure to return.
    #[must_use]
    pub fn has_refused_response(&self) -> bool {
        self.responses.failure.is_some()
    }

    fn request(&mut self, exchange: ExchangeId, message: Option<&[u8]>) -> HttpAction {
        let Some(request) = self.http.request(exchange, message) else {
            // A response that the server does not accept in time counts as refused.
            let is_unaccepted = self.responses.sent.contains_key(&exchange);
            let reason = is_unaccepted.then(|| "the server did not respond in time".to_owned());
            self.reports.push_back(HttpReport { exchange, part: HttpPart::End(reason) });
            return HttpAction::Abort(exchange);
        };
        match to_http(&request, &self.uri, &self.endpoint) {
            Ok(request) => HttpAction::Send(exchange, Box::new(request)),
            Err(reason) => {
                self.reports.push_back(HttpReport { exchange, part: HttpPart::End(Some(reason)) });
                HttpAction::Continue
            }
        }
    }

    fn abort(&mut self, exchange: ExchangeId) -> HttpAction {
        self.refusals.remove(&exchange);
        self.responses.sent.remove(&exchange);
        HttpAction::Abort(exchange)
    }

    /// Passes the next message or end to `take`, or handles a report that contains neither. `next` returns the next
    /// report of the HTTP library. Call `receive` only while [`Receive::is_ready`](mcp_proto::Receive::is_ready)
    /// returns `true`.
    ///
    /// Returns the action for the owner, or `None` if there is nothing to receive.
    pub fn receive(
        &mut self,
        now: Millis,
        next: impl FnOnce() -> Option<HttpReport>,
        take: impl FnOnce(HttpReceived<'_>),
    ) -> Option<HttpAction> {
        if let Some((stream, failure)) = self.closed.take() {
            take(HttpReceived::Closed(stream, failure));
        } else if let Some(HttpReport { exchange, part }) = self.reports.pop_front().or_else(next) {
            return Some(match part {
                HttpPart::Head(head) => self.head(exchange, &head),
                HttpPart::Bytes(bytes) => self.body(exchange, bytes, take),
                HttpPart::End(reason) => self.finish(exchange, reason, now, take),
            });
        } else if self.is_lost && !self.awaits_refusals(now) {
            (self.is_lost, self.lost_until) = (false, None);
            take(HttpReceived::SessionLost);
            return Some(HttpAction::AbortAll);
        } else {
            return None;
        }
        Some(HttpAction::Continue)
    }

    /// Returns whether the end of the session waits for the refusals of other requests.
    fn awaits_refusals(&mut self, now: Millis) -> bool {
        let until = *self.lost_until.get_or_insert(now.plus(REFUSAL_TIME));
        now < until && self.http.awaits_refusals()
    }

    fn head(&mut self, exchange: ExchangeId, head: &response::Parts) -> HttpAction {
        let (status, fields) = (head.status.as_u16(), Fields(&head.headers));
        match self.http.head(exchange, status, &fields) {
            Head::Body => _ = self.responses.sent.remove(&exchange),
            Head::Refused => {
                let field = |name: &str| field_text(&head.headers, name);
                self.refusals.insert(exchange, HttpFailure::from_status(&self.endpoint.url, status, &field));
            }
            Head::SessionLost { refused } => {
                self.refusals.clear();
                self.responses = SentResponses::default();
                self.is_lost = true;
                // Without a refused request, the owner does not know yet that the session is lost: do not wait.
                self.lost_until = refused.is_none().then_some(Millis::ZERO);
                let failure = HttpFailure::session_lost(&self.endpoint.url, status);
                self.closed = refused.map(|stream| (stream, Some(failure)));
            }
            Head::Unknown => return self.abort(exchange),
        }
        HttpAction::Continue
    }

    /// Handles bytes up to the end of the next message. The other bytes become the next report.
    fn body(
        &mut self,
        exchange: ExchangeId,
        mut bytes: Bytes,
        take: impl FnOnce(HttpReceived<'_>),
    ) -> HttpAction {
        let step = self.http.body(exchange, &bytes);
        let consumed = step.consumed.min(bytes.len());
        if let Some(inbound) = step.message {
            take(HttpReceived::Message(inbound.message, inbound.stream));
        }
        bytes.advance(consumed);
        if bytes.has_remaining() {
            self.reports.push_front(HttpReport { exchange, part: HttpPart::Bytes(bytes) });
        }
        HttpAction::Continue
    }

    fn finish(
        &mut self,
        exchange: ExchangeId,
        reason: Option<String>,
        now: Millis,
        take: impl FnOnce(HttpReceived<'_>),
    ) -> HttpAction {
        let (refusal, is_lost) = (self.refusals.remove(&exchange), reason.is_some());
        let failure = refusal.or_else(|| Some(HttpFailure::from_reason(&self.endpoint.url, reason?)));
        if let Some(failure) = &failure {
            self.responses.refuse(exchange, failure);
        }
        match self.http.finish(exchange, now) {
            Finish::Ended | Finish::Continues => {}
            Finish::Close(exchange) => return self.abort(exchange),
            Finish::SessionLost => self.is_lost = true,
            Finish::Closed(stream) => {
                let failure = failure.unwrap_or_else(|| HttpFailure::no_message(&self.endpoint.url));
                take(HttpReceived::Closed(stream, Some(failure)));
            }
            // The failure replaces the message, because only the failure contains the header fields.
            Finish::Message(inbound) if failure.as_ref().is_some_and(has_advice) => {
                take(HttpReceived::Closed(inbound.stream, failure));
            }
            // The connection was lost within the message.
            Finish::Message(inbound) if is_lost && Json::parse(inbound.message).is_err() => {
                take(HttpReceived::Closed(inbound.stream, failure));
            }
            Finish::Message(inbound) => {
                self.closed = Some((inbound.stream, failure));
                take(HttpReceived::Message(inbound.message, inbound.stream));
            }
        }
        HttpAction::Continue
    }

    /// Ends all exchanges and the session. Returns the request that ends the session on the server. Returns `None` if
    /// there is no session id, or if the request cannot be written. The owner must abort all other requests.
    pub fn shutdown(&mut self, now: Millis) -> Option<(ExchangeId, Box<Request<Bytes>>)> {
        self.http.shutdown(now);
        self.responses.errors.clear();
        match self.send_due(now)? {
            HttpAction::Send(exchange, request) => Some((exchange, request)),
            _ => None,
        }
    }
}

/// Returns whether the head of a refusal has a challenge or a time to wait.
fn has_advice(failure: &HttpFailure) -> bool {
    failure.challenge.is_some() || failure.retry_after.is_some()
}

/// Returns the text of the first line of a header field, or `None` if the field is missing. Joins all lines of
/// `WWW-Authenticate`, because each line can have further challenges.
fn field_text(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut lines = headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
    let first = lines.next()?.into_owned();
    let others = lines.filter(|_| WWW_AUTHENTICATE == name);
    Some(others.fold(first, |text, line| text + ", " + &line))
}

/// The header fields of a response.
struct Fields<'h>(&'h HeaderMap);

impl HeaderFields for Fields<'_> {
    fn field(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(HeaderValue::as_bytes)
    }
}

impl fmt::Debug for HttpExchanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpExchanges").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::Response;
    use mcp_proto::Action;

    use super::*;

    /// A gateway may offer another authentication scheme in a separate field `WWW-Authenticate`.
    #[test]
    fn refusal_has_all_lines_of_the_challenge() {
        let mut settings = ClientSettings::new("test".into(), "1".into());
        settings.use_http();
        let settings = Box::leak(Box::new(settings));
        let config = Box::leak(Box::new(settings.config()));
        let mut client = settings.client(config, None).unwrap();
        let endpoint = HttpEndpoint::new("http://localhost/mcp");
        let mut exchanges = HttpExchanges::new(&endpoint, false, 1, 1024).unwrap();
        let Action::Io(io) = client.poll(Millis(0)) else { panic!("a message is due") };
        let Some(HttpAction::Send(exchange, _)) = exchanges.send(&io.split().0.frame().unwrap()) else {
            panic!("the message is sent")
        };
        let head = Response::builder()
            .status(401)
            .header("WWW-Authenticate", "Negotiate")
            .header("WWW-Authenticate", "Bearer resource_metadata=\"https://example.com/\"")
            .header("Retry-After", "5")
            .header("Retry-After", "6");
        let head = Box::new(head.body(()).unwrap().into_parts().0);
        let mut parts = VecDeque::from([HttpPart::Head(head), HttpPart::End(None)]);
        let mut failure = None;
        while failure.is_none() {
            let next = || Some(HttpReport { exchange, part: parts.pop_front()? });
            let take = |received: HttpReceived<'_>| match received {
                HttpReceived::Closed(_, refusal) => failure = refusal,
                received => panic!("{received:?}"),
            };
            exchanges.receive(Millis(0), next, take).expect("a part is left");
        }
        let failure = failure.unwrap();
        let challenge = "Negotiate, Bearer resource_metadata=\"https://example.com/\"";
        assert_eq!(failure.challenge.as_deref(), Some(challenge));
        assert_eq!(failure.retry_after.as_deref(), Some("5"));
    }

    /// The server responds neither with a status nor with an error of the connection.
    #[test]
    fn response_without_a_status_in_time_is_replaced_by_an_error() {
        let endpoint = HttpEndpoint::new("http://localhost/mcp");
        let mut exchanges = HttpExchanges::new(&endpoint, false, 1, 1024).unwrap();
        let response = br#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
        let response = OutboundMessage::new(response, OutboundMessageKind::Result, Relation::Connection);
        let Some(HttpAction::Send(exchange, _)) = exchanges.send(&response) else { panic!("not sent") };
        assert!(exchanges.send_due(Millis(0)).is_none());
        let due = exchanges.next_deadline().unwrap();
        assert!(matches!(exchanges.send_due(due), Some(HttpAction::Abort(aborted)) if aborted == exchange));
        exchanges.receive(due, || None, |received| panic!("{received:?}")).unwrap();
        assert!(exchanges.take_refused_response().is_some());
        let Some(HttpAction::Send(_, error)) = exchanges.send_due(due) else { panic!("no error") };
        assert!(error.body().starts_with(br#"{"jsonrpc":"2.0","id":7,"error""#), "{error:?}");
    }

    #[test]
    fn number_of_exchanges_is_limited() {
        let endpoint = HttpEndpoint::new("http://localhost/mcp");
        assert!(HttpExchanges::new(&endpoint, false, usize::MAX, 1024).is_ok());
    }
}
