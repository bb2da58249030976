//! Transcripts of sessions as text files, and players for the core and for every adapter.
//!
//! A transcript states what a peer sends, hostile or not, and which bytes the machine must write. The folder
//! `server/` contains transcripts of servers, `client/` those of clients.
//!
//! - [`all`] reads the transcripts; `README.md` describes their format.
//! - [`direct::check`] plays one with a machine alone, and varies how bytes move.
//! - [`partner::over`] plays one over an adapter, given a function that moves the bytes of a [`Subject`] over a
//!   socket.

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
