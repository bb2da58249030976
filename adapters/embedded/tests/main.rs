//! Integration tests of the embedded adapter, as one binary.

mod blocking;
mod common;
mod polled;
mod queue;
mod transcripts;
mod waiting;
