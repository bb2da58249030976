//! The properties of an inbound request that determine its response.
#![allow(clippy::as_conversions, reason = "levels and revisions are small numbers that start at zero")]

use crate::framing::outbound_message::StreamId;
use crate::peer::request::{Inbound, InboundData, InboundState};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::revision::{Era, Revision};
use crate::server::change_set::ChangeSet;
use crate::server::chunks::ChunkState;
use crate::server::pending_event::RequestKind;

/// The properties of a request that determine its response. Each slot of an inbound request stores a `Context`.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub(crate) kind: RequestKind,
    pub(crate) capabilities: ClientCapabilities,
    /// Packed fields. From the lowest bit: revision (3 bits), log level of the stateless era (4), batch member (1). The
    /// level [`KEYED`] marks a request of one of several sessions. Such a request has no level of its own.
    flags: u8,
}

const BATCHED: u8 = 0x80;
const KEYED: u8 = 15;

impl Context {
    /// Creates the context of a request with default properties. `is_batched` marks a batch member.
    pub(crate) fn new(is_batched: bool) -> Context {
        let flags = if is_batched { BATCHED } else { 0 };
        Context { kind: RequestKind::Internal, capabilities: ClientCapabilities::NONE, flags }
    }

    pub(crate) fn with_kind(self, kind: RequestKind) -> Context {
        Context { kind, ..self }
    }

    #[inline]
    pub(crate) fn revision(&self) -> Revision {
        Revision::ALL.get(usize::from(self.flags & 7)).copied().unwrap_or(Revision::OLDEST)
    }

    pub(crate) fn set_revision(&mut self, revision: Revision) {
        self.flags = self.flags & !7 | revision as u8;
    }

    /// Returns the minimum log level that the request names (stateless era). Returns `None` if the request names no
    /// level.
    pub(crate) fn level(&self) -> Option<Level> {
        Level::ALL.get(usize::from(self.packed_level().checked_sub(1)?)).copied()
    }

    pub(crate) fn set_level(&mut self, level: Option<Level>) {
        self.set_packed_level(level.map_or(0, |level| (level as u8).wrapping_add(1)));
    }

    fn packed_level(&self) -> u8 {
        self.flags >> 3 & 15
    }

    fn set_packed_level(&mut self, level: u8) {
        self.flags = self.flags & !(15 << 3) | level << 3;
    }

    /// Returns whether the request is a batch member. The response of a member joins the responses of the other
    /// members.
    pub(crate) fn is_batched(&self) -> bool {
        self.flags & BATCHED != 0
    }

    fn is_keyed(&self) -> bool {
        self.packed_level() == KEYED
    }

    /// Records that the server has several sessions, and that the stream names the session of the request.
    pub(crate) fn set_keyed(&mut self) {
        self.set_packed_level(KEYED);
    }
}

impl InboundData for Context {
    fn owner(&self, stream: StreamId) -> StreamId {
        match self.revision().era() {
            Era::Handshake if self.is_keyed() => stream.session().stream(),
            Era::Handshake => StreamId::NONE,
            Era::Stateless => stream,
        }
    }
}

impl Inbound<Context> {
    /// Returns the owner of the request's id: see [`InboundData::owner`].
    pub(crate) fn owner(&self) -> StreamId {
        self.context.owner(self.stream)
    }

    pub(crate) fn is_batched(&self) -> bool {
        self.context.is_batched()
    }

    /// Returns whether the request ends when this stream closes. Returns `true` for deferred requests and subscriptions
    /// of the stateless era on this stream, and for chunked responses that have begun on this stream. If this stream
    /// stands for a session, also returns `true` for the deferred requests and the chunked responses of the session.
    pub(crate) fn ends_with(&self, stream: StreamId) -> bool {
        let has_owner = self.context.revision().era() == Era::Stateless || self.context.is_keyed();
        let is_owned = has_owner && self.owner() == stream;
        match self.state {
            InboundState::Open => is_owned || self.stream == stream,
            state => state.is_deferred() && is_owned,
        }
    }

    /// Returns whether the application writes the response in chunks.
    pub(crate) fn is_chunked(&self) -> bool {
        self.state == InboundState::Open
    }

    /// Returns whether the request is deferred and is not a subscription.
    pub(crate) fn is_open(&self) -> bool {
        // This includes a `tasks/result` that waits for the end of its task. The application knows the ticket of the
        // task, but not the ticket of this request.
        self.state.is_deferred() && self.subscription().is_none()
    }

    /// Returns the state of a chunked response. Returns `None` for other requests.
    pub(crate) fn chunks(&self) -> Option<ChunkState> {
        match self.context.kind {
            RequestKind::Chunked(chunks) => Some(chunks),
            _ => None,
        }
    }

    /// Returns the filter and the pending changes of a subscription. Returns `None` for other requests.
    pub(crate) fn subscription(&self) -> Option<[ChangeSet; 2]> {
        match self.context.kind {
            RequestKind::Listen { filter, pending } => Some([filter, pending]),
            _ => None,
        }
    }

    /// Returns the pending changes of a subscription. Returns `None` for other requests.
    pub(crate) fn pending_changes(&mut self) -> Option<&mut ChangeSet> {
        match &mut self.context.kind {
            RequestKind::Listen { pending, .. } => Some(pending),
            _ => None,
        }
    }

    pub(crate) fn set_chunks(&mut self, chunks: ChunkState) {
        (self.state, self.context.kind) = (InboundState::Open, RequestKind::Chunked(chunks));
    }

    pub(crate) fn set_kind(&mut self, kind: RequestKind) {
        self.context.kind = kind;
    }

    pub(crate) fn set_subscription(&mut self, filter: ChangeSet, pending: ChangeSet) {
        self.context.kind = RequestKind::Listen { filter, pending };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revision_level_and_batch_mark_are_independent() {
        let levels = [None].into_iter().chain(Level::ALL.map(Some));
        for (revision, level) in
            Revision::ALL.into_iter().flat_map(|it| levels.clone().map(move |level| (it, level)))
        {
            for batched in [false, true] {
                let mut context = Context::new(batched);
                context.set_revision(Revision::V2026_07_28);
                context.set_keyed();
                assert!(context.is_keyed() && context.level().is_none());
                context.set_level(level);
                context.set_revision(revision);
                assert!(!context.is_keyed());
                assert_eq!((context.revision(), context.level()), (revision, level));
                assert_eq!(context.is_batched(), batched);
            }
        }
    }
}
