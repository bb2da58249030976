//! Conditions for messages of the application, and the errors of messages that the client cannot send.

use crate::client::client_state::{ClientState, Session};
use crate::client::request_data::Unwritten;
use crate::error::SendError;
use crate::peer::slots::Ticket;
use crate::platform::cold_path;
use crate::protocol::capabilities::ServerCapabilities;

impl ClientState<'_> {
    /// Returns the session if the application may send a message now. Otherwise returns `NotConnected`, or `Busy` if
    /// `notifications/initialized` or the response to a request of the server must be sent first.
    pub(crate) fn writable_session(&mut self) -> Result<Session, SendError> {
        let Some(session) = self.peer.session.filter(|_| self.is_connected()) else {
            cold_path();
            return Err(SendError::NotConnected);
        };
        if self.initialized_pending || self.holds_reply_space() {
            return Err(self.peer.busy());
        }
        Ok(session)
    }

    /// Returns whether the server declared a capability. Returns `false` before the client is connected.
    pub(crate) fn has_server_capability(&self, capability: ServerCapabilities) -> bool {
        self.peer.session.is_some_and(|session| session.capabilities.has(capability))
    }

    /// Releases the slot of a request that was not written, and returns the error for the application.
    #[cold]
    #[inline(never)]
    pub(crate) fn drop_request(&mut self, ticket: Ticket, unwritten: Unwritten) -> SendError {
        self.peer.in_flight.release(ticket);
        self.send_error(unwritten != Unwritten::Invalid)
    }

    /// Returns the error for a request for which no slot is free.
    #[cold]
    pub(crate) fn full(&mut self) -> SendError {
        // A queued message, such as a cancellation, may free its slot when it is written. The client emits `Writable`
        // later, so that the application tries again.
        self.peer.report_writable |= self.peer.in_flight.queue_front().is_some();
        SendError::Full
    }

    /// Returns the error for an unsent message of the application. The error is `Invalid` if the message is not valid,
    /// `Unwritable` if the transmit buffer is empty and the message still does not fit, and otherwise `Busy`.
    #[cold]
    pub(crate) fn send_error(&mut self, valid: bool) -> SendError {
        if !valid {
            return SendError::Invalid;
        }
        if self.peer.output.is_empty() {
            return SendError::Unwritable;
        }
        self.peer.busy()
    }
}
