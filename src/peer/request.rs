//! A request in flight: its direction, its state, and data of the role.

use crate::framing::outbound_message::StreamId;
use crate::json::SortKey;
use crate::peer::response::RequestFailure;
use crate::peer::slots::{Data, InFlight, Ticket};
use crate::peer::timeout::Timeout;
use crate::time::Millis;

/// A request in flight, as stored in a slot. `I` and `O` are data that depend on the role.
#[derive(Debug, Clone, Copy)]
pub enum Request<I, O> {
    /// A deferred request of the peer.
    Inbound(Inbound<I>),
    /// A request to the peer.
    Outbound(Outbound<O>),
}

/// A deferred request of the peer.
///
/// `state` is the last field, because its unused values distinguish the variants of [`Request`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Inbound<I> {
    /// The last reported progress.
    pub(crate) last_progress: SortKey,
    pub(crate) stream: StreamId,
    pub(crate) context: I,
    pub(crate) state: InboundState,
}

/// The state of a deferred request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InboundState {
    /// The request awaits its response. The slot's text is the id, followed by the progress token or the whole `_meta`.
    Deferred,
    /// Like `Deferred`, but progress that the application reports restarts the timeout.
    #[cfg_attr(
        not(feature = "alloc"),
        expect(dead_code, reason = "boards without a heap do not restart timeouts")
    )]
    DeferredWhileActive,
    /// The response is open: the application writes the response in chunks. The slot's text is that of `Deferred`.
    Open,
    /// The timeout expired and an event reported the expiry, or a chunked response ended. The error response, or the
    /// end of the chunked response, awaits transmit space. The slot's text is the id.
    Expired,
    /// The connection has ended. No event has reported the end of the request yet.
    Dropped,
}

impl InboundState {
    pub(crate) fn is_deferred(self) -> bool {
        matches!(self, InboundState::Deferred | InboundState::DeferredWhileActive)
    }
}

/// A request to the peer.
#[derive(Debug, Clone, Copy)]
pub struct Outbound<O> {
    /// The last progress that the peer reported.
    pub(crate) last_progress: SortKey,
    pub(crate) timeout: Timeout,
    pub(crate) state: OutboundState,
    pub(crate) flags: Flags,
    pub(crate) data: O,
}

/// Properties of a request to the peer, one bit each, to save memory in every slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    pub(crate) const NONE: Flags = Flags(0);
    /// The maximum duration has started.
    pub(crate) const STARTED: Flags = Flags(1);
    /// The timeout runs. A timeout that does not run starts at the first poll after the request was sent.
    pub(crate) const RUNNING: Flags = Flags(2);
    /// The running timeout was extended, which happens only once.
    pub(crate) const EXTENDED: Flags = Flags(4);
    /// The request asked for progress.
    pub(crate) const PROGRESS: Flags = Flags(8);
    /// The request asked for progress, and progress restarts the timeout.
    pub(crate) const PROGRESS_EXTENDS: Flags = Flags(Flags::PROGRESS.0 | 16);
    /// The content of the result arrives in chunks.
    pub(crate) const CHUNKED: Flags = Flags(32);
    /// The request is a cancelled input request of a task. The text of its slot is the ticket of the task.
    pub(crate) const TASK_INPUT: Flags = Flags(64);

    /// Returns whether all flags of `flags` are set.
    pub(crate) fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    pub(crate) fn add(&mut self, flags: Flags) {
        self.0 |= flags.0;
    }

    /// Records that the timeout starts or restarts.
    pub(crate) fn set_running(&mut self) {
        self.stop();
        self.add(Flags(Flags::STARTED.0 | Flags::RUNNING.0));
    }

    /// Stops the timeout, while the maximum duration continues.
    pub(crate) fn stop(&mut self) {
        self.0 &= !(Flags::RUNNING.0 | Flags::EXTENDED.0);
    }
}

/// The state of a request to the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutboundState {
    AwaitingResponse,
    /// An acknowledged subscription.
    Listening,
    /// A subscription or a task that waits for the next connection. The slot's text is the filter of the subscription,
    /// or the record of the task (`client/tasks/record.rs`).
    Parked,
    /// A subscription whose request awaits transmit space on the next connection.
    Resubscribe,
    /// A list whose request for the next page awaits transmit space.
    NextPage,
    /// The peer requires input before it completes the request. The slot's text contains the `requestState` or the
    /// record of the task.
    NeedsInput,
    /// A task between two polls.
    TaskWaiting,
    /// A task whose next request awaits transmit space.
    TaskPending,
    /// The request failed. No event has reported the failure yet.
    Failed(RequestFailure),
    /// The application cancelled the request, an event reported its end, or its task ended. The cancellation awaits
    /// transmit space. The slot's text is the reason or, with [`Flags::TASK_INPUT`], the ticket of the task.
    CancelPending,
    /// The application cancelled the task, or an event reported its end. The cancellation of the task awaits transmit
    /// space.
    TaskCancelPending,
    /// The application cancelled the request, or an event reported its end. The peer needs no cancellation.
    Closed,
}

impl OutboundState {
    /// Returns whether the application knows that the request has ended.
    pub(crate) fn is_closed(self) -> bool {
        use OutboundState::{CancelPending, Closed, TaskCancelPending};
        matches!(self, CancelPending | TaskCancelPending | Closed)
    }

    pub(crate) fn awaits_response(self) -> bool {
        matches!(self, OutboundState::AwaitingResponse | OutboundState::Listening)
    }
}

/// Data of an inbound request, needed for the response. The data depends on the role.
pub trait InboundData: Copy {
    /// Returns the owner of the id of a request on `stream`: see [`Data::owner`].
    fn owner(&self, _stream: StreamId) -> StreamId {
        StreamId::NONE
    }
}

/// Data of an outbound request. The data depends on the role.
pub trait OutboundData: Copy {
    /// Starts the maximum duration, if the role has one.
    fn start_maximum(&mut self, _now: Millis) {}

    /// Returns the end of the maximum duration, which progress cannot extend.
    fn maximum(&self) -> Millis {
        Millis(u64::MAX)
    }

    /// Returns whether the timeout limits the request. If `false`, only the maximum duration limits the request.
    fn has_timeout(&self) -> bool {
        true
    }
}

impl<I: InboundData, O: Copy> Data for Request<I, O> {
    fn owner(&self) -> StreamId {
        match self {
            Request::Inbound(inbound) => inbound.context.owner(inbound.stream),
            Request::Outbound(_) => StreamId::NONE,
        }
    }
}

impl<O: OutboundData> Outbound<O> {
    /// Creates a request that awaits its response. The next poll starts the timeout.
    pub(crate) fn new(timeout: Millis, flags: Flags, data: O) -> Outbound<O> {
        Outbound {
            last_progress: SortKey::NONE,
            timeout: Timeout::new(timeout),
            state: OutboundState::AwaitingResponse,
            flags,
            data,
        }
    }

    /// Returns whether the request asked for progress.
    pub(crate) fn wants_progress(&self) -> bool {
        self.flags.has(Flags::PROGRESS)
    }

    /// Starts or restarts the timeout, and returns the deadline. For a request that needs input, the deadline is the
    /// end of its maximum duration.
    pub(crate) fn start_timeout(&mut self, now: Millis) -> Millis {
        if !self.flags.has(Flags::STARTED) {
            self.data.start_maximum(now);
        }
        self.flags.set_running();
        match self.state {
            OutboundState::AwaitingResponse => self.deadline_from(now),
            _ => self.data.maximum(),
        }
    }

    /// Returns the deadline of a timeout that starts now.
    pub(crate) fn deadline_from(&self, now: Millis) -> Millis {
        let timeout = if self.data.has_timeout() { self.timeout.millis() } else { Millis(u64::MAX) };
        now.plus(timeout).min(self.data.maximum())
    }
}

impl<I: InboundData, O: Copy> InFlight<'_, Request<I, O>> {
    pub(crate) fn inbound(&self, ticket: Ticket) -> Option<&Inbound<I>> {
        let Request::Inbound(inbound) = self.get(ticket)? else { return None };
        Some(inbound)
    }

    pub(crate) fn inbound_mut(&mut self, ticket: Ticket) -> Option<&mut Inbound<I>> {
        let Request::Inbound(inbound) = self.get_mut(ticket)? else { return None };
        Some(inbound)
    }

    /// Returns an inbound request in one of the two deferred states. Returns `None` for any other ticket.
    pub(crate) fn deferred(&self, ticket: Ticket) -> Option<&Inbound<I>> {
        self.inbound(ticket).filter(|inbound| inbound.state.is_deferred())
    }

    /// Returns the peer's requests in flight.
    pub(crate) fn inbound_requests(&self) -> impl Iterator<Item = (Ticket, &Inbound<I>)> {
        self.requests().filter_map(|(ticket, request)| match request {
            Request::Inbound(inbound) => Some((ticket, inbound)),
            Request::Outbound(_) => None,
        })
    }

    pub(crate) fn outbound(&self, ticket: Ticket) -> Option<&Outbound<O>> {
        let Request::Outbound(outbound) = self.get(ticket)? else { return None };
        Some(outbound)
    }

    pub(crate) fn outbound_mut(&mut self, ticket: Ticket) -> Option<&mut Outbound<O>> {
        let Request::Outbound(outbound) = self.get_mut(ticket)? else { return None };
        Some(outbound)
    }

    pub(crate) fn set_state(&mut self, ticket: Ticket, state: OutboundState) {
        if let Some(outbound) = self.outbound_mut(ticket) {
            outbound.state = state;
        }
    }
}
