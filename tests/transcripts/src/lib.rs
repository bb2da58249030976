//! Transcripts of sessions as text files, and players for transcripts.
//!
//! A transcript states what a peer sends, hostile or not, and which bytes the machine must write. The folder `server/`
//! contains transcripts of servers, and `client/` contains transcripts of clients.
//!
//! - [`all`] reads the transcripts; `README.md` describes their format.
//! - [`direct::check`] plays a transcript with a machine alone, and varies the movement of bytes.
//! - [`partner::over`] plays a transcript over an adapter. The caller passes a function that moves the bytes of a
//!   [`Subject`] over a socket.

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
