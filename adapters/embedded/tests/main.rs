//! The integration tests of the adapter, as one binary.

mod blocking;
mod common;
mod polled;
mod queue;
mod transcripts;
mod waiting;
