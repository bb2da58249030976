//! Errors of servers, connections and requests.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::process::ExitStatus;

use mcp_proto::json::Json;
use mcp_proto::{ConfigError, WriteText, client};

use crate::cancellation::Cancelled;
use crate::http_failure::HttpFailure;
use crate::outbound_request::RequestError;
use crate::printable::Printable;

/// The reason why a server cannot run. `Debug` prints the same text as `Display`, for a readable `unwrap` or `main`.
#[non_exhaustive]
pub enum ServeError {
    /// The configuration is invalid.
    Setup(ConfigError),
    /// A thread cannot be started, a stream cannot be prepared, or the listener has failed.
    Io(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Setup(error) => write!(f, "the server cannot be set up: {error}{}", advice(error)),
            ServeError::Io(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ServeError {}

/// The end of an error text, for a message that is longer than this number of bytes.
pub(crate) struct LongerThan(pub(crate) usize);

impl fmt::Display for LongerThan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is longer than the receive buffer (at most {} bytes); raise `longest_line`", self.0)
    }
}

/// Returns the end of an error text: the setting that corrects the error. Returns an empty text if no setting corrects
/// the error.
fn advice(error: &ConfigError) -> &'static str {
    match error {
        ConfigError::TxTooSmall { .. } => {
            "; raise `longest_answer` of a server, or `longest_request` of a client"
        }
        ConfigError::RxTooSmall { .. } => "; raise `longest_line`",
        _ => "",
    }
}

impl From<ConfigError> for ServeError {
    fn from(error: ConfigError) -> Self {
        ServeError::Setup(error)
    }
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        ServeError::Io(error)
    }
}

/// Adds the name of the program to the error of a process that cannot be started.
pub fn spawn_error(program: &OsStr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot start `{}`: {error}", program.display()))
}

/// The reason why a client could not connect. `Debug` prints the same text as `Display`, for a readable `unwrap` or
/// `main`.
#[non_exhaustive]
pub enum ConnectError {
    /// The configuration is invalid.
    Setup(ConfigError),
    /// The server process or a thread cannot be started, or the stream cannot be opened or prepared.
    Io(io::Error),
    /// The server responded to the connecting request, such as `initialize`, with an error.
    Refused(PeerError),
    /// Server and client have no common revision. Contains the server's response as JSON.
    NoCommonRevision(String),
    /// The server's response is invalid.
    InvalidResponse,
    /// The server's response is longer than the receive buffer.
    ResponseTooLong {
        /// Maximum length of a server message in bytes: `longest_line` of the connector.
        limit: usize,
    },
    /// The timeout for connecting expired.
    TimedOut,
    /// The connection closed before the handshake was complete. Contains the exit status of a child process, if there
    /// is one.
    Closed(Option<ExitStatus>),
    /// The server did not respond, and wrote a line that is not a message. Perhaps the program is not an MCP server, or
    /// the server prints text to stdout.
    InvalidOutput {
        /// The beginning of the first line that is not a message.
        line: String,
        /// [`TimedOut`](ConnectError::TimedOut) or [`Closed`](ConnectError::Closed).
        error: Box<ConnectError>,
    },
    /// The server refused an HTTP request, cannot be reached, or sent no usable response.
    Http(Box<HttpFailure>),
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
            ConnectFailure::ResponseTooLong { limit } => ConnectError::ResponseTooLong { limit },
            _ => ConnectError::InvalidResponse,
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::Setup(error) => write!(f, "the client cannot be set up: {error}{}", advice(error)),
            ConnectError::Io(error) => error.fmt(f),
            ConnectError::Refused(error) => write!(f, "the server refused to connect: {error}"),
            ConnectError::NoCommonRevision(answer) => {
                write!(
                    f,
                    "server and client have no protocol revision in common; the server responded {}",
                    Printable(answer)
                )
            }
            ConnectError::InvalidResponse => f.write_str("the server's response to the handshake is invalid"),
            ConnectError::ResponseTooLong { limit } => {
                write!(f, "the server's response to the handshake {}", LongerThan(*limit))
            }
            ConnectError::TimedOut => f.write_str("the server did not respond in time"),
            ConnectError::Closed(None) => f.write_str("the connection closed before the server responded"),
            ConnectError::Closed(Some(status)) => {
                write!(f, "the server exited before it responded ({status})")
            }
            ConnectError::InvalidOutput { line, error } => {
                write!(f, "{error}; the server wrote a line that is not a message: `{}`", Printable(line))
            }
            ConnectError::Http(failure) => failure.fmt(f),
        }
    }
}

impl fmt::Debug for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConnectError {}

impl From<ConfigError> for ConnectError {
    fn from(error: ConfigError) -> Self {
        ConnectError::Setup(error)
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        ConnectError::Io(error)
    }
}

/// The reason why a request has no result.
///
/// A failure of a tool is a result that the model reads: the `is_error` of the result is `true`. With a server of this
/// project, the mistakes in a tool call have these outcomes:
///
/// | mistake | outcome |
/// |---|---|
/// | arguments that are not a JSON object | `Invalid`, and nothing is sent |
/// | the server has no tools | `Unsupported`, and nothing is sent |
/// | an unknown tool | `Server`, -32602 |
/// | arguments that do not match the struct of a tool, since 2025-11-25 | a result with `is_error` |
/// | arguments that do not match the struct of a tool, before 2025-11-25 | `Server`, -32602 |
/// | the tool returns `Err` | a result with `is_error` |
/// | the tool panics on a worker or a task | `Server`, -32603 |
/// | the result exceeds the server's limit | `Server`, -32603 |
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The server responded with an error.
    Server(PeerError),
    /// The timeout expired. If the request was sent, the client has cancelled it.
    TimedOut,
    /// The application cancelled the request, or the server reported its task as cancelled.
    Cancelled,
    /// The connection is closed.
    Closed,
    /// The limits of requests in flight and of requests that wait to be sent are reached.
    Busy,
    /// The server, the client or the revision does not support the feature.
    Unsupported,
    /// The application refused input that the server requires (`2026-07-28`). Contains the reason. The client has
    /// cancelled the request.
    Declined(String),
    /// The request cannot be sent, or the response cannot be used, for the given reason.
    Invalid(String),
    /// The server refused the HTTP request, cannot be reached, or sent no usable response. Other requests continue.
    Http(Box<HttpFailure>),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Server(error) => error.fmt(f),
            CallError::TimedOut => f.write_str("the server did not respond in time"),
            CallError::Cancelled => f.write_str("the request was cancelled"),
            CallError::Closed => f.write_str("the connection is closed"),
            CallError::Busy => f.write_str("too many concurrent requests"),
            CallError::Unsupported => f.write_str("the server or the revision does not support this request"),
            CallError::Declined(reason) => {
                write!(f, "the application refused input that the server requires: {reason}")
            }
            CallError::Invalid(reason) => f.write_str(reason),
            CallError::Http(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

/// A JSON-RPC error from the peer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerError {
    /// The error code; 0 if the error has none.
    pub code: i64,
    /// The error message.
    pub message: String,
    /// Additional data, as JSON.
    pub data: Option<String>,
}

impl PeerError {
    pub(crate) fn from_rpc(error: mcp_proto::RpcError<'_>) -> PeerError {
        PeerError {
            code: error.code(),
            message: error.message().map(|message| message.to_string()).unwrap_or_default(),
            data: error.data().map(|data: Json<'_>| data.to_string()),
        }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = if self.message.is_empty() { "an error without a message" } else { &self.message };
        write!(f, "{} ({})", Printable(message), self.code)
    }
}

impl std::error::Error for PeerError {}

/// Implements [`WriteText`] for errors. A handler of a tool can therefore return them: the text becomes that of the
/// tool's failure.
macro_rules! failure_texts {
    ($($error:ty)*) => {$(
        impl WriteText for $error {
            fn pieces(&self, put: &mut dyn FnMut(&str)) {
                format_args!("{self}").pieces(put);
            }
        }
    )*};
}

failure_texts!(CallError Cancelled ConnectError PeerError RequestError);

#[cfg(all(test, feature = "http"))]
mod tests {
    use std::error::Error;

    use super::*;

    /// The core recognizes the failure of a handler by this text.
    #[cfg(feature = "derive")]
    #[test]
    fn missing_capability_has_the_text_of_the_core() {
        let missing =
            mcp_proto::ClientCapabilities::ELICITATION_FORM.with(mcp_proto::ClientCapabilities::SAMPLING);
        let text = mcp_proto::server::routes::missing_text(missing);
        assert_eq!(crate::RequestError::MissingCapability(missing).to_string(), text);
    }

    #[test]
    fn failure_of_http_is_printed_once_with_its_sources() {
        let failure = Box::new(HttpFailure::no_message("http://localhost/mcp"));
        let errors: [Box<dyn Error>; 2] =
            [Box::new(ConnectError::Http(failure.clone())), Box::new(CallError::Http(failure.clone()))];
        for error in errors {
            assert_eq!(error.to_string(), failure.to_string());
            assert!(error.source().is_none());
        }
    }
}
