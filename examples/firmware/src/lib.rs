//! Boards that speak MCP over a UART. `run` is the whole main loop of one that has tools, on the core alone; `device` is
//! one with everything that a server can have.
#![no_std]

#[cfg(test)]
extern crate std;

mod board;
#[cfg(target_os = "none")]
pub mod chips;
#[cfg(feature = "device")]
pub mod device;
// The documents show it as it stands.
#[rustfmt::skip]
mod run;

pub use board::Board;
pub use run::run;
