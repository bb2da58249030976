//! MCP on boards with a UART or an Ethernet port: servers, and drivers that the client images also use.
//!
//! `run` is the complete main loop of a server with tools, on the core crate alone. `device` is a server with every
//! feature except tasks, skills and extensions.
#![no_std]
#![allow(clippy::new_without_default, reason = "`new` creates the values of statics")]

#[cfg(test)]
extern crate std;

mod board;
#[cfg(target_os = "none")]
pub mod chips;
#[cfg(any(feature = "core-decoder", feature = "core-encoder"))]
pub mod codec;
#[cfg(feature = "device")]
pub mod device;
#[cfg(feature = "http-device")]
pub mod http;
// README.md shows `run.rs` verbatim.
#[cfg(not(any(feature = "float", feature = "decimal", feature = "skills", feature = "core-decoder")))]
#[rustfmt::skip]
mod run;
/// Variants of the main loop: with a number as the argument or in the result, with skills, or with the decoder of
/// `codec`.
#[cfg(any(feature = "float", feature = "decimal", feature = "skills", feature = "core-decoder"))]
mod run {
    include!(concat!(env!("OUT_DIR"), "/run.rs"));
}
#[cfg(feature = "skills")]
mod skills;

pub use board::Board;
pub use run::run;

/// Handles a panic. Only the images `http`, because of smoltcp, and `embassy`, because of its `async fn`, contain this
/// function. CI checks that no other image can panic.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
