//! `RequestRecord`: the record of a request, for hooks and a `tracing` span.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use mcp_proto::server::Event;

use crate::hook::{Refusal, RequestHook, RequestInfo, RequestOutcome};
use crate::request_span::RequestSpan;

/// The hooks of a server.
pub(crate) type Hooks = Vec<Arc<dyn RequestHook>>;

/// The record of a request, for hooks and a `tracing` span. Dropping the record calls [`RequestHook::after`], and
/// records the outcome in the span.
pub(crate) struct RequestRecord {
    info: RequestInfo,
    hooks: Hooks,
    /// The number of hooks whose `before` was called.
    begun: usize,
    start: Instant,
    outcome: RequestOutcome,
    pub(crate) span: RequestSpan,
}

impl RequestRecord {
    /// Starts the record of an event's request. Returns `None` if the event is not a request, or if the request has
    /// neither hooks nor a span.
    pub(crate) fn begin(event: &Event<'_>, hooks: &Hooks) -> Option<Box<RequestRecord>> {
        let info = RequestInfo::new(event)?;
        let span = RequestSpan::new(&info);
        if hooks.is_empty() && span.is_disabled() {
            return None;
        }
        let (hooks, start, outcome) = (hooks.clone(), Instant::now(), RequestOutcome::Closed);
        Some(Box::new(RequestRecord { info, hooks, begun: 0, start, outcome, span }))
    }

    /// Calls [`RequestHook::before`] of each hook, up to the first hook that refuses the request. Returns the refusal.
    pub(crate) fn before(&mut self) -> Result<(), Refusal> {
        for hook in &self.hooks {
            self.begun += 1;
            self.span.in_scope(|| hook.before(&self.info))?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self, outcome: RequestOutcome) {
        self.outcome = outcome;
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let time = self.start.elapsed();
        self.span.record(self.outcome, time);
        let begun = self.hooks.iter().take(self.begun).rev();
        for hook in begun {
            // The record may end while a panic unwinds, and a second panic would abort the process.
            let after = || hook.after(&self.info, self.outcome, time);
            let _ = catch_unwind(AssertUnwindSafe(|| self.span.in_scope(after)));
        }
    }
}

impl std::fmt::Debug for RequestRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestRecord").field("info", &self.info).finish_non_exhaustive()
    }
}
