//! [`mcp_proto`] on tokio: servers and clients on any two streams.
//!
//! - [`serve()`] and [`Serve`]: a server on stdin and stdout, on any two streams, or for every connection to a TCP or
//!   Unix socket (`Serve::listen`, feature `net`, on by default). Long work runs in [tasks](ServerHandle::run), which
//!   report progress, observe cancellation, and may send [requests](Responder::request) to the client. [`Stop`] stops
//!   servers.
//! - [`Serve::hook`]: a [`RequestHook`] before and after each request that reaches the handler, for authorization and
//!   metrics. The feature `tracing` adds a span `mcp_request` for each of these requests, with id, method, tool,
//!   outcome and time.
//! - `route` and the module `handler`, with the default feature `derive`: functions as tools.
//! - [`Connector`] and [`ClientHandle`]: a client of a child process, a socket, or any two streams. Any number of tasks
//!   may use one client concurrently. Dropping the future of a request cancels the request.
//! - With the feature `http`: a client of a server at a URL (`Connector::http`); `https` adds TLS.
//! - [`Pump`]: the part that servers and clients share. In a custom event loop, a pump moves bytes for any state
//!   machine.
//!
//! ```no_run
//! use mcp_proto_tokio::server::{Event, ServerConfig, Tool, Tools};
//!
//! static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
//! static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
//!
//! # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
//! mcp_proto_tokio::serve(&CONFIG, |event, server| match event {
//!     Event::Call(call) => server.run(call, |answer| async { answer.text("Hello!") }),
//!     _ => {}
//! })
//! .await
//! # }
//! ```
//!
//! The runtime must have its timer enabled. For sockets and child processes, the runtime must also have its I/O driver
//! enabled.
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

mod blocking;
mod child;
mod connection;
mod connector;
#[cfg(all(feature = "signal", any(unix, windows)))]
mod ctrl_c;
#[cfg(feature = "derive")]
pub mod handler;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "net")]
mod listen;
mod pump;
mod pump_state;
mod serve;
mod source;
mod tasks;

// The whole core, so that an application needs no other crate. Names of this crate take precedence.
pub use mcp_proto::*;

pub use connector::Connector;
#[cfg(all(feature = "signal", any(unix, windows)))]
pub use ctrl_c::stop_on_ctrl_c;
#[cfg(feature = "derive")]
pub use handler::{Router, route};
#[cfg(feature = "net")]
pub use listen::Listener;
#[cfg(feature = "http")]
pub use mcp_proto_handles::HttpEndpoint;
#[cfg(feature = "schemars")]
pub use mcp_proto_handles::json_schema;
pub use mcp_proto_handles::{
    CallError, CallOptions, CallResult, Cancellation, Cancelled, Canceller, ChunkWriter, ClientHandle,
    ClientResponse, CompleteResult, ConnectError, Defer, Ending, HttpFailure, InputResponse, Notification,
    Notifications, PeerError, PendingCall, PendingRequest, Printable, Progress, PromptDescription,
    PromptResult, PumpStatus, ReadResult, Reconnect, Refusal, RequestError, RequestHook, RequestInfo,
    RequestOutcome, ResourceDescription, Responder, ServeError, ServerDetails, ServerRequest,
    SkillDescription, Stderr, StderrTail, Stop, Subscription, TaskCall, TaskUpdate, TemplateDescription,
    ToolDescription, Waker,
};
pub use pump::Pump;
pub use serve::{Serve, serve};
pub use tasks::ServerHandle;

#[cfg(any(doc, doctest))]
pub mod guide {
    #![doc = include_str!("guide/index.md")]
    #[doc = include_str!("guide/server.md")]
    pub mod server {}
    #[doc = include_str!("guide/client.md")]
    pub mod client {}
    #[doc = include_str!("guide/from_rmcp.md")]
    pub mod from_rmcp {}
}
