//! What can go wrong, for the host to tell apart.

use std::fmt;
use std::io;
use std::process::ExitStatus;

use mcp_proto::json::Json;
use mcp_proto::{ConfigError, client};

/// Why a server cannot run.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// It is not set up well.
    Setup(ConfigError),
    /// A thread cannot be started, or a stream not be prepared.
    Io(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Setup(misuse) => misuse.fmt(f),
            ServeError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<ConfigError> for ServeError {
    fn from(misuse: ConfigError) -> Self {
        ServeError::Setup(misuse)
    }
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        ServeError::Io(error)
    }
}

/// Why a client is not connected.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// It is not set up well.
    Setup(ConfigError),
    /// The server cannot be started, or a thread.
    Io(io::Error),
    /// The server has refused to connect.
    Refused(PeerError),
    /// The server speaks no revision that the client does. What it answered, as JSON.
    NoCommonRevision(String),
    /// The server's answer is none.
    InvalidResponse,
    /// The server did not answer in time.
    TimedOut,
    /// The connection ended first. With how the process ended, if the server is one.
    Closed(Option<ExitStatus>),
}

impl ConnectError {
    pub(crate) fn from_failure(failure: client::ConnectFailure<'_>) -> ConnectError {
        use client::ConnectFailure;
        match failure {
            ConnectFailure::NoRevision => ConnectError::Setup(ConfigError::NoRevision),
            ConnectFailure::NoCommonRevision(answer) => ConnectError::NoCommonRevision(answer.to_string()),
            ConnectFailure::Refused(error) => ConnectError::Refused(PeerError::from_rpc(error)),
            ConnectFailure::TimedOut => ConnectError::TimedOut,
            ConnectFailure::Closed => ConnectError::Closed(None),
            _ => ConnectError::InvalidResponse,
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::Setup(misuse) => misuse.fmt(f),
            ConnectError::Io(error) => error.fmt(f),
            ConnectError::Refused(error) => write!(f, "the server refused to connect: {error}"),
            ConnectError::NoCommonRevision(answer) => {
                write!(f, "the server speaks no revision that the client does; it answered {answer}")
            }
            ConnectError::InvalidResponse => {
                f.write_str("the server's answer to the request to connect is not valid")
            }
            ConnectError::TimedOut => f.write_str("the server did not answer in time"),
            ConnectError::Closed(None) => f.write_str("the connection ended before the server answered"),
            ConnectError::Closed(Some(status)) => write!(f, "the server ended before it answered ({status})"),
        }
    }
}

impl std::error::Error for ConnectError {}

impl From<ConfigError> for ConnectError {
    fn from(misuse: ConfigError) -> Self {
        ConnectError::Setup(misuse)
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        ConnectError::Io(error)
    }
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The server has answered with an error.
    Server(PeerError),
    /// It took too long. The server was told that it is cancelled.
    TimedOut,
    /// It was cancelled on this side.
    Cancelled,
    /// The connection is over.
    Closed,
    /// As many requests wait as there may be.
    Busy,
    /// The server does not offer it.
    Unsupported,
    /// The server needs something first that the host has refused (`2026-07-28`). With why. The server was told that the
    /// request is cancelled.
    Declined(String),
    /// The request cannot be sent as it is, or the answer cannot be used. With what is wrong.
    Invalid(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Server(error) => error.fmt(f),
            CallError::TimedOut => f.write_str("no answer in time"),
            CallError::Cancelled => f.write_str("cancelled"),
            CallError::Closed => f.write_str("the connection is over"),
            CallError::Busy => f.write_str("too many requests at once"),
            CallError::Unsupported => f.write_str("the server does not offer this"),
            CallError::Declined(why) => write!(f, "the server needs something that was refused: {why}"),
            CallError::Invalid(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CallError {}

/// An error that the other side has answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerError {
    /// Its code; 0 if it has none.
    pub code: i64,
    /// What it says.
    pub message: String,
    /// More about it, as JSON.
    pub data: Option<String>,
}

impl PeerError {
    pub(crate) fn from_rpc(error: client::RpcError<'_>) -> PeerError {
        PeerError {
            code: error.code(),
            message: error.message().map(|message| message.to_string()).unwrap_or_default(),
            data: error.data().map(|data: Json<'_>| data.to_string()),
        }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for PeerError {}
