//! Events of a client, in the types of C.

use mcp_proto::client::{ConnectFailure, Event};
use mcp_proto::{Outcome, RequestFailure, RpcError};

use crate::event::{MCP_NO_TICKET, mcp_text_t};
use crate::request::to_c;

/// The kind of an event, which `mcp_client_poll` returns.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum mcp_client_event_kind_t {
    /// Move bytes: send the output, and receive input. Poll again, at `deadline` at the latest.
    MCP_CLIENT_IO = 0,
    /// The connection has ended.
    MCP_CLIENT_CLOSED,
    /// The client is connected, and accepts requests.
    MCP_CLIENT_CONNECTED,
    /// The client could not connect, because of `failure`. The connection ends: `MCP_CLIENT_CLOSED` follows. If the
    /// server responded with an error, `failure` is `MCP_FAILURE_REFUSED`, and `code` and `json` have the error, as
    /// for `MCP_CLIENT_ERROR`.
    MCP_CLIENT_CONNECT_FAILED,
    /// The request `ticket` has the result `json`. In the result of a tool, the path `content.0.text` has the text of
    /// the first block, if this block is text. `isError` is true if the tool failed. `structuredContent` is the
    /// structured content, if there is any.
    MCP_CLIENT_RESULT,
    /// The server responded to the request `ticket` with the error `code`. `json` is the error object: `message` is a
    /// string, and `data` has details, if there are any.
    MCP_CLIENT_ERROR,
    /// The request `ticket` has ended without a valid response, because of `failure`.
    MCP_CLIENT_FAILED,
    /// Progress of the request `ticket`. `json` has the members `progress` and perhaps `total` and `message`. Read the
    /// numbers with `mcp_json_fixed`, because they may have a fraction.
    MCP_CLIENT_PROGRESS,
    /// The server has not completed the request `ticket`, and expects the same request again (2026-07-28). Call
    /// `mcp_client_resume_tool` or `mcp_client_resume_resource` after a delay, or `mcp_client_cancel`. The resumed
    /// request contains the state that the server sent, but no input from the program. `json` is the server's result.
    MCP_CLIENT_INPUT_REQUIRED,
    /// The client accepts requests again. This event follows `MCP_ERROR_BUSY`. It also follows `MCP_ERROR_FULL`, but
    /// only if an unsent message, such as a cancellation, took a slot at the time of the error.
    MCP_CLIENT_WRITABLE,
    /// An event without further data, which needs no action.
    MCP_CLIENT_OTHER,
}

/// The reason why a request or a connection has failed.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum mcp_failure_t {
    /// No failure.
    MCP_FAILURE_NONE = 0,
    /// No response within the timeout.
    MCP_FAILURE_TIMED_OUT,
    /// The connection was closed.
    MCP_FAILURE_CLOSED,
    /// The response is longer than the receive buffer.
    MCP_FAILURE_TOO_LONG,
    /// The response is not valid.
    MCP_FAILURE_INVALID,
    /// The server refused the connection with an error response.
    MCP_FAILURE_REFUSED,
    /// Client and server have no revision in common.
    MCP_FAILURE_NO_REVISION,
    /// The server's `requestState` does not fit into the text of the slot: see `mcp_client_lend_slots`.
    MCP_FAILURE_STATE_TOO_LONG,
    /// Another reason: for example, the server required input too often.
    MCP_FAILURE_OTHER,
}

/// An event of a client. The pointers of the event are valid until the next call of a function that takes the client.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct mcp_client_event_t {
    /// The kind. The description of the kind names the fields that are valid.
    pub kind: mcp_client_event_kind_t,
    /// The code of an error. If the code does not fit, `INT32_MIN` or `INT32_MAX`.
    pub code: i32,
    /// The reason of a failure.
    pub failure: mcp_failure_t,
    /// The result, the error or the progress, a JSON object: see `mcp_json_int`.
    pub json: mcp_text_t,
    /// The ticket of the request.
    pub ticket: u64,
    /// The latest time of the next poll, in milliseconds like `now`. `UINT64_MAX` if no timeout is running.
    pub deadline: u64,
}

impl mcp_client_event_t {
    /// An event without data.
    pub(crate) const EMPTY: mcp_client_event_t = mcp_client_event_t {
        kind: mcp_client_event_kind_t::MCP_CLIENT_OTHER,
        code: 0,
        failure: mcp_failure_t::MCP_FAILURE_NONE,
        json: mcp_text_t::EMPTY,
        ticket: MCP_NO_TICKET,
        deadline: u64::MAX,
    };
}

/// Converts an event of the core into an event of C: writes the kind and the data to `out`.
pub(crate) fn on_event(event: Event<'_>, out: &mut mcp_client_event_t) {
    use mcp_client_event_kind_t as Kind;
    out.kind = match event {
        Event::Connected(_) => Kind::MCP_CLIENT_CONNECTED,
        Event::ConnectFailed(failure) => {
            out.failure = failure.into();
            if let ConnectFailure::Refused(error) = failure {
                on_error(error, out);
            }
            Kind::MCP_CLIENT_CONNECT_FAILED
        }
        Event::Writable => Kind::MCP_CLIENT_WRITABLE,
        Event::Progress(progress) => {
            (out.ticket, out.json) = (to_c(progress.ticket()), mcp_text_t::new(progress.raw().raw()));
            Kind::MCP_CLIENT_PROGRESS
        }
        Event::InputRequired(required) => {
            (out.ticket, out.json) = (to_c(required.ticket()), mcp_text_t::new(required.raw().raw()));
            Kind::MCP_CLIENT_INPUT_REQUIRED
        }
        Event::Response(response) => {
            out.ticket = to_c(response.ticket());
            match response.outcome() {
                Outcome::Result(result) => {
                    out.json = mcp_text_t::new(result.raw());
                    Kind::MCP_CLIENT_RESULT
                }
                Outcome::Error(error) => {
                    on_error(error, out);
                    Kind::MCP_CLIENT_ERROR
                }
                outcome => {
                    out.failure = match outcome {
                        Outcome::Failed(failure) => failure.into(),
                        _ => mcp_failure_t::MCP_FAILURE_OTHER,
                    };
                    Kind::MCP_CLIENT_FAILED
                }
            }
        }
        _ => Kind::MCP_CLIENT_OTHER,
    };
}

/// Writes the code and the object of an error to `out`.
fn on_error(error: RpcError<'_>, out: &mut mcp_client_event_t) {
    let code = error.code().clamp(i32::MIN.into(), i32::MAX.into());
    out.code = i32::try_from(code).unwrap_or_default();
    out.json = mcp_text_t::new(error.raw().raw());
}

impl From<RequestFailure> for mcp_failure_t {
    fn from(failure: RequestFailure) -> mcp_failure_t {
        match failure {
            RequestFailure::TimedOut => mcp_failure_t::MCP_FAILURE_TIMED_OUT,
            RequestFailure::Closed => mcp_failure_t::MCP_FAILURE_CLOSED,
            RequestFailure::TooLong => mcp_failure_t::MCP_FAILURE_TOO_LONG,
            RequestFailure::Invalid => mcp_failure_t::MCP_FAILURE_INVALID,
            RequestFailure::StateTooLong => mcp_failure_t::MCP_FAILURE_STATE_TOO_LONG,
            _ => mcp_failure_t::MCP_FAILURE_OTHER,
        }
    }
}

impl From<ConnectFailure<'_>> for mcp_failure_t {
    fn from(failure: ConnectFailure<'_>) -> mcp_failure_t {
        match failure {
            ConnectFailure::TimedOut => mcp_failure_t::MCP_FAILURE_TIMED_OUT,
            ConnectFailure::Closed => mcp_failure_t::MCP_FAILURE_CLOSED,
            ConnectFailure::ResponseTooLong { .. } => mcp_failure_t::MCP_FAILURE_TOO_LONG,
            ConnectFailure::InvalidResponse => mcp_failure_t::MCP_FAILURE_INVALID,
            ConnectFailure::Refused(_) => mcp_failure_t::MCP_FAILURE_REFUSED,
            ConnectFailure::NoCommonRevision(_) => mcp_failure_t::MCP_FAILURE_NO_REVISION,
            _ => mcp_failure_t::MCP_FAILURE_OTHER,
        }
    }
}
