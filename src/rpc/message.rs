//! A classified message: its kind, and the spans of its id, method and content.

use crate::json::{DEPTH_LIMIT, Json, Kind, Member, ScanError, Scanned, Scanner, Shape, Span};
use crate::rpc::{Object, is_id, is_null, kind, view};

/// One scanned message: valid JSON, with the positions of members such as `id` and `method`.
///
/// With this type, a router, proxy or fuzzer inspects a message before a client or server receives it. The program
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
    /// A method and an id.
    Request,
    /// A method and no id.
    Notification,
    /// No method: an id with a result or an error, or an error without an id.
    Response,
    /// A JSON array: a batch (`2025-03-26` only).
    Batch,
    /// None of these.
    Invalid,
}

impl<'m> Message<'m> {
    /// Scans and classifies one message.
    ///
    /// # Errors
    /// [`ScanError`] if the text is not valid JSON, or is nested deeper than [`DEPTH_LIMIT`].
    pub fn parse(bytes: &'m [u8]) -> Result<Message<'m>, ScanError> {
        let mut scanner = Scanner::new(DEPTH_LIMIT);
        scanner.feed(bytes);
        scanner.end()?;
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
    /// Returns whether the message has a result or an error, and no method.
    pub(crate) fn looks_like_response(&self) -> bool {
        !self.has(Member::Method) && (self.has(Member::Result) || self.has(Member::Error))
    }
}

/// A message by kind, with its parts as spans of the line. The span of a missing part is [`Span::MISSING`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Class {
    Request {
        id: Span,
        /// The string of the method.
        method: Span,
        /// The parameters, missing if they are `null`.
        params: Span,
    },
    Notification {
        method: Span,
        params: Span,
    },
    Response {
        id: Span,
        outcome: Outcome,
    },
    /// An error response without a valid id.
    ErrorWithoutId {
        error: Span,
    },
    Invalid {
        /// The id for an error response, if it is valid.
        id: Span,
        why: Invalid,
        /// Whether an error response is allowed. `false` for a message that looks like a response, and for a
        /// message with a wrong `jsonrpc` that looks like a notification.
        answerable: bool,
    },
}

/// The outcome in a response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Result(Span),
    Error(Span),
    /// Both a result and an error, or an error that is not an object.
    Malformed,
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
    /// Classifies the message that `scanner` has scanned. `allow_missing_jsonrpc` tolerates a missing `jsonrpc`.
    #[inline]
    pub(crate) fn new(line: &[u8], scanner: &Scanner, allow_missing_jsonrpc: bool) -> Class {
        let invalid = |why, id, answerable| Class::Invalid { id, why, answerable };
        let version = scanner.span(Member::Jsonrpc);
        // Only an object has members.
        match scanner.shape() {
            Shape::Object => {}
            Shape::Array => return invalid(Invalid::Batch, Span::MISSING, true),
            Shape::Other => return invalid(Invalid::NotAnObject, Span::MISSING, true),
        }
        let (raw_id, method) = (scanner.span(Member::Id), scanner.span(Member::Method));
        let id = if is_id(view(line, raw_id)) { raw_id } else { Span::MISSING };
        let (result, error) = match method.is_missing() {
            true => (scanner.span(Member::Result), scanner.span(Member::Error)),
            false => (Span::MISSING, Span::MISSING),
        };
        let looks_like_response = !(result.is_missing() && error.is_missing());
        let has_version = match version.is_missing() {
            true => allow_missing_jsonrpc,
            false => view(line, version).string().is_some_and(|version| version.is_name("2.0")),
        };
        if !has_version {
            let is_notification = !method.is_missing() && raw_id.is_missing();
            return invalid(Invalid::Version, id, !looks_like_response && !is_notification);
        }
        if looks_like_response {
            let outcome = match (result.is_missing(), error.is_missing()) {
                (false, true) => Outcome::Result(result),
                (true, false) if kind(line, error) == Kind::Object => Outcome::Error(error),
                _ => Outcome::Malformed,
            };
            return match outcome {
                outcome if !id.is_missing() => Class::Response { id, outcome },
                Outcome::Error(error) => Class::ErrorWithoutId { error },
                _ => invalid(Invalid::Id, Span::MISSING, false),
            };
        }
        if kind(line, method) != Kind::String {
            return invalid(Invalid::Method, id, true);
        }
        let params = scanner.span(Member::Params);
        let params = if is_null(line, params) { Span::MISSING } else { params };
        match () {
            () if !id.is_missing() => Class::Request { id, method, params },
            () if raw_id.is_missing() => Class::Notification { method, params },
            () => invalid(Invalid::Id, Span::MISSING, true),
        }
    }

    fn kind(&self) -> MessageKind {
        match self {
            Class::Request { .. } => MessageKind::Request,
            Class::Notification { .. } => MessageKind::Notification,
            Class::Response { .. } | Class::ErrorWithoutId { .. } => MessageKind::Response,
            Class::Invalid { why: Invalid::Batch, .. } => MessageKind::Batch,
            Class::Invalid { .. } => MessageKind::Invalid,
        }
    }
}
