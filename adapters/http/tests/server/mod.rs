//! Server side of MCP over HTTP, driven with a real core server.

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
