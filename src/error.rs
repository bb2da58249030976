//! Error types: protocol errors, configuration errors, refused sends.
//!
//! A [`ProtocolError`] reports an error of the peer or of a handler, which the machine has already handled.
//! [`ConfigError`] and [`SendError`] are returned to the caller.

use crate::json::{ScanError, WriteText, prints};
use crate::rpc::code;

/// An error that the machine has handled. The connection continues.
///
/// [`by_host`](ProtocolError::by_host) distinguishes errors of the application from errors of the peer.
/// [`code`](ProtocolError::code) is the code that the peer received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A line is not valid JSON, or [the link lost a part of it](crate::json::ScanErrorKind::GivenUp).
    NotJson(ScanError),
    /// A line is longer than the receive buffer. The machine discarded it as it arrived.
    LineTooLong {
        /// Maximum length of a line in bytes, its newline included.
        limit: usize,
    },
    /// A message is nested deeper than the limit.
    TooDeep {
        /// Maximum nesting depth.
        limit: u8,
    },
    /// The input ended in the middle of a message.
    Truncated,
    /// A batch, or an element of a batch, that is not accepted.
    ///
    /// The machine or the revision does not support batches, or the element is an array or not allowed in a batch.
    Batch,
    /// A batch without elements.
    EmptyBatch,
    /// A batch with too many requests: their error responses might not fit.
    BatchTooLarge {
        /// Maximum number of requests when the batch arrived.
        limit: usize,
    },
    /// A message is valid JSON but not an object.
    NotAnObject,
    /// `jsonrpc` is missing or not `"2.0"`.
    WrongJsonRpcVersion,
    /// A request id is neither a string nor an integer, or a response has no id.
    InvalidId,
    /// A request id is longer than the limit.
    IdTooLong {
        /// Maximum length of an id in bytes, as written in the message.
        limit: usize,
    },
    /// A request has the id of another request in flight. The earlier request continues.
    DuplicateId,
    /// `method` is missing or not a string.
    InvalidMethod,
    /// The method does not exist, is not part of the revision, or its capability was not declared.
    UnknownMethod,
    /// The parameters of a request or notification do not match its method.
    InvalidParams,
    /// The requested tool does not exist.
    UnknownTool,
    /// The requested prompt does not exist.
    UnknownPrompt,
    /// The requested resource or template does not exist.
    UnknownResource {
        /// Code of the error response: -32002, or -32602 since `2026-07-28`.
        code: i32,
    },
    /// A request requires a capability that it does not declare (`2026-07-28`).
    MissingClientCapability,
    /// The buffer for resource subscriptions is full.
    TooManyWatched {
        /// Size of the buffer in bytes. Each subscription takes the length of its URI and 11 bytes.
        limit: usize,
    },
    /// A cursor was not issued by this server.
    BadCursor,
    /// A request arrived before the handshake.
    NotInitialized,
    /// An `initialize` request arrived on an open session.
    AlreadyInitialized,
    /// The requested revision is not supported. In a handshake the server offered another one.
    UnsupportedRevision,
    /// A request was refused because all slots for requests in flight are taken.
    TooManyInFlight {
        /// Maximum number of requests in flight.
        limit: usize,
    },
    /// A request arrived during shutdown.
    ShuttingDown,
    /// A response matches no request in flight.
    UnknownResponse,
    /// A response has both a result and an error, or an error that is not an object.
    MalformedResponse,
    /// An error response without an id: the peer could not read a message.
    ErrorWithoutId {
        /// Code of the error; 0 if the code is not an integer or is out of range.
        code: i32,
    },
    /// A cancellation matches no request in flight.
    UnknownCancel,
    /// A progress notification matches no request in flight that accepts progress.
    UnknownProgress,
    /// A notification belongs to no acknowledged open subscription, although its method requires one.
    UnknownSubscription,
    /// A notification has no meaning for this role or revision.
    UnknownNotification,
    /// Too many invalid messages in a row.
    ///
    /// The machine sends no further error responses until a valid message arrives.
    Muted,
    /// Application error: a handler dropped a request without a response. The machine responded with an error.
    Unanswered,
    /// The timeout of a deferred request expired. The machine responded with an error.
    TookTooLong,
    /// Application error: a reply exceeded its limit. The machine responded with an error.
    ReplyTooLarge {
        /// Maximum length of the reply in bytes.
        limit: usize,
    },
    /// Application error: a handler wrote something other than one JSON value. The machine responded with an error.
    InvalidReply,
    /// Application error: a request for input (`inputRequests`) was invalid. The machine responded with an error.
    ///
    /// The client cannot send the request again, no input was requested, or a key was used twice.
    NoRoundTrip,
    /// Application error: entries of a list were larger than a page. The machine omitted them.
    EntriesLeftOut {
        /// Number of omitted entries.
        count: usize,
    },
}

impl ProtocolError {
    /// Returns the code of the error response to the peer. `None` if this error has no response.
    ///
    /// Whether a response was sent also depends on the message. Notifications and responses never get an error
    /// response, and a client never responds to invalid messages.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        Some(match self {
            ProtocolError::NotJson(_) => code::PARSE_ERROR,
            ProtocolError::LineTooLong { .. }
            | ProtocolError::TooDeep { .. }
            | ProtocolError::Batch
            | ProtocolError::EmptyBatch
            | ProtocolError::BatchTooLarge { .. }
            | ProtocolError::NotAnObject
            | ProtocolError::WrongJsonRpcVersion
            | ProtocolError::InvalidId
            | ProtocolError::IdTooLong { .. }
            | ProtocolError::DuplicateId
            | ProtocolError::InvalidMethod
            | ProtocolError::NotInitialized
            | ProtocolError::AlreadyInitialized
            | ProtocolError::ShuttingDown => code::INVALID_REQUEST,
            ProtocolError::UnknownMethod => code::METHOD_NOT_FOUND,
            ProtocolError::InvalidParams
            | ProtocolError::UnknownTool
            | ProtocolError::UnknownPrompt
            | ProtocolError::BadCursor => code::INVALID_PARAMS,
            ProtocolError::UnknownResource { code } => *code,
            ProtocolError::MissingClientCapability => code::MISSING_CLIENT_CAPABILITY,
            ProtocolError::UnsupportedRevision => code::UNSUPPORTED_PROTOCOL_VERSION,
            ProtocolError::TooManyInFlight { .. }
            | ProtocolError::TooManyWatched { .. }
            | ProtocolError::Unanswered
            | ProtocolError::TookTooLong
            | ProtocolError::ReplyTooLarge { .. }
            | ProtocolError::InvalidReply
            | ProtocolError::NoRoundTrip => code::INTERNAL_ERROR,
            _ => return None,
        })
    }

    /// Returns the code of the error response; `INTERNAL_ERROR` if this error has no code.
    pub(crate) fn response_code(&self) -> i32 {
        self.code().unwrap_or(code::INTERNAL_ERROR)
    }

    /// Returns whether the error was caused by the application, not by the peer.
    #[must_use]
    pub fn by_host(&self) -> bool {
        matches!(
            self,
            ProtocolError::Unanswered
                | ProtocolError::ReplyTooLarge { .. }
                | ProtocolError::InvalidReply
                | ProtocolError::NoRoundTrip
                | ProtocolError::EntriesLeftOut { .. }
        )
    }

    /// Returns the description for the error response. Empty for errors without a response.
    fn response_text(&self) -> &'static str {
        match self {
            ProtocolError::NotJson(_) => "the message is not valid JSON",
            ProtocolError::LineTooLong { .. } => "the message is too long",
            ProtocolError::TooDeep { .. } => "the message is nested too deeply",
            ProtocolError::Batch => "batches are not supported",
            ProtocolError::EmptyBatch => "the batch is empty",
            ProtocolError::BatchTooLarge { .. } => "the batch has too many requests",
            ProtocolError::NotAnObject => "the message is not a JSON object",
            ProtocolError::WrongJsonRpcVersion => "`jsonrpc` must be \"2.0\"",
            ProtocolError::InvalidId => "`id` must be a string or an integer",
            ProtocolError::IdTooLong { .. } => "`id` is too long",
            ProtocolError::DuplicateId => "a request with this id is still in flight",
            ProtocolError::InvalidMethod => "`method` must be a string",
            ProtocolError::UnknownMethod => "Method not found",
            ProtocolError::InvalidParams => "Invalid params",
            ProtocolError::UnknownTool => "Unknown tool",
            ProtocolError::UnknownPrompt => "Unknown prompt",
            ProtocolError::UnknownResource { .. } => "Resource not found",
            ProtocolError::MissingClientCapability => "Missing required client capability",
            ProtocolError::TooManyWatched { .. } => "Too many resource subscriptions",
            ProtocolError::BadCursor => "Invalid params: unknown cursor",
            ProtocolError::NotInitialized => "send `initialize` first",
            ProtocolError::AlreadyInitialized => "the session is already initialized",
            ProtocolError::UnsupportedRevision => "Unsupported protocol version",
            ProtocolError::TooManyInFlight { .. } => "Too many requests in flight",
            ProtocolError::ShuttingDown => "the receiver is shutting down",
            ProtocolError::Unanswered => "the request was dropped without a response",
            ProtocolError::TookTooLong => "the request timed out",
            ProtocolError::ReplyTooLarge { .. } => "the response is too large",
            ProtocolError::InvalidReply => "the response is not valid JSON",
            ProtocolError::NoRoundTrip => "the server cannot request this input",
            _ => "",
        }
    }

    /// Returns the `message` of the error response, in two parts: a prefix for its code, and the description without
    /// numbers.
    pub(crate) fn message(&self) -> (&'static str, &'static str) {
        let prefix = match self.code() {
            _ if matches!(
                self,
                ProtocolError::TooManyInFlight { .. } | ProtocolError::TooManyWatched { .. }
            ) =>
            {
                ""
            }
            Some(code::PARSE_ERROR) => "Parse error: ",
            Some(code::INVALID_REQUEST) => "Invalid request: ",
            Some(code::INTERNAL_ERROR) => "Internal error: ",
            _ => "",
        };
        (prefix, self.response_text())
    }

    /// Returns the description of an error without a response. Empty for other errors.
    fn local_text(&self) -> &'static str {
        match self {
            ProtocolError::Truncated => "the input ended in the middle of a message",
            ProtocolError::UnknownResponse => "a response that matches no request in flight",
            ProtocolError::MalformedResponse => "a response needs either a result or an error",
            ProtocolError::ErrorWithoutId { .. } => "the peer reported an error without a request id",
            ProtocolError::UnknownCancel => "a cancellation that matches no request in flight",
            ProtocolError::UnknownProgress => "progress that matches no request in flight",
            ProtocolError::UnknownSubscription => "a notification that matches no open subscription",
            ProtocolError::UnknownNotification => "a notification without meaning for this role or revision",
            ProtocolError::Muted => "too many invalid messages in a row; further ones get no error response",
            ProtocolError::EntriesLeftOut { .. } => "list entries that are too large for a page were omitted",
            _ => "",
        }
    }
}

impl WriteText for ProtocolError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        (self.message(), self.local_text()).pieces(put);
        match self {
            ProtocolError::NotJson(error) => (": ", error).pieces(put),
            ProtocolError::LineTooLong { limit }
            | ProtocolError::IdTooLong { limit }
            | ProtocolError::ReplyTooLarge { limit } => {
                (" (at most ", *limit, " bytes)").pieces(put);
            }
            ProtocolError::TooDeep { limit } => (" (at most ", *limit, " levels)").pieces(put),
            ProtocolError::TooManyInFlight { limit } | ProtocolError::BatchTooLarge { limit } => {
                (" (at most ", *limit, ")").pieces(put);
            }
            ProtocolError::TooManyWatched { limit } => (" (at most ", *limit, " bytes of URIs)").pieces(put),
            ProtocolError::ErrorWithoutId { code } => (" (code ", *code, ")").pieces(put),
            ProtocolError::EntriesLeftOut { count } => (" (", *count, ")").pieces(put),
            _ => {}
        }
    }
}

impl core::error::Error for ProtocolError {}

/// Error in the configuration of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The transmit buffer is too small for the largest message that the machine itself writes.
    TxTooSmall {
        /// Required size in bytes.
        needed: usize,
    },
    /// The receive buffer is too small for the id of an oversized line.
    RxTooSmall {
        /// Required size in bytes.
        needed: usize,
    },
    /// The text lent for requests in flight is too small for the number of slots.
    TextTooSmall {
        /// Required size in bytes, for all slots.
        needed: usize,
    },
    /// Raw JSON of the application, such as a schema, is not valid.
    InvalidJson {
        /// Index of the catalogue entry.
        entry: usize,
        /// The error in the JSON.
        error: ScanError,
    },
    /// A schema or a `_meta` is valid JSON but not an object.
    NotAnObject {
        /// Index of the catalogue entry.
        entry: usize,
    },
    /// Two catalogue entries share a name, URI or URI template, or two arguments of a prompt share a name.
    DuplicateName {
        /// Index of the second entry, or of the prompt.
        entry: usize,
    },
    /// A URI template cannot be matched.
    ///
    /// Braces must enclose names, as in `{name}` or `{+name}`. No `{name}` may follow a `{+name}`.
    InvalidTemplate {
        /// Index of the template.
        entry: usize,
    },
    /// The name of an extension has no prefix or contains invalid characters.
    InvalidName {
        /// Index of the catalogue entry.
        entry: usize,
    },
    /// No protocol revision is enabled.
    NoRevision,
}

impl WriteText for ConfigError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        match self {
            ConfigError::TxTooSmall { needed } => {
                ("the transmit buffer is too small: it needs ", *needed, " bytes for the largest message")
                    .pieces(put);
            }
            ConfigError::RxTooSmall { needed } => {
                ("the receive buffer is too small: it needs at least ", *needed, " bytes").pieces(put);
            }
            ConfigError::TextTooSmall { needed } => {
                ("the text buffer for requests in flight is too small: it needs ", *needed, " bytes")
                    .pieces(put);
            }
            ConfigError::InvalidJson { entry, error } => {
                ("the JSON of catalogue entry ", *entry, " is not valid: ", error).pieces(put);
            }
            ConfigError::NotAnObject { entry } => {
                ("a schema or `_meta` of catalogue entry ", *entry, " is not a JSON object").pieces(put);
            }
            ConfigError::InvalidTemplate { entry } => {
                let why = " is invalid: braces must enclose names";
                ("the URI template of catalogue entry ", *entry, why).pieces(put);
            }
            ConfigError::DuplicateName { entry } => {
                ("catalogue entry ", *entry, " has a duplicate name").pieces(put);
            }
            ConfigError::InvalidName { entry } => {
                let why = " has an invalid name; a valid example is `com.example/name`";
                ("catalogue entry ", *entry, why).pieces(put);
            }
            ConfigError::NoRevision => put("no protocol revision is enabled"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// Reason why a message was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The transmit buffer has too little free space. An event reports when the space is sufficient.
    Busy,
    /// The request has ended: by a response, cancellation or timeout, or with its connection.
    Gone,
    /// All slots for requests in flight are taken.
    Full,
    /// The handshake is not complete, or the connection is closing.
    NotConnected,
    /// The message is larger than the transmit buffer allows, or not valid JSON. A retry fails again.
    Unwritable,
    /// The peer did not declare the required capability, or the revision lacks the message.
    Unsupported,
    /// The peer did not request this notification, its progress has not increased, or its log level is not severe
    /// enough.
    NotWanted,
}

impl WriteText for SendError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            SendError::Busy => "the transmit buffer has too little space",
            SendError::Gone => "the request has ended",
            SendError::Full => "all slots for requests in flight are taken",
            SendError::NotConnected => "not connected",
            SendError::Unwritable => "the message is too large or not valid JSON",
            SendError::Unsupported => "the peer does not support the message",
            SendError::NotWanted => "the peer did not request the notification",
        });
    }
}

impl core::error::Error for SendError {}

prints!(ProtocolError, ConfigError, SendError);
