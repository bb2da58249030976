//! Table of protocol errors: the code and the text of each error response.
#![allow(
    clippy::as_conversions,
    clippy::enum_variant_names,
    reason = "the index of a line is a small number, and errors have their names"
)]

use crate::error::ProtocolError;
use crate::json::text_of;
use crate::rpc::code;

/// Defines a function that returns the description of an error, and an empty string for all errors that the table
/// omits.
///
/// The descriptions are the lines of one text, because a text for each error takes more flash.
macro_rules! descriptions {
    ($(#[$docs:meta])* fn $name:ident; $($error:ident = $text:literal,)*) => {
        $(#[$docs])*
        pub(super) fn $name(&self) -> &'static str {
            enum Line {
                $($error,)*
                Other,
            }
            let line = match self {
                $(ProtocolError::$error { .. } => Line::$error,)*
                _ => Line::Other,
            };
            nth_line(concat!($($text, "\n"),*), line as u8)
        }
    };
}

/// Defines a function that returns the code of an error with a response, and a function that returns its description.
macro_rules! responses {
    (
        $(#[$docs:meta])* fn $name:ident;
        $($code:expr => { $($error:ident $({ $field:ident })? = $text:literal,)* })*
    ) => {
        $(#[$docs])*
        #[must_use]
        pub fn $name(&self) -> Option<i32> {
            Some(match self {
                $($(ProtocolError::$error { $($field,)? .. })|* => $code,)*
                _ => return None,
            })
        }

        descriptions! {
            /// Returns the description for the error response. Returns an empty string for errors without a response.
            fn response_text;
            $($($error = $text,)*)*
        }
    };
}

impl ProtocolError {
    responses! {
        /// Returns the code of the error response to the peer. Returns `None` if the machine never responds with this
        /// error.
        ///
        /// A code does not prove that the machine sent a response. The machine never sends an error response to a
        /// notification or a response. Of all messages that are not valid JSON-RPC requests, a client responds only to
        /// unreadable requests with an intact id: requests that are too long, nested too deeply, or not valid JSON. In
        /// `2026-07-28`, a client sends no response at all.
        fn code;
        code::PARSE_ERROR => {
            NotJson = "the message is not valid JSON",
        }
        code::INVALID_REQUEST => {
            LineTooLong = "the message is too long",
            TooDeep = "the message is nested too deeply",
            Batch = "batches are not supported",
            EmptyBatch = "the batch is empty",
            BatchTooLarge = "the batch has too many requests",
            NotAnObject = "the message is not a JSON object",
            WrongJsonRpcVersion = "`jsonrpc` must be \"2.0\"",
            InvalidId = "`id` must be a string or an integer",
            IdTooLong = "`id` is too long",
            DuplicateId = "a request with this id is still in flight",
            InvalidMethod = "`method` must be a string",
            NotInitialized = "send `initialize` first",
            AlreadyInitialized = "the session is already initialized",
            ShuttingDown = "the receiver is shutting down",
        }
        code::METHOD_NOT_FOUND => {
            UnknownMethod = "Method not found",
        }
        code::INVALID_PARAMS => {
            InvalidParams = "Invalid params",
            UnknownTool = "Unknown tool",
            UnknownPrompt = "Unknown prompt",
            BadCursor = "Invalid params: unknown cursor",
        }
        *code => {
            UnknownResource { code } = "Resource not found",
        }
        code::MISSING_CLIENT_CAPABILITY => {
            MissingClientCapability = "Missing required client capability",
        }
        code::UNSUPPORTED_PROTOCOL_VERSION => {
            UnsupportedRevision = "Unsupported protocol version",
        }
        code::INTERNAL_ERROR => {
            TooManyInFlight = "Too many requests in flight",
            TooManySubscriptions = "Too many resource subscriptions",
            Busy = "the server is busy",
            Unanswered = "the request was dropped without a response",
            TimedOut = "the request timed out",
            ReplyTooLarge = "the response is too large",
            InvalidReply = "the response is invalid",
            InvalidInputRequest = "the server cannot request this input",
        }
    }

    descriptions! {
        /// Returns the description of an error without a response. Returns an empty string for an error with a
        /// response.
        fn local_text;
        Truncated = "the input ended in the middle of a message",
        UnknownResponse = "a response that matches no request in flight",
        MalformedResponse = "a response needs either a result or an error",
        ErrorWithoutId = "the peer reported an error without a request id",
        UnknownCancel = "a cancellation that matches no request in flight",
        LateProgress = "progress of a request that has ended",
        LateNotification = "a notification of a subscription that has ended",
        UnknownProgress = "progress that matches no request in flight",
        UnknownSubscription = "a notification that matches no open subscription",
        UnknownNotification = "a notification without meaning for this role or revision",
        Muted = "too many errors without an id in a row; further ones are not sent",
        ListSplit = "the transmit buffer is too small for a whole list",
        EntriesOmitted = "list entries that are too large for a page were omitted",
    }
}

#[inline(never)]
fn nth_line(text: &'static str, index: u8) -> &'static str {
    text_of(text.as_bytes().split(|byte| *byte == b'\n').nth(index.into()).unwrap_or_default())
}
