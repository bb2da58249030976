//! Functions as handlers on threads and tokio: the context of a router, and the parameters of the functions.
//!
//! The attributes [`tool`](macro@mcp_proto::tool), [`prompt`](macro@mcp_proto::prompt),
//! [`resource`](macro@mcp_proto::resource) and [`complete`](macro@mcp_proto::complete) make a function a handler. A
//! function can have these parameters, in any order:
//!
//! | type | what it does |
//! |---|---|
//! | [`Progress`] | reports progress |
//! | [`Ask`] | requests input from the client: a form, a URL, a model's message, the roots |
//! | [`Log`] | sends log messages |
//! | [`Cancellation`](crate::Cancellation) | observes the cancellation of the request |
//! | [`ClientDetails`] | provides the revision, the capabilities of the client, and the user |
//! | `ServerHandle` of the adapter | reports changes; sends messages that belong to no request |

mod ask;
mod context;
mod parameters;
mod request;

pub use crate::handler::ask::{Ask, HandledRequest};
pub use crate::handler::context::{Context, route};
pub use crate::handler::parameters::{ClientDetails, Log, Progress};
pub use crate::handler::request::HandlerRequest;
