//! Server side of MCP over HTTP, driven with a real core server.
//!
//! Numbers such as `E-S11` are requirements of `docs/http-rules.md`.

mod allocations;
mod authorization;
mod batches;
mod calls;
mod chunks;
mod connection;
mod extensions;
mod head;
mod held;
mod http_sse;
mod limits;
mod replay;
mod rules;
mod sealed;
mod sessions;
mod storage;
mod streams;
mod support;
mod tasks;
mod tcp;
