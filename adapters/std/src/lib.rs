//! [`mcp_proto`] over threads, pipes and sockets of the standard library: no async runtime.
//!
//! - [`serve`] and [`Serve`]: a server on stdin and stdout, a socket, or any two streams. What takes long
//!   runs on [worker threads](ServerHandle::run), which report progress, hear that they are cancelled, and may
//!   [ask](Responder::ask) the client.
//! - [`Connector`] and [`ClientHandle`]: a client of a child process, a socket, or any two streams, which any number of
//!   threads may use at once.
//! - [`Pump`]: what both are made of. It moves bytes for any machine, if you would rather write the loop yourself.
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

mod child;
mod client;
mod connector;
mod notices;
mod offers;
mod pending;
mod pump;
mod responder;
mod serve;
mod source;
mod stream;
mod sync;
mod worker;

pub use client::ClientHandle;
pub use connector::Connector;
pub use mcp_proto_handles::{
    AskError, CallError, CallOptions, CallResult, Cancellation, Cancelled, Canceller, ClientAnswer,
    CompleteResult, ConnectError, Defer, Ending, InputAnswer, Notice, PeerError, Progress, PromptDescription,
    PromptResult, Question, ReadResult, ResourceDescription, ServeError, ServerDetails, Stderr, StderrTail,
    TemplateDescription, ToolDescription,
};
pub use notices::{Notices, Subscription};
pub use pending::PendingCall;
pub use pump::{Pump, Step, Waker};
pub use responder::Responder;
pub use serve::{Serve, serve};
pub use stream::Stream;
pub use worker::ServerHandle;
