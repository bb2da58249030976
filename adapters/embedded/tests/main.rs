//! Integration tests of the embedded adapter, as one binary.

mod asynch;
mod blocking;
mod common;
#[cfg(feature = "framed")]
mod framed;
#[cfg(feature = "http")]
mod http;
mod polled;
mod queue;
mod transcripts;
