//! Outcome of an outbound request, in either role: a result, an error or a failure.

use crate::json::{Json, Kind, Str, WriteText, prints};
use crate::protocol::elicitation::OpenUrlView;
use crate::protocol::revision::Era;
use crate::rpc::code;

/// Outcome of an outbound request.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// The peer responded with a result, an object.
    Result(Json<'a>),
    /// The peer responded with an error.
    Error(RpcError<'a>),
    /// The request ended without a valid response.
    Failed(RequestFailure),
}

/// Reason why a request ended without a valid response. The machine determines the reason, so a failure has no error
/// code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RequestFailure {
    /// The timeout, or the maximum duration of a client's request, expired. If the peer has not responded yet, the
    /// machine cancels the request.
    TimedOut,
    /// The connection, the session, or the [stream](crate::Receive::stream_closed) of the request was closed.
    Closed,
    /// The server ended the subscription (`2026-07-28`).
    Ended,
    /// The response was longer than the receive buffer, or than its share of the buffer of
    /// [`InputRequests`](crate::server::InputRequests).
    TooLong,
    /// The response was invalid. For example, the response is not JSON, or has neither a result nor an error.
    Invalid,
    /// The list does not end: the server repeated a cursor, or sent more pages than the limit.
    EndlessList,
    /// A cursor of the list was too long to store or to send.
    CursorTooLong,
    /// The server required input, but its `requestState` or the application's `_meta` is too long to store
    /// (`2026-07-28`). The client needs both to send the request again. For a task, the failure has other causes: the
    /// id or the input requests of the task are too long to store, or a message about the task does not fit into the
    /// transmit buffer.
    StateTooLong,
    /// The server required input more often than the limit (`2026-07-28`).
    TooManyInputRequests,
    /// The server reported that the task of the call was cancelled. The application of this client did not cancel the
    /// task.
    TaskCancelled,
}

impl WriteText for RequestFailure {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            RequestFailure::TimedOut => "no response in time",
            RequestFailure::Closed => "the connection is closed",
            RequestFailure::Ended => "the server ended the subscription",
            RequestFailure::TooLong => "the response is longer than the receive buffer",
            RequestFailure::Invalid => "the response is invalid",
            RequestFailure::EndlessList => "the list does not end",
            RequestFailure::CursorTooLong => "a list cursor is too long to store",
            RequestFailure::StateTooLong => "the request state or its `_meta` is too long to store",
            RequestFailure::TooManyInputRequests => "the server required input too often",
            RequestFailure::TaskCancelled => "the task was cancelled",
        });
    }
}

/// An error response of the peer.
#[derive(Debug, Clone, Copy)]
pub struct RpcError<'a> {
    pub(crate) error: Json<'a>,
    /// Era of the connection. `None` while connecting.
    pub(crate) era: Option<Era>,
}

/// Probable meaning of an error code that the specification leaves open.
///
/// A hint is for messages to a person, not for decisions. The error keeps its code, message and data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ErrorHint {
    /// -32000: the tool does not exist.
    ToolNotFound,
    /// -32001: the tool failed.
    ToolFailed,
    /// The resource does not exist. The specification defines codes for this error: see
    /// [`is_resource_not_found`](RpcError::is_resource_not_found).
    ResourceNotFound,
    /// -32003: access to the resource is denied.
    AccessDenied,
    /// -32004: the prompt does not exist.
    PromptNotFound,
    /// -32005: too many requests.
    RateLimited,
}

impl<'a> RpcError<'a> {
    /// Returns the error code; 0 if the code is missing or not an integer.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.error.get("code").and_then(Json::integer).unwrap_or(0)
    }

    /// Returns the error message. Returns `None` if the peer sent no valid message.
    #[must_use]
    pub fn message(&self) -> Option<Str<'a>> {
        self.error.get("message")?.string()
    }

    /// Returns whether the error means that a resource does not exist.
    ///
    /// Up to `2025-11-25`, the code of such an error is `-32002`. In `2026-07-28`, the code is `-32602`, and `data` has
    /// a string `uri`. This function does not check the revision.
    ///
    /// Specification: *Resources*, *Error handling*.
    #[must_use]
    pub fn is_resource_not_found(&self) -> bool {
        let uri = self.data().and_then(|data| data.get("uri")).and_then(Json::string);
        self.code() == i64::from(code::RESOURCE_NOT_FOUND)
            || self.code() == i64::from(code::INVALID_PARAMS) && uri.is_some()
    }

    /// Returns the probable meaning of an error code that the specification leaves open.
    ///
    /// Returns `None` while connecting, and for codes without a known meaning. `2026-07-28` forbids the interpretation
    /// of codes that the specification leaves open, so the only hint in this revision is
    /// [`ErrorHint::ResourceNotFound`].
    #[must_use]
    pub fn hint(&self) -> Option<ErrorHint> {
        Some(match (self.era?, self.code()) {
            _ if self.is_resource_not_found() => ErrorHint::ResourceNotFound,
            (Era::Stateless, _) => return None,
            (Era::Handshake, -32000) => ErrorHint::ToolNotFound,
            (Era::Handshake, -32001) => ErrorHint::ToolFailed,
            (Era::Handshake, -32003) => ErrorHint::AccessDenied,
            (Era::Handshake, -32004) => ErrorHint::PromptNotFound,
            (Era::Handshake, -32005) => ErrorHint::RateLimited,
            (Era::Handshake, _) => return None,
        })
    }

    /// Returns the client capabilities that the request requires (-32021, `2026-07-28`). The value is an object in the
    /// form of a capability declaration. Returns `None` for other errors, or without such an object.
    #[must_use]
    pub fn required_capabilities(&self) -> Option<Json<'a>> {
        let has_code = self.code() == i64::from(code::MISSING_CLIENT_CAPABILITY);
        self.data()
            .filter(|_| has_code)?
            .get("requiredCapabilities")
            .filter(|value| value.kind() == Kind::Object)
    }

    /// Returns the URLs that the user must open before the client sends the request again (-32042, `2025-11-25`). The
    /// iterator is empty for other errors.
    pub fn url_elicitations(&self) -> impl Iterator<Item = OpenUrlView<'a>> {
        let has_code = self.code() == i64::from(code::URL_ELICITATION_REQUIRED);
        let listed = self.data().filter(|_| has_code).and_then(|data| data.get("elicitations"));
        let listed = listed.unwrap_or(Json::NULL).elements();
        listed.filter(|params| OpenUrlView::is_valid(*params)).map(OpenUrlView::from_json)
    }

    /// Returns the error object.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.error
    }

    /// Returns the `data` of the error. Returns `None` if the peer sent no data.
    #[must_use]
    pub fn data(&self) -> Option<Json<'a>> {
        self.error.get("data")
    }
}

impl WriteText for RpcError<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        match self.message() {
            Some(message) => (message, " (", self.code(), ")").pieces(put),
            None => ("error ", self.code()).pieces(put),
        }
    }
}

prints!(RequestFailure, RpcError<'_>);

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    fn error(text: &str) -> RpcError<'_> {
        RpcError { error: Json::parse(text.as_bytes()).unwrap(), era: None }
    }

    #[test]
    fn required_capabilities_need_their_error_code() {
        let cases = [
            (
                r#"{"code":-32021,"data":{"requiredCapabilities":{"sampling":{}}}}"#,
                Some(r#"{"sampling":{}}"#),
            ),
            (r#"{"code":-32021,"data":{"requiredCapabilities":["sampling"]}}"#, None),
            (r#"{"code":-32021}"#, None),
            (r#"{"code":-32020,"data":{"requiredCapabilities":{}}}"#, None),
        ];
        for (text, expected) in cases {
            assert_eq!(error(text).required_capabilities().map(Json::raw), expected, "{text}");
        }
    }

    #[test]
    fn url_elicitations_need_their_error_code() {
        let listed = r#"{"elicitations":[{"mode":"url","message":"m","url":"https://a/","elicitationId":"1"},{"message":"m"},7,{"message":"n","url":"https://b/"}]}"#;
        for (code, expected) in [(-32042, &["https://a/ Some(\"1\")", "https://b/ None"][..]), (-32602, &[])]
        {
            let text = std::format!(r#"{{"code":{code},"data":{listed}}}"#);
            let found: Vec<_> = error(&text)
                .url_elicitations()
                .map(|open| std::format!("{} {:?}", open.url(), open.elicitation_id()))
                .collect();
            assert_eq!(found, expected, "{code}");
        }
        assert_eq!(error(r#"{"code":-32042}"#).url_elicitations().count(), 0);
        assert_eq!(error(r#"{"code":1,"message":"m"}"#).to_string(), "m (1)");
    }
}
