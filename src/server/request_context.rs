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

/// The properties of a request that determine its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) kind: RequestKind,
    pub(crate) capabilities: ClientCapabilities,
    flags: PackedFlags,
    pub(crate) stream: StreamId,
}

/// A [`Context`] without its stream. Each slot stores one.
#[derive(Debug, Clone, Copy)]
pub struct PackedContext {
    kind: RequestKind,
    capabilities: ClientCapabilities,
    flags: PackedFlags,
}

/// Packed fields. From the lowest bit: revision (3 bits), log level of the stateless era (4), batch member (1). The
/// level [`KEYED`] marks a request of one of several sessions. Such a request has no level of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PackedFlags(u8);

const BATCHED: u8 = 0x80;
const KEYED: u8 = 15;

impl PackedFlags {
    fn set_level(&mut self, level: u8) {
        self.0 = self.0 & !(15 << 3) | level << 3;
    }

    fn is_batched(self) -> bool {
        self.0 & BATCHED != 0
    }

    fn is_keyed(self) -> bool {
        self.0 >> 3 & 15 == KEYED
    }

    fn revision(self) -> Revision {
        Revision::ALL.get(usize::from(self.0 & 7)).copied().unwrap_or(Revision::OLDEST)
    }

    fn level(self) -> Option<Level> {
        Level::ALL.get(usize::from(self.0 >> 3 & 15).checked_sub(1)?).copied()
    }
}

impl Context {
    /// Creates the context of a request with default properties. `is_batched` marks a batch member.
    pub(crate) fn new(stream: StreamId, is_batched: bool) -> Context {
        let flags = PackedFlags(if is_batched { BATCHED } else { 0 });
        Context { kind: RequestKind::Internal, capabilities: ClientCapabilities::NONE, flags, stream }
    }

    pub(crate) fn with_kind(self, kind: RequestKind) -> Context {
        Context { kind, ..self }
    }

    #[inline]
    pub(crate) fn revision(&self) -> Revision {
        self.flags.revision()
    }

    pub(crate) fn set_revision(&mut self, revision: Revision) {
        self.flags.0 = self.flags.0 & !7 | revision as u8;
    }

    /// Returns the minimum log level that the request names (stateless era). Returns `None` if the request names no
    /// level.
    pub(crate) fn level(&self) -> Option<Level> {
        self.flags.level()
    }

    pub(crate) fn set_level(&mut self, level: Option<Level>) {
        self.flags.set_level(level.map_or(0, |level| (level as u8).wrapping_add(1)));
    }

    /// Returns whether the request is a batch member. The response of a member joins the responses of the other
    /// members.
    pub(crate) fn is_batched(&self) -> bool {
        self.flags.is_batched()
    }

    /// Records that the machine serves several sessions, and that the stream names the session of the request.
    pub(crate) fn set_keyed(&mut self) {
        self.flags.set_level(KEYED);
    }
}

impl PackedContext {
    pub(crate) fn new(context: &Context) -> PackedContext {
        let Context { kind, capabilities, flags, .. } = *context;
        PackedContext { kind, capabilities, flags }
    }

    pub(crate) fn unpack(self, stream: StreamId) -> Context {
        let PackedContext { kind, capabilities, flags } = self;
        Context { kind, capabilities, flags, stream }
    }
}

impl InboundData for PackedContext {
    fn owner(&self, stream: StreamId) -> StreamId {
        match self.flags.revision().era() {
            Era::Handshake if self.flags.is_keyed() => stream.session().stream(),
            Era::Handshake => StreamId::NONE,
            Era::Stateless => stream,
        }
    }
}

impl Inbound<PackedContext> {
    pub(crate) fn context(&self) -> Context {
        self.context.unpack(self.stream)
    }

    /// Returns the owner of the request's id: see [`InboundData::owner`].
    pub(crate) fn owner(&self) -> StreamId {
        self.context.owner(self.stream)
    }

    pub(crate) fn is_batched(&self) -> bool {
        self.context.flags.is_batched()
    }

    /// Returns whether the request ends when this stream closes. Returns `true` for deferred requests and
    /// subscriptions of the stateless era on this stream. Also returns `true` for requests of a session that ends,
    /// and for a chunked response that has begun on this stream.
    pub(crate) fn ends_with(&self, stream: StreamId) -> bool {
        let has_owner =
            self.context.flags.revision().era() == Era::Stateless || self.context.flags.is_keyed();
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
        // A request that waits for the result of a task counts as deferred, but the application does not know its
        // ticket.
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
                let mut context = Context::new(StreamId(7), batched);
                context.set_revision(Revision::V2026_07_28);
                context.set_keyed();
                assert!(context.flags.is_keyed() && context.level().is_none());
                context.set_level(level);
                context.set_revision(revision);
                assert!(!context.flags.is_keyed());
                assert_eq!((context.revision(), context.level()), (revision, level));
                assert_eq!(context.is_batched(), batched);
                assert_eq!(PackedContext::new(&context).unpack(context.stream), context);
            }
        }
    }
}
