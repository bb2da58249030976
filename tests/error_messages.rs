//! The `Display` output of `ProtocolError`, `ConfigError`, `SendError` and `RequestFailure`.
use mcp_proto::{ConfigError, InvalidToolHeader, ProtocolError, RequestFailure, SendError};

#[track_caller]
fn says(rows: &[(&dyn core::fmt::Display, &str)]) {
    for (error, text) in rows {
        assert_eq!(error.to_string(), *text);
    }
}

#[test]
fn local_protocol_errors_describe_the_cause() {
    says(&[
        (&ProtocolError::Truncated, "the input ended in the middle of a message"),
        (&ProtocolError::UnknownResponse, "a response that matches no request in flight"),
        (&ProtocolError::MalformedResponse, "a response needs either a result or an error"),
        (
            &ProtocolError::ErrorWithoutId { code: -32700 },
            "the peer reported an error without a request id (code -32700)",
        ),
        (&ProtocolError::UnknownCancel, "a cancellation that matches no request in flight"),
        (&ProtocolError::LateProgress, "progress of a request that has ended"),
        (&ProtocolError::LateNotification, "a notification of a subscription that has ended"),
        (&ProtocolError::UnknownProgress, "progress that matches no request in flight"),
        (&ProtocolError::UnknownSubscription, "a notification that matches no open subscription"),
        (&ProtocolError::UnknownNotification, "a notification without meaning for this role or revision"),
        (&ProtocolError::Muted, "too many errors without an id in a row; further ones are not sent"),
        (
            &ProtocolError::EntriesOmitted { count: 3 },
            "list entries that are too large for a page were omitted (3)",
        ),
    ]);
}

#[test]
fn sent_protocol_errors_name_kind_and_limit() {
    says(&[
        (
            &ProtocolError::LineTooLong { limit: 256 },
            "Invalid request: the message is too long (at most 256 bytes)",
        ),
        (
            &ProtocolError::TooDeep { limit: 8 },
            "Invalid request: the message is nested too deeply (at most 8 levels)",
        ),
        (&ProtocolError::TooManyInFlight { limit: 1 }, "Too many requests in flight (at most 1)"),
        (
            &ProtocolError::TooManySubscriptions { limit: 64 },
            "Too many resource subscriptions (at most 64 bytes of URIs)",
        ),
        (
            &ProtocolError::ReplyTooLarge { limit: 640 },
            "Internal error: the response is too large (at most 640 bytes)",
        ),
        (&ProtocolError::NotInitialized, "Invalid request: send `initialize` first"),
    ]);
}

#[test]
fn config_errors_name_the_need_or_the_entry() {
    let needed = 100;
    says(&[
        (
            &ConfigError::TxTooSmall { needed },
            "the transmit buffer is too small: it needs 100 bytes for the largest message",
        ),
        (&ConfigError::RxTooSmall { needed }, "the receive buffer is too small: it needs at least 100 bytes"),
        (
            &ConfigError::TextTooSmall { needed },
            "the text buffer for requests in flight is too small: it needs 100 bytes",
        ),
        (
            &ConfigError::NotAnObject { entry: 2 },
            "a schema or `_meta` of catalog entry 2 is not a JSON object",
        ),
        (
            &ConfigError::InvalidTemplate { entry: 2 },
            "the URI template of catalog entry 2 is invalid: braces must enclose names",
        ),
        (&ConfigError::DuplicateName { entry: 2 }, "catalog entry 2 has a duplicate name"),
        (
            &ConfigError::InvalidName { entry: 2 },
            "catalog entry 2 has an invalid name; a valid example is `com.example/name`",
        ),
        (
            &ConfigError::InvalidToolHeader { entry: 2, error: InvalidToolHeader::Type },
            "the input schema of catalog entry 2: a property with `x-mcp-header` must have the type `string`, \
             `integer` or `boolean`",
        ),
        (&ConfigError::NoRevision, "no protocol revision is enabled"),
        (&ConfigError::RequestsInFlight, "the storage has held requests: it cannot change"),
    ]);
}

#[test]
fn send_errors_name_the_reason() {
    says(&[
        (&SendError::Busy, "the transmit buffer has too little space"),
        (&SendError::Gone, "the request has ended"),
        (&SendError::Full, "all slots for requests in flight are taken"),
        (&SendError::NotConnected, "not connected"),
        (&SendError::Unwritable, "the message is too large"),
        (&SendError::Invalid, "the message is not valid"),
        (&SendError::Unsupported, "the peer does not support the message"),
        (&SendError::NotWanted, "the peer did not request the notification"),
    ]);
}

#[test]
fn request_failures_name_the_reason() {
    says(&[
        (&RequestFailure::TimedOut, "no response in time"),
        (&RequestFailure::Closed, "the connection is closed"),
        (&RequestFailure::Ended, "the server ended the subscription"),
        (&RequestFailure::TooLong, "the response is longer than the receive buffer"),
        (&RequestFailure::Invalid, "the response is invalid"),
        (&RequestFailure::EndlessList, "the list does not end"),
        (&RequestFailure::CursorTooLong, "a list cursor is too long to store"),
        (&RequestFailure::StateTooLong, "the request state or its `_meta` is too long to store"),
        (&RequestFailure::TooManyInputRequests, "the server required input too often"),
    ]);
}
