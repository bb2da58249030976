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

mod answering;
mod ask;
mod child;
mod client;
mod connector;
mod defer;
mod desk;
mod error;
mod hub;
mod notices;
mod offers;
mod owned;
mod pending;
mod pump;
mod question;
mod request;
mod responder;
mod serve;
mod session;
mod source;
#[cfg(unix)]
mod stdio;
mod stream;
mod sync;
mod views;
mod worker;

pub use ask::{AskError, ClientAnswer};
pub use child::{Ending, Stderr, StderrTail};
pub use client::{CallOptions, ClientHandle};
pub use connector::Connector;
pub use defer::Defer;
pub use error::{CallError, ConnectError, PeerError, ServeError};
pub use notices::{Notices, Subscription};
pub use owned::{CallResult, Notice, Progress, ServerDetails, ToolDescription};
pub use pending::{Canceller, PendingCall};
pub use pump::{Pump, Step, Waker};
pub use question::{InputAnswer, Question};
pub use responder::{Cancellation, Cancelled, Responder};
pub use serve::{Serve, serve};
pub use stream::Stream;
pub use views::{
    CompleteResult, PromptDescription, PromptResult, ReadResult, ResourceDescription, TemplateDescription,
};
pub use worker::ServerHandle;
