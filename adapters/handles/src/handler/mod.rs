//! Functions as handlers on hosts: the context of a router, and the parameters of its functions.
//!
//! The attribute [`tool`](macro@mcp_proto::tool) makes a function a tool. A function can have these parameters, in any
//! order:
//!
//! | type | what it does |
//! |---|---|
//! | [`Progress`] | reports progress |
//! | [`Ask`] | requests input from the client: a form, a URL, a model's message, the roots |
//! | [`Log`] | sends log messages |
//! | [`Cancellation`](crate::Cancellation) | observes the cancellation of the call |
//! | [`ClientDetails`] | the revision, and the capabilities of the client |

mod ask;
mod context;
mod parameters;
mod request;

pub use crate::handler::ask::{Ask, ReceivedInput};
pub use crate::handler::context::{Context, route};
pub use crate::handler::parameters::{ClientDetails, Log, Progress};
pub use crate::handler::request::HandlerRequest;
