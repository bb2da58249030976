//! `mcp_status_t`: the result of a function.

use mcp_proto::{ConfigError, SendError};

/// The result of a function. A function that returns an error has had no effect. The description of a function lists
/// its errors, and names the exceptions. `MCP_ERROR_NULL` and `MCP_ERROR_UTF8` are errors of every function with
/// pointers or texts.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum mcp_status_t {
    /// Success.
    MCP_OK = 0,
    /// A required pointer is NULL.
    MCP_ERROR_NULL,
    /// A text is not valid UTF-8.
    MCP_ERROR_UTF8,
    /// The configuration is not valid: for example, two tools have the same name.
    MCP_ERROR_CONFIG,
    /// The receive buffer is smaller than the minimum.
    MCP_ERROR_RX_TOO_SMALL,
    /// The transmit buffer is too small for the machine's own messages.
    MCP_ERROR_TX_TOO_SMALL,
    /// The text buffer of the slots is too small: each slot needs at least 8 bytes.
    MCP_ERROR_TEXT_TOO_SMALL,
    /// The request cannot be used: for example, it has ended, already has a response, or is of another kind.
    MCP_ERROR_GONE,
    /// The transmit buffer has no space. An event reports when the buffer has space again.
    MCP_ERROR_BUSY,
    /// All slots are taken.
    MCP_ERROR_FULL,
    /// The client is not connected.
    MCP_ERROR_NOT_CONNECTED,
    /// The peer did not request the message, or the progress has not increased.
    MCP_ERROR_NOT_WANTED,
    /// The peer does not support the request.
    MCP_ERROR_UNSUPPORTED,
    /// The message does not fit into the free transmit space, or its JSON is not valid.
    MCP_ERROR_UNWRITABLE,
    /// No value has this path.
    MCP_ERROR_MISSING,
    /// The value has another type, or does not fit into the C type.
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
        c"the request has ended",
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
