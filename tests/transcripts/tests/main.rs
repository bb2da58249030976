//! The tests of the transcripts, as one binary.

mod citations;
mod direct;
mod faults;
mod monitor;
mod recorded;
