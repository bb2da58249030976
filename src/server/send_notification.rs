//! Sends notifications of the application: to the session, or to a subscription.

use crate::error::SendError;
use crate::framing::outbound_message::{OutboundMessageKind, Routing};
use crate::json::{WriteBody, Writer};
use crate::peer::Peer;
use crate::peer::lifecycle::State;
use crate::peer::request::Inbound;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::WireFeature;
use crate::rpc::write_notification;
use crate::server::Server;
use crate::server::change_set::ChangeSet;
use crate::server::features::subscriptions::notify::write_subscription_meta;
use crate::server::request_context::Context;
use crate::server::server_state::ServerState;

impl Server<'_> {
    /// Sends a notification of an extension to a client of the handshake era.
    ///
    /// `params` writes the keys and values of the parameters. If the closure writes nothing, the notification has no
    /// parameters.
    ///
    /// In `2026-07-28` every notification belongs to a request: see
    /// [`notify_subscription`](Server::notify_subscription).
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the handshake is not complete, or the connection is ending. [`SendError::Busy`]:
    /// the transmit buffer has no space, or the space is reserved for other messages;
    /// [`Event::Writable`](crate::server::Event::Writable) reports new space. [`SendError::Unwritable`]: the
    /// notification exceeds the size limit of a response. [`SendError::Invalid`]: the notification is not valid.
    pub fn notify(&mut self, method: &str, mut params: impl FnMut(&mut Writer<'_>)) -> Result<(), SendError> {
        self.ready_session()?;
        let routing = self.state.session_routing(OutboundMessageKind::Notification);
        self.state
            .notify(routing, method, &mut |out: &mut Writer<'_>| out.members_checked(&mut params).is_ok())
    }

    /// Sends an extension's notification that belongs to a request in flight.
    ///
    /// `ticket` must belong to a subscription ([`Listening::ticket`](crate::server::Listening::ticket)), or to a
    /// request of an extension that the application [deferred](crate::server::ExtensionRequest::defer). `params` writes
    /// the keys and values of the parameters. The server itself writes `_meta` with the id of the request, by which the
    /// client finds the request.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has ended or is not deferred, or the request is a subscription and the
    /// connection is ending. [`SendError::Busy`], [`SendError::Unwritable`], [`SendError::Invalid`]: as for
    /// [`notify`](Server::notify).
    pub fn notify_subscription(
        &mut self,
        ticket: Ticket,
        method: &str,
        mut params: impl FnMut(&mut Writer<'_>),
    ) -> Result<(), SendError> {
        self.state.notify_subscription(ticket, method, &mut |out: &mut Writer<'_>| {
            out.members_checked(&mut params).is_ok()
        })
    }

    /// Notifies a `2025-11-25` client that a URL elicitation is complete. `id` is the elicitation id of the
    /// [`OpenUrl`](crate::input::OpenUrl).
    ///
    /// # Errors
    /// [`SendError::Unsupported`]: the session has another revision, or the client did not declare `elicitation.url`.
    /// [`SendError::NotConnected`], [`SendError::Busy`], [`SendError::Unwritable`]: as for [`notify`](Server::notify).
    pub fn elicitation_complete(&mut self, id: &str) -> Result<(), SendError> {
        let session = self.ready_session()?;
        let supported = session.capabilities.has(ClientCapabilities::ELICITATION_URL);
        if !session.revision.has(WireFeature::ElicitationIds) || !supported {
            return Err(SendError::Unsupported);
        }
        self.notify(methods::ELICITATION_COMPLETE.name, |out| out.field_string("elicitationId", id))
    }
}

impl ServerState<'_> {
    fn notify_subscription(
        &mut self,
        ticket: Ticket,
        method: &str,
        params: &mut dyn WriteBody,
    ) -> Result<(), SendError> {
        let ends = self.peer.lifecycle.state() == State::Draining;
        let inbound = self.peer.in_flight.inbound(ticket).filter(|inbound| may_notify(inbound, ends));
        let stream = inbound.ok_or(SendError::Gone)?.stream;
        let routing = Routing::on_subscription(OutboundMessageKind::Notification, stream);
        self.ensure_message_space()?;
        let Peer { in_flight, output, .. } = &mut self.peer;
        let id = in_flight.id(ticket);
        let mut tagged = |out: &mut Writer<'_>| {
            write_subscription_meta(out, id);
            params.write(out)
        };
        output
            .write_message(routing, &mut |out: &mut Writer<'_>| write_notification(out, method, &mut tagged))
    }

    fn notify(
        &mut self,
        routing: Routing,
        method: &str,
        params: &mut dyn WriteBody,
    ) -> Result<(), SendError> {
        self.ensure_message_space()?;
        self.peer
            .output
            .write_message(routing, &mut |out: &mut Writer<'_>| write_notification(out, method, params))
    }
}

/// Returns whether the application may still send notifications of this request. No notification may follow the
/// response that ends a subscription, or delay this response when the connection `ends`.
fn may_notify(inbound: &Inbound<Context>, ends: bool) -> bool {
    let has_ended = |[_, flags]: [ChangeSet; 2]| ends || flags.any(ChangeSet::SUBSCRIBED);
    inbound.state.is_deferred() && !inbound.subscription().is_some_and(has_ended)
}
