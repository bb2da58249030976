//! The JSON-RPC endpoint that both roles share: requests in slots, timers, keep-alive, lifecycle, transmit buffer.

pub(crate) mod inbound;
pub(crate) mod keep_alive;
pub(crate) mod lifecycle;
pub(crate) mod observer;
pub(crate) mod outbound;
pub(crate) mod progress_event;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod slots;
pub(crate) mod tasks;
pub(crate) mod timeout;
pub(crate) mod transmit_buffer;

use crate::error::{ProtocolError, SendError};
use crate::framing::{LineDecoder, LineKind};
use crate::json::Json;
use crate::peer::keep_alive::KeepAliveState;
use crate::peer::lifecycle::{Lifecycle, State, Table};
use crate::peer::outbound::IssuedId;
use crate::peer::request::{InboundData, OutboundData, Request};
use crate::peer::slots::InFlight;
use crate::peer::transmit_buffer::TransmitBuffer;
use crate::rpc;
use crate::time::Millis;
#[cfg(feature = "alloc")]
use crate::time::earliest;

/// Types and functions that differ between server and client.
pub(crate) trait Role {
    /// The transitions of a connection's state.
    const TABLE: Table;
    /// The state of a new connection.
    const START: State;
    /// The result of a handshake or, on a client, of a discovery.
    type Session: Copy;
    /// Data of an inbound request, needed for the response.
    type Inbound: InboundData;
    /// Data of an outbound request.
    type Outbound: OutboundData;
    /// The sequence number of the next outbound request. A server stores no such number, because each slot counts its
    /// own requests.
    type Sequence: Copy + Default;
    /// Number of ids per sequence number for requests without a slot. Each sequence number also has one id for each
    /// slot.
    const OTHER_IDS: u32;
    /// Whether progress can restart the timeout of an outbound request. `false` for a server, so that a server does not
    /// link the code for the restart.
    const PROGRESS_EXTENDS: bool;

    /// Resolves the id that [`Peer::id_at`] returns for this sequence number and this index.
    fn find_issued(peer: &Peer<'_, Self>, sequence: u64, index: u32) -> IssuedId
    where
        Self: Sized;
}

/// State of the last event that a received line caused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEvent {
    /// No received line has caused an event since the last [`Action::Io`](crate::Action::Io).
    None,
    /// The buffer retains the line for the event. The poll after the event releases the line.
    Pending,
    /// The application has handled the event, but the caller could not read input since then. A response may be unread,
    /// so pings and requests get more time.
    Handled,
}

impl LineEvent {
    /// Begins a poll. `is_dropped` means that the application has received and dropped the last event. Returns whether
    /// the caller must release the event's line.
    #[inline]
    pub(crate) fn begin_poll(&mut self, is_dropped: bool) -> bool {
        let is_handled = is_dropped && *self == LineEvent::Pending;
        if is_handled {
            *self = LineEvent::Handled;
        }
        is_handled
    }
}

/// State of a JSON-RPC endpoint.
///
/// The byte fields are near the start, because Thumb byte loads encode only small offsets. The order leaves little
/// padding between the fields.
#[repr(C)]
pub(crate) struct Peer<'b, R: Role> {
    pub(crate) now: Millis,
    pub(crate) lifecycle: Lifecycle<R>,
    /// Whether the request in the last event still awaits its response.
    pub(crate) response_pending: bool,
    pub(crate) line_event: LineEvent,
    /// Whether the machine has refused a message of the application, and must emit `Writable` later.
    pub(crate) report_writable: bool,
    /// Number of [late](ProtocolError::is_late) messages. Builds without `alloc` do not count such messages.
    #[cfg(feature = "alloc")]
    pub(crate) late_messages: u16,
    /// `None` before the peers have negotiated a revision.
    pub(crate) session: Option<R::Session>,
    /// Maximum offset in the transmit buffer at which the current request's messages may end.
    pub(crate) budget: usize,
    /// An error that the next poll emits, such as an error in the application's response.
    pub(crate) pending_error: Option<ProtocolError>,
    pub(crate) output: TransmitBuffer<'b>,
    pub(crate) in_flight: InFlight<'b, Request<R::Inbound, R::Outbound>>,
    pub(crate) keep_alive: KeepAliveState,
    pub(crate) next_sequence: R::Sequence,
}

impl<'b, R: Role> Peer<'b, R> {
    pub(crate) fn new(output: TransmitBuffer<'b>) -> Peer<'b, R> {
        Peer {
            now: Millis::ZERO,
            budget: 0,
            lifecycle: Lifecycle::START,
            response_pending: false,
            line_event: LineEvent::None,
            report_writable: false,
            #[cfg(feature = "alloc")]
            late_messages: 0,
            session: None,
            output,
            pending_error: None,
            in_flight: InFlight::empty(),
            keep_alive: KeepAliveState::OFF,
            next_sequence: R::Sequence::default(),
        }
    }

    /// Starts a new connection. Keeps the time and the requests in flight.
    pub(crate) fn reset_connection(&mut self) {
        self.output.reset();
        self.lifecycle = Lifecycle::START;
        (self.response_pending, self.report_writable) = (false, false);
        self.line_event = LineEvent::None;
        (self.session, self.pending_error) = (None, None);
        self.keep_alive.reset();
    }

    /// Returns the error if the machine must report it. For a [late](ProtocolError::is_late) message, counts the
    /// message and returns `None`.
    pub(crate) fn reported(&mut self, error: ProtocolError) -> Option<ProtocolError> {
        if !error.is_late() {
            return Some(error);
        }
        #[cfg(feature = "alloc")]
        {
            self.late_messages = self.late_messages.saturating_add(1);
        }
        None
    }

    /// Drops the pending error of a late message: see [`reported`](Self::reported).
    pub(crate) fn drop_late_error(&mut self) {
        self.pending_error = self.pending_error.and_then(|error| self.reported(error));
    }

    /// Shrinks buffers that have been idle. Returns the earliest of `other` and the times at which a buffer shrinks
    /// next.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn shrink_buffers(
        &mut self,
        input: &mut LineDecoder<'_>,
        other: Option<Millis>,
    ) -> Option<Millis> {
        let is_large = input.is_large() || self.output.is_large();
        if is_large { self.shrink_large_buffers(input, other) } else { other }
    }

    #[cfg(feature = "alloc")]
    #[cold]
    fn shrink_large_buffers(&mut self, input: &mut LineDecoder<'_>, other: Option<Millis>) -> Option<Millis> {
        earliest([other, input.shrink_by_deadline(self.now), self.output.shrink_by_deadline(self.now)])
    }

    /// Returns the earliest deadline that has not expired.
    ///
    /// Ignores expired deadlines, because an immediate poll would not help: the requests with these deadlines wait for
    /// transmit space. Returns `None` if no deadline is in the future.
    #[inline]
    pub(crate) fn next_deadline<const N: usize>(&self, deadlines: [Option<Millis>; N]) -> Option<Millis> {
        let mut next = None;
        for at in deadlines.into_iter().flatten() {
            if at > self.now && next.is_none_or(|next| at < next) {
                next = Some(at);
            }
        }
        next
    }

    /// Returns whether a response of the maximum size fits. If so, sets `budget` to the maximum end of the response.
    #[inline]
    pub(crate) fn reserve_response(&mut self) -> bool {
        let fits = self.output.has_reply_space();
        if fits {
            self.budget = self.output.end().saturating_add(self.output.max_reply_size());
        }
        fits
    }

    /// Returns the error for a message that does not fit yet, and makes the machine emit `Writable` when the output has
    /// space.
    #[cold]
    pub(crate) fn busy(&mut self) -> SendError {
        self.report_writable = true;
        SendError::Busy
    }

    /// Returns the remaining space for the current request's messages, in bytes.
    pub(crate) fn available(&self) -> usize {
        self.budget.saturating_sub(self.output.end())
    }
}

/// Returns the protocol error for an error response without an id.
#[cold]
pub(crate) fn error_without_id(error: Json<'_>) -> ProtocolError {
    ProtocolError::ErrorWithoutId { code: rpc::error_code(error).unwrap_or(0) }
}

/// Returns the error for a line that is not a message.
#[cold]
pub(crate) fn unreadable_line_error(input: &LineDecoder<'_>, line: LineKind) -> ProtocolError {
    match line {
        LineKind::Message | LineKind::Truncated | LineKind::StreamClosed => ProtocolError::Truncated,
        LineKind::TooLong => ProtocolError::LineTooLong { limit: input.limit() },
        LineKind::TooDeep => ProtocolError::TooDeep { limit: input.scanner().limit() },
        LineKind::Blank | LineKind::Invalid | LineKind::Gap => {
            ProtocolError::NotJson(input.scanner().error())
        }
    }
}
