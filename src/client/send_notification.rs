//! Functions of the client that send notifications.

use crate::error::SendError;
use crate::framing::outbound_message::Routing;
use crate::json::{WriteBody, Writer};
use crate::peer::transmit_buffer::Overflow;
use crate::protocol::revision::WireFeature;
use crate::rpc::write_notification;

use crate::client::Client;
use crate::client::client_state::ClientState;

impl Client<'_> {
    /// Sends any notification of the application. `params` writes the keys and values of the parameters.
    ///
    /// Use this function for messages of an extension, or for messages that are not part of the protocol. For example,
    /// a server modeled on the Language Server Protocol expects the [`request`](Client::request) `shutdown`, and after
    /// its response the notification `exit`.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the client is not connected. [`SendError::Unsupported`]: the revision is
    /// `2026-07-28`, and the client has not declared [extensions](crate::client::ClientConfig::extensions).
    /// [`SendError::Busy`]: the transmit buffer lacks space, or reserves the space for a response.
    /// [`Event::Writable`](crate::client::Event::Writable) reports new space. [`SendError::Unwritable`]: the
    /// notification does not fit into the empty transmit buffer. [`SendError::Invalid`]: the parameters are not
    /// valid JSON.
    pub fn notify(&mut self, method: &str, params: impl FnMut(&mut Writer<'_>)) -> Result<(), SendError> {
        let mut params = params;
        self.state.notify(method, &mut |out: &mut Writer<'_>| out.members_checked(&mut params).is_ok())
    }
}

impl ClientState<'_> {
    fn notify(&mut self, method: &str, params: &mut dyn WriteBody) -> Result<(), SendError> {
        if !self.is_connected() {
            return Err(SendError::NotConnected);
        }
        if !self.has(WireFeature::Handshake) && self.config.extensions.is_empty() {
            return Err(SendError::Unsupported);
        }
        self.writable_session()?;
        let space = self.request_space();
        let mut valid = true;
        let sent = self.peer.output.send(Routing::NOTIFICATION, space, &mut |out: &mut Writer<'_>| {
            valid = write_notification(out, method, params);
            if !valid {
                out.fail();
            }
        });
        sent.map_err(|Overflow| self.send_error(valid))
    }

    /// Writes a notification without parameters. Returns `false` if the notification does not fit.
    pub(crate) fn write_own(&mut self, method: &str) -> bool {
        // A known method needs no escapes.
        let body = &mut |out: &mut Writer<'_>| {
            out.wrapped(r#"{"jsonrpc":"2.0","method":""#, method.as_bytes(), r#""}"#);
        };
        self.peer.output.send(Routing::NOTIFICATION, usize::MAX, body).is_ok()
    }
}
