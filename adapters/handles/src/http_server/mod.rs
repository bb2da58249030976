//! HTTP servers: access control, and the loop that drives the HTTP machine and the core server.

mod access;
mod machines;

pub use access::HttpAccess;
pub use machines::{HttpMachines, HttpMemory};
