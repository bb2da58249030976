//! A look at every line, for traces and audit logs.

use crate::error::ProtocolError;

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the peer.
    In,
    /// To the peer.
    Out,
}

/// Sees every message, in the order in which the machine deals with them.
///
/// Without one, a message costs one comparison more.
pub trait Observer {
    /// One message, without its newline. A line that was too long is shown as what was kept of it: its id.
    /// `outcome` says whether it was refused or dropped, and why.
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>);
}
