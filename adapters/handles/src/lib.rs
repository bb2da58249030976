//! Runtime-independent part of the `std` and `tokio` adapters of [`mcp_proto`].
//!
//! This crate is for authors of adapters; applications use the re-exports of their adapter. The crate starts no
//! thread, and opens no connection. [`BlockingStream`] only wraps a stream that an adapter has opened. The crate has
//! two halves:
//!
//! - **The event loop** owns the state machine. Between two events, the event loop calls [`ClientSession`] (client) or
//!   [`ServerShared`] (server). Both apply the commands of the handles, and return the time by which the event loop
//!   must call them again.
//! - **The handles** ([`ClientHandle`], [`Responder`], …) work from any thread or task. Operations that wait are plain
//!   [`Future`]s: async code awaits them, a thread [blocks on them](block_on()).
//!
//! [`ClientSession`] keeps the deadlines of unsent requests, and the state machine keeps the deadlines of sent
//! requests. Handles wake the event loop with a [`Wake`].
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

mod accept_retry;
mod begin_requests;
mod block_on;
mod blocking_stream;
mod cancellation;
mod child_settings;
mod chunk_writer;
mod client;
mod client_requests;
mod client_settings;
mod client_shared;
mod close_deadline;
mod defer;
mod error;
mod event_time;
#[cfg(feature = "derive")]
pub mod handler;
mod header_mismatch;
mod hook;
#[cfg(feature = "http")]
mod http;
mod http_failure;
#[cfg(feature = "http-server")]
mod http_server;
mod input_response;
#[cfg(feature = "schemars")]
pub mod json_schema;
mod notifications;
mod options;
mod outbound_request;
mod owned;
mod pending;
mod printable;
mod promise;
mod pump;
mod query;
mod reconnect;
mod request;
mod request_link;
mod request_record;
mod request_span;
mod responder;
mod server_command;
mod server_request;
mod server_settings;
mod server_shared;
mod session;
mod shared_observer;
mod signal;
mod skill_requests;
#[cfg(unix)]
mod stdio;
mod stop;
mod task;
mod ticket_map;
mod views;

pub use crate::accept_retry::AcceptRetry;
pub use crate::block_on::{block_on, block_on_until};
pub use crate::blocking_stream::BlockingStream;
pub use crate::cancellation::{Cancellation, Cancelled};
pub use crate::child_settings::{Ending, LineCallback, Stderr, StderrTail};
pub use crate::chunk_writer::ChunkWriter;
pub use crate::client::ClientHandle;
pub use crate::client_settings::ClientSettings;
pub use crate::client_shared::{ClientCloseGuard, ClientShared};
pub use crate::close_deadline::CloseDeadline;
pub use crate::defer::Defer;
pub use crate::error::{CallError, ConnectError, PeerError, ServeError, spawn_error};
#[doc(hidden)]
pub use crate::event_time::EventTime;
pub use crate::hook::{Refusal, RequestHook, RequestInfo, RequestOutcome};
#[cfg(feature = "http")]
pub use crate::http::{HttpAction, HttpEndpoint, HttpExchanges, HttpPart, HttpReceived, HttpReport};
pub use crate::http_failure::{HttpFailure, public_url};
#[cfg(feature = "http-server")]
pub use crate::http_server::{HttpAccess, HttpMachines, HttpMemory};
pub use crate::notifications::{NotificationQueue, Notifications, Subscription};
pub use crate::options::CallOptions;
pub use crate::outbound_request::{ClientResponse, RequestError};
pub use crate::owned::{Notification, Progress, ServerDetails, TaskUpdate, ToolDescription};
pub use crate::pending::{Canceller, PendingCall, PendingRequest};
pub use crate::printable::Printable;
pub use crate::pump::{PumpStatus, Waker};
pub use crate::reconnect::Reconnect;
#[doc(hidden)]
pub use crate::request_span::RequestSpan;
pub use crate::responder::Responder;
pub use crate::server_request::{InputResponse, ServerRequest, ServerRequestHandler, ServerRequestResponder};
pub use crate::server_settings::ServerSettings;
pub use crate::server_shared::{ServerCloseGuard, ServerShared, Sessions};
pub use crate::session::ClientSession;
pub use crate::shared_observer::SharedObserver;
pub use crate::signal::{Signal, lock};
#[cfg(unix)]
pub use crate::stdio::StdioGuard;
pub use crate::stop::{Stop, StopListener};
pub use crate::task::TaskCall;
pub use crate::views::{
    CallResult, CompleteResult, PromptDescription, PromptResult, ReadResult, ResourceDescription,
    SkillDescription, TemplateDescription,
};
#[cfg(feature = "http")]
pub use bytes::Bytes;
#[doc(no_inline)]
pub use serde_core::Serialize;

/// Callback with which any thread wakes the event loop. If the loop is not waiting, its next wait returns immediately.
pub type Wake = std::sync::Arc<dyn Fn() + Send + Sync>;
