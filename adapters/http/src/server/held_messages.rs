//! Messages for a session without an event stream, which wait until the client opens one.
//!
//! The replay buffer holds these messages.

use mcp_proto::SessionKey;

use super::HttpServer;
use super::event_stream::{EVENT_OVERHEAD, next_event_id};
use super::exchange_flags::Flags;
use super::exchanges::Phase;
use super::policy::Policy;
use super::replay::HELD;

impl<P: Policy> HttpServer<'_, P> {
    /// Holds a message for a session. Drops the message if the replay buffer or the memory for output is too small.
    /// Also drops the message if the session has ended, or holds too many messages.
    pub(super) fn hold(&mut self, session: SessionKey, message: &[u8]) {
        let can_be_sent = self.pages.can_ever_hold(message.len().saturating_add(EVENT_OVERHEAD));
        let limit = self.config.limits.held;
        if can_be_sent && self.replay.can_ever_hold(message.len()) && self.sessions.add_held(session, limit) {
            self.store_event(session, HELD, 1, message);
        } else {
            self.sessions.count_dropped();
        }
    }

    /// Stores an event in the replay buffer. Each held message that the event replaces counts as dropped.
    pub(super) fn store_event(&mut self, session: SessionKey, stream: u32, number: u32, data: &[u8]) {
        let sessions = &mut self.sessions;
        self.replay.push(session, stream, number, data, &mut |evicted| sessions.drop_held(evicted));
    }

    /// Returns whether messages for a session wait for an event stream.
    pub(super) fn has_held(&self, session: SessionKey) -> bool {
        self.sessions.held(session) > 0
    }

    /// Moves held messages to the general stream of their session, until no space for output is free or the unread
    /// output of the stream reaches its [limit](super::HttpLimits::stream). The messages become events of that stream,
    /// so that the client can resume after each message. Has no effect if the exchange is not an open general stream.
    #[inline(never)]
    pub(super) fn send_held(&mut self, index: u16) {
        let mut from = self.replay.first();
        while let Some(slot) = self.exchanges.slot_mut(index)
            && slot.phase == Phase::Stream
            && slot.flags.has(Flags::GENERAL)
            && self.sessions.held(slot.session) > 0
            && let Some((offset, event)) = self.replay.find(from, slot.session, HELD, 0)
        {
            let data = self.replay.data(&event);
            let is_slow = slot.output.len().saturating_add(data.len()) > self.config.limits.stream;
            let has_space = self.pages.fits(&slot.output, data.len().saturating_add(EVENT_OVERHEAD));
            if !has_space || is_slow && !slot.output.is_empty() {
                return;
            }
            let id = next_event_id(slot);
            for piece in [b"id: ", id.bytes(), b"\ndata: ", data, b"\n\n"] {
                self.pages.push(&mut slot.output, piece);
            }
            from = self.replay.next(offset);
            self.sessions.remove_held(slot.session);
            self.replay.rename(offset, slot.serial, slot.events);
            self.exchanges.set_ready(index);
            self.rearm(index);
        }
    }

    /// Returns the number of dropped messages, at most 65,535. Only the cases in the next three paragraphs count.
    ///
    /// A notification or a request to the client is dropped if it is longer than the memory for output. If a client
    /// reads too slowly, or no space for output is free, the stream of a call loses the notification. Any other stream
    /// then ends, and its notification is dropped if the client cannot resume the stream.
    ///
    /// If a session has no event stream, the [replay buffer](HttpServer::replay_buffer) holds a message for the
    /// session until the client opens a stream. The message is dropped if it does not fit into that buffer or into the
    /// output, or if the session has ended. The message is also dropped if the session already holds
    /// [`HttpLimits::held`](super::HttpLimits::held) messages.
    ///
    /// A new event in a full replay buffer replaces the oldest events, so the held messages among them are dropped.
    ///
    /// These messages do not count: messages that the client or the configuration excludes, such as notifications with
    /// [`json_only`](super::HttpConfig::json_only), messages for an exchange that has ended, and notifications of a
    /// call after its [chunked](HttpServer::chunked_responses) response has begun.
    #[must_use]
    pub fn dropped_messages(&self) -> u16 {
        self.sessions.dropped()
    }
}
