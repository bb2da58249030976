//! HTTP+SSE of 2024-11-05: an event stream, which is the session, and an endpoint for messages.
//!
//! The client tries this transport if the server refuses the POST of `initialize` with 400, 404 or 405. The client does
//! not try the transport if the body of the refusal is a JSON-RPC response with an id. To try this transport, the
//! client opens the stream with GET. The event `endpoint` of the stream names the endpoint, to which the client sends
//! `initialize` again.

use mcp_proto::Millis;
use mcp_proto::rpc::{Message, MessageKind};

use super::HttpClient;
use super::exchange::{Exchange, ExchangeId, Memory, Progress, Purpose, find_mut};
use super::response::Finish;
use super::session_id::SessionId;
use crate::sse::SseItem;

/// Returns whether the client tries HTTP+SSE after a server has refused `initialize` with this status.
pub(super) fn is_fallback_status(status: u16) -> bool {
    matches!(status, 400 | 404 | 405)
}

impl<'b, T: AsMut<[Exchange<'b>]> + AsRef<[Exchange<'b>]>> HttpClient<'b, T> {
    /// Opens the event stream of HTTP+SSE after a refused `initialize`, whose exchange then waits for the endpoint.
    /// Returns `false` for any other exchange, and if the body is a JSON-RPC response with an id. Also returns `false`
    /// if the exchange has no copy of `initialize`, because the copy did not fit, or if no exchange is free.
    pub(super) fn fall_back(&mut self, id: ExchangeId, now: Millis) -> bool {
        let Some(found) = find_mut(self.exchanges.as_mut(), id) else {
            return false;
        };
        let answers = |message: Message<'_>| {
            message.kind() == MessageKind::Response && message.id().is_some_and(|id| !id.is_null())
        };
        let is_answered =
            |it: &Exchange<'_>| it.progress == Progress::Json && Message::parse(it.body()).is_ok_and(answers);
        if !found.is_fallback || is_answered(found) || found.stored().is_none() {
            return false;
        }
        if self.start(Purpose::LegacyStream, Progress::Due(now)).is_none() {
            return false;
        }
        if let Some(found) = self.exchanges.as_mut().get_mut(id.index()) {
            found.drop_body();
            (found.purpose, found.progress) = (Purpose::LegacyRequest, Progress::AwaitsEndpoint);
            (found.is_fallback, found.is_complete) = (false, false);
        }
        true
    }

    /// Takes the endpoint from the event `endpoint` of a new stream. Returns the number of bytes up to the end of that
    /// event, or `bytes.len()` if the event has not ended. Returns 0 if the exchange is no such stream, or if the
    /// endpoint is already known.
    pub(super) fn find_endpoint(&mut self, id: ExchangeId, bytes: &[u8]) -> usize {
        let found = find_mut(self.exchanges.as_mut(), id);
        let Some(Exchange { memory: Memory::Events(decoder), purpose: Purpose::LegacyStream, .. }) =
            found.filter(|_| !self.is_legacy)
        else {
            return 0;
        };
        let mut consumed = 0usize;
        let endpoint = loop {
            let step = decoder.decode(bytes.get(consumed..).unwrap_or_default());
            consumed = consumed.saturating_add(step.consumed);
            match step.item {
                None => return consumed,
                Some(SseItem::Event(event)) if event.name == b"endpoint" => break SessionId::new(event.data),
                Some(_) => {}
            }
        };
        // Without a valid endpoint, the stream is useless: `initialize` fails at the end of the stream, or when the
        // request times out.
        if let Some(endpoint) = endpoint {
            (self.session, self.is_legacy) = (endpoint, true);
            for exchange in self.exchanges.as_mut() {
                if exchange.progress == Progress::AwaitsEndpoint {
                    exchange.progress = Progress::Due(Millis::ZERO);
                }
            }
        }
        consumed
    }

    /// Frees the exchange if it is the event stream of HTTP+SSE. Returns `false` for any other exchange.
    pub(super) fn free_legacy_stream(&mut self, id: ExchangeId) -> bool {
        let found = find_mut(self.exchanges.as_mut(), id);
        found.filter(|found| found.purpose == Purpose::LegacyStream).map(Exchange::free).is_some()
    }

    /// Handles the end of the event stream: ends the session, or fails the `initialize` that waits for the endpoint.
    pub(super) fn finish_legacy_stream(&mut self) -> Finish<'_> {
        if core::mem::take(&mut self.is_legacy) {
            self.session = SessionId::NONE;
            self.free_all();
            return Finish::SessionLost;
        }
        let waits = |exchange: &&mut Exchange<'_>| exchange.progress == Progress::AwaitsEndpoint;
        match self.exchanges.as_mut().iter_mut().find(waits) {
            Some(exchange) => {
                exchange.free();
                Finish::Closed(exchange.stream)
            }
            None => Finish::Ended,
        }
    }

    /// Closes the event stream of HTTP+SSE, and frees the exchange of an `initialize` that is not yet repeated. If the
    /// stream was already requested, [`HttpClient::poll`] then returns its exchange, so that the caller closes the
    /// connection.
    pub(super) fn close_legacy_stream(&mut self) {
        (self.session, self.is_legacy) = (SessionId::NONE, false);
        for exchange in self.exchanges.as_mut() {
            match (exchange.purpose, exchange.progress) {
                (_, Progress::Free) => {}
                (Purpose::LegacyStream, Progress::Due(_)) => exchange.free(),
                _ if exchange.will_repeat_initialize() => exchange.free(),
                (Purpose::LegacyStream, _) => {
                    (exchange.purpose, exchange.progress) = (Purpose::OneWay, Progress::Sent);
                    exchange.closes_at = Some(Millis::ZERO);
                }
                _ => {}
            }
        }
    }
}
