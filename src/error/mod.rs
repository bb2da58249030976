//! Error types: protocol errors, configuration errors, refused sends.
//!
//! A [`ProtocolError`] reports an error of the peer or of the application, which the machine has already handled.
//! Methods return [`ConfigError`] and [`SendError`].

mod description;
mod entry_name;
mod error_values;
mod send_error;
mod skill;
mod tool_header;

pub use crate::error::entry_name::EntryName;
pub use crate::error::send_error::SendError;
pub use crate::error::skill::InvalidSkill;
pub use crate::error::tool_header::InvalidToolHeader;

use crate::json::{ScanError, WriteText, errors};
use crate::rpc::{Invalid, code};

/// An error that the machine has handled. The error does not end the connection.
///
/// [`is_application_error`](ProtocolError::is_application_error) distinguishes errors of the application from errors of
/// the peer. [`code`](ProtocolError::code) returns the code of the error response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ProtocolError {
    /// A line that is not valid JSON, or that [lost bytes](crate::json::ScanErrorKind::Gap) in transit.
    NotJson(ScanError),
    /// A line that is longer than the receive buffer, or that exhausts the heap. The machine discarded the bytes of the
    /// line on arrival.
    LineTooLong {
        /// Maximum length in bytes. The length of a line includes its newline.
        limit: usize,
    },
    /// A message that is nested deeper than the limit.
    TooDeep {
        /// Maximum nesting depth.
        limit: u8,
    },
    /// End of input in the middle of a message.
    Truncated,
    /// A batch or batch element that the machine does not accept.
    ///
    /// Either the machine or the revision does not support batches, or the batch contains an element that is not
    /// allowed.
    Batch,
    /// A batch without elements.
    EmptyBatch,
    /// A batch with so many requests that error responses to all of them might not fit into the transmit buffer.
    BatchTooLarge {
        /// Maximum number of requests in a batch, at the time when this batch arrived.
        limit: usize,
    },
    /// A message that is valid JSON but neither an object nor a batch.
    NotAnObject,
    /// A message whose `jsonrpc` is missing or not `"2.0"`.
    WrongJsonRpcVersion,
    /// An invalid or missing id.
    ///
    /// The id of a request is neither a string nor an integer, or a response has no valid id. For an error response
    /// without a valid id, see [`ErrorWithoutId`](ProtocolError::ErrorWithoutId).
    InvalidId,
    /// A request id that is longer than the limit.
    IdTooLong {
        /// Maximum length of an id in bytes, as written in the message.
        limit: usize,
    },
    /// A request with the id of another request in flight. The earlier request continues.
    DuplicateId,
    /// A message whose `method` is missing or not a string.
    InvalidMethod,
    /// An unknown method.
    ///
    /// The method does not exist, the revision lacks the method, or the receiver did not declare the method's
    /// capability.
    UnknownMethod,
    /// Parameters that do not match the method of the message.
    InvalidParams,
    /// A call of a tool that does not exist.
    UnknownTool,
    /// A request for a prompt that does not exist.
    UnknownPrompt,
    /// A request for a resource or template that does not exist.
    UnknownResource {
        /// Code of the error response: -32002, or -32602 since `2026-07-28`.
        code: i32,
    },
    /// A request that requires a capability of the client, but does not declare the capability (`2026-07-28`).
    MissingClientCapability,
    /// A subscription that exceeds the buffer for resource subscriptions.
    TooManySubscriptions {
        /// Size of the buffer in bytes. Each watched resource takes 15 bytes and the length of its URI. 0 if the server
        /// has no [subscription buffer](crate::Server::subscription_buffer).
        limit: usize,
    },
    /// A cursor that the receiver of the request did not issue.
    BadCursor,
    /// A request before `initialize`. With [`strict_handshake`](crate::server::ServerConfig::strict_handshake), also a
    /// request before `notifications/initialized`.
    NotInitialized,
    /// An `initialize` request in a batch, or in an open session that the server does not restart.
    AlreadyInitialized,
    /// A request for an unsupported revision. The error response names the supported revisions.
    UnsupportedRevision,
    /// A request that arrived while all slots for requests, or all slots for tasks, were taken.
    TooManyInFlight {
        /// Maximum number of requests in flight, or of tasks. 0 if the server has no
        /// [slots](crate::Server::in_flight).
        limit: usize,
    },
    /// A request that the application refused as [busy](crate::server::Reply::busy), although a slot is free. The
    /// machine emits no event.
    Busy,
    /// A request during shutdown.
    ShuttingDown,
    /// A response that matches no request in flight.
    UnknownResponse,
    /// A malformed response.
    ///
    /// The response has both a result and an error, or its error is not an object.
    MalformedResponse,
    /// An error response without a valid id. In most cases, the peer could not read a message.
    ErrorWithoutId {
        /// Code of the error. Zero if the code is not an integer or is out of range.
        code: i32,
    },
    /// A cancellation that matches no request in flight.
    ///
    /// In most cases, the cancellation crossed the response. The machine emits no event: see
    /// [`is_late`](ProtocolError::is_late).
    UnknownCancel,
    /// Progress of a request that has ended.
    ///
    /// The machine emits no event: see [`is_late`](ProtocolError::is_late).
    LateProgress,
    /// A progress notification whose token does not belong to a request with a progress token.
    UnknownProgress,
    /// A notification for a subscription, or for another request, that has ended.
    ///
    /// In most cases, the notification crossed the cancellation of the request. The machine emits no event: see
    /// [`is_late`](ProtocolError::is_late).
    LateNotification,
    /// A notification that matches no open subscription.
    ///
    /// The error also reports a change notification before the acknowledgment of its subscription, and a second
    /// acknowledgment.
    UnknownSubscription,
    /// A notification without a meaning for this role or revision.
    UnknownNotification,
    /// Too many consecutive error responses without an id.
    ///
    /// The machine sends no further error responses without an id until a valid message arrives. The limit does not
    /// apply to errors in a batch, or on a stream other than [`StreamId::NONE`](crate::StreamId::NONE).
    Muted,
    /// Application error: a request that a handler dropped without a response. The machine responded with an error.
    Unanswered,
    /// A deferred request whose timeout has expired. The machine responded with an error.
    TimedOut,
    /// Application error: a reply that exceeds its limit. The machine responded with an error.
    ReplyTooLarge {
        /// Maximum length of the reply in bytes.
        limit: usize,
    },
    /// Application error: a reply that is not valid JSON, or does not suit the request. The machine responded with an
    /// error.
    InvalidReply,
    /// Application error: an invalid request for input (`inputRequests`). The machine responded with an error.
    ///
    /// The method or revision does not permit input requests, a key repeats, or the handler passed neither inputs nor
    /// state.
    InvalidInputRequest,
    /// Application error: a static list that needs several pages, because the transmit buffer is too small. Some
    /// clients read only the first page.
    ///
    /// The machine responded with the first page. The error is not reported again for further pages.
    /// [`Tools::list_size`](crate::server::Tools::list_size) returns a sufficient size.
    ListSplit,
    /// Application error: list entries that are larger than a page, or have raw JSON that is not an object. The machine
    /// omitted these entries.
    EntriesOmitted {
        /// Number of omitted entries.
        count: usize,
    },
}

impl ProtocolError {
    /// Returns the code of the error response. Returns `INTERNAL_ERROR` if `code` returns `None`.
    pub(crate) fn response_code(&self) -> i32 {
        self.code().unwrap_or(code::INTERNAL_ERROR)
    }

    /// Returns whether the message is *late*: its request has ended. Messages of the two peers can cross, so a late
    /// message is no error of the peer. A cancellation of a request that never existed also counts as late.
    ///
    /// The machine emits no event for such a message. The machine reports the message to the
    /// [observer](crate::Observer) and, with the feature `alloc`, counts the message: `Server::late_messages`,
    /// `Client::late_messages`.
    #[must_use]
    pub fn is_late(&self) -> bool {
        matches!(
            self,
            ProtocolError::UnknownCancel | ProtocolError::LateProgress | ProtocolError::LateNotification
        )
    }

    /// Returns whether the application, not the peer, caused the error.
    #[must_use]
    pub fn is_application_error(&self) -> bool {
        matches!(
            self,
            ProtocolError::Unanswered
                | ProtocolError::ReplyTooLarge { .. }
                | ProtocolError::InvalidReply
                | ProtocolError::InvalidInputRequest
                | ProtocolError::ListSplit
                | ProtocolError::EntriesOmitted { .. }
        )
    }

    /// Returns the two parts of the error response's `message`.
    ///
    /// The first part is a prefix for the code, or empty. The second part is the description without numbers.
    pub(crate) fn message(&self) -> (&'static str, &'static str) {
        let prefix = match self.code() {
            _ if matches!(
                self,
                ProtocolError::TooManyInFlight { .. } | ProtocolError::TooManySubscriptions { .. }
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
}

impl From<Invalid> for ProtocolError {
    #[inline]
    fn from(why: Invalid) -> ProtocolError {
        match why {
            Invalid::Batch => ProtocolError::Batch,
            Invalid::NotAnObject => ProtocolError::NotAnObject,
            Invalid::Version => ProtocolError::WrongJsonRpcVersion,
            Invalid::Id => ProtocolError::InvalidId,
            Invalid::Method => ProtocolError::InvalidMethod,
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
            ProtocolError::TooManySubscriptions { limit } => {
                (" (at most ", *limit, " bytes of URIs)").pieces(put)
            }
            ProtocolError::ErrorWithoutId { code } => (" (code ", *code, ")").pieces(put),
            ProtocolError::EntriesOmitted { count } => (" (", *count, ")").pieces(put),
            _ => {}
        }
    }
}

/// Error in the configuration of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ConfigError {
    /// A transmit buffer that is too small for the machine's own messages.
    TxTooSmall {
        /// Required size in bytes.
        needed: usize,
    },
    /// A receive buffer that is too small for an oversized line's id.
    RxTooSmall {
        /// Required size in bytes.
        needed: usize,
    },
    /// A text buffer for requests in flight that is too small for their slots.
    TextTooSmall {
        /// Required size in bytes, for all slots. Zero for slots on the heap: [`Limits::id`](crate::server::Limits::id)
        /// is then too small.
        needed: usize,
    },
    /// New storage for requests in flight, although the current storage holds, or has held, requests. The machine
    /// continues to use the current storage.
    RequestsInFlight,
    /// Invalid raw JSON of the application, such as a schema.
    InvalidJson {
        /// Index of the catalog entry. On a client, the index counts the extensions, and then the experimental
        /// capabilities.
        entry: usize,
        /// The error in the JSON.
        error: ScanError,
    },
    /// Raw JSON of the application, such as a schema or `_meta`, that is valid but not an object.
    NotAnObject {
        /// Index, as in [`InvalidJson`](ConfigError::InvalidJson).
        entry: usize,
    },
    /// Entries with the same name.
    ///
    /// Two catalog entries have the same name, URI or URI template, or two arguments of one prompt have the same
    /// name. A name that occurs twice in a feature for extensions is also a duplicate.
    DuplicateName {
        /// Index of the second entry, or index of the prompt.
        entry: usize,
    },
    /// An entry that occurs in two features:
    ///
    /// - a name, URI or URI template in two features of one kind
    /// - an extension that two features declare with different settings
    /// - a filter member in two features for extensions
    /// - the extension of a second feature [`Skills`](crate::server::Skills)
    /// - `experimental` of a second feature [`Experimental`](crate::server::Experimental)
    RepeatedEntry {
        /// The name, URI, URI template or filter member.
        name: EntryName,
    },
    /// A feature with a dynamic list beside another feature of its kind. Only features with static lists can be joined.
    JoinedDynamicList,
    /// Resources with [`subscribe`](crate::server::Resources::subscribe), but without the feature
    /// [`Subscriptions`](crate::server::Subscriptions).
    SubscriptionsMissing,
    /// Two features [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions), or one beside
    /// [`Subscriptions`](crate::server::Subscriptions). One of the two features would have no effect.
    RepeatedSubscriptions,
    /// A URI template that the server cannot match.
    ///
    /// Braces must enclose names, as in `{name}` or `{+name}`. No `{name}` may follow a `{+name}`.
    InvalidTemplate {
        /// Index of the template.
        entry: usize,
    },
    /// An extension name without a prefix or with invalid characters.
    InvalidName {
        /// Index of the catalog entry.
        entry: usize,
    },
    /// An invalid annotation `x-mcp-header` in the input schema of a tool.
    InvalidToolHeader {
        /// Index of the tool.
        entry: usize,
        /// The rule that the annotation breaks.
        error: InvalidToolHeader,
    },
    /// A [streamed](crate::server::Tool::streamed) argument that is not a string in the input schema of its tool.
    InvalidStreamedArgument {
        /// Index of the tool.
        entry: usize,
    },
    /// An invalid skill.
    InvalidSkill {
        /// Index of the skill.
        entry: usize,
        /// The rule that the skill breaks.
        error: InvalidSkill,
    },
    /// A configuration without a protocol revision.
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
            ConfigError::RequestsInFlight => put("the storage has held requests: it cannot change"),
            ConfigError::InvalidJson { entry, error } => {
                ("the JSON of catalog entry ", *entry, " is not valid: ", error).pieces(put);
            }
            ConfigError::NotAnObject { entry } => {
                ("a schema or `_meta` of catalog entry ", *entry, " is not a JSON object").pieces(put);
            }
            ConfigError::InvalidTemplate { entry } => {
                let why = " is invalid: braces must enclose names";
                ("the URI template of catalog entry ", *entry, why).pieces(put);
            }
            ConfigError::DuplicateName { entry } => {
                ("catalog entry ", *entry, " has a duplicate name").pieces(put);
            }
            ConfigError::RepeatedEntry { name } => {
                ("two features have an entry `", name, "`: names and URIs must be unique").pieces(put);
            }
            ConfigError::JoinedDynamicList => {
                put("a feature with a dynamic list must be the only feature of its kind");
            }
            ConfigError::SubscriptionsMissing => {
                put("resources declare `subscribe`, but the server has no feature `Subscriptions`");
            }
            ConfigError::RepeatedSubscriptions => {
                put("`AuthorizedSubscriptions` must be the only feature for subscriptions");
            }
            ConfigError::InvalidName { entry } => {
                let why = " has an invalid name; a valid example is `com.example/name`";
                ("catalog entry ", *entry, why).pieces(put);
            }
            ConfigError::InvalidToolHeader { entry, error } => {
                ("the input schema of catalog entry ", *entry, ": ", error).pieces(put);
            }
            ConfigError::InvalidStreamedArgument { entry } => {
                let why = " needs the streamed argument as a property with the type `string`";
                ("the input schema of catalog entry ", *entry, why).pieces(put);
            }
            ConfigError::InvalidSkill { entry, error } => ("skill ", *entry, ": ", error).pieces(put),
            ConfigError::NoRevision => put("no protocol revision is enabled"),
        }
    }
}

errors!(ProtocolError, ConfigError);
