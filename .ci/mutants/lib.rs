//! The rooms that know of no server and no client. Their own tests have to see what is wrong in them.
#![no_std]
#![allow(unused, unreachable_pub)]

extern crate alloc;
extern crate std;

mod buffer;
mod divide;
mod frame;
mod inflight;
pub mod json;
mod lifecycle;
mod line;
pub mod rpc;
mod time;
mod version;

pub use buffer::Buffer;
pub use frame::{Relation, OutboundMessage, OutboundMessageKind, StreamId};
pub use inflight::Ticket;
pub use json::{Decimal, Text};
pub use lifecycle::State;
pub use time::Millis;
