//! `Flags`: properties of an exchange that need one bit each.

/// A set of properties of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags(u32);

impl Flags {
    pub(super) const NONE: Flags = Flags(0);
    /// The head of the response was sent.
    pub(super) const HEAD_SENT: Flags = Flags(1);
    /// The response carries the id of the session that it creates.
    pub(super) const NEW_SESSION: Flags = Flags(2);
    /// The request belongs to `2026-07-28`.
    pub(super) const MODERN: Flags = Flags(4);
    /// The body contains no request, so the response has status 202.
    pub(super) const ONE_WAY: Flags = Flags(8);
    /// The body is an array.
    pub(super) const BATCH: Flags = Flags(16);
    /// The client accepts an event stream.
    pub(super) const TAKES_STREAM: Flags = Flags(32);
    /// The client accepts JSON.
    pub(super) const TAKES_JSON: Flags = Flags(64);
    /// The exchange is a general stream, opened by a GET. It carries the messages of a session that belong to no
    /// request.
    pub(super) const GENERAL: Flags = Flags(128);
    /// The exchange belongs to HTTP+SSE: a POST, or the stream of a session, which does not end with a response.
    pub(super) const LEGACY: Flags = Flags(256);
    /// The exchange is in the list of exchanges with output.
    pub(super) const IS_READY: Flags = Flags(512);
    /// The exchange is an event stream that a GET or `subscriptions/listen` has opened.
    pub(super) const LISTENS: Flags = Flags(1024);
    /// The client closed the connection while the message was queued.
    pub(super) const DISCONNECTED: Flags = Flags(2048);
    /// The request is `initialize`, and has no response yet. Not set in HTTP+SSE and in `2026-07-28`.
    pub(super) const INITIALIZE: Flags = Flags(4096);
    /// The request is a POST of a revision with priming events (`2025-11-25`).
    pub(super) const PRIMES: Flags = Flags(8192);
    /// The body is `notifications/cancelled`.
    pub(super) const CANCELS: Flags = Flags(16_384);
    /// The refusal is temporary, so the response has the field `Retry-After`.
    pub(super) const RETRY_LATER: Flags = Flags(32_768);
    /// The connection closes when its output is sent, and the stream continues on another connection.
    pub(super) const RELEASES: Flags = Flags(65_536);
    /// A response in pieces has begun.
    pub(super) const PIECES: Flags = Flags(131_072);
    /// The core server has paused the response in pieces.
    pub(super) const PAUSED: Flags = Flags(262_144);

    /// Another connection has taken over the stream. `take_ready` returns the previous identifier first.
    pub(super) const REPLACES: Flags = Flags(524_288);
    /// The properties that an ended exchange keeps until it leaves the list of exchanges with output.
    pub(super) const LISTED: Flags = Flags(Flags::IS_READY.0 | Flags::REPLACES.0);

    pub(super) fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn add(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    pub(super) fn remove(&mut self, other: Flags) {
        self.0 &= !other.0;
    }

    /// Removes all properties that are not in `others`.
    pub(super) fn keep(&mut self, others: Flags) {
        self.0 &= others.0;
    }
}
