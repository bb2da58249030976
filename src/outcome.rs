//! How a request of our own has ended, in either role.

use crate::json::{Json, Str};

/// How a request has ended.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// With a result: an object.
    Result(Json<'a>),
    /// With an error of the peer's.
    Error(RpcError<'a>),
    /// Without an answer.
    Lost(Lost),
}

/// Why a request has ended without an answer. None of this was said by the peer, and none of it has a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lost {
    /// It took too long. The peer was told that it is cancelled.
    TimedOut,
    /// The connection is over.
    Closed,
    /// The answer was longer than the receive buffer.
    TooLong,
    /// The answer is not one: neither result nor error, or not of the kind that the request asked for.
    Invalid,
    /// The list does not end: it repeats a cursor, or has more pages than the limit.
    EndlessList,
    /// A cursor is longer than what can be kept of it.
    CursorTooLong,
    /// The server has asked for input, and its state is longer than what can be kept of it (`2026-07-28`).
    StateTooLong,
    /// The server has asked for input too often (`2026-07-28`).
    TooManyRounds,
}

impl core::fmt::Display for Lost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Lost::TimedOut => "no answer in time",
            Lost::Closed => "the connection is over",
            Lost::TooLong => "the answer is longer than the receive buffer",
            Lost::Invalid => "the answer is not valid",
            Lost::EndlessList => "the list does not end",
            Lost::CursorTooLong => "a cursor of the list is too long to be kept",
            Lost::StateTooLong => "the state of the request is too long to be kept",
            Lost::TooManyRounds => "the server has asked for input too often",
        })
    }
}

/// An error that the peer has answered with.
#[derive(Debug, Clone, Copy)]
pub struct RpcError<'a> {
    pub(crate) error: Json<'a>,
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

    /// More about it.
    #[must_use]
    pub fn data(&self) -> Option<Json<'a>> {
        self.error.get("data")
    }
}

impl core::fmt::Display for RpcError<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.message() {
            Some(message) => write!(f, "{message} ({})", self.code()),
            None => write!(f, "error {}", self.code()),
        }
    }
}
