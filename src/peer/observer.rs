//! `Observer`: sees every message, for traces and audit logs.

use crate::error::ProtocolError;

/// Direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Direction {
    /// From the peer.
    In,
    /// To the peer.
    Out,
}

/// Observer of every message, in the order in which the machine handles messages.
///
/// A machine without an observer spends only a few comparisons per message on this interface.
pub trait Observer {
    /// Receives one message, without its newline. For an oversized message, `line` contains at most the id. For a last
    /// line without its end, `line` is empty.
    ///
    /// `outcome` is the error if the machine refused or dropped the message.
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>);

    /// Receives one piece of a [chunked](crate::server::Call::chunked) response: the bytes that one call of a method
    /// such as [`Chunks::text`](crate::server::Chunks::text) writes. All pieces together are one message. `line` does
    /// not receive this message.
    ///
    /// By default, the observer ignores the piece.
    fn piece(&mut self, piece: &[u8], is_last: bool) {
        let _ = (piece, is_last);
    }
}
