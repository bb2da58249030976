//! [`mcp_proto`] over threads, pipes and sockets of the standard library: no async runtime.
//!
//! - [`serve()`] and [`Serve`]: a server on stdin and stdout, on any two streams, or for all who
//!   [connect](Serve::listen) to a TCP or Unix socket. What takes long runs on [worker threads](ServerHandle::run), which
//!   report progress, hear that they are cancelled, and may [ask](Responder::ask) the client. [`Stop`] ends servers.
//! - [`Connector`] and [`ClientHandle`]: a client of a child process, a socket, or any two streams, which any number of
//!   threads may use at once.
//! - [`Pump`]: what both are made of. It moves bytes for any machine, if you would rather write the loop yourself.
//!
//! On Unix a server or client on stdin, stdout, pipes, sockets or files needs no thread but the one that it runs on; other
//! threads exist only for workers and callbacks, from when they are needed. Streams of other kinds, and all on Windows, get one
//! thread for each direction.
//!
//! ```no_run
//! use mcp_proto::server::{Event, ServerInfo, Tool, Tools};
//!
//! static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
//! static INFO: ServerInfo = ServerInfo::new("example", "1.0.0").features(&[&TOOLS]);
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

mod begin;
#[cfg(unix)]
mod bell;
mod child;
mod chunk;
mod client;
mod connector;
mod door;
mod listen;
mod notices;
mod offers;
#[cfg(unix)]
mod output;
mod pending;
#[cfg(unix)]
mod polled;
mod pool;
mod pump;
mod reconnect;
mod responder;
mod serve;
mod source;
mod stop;
mod stream;
mod sync;
mod threads;
mod worker;

pub use client::ClientHandle;
pub use connector::Connector;
pub use listen::Listener;
pub use mcp_proto_handles::{
    AskError, CallError, CallOptions, CallResult, Cancellation, Cancelled, Canceller, ClientAnswer,
    CompleteResult, ConnectError, Defer, Ending, InputAnswer, Notice, PeerError, Progress, PromptDescription,
    PromptResult, Question, ReadResult, ResourceDescription, ServeError, ServerDetails, Stderr, StderrTail,
    TemplateDescription, ToolDescription,
};
pub use notices::{Notices, Subscription};
pub use pending::{PendingCall, PendingRequest};
pub use pump::{Pump, Step, Waker};
pub use reconnect::Reconnect;
pub use responder::Responder;
pub use serve::{Serve, serve};
pub use stop::Stop;
pub use stream::Stream;
pub use worker::ServerHandle;
