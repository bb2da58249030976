//! The requests that may be answered later.

use std::fmt::Display;

use mcp_proto::server::{Call, Complete, GetPrompt, ReadResource};
use mcp_proto::{ClientCapabilities, Millis, Revision, Ticket};

/// A request that can be answered later, by whoever has the time: [`Call`], [`ReadResource`], [`GetPrompt`] or [`Complete`].
#[expect(private_bounds, reason = "requests are the machine's")]
pub trait Defer: Token {}

pub(crate) trait Token: Sized {
    fn revision(&self) -> Revision;
    fn client(&self) -> ClientCapabilities;
    /// It comes back if no slot is free.
    fn defer(self, time: Option<Millis>) -> Result<Ticket, Self>;
    fn error(self, code: i32, message: impl Display);
}

macro_rules! defer {
    ($($request:ident)*) => {$(
        impl Defer for $request<'_> {}

        impl Token for $request<'_> {
            fn revision(&self) -> Revision {
                self.revision()
            }

            fn client(&self) -> ClientCapabilities {
                self.client()
            }

            fn defer(self, time: Option<Millis>) -> Result<Ticket, Self> {
                self.defer(time)
            }

            fn error(self, code: i32, message: impl Display) {
                self.error(code, format_args!("{message}"));
            }
        }
    )*};
}

defer!(Call ReadResource GetPrompt Complete);
