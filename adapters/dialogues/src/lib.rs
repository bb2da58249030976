//! Dialogues with `mcp-proto` as text files, in `dialogues/`: what a peer sends, hostile or not, and which bytes have to
//! come of it. For the core, and for every adapter.
//!
//! - [`all`] reads them; `README.md` says how they are written.
//! - [`direct::check`] runs one with a machine alone, in many ways to cut what is read and written.
//! - [`partner::over`] runs one over an adapter: give it a function that moves the bytes of a [`Subject`] over a socket.

mod bless;
mod client;
pub mod direct;
mod format;
#[cfg(unix)]
pub mod partner;
mod server;
mod setup;
mod subject;

pub use bless::bless;
pub use format::{Dialogue, Step, all, folder, parse};
pub use setup::Setup;
pub use subject::Subject;
