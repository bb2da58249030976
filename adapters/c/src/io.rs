//! Bytes that move between two polls: the bytes to send, and the space for received bytes.

use mcp_proto::{Io, Millis, Receive, Transmit};

use crate::status::mcp_status_t;

/// Bytes to send and space for received bytes. After a poll, each direction can move bytes once. The default value has
/// neither bytes nor space.
#[derive(Default)]
pub(crate) struct Moves<'a> {
    transmit: Option<Transmit<'a>>,
    receive: Option<Receive<'a>>,
}

/// Returns the deadline in milliseconds, or `u64::MAX` if no timeout is running.
pub(crate) fn deadline(io: &Io<'_>) -> u64 {
    io.deadline().map_or(u64::MAX, |Millis(deadline)| deadline)
}

/// Reports the end of the input to the machine.
pub(crate) fn end(io: Io<'_>) {
    io.split().1.eof();
}

impl<'a> Moves<'a> {
    pub(crate) fn new(io: Io<'a>) -> Moves<'a> {
        let (transmit, receive) = io.split();
        Moves { transmit: Some(transmit), receive: Some(receive) }
    }

    /// Returns the bytes to send. Returns an empty slice after `consumed`, and for the default value.
    pub(crate) fn output(&self) -> &[u8] {
        self.transmit.as_ref().map(Transmit::bytes).unwrap_or_default()
    }

    /// Reports that the first `count` bytes of the output were sent. Returns `MCP_ERROR_SEQUENCE` for a second call,
    /// and for the default value.
    pub(crate) fn consumed(&mut self, count: usize) -> mcp_status_t {
        let Some(transmit) = self.transmit.take() else { return mcp_status_t::MCP_ERROR_SEQUENCE };
        transmit.sent(count);
        mcp_status_t::MCP_OK
    }

    /// Returns the space for received bytes. Returns an empty slice after `filled`, for the default value, and if the
    /// machine takes no bytes now.
    pub(crate) fn input(&mut self) -> &mut [u8] {
        match &mut self.receive {
            Some(receive) if receive.is_ready() => receive.space(),
            _ => &mut [],
        }
    }

    /// Reports that `count` bytes were received into the space. Returns `MCP_ERROR_SEQUENCE` for a second call, and for
    /// the default value.
    pub(crate) fn filled(&mut self, count: usize) -> mcp_status_t {
        let Some(receive) = self.receive.take() else { return mcp_status_t::MCP_ERROR_SEQUENCE };
        receive.filled(count);
        mcp_status_t::MCP_OK
    }

    /// Copies the received bytes that fit into the space, and reports them. Returns their number.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> usize {
        let count = self.input().iter_mut().zip(bytes).map(|(place, byte)| *place = *byte).count();
        if count > 0 {
            self.filled(count);
        }
        count
    }
}
