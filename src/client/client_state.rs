//! What sending needs: the output, the requests in flight, and what is known of the server.

use crate::buffer::Buffer;
use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{About, StreamId};
use crate::json::{Json, Writer, text_of};
use crate::peer::keep_alive::{ID_PREFIX, KeepAliveState};
use crate::peer::lifecycle::{Lifecycle, State, Trigger, role};
use crate::peer::response::RequestFailure;
use crate::peer::slots::{InFlight, Ticket};
use crate::peer::transmit_buffer::{Overflow, TransmitBuffer};
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::{Era, Revision, Revisions};
use crate::time::Millis;

use crate::client::config::ClientConfig;
use crate::client::connect;
use crate::client::method::Method;
use crate::client::notify::write_notification;
use crate::client::options::{Meta, Options};
use crate::client::outbound_request::{OutboundRequest, Progress, Stage};
use crate::client::server_requests::{Owed, write_fault};
use crate::client::subscriptions::LISTEN;
use crate::client::timeout::Timeout;

/// What is known of the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
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
    pub(crate) peer: Option<Peer>,
    pub(crate) connecting: Option<Connecting>,
    /// Revisions that were asked for.
    pub(crate) tried: Revisions,
    /// The request that connects has found no room yet: how it is to be written.
    pub(crate) unsent: Option<(Revision, Trigger)>,
    /// Nobody waits for the answer to the probe any more, which may come all the same, and without an id.
    pub(crate) given_up_probe: bool,
    /// The probe was sent once more, because the server was only slow.
    pub(crate) probed_again: bool,
    /// `notifications/initialized` is still to be written.
    pub(crate) owes_initialized: bool,
    /// `notifications/roots/list_changed` is still to be written.
    pub(crate) owes_roots: bool,
    pub(crate) now: Millis,
    /// The number of the next request.
    pub(crate) sequence: u64,
    /// How many bytes are kept free for the machine's own answers to the server.
    pub(crate) reserve: usize,
    /// What an answer of the host's may use, and what has to be free before a request is handed out.
    pub(crate) reply_room: usize,
    /// Where the output must end at the latest while the host answers.
    pub(crate) budget: usize,
    /// The request of the server's that the host is to answer now.
    pub(crate) owed: Option<Owed>,
    /// A request of the server's waits for room.
    pub(crate) ask_waits: bool,
    /// What went wrong while the host answered; reported at the next poll.
    pub(crate) fault: Option<ProtocolError>,
    pub(crate) wants_room: bool,
    pub(crate) keep_alive: KeepAliveState,
}

/// The longest id of a server's request that is answered, in bytes.
pub(crate) const ID_LIMIT: usize = 64;

/// The longest answer to a server beside its id.
const LONGEST_ANSWER: usize = 168;

/// The longest head and end of a request that connects.
const REQUEST_HEAD: usize = 96;

impl<'b> ClientState<'b> {
    pub(crate) fn new(info: &'b ClientConfig<'b>, tx: Buffer<'b>) -> ClientState<'b> {
        let output = TransmitBuffer::new(tx);
        ClientState {
            info,
            reply_room: output.reply_room(),
            output,
            in_flight: InFlight::none(),
            life: Lifecycle::START,
            peer: None,
            connecting: None,
            unsent: None,
            tried: Revisions::NONE,
            given_up_probe: false,
            probed_again: false,
            owes_initialized: false,
            owes_roots: false,
            now: Millis::ZERO,
            sequence: 0,
            reserve: ID_LIMIT.saturating_add(LONGEST_ANSWER),
            budget: 0,
            owed: None,
            ask_waits: false,
            fault: None,
            wants_room: false,
            keep_alive: KeepAliveState::OFF,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.in_flight.clear();
        self.begin_again();
    }

    /// A new connection. What is in flight stays as it is.
    pub(crate) fn begin_again(&mut self) {
        self.output.reset();
        self.life = Lifecycle::START;
        (self.peer, self.connecting, self.unsent, self.tried) = (None, None, None, Revisions::NONE);
        (self.given_up_probe, self.probed_again) = (false, false);
        (self.owes_initialized, self.wants_room) = (false, false);
        (self.owes_roots, self.owed, self.ask_waits, self.fault) = (false, None, false, None);
        self.keep_alive.reset();
    }

    /// How many bytes the largest message takes that the machine writes by itself.
    pub(crate) fn measure(&self) -> usize {
        let mut largest = self.reserve;
        for revision in self.info.revisions.newest_first() {
            let mut out = Writer::measure();
            connect::write_params(self.info, revision, &mut out);
            self.info.write_meta(revision, Meta { token: Some(u64::MAX), ..Meta::default() }, &mut out);
            largest = largest.max(out.len().saturating_add(REQUEST_HEAD));
        }
        largest.saturating_add(self.output.overhead())
    }

    /// Writes a message into what is free, wherever that is.
    pub(crate) fn send(
        &mut self,
        about: About,
        room: usize,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), Overflow> {
        self.output.compact();
        self.output.write(about, room, body)
    }

    /// What a request may use: not what is kept for answers, where any are given.
    pub(crate) fn room(&self) -> usize {
        let kept = if self.answers() { self.reserve } else { 0 };
        self.output.free().saturating_sub(kept)
    }

    /// Whether the revision has batches.
    pub(crate) fn takes_batches(&self) -> bool {
        self.peer.is_some_and(|peer| peer.revision == Revision::V2025_03_26)
    }

    /// Whether requests of the server are answered. The stateless era forbids it.
    pub(crate) fn answers(&self) -> bool {
        self.era() != Some(Era::Stateless)
    }

    /// Sends a request of the host's, if it may be sent now.
    pub(crate) fn begin(
        &mut self,
        name: &str,
        options: Options<'_>,
        params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<Ticket, SendError> {
        self.begin_as(Method::from_name(name), name, options, params)
    }

    /// The same for a method that is more than its name says.
    pub(crate) fn begin_as(
        &mut self,
        method: Method,
        name: &str,
        options: Options<'_>,
        params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<Ticket, SendError> {
        let Some(peer) = self.peer.filter(|_| self.is_connected()) else {
            return Err(SendError::NotConnected);
        };
        if self.owes_initialized || self.is_promised() {
            self.wants_room = true;
            return Err(SendError::Busy);
        }
        let more = options.members()?;
        // A server that does not log would not know what to do with a level.
        let level = options.log_level.filter(|_| self.can(ServerCapabilities::LOGGING));
        let timeouts = self.info.timeouts;
        let outgoing = OutboundRequest {
            sequence: self.sequence,
            method,
            stage: Stage::Waiting,
            progress: match options {
                Options { progress: false, .. } => Progress::Nothing,
                Options { ignore_progress: true, .. } => Progress::Shown,
                _ => Progress::BuysTime,
            },
            timeout: Timeout::new(options.timeout.unwrap_or(timeouts.request)),
            maximum: options.maximum.unwrap_or(timeouts.maximum),
            level,
            ..crate::peer::slots::Data::EMPTY
        };
        // Due at once: the next poll starts its clock.
        let Some(ticket) = self.in_flight.take(outgoing, Some(Millis::ZERO)) else {
            // Slots whose requests are over, but for something to be written, are free as soon as there is room.
            self.wants_room |= self.in_flight.first_queued().is_some();
            return Err(SendError::Full);
        };
        if !self.keep_meta(ticket, method, more) {
            self.in_flight.release(ticket);
            return Err(SendError::Unwritable);
        }
        let id = self.id_of(self.sequence, Some(ticket.slot));
        let room = self.room();
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
                Err(self.refused(valid))
            }
        }
    }
    /// Whether requests may be sent.
    #[inline]
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.life.state(), State::Ready | State::Stateless)
    }

    pub(crate) fn era(&self) -> Option<Era> {
        self.peer.map(|peer| peer.revision.era())
    }

    /// Sends one thing that waits for room: the handshake, its end, a cancellation, a request for the next page.
    /// `true`: there was one, and it is sent.
    pub(crate) fn write_queued(&mut self) -> bool {
        if let Some((revision, trigger)) = self.unsent {
            return self.write_connecting(revision, trigger);
        }
        if self.owes_initialized {
            let sent = self.send(About::NOTIFICATION, usize::MAX, &mut |out| {
                write_notification(out, methods::INITIALIZED.name, &mut |_| true);
            });
            self.owes_initialized = sent.is_err();
            return sent.is_ok();
        }
        if self.owes_roots {
            let room = self.room();
            let sent = self.send(About::NOTIFICATION, room, &mut |out| {
                write_notification(out, methods::ROOTS_LIST_CHANGED.name, &mut |_| true);
            });
            self.owes_roots = sent.is_err();
            return sent.is_ok();
        }
        let Some(ticket) = self.in_flight.first_queued() else { return false };
        let Some(outgoing) = self.in_flight.get(ticket).copied() else { return false };
        let written = match outgoing.stage {
            Stage::Cancelled => self.write_cancel(ticket, outgoing, ""),
            Stage::NextPage => match outgoing.method {
                Method::List(list) => self.send_again(ticket, list.method(), &mut |out, cursor| {
                    out.key("cursor");
                    out.json_bytes(cursor);
                }),
                _ => Ok(()),
            },
            Stage::Expired => self.write_expired(ticket, outgoing),
            Stage::Relisten => self.send_again(ticket, LISTEN, &mut |out, filter| {
                out.key("notifications");
                out.json_bytes(filter);
            }),
            _ => Ok(()),
        };
        // A request that does not even fit alone never will.
        let goes_on = matches!(outgoing.stage, Stage::NextPage | Stage::Relisten);
        let hopeless = written.is_err() && goes_on && self.output.is_empty();
        if written.is_err() && !hopeless {
            return false;
        }
        self.in_flight.unqueue_first();
        match outgoing.stage {
            Stage::NextPage if hopeless => self.end_list(ticket, RequestFailure::CursorTooLong),
            Stage::Relisten if hopeless => self.end_list(ticket, RequestFailure::Closed),
            Stage::NextPage | Stage::Relisten => {}
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
        if self.owed.is_some() {
            return Err(Overflow);
        }
        let id = self.id_of(outgoing.sequence, Some(ticket.slot));
        self.output.compact();
        let kept = text_of(self.in_flight.text(ticket));
        let reason = if outgoing.stage == Stage::Cancelled { kept } else { reason };
        self.output.write(About::NOTIFICATION, usize::MAX, &mut |out| {
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

    /// The host does not want the answer any more, or has waited long enough. The server is told: now, or when there
    /// is room, with the reason if the slot's text can keep it for so long.
    pub(crate) fn give_up(&mut self, ticket: Ticket, reason: &str) {
        let Some(outgoing) = self.in_flight.get(ticket).copied() else { return };
        self.in_flight.set_deadline(ticket, None);
        match outgoing.stage {
            // It is in the queue already, and the server has answered the page before.
            Stage::NextPage | Stage::Relisten => self.set_stage(ticket, Stage::Over),
            // The server has answered it, or is gone.
            Stage::Failed(_) | Stage::NeedsInput | Stage::Kept => self.in_flight.release(ticket),
            Stage::Waiting | Stage::Listening if self.write_cancel(ticket, outgoing, reason).is_ok() => {
                self.in_flight.release(ticket)
            }
            Stage::Waiting | Stage::Listening => {
                self.set_stage(ticket, Stage::Cancelled);
                if !self.in_flight.set_text(ticket, [reason.as_bytes(), b""]) {
                    self.in_flight.set_text(ticket, [b"", b""]);
                }
                self.in_flight.queue(ticket);
            }
            Stage::Cancelled | Stage::Over | Stage::ServerRequest | Stage::Expired => {}
        }
    }

    pub(crate) fn set_stage(&mut self, ticket: Ticket, stage: Stage) {
        if let Some(outgoing) = self.in_flight.get_mut(ticket) {
            outgoing.stage = stage;
        }
    }

    /// A request as the host may see it: not one whose end it has heard, nor one of the server's.
    pub(crate) fn open(&self, ticket: Ticket) -> Option<&OutboundRequest> {
        self.in_flight.get(ticket).filter(|outgoing| {
            outgoing.asked.is_none() && !matches!(outgoing.stage, Stage::Cancelled | Stage::Over)
        })
    }

    /// The request whose progress a token stands for.
    pub(crate) fn find_token(&self, token: Json<'_>) -> Option<Ticket> {
        let ticket = self.find(token)?;
        let outgoing = self.in_flight.get(ticket)?;
        (outgoing.wants_progress() && outgoing.stage == Stage::Waiting).then_some(ticket)
    }

    /// Whether there is room to answer the server.
    pub(crate) fn can_answer(&mut self) -> bool {
        self.output.free() >= self.reserve.saturating_add(self.output.overhead())
    }

    /// Answers a request of the server's: with an empty result, or with the error of a fault.
    pub(crate) fn answer(&mut self, id: &[u8], stream: StreamId, fault: Option<ProtocolError>) {
        let _ = self.send(About::response(stream), usize::MAX, &mut |out| match fault {
            None => {
                out.token(r#"{"jsonrpc":"2.0","id":"#);
                out.json_bytes(id);
                out.token(r#","result":{}}"#);
            }
            Some(fault) => write_fault(out, id, fault),
        });
    }

    /// Asks the server whether it is there: with `ping`, or with what every server has that knows no `ping`.
    pub(crate) fn write_ping(&mut self) {
        let Some(peer) = self.peer else { return };
        let method = match peer.revision.era() {
            Era::Handshake => methods::PING.name,
            Era::Stateless => methods::SERVER_DISCOVER.name,
        };
        let (number, info) = (self.keep_alive.next(), self.info);
        let sent = self.send(About::REQUEST, usize::MAX, &mut |out| {
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
            self.keep_alive.asked(self.now);
        }
    }
}
