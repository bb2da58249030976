//! Reconnecting: subscriptions and tasks continue, all other requests fail.
//!
//! Specification: 2026-07-28, *Subscriptions*, *Transports*. The client renews its subscriptions after a reconnect.

use crate::json::Span;
use crate::peer::request::{InboundState, OutboundState, Request};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::revision::WireFeature;

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::config::Connect;
use crate::client::method_properties::Method;
use crate::client::pending_event::{PendingEvent, PendingOutcome, PendingResponse};
use crate::client::request_data::NO_SEQUENCE;

impl Client<'_> {
    /// Sets the era of all later connections, if the configuration is [`Connect::Automatic`]. With any other
    /// configuration, this function has no effect.
    ///
    /// A connection that has begun is not affected. If `connect` is [`Connect::Automatic`], later connections probe
    /// again. Call this function before [`reconnect`](Client::reconnect) or [`reset`](Client::reset):
    ///
    /// - With [`Connect::Handshake`] after [`ConnectFailure::Closed`](crate::client::ConnectFailure::Closed), because
    ///   some old servers exit when they receive `server/discover`.
    /// - With the era of the last connection, so that the client does not detect the era again. Without this call, a
    ///   server of the handshake era that ignores the probe delays each connection by the [probe
    ///   timeout](crate::client::Timeouts::probe).
    ///
    /// ```
    /// use mcp_proto::client::{Client, Connect, ConnectFailure, Event};
    ///
    /// /// Returns whether the caller should start the server again, and then call `client.reconnect()`.
    /// fn on_event(client: &mut Client<'_>) -> bool {
    ///     let is_old = matches!(client.event(), Some(Event::ConnectFailed(ConnectFailure::Closed)));
    ///     if is_old {
    ///         client.set_connect(Connect::Handshake);
    ///     }
    ///     is_old
    /// }
    /// ```
    pub fn set_connect(&mut self, connect: Connect) {
        if self.state.config.connect == Connect::Automatic {
            self.state.next_connect = connect;
        }
    }

    /// Starts a new connection on the same buffers. The new connection must lead to the same server or to an equivalent
    /// server. The client connects by itself, in the configured era or in that of [`set_connect`](Client::set_connect).
    ///
    /// The tickets of open [subscriptions](Client::listen) remain valid. After connecting, the client sends each
    /// subscription again, and the server acknowledges the subscription again. The client emits no events for changes
    /// that occur between the two connections. A subscription fails with [`RequestFailure::Closed`] if the text of its
    /// slot is too short for the filter and the `_meta` of its options. All subscriptions fail with `Closed` if the new
    /// server belongs to the handshake era.
    ///
    /// [Tasks](crate::client::ClientConfig::tasks) continue, too: the client polls the tasks on the new connection. A
    /// task fails with [`RequestFailure::Closed`] if the new server has no tasks.
    ///
    /// Tasks that the [client runs](crate::client::ClientConfig::client_tasks) continue only with
    /// [`TaskTable::keep_on_reset`](crate::client::TaskTable::keep_on_reset). Otherwise, the requests that became these
    /// tasks are cancelled.
    ///
    /// Every other request of the application also fails with [`RequestFailure::Closed`].
    /// [`is_retryable`](crate::client::Response::is_retryable) returns whether the application may send the request
    /// again. [Deferred](crate::client::ServerRequest::defer) requests of the server are
    /// [cancelled](crate::client::Event::Cancelled).
    ///
    /// Subscriptions of the handshake era (`resources/subscribe`) end with the connection, without an event. The
    /// application must subscribe again.
    pub fn reconnect(&mut self) {
        self.state.drop_received_event();
        match (self.state.pending_event, self.state.config.tasks) {
            (Some(PendingEvent::InputRequired { ticket, .. }), _) => self.state.require_input_again(ticket),
            (Some(PendingEvent::Task { ticket, .. }), Some(tasks)) => {
                (tasks.hooks.on_unread)(&mut self.state, ticket);
            }
            _ => {}
        }
        self.state.end_connection();
        self.reset_connection();
        self.state.pending_event = self.state.pending_event.take().and_then(PendingEvent::without_line);
    }
}

impl PendingEvent {
    /// Converts a pending event whose line was dropped. An event for the end of a request remains, but without its
    /// data: a result or an error becomes [`RequestFailure::Closed`], and a cancellation loses its reason. Returns
    /// `None` for any other event.
    fn without_line(self) -> Option<PendingEvent> {
        Some(match self {
            PendingEvent::Response(response) => {
                let outcome = match response.outcome {
                    PendingOutcome::Failed(_) => response.outcome,
                    _ => PendingOutcome::Failed(RequestFailure::Closed),
                };
                PendingEvent::Response(PendingResponse { outcome, ..response })
            }
            PendingEvent::Page { ticket, list, last: true, .. } => {
                let outcome = PendingOutcome::Failed(RequestFailure::Closed);
                PendingEvent::Response(PendingResponse { ticket, method: Method::List(list), outcome })
            }
            PendingEvent::Cancelled { ticket, .. } => {
                PendingEvent::Cancelled { ticket, reason: Span::MISSING }
            }
            PendingEvent::Expired(_) => self,
            _ => return None,
        })
    }
}

impl ClientState<'_> {
    /// Parks a subscription or a task for the next connection. Returns `false` for any other request, for a request
    /// that has ended, and if the slot's text has neither a filter nor a task.
    ///
    /// A task that needs input remains unchanged, so that the application can respond on the next connection.
    pub(crate) fn park(&mut self, ticket: Ticket) -> bool {
        let length = self.peer.in_flight.text(ticket).len();
        let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) else { return false };
        let has_text = length > outbound.data.meta_length.into();
        let is_task = outbound.data.method.is_task()
            && !outbound.state.is_closed()
            && !matches!(outbound.state, OutboundState::Failed(_));
        let can_park = has_text && (is_task || outbound.is_subscription());
        if can_park && outbound.state != OutboundState::NeedsInput {
            // No response matches this sequence number.
            (outbound.data.sequence, outbound.state) = (NO_SEQUENCE, OutboundState::Parked);
            self.peer.in_flight.set_deadline(ticket, None);
        }
        can_park
    }

    /// Makes the client emit the input requests of a task on the next connection, because the application has not
    /// received these requests.
    fn require_input_again(&mut self, ticket: Ticket) {
        if let Some(outbound) = self.peer.in_flight.outbound_mut(ticket)
            && outbound.data.method.is_task()
        {
            // In this state, as after a lost `tasks/update`, the client emits the open input requests again.
            (outbound.state, outbound.data.method) = (OutboundState::AwaitingResponse, Method::TaskUpdate);
        }
    }

    /// Ends the requests of the old connection. Parks subscriptions and tasks. Releases requests that have no further
    /// event. The next polls report the end of all other requests.
    fn end_connection(&mut self) {
        self.peer.in_flight.clear_queue();
        self.end_client_tasks(true);
        let mut next = 0;
        while let Some(ticket) = self.peer.in_flight.next_from(&mut next) {
            match self.peer.in_flight.get(ticket).copied() {
                Some(Request::Inbound(inbound)) => match inbound.state {
                    _ if !inbound.is_for_application() => self.peer.in_flight.release(ticket),
                    InboundState::Deferred | InboundState::DeferredWhileActive | InboundState::Open => {
                        self.peer.drop_deferred(ticket);
                    }
                    InboundState::Expired => self.peer.in_flight.release(ticket),
                    InboundState::Dropped => {}
                },
                Some(Request::Outbound(outbound)) => match outbound.state {
                    state if state.is_closed() => self.peer.in_flight.release(ticket),
                    OutboundState::Failed(_) => {}
                    _ if self.park(ticket) => {}
                    _ => self.peer.fail_request(ticket, RequestFailure::Closed),
                },
                None => {}
            }
        }
    }

    /// Queues parked subscriptions and tasks for the new connection. Fails a subscription or a task that the new server
    /// does not support.
    ///
    /// A task that needs input remains unchanged only if the new server has `tasks/update`, because this request
    /// carries the input responses. Otherwise the client polls the task.
    pub(crate) fn resubscribe(&mut self) {
        let has_tasks = self.has_server_capability(ServerCapabilities::TASKS);
        let has_updates = has_tasks && self.has(WireFeature::TasksExtension);
        let mut next = 0;
        while let Some(ticket) = self.peer.in_flight.next_from(&mut next) {
            let Some(outbound) = self.peer.in_flight.outbound(ticket) else { continue };
            let (state, is_task) = (outbound.state, outbound.data.method.is_task());
            let continues = match state {
                OutboundState::Parked => true,
                OutboundState::NeedsInput => is_task && !has_updates,
                _ => false,
            };
            match self.config.tasks.filter(|_| is_task) {
                _ if !continues => {}
                Some(tasks) if has_tasks => (tasks.hooks.on_connected)(self, ticket),
                None if self.has(WireFeature::Subscriptions) => {
                    self.peer.in_flight.set_state(ticket, OutboundState::Resubscribe);
                    self.peer.in_flight.enqueue(ticket);
                }
                _ => self.peer.fail_request(ticket, RequestFailure::Closed),
            }
        }
    }
}
