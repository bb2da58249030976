//! How a request of our own has ended, in either role.
#![allow(clippy::as_conversions, reason = "constants, and `From` is not")]

use crate::client::OpenUrl;
use crate::json::{Json, Kind, Str, WriteText, prints};
use crate::protocol::revision::Era;
use crate::rpc::code;

const RESOURCE_NOT_FOUND: i64 = code::RESOURCE_NOT_FOUND as i64;
const INVALID_PARAMS: i64 = code::INVALID_PARAMS as i64;

/// How a request has ended.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// With a result: an object.
    Result(Json<'a>),
    /// With an error of the peer's.
    Error(RpcError<'a>),
    /// Without an answer.
    Failed(RequestFailure),
}

/// Why a request has ended without an answer. None of this was said by the peer, and none of it has a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestFailure {
    /// It took too long. The peer was told that it is cancelled.
    TimedOut,
    /// The connection is over.
    Closed,
    /// The server has ended a subscription (`2026-07-28`).
    Ended,
    /// The answer was longer than the receive buffer.
    TooLong,
    /// The answer is not one: neither result nor error, or not of the kind that the request asked for.
    Invalid,
    /// The list does not end: it repeats a cursor, or has more pages than the limit.
    EndlessList,
    /// A cursor is longer than what can be kept of it.
    CursorTooLong,
    /// The server has asked for input, and there is too little room to keep its state, or what the host wants in `_meta`,
    /// until the request is sent again (`2026-07-28`).
    StateTooLong,
    /// The server has asked for input too often (`2026-07-28`).
    TooManyRounds,
}

impl WriteText for RequestFailure {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            RequestFailure::TimedOut => "no answer in time",
            RequestFailure::Closed => "the connection is over",
            RequestFailure::Ended => "the server has ended it",
            RequestFailure::TooLong => "the answer is longer than the receive buffer",
            RequestFailure::Invalid => "the answer is not valid",
            RequestFailure::EndlessList => "the list does not end",
            RequestFailure::CursorTooLong => "a cursor of the list is too long to be kept",
            RequestFailure::StateTooLong => {
                "the state of the request, or its `_meta`, is too long to be kept"
            }
            RequestFailure::TooManyRounds => "the server has asked for input too often",
        });
    }
}

/// An error that the peer has answered with.
#[derive(Debug, Clone, Copy)]
pub struct RpcError<'a> {
    pub(crate) error: Json<'a>,
    /// The era in which it was said, once that is known.
    pub(crate) era: Option<Era>,
}

/// What an error probably means, beyond what its code is defined to mean.
///
/// Code, message and data stay as the peer wrote them: this is for a message to a person, not for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorHint {
    /// -32000: there is no such tool.
    ToolNotFound,
    /// -32001: the tool has failed.
    ToolFailed,
    /// There is no such resource, which the specification has codes for: see
    /// [`is_resource_not_found`](RpcError::is_resource_not_found).
    ResourceNotFound,
    /// -32003: the resource may not be read.
    AccessDenied,
    /// -32004: there is no such prompt.
    PromptNotFound,
    /// -32005: too many requests.
    RateLimited,
}

impl<'a> RpcError<'a> {
    /// Its code; 0 if it has none.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.error.get("code").and_then(Json::integer).unwrap_or(0)
    }

    /// What it says.
    #[must_use]
    pub fn message(&self) -> Option<Str<'a>> {
        self.error.get("message")?.string()
    }

    /// Whether it says that there is no such resource: `-32002`, or, as in `2026-07-28`, wrong parameters and the `uri` that
    /// they had.
    ///
    /// Specification: *Resources*, *Error handling*.
    #[must_use]
    pub fn is_resource_not_found(&self) -> bool {
        let named = || self.data()?.get("uri")?.string();
        match self.code() {
            RESOURCE_NOT_FOUND => true,
            INVALID_PARAMS => named().is_some(),
            _ => false,
        }
    }

    /// What it probably means, where servers use codes that the specification leaves open. `2026-07-28` forbids to read
    /// anything into those, so there is only [`ErrorHint::ResourceNotFound`] there; and there is none while connecting.
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

    /// The capabilities that the client would have to declare, if that is what is wrong (-32021, `2026-07-28`): an object
    /// like that of the declaration.
    #[must_use]
    pub fn required_capabilities(&self) -> Option<Json<'a>> {
        let is_it = self.code() == i64::from(code::MISSING_CLIENT_CAPABILITY);
        self.data().filter(|_| is_it)?.get("requiredCapabilities").filter(|it| it.kind() == Kind::Object)
    }

    /// The addresses that the user has to open before the request is made again, if that is what is wrong (-32042,
    /// `2025-11-25`).
    pub fn url_elicitations(&self) -> impl Iterator<Item = OpenUrl<'a>> {
        let is_it = self.code() == i64::from(code::URL_ELICITATION_REQUIRED);
        let listed = self.data().filter(|_| is_it).and_then(|data| data.get("elicitations"));
        let listed = listed.unwrap_or(Json::NULL).elements();
        listed.filter(|params| OpenUrl::is_one(*params)).map(OpenUrl::from_json)
    }

    /// More about it.
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
    fn what_a_client_would_have_to_declare() {
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
    fn what_a_user_has_to_open_first() {
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
