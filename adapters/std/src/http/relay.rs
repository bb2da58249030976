//! Relays messages between a client on two streams and a server at a URL.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::json::{self, Json, Kind};
use mcp_proto::rpc::{Message, MessageKind};
use mcp_proto::{
    Clock, Millis, OutboundMessage, OutboundMessageKind, Relation, Revision, StreamId, WireFeature, methods,
};
use mcp_proto_handles::{BlockingStream, HttpEndpoint, HttpReceived, Reconnect, lock};

use super::handshake::{Handshake, Outgoing};
use super::lines::{Line, Lines};
use super::transport::Transport;
use crate::sync::{wait, wait_for};

/// The member of `_meta` with the revision of a stateless request.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// Maximum length of a message of the server, or of a line of the client with its line break, in bytes.
const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// Maximum number of requests in flight.
const REQUESTS: usize = 256;
/// The time for responses after the client has closed its stream.
const GRACE: Millis = Millis(1_500);

/// Relays messages between a client on two streams, such as stdin and stdout, and the server at a URL.
///
/// Messages pass unchanged, in all revisions: requests of both sides, notifications, progress and cancellations.
/// Exceptions: line breaks between tokens become spaces, a batch becomes single messages, and the cancellation of a
/// request that is not in flight is dropped. The cancellation of a stateless request closes its HTTP exchange. The
/// relay responds to an invalid message of the client with an error. If the HTTP request for a JSON-RPC request fails,
/// the client gets an error response (-32603) with the URL, and the status or the reason. If the server ends the
/// session, requests in flight fail, and the relay drops the accepted messages that are not sent. The relay then
/// repeats the handshake of the client: at once, or before the next request if another session was lost less than ten
/// seconds before. A handshake that fails is repeated before the next request. While a repeated handshake has no
/// response, the relay accepts no lines of the client, for at most 30 seconds.
///
/// The function returns after the end of the input, or when a write to the client fails. At the end of the input,
/// requests in flight have 1.5 seconds for their responses. This time begins again with each queued line that the relay
/// accepts. At the end of this time, the relay drops the lines that are left. The relay reads ahead by up to 16 MiB and
/// two lines, and notices the end only when it has read all lines before the end. The streams may be non-blocking or
/// have timeouts: the relay then tries again.
///
/// ```no_run
/// use mcp_proto_std::{HttpEndpoint, http};
///
/// http::relay(HttpEndpoint::new("http://127.0.0.1:8080/mcp"), std::io::stdin(), std::io::stdout())?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The URL is invalid or needs TLS in a build without TLS, or the reading thread cannot be started. A client that
/// disconnects is not an error.
pub fn relay(
    endpoint: HttpEndpoint,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> io::Result<()> {
    let transport = Transport::new(endpoint, REQUESTS, LONGEST_MESSAGE, Reconnect::DEFAULT.attempts)?;
    let lines = Lines::start(input, LONGEST_MESSAGE, &transport.reports)?;
    let clock = Clock::start();
    let mut relay = Relay {
        transport,
        client: ClientSide {
            output: BlockingStream::new(output, || false),
            requests: HashMap::new(),
            initialize: Vec::new(),
            revision: None,
            next_stream: 0,
        },
        outgoing: VecDeque::new(),
        handshake: Handshake::default(),
        now: clock.now(),
    };
    // An error means that the client has stopped reading.
    let _ = relay.run(&lines, clock);
    relay.transport.end_session(clock);
    Ok(())
}

struct Relay<W> {
    transport: Transport,
    client: ClientSide<W>,
    outgoing: VecDeque<Outgoing>,
    handshake: Handshake,
    now: Millis,
}

/// The output to the client, and the ids of the client's requests without a response.
struct ClientSide<W> {
    output: W,
    requests: HashMap<StreamId, Vec<u8>>,
    /// The id of the last `initialize`.
    initialize: Vec<u8>,
    /// The revision of the session, or of the last stateless request. `None` if the revision is not known.
    revision: Option<Revision>,
    /// The number of the last stream.
    next_stream: u32,
}

impl<W: Write> Relay<W> {
    /// Relays messages. After the end of the input, continues until each request has a response, or until the grace
    /// period is over. The grace period begins again with each line that the relay accepts.
    ///
    /// # Errors
    /// Writing to the client fails.
    fn run(&mut self, lines: &Lines, clock: Clock) -> io::Result<()> {
        let reports = Arc::clone(&self.transport.reports);
        let mut end = None;
        loop {
            let now = clock.now();
            self.now = now;
            self.limit_handshake(now);
            let mut accepted = false;
            if self.outgoing.is_empty()
                && self.handshake.repeated.is_none()
                && let Some(line) = lines.take()
            {
                self.accept(line)?;
                (accepted, end) = (true, None);
            }
            // The grace period begins at the end of the input. Lines may still be left, because the relay waits for the
            // server.
            if lines.has_ended() {
                end.get_or_insert(now.plus(GRACE));
            }
            if self.send_next() || self.transport.send_due(now) {
                continue;
            }
            let is_done = lines.is_empty() && self.outgoing.is_empty() && self.client.requests.is_empty();
            if end.is_some_and(|end| is_done || end <= now) {
                return Ok(());
            }
            let (client, handshake) = (&mut self.client, &mut self.handshake);
            let (mut result, outgoing) = (Ok(()), &mut self.outgoing);
            let received = self.transport.receive(now, |received| {
                result = match received {
                    HttpReceived::Message(message, stream) if handshake.is_answer(message, stream) => {
                        handshake.complete(message, outgoing);
                        Ok(())
                    }
                    HttpReceived::Message(message, stream) => client.message(message, stream),
                    HttpReceived::Closed(stream, _) if handshake.repeated == Some(stream) => {
                        handshake.give_up(outgoing);
                        Ok(())
                    }
                    HttpReceived::Closed(stream, failure) => {
                        let reason = failure.map(|failure| failure.to_string());
                        client.fail(stream, reason.as_deref().unwrap_or("the server sent no response"))
                    }
                    HttpReceived::SessionLost => {
                        outgoing.clear();
                        handshake.session_lost(now, client.next_stream(), outgoing);
                        client.fail_all("the server has ended the session")
                    }
                };
            });
            result?;
            // Do not wait: one wake-up may stand for several lines, and one report may contain several messages.
            if received || accepted {
                continue;
            }
            let mut queue = lock(&reports.queue);
            if std::mem::take(&mut queue.woken) || queue.has_reports() {
                continue;
            }
            let times = [end, self.transport.next_deadline(), self.handshake.deadline()];
            match times.into_iter().flatten().min() {
                Some(at) => drop(wait_for(&reports.pump, queue, Duration::from_millis(at.since(now).0))),
                None => drop(wait(&reports.pump, queue)),
            }
        }
    }

    /// Gives up a repeated handshake at its deadline, and closes its exchange.
    fn limit_handshake(&mut self, now: Millis) {
        if self.handshake.deadline().is_some_and(|at| at <= now)
            && let Some(stream) = self.handshake.repeated
        {
            self.handshake.give_up(&mut self.outgoing);
            // The message has no text, because the specification forbids the cancellation of `initialize`.
            let (kind, relation) = (OutboundMessageKind::Abort, Relation::Request(stream));
            self.transport.send(&OutboundMessage::new(b"", kind, relation));
        }
    }

    /// Sends the next message of the client. Returns `false` if there is no message, or if the message has to wait.
    fn send_next(&mut self) -> bool {
        let Some(next) = self.outgoing.front() else { return false };
        if self.handshake.repeated.is_some_and(|stream| next.relation != Relation::Request(stream)) {
            return false;
        }
        let is_sent = self.transport.send(&OutboundMessage::new(&next.text, next.kind, next.relation));
        if is_sent {
            self.outgoing.pop_front();
        }
        is_sent
    }

    /// Handles a line of the client.
    fn accept(&mut self, line: Line) -> io::Result<()> {
        let Some(line) = line else {
            return self.client.error(None, -32600, "Invalid Request: the message is too long");
        };
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        match Message::parse(line.trim_ascii()) {
            Ok(message) => self.accept_message(&message),
            Err(error) => self.client.error(None, -32700, &format!("Parse error: {error}")),
        }
    }

    fn accept_message(&mut self, message: &Message<'_>) -> io::Result<()> {
        let is_method =
            |name: &str| message.method().and_then(Json::string).is_some_and(|method| method == *name);
        let (kind, relation) = match message.kind() {
            MessageKind::Request => {
                let stream = self.client.next_stream();
                let id = message.id().map_or_else(Vec::new, |id| id.bytes().to_vec());
                self.client.requests.insert(stream, id.clone());
                let meta = message.params().and_then(|params| params.get("_meta"));
                let named = meta.and_then(|meta| revision(meta.get(REVISION)?));
                self.client.revision = named.or(self.client.revision);
                if is_method(methods::INITIALIZE.name()) {
                    self.client.initialize = id;
                    self.handshake = Handshake::new(message.bytes());
                } else if std::mem::take(&mut self.handshake.is_missing) {
                    self.handshake.repeat(self.now, self.client.next_stream(), &mut self.outgoing);
                }
                (OutboundMessageKind::Request, Relation::Request(stream))
            }
            MessageKind::Notification if is_method(methods::CANCELLED.name()) => {
                let id = message.params().and_then(|params| params.get("requestId")).map(Json::bytes);
                // Ignore the cancellation if no request with this id is in flight.
                let Some(stream) = id.and_then(|id| self.client.forget(id)) else { return Ok(()) };
                (OutboundMessageKind::Abort, Relation::Request(stream))
            }
            MessageKind::Notification => {
                if is_method(methods::INITIALIZED.name()) {
                    self.handshake.initialized = Some(message.bytes().to_vec());
                }
                (OutboundMessageKind::Notification, Relation::Connection)
            }
            MessageKind::Response => (OutboundMessageKind::Result, Relation::Connection),
            MessageKind::Batch => return self.accept_batch(message),
            MessageKind::Invalid => {
                let is_valid = |id: &Json<'_>| id.kind() == Kind::String || id.is_integer_text();
                let id = message.id().filter(is_valid).map(Json::bytes);
                return self.client.error(id, -32600, "Invalid Request");
            }
        };
        self.outgoing.push_back(Outgoing { text: message.bytes().to_vec(), kind, relation });
        Ok(())
    }

    /// Handles the members of a batch (2025-03-26) as single messages.
    fn accept_batch(&mut self, batch: &Message<'_>) -> io::Result<()> {
        let Ok(batch) = Json::parse(batch.bytes()) else { return Ok(()) };
        let mut elements = batch.elements().peekable();
        if elements.peek().is_none() {
            return self.client.error(None, -32600, "Invalid Request: the batch is empty");
        }
        for element in elements {
            match Message::parse(element.bytes()) {
                Ok(message) if message.kind() != MessageKind::Batch => self.accept_message(&message)?,
                _ => self.client.error(None, -32600, "Invalid Request")?,
            }
        }
        Ok(())
    }
}

impl<W: Write> ClientSide<W> {
    /// Returns the id of a stream for a new request. No request in flight has this stream.
    fn next_stream(&mut self) -> StreamId {
        loop {
            self.next_stream = self.next_stream.wrapping_add(1);
            let stream = StreamId(self.next_stream);
            if stream != StreamId::NONE && !self.requests.contains_key(&stream) {
                return stream;
            }
        }
    }

    /// Passes a message of the server to the client. The members of a batch (2025-03-26) become single messages.
    fn message(&mut self, message: &[u8], stream: StreamId) -> io::Result<()> {
        match Json::parse(message) {
            Ok(batch) if batch.kind() == Kind::Array => {
                batch.elements().try_for_each(|element| self.single_message(element.bytes(), stream))
            }
            _ => self.single_message(message, stream),
        }
    }

    fn single_message(&mut self, message: &[u8], stream: StreamId) -> io::Result<()> {
        if let Ok(response) = Message::parse(message)
            && response.kind() == MessageKind::Response
        {
            let id = response.id().map(Json::bytes);
            if id == Some(&self.initialize)
                && let Some(result) = response.result()
            {
                self.revision = result.get("protocolVersion").and_then(revision);
            }
            // Over HTTP+SSE, all responses arrive on one stream, so only the id identifies the request.
            let is_expected =
                self.requests.remove(&stream).is_some() || id.is_some_and(|id| self.forget(id).is_some());
            if id == Some(&self.initialize) && !is_expected {
                // The late response to a repeated `initialize`.
                return Ok(());
            }
        }
        self.write(message)
    }

    /// Removes the request with this id. Returns the stream of the request, or `None` if there is no such request.
    fn forget(&mut self, id: &[u8]) -> Option<StreamId> {
        let stream = self.requests.iter().find(|(_, known)| *known == id).map(|(stream, _)| *stream)?;
        self.requests.remove(&stream);
        Some(stream)
    }

    /// Responds with an error to the request of this stream, if the request has no response yet.
    fn fail(&mut self, stream: StreamId, reason: &str) -> io::Result<()> {
        match self.requests.remove(&stream) {
            Some(id) => self.error(Some(&id), -32603, reason),
            None => Ok(()),
        }
    }

    fn fail_all(&mut self, reason: &str) -> io::Result<()> {
        let requests = std::mem::take(&mut self.requests);
        requests.values().try_for_each(|id| self.error(Some(id), -32603, reason))
    }

    /// Responds with an error. The revision decides whether an unknown id is `null` or absent.
    fn error(&mut self, id: Option<&[u8]>, code: i32, reason: &str) -> io::Result<()> {
        let mut message = br#"{"jsonrpc":"2.0","#.to_vec();
        let omits_id = self.revision.is_some_and(|revision| revision.has(WireFeature::OmittedErrorIds));
        if let Some(id) = id.or((!omits_id).then_some(b"null")) {
            message.extend_from_slice(&[br#""id":"#, id, b","].concat());
        }
        write!(
            message,
            r#""error":{{"code":{code},"message":{}}}}}"#,
            json::to_string(reason).unwrap_or_default()
        )?;
        self.write(&message)
    }

    /// Writes one line. Replaces line breaks, which are valid only between tokens, with spaces.
    fn write(&mut self, message: &[u8]) -> io::Result<()> {
        let mut line: Vec<u8> =
            message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
        line.push(b'\n');
        self.output.write_all(&line)?;
        self.output.flush()
    }
}

/// Returns the revision with this name, or `None` for an unknown name.
fn revision(name: Json<'_>) -> Option<Revision> {
    name.string()?.as_str().and_then(Revision::parse)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn repeated_handshake_without_a_response_is_closed() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = HttpEndpoint::new(format!("http://{}/mcp", server.local_addr().unwrap()));
        let initialize = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
        let mut relay = Relay {
            transport: Transport::new(endpoint, 1, 1024, 8).unwrap(),
            client: ClientSide {
                output: io::sink(),
                requests: HashMap::new(),
                initialize: Vec::new(),
                revision: None,
                next_stream: 0,
            },
            outgoing: VecDeque::new(),
            handshake: Handshake::new(initialize),
            now: Millis::ZERO,
        };
        relay.handshake.session_lost(Millis::ZERO, StreamId(1), &mut relay.outgoing);
        assert!(relay.send_next());
        let (mut stream, _) = server.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let (mut received, mut piece) = (Vec::new(), [0; 1024]);
        while !received.ends_with(initialize) {
            let length = stream.read(&mut piece).unwrap();
            received.extend_from_slice(&piece[..length]);
        }
        let deadline = relay.handshake.deadline().unwrap();
        relay.limit_handshake(deadline);
        assert_eq!(relay.handshake.deadline(), None);
        assert!(matches!(stream.read(&mut piece), Ok(0)), "the connection is closed");
    }
}
