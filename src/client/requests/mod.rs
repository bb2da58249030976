//! Requests of the client: sending and cancelling them.

pub(crate) mod features;
pub(crate) mod send;
