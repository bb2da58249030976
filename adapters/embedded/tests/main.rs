//! Integration tests of the embedded adapter, as one binary.

mod asynch;
mod blocking;
mod common;
mod flush;
mod framed;
mod http;
mod http_half_close;
mod pair;
mod polled;
mod queue;
mod transcripts;
