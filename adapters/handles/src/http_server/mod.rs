//! Servers over HTTP: access, and the loop over both state machines.

mod access;
mod machines;

pub use access::HttpAccess;
pub use machines::{HttpMachines, HttpMemory};
