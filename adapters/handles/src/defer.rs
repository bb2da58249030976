//! Trait of the requests whose response can be deferred.

use std::fmt::Display;

use mcp_proto::server::{
    Call, Complete, ExtensionRequest, GetPrompt, ListPrompts, ListResources, ListTemplates, ListTools,
    ReadResource,
};
use mcp_proto::{ClientCapabilities, Millis, Revision, Ticket};

/// A request that can be deferred: [`Call`], [`ReadResource`], [`GetPrompt`], [`Complete`], [`ExtensionRequest`], and
/// the requests for pages of dynamic lists, such as [`ListTools`].
#[expect(private_bounds, reason = "the trait is sealed: only request types of mcp_proto implement it")]
pub trait Defer: DeferRequest {}

pub(crate) trait DeferRequest: Sized {
    fn revision(&self) -> Revision;
    fn client(&self) -> ClientCapabilities;
    fn user(&self) -> Option<u64>;
    /// Defers the request for at most `time`, from `now`. `None` is the default timeout. Returns the request itself as
    /// `Err` if no slot is free.
    fn defer(self, now: Millis, time: Option<Millis>) -> Result<Ticket, Self>;
    fn error(self, code: i32, message: impl Display);
    /// Refuses the request after [`defer`](DeferRequest::defer) has failed.
    fn busy(self);
}

macro_rules! defer {
    ($($request:ident)*) => {$(
        impl Defer for $request<'_> {}

        impl DeferRequest for $request<'_> {
            fn revision(&self) -> Revision {
                self.revision()
            }

            fn client(&self) -> ClientCapabilities {
                self.client()
            }

            fn user(&self) -> Option<u64> {
                self.user()
            }

            fn defer(mut self, now: Millis, time: Option<Millis>) -> Result<Ticket, Self> {
                self.advance_time(now);
                self.defer(time)
            }

            fn error(self, code: i32, message: impl Display) {
                self.error(code, format_args!("{message}"));
            }

            fn busy(self) {
                self.busy();
            }
        }
    )*};
}

defer!(Call ReadResource GetPrompt Complete ExtensionRequest ListTools ListResources ListTemplates ListPrompts);
