//! What the handles of [`mcp_proto`] have in common, whatever moves the bytes: threads or an async runtime.
//!
//! This crate is for those who write such an adapter; its users find what they need of it there, under the same
//! names. It starts no thread, keeps no time and does no I/O. Two halves meet in it:
//!
//! - **Whoever owns a machine** runs it in a loop of their own, and calls [`Session`] (of a client) or [`ServerShared`] (of a server)
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

mod begin;
mod block;
mod client;
mod client_settings;
mod client_shared;
mod defer;
mod error;
mod input_response;
mod notifications;
mod offers;
mod options;
mod outbound_request;
mod owned;
mod pending;
mod query;
mod reconnect;
mod request;
mod responder;
mod server_command;
mod server_request;
mod server_settings;
mod server_shared;
mod session;
mod signal;
mod stderr;
#[cfg(unix)]
mod stdio;
mod task;
mod tickets;
mod views;

pub use crate::block::{block_on, block_on_until};
pub use crate::client::ClientHandle;
pub use crate::client_settings::ClientSettings;
pub use crate::client_shared::{ClientShared, Ended};
pub use crate::defer::Defer;
pub use crate::error::{CallError, ConnectError, PeerError, ServeError};
pub use crate::notifications::{Feed, Notifications, Subscription};
pub use crate::options::CallOptions;
pub use crate::outbound_request::{ClientResponse, RequestError};
pub use crate::owned::{CallResult, Notification, Progress, ServerDetails, ToolDescription};
pub use crate::pending::{Canceller, PendingCall, PendingRequest};
pub use crate::responder::Responder;
pub use crate::server_request::{Ask, InputResponse, Owed, ServerRequest};
pub use crate::server_settings::ServerSettings;
pub use crate::server_shared::{EndOnDrop, ServerShared};
pub use crate::session::Session;
pub use crate::signal::{Signal, lock};
pub use crate::stderr::{Ending, Lines, Stderr, StderrTail};
#[cfg(unix)]
pub use crate::stdio::Taken;
pub use crate::task::{Cancellation, Cancelled};
pub use crate::views::{
    CompleteResult, PromptDescription, PromptResult, ReadResult, ResourceDescription, TemplateDescription,
};

/// Wakes whoever owns the machine, from any thread: now, or when it is about to wait next.
pub type Wake = std::sync::Arc<dyn Fn() + Send + Sync>;
