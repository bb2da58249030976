//! What is kept of a request in flight. There is one of these for each slot that a host lends, so it has no byte too many.
#![allow(clippy::as_conversions, reason = "a level and a revision are numbered from zero, and there are few")]

use crate::framing::outbound_message::StreamId;
use crate::json::SortKey;
use crate::peer::slots::Data;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::revision::Revision;
use crate::server::change_set::ChangeSet;
use crate::server::pending_event::RequestKind;
use crate::server::reply::Context;

/// A request that the server has in flight: a deferred one of the client's, or one of its own.
#[derive(Debug, Clone, Copy)]
pub struct InboundRequest {
    /// The progress that was reported last.
    pub(crate) last: SortKey,
    pub(crate) stream: StreamId,
    kept: PackedContext,
}

/// What an answer depends on, in eight bytes, without the stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedContext {
    /// Of the next page of a list, the first entry. Of a subscription, what it hears of, and what of that was not told yet.
    /// Of a request of ours, for how many milliseconds its answer is awaited; 0 when these have begun.
    number: u32,
    kind: RequestKind,
    stage: Stage,
    capabilities: ClientCapabilities,
    terms: PackedFlags,
}

/// Whose request it is, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The client's: the host answers it later.
    Deferred,
    /// The client's: its time is over, and the host has heard so. Its text is its id; the error for it waits for room.
    Expired,
    /// Ours: its answer is awaited.
    AwaitingResponse { progress: bool },
    /// Ours: there will be no answer, and the host is to hear so.
    Failed,
    /// Ours: the host has heard its end. Its text is why; the cancellation waits for room.
    Withdrawn,
    /// Ours: the host has heard its end, and the client does not have to.
    Over,
}

impl Stage {
    /// Whether it is a request of ours.
    pub(crate) fn is_ours(self) -> bool {
        !matches!(self, Stage::Deferred | Stage::Expired)
    }
}

/// The revision of a request, the log level of the stateless era, and whether it is a member of a batch, from the lowest bit
/// on.
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
        let [oldest, ..] = Revision::ALL;
        Revision::ALL.get(usize::from(self.0 & 7)).copied().unwrap_or(oldest)
    }

    fn level(self) -> Option<Level> {
        Level::ALL.get(usize::from(self.0 >> 3 & 15).checked_sub(1)?).copied()
    }
}

impl Data for InboundRequest {
    const EMPTY: InboundRequest = InboundRequest {
        last: SortKey::NONE,
        stream: StreamId::NONE,
        kept: PackedContext {
            number: 0,
            kind: RequestKind::Machine,
            stage: Stage::Deferred,
            capabilities: ClientCapabilities::NONE,
            terms: PackedFlags(0),
        },
    };
}

impl PackedContext {
    pub(crate) fn new(context: &Context) -> PackedContext {
        let Context { kind, capabilities, first, .. } = *context;
        PackedContext {
            number: first,
            kind,
            stage: Stage::Deferred,
            capabilities,
            terms: PackedFlags::new(context),
        }
    }

    pub(crate) fn context(self, stream: StreamId) -> Context {
        Context {
            revision: self.terms.revision(),
            kind: self.kind,
            capabilities: self.capabilities,
            level: self.terms.level(),
            first: self.number,
            stream,
            batched: self.terms.is_batched(),
        }
    }
}

impl InboundRequest {
    /// A request of the client's.
    pub(crate) fn deferred(context: Context, last: SortKey) -> InboundRequest {
        InboundRequest { last, stream: context.stream, kept: PackedContext::new(&context) }
    }

    /// A request of ours, whose answer is awaited for so many milliseconds from the next poll on.
    pub(crate) fn asked(timeout: u32, progress: bool) -> InboundRequest {
        let kept = PackedContext {
            number: timeout,
            stage: Stage::AwaitingResponse { progress },
            ..InboundRequest::EMPTY.kept
        };
        InboundRequest { kept, ..InboundRequest::EMPTY }
    }

    pub(crate) fn context(&self) -> Context {
        self.kept.context(self.stream)
    }

    pub(crate) fn stage(&self) -> Stage {
        self.kept.stage
    }

    pub(crate) fn set_stage(&mut self, stage: Stage) {
        self.kept.stage = stage;
    }

    pub(crate) fn is_batched(&self) -> bool {
        self.kept.terms.is_batched()
    }

    /// Whether the host is to answer it.
    pub(crate) fn is_open(&self) -> bool {
        self.kept.stage == Stage::Deferred && self.kept.kind != RequestKind::Listen
    }

    /// What a subscription hears of, and what of that was not told yet.
    pub(crate) fn listens(&self) -> Option<[ChangeSet; 2]> {
        let [filter, pending, ..] = self.kept.number.to_le_bytes();
        (self.kept.kind == RequestKind::Listen)
            .then_some([ChangeSet::of_bits(filter), ChangeSet::of_bits(pending)])
    }

    pub(crate) fn set_listens(&mut self, filter: ChangeSet, pending: ChangeSet) {
        self.kept.kind = RequestKind::Listen;
        self.kept.number = u32::from_le_bytes([filter.bits(), pending.bits(), 0, 0]);
    }

    /// For how long the answer of a request of ours is awaited, if that has not begun yet: it begins now.
    pub(crate) fn begin(&mut self) -> Option<u32> {
        Some(core::mem::take(&mut self.kept.number)).filter(|timeout| *timeout > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_depends_on_is_kept() {
        let levels = [None].into_iter().chain(Level::ALL.map(Some));
        for (revision, level) in
            Revision::ALL.into_iter().flat_map(|it| levels.clone().map(move |level| (it, level)))
        {
            for batched in [false, true] {
                let context = Context {
                    revision,
                    kind: RequestKind::CallTool { pads: batched },
                    capabilities: ClientCapabilities::EVERYTHING,
                    level,
                    first: 70_000,
                    stream: StreamId(7),
                    batched,
                };
                let kept = InboundRequest::deferred(context, SortKey::NONE).context();
                assert_eq!(kept, context);
            }
        }
    }

    #[test]
    fn time_begins_once() {
        let mut asked = InboundRequest::asked(5, true);
        assert_eq!((asked.begin(), asked.begin()), (Some(5), None));
    }
}
