//! What the handles of [`mcp_proto`] have in common, whatever moves the bytes: threads or an async runtime.
//!
//! This crate is for those who write such an adapter; its users find what they need of it there, under the same
//! names. It starts no thread, keeps no time and does no I/O. Two halves meet in it:
//!
//! - **Whoever owns a machine** runs it in a loop of their own, and calls [`Session`] (of a client) or [`Desk`] (of a server)
//!   between two events. Both take what has come from the handles, and say when they want to be called again.
//! - **The handles** ([`ClientHandle`], [`Responder`], …) are used from anywhere. What waits in them is a plain
//!   [`Future`], which a runtime awaits and a thread [blocks on](block_on).
//!
//! Deadlines are the machine's, so nobody here needs a timer; whoever owns the machine is woken by a [`Wake`].
// A task that panics takes its connection with it.
#![cfg_attr(
    not(test),
    deny(
        clippy::string_slice,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented
    )
)]

mod again;
mod answering;
mod ask;
mod begin;
mod block;
mod client;
mod client_settings;
mod defer;
mod desk;
mod error;
mod hub;
mod mail;
mod notices;
mod offers;
mod options;
mod owned;
mod pending;
mod question;
mod request;
mod responder;
mod server_settings;
mod session;
mod stderr;
#[cfg(unix)]
mod stdio;
mod task;
mod tickets;
mod told;
mod views;
mod watched;

pub use ask::{AskError, ClientAnswer};
pub use block::{block_on, block_on_until};
pub use client::ClientHandle;
pub use client_settings::ClientSettings;
pub use defer::Defer;
pub use desk::{Desk, EndOnDrop};
pub use error::{CallError, ConnectError, PeerError, ServeError};
pub use hub::{Ended, Hub};
pub use notices::{Feed, Notices, Subscription};
pub use options::CallOptions;
pub use owned::{CallResult, Notice, Progress, ServerDetails, ToolDescription};
pub use pending::{Canceller, PendingCall, PendingRequest};
pub use question::{Ask, InputAnswer, Owed, Question};
pub use responder::Responder;
pub use server_settings::ServerSettings;
pub use session::Session;
pub use stderr::{Ending, Lines, Stderr, StderrTail};
#[cfg(unix)]
pub use stdio::Taken;
pub use task::{Cancellation, Cancelled};
pub use views::{
    CompleteResult, PromptDescription, PromptResult, ReadResult, ResourceDescription, TemplateDescription,
};
pub use watched::{Watched, lock};

/// Wakes whoever owns the machine, from any thread: now, or when it is about to wait next.
pub type Wake = std::sync::Arc<dyn Fn() + Send + Sync>;
