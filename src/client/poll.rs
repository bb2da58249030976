//! Steps of a poll: lines, deadlines, keep-alive, and the end of a connection.

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::pending_event::{PendingEvent, PendingFailure};
use crate::client::receive;
use crate::error::ProtocolError;
use crate::framing::LineKind;
use crate::json::{Member, Shape, Span};
use crate::peer::LineEvent;
use crate::peer::lifecycle::{State, Trigger};
use crate::peer::request::{InboundState, OutboundState, Request};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::platform::cold_path;
use crate::protocol::revision::WireFeature;
use crate::rpc::{self, Class};
use crate::time::Millis;

impl Client<'_> {
    /// Returns the latest time for the next poll, or `None` if no deadline is in the future.
    pub(super) fn next_deadline(&self) -> Option<Millis> {
        let ClientState { peer, connecting, keep_alive_hooks, client_tasks, .. } = &self.state;
        let has_timers = self.grace_deadline.is_some()
            || connecting.is_some()
            || keep_alive_hooks.is_some()
            || client_tasks.is_some();
        let timeout = peer.next_deadline([peer.in_flight.next_deadline()]);
        if has_timers { self.next_timer(timeout) } else { timeout }
    }

    /// Returns the earlier of two times: `timeout`, and the earliest deadline that does not belong to a slot. Ignores
    /// times that have passed, and returns `None` if no time remains.
    #[cold]
    #[inline(never)]
    fn next_timer(&self, timeout: Option<Millis>) -> Option<Millis> {
        let connecting = self.state.connecting.map(|connecting| connecting.deadline);
        let keep_alive = self.state.keep_alive_hooks.and_then(|hooks| (hooks.deadline)(&self.state));
        let tasks = self.state.client_task_hooks().zip(self.state.client_tasks.as_ref());
        let tasks = tasks.and_then(|(hooks, table)| (hooks.next_deadline)(table));
        self.state.peer.next_deadline([timeout, self.grace_deadline, connecting, keep_alive, tasks])
    }

    /// Performs one step. Returns `false` if the client is closed, or has to wait for input, transmit space or a
    /// deadline.
    pub(super) fn step(&mut self) -> bool {
        if self.state.peer.output.is_broken() {
            self.end_broken_connection();
        }
        if self.state.peer.pending_error.is_some() {
            self.emit_pending_error();
            return true;
        }
        if !self.state.is_connected()
            && let Some(is_done) = self.step_unconnected()
        {
            return is_done;
        }
        self.expire_due_requests()
            || self.advance_client_tasks()
            || !self.state.awaits_task_message() && self.state.write_queued()
            || self.emit_writable()
            || self.advance_keep_alive()
            || self.process_next_line()
            || self.handle_end_of_input()
    }

    /// Drops the output of a broken connection, and ends the input. Later steps still process the received input,
    /// because the server may have responded before the output broke.
    #[cold]
    #[inline(never)]
    fn end_broken_connection(&mut self) {
        self.state.peer.output.clear();
        self.input.end();
    }

    #[cold]
    #[inline(never)]
    fn emit_pending_error(&mut self) {
        self.state.pending_event = self.state.peer.pending_error.take().map(PendingEvent::ProtocolError);
    }

    /// Performs one step of a client that is not connected: see [`step`](Client::step). Returns `None` while the
    /// connecting request awaits transmit space or its response: the caller then performs the other parts of the step.
    /// If the timeout of this request expires right after an event, extends the timeout once, because the response may
    /// be unread.
    #[cold]
    #[inline(never)]
    fn step_unconnected(&mut self) -> Option<bool> {
        match self.state.peer.lifecycle.state() {
            State::Closed => return Some(false),
            State::Start => self.state.connect(),
            State::Draining => return Some(self.drain()),
            // A queued connecting request is not sent, because its response could not arrive.
            _ if self.input.is_ended() && self.input.line().is_none() => return Some(self.end_input()),
            _ if self.state.connecting?.deadline > self.state.peer.now || self.state.extend_connect() => {
                return None;
            }
            _ => self.state.handle_connect_failure(PendingFailure::TimedOut),
        }
        Some(true)
    }

    /// Expires tasks that the client runs, up to the first event. If there is no event, sends pending messages about
    /// these tasks. Returns `true` if an event or an error is pending.
    #[inline]
    fn advance_client_tasks(&mut self) -> bool {
        self.state.client_tasks.is_some() && self.advance_open_tasks()
    }

    #[cold]
    #[inline(never)]
    fn advance_open_tasks(&mut self) -> bool {
        let Some(hooks) = self.state.client_task_hooks() else { return false };
        (hooks.advance)(&mut self.state);
        self.state.pending_event.is_some() || self.state.peer.pending_error.is_some()
    }

    /// Sends a due ping if it fits, or emits `PeerUnresponsive`. Returns `true` if this event is pending.
    fn advance_keep_alive(&mut self) -> bool {
        self.state.keep_alive_hooks.is_some_and(|hooks| {
            cold_path();
            (hooks.advance)(self)
        })
    }

    /// Emits one `Writable` after the client has refused a message of the application. The event waits until all output
    /// is sent, and until no request of the server awaits space for its response. Returns whether the event is pending
    /// now.
    fn emit_writable(&mut self) -> bool {
        self.state.peer.report_writable && self.emit_writable_if_empty()
    }

    #[cold]
    #[inline(never)]
    fn emit_writable_if_empty(&mut self) -> bool {
        let is_due = self.state.peer.output.is_empty() && !self.state.server_request_waits;
        if is_due {
            self.state.peer.report_writable = false;
            self.state.emit(PendingEvent::Writable);
        }
        is_due
    }

    /// Starts the timeouts of the requests that were just sent. Then handles one request whose deadline has expired.
    /// Returns `false` if no deadline has expired.
    fn expire_due_requests(&mut self) -> bool {
        while let Some(ticket) = self.state.peer.in_flight.due(self.state.peer.now) {
            if !self.state.peer.start_timeout(ticket) {
                return self.expire(ticket);
            }
        }
        false
    }

    /// Handles a request whose deadline has expired. A task between two polls is polled again, unless its maximum
    /// duration is over. Any other request fails, expires or is cancelled, unless its timeout is extended. Returns
    /// `false` if the ticket belongs to no request.
    #[cold]
    #[inline(never)]
    fn expire(&mut self, ticket: Ticket) -> bool {
        let peer = &mut self.state.peer;
        match peer.in_flight.get(ticket) {
            None => return false,
            Some(Request::Inbound(inbound)) if inbound.state.is_deferred() => {
                peer.expire(ticket);
                self.state.emit(PendingEvent::Expired(ticket));
            }
            Some(Request::Inbound(_)) => {
                peer.in_flight.release(ticket);
                self.state.emit(PendingEvent::Cancelled { ticket, reason: Span::MISSING });
            }
            Some(Request::Outbound(outbound)) => {
                let method = outbound.data.method;
                if let Some(tasks) = self.state.config.tasks
                    && outbound.state == OutboundState::TaskWaiting
                    && outbound.data.maximum > peer.now
                {
                    (tasks.hooks.poll)(&mut self.state, ticket);
                } else if let Some(failure) = peer.handle_deadline(ticket) {
                    self.state.abandon(ticket, "timeout");
                    self.state.emit_failure(ticket, method, failure);
                }
            }
        }
        true
    }

    /// Processes the next line or, after `receive_chunks`, the next chunk of a result. Returns `false` if there is
    /// neither, or if the transmit buffer lacks space for the response to a request.
    fn process_next_line(&mut self) -> bool {
        let line = self.input.line_with(|| self.state.known_result_meta());
        if let Some(hook) = self.chunk_hook {
            cold_path();
            if hook(self, line) {
                return true;
            }
        }
        match line {
            Some(LineKind::Message) => self.process_message(),
            Some(line) => self.process_unreadable_line(line),
            None => false,
        }
    }

    #[inline(never)]
    fn process_message(&mut self) -> bool {
        if self.input.scanner().shape() == Shape::Array && self.open_batch() {
            return true;
        }
        let (bytes, scanner) = (self.input.bytes(), self.input.scanner());
        let class = Class::new(bytes, scanner, self.state.config.missing_jsonrpc);
        if class == Class::Request && !self.state.reserve_response(self.requests_input()) {
            return false;
        }
        self.state.record_line();
        let outcome = receive::handle_message(&mut self.state, bytes, scanner, class, self.input.stream());
        self.finish_line(outcome)
    }

    /// Opens the current line, an array, as a batch. Returns `false` if the revision has no batches, or if the array is
    /// empty or itself an element of a batch.
    #[cold]
    #[inline(never)]
    fn open_batch(&mut self) -> bool {
        self.state.has(WireFeature::Batches) && self.input.open_batch()
    }

    /// Returns whether the request in the current line is for the application, or about tasks that the client runs.
    #[inline(never)]
    fn requests_input(&self) -> bool {
        let method = rpc::text(self.input.bytes(), self.input.scanner().span(Member::Method));
        receive::requested_input(&self.state, method).is_some()
    }

    /// Processes a line that is not a message: invalid or too deeply nested JSON, a discarded line, or the end of a
    /// stream. Returns `false` if the line looks like a request, and the transmit buffer lacks space for the response.
    #[cold]
    #[inline(never)]
    fn process_unreadable_line(&mut self, line: LineKind) -> bool {
        if line == LineKind::StreamClosed {
            self.state.fail_exchange(self.input.stream());
            self.input.release();
            return true;
        }
        let scanner = self.input.scanner();
        let is_request =
            line != LineKind::Truncated && scanner.has(Member::Method) && scanner.has(Member::Id);
        if is_request && !self.state.reserve_response(false) {
            return false;
        }
        self.state.record_line();
        let outcome = receive::handle_unreadable_line(&mut self.state, &self.input, line);
        self.finish_line(outcome)
    }

    /// Shows a processed line to the observer, and emits the error of the line, unless the message is
    /// [late](ProtocolError::is_late). Releases the line if no event is pending. Returns `true`.
    #[inline]
    fn finish_line(&mut self, outcome: Result<(), ProtocolError>) -> bool {
        self.state.peer.output.observe_received(|| self.input.bytes(), outcome.err());
        if let Err(error) = outcome {
            self.state.report(error);
        }
        if self.state.pending_event.is_none() {
            cold_path();
            self.input.release_element();
        } else {
            self.state.peer.line_event = LineEvent::Pending;
        }
        true
    }

    fn handle_end_of_input(&mut self) -> bool {
        self.input.is_ended() && self.end_input()
    }

    #[cold]
    #[inline(never)]
    fn end_input(&mut self) -> bool {
        if self.input.line().is_some() {
            // A request of the server may wait for transmit space until the end of the grace period.
            let ends = self.grace_deadline();
            if self.state.peer.now < ends {
                return false;
            }
        }
        if self.state.connecting.is_some() {
            self.state.fail_connect(PendingFailure::Closed);
            return true;
        }
        self.state.peer.lifecycle.apply(Trigger::EndOfInput)
    }

    /// Returns the end of the grace period. The first call on a connection starts the grace period.
    fn grace_deadline(&mut self) -> Millis {
        *self.grace_deadline.get_or_insert(self.state.peer.now.plus(self.state.config.timeouts.grace))
    }

    /// Ends the tasks that the client runs. Then reports the end of one task, or ends one request, or parks the request
    /// for the next connection. After the last request, ends the connection.
    ///
    /// The connection ends when all output is sent, the grace period is over, or the output is broken. Returns `false`
    /// while the client waits for this end.
    fn drain(&mut self) -> bool {
        self.state.end_client_tasks(true);
        if self.advance_client_tasks() {
            return true;
        }
        if let Some(ticket) = self.state.peer.in_flight.first_from(self.next_ended_slot) {
            self.next_ended_slot = ticket.slot;
            self.state.peer.in_flight.clear_queue();
            if self.state.park(ticket) {
                self.next_ended_slot = ticket.slot.saturating_add(1);
                return true;
            }
            let method = self.state.open_request(ticket).map(|outbound| outbound.data.method);
            let inbound = self.state.peer.in_flight.inbound(ticket);
            let is_server_request =
                inbound.is_some_and(|it| it.state != InboundState::Expired && it.is_for_application());
            self.state.peer.in_flight.release(ticket);
            if let Some(method) = method {
                self.state.emit_failure(ticket, method, RequestFailure::Closed);
            } else if is_server_request {
                self.state.emit(PendingEvent::Cancelled { ticket, reason: Span::MISSING });
            }
            return true;
        }
        let ends = self.grace_deadline();
        let over = self.state.peer.output.is_empty()
            || ends <= self.state.peer.now
            || self.state.peer.output.is_broken();
        over && self.state.peer.lifecycle.apply(Trigger::Drained)
    }
}

impl ClientState<'_> {
    /// Emits the error of a line, unless the message is [late](ProtocolError::is_late).
    #[cold]
    #[inline(never)]
    fn report(&mut self, error: ProtocolError) {
        if let Some(error) = self.peer.reported(error) {
            self.emit(PendingEvent::ProtocolError(error));
        }
    }

    /// Returns whether the transmit buffer has space for the response to a request of the server. Always returns `true`
    /// in the stateless era, in which the client sends no responses. With `is_for_application`, the space must suffice
    /// for a response of the maximum size. Otherwise the space must suffice only for an error or an empty result.
    ///
    /// Returns `false` while earlier messages wait for transmit space. The order of the messages therefore does not
    /// depend on how the output drains.
    fn reserve_response(&mut self, is_for_application: bool) -> bool {
        if !self.responds_to_requests() {
            return true;
        }
        let has_space = !self.has_queued()
            && !self.awaits_task_message()
            && match is_for_application {
                true => self.peer.reserve_response(),
                false => self.has_own_response_space(),
            };
        self.server_request_waits = is_for_application && !has_space;
        has_space
    }

    /// Records that a line has arrived, before the client handles the line.
    fn record_line(&mut self) {
        self.peer.keep_alive.record_activity();
        self.peer.output.observe_sent();
    }
}
