//! `Observer`: sees every message, for traces and audit logs.

use crate::error::ProtocolError;

/// Direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the peer.
    In,
    /// To the peer.
    Out,
}

/// Observer of every message, in the order in which the machine handles messages.
///
/// Without an observer, each message costs the machine only a few comparisons.
pub trait Observer {
    /// Receives one message, without its newline. For an oversized line, `line` is only the id.
    ///
    /// `outcome` is the error if the message was refused or dropped.
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>);
}
