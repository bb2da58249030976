//! Client state for sending: output, requests in flight, negotiated session.

use core::mem;

use crate::buffer::Buffer;
use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::writer::member_cache::MemberCache;
use crate::json::{KNOWN_OBJECTS, KnownObject, Span, WriteBody};
use crate::peer::inbound::{Source, write_response};
use crate::peer::lifecycle::{self, State, Table, Trigger, role};
use crate::peer::outbound::IssuedId;
use crate::peer::request::{Flags, Outbound, OutboundState, Request};
use crate::peer::response::RequestFailure;
use crate::peer::slots::{InFlight, Ticket};
use crate::peer::tasks::storage::Storage;
use crate::peer::tasks::table::TaskTable;
use crate::peer::transmit_buffer::{Overflow, TransmitBuffer};
use crate::peer::{Peer, Role};
use crate::platform::cold_path;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::{Era, Revision, Revisions, WireFeature};
use crate::time::Millis;

use crate::client::config::{ClientConfig, Connect};
use crate::client::keep_alive::KeepAliveHooks;
use crate::client::method_properties::Method;
use crate::client::options::{Meta, Options};
use crate::client::pending_event::{PendingEvent, PendingOutcome, PendingResponse};
use crate::client::request_data::{SentRequest, stream_of};
use crate::client::server_requests::input_request::InputKind;
use crate::client::subscriptions::LISTEN;

/// The negotiated session: the revision and the server's capabilities.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Session {
    pub(crate) revision: Revision,
    pub(crate) capabilities: ServerCapabilities,
}

/// The requests in flight.
pub(crate) type RequestTable<'b> = InFlight<'b, Request<InputKind, SentRequest>>;

const _: () = assert!(size_of::<Session>() <= 64, "a session exceeds 64 bytes");

impl Role for role::Client {
    const TABLE: Table = lifecycle::CLIENT;
    const START: State = State::Start;
    type Session = Session;
    type Inbound = InputKind;
    type Outbound = SentRequest;
    /// Each request gets the next sequence number.
    type Sequence = u64;
    /// One id of each sequence number belongs to a request without a slot: a connecting request, or the cancellation of
    /// a late task.
    const OTHER_IDS: u32 = 1;
    const PROGRESS_EXTENDS: bool = true;

    fn find_issued(peer: &Peer<'_, role::Client>, sequence: u64, index: u32) -> IssuedId {
        if sequence >= peer.next_sequence {
            cold_path();
            return IssuedId::Unknown;
        }
        let Some(slot) = index.checked_sub(1) else {
            cold_path();
            return IssuedId::Other(sequence);
        };
        match peer.in_flight.request_in_slot(slot) {
            Some((ticket, Request::Outbound(outbound))) if outbound.data.sequence == sequence => {
                IssuedId::Request(ticket)
            }
            _ => {
                cold_path();
                IssuedId::Ended
            }
        }
    }
}

/// The connecting request, queued or in flight: `server/discover` or `initialize`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connecting {
    pub(crate) sequence: u64,
    pub(crate) deadline: Millis,
}

pub(crate) struct ClientState<'b> {
    pub(crate) config: &'b ClientConfig<'b>,
    pub(crate) peer: Peer<'b, role::Client>,
    /// Cached `_meta` members. These members are the same in all requests of a revision.
    pub(crate) meta_cache: MemberCache,
    /// The `_meta` of the response to `server/discover`, unless this `_meta` is too long. Most servers repeat the
    /// `_meta` in each result, and the scanner skips the repetitions.
    pub(crate) result_meta: [KnownObject; KNOWN_OBJECTS],
    pub(crate) keep_alive_hooks: Option<&'static KeepAliveHooks>,
    /// The setting that selects the eras of the current connection.
    pub(crate) connect: Connect,
    /// The setting that selects the eras of later connections, as configured or as `set_connect` narrowed it.
    pub(crate) next_connect: Connect,
    pub(crate) connecting: Option<Connecting>,
    /// Whether `extend_connect` has extended the timeout of the connecting request.
    pub(crate) connect_extended: bool,
    /// Revisions that the client has already requested on this connection.
    pub(crate) tried: Revisions,
    /// Revision and trigger of a connecting request that waits for transmit space.
    pub(crate) unsent_connect: Option<(Revision, Trigger)>,
    /// Whether the response to an abandoned probe (`server/discover`) may still arrive, possibly without an id.
    pub(crate) probe_abandoned: bool,
    /// Revisions in the late response to the abandoned probe.
    pub(crate) late_revisions: Revisions,
    /// Whether the client repeated the probe after a refusal, which the client does once. A stateless server may refuse
    /// `initialize` after the probe timeout, or may refuse a revision that its error names as supported.
    pub(crate) refused_probe_repeated: bool,
    /// Whether the client repeated the probe because bytes of the response were lost, which the client does once.
    pub(crate) lost_probe_repeated: bool,
    /// Whether `notifications/initialized` waits to be written.
    pub(crate) initialized_pending: bool,
    /// Whether `notifications/roots/list_changed` waits to be written.
    pub(crate) roots_changed_pending: bool,
    /// The span of the id, if the last event is a request of the server.
    pub(crate) request_id: Span,
    /// Whether a request for the application or about tasks was received, but waits until the transmit buffer has space
    /// for its response.
    pub(crate) server_request_waits: bool,
    /// The table of the tasks that the client runs. `None` without a table, and during `with_client_tasks`.
    pub(crate) client_tasks: Option<Storage<'b, TaskTable<'b>>>,
    /// The event that the next call of `Client::event` returns. The poll after that call drops the event.
    pub(crate) pending_event: Option<PendingEvent>,
    /// Whether the application has called `Client::event` since the last poll.
    pub(crate) event_received: bool,
}

/// Maximum length of the id of a request of the server, in bytes. The client does not respond to a request with a
/// longer id.
pub(crate) const ID_LIMIT: usize = 64;

/// Maximum size, without the id, of a response from the client itself.
const MAX_OWN_RESPONSE_SIZE: usize = 168;

/// Number of bytes reserved for a response from the client itself, including the id.
pub(crate) const RESERVE: usize = ID_LIMIT + MAX_OWN_RESPONSE_SIZE;

impl<'b> ClientState<'b> {
    pub(crate) fn new(config: &'b ClientConfig<'b>, tx: Buffer<'b>) -> ClientState<'b> {
        ClientState {
            config,
            peer: Peer::new(TransmitBuffer::new(tx)),
            meta_cache: MemberCache::new(),
            result_meta: [const { KnownObject::EMPTY }; KNOWN_OBJECTS],
            keep_alive_hooks: None,
            connect: config.connect,
            next_connect: config.connect,
            connecting: None,
            connect_extended: false,
            unsent_connect: None,
            tried: Revisions::NONE,
            probe_abandoned: false,
            late_revisions: Revisions::NONE,
            refused_probe_repeated: false,
            lost_probe_repeated: false,
            initialized_pending: false,
            roots_changed_pending: false,
            request_id: Span::MISSING,
            server_request_waits: false,
            client_tasks: None,
            pending_event: None,
            event_received: false,
        }
    }

    /// Sets the event that the next call of `Client::event` returns.
    #[inline]
    pub(crate) fn emit(&mut self, event: PendingEvent) {
        self.pending_event = Some(event);
    }

    /// Sets the event for the end of a request. For a request about a task, the event reports the end of the call that
    /// became the task. The end of a subscription to a task has no event, because the client itself sent the
    /// subscription.
    #[inline]
    pub(crate) fn emit_response(&mut self, ticket: Ticket, method: Method, outcome: PendingOutcome) {
        if method == Method::TaskListen {
            cold_path();
            return;
        }
        let method = method.in_events();
        self.emit(PendingEvent::Response(PendingResponse { ticket, method, outcome }));
    }

    /// Sets the event for the failure of a request.
    pub(crate) fn emit_failure(&mut self, ticket: Ticket, method: Method, failure: RequestFailure) {
        self.emit_response(ticket, method, PendingOutcome::Failed(failure));
    }

    /// Drops the pending event if the application has called `Client::event` since the last poll.
    pub(crate) fn drop_received_event(&mut self) {
        if mem::take(&mut self.event_received) {
            self.pending_event = None;
        }
    }

    /// Resets the connection, but keeps the requests in flight.
    pub(crate) fn reset_connection(&mut self) {
        self.peer.reset_connection();
        (self.connecting, self.unsent_connect) = (None, None);
        (self.tried, self.late_revisions) = (Revisions::NONE, Revisions::NONE);
        (self.refused_probe_repeated, self.lost_probe_repeated) = (false, false);
        (self.probe_abandoned, self.server_request_waits) = (false, false);
        (self.initialized_pending, self.roots_changed_pending) = (false, false);
    }

    /// Returns the maximum size of a request that the client may write now, in bytes. While the server may send
    /// requests, the free space excludes a reserve for responses.
    pub(crate) fn request_space(&self) -> usize {
        let reserve = if self.responds_to_requests() { RESERVE } else { 0 };
        self.peer.output.free(reserve)
    }

    /// Returns whether the negotiated revision has this feature. Returns `false` before the client is connected.
    pub(crate) fn has(&self, feature: WireFeature) -> bool {
        self.peer.session.is_some_and(|session| session.revision.has(feature))
    }

    /// Returns whether the client responds to requests of the server: always, except in the stateless era, which has no
    /// such requests.
    pub(crate) fn responds_to_requests(&self) -> bool {
        !self.has(WireFeature::StatelessRequests)
    }

    /// Sends a request of the application. `params` writes the members of the parameters, and returns `false` if these
    /// members are not valid. After an error, nothing is sent.
    pub(crate) fn begin_request(
        &mut self,
        name: &str,
        options: Options<'_>,
        params: &mut dyn WriteBody,
    ) -> Result<Ticket, SendError> {
        self.begin_request_as(Method::from_name(name), name, options, params)
    }

    /// Sends a request like [`begin_request`](Self::begin_request). `method` replaces the kind that belongs to `name`.
    #[inline]
    pub(crate) fn begin_request_as(
        &mut self,
        method: Method,
        name: &str,
        options: Options<'_>,
        params: &mut dyn WriteBody,
    ) -> Result<Ticket, SendError> {
        let session = self.writable_session()?;
        let more = options.members()?;
        let timeouts = self.config.timeouts;
        let flags = match options {
            Options { progress: false, .. } => Flags::NONE,
            Options { ignore_progress: true, .. } => Flags::PROGRESS,
            _ => Flags::PROGRESS_EXTENDS,
        };
        let maximum = options.maximum.unwrap_or(timeouts.maximum);
        let data = SentRequest::new(self.peer.next_sequence, method, maximum, options.log_level);
        let outbound = Outbound::new(options.timeout.unwrap_or(timeouts.request), flags, data);
        // The deadline is immediate, so that the next poll starts the timeout.
        let in_flight = &mut self.peer.in_flight;
        let Some(ticket) = in_flight.take(Request::Outbound(outbound), Some(Millis::ZERO)) else {
            return Err(self.full());
        };
        if let Some(more) = more
            && !self.store_meta(ticket, method, more)
        {
            // The error is not `Busy`, because the slot does not gain space when the output is sent.
            self.peer.in_flight.release(ticket);
            return Err(SendError::Unwritable);
        }
        let id = self.id_of(self.peer.next_sequence, Some(ticket.slot));
        let space = self.request_space();
        let meta = Meta { token: options.progress.then_some(id), level: options.log_level, more };
        match self.write_request(id, (method, name), session.revision, space, meta, params) {
            Ok(()) => {
                self.peer.next_sequence = self.peer.next_sequence.saturating_add(1);
                Ok(ticket)
            }
            Err(unwritten) => {
                cold_path();
                Err(self.drop_request(ticket, unwritten))
            }
        }
    }

    /// Returns whether the client is connected, so that the application may send requests.
    #[inline]
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.peer.lifecycle.state(), State::Ready | State::Stateless)
    }

    #[inline]
    pub(crate) fn era(&self) -> Option<Era> {
        self.peer.session.map(|session| session.revision.era())
    }

    /// Writes one queued message, such as a cancellation. Drops a message that never fits.
    ///
    /// Returns `false` if no message is queued, or if the message stays queued because the transmit buffer lacks space.
    #[inline]
    pub(crate) fn write_queued(&mut self) -> bool {
        self.has_queued() && self.write_next_queued()
    }

    /// Returns whether a message is queued for [`write_queued`](Self::write_queued).
    #[inline]
    pub(crate) fn has_queued(&self) -> bool {
        self.unsent_connect.is_some()
            | self.initialized_pending
            | self.roots_changed_pending
            | self.peer.in_flight.has_queued()
    }

    /// Returns whether a message about a task that the client runs waits for transmit space. Such a message precedes
    /// all queued messages.
    #[inline]
    pub(crate) fn awaits_task_message(&self) -> bool {
        let is_pending = self.client_tasks.as_ref().is_some_and(|table| table.is_pending);
        is_pending && self.is_connected() && !self.initialized_pending
    }

    #[cold]
    #[inline(never)]
    fn write_next_queued(&mut self) -> bool {
        if let Some((revision, trigger)) = self.unsent_connect {
            return self.write_connecting(revision, trigger);
        }
        if self.initialized_pending {
            self.initialized_pending = !self.write_own(methods::INITIALIZED.name);
            return !self.initialized_pending;
        }
        if self.roots_changed_pending {
            self.roots_changed_pending = !self.write_own(methods::ROOTS_LIST_CHANGED.name);
            return !self.roots_changed_pending;
        }
        let Some(ticket) = self.peer.in_flight.queue_front() else { return false };
        let outbound = match self.peer.in_flight.get(ticket) {
            Some(Request::Outbound(outbound)) => *outbound,
            Some(Request::Inbound(inbound)) => {
                let (source, stream) = (Source::Slot(ticket), inbound.stream);
                self.peer.output.compact();
                if self.write_error(&source, stream, ProtocolError::TimedOut, usize::MAX).is_err() {
                    return false;
                }
                self.peer.in_flight.dequeue();
                self.peer.in_flight.release(ticket);
                return true;
            }
            None => return false,
        };
        let (written, failure) = match (outbound.state, outbound.data.method) {
            (OutboundState::NextPage, Method::List(list)) => {
                let sent = self.resend(ticket, list.properties().method, &mut |out, cursor| {
                    out.field_bytes("cursor", cursor);
                });
                (sent, Some(RequestFailure::CursorTooLong))
            }
            (OutboundState::Resubscribe, _) => {
                let sent = self.resend(ticket, LISTEN, &mut |out, filter| {
                    out.field_bytes("notifications", filter);
                });
                (sent, Some(RequestFailure::Closed))
            }
            (OutboundState::TaskPending, _) => {
                let sent = self.config.tasks.map_or(Ok(()), |tasks| (tasks.hooks.write_queued)(self, ticket));
                (sent, Some(RequestFailure::StateTooLong))
            }
            (OutboundState::CancelPending | OutboundState::TaskCancelPending, _) => {
                let mut written = self.write_cancel(ticket, &outbound.data, None);
                if written.is_err() && self.peer.output.is_empty() {
                    // A cancellation without a reason fits.
                    written = self.write_cancel(ticket, &outbound.data, Some(""));
                }
                (written, None)
            }
            _ => (Ok(()), None),
        };
        // A message that does not fit into an empty buffer never fits. If the message cancels a task, the client omits
        // it. Otherwise the request fails.
        if written.is_err() && !self.peer.output.is_empty() {
            return false;
        }
        self.peer.in_flight.dequeue();
        match failure {
            Some(failure) if written.is_err() => self.peer.fail_request(ticket, failure),
            Some(_) => {}
            None => self.peer.in_flight.release(ticket),
        }
        true
    }

    fn write_cancel(
        &mut self,
        ticket: Ticket,
        request: &SentRequest,
        reason: Option<&str>,
    ) -> Result<(), Overflow> {
        if self.peer.response_pending {
            return Err(Overflow);
        }
        if let Some(tasks) = self.config.tasks
            && request.method.is_task()
        {
            return (tasks.hooks.write_cancel)(self, ticket);
        }
        let id = self.id_of(request.sequence, Some(ticket.slot));
        let routing = Routing::on_stream(OutboundMessageKind::Abort, stream_of(id));
        self.peer.write_cancellation(ticket, id, routing, reason, usize::MAX)
    }

    /// Abandons a request. If the request is open at the server, the client sends a cancellation as soon as the
    /// transmit buffer has space. A task is cancelled only if the server supports `tasks/cancel`. A cancellation that
    /// has to wait contains the reason only if the slot's text and the transmit buffer have space for the reason.
    pub(crate) fn abandon(&mut self, ticket: Ticket, reason: &str) {
        let Some(outbound) = self.peer.in_flight.outbound(ticket).copied() else { return };
        match outbound.state {
            // The server has no open request to cancel. The client releases the slot when the slot leaves the queue.
            OutboundState::NextPage | OutboundState::Resubscribe => {
                self.peer.close_request(ticket, OutboundState::Closed);
            }
            // The cancellation replaces the next request about the task, which is in the queue.
            OutboundState::TaskPending => self.peer.close_request(ticket, OutboundState::TaskCancelPending),
            OutboundState::NeedsInput | OutboundState::AwaitingResponse | OutboundState::TaskWaiting
                if outbound.data.method.is_task() =>
            {
                match self.write_cancel(ticket, &outbound.data, None) {
                    Ok(()) => self.peer.in_flight.release(ticket),
                    Err(Overflow) => {
                        self.peer.close_request(ticket, OutboundState::TaskCancelPending);
                        self.peer.in_flight.enqueue(ticket);
                    }
                }
            }
            // The request has failed, the server has responded, or the connection is lost.
            OutboundState::Failed(_)
            | OutboundState::NeedsInput
            | OutboundState::Parked
            | OutboundState::TaskWaiting => self.release_request(ticket),
            OutboundState::AwaitingResponse | OutboundState::Listening => {
                match self.write_cancel(ticket, &outbound.data, Some(reason)) {
                    Ok(()) => self.peer.in_flight.release(ticket),
                    Err(Overflow) => self.peer.queue_cancellation(ticket, reason),
                }
            }
            OutboundState::CancelPending | OutboundState::TaskCancelPending | OutboundState::Closed => {}
        }
    }

    /// Returns the open outbound request of a ticket, or `None` if there is none.
    ///
    /// A request is not open if the application cancelled it, or if an event has reported its end.
    pub(crate) fn open_request(&self, ticket: Ticket) -> Option<&Outbound<SentRequest>> {
        self.peer.in_flight.outbound(ticket).filter(|outbound| !outbound.state.is_closed())
    }

    /// Returns whether the output has contiguous space for a response from the client itself.
    pub(crate) fn has_own_response_space(&mut self) -> bool {
        let overhead = self.peer.output.overhead();
        self.peer.output.has_space(RESERVE.saturating_add(overhead))
    }

    /// Responds to a request of the server with `error`, or with an empty result if `error` is `None`. The caller must
    /// have reserved space for the response.
    pub(crate) fn respond_by_itself(&mut self, id: &[u8], stream: StreamId, error: Option<ProtocolError>) {
        self.peer.output.compact();
        if let Some(error) = error {
            let _ = self.write_error(&Source::from_id(id), stream, error, usize::MAX);
            return;
        }
        let routing = Routing::on_stream(OutboundMessageKind::Result, stream);
        let _ = write_response(&mut self.peer.output, routing, usize::MAX, |out| {
            out.wrapped(r#"{"jsonrpc":"2.0","id":"#, id, r#","result":{}}"#);
            true
        });
    }
}
