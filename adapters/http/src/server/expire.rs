//! Deadlines: slow bodies, late responses, idle streams, slow readers, unused sessions.

use mcp_proto::Millis;
use mcp_proto::rpc::code;
use mcp_proto::server::Server;

use super::HttpServer;
use super::exchanges::Phase;
use super::policy::Policy;
use super::response::Refusal;

impl<P: Policy> HttpServer<'_, P> {
    /// Handles all deadlines that have passed.
    pub(super) fn expire(&mut self, server: &mut Server<'_>) {
        while let Some(index) = self.exchanges.due(self.now) {
            self.expire_exchange(server, index);
        }
        while P::HANDSHAKE
            && let Some((key, last_used, is_open)) = self.sessions.oldest()
            && last_used.plus(self.config.times.session_idle) <= self.now
        {
            match is_open {
                true => self.sessions.touch(key, self.now, 0),
                false => self.sessions.end(key),
            }
        }
    }

    fn expire_exchange(&mut self, server: &mut Server<'_>, index: u16) {
        let Some(slot) = self.exchanges.slot(index) else { return };
        let stream = slot.stream;
        match slot.phase {
            Phase::Body => {
                let refusal = Refusal::new(408, code::INVALID_REQUEST, "the body did not arrive in time");
                self.refuse(index, refusal, None);
            }
            Phase::Waiting => self.open_stream(index),
            Phase::Stream
                if slot.output.is_empty() && slot.flags.has(super::exchange_flags::Flags::HEAD_SENT) =>
            {
                self.push_comment(index);
            }
            Phase::Stream | Phase::Ending => self.cut(index),
            // The slot stays taken while the core server has a request of the exchange, or has anything else to do,
            // such as to send the response. Otherwise the next exchange in the slot could get this response. A
            // cancelled request gets no response, so its exchange ends at the deadline.
            Phase::Detached
                if P::HANDSHAKE && (server.request_id_on(stream).is_some() || !self.is_idle(server)) =>
            {
                self.rearm(index);
            }
            Phase::Detached => self.release(index),
            Phase::Free | Phase::Queued | Phase::Closing => self.exchanges.set_deadline(index, None),
        }
    }

    /// Returns a lower bound of the deadlines of exchanges and sessions, or `None` if there is no deadline.
    pub(super) fn own_deadline(&self) -> Option<Millis> {
        let exchanges = self.exchanges.earliest;
        let idle = self.config.times.session_idle;
        let oldest = if P::HANDSHAKE { self.sessions.oldest() } else { None };
        let sessions = oldest.map_or(Millis(u64::MAX), |(_, at, _)| at.plus(idle));
        Some(exchanges.min(sessions)).filter(|at| *at < Millis(u64::MAX))
    }
}
