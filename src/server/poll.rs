//! Poll loop: handles lines, expires deferred and outbound requests, sends pings, and ends the connection.

use core::mem;

use crate::error::ProtocolError;
use crate::framing::LineKind;
use crate::framing::outbound_message::StreamId;
use crate::json::{Span, decode_text_in_place};
use crate::machine::PollStep;
use crate::peer::LineEvent;
use crate::peer::lifecycle::{State, Trigger};
use crate::peer::request::Inbound;
use crate::peer::slots::Ticket;
use crate::platform::cold_path;
use crate::rpc::{Class, Invalid};
use crate::server::batch::Batches;
use crate::server::change_set::ChangeSet;
use crate::server::dispatch::{self, Received};
use crate::server::pending_event::{PendingEvent, Spans};
use crate::server::reply::Pending;
use crate::server::request_context::Context;
use crate::server::{Ending, Server};

impl Server<'_> {
    /// Advances to the next event, I/O or end of the connection.
    pub(super) fn poll_inner(&mut self) -> PollStep {
        if self.state.pending_event.is_some() {
            cold_path();
            return PollStep::Event;
        }
        while self.advance() {
            if self.state.pending_event.is_some() {
                return PollStep::Event;
            }
        }
        match self.state.peer.lifecycle.state() {
            State::Closed => PollStep::Closed,
            _ => {
                self.state.peer.line_event = LineEvent::None;
                PollStep::Io(self.deadline())
            }
        }
    }

    /// Releases the line of the last event. No effect if that event is still pending or had no line. If the application
    /// dropped the request of the event without a response, responds with an error first.
    #[inline]
    pub(super) fn finish_event(&mut self) {
        let is_taken = self.state.pending_event.is_none();
        if !self.state.peer.line_event.begin_poll(is_taken) {
            return;
        }
        if mem::take(&mut self.state.peer.response_pending) {
            self.respond_unanswered();
        }
        self.release();
    }

    /// Responds to a dropped request with an error.
    #[cold]
    fn respond_unanswered(&mut self) {
        let (id, stream) = (Spans::new(*self.input.event_spans()).id, self.input.stream());
        let id = self.input.bytes().get(id.range()).unwrap_or_default();
        let pending = Pending::from_line(id, stream, self.state.batches.in_line());
        self.state.write_error_response(&pending, ProtocolError::Unanswered, None);
        self.state.peer.pending_error = Some(ProtocolError::Unanswered);
    }

    /// Releases the line, unless the line is a batch whose end the server has not reached.
    #[inline(never)]
    pub(super) fn release(&mut self) {
        if !self.state.batches.in_line() {
            self.input.release();
        }
    }

    /// Performs one step. Returns `false` if the next step needs received bytes, transmit space, an expired deadline or
    /// a response of the application, or if the connection is closed.
    pub(super) fn advance(&mut self) -> bool {
        if self.state.peer.pending_error.is_some() {
            return self.emit_error();
        }
        if self.state.peer.output.is_broken() {
            self.disconnect();
        }
        if self.state.expire_in_flight() {
            return true;
        }
        if let State::Closed = self.state.peer.lifecycle.state() {
            return false;
        }
        self.state.write_queued();
        if let Some(hooks) = self.state.batch.hooks {
            (hooks.write_open)(&mut self.state);
        }
        if self.state.peer.report_writable
            && !self.state.pending_changes.any(ChangeSet::LINE_PASSED)
            && self.emit_writable()
        {
            return true;
        }
        if self.write_changes() {
            return true;
        }
        if self.state.keep_alive_hooks.is_some_and(|hooks| (hooks.advance)(self)) {
            return true;
        }
        // If a message about a task has set a pending error, emit this error before a line can replace it.
        self.state.peer.pending_error.is_some() || self.handle_next_line() || self.drain()
    }

    /// Emits the pending error. Returns `true`.
    #[cold]
    fn emit_error(&mut self) -> bool {
        self.state.pending_event = self.state.peer.pending_error.take().map(PendingEvent::ProtocolError);
        true
    }

    /// Emits `Writable` if no batch is in the line and the output has space for a response. Returns whether the event
    /// is set.
    #[cold]
    fn emit_writable(&mut self) -> bool {
        let has_space = !self.state.batches.in_line() && self.state.peer.reserve_response();
        if has_space {
            self.state.peer.report_writable = false;
            self.state.pending_event = Some(PendingEvent::Writable);
        }
        has_space
    }

    /// Closes the connection immediately, and drops unsent output and requests in flight.
    #[cold]
    pub(super) fn disconnect(&mut self) {
        self.state.peer.lifecycle.apply(Trigger::ConnectionLost);
        self.state.peer.output.clear();
        self.state.drop_in_flight();
        self.state.batches = Batches::NONE;
        self.input.close();
    }

    /// Handles the next line or batch member. Returns `false` if there is no line or member, or if the line or member
    /// must wait until the output has space for a response.
    fn handle_next_line(&mut self) -> bool {
        let line_flags = self.state.pending_changes.take_line();
        let Some(line) = self.input.line_with(|| self.state.request_cache.meta()) else { return false };
        let stream = self.input.stream();
        if line == LineKind::StreamClosed {
            self.cancel_on_closed_stream(stream);
            return true;
        }
        let Server { input, state } = self;
        let bytes = input.bytes();
        let in_line = state.batches.in_line();
        let class = (line == LineKind::Message && !in_line)
            .then(|| Class::new(bytes, input.scanner(), state.config.missing_jsonrpc));
        let needs_space = match class {
            // A cancellation may end the request to which pending messages belong. Send these messages first.
            // Exception: messages that wait for the end of an open message, because the cancellation may end the open
            // message.
            Some(Class::Notification) => {
                state.pending_changes.any(ChangeSet::ANY_PENDING) && !state.peer.output.holds_messages()
            }
            Some(class) => dispatch::may_need_response(class),
            None => dispatch::unreadable_line_needs_response(input, line),
        };
        if needs_space && !state.peer.reserve_response() {
            state.pending_changes.hold_line(line_flags);
            return false;
        }
        let mut spans = Spans::NONE;
        let outcome = if in_line {
            cold_path();
            let hooks = state.batch.hooks;
            hooks.map_or(Received::Done, |hooks| (hooks.handle_next)(state, bytes, stream, &mut spans))
        } else {
            state.peer.keep_alive.record_activity();
            state.peer.output.observe_sent();
            let invalid_hook = match class {
                None | Some(Class::Invalid(Invalid::Method)) => state.outbound_hooks(),
                _ => None,
            };
            let ended = invalid_hook.and_then(|hooks| (hooks.on_invalid_line)(state, input, line));
            let outcome = match (ended, class) {
                (Some(ended), _) => ended,
                (None, Some(class)) => {
                    dispatch::handle_message(state, bytes, input.scanner(), class, stream, &mut spans)
                }
                (None, None) => dispatch::handle_unreadable_line(state, input, line),
            };
            let error = if outcome == Received::Failed {
                cold_path();
                state.peer.pending_error
            } else {
                None
            };
            state.peer.output.observe_received(|| bytes, error);
            outcome
        };
        if self.input.is_chunked() && !self.handle_arguments(Some((outcome, &spans))) {
            return true;
        }
        if outcome == Received::Event {
            self.hold_event(&mut spans);
        } else {
            self.end_line(outcome);
        }
        true
    }

    /// Cancels one request of a closed stream, with an event. When no request is left, ends the session that the stream
    /// stands for, if any, and releases the line.
    #[cold]
    fn cancel_on_closed_stream(&mut self, stream: StreamId) {
        let found =
            self.state.peer.in_flight.inbound_requests().find(|(_, inbound)| inbound.ends_with(stream));
        match found.map(|(ticket, _)| ticket) {
            Some(ticket) => {
                self.state.end_in_flight(ticket);
                self.state.pending_event = Some(PendingEvent::StreamClosed(ticket));
            }
            None => {
                self.state.end_session(stream);
                self.input.release();
            }
        }
    }

    /// Retains the line with the spans of its event.
    #[inline]
    fn hold_event(&mut self, spans: &mut Spans) {
        decode_subject(self.input.bytes_mut(), &mut spans.subject);
        self.input.hold_event(spans.into_array());
        self.state.peer.line_event = LineEvent::Pending;
    }

    /// Releases a line without an event, or ends the input.
    #[inline(never)]
    fn end_line(&mut self, outcome: Received) {
        match outcome {
            Received::Event | Received::Done | Received::BatchBegun => {}
            Received::Failed => self.state.peer.drop_late_error(),
            // For an `exit` inside a batch: respond to the remaining members first, then end the input.
            Received::Exit if self.state.batches.in_line() => self.input.end_behind_line(),
            Received::Exit => return self.input.close(),
        }
        self.release();
    }

    /// Emits `Writable` if the application waits to write a chunk and the output has space. Otherwise continues the end
    /// of the connection, if the end has begun. Returns whether the server advanced.
    fn drain(&mut self) -> bool {
        if self.state.peer.in_flight.len() > 0 && self.state.poll_chunks(Ticket::NONE) {
            return true;
        }
        let is_ending = self.input.is_ended() || self.state.peer.lifecycle.state() == State::Draining;
        is_ending && self.end_connection()
    }

    /// Ends the connection when no line, no request in flight and no output is left. Also ends the connection if the
    /// client does not read the output in time. Returns whether the server advanced.
    #[cold]
    fn end_connection(&mut self) -> bool {
        let ended = self.input.is_ended();
        if ended && self.input.line().is_none() {
            self.state.peer.lifecycle.apply(Trigger::EndOfInput);
            // Write the final response of every subscription.
            if self.write_changes() {
                return true;
            }
        }
        let draining = self.state.peer.lifecycle.state() == State::Draining;
        if draining {
            if !matches!(self.state.ending, Ending::Grace | Ending::Flushing) {
                self.set_ending(Ending::Grace);
                // Fail the outbound requests that await a response, because the session ends.
                if let Some(hooks) = self.state.outbound_hooks() {
                    (hooks.end_all)(&mut self.state, false);
                    return true;
                }
            }
            let grace =
                self.state.ending == Ending::Grace && self.state.peer.now < self.state.ending_deadline;
            // After a `shutdown` request the client may still send messages. Wait for `exit`, so that the server
            // handles these messages.
            let awaits_exit = self.state.awaits_exit && !ended && grace;
            if !awaits_exit && self.state.peer.in_flight.len() == 0 && self.state.peer.output.is_empty() {
                return self.state.peer.lifecycle.apply(Trigger::Drained);
            }
            if grace {
                return false;
            }
        }
        let ending = if draining {
            // Responses to further input could delay the end.
            self.input.end();
            Ending::Flushing
        } else {
            Ending::InputEnded
        };
        // Output drains only while the client reads, so each transmission restarts the period.
        if self.state.peer.output.take_sent_flag() || self.state.ending != ending {
            self.set_ending(ending);
        } else if self.state.ending_deadline <= self.state.peer.now {
            // If the output is empty in the phase `InputEnded`, an open chunked response blocks a line.
            if self.state.peer.output.is_empty() && self.end_open_response() {
                self.set_ending(ending);
            } else {
                self.disconnect();
            }
            return true;
        }
        false
    }

    /// Ends a chunked response as a failure. In the phase `InputEnded`, a received line waits for the end of this
    /// response. Returns `false` if no chunked response is open.
    fn end_open_response(&mut self) -> bool {
        let is_open = |(_, inbound): &(Ticket, &Inbound<Context>)| inbound.is_chunked();
        let found = self.state.peer.in_flight.inbound_requests().find(is_open);
        found.map(|(ticket, _)| ticket).is_some_and(|ticket| self.state.poll_chunks(ticket))
    }

    #[inline(never)]
    fn set_ending(&mut self, ending: Ending) {
        (self.state.ending, self.state.ending_deadline) =
            (ending, self.state.peer.now.plus(self.state.config.limits.grace));
    }
}

/// Decodes the string at `subject` in place, and narrows `subject` to the decoded text without quotes. No effect if
/// `subject` is missing.
#[inline]
fn decode_subject(line: &mut [u8], subject: &mut Span) {
    let start = subject.start.wrapping_add(1);
    // `text` continues to the end of the line. The decoder stops at the closing quote.
    if let Some(text) = line.get_mut(start..).filter(|_| !subject.is_missing()) {
        let (length, _) = decode_text_in_place(text);
        *subject = Span { start, end: start.wrapping_add(length) };
    }
}
