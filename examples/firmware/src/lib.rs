//! A board that speaks MCP over a UART: what it needs of the board, and its main loop.
#![no_std]

mod board;
// The documents show it as it stands.
#[rustfmt::skip]
mod run;

pub use board::Board;
pub use run::run;
