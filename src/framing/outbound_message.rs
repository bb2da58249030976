//! Outbound messages in message mode: their kind and relation to a stream.

/// Identifier of a message stream, such as one HTTP request and its response.
///
/// For a server, the caller chooses the identifiers. The server reports the identifier with every message that belongs
/// to the stream. A client itself chooses an identifier for each request that it sends, except for pings of
/// [keep-alive](crate::KeepAlive). The caller must pass this identifier to the client with every message that arrives
/// on the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct StreamId(pub u32);

impl StreamId {
    /// The identifier for a caller with only one stream.
    pub const NONE: StreamId = StreamId(0);

    /// Returns the identifier of a stream that carries requests of one of several sessions: see
    /// [`Server::replace_session`](crate::Server::replace_session). The caller must number the streams of a session
    /// from 1, because [`SessionKey::stream`] uses 0.
    #[must_use]
    pub const fn in_session(SessionKey(session): SessionKey, stream: u16) -> StreamId {
        let ([s0, s1], [k0, k1]) = (stream.to_le_bytes(), session.to_le_bytes());
        StreamId(u32::from_le_bytes([s0, s1, k0, k1]))
    }

    /// Returns the session that was passed to [`in_session`](StreamId::in_session) for this stream.
    pub(crate) const fn session(self) -> SessionKey {
        let [_, _, k0, k1] = self.0.to_le_bytes();
        SessionKey(u16::from_le_bytes([k0, k1]))
    }
}

/// Key of a handshake session, for a server machine that serves several sessions in turn.
///
/// The caller chooses the keys. A machine with a single session uses [`NONE`](SessionKey::NONE). The key `u16::MAX` is
/// reserved for the tasks of sessions that have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SessionKey(pub u16);

impl SessionKey {
    /// The key for a machine with only one session.
    pub const NONE: SessionKey = SessionKey(0);

    /// Returns the identifier of the session as a whole. [`Receive::stream_closed`](crate::Receive::stream_closed) with
    /// this identifier ends the session.
    #[must_use]
    pub const fn stream(self) -> StreamId {
        StreamId::in_session(self, 0)
    }
}

/// Kind of an outbound message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutboundMessageKind {
    /// The result of a request, or the responses to a batch. No further message for the request follows on the stream.
    Result,
    /// The error response to a request. No further message for the request follows on the stream.
    Error {
        /// The JSON-RPC error code. An HTTP transport derives the status code of the response from this code.
        code: i32,
    },
    /// A piece of a [chunked](crate::server::Call::chunked) result. The pieces of a stream, joined, are one message.
    /// Messages of other streams may be between the pieces. The server sends pieces only after
    /// [`accept_pieces`](crate::Server::accept_pieces).
    Piece,
    /// The last piece of a chunked result. No further message for the request follows on the stream.
    LastPiece,
    /// A notification.
    Notification,
    /// A request that the machine sends to the peer. A client sends each request on a separate stream, and expects the
    /// response on the same stream. Exception: a ping of [keep-alive](crate::KeepAlive) belongs to the connection.
    Request,
    /// The cancellation of a request that a client sent on this stream. If the stream is an HTTP exchange of
    /// `2026-07-28`, the transport must close the exchange and drop the message. Any other transport must send the
    /// message.
    Abort,
}

impl OutboundMessageKind {
    /// Returns whether the message is a whole response: a result or an error.
    #[must_use]
    pub fn is_response(self) -> bool {
        matches!(self, OutboundMessageKind::Result | OutboundMessageKind::Error { .. })
    }
}

/// The connection, session, request or subscription that an outbound message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Relation {
    /// The connection as a whole.
    Connection,
    /// A session as a whole, on a server with several sessions.
    Session(SessionKey),
    /// A request on this stream.
    ///
    /// The message is a response, progress, a log message, a cancellation, or a request of a client. A request that
    /// a server sends [`during`](crate::server::RequestOptions::during) this request also has this relation. So does an
    /// input request of a task whose result this request awaits.
    Request(StreamId),
    /// A subscription that was opened on this stream. Notifications for a deferred request of an extension also have
    /// this relation.
    Subscription(StreamId),
}

/// An outbound message with its kind and relation. Message mode only.
#[derive(Debug, Clone, Copy)]
pub struct OutboundMessage<'a> {
    pub(crate) message: &'a [u8],
    pub(crate) routing: Routing,
}

impl<'a> OutboundMessage<'a> {
    /// Creates an outbound message from one JSON text without a newline.
    ///
    /// A machine creates its own messages. This constructor is for a relay, which passes on messages of another
    /// process. `kind` and `relation` must match the text, because a transport uses both to route the message.
    ///
    /// ```
    /// use mcp_proto::{OutboundMessage, OutboundMessageKind, Relation, StreamId};
    ///
    /// let text = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    /// let message = OutboundMessage::new(text, OutboundMessageKind::Request, Relation::Request(StreamId(1)));
    /// assert_eq!(message.message(), text);
    /// ```
    #[must_use]
    pub fn new(message: &'a [u8], kind: OutboundMessageKind, relation: Relation) -> OutboundMessage<'a> {
        OutboundMessage { message, routing: Routing { kind, relation } }
    }

    /// Returns the message as one JSON text without a newline, or a piece of such a text.
    #[must_use]
    pub fn message(&self) -> &'a [u8] {
        self.message
    }

    /// Returns the kind of the message.
    #[must_use]
    pub fn kind(&self) -> OutboundMessageKind {
        self.routing.kind
    }

    /// Returns the relation of the message.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.routing.relation
    }
}

/// Kind and relation of an outbound message. A transport uses this information to route the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Routing {
    pub(crate) kind: OutboundMessageKind,
    pub(crate) relation: Relation,
}

/// Size, in bytes, of a message header in message mode. The header holds length, kind, relation, stream and error code.
pub(crate) const HEADER_SIZE: usize = 14;

/// Header of a message in message mode.
pub(crate) type Header = [u8; HEADER_SIZE];

/// The header of a message, and the message.
type FirstMessage<'m> = (&'m Header, &'m [u8]);

impl Routing {
    pub(crate) const NOTIFICATION: Routing =
        Routing { kind: OutboundMessageKind::Notification, relation: Relation::Connection };

    pub(crate) const REQUEST: Routing =
        Routing { kind: OutboundMessageKind::Request, relation: Relation::Connection };

    /// Returns the routing of a message that belongs to a request on `stream`.
    pub(crate) fn on_stream(kind: OutboundMessageKind, stream: StreamId) -> Routing {
        Routing { kind, relation: Relation::Request(stream) }
    }

    /// Returns the routing of a message that belongs to a subscription on `stream`.
    pub(crate) fn on_subscription(kind: OutboundMessageKind, stream: StreamId) -> Routing {
        Routing { kind, relation: Relation::Subscription(stream) }
    }

    /// Returns the routing of a message that belongs to a session as a whole. The relation of the session
    /// [`NONE`](SessionKey::NONE) is the connection.
    pub(crate) fn in_session(kind: OutboundMessageKind, key: SessionKey) -> Routing {
        let relation = if key == SessionKey::NONE { Relation::Connection } else { Relation::Session(key) };
        Routing { kind, relation }
    }

    fn encode(self, length: usize) -> Header {
        let [l0, l1, l2, l3] = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        let kind = match self.kind {
            OutboundMessageKind::Result => 0,
            OutboundMessageKind::Error { .. } => 1,
            OutboundMessageKind::Notification => 2,
            OutboundMessageKind::Request => 3,
            OutboundMessageKind::Abort => 4,
            OutboundMessageKind::Piece => 5,
            OutboundMessageKind::LastPiece => 6,
        };
        let code = if let OutboundMessageKind::Error { code } = self.kind { code } else { 0 };
        let [c0, c1, c2, c3] = code.to_le_bytes();
        let (relation, StreamId(stream)) = match self.relation {
            Relation::Connection => (0, StreamId::NONE),
            Relation::Request(stream) => (1, stream),
            Relation::Subscription(stream) => (2, stream),
            Relation::Session(key) => (3, key.stream()),
        };
        let [s0, s1, s2, s3] = stream.to_le_bytes();
        [l0, l1, l2, l3, kind, relation, s0, s1, s2, s3, c0, c1, c2, c3]
    }

    pub(crate) fn decode(header: Header) -> Routing {
        let [_, _, _, _, kind, relation, s0, s1, s2, s3, c0, c1, c2, c3] = header;
        let stream = StreamId(u32::from_le_bytes([s0, s1, s2, s3]));
        let kind = match kind {
            0 => OutboundMessageKind::Result,
            1 => OutboundMessageKind::Error { code: i32::from_le_bytes([c0, c1, c2, c3]) },
            2 => OutboundMessageKind::Notification,
            3 => OutboundMessageKind::Request,
            4 => OutboundMessageKind::Abort,
            5 => OutboundMessageKind::Piece,
            _ => OutboundMessageKind::LastPiece,
        };
        let relation = match relation {
            1 => Relation::Request(stream),
            2 => Relation::Subscription(stream),
            3 => Relation::Session(stream.session()),
            _ => Relation::Connection,
        };
        Routing { kind, relation }
    }
}

/// Interface between the transmit buffer and message headers. A program without message mode does not link the
/// functions.
pub(crate) struct HeaderFormat {
    /// Writes the header of a message. The bytes contain space for the header, followed by the message.
    pub(crate) write: fn(&mut [u8], Routing),
    /// Returns the header of the first buffered message, and the message. Returns `None` if the bytes are shorter than
    /// a header.
    pub(crate) split_first: fn(&[u8]) -> Option<FirstMessage<'_>>,
    /// Returns the routing of a message.
    pub(crate) decode: fn(Header) -> Routing,
}

pub(crate) static HEADERS: HeaderFormat = HeaderFormat { write, split_first, decode: Routing::decode };

fn write(bytes: &mut [u8], routing: Routing) {
    if let Some((header, message)) = bytes.split_first_chunk_mut::<HEADER_SIZE>() {
        *header = routing.encode(message.len());
    }
}

fn split_first(bytes: &[u8]) -> Option<FirstMessage<'_>> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_SIZE>()?;
    let [l0, l1, l2, l3, ..] = *header;
    let length = usize::try_from(u32::from_le_bytes([l0, l1, l2, l3])).unwrap_or(usize::MAX);
    Some((header, rest.get(..length).unwrap_or(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_header_equals_the_encoded_routing() {
        for kind in [
            OutboundMessageKind::Result,
            OutboundMessageKind::Error { code: -32_020 },
            OutboundMessageKind::Notification,
            OutboundMessageKind::Request,
            OutboundMessageKind::Abort,
            OutboundMessageKind::Piece,
            OutboundMessageKind::LastPiece,
        ] {
            for relation in [
                Relation::Connection,
                Relation::Request(StreamId(7)),
                Relation::Subscription(StreamId(u32::MAX)),
                Relation::Session(SessionKey(u16::MAX)),
            ] {
                let routing = Routing { kind, relation };
                assert_eq!(Routing::decode(routing.encode(70_000)), routing);
            }
        }
    }
}
