//! Requests of the client: sending and cancellation.

pub(crate) mod features;
pub(crate) mod send;
