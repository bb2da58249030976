//! Classifies a message by its members: its kind, and the spans of its id, method and content.

use crate::json::{DEPTH_LIMIT, Json, Kind, KnownObject, Member, ScanError, Scanned, Scanner, Shape, Span};
use crate::platform::cold_path;
use crate::rpc::{Object, is_null, kind, view};

/// One scanned message: valid JSON, with the positions of members such as `id` and `method`.
///
/// With this type, a router, proxy or fuzzer can inspect a message before a client or server receives it. The program
/// parses the message once, and passes the message on with [`Receive::parsed`](crate::Receive::parsed).
///
/// ```
/// use mcp_proto::rpc::{Message, MessageKind};
/// let message = Message::parse(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#)?;
/// assert_eq!(message.kind(), MessageKind::Request);
/// assert_eq!(message.id().unwrap().raw(), "7");
/// assert!(message.method().unwrap().string().unwrap() == "ping");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Message<'m> {
    bytes: &'m [u8],
    scanned: Scanned,
    kind: MessageKind,
}

/// The kind of a message, derived from its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// A method that is a string, and an id that is a string or an integer.
    Request,
    /// A method that is a string, and no id.
    Notification,
    /// No method. Either a valid id with a result or an error, or an error object with neither a valid id nor a result.
    Response,
    /// A JSON array: a batch (`2025-03-26` only).
    Batch,
    /// None of these, or an object without `"jsonrpc":"2.0"`.
    Invalid,
}

impl<'m> Message<'m> {
    /// Scans and classifies one message.
    ///
    /// # Errors
    /// [`ScanError`] if the text is not valid JSON, or is nested deeper than [`DEPTH_LIMIT`].
    pub fn parse(bytes: &'m [u8]) -> Result<Message<'m>, ScanError> {
        Message::parse_with(None, bytes)
    }

    /// Parses like [`parse`](Message::parse), but does not scan repetitions of `known`: see [`Scanner::feed_with`].
    pub(crate) fn parse_with(known: Option<&KnownObject>, bytes: &'m [u8]) -> Result<Message<'m>, ScanError> {
        let mut scanner = Scanner::new(DEPTH_LIMIT);
        scanner.feed_with(known, bytes);
        scanner.finish()?;
        Ok(Message { bytes, scanned: scanner.scanned(), kind: Class::new(bytes, &scanner, false).kind() })
    }

    /// Returns the whole text.
    #[must_use]
    pub fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    pub(crate) fn scanned(&self) -> &Scanned {
        &self.scanned
    }

    /// Returns the kind of the message.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// Returns the member `id`, whatever its type.
    #[must_use]
    pub fn id(&self) -> Option<Json<'m>> {
        self.view(Member::Id)
    }

    /// Returns the member `method`, whatever its type.
    #[must_use]
    pub fn method(&self) -> Option<Json<'m>> {
        self.view(Member::Method)
    }

    /// Returns the member `params`, whatever its type.
    #[must_use]
    pub fn params(&self) -> Option<Json<'m>> {
        self.view(Member::Params)
    }

    /// Returns the values of several members of the object `params`, found in one pass. A missing member gives
    /// `None`.
    #[must_use]
    pub fn pick_params<const N: usize>(&self, names: [&str; N]) -> [Option<Json<'m>>; N] {
        let (params, index) = (self.scanned.span(Member::Params), self.scanned.inner(Member::Params));
        Object::new(self.bytes, params, index).spans(&names).map(|span| self.part(span))
    }

    /// Returns the member `result`, whatever its type.
    #[must_use]
    pub fn result(&self) -> Option<Json<'m>> {
        self.view(Member::Result)
    }

    /// Returns the member `error`, whatever its type.
    #[must_use]
    pub fn error(&self) -> Option<Json<'m>> {
        self.view(Member::Error)
    }

    fn view(&self, member: Member) -> Option<Json<'m>> {
        self.part(self.scanned.span(member))
    }

    fn part(&self, span: Span) -> Option<Json<'m>> {
        (!span.is_missing()).then(|| view(self.bytes, span))
    }
}

impl Scanner {
    /// Returns the span of the parameters, or a missing span if there are none or they are `null`.
    #[inline]
    pub(crate) fn params(&self, line: &[u8]) -> Span {
        let params = self.span(Member::Params);
        if is_null(line, params) { Span::MISSING } else { params }
    }

    /// Returns whether the message has a result or an error, and no method.
    pub(crate) fn looks_like_response(&self) -> bool {
        !self.has(Member::Method) && (self.has(Member::Result) || self.has(Member::Error))
    }
}

/// The class of a message. The scanner of the message has the spans of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A request with a valid id.
    Request,
    Notification,
    /// A response with a valid id. [`Outcome::new`] returns its result or error.
    Response,
    /// A response with a valid id and a [malformed](Outcome::Malformed) outcome.
    MalformedResponse,
    /// An error response without a valid id.
    ErrorWithoutId,
    /// An invalid message that may receive an error response, because it may be a request or a batch.
    Invalid(Invalid),
    /// An invalid message that must not receive an error response: a message that looks like a response, or a message
    /// without a valid `jsonrpc` that looks like a notification.
    Unanswerable(Invalid),
}

/// The outcome in a response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Result(Span),
    Error(Span),
    /// Both a result and an error, or an error that is not an object.
    Malformed,
}

impl Outcome {
    /// Returns the outcome in a message that [looks like a response](Scanner::looks_like_response).
    #[inline]
    pub(crate) fn new(line: &[u8], scanner: &Scanner) -> Outcome {
        let (result, error) = (scanner.span(Member::Result), scanner.span(Member::Error));
        match (result.is_missing(), error.is_missing()) {
            (false, true) => Outcome::Result(result),
            (true, false) if kind(line, error) == Kind::Object => Outcome::Error(error),
            _ => Outcome::Malformed,
        }
    }
}

/// The reason why a message is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invalid {
    Batch,
    NotAnObject,
    Version,
    Id,
    Method,
}

impl Class {
    /// Classifies the message that `scanner` has scanned. With `allow_missing_jsonrpc`, the member `jsonrpc` may be
    /// missing.
    #[inline(never)]
    pub(crate) fn new(line: &[u8], scanner: &Scanner, allow_missing_jsonrpc: bool) -> Class {
        // Only an object has members.
        if scanner.shape() != Shape::Object {
            cold_path();
            let is_batch = scanner.shape() == Shape::Array;
            return Class::Invalid(if is_batch { Invalid::Batch } else { Invalid::NotAnObject });
        }
        let has_id = scanner.has(Member::Id);
        let method = scanner.span(Member::Method);
        let version = scanner.span(Member::Jsonrpc);
        let has_version = if version.is_missing() {
            cold_path();
            allow_missing_jsonrpc
        } else {
            view(line, version).string().is_some_and(|version| version.is_name("2.0"))
        };
        if !has_version {
            cold_path();
            let is_notification = !method.is_missing() && !has_id;
            if scanner.looks_like_response() || is_notification {
                return Class::Unanswerable(Invalid::Version);
            }
            return Class::Invalid(Invalid::Version);
        }
        let is_valid_id = !scanner.valid_id(line).is_missing();
        if scanner.looks_like_response() {
            let outcome = Outcome::new(line, scanner);
            if is_valid_id && !matches!(outcome, Outcome::Malformed) {
                return Class::Response;
            }
            cold_path();
            return match outcome {
                _ if is_valid_id => Class::MalformedResponse,
                Outcome::Error(_) => Class::ErrorWithoutId,
                _ => Class::Unanswerable(Invalid::Id),
            };
        }
        if kind(line, method) != Kind::String {
            cold_path();
            return Class::Invalid(Invalid::Method);
        }
        if is_valid_id {
            Class::Request
        } else if !has_id {
            Class::Notification
        } else {
            cold_path();
            Class::Invalid(Invalid::Id)
        }
    }

    fn kind(&self) -> MessageKind {
        match self {
            Class::Request => MessageKind::Request,
            Class::Notification => MessageKind::Notification,
            Class::Response | Class::MalformedResponse | Class::ErrorWithoutId => MessageKind::Response,
            Class::Invalid(Invalid::Batch) => MessageKind::Batch,
            Class::Invalid(_) | Class::Unanswerable(_) => MessageKind::Invalid,
        }
    }
}
