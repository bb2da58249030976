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

/// Sees every message, in the order in which the machine handles them.
///
/// A machine without an observer spends one comparison per message on it.
pub trait Observer {
    /// Receives one message, without its newline. Of an oversized line, `line` is only its id.
    ///
    /// `outcome` is the error if the message was refused or dropped.
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>);
}
