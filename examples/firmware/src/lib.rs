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
#[cfg(not(feature = "float"))]
#[rustfmt::skip]
mod run;
/// The same with a float among its arguments.
#[cfg(feature = "float")]
mod run {
    include!(concat!(env!("OUT_DIR"), "/run.rs"));
}

pub use board::Board;
pub use run::run;
