//! State of one request in flight, packed: each slot stores one.
#![allow(clippy::as_conversions, reason = "levels and revisions are small numbers that start at zero")]

use crate::framing::outbound_message::StreamId;
use crate::json::SortKey;
use crate::peer::slots::Data;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::revision::{Era, Revision};
use crate::server::change_set::ChangeSet;
use crate::server::pending_event::RequestKind;
use crate::server::reply::Context;

/// A request in flight: a deferred request of the client, a subscription, or a request that the server sent.
#[derive(Debug, Clone, Copy)]
pub struct InboundRequest {
    /// The last reported progress.
    pub(crate) last_progress: SortKey,
    pub(crate) stream: StreamId,
    packed: PackedContext,
}

/// A [`Context`] without its stream, packed into eight bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedContext {
    /// List request: index of the first entry of the page. Subscription: its filter and its pending changes.
    /// Outbound request: the timeout in milliseconds, or 0 when the timeout is running.
    number: u32,
    kind: RequestKind,
    stage: Stage,
    capabilities: ClientCapabilities,
    flags: PackedFlags,
}

/// The direction of a request, and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Inbound: the application responds later.
    Deferred,
    /// Inbound: its timeout has expired and was reported. The slot's text is its id. Its error awaits space.
    Expired,
    /// Outbound: awaits its response.
    AwaitingResponse { progress: bool },
    /// Outbound: failed, and the failure is not reported yet.
    Failed,
    /// Outbound: its end was reported. The slot's text is the reason. Its cancellation awaits space.
    CancelPending,
    /// Outbound: its end was reported, and no cancellation is needed.
    Closed,
}

impl Stage {
    /// Whether the server sent the request.
    pub(crate) fn is_outbound(self) -> bool {
        !matches!(self, Stage::Deferred | Stage::Expired)
    }
}

/// Three fields, from the lowest bit: revision (3 bits), log level of the stateless era (4), batch member (1).
#[derive(Debug, Clone, Copy)]
struct PackedFlags(u8);

const BATCHED: u8 = 0x80;

impl PackedFlags {
    fn new(context: &Context) -> PackedFlags {
        let level = context.level.map_or(0, |level| (level as u8).wrapping_add(1));
        let batched = if context.batched { BATCHED } else { 0 };
        PackedFlags(context.revision as u8 | level << 3 | batched)
    }

    fn is_batched(self) -> bool {
        self.0 & BATCHED != 0
    }

    fn revision(self) -> Revision {
        Revision::ALL.get(usize::from(self.0 & 7)).copied().unwrap_or(Revision::OLDEST)
    }

    fn level(self) -> Option<Level> {
        Level::ALL.get(usize::from(self.0 >> 3 & 15).checked_sub(1)?).copied()
    }
}

impl Data for InboundRequest {
    const EMPTY: InboundRequest = InboundRequest {
        last_progress: SortKey::NONE,
        stream: StreamId::NONE,
        packed: PackedContext {
            number: 0,
            kind: RequestKind::Internal,
            stage: Stage::Deferred,
            capabilities: ClientCapabilities::NONE,
            flags: PackedFlags(0),
        },
    };

    fn owner(&self) -> StreamId {
        match self.packed.flags.revision().era() {
            Era::Handshake => StreamId::NONE,
            Era::Stateless => self.stream,
        }
    }
}

impl PackedContext {
    pub(crate) fn new(context: &Context) -> PackedContext {
        let Context { kind, capabilities, first, .. } = *context;
        PackedContext {
            number: first,
            kind,
            stage: Stage::Deferred,
            capabilities,
            flags: PackedFlags::new(context),
        }
    }

    pub(crate) fn context(self, stream: StreamId) -> Context {
        Context {
            revision: self.flags.revision(),
            kind: self.kind,
            capabilities: self.capabilities,
            level: self.flags.level(),
            first: self.number,
            stream,
            batched: self.flags.is_batched(),
        }
    }
}

impl InboundRequest {
    /// A deferred request of the client.
    pub(crate) fn deferred(context: Context, last_progress: SortKey) -> InboundRequest {
        InboundRequest { last_progress, stream: context.stream, packed: PackedContext::new(&context) }
    }

    /// A request that the server sent. The next poll starts its timeout, in milliseconds.
    pub(crate) fn outbound(timeout: u32, progress: bool) -> InboundRequest {
        let packed = PackedContext {
            number: timeout,
            stage: Stage::AwaitingResponse { progress },
            ..InboundRequest::EMPTY.packed
        };
        InboundRequest { packed, ..InboundRequest::EMPTY }
    }

    pub(crate) fn context(&self) -> Context {
        self.packed.context(self.stream)
    }

    pub(crate) fn stage(&self) -> Stage {
        self.packed.stage
    }

    pub(crate) fn set_stage(&mut self, stage: Stage) {
        self.packed.stage = stage;
    }

    pub(crate) fn is_batched(&self) -> bool {
        self.packed.flags.is_batched()
    }

    /// Whether the request ends when this stream closes: an open request or subscription of the stateless era.
    pub(crate) fn ends_with(&self, stream: StreamId) -> bool {
        let is_stateless = self.packed.flags.revision().era() == Era::Stateless;
        self.packed.stage == Stage::Deferred && is_stateless && self.stream == stream
    }

    /// Whether the application must respond.
    pub(crate) fn is_open(&self) -> bool {
        self.packed.stage == Stage::Deferred && self.packed.kind != RequestKind::Listen
    }

    /// The filter and the pending changes of a subscription, or `None` for other requests.
    pub(crate) fn subscription(&self) -> Option<[ChangeSet; 2]> {
        let [filter, pending, ..] = self.packed.number.to_le_bytes();
        (self.packed.kind == RequestKind::Listen)
            .then_some([ChangeSet::from_bits(filter), ChangeSet::from_bits(pending)])
    }

    pub(crate) fn set_subscription(&mut self, filter: ChangeSet, pending: ChangeSet) {
        self.packed.kind = RequestKind::Listen;
        self.packed.number = u32::from_le_bytes([filter.bits(), pending.bits(), 0, 0]);
    }

    /// Takes the timeout of an outbound request, in milliseconds, or returns `None` if it is already running.
    pub(crate) fn take_timeout(&mut self) -> Option<u32> {
        Some(core::mem::take(&mut self.packed.number)).filter(|timeout| *timeout > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_context_restores_every_field() {
        let levels = [None].into_iter().chain(Level::ALL.map(Some));
        for (revision, level) in
            Revision::ALL.into_iter().flat_map(|it| levels.clone().map(move |level| (it, level)))
        {
            for batched in [false, true] {
                let context = Context {
                    revision,
                    kind: RequestKind::CallTool { pad_structured: batched },
                    capabilities: ClientCapabilities::EVERYTHING,
                    level,
                    first: 70_000,
                    stream: StreamId(7),
                    batched,
                };
                let packed = InboundRequest::deferred(context, SortKey::NONE).context();
                assert_eq!(packed, context);
            }
        }
    }

    #[test]
    fn timeout_is_taken_once() {
        let mut request = InboundRequest::outbound(5, true);
        assert_eq!((request.take_timeout(), request.take_timeout()), (Some(5), None));
    }
}
