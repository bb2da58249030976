//! The modules below server and client, as a crate for mutation testing.
//!
//! The unit tests of these modules must detect each mutant.
#![no_std]
#![allow(unused, unreachable_pub)]

extern crate alloc;
extern crate std;

mod buffer;
mod framing;
pub mod json;
mod peer {
    pub(crate) mod lifecycle;
    pub(crate) mod slots;
}
mod platform;
mod protocol {
    pub(crate) mod revision;
}
pub mod rpc;
mod time;

pub use buffer::Buffer;
pub use framing::outbound_message::{OutboundMessage, OutboundMessageKind, Relation, StreamId};
pub use json::decimal::Decimal;
pub use json::write_text::WriteText;
pub use peer::lifecycle::State;
pub use peer::slots::Ticket;
pub use time::Millis;
