//! `mcp_status_t`: the result of a function for C.

use mcp_proto::{ConfigError, SendError};

/// The result of a function. A function that returns an error has had no effect, unless its description says otherwise.
/// The description also lists the errors of the function. In addition, any function may return `MCP_ERROR_NULL` if a
/// required pointer is NULL, and `MCP_ERROR_UTF8` if a text is not UTF-8. A function that returns no status has no
/// effect on a NULL server or client: it returns 0 or no bytes, and a poll returns `MCP_EVENT_CLOSED` or
/// `MCP_CLIENT_CLOSED`.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum mcp_status_t {
    /// Success.
    MCP_OK = 0,
    /// A required pointer is NULL.
    MCP_ERROR_NULL,
    /// A text is not valid UTF-8.
    MCP_ERROR_UTF8,
    /// The configuration is not valid: for example, two tools have the same name, or a schema is not a JSON object.
    MCP_ERROR_CONFIG,
    /// The receive buffer is smaller than the minimum.
    MCP_ERROR_RX_TOO_SMALL,
    /// The transmit buffer is too small for the messages that the server or client itself writes.
    MCP_ERROR_TX_TOO_SMALL,
    /// The text buffer of the slots is too small: each slot needs at least 8 bytes.
    MCP_ERROR_TEXT_TOO_SMALL,
    /// The function cannot use the request. For example, the request has ended, already has a response, or is of
    /// another kind.
    MCP_ERROR_GONE,
    /// The transmit buffer has too little space. An event reports when to try again: `MCP_EVENT_WRITABLE` or
    /// `MCP_CLIENT_WRITABLE`.
    MCP_ERROR_BUSY,
    /// No slot is free, or the id of the request does not fit into a slot.
    MCP_ERROR_FULL,
    /// The client is not connected yet, or the connection ends.
    MCP_ERROR_NOT_CONNECTED,
    /// The client did not request progress, or the progress has not increased: see `mcp_call_progress`.
    MCP_ERROR_NOT_WANTED,
    /// The server does not support the request.
    MCP_ERROR_UNSUPPORTED,
    /// The message does not fit into the available transmit space, its JSON is not valid, or it is of another kind than
    /// the request.
    MCP_ERROR_UNWRITABLE,
    /// The JSON text has no value at this path, or the value is `null`.
    MCP_ERROR_MISSING,
    /// The value at the path has another type or does not fit into the C type, or the text is not valid JSON.
    MCP_ERROR_TYPE,
    /// The caller's buffer is too small.
    MCP_ERROR_SPACE,
    /// The function cannot be called now: for example, the program calls `mcp_server_consumed` twice after one poll.
    MCP_ERROR_SEQUENCE,
}

impl From<SendError> for mcp_status_t {
    fn from(error: SendError) -> mcp_status_t {
        match error {
            SendError::Gone => mcp_status_t::MCP_ERROR_GONE,
            SendError::Busy => mcp_status_t::MCP_ERROR_BUSY,
            SendError::Full => mcp_status_t::MCP_ERROR_FULL,
            SendError::NotConnected => mcp_status_t::MCP_ERROR_NOT_CONNECTED,
            SendError::NotWanted => mcp_status_t::MCP_ERROR_NOT_WANTED,
            SendError::Unsupported => mcp_status_t::MCP_ERROR_UNSUPPORTED,
            _ => mcp_status_t::MCP_ERROR_UNWRITABLE,
        }
    }
}

impl From<ConfigError> for mcp_status_t {
    fn from(error: ConfigError) -> mcp_status_t {
        match error {
            ConfigError::RxTooSmall { .. } => mcp_status_t::MCP_ERROR_RX_TOO_SMALL,
            ConfigError::TxTooSmall { .. } => mcp_status_t::MCP_ERROR_TX_TOO_SMALL,
            ConfigError::TextTooSmall { .. } => mcp_status_t::MCP_ERROR_TEXT_TOO_SMALL,
            _ => mcp_status_t::MCP_ERROR_CONFIG,
        }
    }
}

impl<E: Into<mcp_status_t>> From<Result<(), E>> for mcp_status_t {
    fn from(result: Result<(), E>) -> mcp_status_t {
        match result {
            Ok(()) => mcp_status_t::MCP_OK,
            Err(error) => error.into(),
        }
    }
}

/// Returns a short English text for a status.
pub(crate) fn text(status: i32) -> &'static core::ffi::CStr {
    const TEXTS: [&core::ffi::CStr; 18] = [
        c"success",
        c"a required pointer is NULL",
        c"a text is not UTF-8",
        c"the configuration is not valid",
        c"the receive buffer is too small",
        c"the transmit buffer is too small",
        c"the text of the slots is too small",
        c"the request has ended, has a response, or is of another kind",
        c"the transmit buffer has no space",
        c"all slots are taken",
        c"the client is not connected",
        c"the peer does not want the message",
        c"the peer does not support the request",
        c"the message does not fit or is not valid JSON",
        c"no value has this path",
        c"the value has another type",
        c"the buffer is too small",
        c"the function cannot be called now",
    ];
    usize::try_from(status).ok().and_then(|index| TEXTS.get(index)).copied().unwrap_or(c"unknown status")
}
