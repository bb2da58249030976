//! Whose fault: [`ProtocolError`] for what the peer did (already dealt with) or a handler forgot, [`ConfigError`] and
//! [`SendError`] for what the host asked for and cannot have.

use crate::json::{ScanError, WriteText, prints};
use crate::rpc::code;

/// Something went wrong and was dealt with. The connection goes on.
///
/// [`by_host`](ProtocolError::by_host) says whose fault it was, [`code`](ProtocolError::code) what the peer was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A line is not JSON; or [it was given up](crate::json::ScanErrorKind::GivenUp) on its way.
    NotJson(ScanError),
    /// A line is longer than the receive buffer. It was thrown away as it came in.
    LineTooLong {
        /// The most bytes that a line can have, its newline included.
        limit: usize,
    },
    /// A message is nested deeper than the limit.
    TooDeep {
        /// The deepest nesting that is accepted.
        limit: u8,
    },
    /// The input ended in the middle of a message.
    Truncated,
    /// A JSON array, or what has no place in a batch: no batches are taken here, or not in this revision; or one that is
    /// empty, or inside another.
    Batch,
    /// A batch without members.
    EmptyBatch,
    /// A batch with so many requests that not even errors for all of them would fit.
    BatchTooLarge {
        /// How many there may be now.
        limit: usize,
    },
    /// The message is valid JSON, but no JSON object.
    NotAnObject,
    /// `jsonrpc` is missing or not `"2.0"`.
    WrongJsonRpcVersion,
    /// A request id that is neither a string nor an integer, or a response without an id.
    InvalidId,
    /// A request id that is longer than the limit.
    IdTooLong {
        /// The most bytes of an id, as it is written in the message.
        limit: usize,
    },
    /// A request with the id of a request that is still in flight. The first one goes on.
    DuplicateId,
    /// `method` is missing or not a string.
    InvalidMethod,
    /// There is no such method, or not in this revision, or its capability was not declared.
    UnknownMethod,
    /// The parameters of a request or notification are not what its method needs.
    InvalidParams,
    /// A call of a tool that does not exist.
    UnknownTool,
    /// A prompt was asked for that does not exist.
    UnknownPrompt,
    /// A resource or template was asked for that does not exist.
    UnknownResource {
        /// The code of the error that the client got: -32002, or -32602 from `2026-07-28` on.
        code: i32,
    },
    /// The request needs a capability that the client did not declare in it (`2026-07-28`).
    MissingClientCapability,
    /// There is no room to watch more resources.
    TooManyWatched {
        /// How many bytes there are for their URIs, and 11 for each.
        limit: usize,
    },
    /// A cursor that this server never gave out.
    BadCursor,
    /// A request came before the handshake.
    NotInitialized,
    /// A second `initialize` on an open session.
    AlreadyInitialized,
    /// A revision was asked for that is not spoken here. In a handshake another one was offered.
    UnsupportedRevision,
    /// No more requests can be in flight; the request was refused.
    TooManyInFlight {
        /// How many can be.
        limit: usize,
    },
    /// A request came while the machine was shutting down.
    ShuttingDown,
    /// A response to a request that was never made, or that has ended.
    UnknownResponse,
    /// A response that has both a result and an error, neither, or a malformed one.
    MalformedResponse,
    /// An error that belongs to no request: the peer could not read something that was sent.
    ErrorWithoutId {
        /// The code of that error; 0 if it was not an integer, or none that fits.
        code: i32,
    },
    /// A cancellation of a request that is not in flight.
    UnknownCancel,
    /// Progress of a request that is not in flight, or that did not ask for it.
    UnknownProgress,
    /// A notification of a subscription that is not open, or has not been acknowledged, or of none where it needs one.
    UnknownSubscription,
    /// A notification that means nothing here.
    UnknownNotification,
    /// Too many lines in a row were no messages: they are not answered any more until one is.
    Muted,
    /// The host's fault: a handler let a request go without an answer. The machine answered with an error.
    Unanswered,
    /// A deferred request was not answered in time. The machine answered with an error.
    TookTooLong,
    /// The host's fault: an answer did not fit. An error was sent in its place.
    ReplyTooLarge {
        /// The most bytes that an answer can have here.
        limit: usize,
    },
    /// The host's fault: a handler wrote something that is not one JSON value. An error was sent in its place.
    InvalidReply,
    /// The host's fault: a request was answered with what is needed first, but its client cannot send it again, nothing
    /// was needed, or one key was used twice. An error was sent in its place.
    NoRoundTrip,
    /// The host's fault: entries of a list are too large for any page, and were left out.
    EntriesLeftOut {
        /// How many.
        count: usize,
    },
}

impl ProtocolError {
    /// The code of the error that the peer got for it, if it got one.
    ///
    /// Whether an answer was sent also depends on the message: notifications and responses never get one, and a
    /// client never answers noise.
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

    /// Whether the host is at fault, and not the peer.
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

    /// What is wrong, in the error that the peer gets for it.
    fn said(&self) -> &'static str {
        match self {
            ProtocolError::NotJson(_) => "the message is not valid JSON",
            ProtocolError::LineTooLong { .. } => "the message is longer than this receiver can take",
            ProtocolError::TooDeep { .. } => "the message is nested too deeply",
            ProtocolError::Batch => "batches are not supported",
            ProtocolError::EmptyBatch => "the batch is empty",
            ProtocolError::BatchTooLarge { .. } => "the batch has too many requests",
            ProtocolError::NotAnObject => "a message is a JSON object",
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
            ProtocolError::TooManyWatched { .. } => "Too many resources are watched",
            ProtocolError::BadCursor => "Invalid params: unknown cursor",
            ProtocolError::NotInitialized => "send `initialize` first",
            ProtocolError::AlreadyInitialized => "the session is already initialized",
            ProtocolError::UnsupportedRevision => "Unsupported protocol version",
            ProtocolError::TooManyInFlight { .. } => "Too many requests in flight",
            ProtocolError::ShuttingDown => "the receiver is shutting down",
            ProtocolError::Unanswered => "the request was not answered",
            ProtocolError::TookTooLong => "the request was not finished in time",
            ProtocolError::ReplyTooLarge { .. } => "the answer is too large",
            ProtocolError::InvalidReply => "the answer is not valid JSON",
            ProtocolError::NoRoundTrip => "the request cannot be answered with what it needs",
            _ => "",
        }
    }

    /// The sentence without its numbers, which an error on the wire says: what kind of error it is, and what is wrong.
    pub(crate) fn message(&self) -> (&'static str, &'static str) {
        let kind = match self.code() {
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
        (kind, self.said())
    }

    /// What has happened that the peer does not hear of.
    fn unsaid(&self) -> &'static str {
        match self {
            ProtocolError::Truncated => "the input ended in the middle of a message",
            ProtocolError::UnknownResponse => "a response to no request in flight",
            ProtocolError::MalformedResponse => "a response needs either a result or an error",
            ProtocolError::ErrorWithoutId { .. } => {
                "the peer reported an error without saying for which request"
            }
            ProtocolError::UnknownCancel => "a cancellation of no request in flight",
            ProtocolError::UnknownProgress => "progress of no request in flight",
            ProtocolError::UnknownSubscription => "a notification of no open subscription",
            ProtocolError::UnknownNotification => "a notification that means nothing here",
            ProtocolError::Muted => {
                "too many invalid messages in a row; no more are answered until a valid one comes"
            }
            ProtocolError::EntriesLeftOut { .. } => {
                "entries of a list are too large for any page and were left out"
            }
            _ => "",
        }
    }
}

impl WriteText for ProtocolError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        (self.message(), self.unsaid()).pieces(put);
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
            ProtocolError::TooManyWatched { limit } => {
                (" (their URIs have at most ", *limit, " bytes)").pieces(put)
            }
            ProtocolError::ErrorWithoutId { code } => (" (code ", *code, ")").pieces(put),
            ProtocolError::EntriesLeftOut { count } => (" (", *count, ")").pieces(put),
            _ => {}
        }
    }
}

impl core::error::Error for ProtocolError {}

/// The host set something up that cannot work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The transmit buffer cannot hold the largest message that the machine itself has to write.
    TxTooSmall {
        /// How many bytes it needs.
        needed: usize,
    },
    /// The receive buffer cannot hold what the machine has to keep of a line that is too long.
    RxTooSmall {
        /// How many bytes it needs.
        needed: usize,
    },
    /// The text lent for requests in flight gives each slot too little.
    TextTooSmall {
        /// How many bytes are needed in all.
        needed: usize,
    },
    /// Raw JSON of the host's, such as a schema, is not valid.
    InvalidJson {
        /// Which entry of the catalogue it belongs to.
        entry: usize,
        /// What is wrong with it.
        error: ScanError,
    },
    /// A schema, or a `_meta`, is valid JSON, but no object.
    NotAnObject {
        /// Which entry of the catalogue it belongs to.
        entry: usize,
    },
    /// Two entries of a catalogue have the same name, URI or URI template; or two arguments of a prompt the same name.
    DuplicateName {
        /// The second of the two entries; or the prompt.
        entry: usize,
    },
    /// The pattern of a URI template cannot be matched: its braces must come in pairs around names, as in `{name}` or
    /// `{+name}`, with no `{name}` behind a `{+name}`.
    InvalidTemplate {
        /// Which of the templates.
        entry: usize,
    },
    /// The name of an extension has no prefix, or characters that it may not have.
    InvalidName {
        /// Which entry of the catalogue.
        entry: usize,
    },
    /// No revision is left to speak.
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
                ("the text for requests in flight is too small: it needs ", *needed, " bytes").pieces(put);
            }
            ConfigError::InvalidJson { entry, error } => {
                ("the JSON of catalogue entry ", *entry, " is not valid: ", error).pieces(put);
            }
            ConfigError::NotAnObject { entry } => {
                ("a schema or `_meta` of catalogue entry ", *entry, " is not a JSON object").pieces(put);
            }
            ConfigError::InvalidTemplate { entry } => {
                let why = " is not valid: braces go around names";
                ("the URI template of catalogue entry ", *entry, why).pieces(put);
            }
            ConfigError::DuplicateName { entry } => {
                ("catalogue entry ", *entry, " has the name of an earlier one").pieces(put);
            }
            ConfigError::InvalidName { entry } => {
                let why = " has an invalid name: `com.example/name` would be one";
                ("catalogue entry ", *entry, why).pieces(put);
            }
            ConfigError::NoRevision => put("no protocol revision is enabled"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// Why something cannot be sent, or not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// There is no room in the transmit buffer yet. An event says when there is.
    Busy,
    /// The request has ended: answered, cancelled, timed out, or its connection is gone.
    Gone,
    /// As many requests are in flight as there are slots.
    Full,
    /// The handshake has not been done, or the connection is closing.
    NotConnected,
    /// It is larger than the transmit buffer allows, or not valid JSON. It never will be sent.
    Unwritable,
    /// The peer did not declare the capability for it, or its revision does not have it.
    Unsupported,
    /// The request did not ask for it, or asked for less.
    NotWanted,
}

impl WriteText for SendError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            SendError::Busy => "no room to write to yet",
            SendError::Gone => "the request has ended",
            SendError::Full => "as many requests are in flight as there can be",
            SendError::NotConnected => "not connected",
            SendError::Unwritable => "it is too large to be sent, or not valid JSON",
            SendError::Unsupported => "the peer does not support it",
            SendError::NotWanted => "the request did not ask for it",
        });
    }
}

impl core::error::Error for SendError {}

prints!(ProtocolError, ConfigError, SendError);
