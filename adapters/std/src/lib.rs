//! [`mcp_proto`] over threads, pipes and sockets of the standard library: no async runtime.
//!
//! - [`serve()`] and [`Serve`]: a server on stdin and stdout, on any two streams, or for all who
//!   [connect](Serve::listen) to a TCP or Unix socket. What takes long runs on [worker threads](ServerHandle::run), which
//!   report progress, hear that they are cancelled, and may [ask](Responder::request) the client. [`Stop`] ends servers.
//! - [`Connector`] and [`ClientHandle`]: a client of a child process, a socket, or any two streams, which any number of
//!   threads may use at once.
//! - [`Pump`]: what both are made of. It moves bytes for any machine, if you would rather write the loop yourself.
//!
//! On Unix a server or client on stdin, stdout, pipes, sockets or files needs no thread but the one that it runs on; other
//! threads exist only for workers and callbacks, from when they are needed. Streams of other kinds, and all on Windows, get one
//! thread for each direction.
//!
//! ```no_run
//! use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
//!
//! static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
//! static INFO: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
//!
//! fn main() -> Result<(), mcp_proto_std::ServeError> {
//!     mcp_proto_std::serve(&INFO, |event, server| match event {
//!         Event::Call(call) => server.run(call, |answer| answer.text("Hello!")),
//!         _ => {}
//!     })
//! }
//! ```
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

mod accept;
mod begin;
mod blocking_pump;
mod child;
mod client;
mod connector;
mod listen;
mod notifications;
mod offers;
#[cfg(unix)]
mod output;
mod pending;
#[cfg(unix)]
mod poll_pump;
mod pool;
mod pump;
mod read_buffer;
mod reconnect;
mod responder;
mod serve;
mod source;
mod stop;
mod stream;
mod sync;
#[cfg(unix)]
mod waker;
mod worker;

pub use crate::client::ClientHandle;
pub use crate::connector::Connector;
pub use crate::listen::Listener;
pub use crate::notifications::{Notifications, Subscription};
pub use crate::pending::{PendingCall, PendingRequest};
pub use crate::pump::{Pump, PumpStatus, Waker};
pub use crate::reconnect::Reconnect;
pub use crate::responder::Responder;
pub use crate::serve::{Serve, serve};
pub use crate::stop::Stop;
pub use crate::stream::Stream;
pub use crate::worker::ServerHandle;
pub use mcp_proto_handles::{
    CallError, CallOptions, CallResult, Cancellation, Cancelled, Canceller, ClientResponse, CompleteResult,
    ConnectError, Defer, Ending, InputResponse, Notification, PeerError, Progress, PromptDescription,
    PromptResult, ReadResult, RequestError, ResourceDescription, ServeError, ServerDetails, ServerRequest,
    Stderr, StderrTail, TemplateDescription, ToolDescription,
};
