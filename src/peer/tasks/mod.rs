//! Tasks that one peer runs for the other peer: their table, ids, options and payloads.
//!
//! A server runs tasks for calls, and a client runs tasks for input requests.
//!
//! Specification: 2025-11-25, *Tasks*; the extension *Tasks* of `2026-07-28`.

pub(crate) mod id;
pub(crate) mod options;
pub(crate) mod payload;
pub(crate) mod storage;
pub(crate) mod table;
