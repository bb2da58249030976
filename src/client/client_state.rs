//! Client state for sending: output, requests in flight, negotiated session.

use crate::buffer::Buffer;
use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::{Json, Writer, text_of};
use crate::peer::keep_alive::{ID_PREFIX, KeepAliveState};
use crate::peer::lifecycle::{Lifecycle, State, Trigger, role};
use crate::peer::response::RequestFailure;
use crate::peer::slots::{InFlight, Ticket};
use crate::peer::transmit_buffer::{Overflow, TransmitBuffer};
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::{Era, Revision, Revisions, WireFeature};
use crate::time::Millis;

use crate::client::config::ClientConfig;
use crate::client::connect;
use crate::client::method::Method;
use crate::client::notify::write_notification;
use crate::client::options::{Meta, Options};
use crate::client::outbound_request::{OutboundRequest, Progress, Stage, stream_of};
use crate::client::server_requests::{CurrentRequest, error_kind, write_fault};
use crate::client::subscriptions::LISTEN;
use crate::client::timeout::Timeout;

/// The negotiated session, as a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Session {
    pub(crate) revision: Revision,
    pub(crate) capabilities: ServerCapabilities,
}

/// The request that connects: `server/discover` or `initialize`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connecting {
    pub(crate) sequence: u64,
    pub(crate) deadline: Millis,
}

pub(crate) struct ClientState<'b> {
    pub(crate) info: &'b ClientConfig<'b>,
    pub(crate) output: TransmitBuffer<'b>,
    pub(crate) in_flight: InFlight<'b, OutboundRequest>,
    pub(crate) life: Lifecycle<role::Client>,
    pub(crate) peer: Option<Session>,
    pub(crate) connecting: Option<Connecting>,
    /// Revisions that the client has requested.
    pub(crate) tried: Revisions,
    /// Revision and trigger of the connecting request while it waits for transmit space.
    pub(crate) unsent_connect: Option<(Revision, Trigger)>,
    /// Whether the probe was abandoned. Its response may still arrive, possibly without an id.
    pub(crate) probe_abandoned: bool,
    /// Whether the probe was repeated, because the server was only slow.
    pub(crate) probe_repeated: bool,
    /// Whether `notifications/initialized` is not written yet.
    pub(crate) initialized_pending: bool,
    /// Whether `notifications/roots/list_changed` is not written yet.
    pub(crate) roots_changed_pending: bool,
    pub(crate) now: Millis,
    /// The sequence number of the next request.
    pub(crate) sequence: u64,
    /// Bytes reserved for responses that the client writes by itself.
    pub(crate) reserve: usize,
    /// Maximum size of an application's response. This space must be free before a server request is emitted.
    pub(crate) reply_room: usize,
    /// Highest offset in the transmit buffer that the application's response may reach.
    pub(crate) budget: usize,
    /// The server request to which the application is responding.
    pub(crate) current_request: Option<CurrentRequest>,
    /// Whether a request of the server waits for transmit space.
    pub(crate) server_request_waits: bool,
    /// The error in the application's response, emitted at the next poll.
    pub(crate) fault: Option<ProtocolError>,
    pub(crate) writable_requested: bool,
    pub(crate) keep_alive: KeepAliveState,
}

/// Maximum length of a server request's id, in bytes. The client does not respond to a request with a longer id.
pub(crate) const ID_LIMIT: usize = 64;

/// Maximum size of a response that the client writes by itself, without the id.
const LONGEST_ANSWER: usize = 168;

/// The size limit of the connecting request without its parameters.
const REQUEST_HEAD: usize = 96;

impl<'b> ClientState<'b> {
    pub(crate) fn new(info: &'b ClientConfig<'b>, tx: Buffer<'b>) -> ClientState<'b> {
        let output = TransmitBuffer::new(tx);
        ClientState {
            info,
            reply_room: output.reply_room(),
            output,
            in_flight: InFlight::empty(),
            life: Lifecycle::START,
            peer: None,
            connecting: None,
            unsent_connect: None,
            tried: Revisions::NONE,
            probe_abandoned: false,
            probe_repeated: false,
            initialized_pending: false,
            roots_changed_pending: false,
            now: Millis::ZERO,
            sequence: 0,
            reserve: ID_LIMIT.saturating_add(LONGEST_ANSWER),
            budget: 0,
            current_request: None,
            server_request_waits: false,
            fault: None,
            writable_requested: false,
            keep_alive: KeepAliveState::OFF,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.in_flight.clear();
        self.reset_connection();
    }

    /// Resets the connection, and keeps the requests in flight.
    pub(crate) fn reset_connection(&mut self) {
        self.output.reset();
        self.life = Lifecycle::START;
        (self.peer, self.connecting, self.unsent_connect, self.tried) = (None, None, None, Revisions::NONE);
        (self.probe_abandoned, self.probe_repeated) = (false, false);
        (self.initialized_pending, self.writable_requested) = (false, false);
        (self.roots_changed_pending, self.current_request, self.server_request_waits, self.fault) =
            (false, None, false, None);
        self.keep_alive.reset();
    }

    /// The size of the largest message that the client writes by itself, in bytes.
    pub(crate) fn max_message_size(&self) -> usize {
        let mut largest = self.reserve;
        for revision in self.info.revisions.newest_first() {
            let mut out = Writer::measure();
            connect::write_params(self.info, revision, &mut out);
            self.info.write_meta(revision, Meta { token: Some(u64::MAX), ..Meta::default() }, &mut out);
            largest = largest.max(out.len().saturating_add(REQUEST_HEAD));
        }
        largest.saturating_add(self.output.overhead())
    }

    /// Compacts the output, and writes a message of at most `room` bytes.
    pub(crate) fn send(
        &mut self,
        routing: Routing,
        room: usize,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), Overflow> {
        self.output.compact();
        self.output.write(routing, room, body)
    }

    /// The space for a request: the free space without the reserve for responses, if the revision has server requests.
    pub(crate) fn request_room(&self) -> usize {
        let reserve = if self.answers_requests() { self.reserve } else { 0 };
        self.output.free().saturating_sub(reserve)
    }

    /// Whether the client is connected in a revision with this feature.
    pub(crate) fn has(&self, feature: WireFeature) -> bool {
        self.peer.is_some_and(|peer| peer.revision.has(feature))
    }

    /// Whether the client responds to requests of the server. The stateless era forbids it.
    pub(crate) fn answers_requests(&self) -> bool {
        !self.has(WireFeature::StatelessRequests)
    }

    /// Sends a request of the application, if the connection permits it now.
    pub(crate) fn begin_request(
        &mut self,
        name: &str,
        options: Options<'_>,
        params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<Ticket, SendError> {
        self.begin_request_as(Method::from_name(name), name, options, params)
    }

    /// Like [`begin_request`](Self::begin_request), with the kind of request given instead of derived from the name.
    pub(crate) fn begin_request_as(
        &mut self,
        method: Method,
        name: &str,
        options: Options<'_>,
        params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<Ticket, SendError> {
        let Some(peer) = self.peer.filter(|_| self.is_connected()) else {
            return Err(SendError::NotConnected);
        };
        if self.initialized_pending || self.holds_reply_room() {
            self.writable_requested = true;
            return Err(SendError::Busy);
        }
        let more = options.members()?;
        // The client sends a level only to a server that declared `logging`.
        let level = options.log_level.filter(|_| self.has_server_capability(ServerCapabilities::LOGGING));
        let timeouts = self.info.timeouts;
        let outgoing = OutboundRequest {
            sequence: self.sequence,
            method,
            stage: Stage::Waiting,
            progress: match options {
                Options { progress: false, .. } => Progress::Ignored,
                Options { ignore_progress: true, .. } => Progress::Reported,
                _ => Progress::ExtendsTimeout,
            },
            timeout: Timeout::new(options.timeout.unwrap_or(timeouts.request)),
            maximum: options.maximum.unwrap_or(timeouts.maximum),
            level,
            ..crate::peer::slots::Data::EMPTY
        };
        // The deadline is immediate: the next poll starts the timeout.
        let Some(ticket) = self.in_flight.take(outgoing, Some(Millis::ZERO)) else {
            // A slot whose cancellation or error waits for transmit space becomes free after that message is written.
            self.writable_requested |= self.in_flight.queue_front().is_some();
            return Err(SendError::Full);
        };
        if !self.store_meta(ticket, method, more) {
            self.in_flight.release(ticket);
            return Err(SendError::Unwritable);
        }
        let id = self.id_of(self.sequence, Some(ticket.slot));
        let room = self.request_room();
        let meta = Meta { token: options.progress.then_some(id), level, more };
        let mut valid = true;
        let sent = self.write_request(id, name, peer.revision, room, meta, &mut |out| {
            valid &= params(out);
            if !valid {
                out.fail();
            }
        });
        match sent {
            Ok(()) => {
                self.sequence = self.sequence.saturating_add(1);
                Ok(ticket)
            }
            Err(Overflow) => {
                self.in_flight.release(ticket);
                Err(self.send_error(valid))
            }
        }
    }
    /// Whether the connection accepts requests.
    #[inline]
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.life.state(), State::Ready | State::Stateless)
    }

    pub(crate) fn era(&self) -> Option<Era> {
        self.peer.map(|peer| peer.revision.era())
    }

    /// Writes one message that waits for transmit space: the connecting request, `initialized`, a cancellation, a next
    /// page. Returns `true` if a message was written.
    #[inline]
    pub(crate) fn write_queued(&mut self) -> bool {
        let is_waiting =
            self.unsent_connect.is_some() || self.initialized_pending || self.roots_changed_pending;
        (is_waiting || self.in_flight.has_queued()) && self.write_next_queued()
    }

    #[inline(never)]
    fn write_next_queued(&mut self) -> bool {
        if let Some((revision, trigger)) = self.unsent_connect {
            return self.write_connecting(revision, trigger);
        }
        if self.initialized_pending {
            let sent = self.send(Routing::NOTIFICATION, usize::MAX, &mut |out| {
                write_notification(out, methods::INITIALIZED.name, &mut |_| true);
            });
            self.initialized_pending = sent.is_err();
            return sent.is_ok();
        }
        if self.roots_changed_pending {
            let room = self.request_room();
            let sent = self.send(Routing::NOTIFICATION, room, &mut |out| {
                write_notification(out, methods::ROOTS_LIST_CHANGED.name, &mut |_| true);
            });
            self.roots_changed_pending = sent.is_err();
            return sent.is_ok();
        }
        let Some(ticket) = self.in_flight.queue_front() else { return false };
        let Some(outgoing) = self.in_flight.get(ticket).copied() else { return false };
        let written = match outgoing.stage {
            Stage::Cancelled => self.write_cancel(ticket, outgoing, ""),
            Stage::NextPage => match outgoing.method {
                Method::List(list) => self.resend(ticket, list.method(), &mut |out, cursor| {
                    out.key("cursor");
                    out.json_bytes(cursor);
                }),
                _ => Ok(()),
            },
            Stage::Expired => self.write_expired(ticket, outgoing),
            Stage::Resubscribe => self.resend(ticket, LISTEN, &mut |out, filter| {
                out.key("notifications");
                out.json_bytes(filter);
            }),
            _ => Ok(()),
        };
        // A request that does not fit into an empty buffer never fits.
        let is_request = matches!(outgoing.stage, Stage::NextPage | Stage::Resubscribe);
        let never_fits = written.is_err() && is_request && self.output.is_empty();
        if written.is_err() && !never_fits {
            return false;
        }
        self.in_flight.dequeue();
        match outgoing.stage {
            Stage::NextPage if never_fits => self.fail_request(ticket, RequestFailure::CursorTooLong),
            Stage::Resubscribe if never_fits => self.fail_request(ticket, RequestFailure::Closed),
            Stage::NextPage | Stage::Resubscribe => {}
            _ => self.in_flight.release(ticket),
        }
        true
    }

    fn write_cancel(
        &mut self,
        ticket: Ticket,
        outgoing: OutboundRequest,
        reason: &str,
    ) -> Result<(), Overflow> {
        if self.current_request.is_some() {
            return Err(Overflow);
        }
        let id = self.id_of(outgoing.sequence, Some(ticket.slot));
        self.output.compact();
        let stored = text_of(self.in_flight.text(ticket));
        let reason = if outgoing.stage == Stage::Cancelled { stored } else { reason };
        self.output.write(Routing::abort(stream_of(id)), usize::MAX, &mut |out| {
            write_notification(out, methods::CANCELLED.name, &mut |out| {
                out.key("requestId");
                out.unsigned(id);
                if !reason.is_empty() {
                    out.field_string("reason", reason);
                }
                true
            });
        })
    }

    /// Abandons a request, and notifies the server when there is transmit space. A notification that waits carries the
    /// reason only if the slot's text can hold it.
    pub(crate) fn abandon(&mut self, ticket: Ticket, reason: &str) {
        let Some(outgoing) = self.in_flight.get(ticket).copied() else { return };
        self.in_flight.set_deadline(ticket, None);
        match outgoing.stage {
            // The request is queued already, and the server has sent the previous page.
            Stage::NextPage | Stage::Resubscribe => self.set_stage(ticket, Stage::Done),
            // The server has responded, or the connection is lost.
            Stage::Failed(_) | Stage::NeedsInput | Stage::Parked => self.in_flight.release(ticket),
            Stage::Waiting | Stage::Listening if self.write_cancel(ticket, outgoing, reason).is_ok() => {
                self.in_flight.release(ticket)
            }
            Stage::Waiting | Stage::Listening => {
                self.set_stage(ticket, Stage::Cancelled);
                if !self.in_flight.set_text(ticket, [reason.as_bytes(), b""]) {
                    self.in_flight.set_text(ticket, [b"", b""]);
                }
                self.in_flight.enqueue(ticket);
            }
            Stage::Cancelled | Stage::Done | Stage::Deferred | Stage::Expired => {}
        }
    }

    pub(crate) fn set_stage(&mut self, ticket: Ticket, stage: Stage) {
        if let Some(outgoing) = self.in_flight.get_mut(ticket) {
            outgoing.stage = stage;
        }
    }

    /// An open request of the application: its end was not reported, and it is not a request of the server.
    pub(crate) fn open_request(&self, ticket: Ticket) -> Option<&OutboundRequest> {
        self.in_flight.get(ticket).filter(|outgoing| {
            outgoing.input_kind.is_none() && !matches!(outgoing.stage, Stage::Cancelled | Stage::Done)
        })
    }

    /// The request that a progress token belongs to.
    pub(crate) fn find_token(&self, token: Json<'_>) -> Option<Ticket> {
        let ticket = self.find(token)?;
        let outgoing = self.in_flight.get(ticket)?;
        (outgoing.wants_progress() && outgoing.stage == Stage::Waiting).then_some(ticket)
    }

    /// Whether the output has space for a response that the client writes by itself.
    pub(crate) fn can_answer(&mut self) -> bool {
        self.output.free() >= self.reserve.saturating_add(self.output.overhead())
    }

    /// Responds to a server request with an empty result, or with the error that `fault` maps to.
    pub(crate) fn answer(&mut self, id: &[u8], stream: StreamId, fault: Option<ProtocolError>) {
        let kind = fault.map_or(OutboundMessageKind::Result, error_kind);
        let _ = self.send(Routing::response(kind, stream), usize::MAX, &mut |out| match fault {
            None => {
                out.token(r#"{"jsonrpc":"2.0","id":"#);
                out.json_bytes(id);
                out.token(r#","result":{}}"#);
            }
            Some(fault) => write_fault(out, id, fault),
        });
    }

    /// Sends a keep-alive request: `ping`, or `server/discover` in the stateless era, which has no `ping`.
    pub(crate) fn write_ping(&mut self) {
        let Some(peer) = self.peer else { return };
        let method = match peer.revision.era() {
            Era::Handshake => methods::PING.name,
            Era::Stateless => methods::SERVER_DISCOVER.name,
        };
        let (number, info) = (self.keep_alive.next_number(), self.info);
        let sent = self.send(Routing::REQUEST, usize::MAX, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","id":"#);
            out.display(&format_args!("{ID_PREFIX}{number}"));
            out.field_string("method", method);
            if peer.revision.era() == Era::Stateless {
                out.key("params");
                out.begin_object();
                info.write_meta(peer.revision, Meta::default(), out);
                out.end_object();
            }
            out.token("}");
        });
        if sent.is_ok() {
            self.keep_alive.record_ping(self.now);
        }
    }
}
