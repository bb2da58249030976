//! Poll loop: lines, deadlines, keep-alive, and the end of a connection.

use core::mem;

use crate::error::ProtocolError;
use crate::framing::Content;
use crate::json::{Member, Span, decode_text_in_place};
use crate::peer::lifecycle::{State, Trigger};
use crate::rpc::{self, Class};
use crate::server::batch::Batches;
use crate::server::change_set::ChangeSet;
use crate::server::dispatch::{self, Received};
use crate::server::pending_event::{PendingEvent, Spans};
use crate::server::reply::Pending;
use crate::server::{Ending, Server};
use crate::time::Millis;

/// The reason why the poll loop stops.
pub(super) enum PollStep {
    /// An event is pending.
    Event,
    /// The connection has ended.
    Closed,
    /// Bytes must move. Poll again at this time at the latest.
    Io(Option<Millis>),
}

impl Server<'_> {
    /// Advances until an event is pending, bytes must move, or the connection has ended.
    pub(super) fn poll_inner(&mut self) -> PollStep {
        loop {
            if self.core.plan.is_some() {
                return PollStep::Event;
            }
            if !self.advance() {
                break;
            }
        }
        match self.core.life.state() {
            State::Closed => PollStep::Closed,
            _ => PollStep::Io(self.deadline()),
        }
    }

    /// Answers a request that the application dropped, and releases the line of the last event.
    pub(super) fn finish_event(&mut self) {
        if !mem::take(&mut self.core.handed_out) {
            return;
        }
        if mem::take(&mut self.core.owed) {
            self.answer_unanswered();
        }
        self.release();
    }

    /// Answers a dropped request with an error.
    #[cold]
    fn answer_unanswered(&mut self) {
        let (id, stream) = (Spans::new(self.input.places()).id, self.input.stream());
        let id = self.input.bytes().get(id.range()).unwrap_or_default();
        let pending = Pending::of_line(id, stream, self.core.batches.in_line());
        self.core.write_fault(&pending, ProtocolError::Unanswered, None);
        self.core.fault = Some(ProtocolError::Unanswered);
    }

    /// Releases the line, unless it is a batch with more members.
    fn release(&mut self) {
        if !self.core.batches.in_line() {
            self.input.release();
        }
    }

    /// Performs one step. Returns `false` if nothing can be done until bytes move or a deadline passes.
    pub(super) fn advance(&mut self) -> bool {
        if let Some(fault) = self.core.fault.take() {
            self.core.plan = Some(PendingEvent::ProtocolError(fault));
            return true;
        }
        if self.core.output.is_broken() {
            self.lose();
        }
        if self.expire() {
            return true;
        }
        if let State::Closed = self.core.life.state() {
            return false;
        }
        self.core.write_queued();
        self.core.write_batch();
        if self.core.wants_room && !self.core.batches.in_line() && self.core.has_room() {
            self.core.wants_room = false;
            self.core.plan = Some(PendingEvent::Writable);
            return true;
        }
        self.core.write_changes();
        if self.core.pinging.is_some_and(|pinging| pinging.ping(self)) {
            return true;
        }
        self.next_line() || self.drain()
    }

    /// Ends the connection at once, because nothing more can be sent.
    pub(super) fn lose(&mut self) {
        self.core.life.step(Trigger::ConnectionLost);
        self.core.output.clear();
        self.core.forget_in_flight();
        self.core.batches = Batches::NONE;
        self.input.close();
    }

    /// Ends one request whose deadline has passed. Returns `false` if there is none.
    fn expire(&mut self) -> bool {
        let over = match self.core.ending {
            Ending::Grace => self.core.ends <= self.core.now,
            ending => ending == Ending::Late,
        };
        // Every request has a deadline. After the grace, all of them count as passed.
        let by = if over { Millis(u64::MAX) } else { self.core.now };
        let Some(ticket) = self.core.in_flight.due(by) else { return false };
        let is_ours = self.core.in_flight.get(ticket).is_some_and(|incoming| incoming.stage().is_ours());
        if let Some(asking) = self.core.asking.filter(|_| is_ours) {
            asking.due(&mut self.core, ticket);
            return true;
        }
        self.core.expire(ticket);
        self.core.plan = Some(PendingEvent::Expired(ticket));
        true
    }

    /// Handles the next line or batch member. Returns `false` if there is none, or no space for its response.
    fn next_line(&mut self) -> bool {
        let Some(line) = self.input.line() else { return false };
        let bytes = self.input.bytes();
        let in_line = self.core.batches.in_line();
        let class = match line.content {
            Content::Message if !in_line => {
                let tolerant = self.core.info.tolerance.missing_jsonrpc;
                Some(rpc::classify_with(&self.input.envelope(), bytes, tolerant))
            }
            _ => None,
        };
        // Send pending change notifications before handling a cancellation, which may end their subscription.
        let told_first =
            self.core.changed.any(ChangeSet::NOTICES) && matches!(class, Some(Class::Notification { .. }));
        let needs_room = told_first
            || match &class {
                Some(class) => dispatch::may_be_answered(class),
                None => dispatch::no_message_may_be_answered(&self.input, line.content),
            };
        if needs_room && !self.core.has_room() {
            return false;
        }
        let mut places = Spans::NONE;
        let outcome = match class {
            _ if in_line => self.core.next_member(bytes, line.stream, &mut places),
            class => {
                self.core.keep_alive.heard();
                self.core.output.show();
                let outcome = match class {
                    Some(class) => {
                        let known = self.input.inner(Member::Params);
                        dispatch::message(&mut self.core, bytes, class, known, line.stream, &mut places)
                    }
                    None => dispatch::no_message(&mut self.core, &self.input, line),
                };
                let fault = match &outcome {
                    Received::ProtocolError(fault) => Err(*fault),
                    _ => Ok(()),
                };
                self.core.output.show_received(bytes, fault);
                outcome
            }
        };
        self.settle(outcome, &mut places);
        true
    }

    fn settle(&mut self, outcome: Received, places: &mut Spans) {
        match outcome {
            Received::Host => return self.settle_plan(places),
            Received::ProtocolError(fault) => self.core.plan = Some(PendingEvent::ProtocolError(fault)),
            Received::Done | Received::Begun => {}
            // The members of the batch are still answered.
            Received::Exit if self.core.batches.in_line() => self.input.end(),
            Received::Exit => return self.input.close(),
        }
        self.release();
    }

    fn settle_plan(&mut self, places: &mut Spans) {
        if self.core.plan.is_some_and(|plan| plan.holds_line()) {
            decode_subject(self.input.bytes_mut(), &mut places.subject);
            self.input.set_places(places.spans());
        } else {
            self.release();
        }
    }

    /// Ends the connection when its input has ended and nothing is left to send.
    fn drain(&mut self) -> bool {
        let ended = self.input.ended();
        if ended && self.input.line().is_none() {
            self.core.life.step(Trigger::EndOfInput);
            // Subscriptions receive their end.
            self.core.write_changes();
        }
        let draining = self.core.life.state() == State::Draining;
        if draining {
            if !matches!(self.core.ending, Ending::Grace | Ending::Late) {
                self.set_ending(Ending::Grace);
                // Outbound requests end here, and none can be sent any more.
                if let Some(asking) = self.core.asking {
                    asking.end(&mut self.core, false);
                    return true;
                }
            }
            let grace = self.core.ending == Ending::Grace && self.core.now < self.core.ends;
            // After `shutdown` the client may still send messages. Wait for `exit`, so that they are always handled.
            let waits = self.core.awaits_exit && !ended && grace;
            if !waits && self.core.in_flight.len() == 0 && self.core.output.is_empty() {
                return self.core.life.step(Trigger::Drained);
            }
            if grace {
                return false;
            }
        } else if !ended {
            return false;
        }
        // The rest depends on the client reading. Each time that bytes move, its grace starts again.
        let ending = if draining { Ending::Late } else { Ending::Waits };
        if self.core.output.has_moved() || self.core.ending != ending {
            self.set_ending(ending);
        } else if self.core.ends <= self.core.now {
            self.lose();
            return true;
        }
        false
    }

    fn set_ending(&mut self, ending: Ending) {
        (self.core.ending, self.core.ends) = (ending, self.core.now.plus(self.core.info.limits.grace));
    }
}

/// Decodes the string of `subject` in place, and narrows `subject` to the decoded text without quotes.
fn decode_subject(line: &mut [u8], subject: &mut Span) {
    let inner = Span { start: subject.start.wrapping_add(1), end: subject.end.saturating_sub(1) };
    *subject = match line.get_mut(inner.range()) {
        Some(text) => {
            let length = decode_text_in_place(text);
            Span { start: inner.start, end: inner.start.wrapping_add(length) }
        }
        None => Span::EMPTY,
    };
}
