//! Events of a server, in the types of C.

use core::ffi::c_char;
use core::ptr;

/// A text: `length` bytes, without a final zero byte.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct mcp_text_t {
    /// The first byte. May be NULL if `length` is 0.
    pub text: *const c_char,
    /// The number of bytes.
    pub length: usize,
}

impl mcp_text_t {
    pub(crate) const EMPTY: mcp_text_t = mcp_text_t { text: ptr::null(), length: 0 };

    pub(crate) const fn new(text: &str) -> mcp_text_t {
        mcp_text_t { text: text.as_ptr().cast(), length: text.len() }
    }
}

/// The ticket that belongs to no request. The value is zero, the initial value of static variables in C.
pub const MCP_NO_TICKET: u64 = 0;

/// A request of the client: the request of the current event, or a deferred request. C programs only have pointers to
/// this type.
///
/// A response consumes the request, so the function for a second response returns `MCP_ERROR_GONE`. A function that
/// does not suit the kind of the request, such as `mcp_read_text` for a tool call, returns the same error, and the
/// request stays open.
pub struct mcp_call_t {
    _private: (),
}

/// The kind of an event, which `mcp_server_poll` returns.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum mcp_event_kind_t {
    /// Move bytes: send the output, and receive input. Poll again, at `deadline` at the latest.
    MCP_EVENT_IO = 0,
    /// The connection has ended.
    MCP_EVENT_CLOSED,
    /// The client calls a tool. The valid fields are `index`, `name`, `arguments` and `call`.
    MCP_EVENT_CALL,
    /// The client reads a resource. The valid fields are `index`, `name` (the URI) and `call`.
    MCP_EVENT_READ,
    /// A client sent `initialize`, and the server has responded. Clients of 2026-07-28 do not cause this event.
    MCP_EVENT_CONNECTED,
    /// A second `initialize` has restarted the session. All tickets are invalid.
    MCP_EVENT_RESTARTED,
    /// The client cancelled the deferred request `ticket`. The ticket is invalid.
    MCP_EVENT_CANCELLED,
    /// The deferred request `ticket` has expired: its timeout is over, or the input ended two seconds ago. The server
    /// responds with an error. The ticket is invalid.
    MCP_EVENT_EXPIRED,
    /// The transmit buffer has space again, after `MCP_ERROR_BUSY`.
    MCP_EVENT_WRITABLE,
    /// An error of the client or of the program, which the server has handled. For example, a message was not valid, a
    /// response did not fit, or the program did not respond to a request. `code` is the JSON-RPC error code, or 0 if
    /// the error has none. The code does not prove that the server has sent an error response.
    MCP_EVENT_PROTOCOL_ERROR,
    /// An event without further data, which needs no action.
    MCP_EVENT_OTHER,
}

/// An event of a server. Except for `arguments`, the pointers of the event are valid until the next call of a function
/// that takes the server.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct mcp_event_t {
    /// The kind. The description of the kind names the fields that are valid.
    pub kind: mcp_event_kind_t,
    /// The JSON-RPC error code of `MCP_EVENT_PROTOCOL_ERROR`, or 0.
    pub code: i32,
    /// The index of the tool or resource in its table.
    pub index: usize,
    /// The name of the tool, or the URI of the resource.
    pub name: mcp_text_t,
    /// The arguments of a tool call, a JSON object: see `mcp_json_int`. The text is valid until the program responds to
    /// the call, defers the call, or calls a function that takes the server.
    pub arguments: mcp_text_t,
    /// The request, for the functions `mcp_call_…` and `mcp_read_…`.
    pub call: *mut mcp_call_t,
    /// The ticket of a deferred request.
    pub ticket: u64,
    /// The latest time of the next poll, in milliseconds like `now`. `UINT64_MAX` if no timeout is running.
    pub deadline: u64,
}

impl mcp_event_t {
    /// An event without data.
    pub(crate) const EMPTY: mcp_event_t = mcp_event_t {
        kind: mcp_event_kind_t::MCP_EVENT_OTHER,
        code: 0,
        index: 0,
        name: mcp_text_t::EMPTY,
        arguments: mcp_text_t::EMPTY,
        call: ptr::null_mut(),
        ticket: MCP_NO_TICKET,
        deadline: u64::MAX,
    };
}
