//! Transcripts of sessions with `mcp-proto` as text files, and a player for the core and for every adapter.
//!
//! A transcript states what a peer sends, hostile or not, and which bytes the machine must write. `server/` holds those with a
//! server, `client/` those with a client.
//!
//! - [`all`] reads them; `README.md` says how they are written.
//! - [`direct::check`] runs one with a machine alone, in many ways to cut what is read and written.
//! - [`partner::over`] runs one over an adapter: give it a function that moves the bytes of a [`Subject`] over a socket.

mod client;
pub mod direct;
mod format;
#[cfg(unix)]
pub mod partner;
mod server;
mod setup;
mod subject;
mod update;

pub use format::{Step, Transcript, all, folder, parse};
pub use setup::Setup;
pub use subject::Subject;
pub use update::update;
