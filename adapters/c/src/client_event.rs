//! Events of a client, in the types of C.

use mcp_proto::Outcome;
use mcp_proto::client::Event;

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
    /// The client could not connect. The connection ends.
    MCP_CLIENT_CONNECT_FAILED,
    /// The request `ticket` has the result `json`. In the result of a tool, `content.0.text` is the text of the first
    /// block. `isError` is true if the tool failed. `structuredContent` is the structured content.
    MCP_CLIENT_RESULT,
    /// The server responded to the request `ticket` with the error `code`.
    MCP_CLIENT_ERROR,
    /// The request `ticket` has ended without a valid response: after its timeout, for example.
    MCP_CLIENT_FAILED,
    /// Progress of the request `ticket`: `json` has `progress`, and perhaps `total` and `message`. Read numbers with
    /// `mcp_json_fixed`, because progress may be a fraction.
    MCP_CLIENT_PROGRESS,
    /// The server has not completed the request `ticket`, and expects the same request again (2026-07-28). Call
    /// `mcp_client_resume_tool` or `mcp_client_resume_resource` after a delay, or `mcp_client_cancel`. The two resume
    /// functions pass no input; the client adds only the state that the server sent. `json` is the result of the
    /// server.
    MCP_CLIENT_INPUT_REQUIRED,
    /// The client accepts requests again. This event follows `MCP_ERROR_BUSY`. The event follows `MCP_ERROR_FULL` only
    /// if an unsent message, such as a cancellation, took a slot.
    MCP_CLIENT_WRITABLE,
    /// An event without further data, which needs no action.
    MCP_CLIENT_OTHER,
}

/// An event of a client. The pointers of the event are valid until the next call of a function that takes the client.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct mcp_client_event_t {
    /// The kind. The description of the kind names the fields that are valid.
    pub kind: mcp_client_event_kind_t,
    /// The code of an error. `INT32_MIN` or `INT32_MAX` if the code does not fit.
    pub code: i32,
    /// The result or the progress, a JSON object: see `mcp_json_int`.
    pub json: mcp_text_t,
    /// The ticket of the request.
    pub ticket: u64,
    /// The time of the next poll if no bytes move, in milliseconds. `UINT64_MAX` if no timeout is running.
    pub deadline: u64,
}

impl mcp_client_event_t {
    /// An event without data.
    pub(crate) const EMPTY: mcp_client_event_t = mcp_client_event_t {
        kind: mcp_client_event_kind_t::MCP_CLIENT_OTHER,
        code: 0,
        json: mcp_text_t::EMPTY,
        ticket: MCP_NO_TICKET,
        deadline: u64::MAX,
    };
}

/// Writes the kind and the data of an event of the core to `out`.
pub(crate) fn on_event(event: Event<'_>, out: &mut mcp_client_event_t) {
    use mcp_client_event_kind_t as Kind;
    out.kind = match event {
        Event::Connected(_) => Kind::MCP_CLIENT_CONNECTED,
        Event::ConnectFailed(_) => Kind::MCP_CLIENT_CONNECT_FAILED,
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
                    let code = error.code().clamp(i32::MIN.into(), i32::MAX.into());
                    out.code = i32::try_from(code).unwrap_or_default();
                    Kind::MCP_CLIENT_ERROR
                }
                _ => Kind::MCP_CLIENT_FAILED,
            }
        }
        _ => Kind::MCP_CLIENT_OTHER,
    };
}
