//! `SendError`: why a message was not sent.

use crate::error::error_values::error_values;

error_values! {
    /// Reason why a message was not sent.
    pub enum SendError {
        /// Too little free space in the transmit buffer. The event `Writable` reports when to try again.
        Busy = "the transmit buffer has too little space",
        /// A request or task that has ended, or that the called method cannot use.
        ///
        /// For example, a response, a cancellation, a timeout or the end of the connection has ended the request, or
        /// the request is not deferred.
        Gone = "the request has ended",
        /// No free slot for a request in flight, or an id that does not fit into the text of a slot.
        Full = "all slots for requests in flight are taken",
        /// No session, an incomplete handshake, a closing connection, or a request of another session than the current
        /// one.
        NotConnected = "not connected",
        /// A message that is too large. In most cases, the transmit buffer limits the size. A retry fails again.
        Unwritable = "the message is too large",
        /// A message that is not valid. A retry fails again.
        ///
        /// For example, the application did not write valid JSON, or the arguments of a tool or the additional `_meta`
        /// are not an object.
        Invalid = "the message is not valid",
        /// A message that the peer, the revision or the configuration does not support.
        ///
        /// For example, the peer did not declare the required capability, or the revision lacks the message.
        Unsupported = "the peer does not support the message",
        /// A notification that the peer does not expect.
        ///
        /// For example, the peer did not request the notification, the progress has not increased, or the level of the
        /// log message is too low.
        NotWanted = "the peer did not request the notification",
    }
}
