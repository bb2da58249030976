//! The short way of what most requests are on a host: in a session in which nothing else is to be done, one is as one was before but
//! for its id, the entry of a catalogue that it names, and its arguments. Then what became of that one becomes of this one, and
//! only the three are looked at.

use crate::framing::{LONGEST_ID, Pattern};
use crate::protocol::revision::Revision;
use crate::server::Server;
use crate::server::event::MakeEvent;
use crate::server::feature::{Feature, Request, span_of};
use crate::server::inbound_request::PackedContext;
use crate::server::pending_event::{PendingEvent, Spans};

/// A request that was handed out. Others that are written like it become the same in this session, whatever entry they name.
#[cfg_attr(target_os = "none", allow(dead_code, reason = "boards remember nothing"))]
pub(crate) struct Usual<'b> {
    /// The entry that it names, and who has it.
    name: &'b str,
    feature: &'b dyn Feature,
    revision: Revision,
    kept: PackedContext,
    event: MakeEvent,
    /// How such a request is written.
    pattern: Pattern,
    /// How many were written otherwise since then.
    misses: u8,
}

/// After so many that were written otherwise, one after the other, the pattern is a new one, if theirs is one.
const MISSES: u8 = 16;

impl<'b> Usual<'b> {
    /// What becomes of a request that names another entry. `None`: it has to be looked at.
    fn entry(&self, name: &[u8]) -> Option<(&'b str, PackedContext)> {
        #[cfg(not(target_os = "none"))]
        if let Some((name, kind)) = self.feature.entry(name, self.revision) {
            return Some((name, self.kept.of_kind(kind)));
        }
        _ = name;
        None
    }
}

impl Server<'_> {
    /// Plans to hand out the line that comes next, if it holds such a request. The server [is settled](Server::is_settled).
    /// `false`: nothing has happened, and the way that always works has to be taken.
    #[inline(never)]
    pub(super) fn plan_usual(&mut self) -> bool {
        let core = &mut self.core;
        // Who looks at all messages hears of them in the other way.
        if core.output.is_watched() || !core.has_room() {
            return false;
        }
        let Some(usual) = core.recent.usual() else { return false };
        let mut other = None;
        let mut is_known = |name: &[u8]| {
            other = usual.entry(name);
            other.is_some()
        };
        let Some([id, arguments]) = self.input.find_like(&usual.pattern, &mut is_known) else { return false };
        let (name, kept) = other.unwrap_or((usual.name, usual.kept));
        core.plan = Some(PendingEvent::Request { kept, event: usual.event });
        core.recent.set_subject(Some(name));
        if let Some(usual) = core.recent.usual_mut() {
            usual.misses = 0;
        }
        core.invalid_in_a_row = 0;
        self.input.set_places(Spans { id, arguments, ..Spans::NONE }.spans());
        true
    }
}

impl<'b> Request<'_, 'b> {
    /// Notes that this becomes of the request, which is handed out.
    #[inline(never)]
    pub(super) fn note_usual(&mut self, kept: PackedContext, event: MakeEvent) {
        let context = &self.pending.context;
        let (revision, in_session) = (context.revision, context.revision < Revision::V2026_07_28);
        // There, and alone in its line, nothing counts but what it says.
        let counts = in_session && !context.batched && self.meta.is_none();
        let found = self.found.filter(|_| counts).zip(self.core.recent.feature());
        let Some((name, feature)) = found else { return };
        let Spans { id, arguments, .. } = *self.places;
        let pattern = || {
            let short_id = id.end.wrapping_sub(id.start) <= LONGEST_ID;
            let place = span_of(self.line, self.name.filter(|_| short_id)?.bytes());
            Pattern::new(self.line, id, place, arguments)
        };
        // What is known stays known until it is of no use any more, and another one is there.
        let misses = self.core.recent.usual().map_or(MISSES, |usual| usual.misses.saturating_add(1));
        let pattern = if misses >= MISSES { pattern() } else { None };
        if let Some(pattern) = pattern {
            let usual = Usual { name, feature, revision, kept, event, pattern, misses: 0 };
            self.core.recent.set_usual(Some(usual));
        } else if let Some(usual) = self.core.recent.usual_mut() {
            usual.misses = misses;
        }
    }
}
