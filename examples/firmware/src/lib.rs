//! MCP servers for boards with a UART.
//!
//! `run` is the complete main loop of a server with tools, on the core crate alone. `device` is a server with every feature.
#![no_std]

#[cfg(test)]
extern crate std;

mod board;
#[cfg(target_os = "none")]
pub mod chips;
#[cfg(feature = "device")]
pub mod device;
// README.md shows this file verbatim.
#[cfg(not(feature = "float"))]
#[rustfmt::skip]
mod run;
/// The same main loop with a float argument.
#[cfg(feature = "float")]
mod run {
    include!(concat!(env!("OUT_DIR"), "/run.rs"));
}

pub use board::Board;
pub use run::run;
