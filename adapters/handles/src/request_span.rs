//! `RequestSpan`: the span of a request. The span is empty without the feature `tracing`.

use std::time::Duration;

use crate::hook::{RequestInfo, RequestOutcome};

/// The `tracing` span of a request. The value is empty without the feature `tracing`, or if no subscriber collects the
/// span.
///
/// The name of the span is `mcp_request`, and its level is `INFO`. The fields are `id`, `method`, `tool` (for calls),
/// `outcome` and `elapsed_us`. The server records the last two fields when the request ends.
#[derive(Debug, Clone, Default)]
pub struct RequestSpan {
    #[cfg(feature = "tracing")]
    span: Option<tracing::Span>,
}

#[cfg(feature = "tracing")]
impl RequestSpan {
    /// Returns whether a subscriber may collect spans.
    pub(crate) fn is_enabled() -> bool {
        tracing::span_enabled!(tracing::Level::INFO)
    }

    pub(crate) fn new(info: &RequestInfo) -> RequestSpan {
        use tracing::field::Empty;
        let span = tracing::info_span!(
            "mcp_request",
            id = info.id().raw(),
            method = info.method(),
            tool = info.tool(),
            outcome = Empty,
            elapsed_us = Empty,
        );
        RequestSpan { span: (!span.is_disabled()).then_some(span) }
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.span.is_none()
    }

    pub(crate) fn record(&self, outcome: RequestOutcome, time: Duration) {
        if let Some(span) = &self.span {
            span.record("outcome", tracing::field::display(outcome));
            span.record("elapsed_us", u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        }
    }

    /// Enters the span until the returned guard is dropped.
    pub(crate) fn enter(&self) -> Option<tracing::span::Entered<'_>> {
        self.span.as_ref().map(tracing::Span::enter)
    }

    /// Calls a function within the span.
    pub fn in_scope<R>(&self, work: impl FnOnce() -> R) -> R {
        match &self.span {
            Some(span) => span.in_scope(work),
            None => work(),
        }
    }

    /// Returns a future that polls `work` within the span.
    pub fn instrument<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        tracing::Instrument::instrument(work, self.span.unwrap_or_else(tracing::Span::none))
    }
}

#[cfg(not(feature = "tracing"))]
impl RequestSpan {
    pub(crate) fn is_enabled() -> bool {
        false
    }

    pub(crate) fn new(_: &RequestInfo) -> RequestSpan {
        RequestSpan {}
    }

    pub(crate) fn is_disabled(&self) -> bool {
        true
    }

    pub(crate) fn record(&self, _: RequestOutcome, _: Duration) {}

    /// Has no effect.
    pub(crate) fn enter(&self) -> Option<()> {
        None
    }

    /// Calls a function within the span.
    pub fn in_scope<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }

    /// Returns a future that polls `work` within the span.
    pub fn instrument<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        work
    }
}
