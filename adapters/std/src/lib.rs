//! [`mcp_proto`] with threads, pipes and sockets of the standard library, without an async runtime.
//!
//! - [`serve()`] and [`Serve`]: a server on stdin and stdout, on any two streams, or for every
//!   [connection](Serve::listen) to a TCP or Unix socket. Long work runs on [worker threads](ServerHandle::run),
//!   which report progress, observe cancellation, and may send [requests](Responder::request) to the client. [`Stop`]
//!   stops servers.
//! - [`Serve::hook`]: a [`RequestHook`] before and after each request that reaches the handler, for authorization and
//!   metrics. The feature `tracing` adds a span `mcp_request` for each of these requests, with id, method, tool,
//!   outcome and time.
//! - `route` and the module `handler`, with the default feature `derive`: functions as tools, prompts and resources.
//! - [`Connector`] and [`ClientHandle`]: a client of a child process, a socket, or any two streams. Any number of
//!   threads may use one client concurrently.
//! - With the feature `http`: a server at a URL (`Serve::http`), and a client of a server at a URL
//!   (`Connector::http`); `https` adds TLS for clients.
//! - [`Pump`]: the part that servers and clients share. In a custom event loop, a pump moves bytes for any state
//!   machine.
//!
//! On Unix a server or client on stdin, stdout, pipes, sockets or files runs on one thread; workers and callbacks need
//! further threads. Streams of other types, and all streams on Windows, need one more thread for each direction.
//!
//! ```no_run
//! use mcp_proto_std::server::{Event, ServerConfig, Tool, Tools};
//!
//! static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
//! static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
//!
//! fn main() -> Result<(), mcp_proto_std::ServeError> {
//!     mcp_proto_std::serve(&CONFIG, |event, server| match event {
//!         Event::Call(call) => server.run(call, |answer| answer.text("Hello!")),
//!         _ => {}
//!     })
//! }
//! ```
//!
//! The [`guide`] starts with [a server in ten minutes](guide::server).
#![cfg_attr(docsrs, feature(doc_cfg))]
// A panic in library code would end the connection.
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
mod begin_requests;
mod blocking_pump;
mod child;
mod chunk_writer;
mod client_handle;
mod client_requests;
mod connector;
#[cfg(feature = "signal")]
mod ctrl_c;
#[cfg(feature = "derive")]
pub mod handler;
#[cfg(feature = "http")]
pub mod http;
mod listen;
mod notifications;
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
mod skill_requests;
mod source;
mod stream;
mod sync;
#[cfg(unix)]
mod waker;
mod worker;

// The whole core, so that an application needs no other crate. Names of this crate take precedence.
pub use mcp_proto::*;

pub use crate::chunk_writer::ChunkWriter;
pub use crate::client_handle::ClientHandle;
pub use crate::connector::Connector;
#[cfg(feature = "signal")]
pub use crate::ctrl_c::stop_on_ctrl_c;
#[cfg(feature = "derive")]
pub use crate::handler::{Router, route};
pub use crate::listen::Listener;
pub use crate::notifications::{Notifications, Subscription};
pub use crate::pending::{PendingCall, PendingRequest, TaskCall};
pub use crate::pump::Pump;
pub use crate::reconnect::Reconnect;
pub use crate::responder::Responder;
pub use crate::serve::{Serve, serve};
pub use crate::stream::Stream;
pub use crate::worker::ServerHandle;
#[cfg(feature = "http")]
pub use mcp_proto_handles::HttpEndpoint;
#[cfg(feature = "schemars")]
pub use mcp_proto_handles::json_schema;
pub use mcp_proto_handles::{
    CallError, CallOptions, CallResult, Cancellation, Cancelled, Canceller, ClientResponse, CompleteResult,
    ConnectError, Defer, Ending, HttpFailure, InputResponse, Notification, PeerError, Printable, Progress,
    PromptDescription, PromptResult, PumpStatus, ReadResult, Refusal, RequestError, RequestHook, RequestInfo,
    RequestOutcome, ResourceDescription, ServeError, ServerDetails, ServerRequest, SkillDescription, Stderr,
    StderrTail, Stop, TaskUpdate, TemplateDescription, ToolDescription, Waker,
};

#[cfg(any(doc, doctest))]
pub mod guide {
    #![doc = include_str!("guide/index.md")]
    #[doc = include_str!("guide/server.md")]
    pub mod server {}
    #[doc = include_str!("guide/client.md")]
    pub mod client {}
}
