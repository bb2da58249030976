//! `SendError`: why a message was not sent.

use crate::json::{WriteText, prints};

/// Reason why a message was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SendError {
    /// Too little free space in the transmit buffer. An event reports when the space is sufficient.
    Busy,
    /// An ended request or task.
    ///
    /// For example, a response, a cancellation, a timeout or the end of the connection has ended the request.
    Gone,
    /// No free slot for a request in flight.
    Full,
    /// No session, an incomplete handshake, or a closing connection.
    NotConnected,
    /// A message that is not valid JSON, or is too large. In most cases, the transmit buffer limits the size. A retry
    /// fails again.
    Unwritable,
    /// A message that the peer, the revision or the configuration does not support.
    ///
    /// For example, the peer did not declare the required capability, or the revision lacks the message.
    Unsupported,
    /// A notification that the peer does not expect.
    ///
    /// For example, the peer did not request the notification, the progress has not increased, or the level of the
    /// message is too low.
    NotWanted,
}

impl WriteText for SendError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            SendError::Busy => "the transmit buffer has too little space",
            SendError::Gone => "the request has ended",
            SendError::Full => "all slots for requests in flight are taken",
            SendError::NotConnected => "not connected",
            SendError::Unwritable => "the message is too large or not valid JSON",
            SendError::Unsupported => "the peer does not support the message",
            SendError::NotWanted => "the peer did not request the notification",
        });
    }
}

impl core::error::Error for SendError {}

prints!(SendError);
