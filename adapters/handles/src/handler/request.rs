//! `HandlerRequest`: a deferred call, from which a handler gets its parameters.

use std::sync::{Arc, Mutex};

use mcp_proto::server::{FromRequest, IntoToolResult};

use crate::cancellation::Cancellation;
use crate::handler::ask::{ReceivedInput, Rounds};
use crate::request_link::RequestLink;
use crate::responder::Responder;
use crate::signal::lock;

/// A deferred call, from which a handler gets its parameters.
#[derive(Debug)]
pub struct HandlerRequest {
    pub(crate) link: RequestLink,
    pub(crate) rounds: Arc<Mutex<Rounds>>,
}

impl HandlerRequest {
    /// Creates the request from its responder, and from the input that the client sent with the call.
    #[must_use]
    pub fn new(responder: &Responder, input: ReceivedInput) -> HandlerRequest {
        HandlerRequest { link: responder.link().clone(), rounds: Arc::new(Mutex::new(Rounds::new(input))) }
    }

    /// Responds with the result of the handler, or requires the input that the handler has requested.
    pub fn respond<T: IntoToolResult + Send + 'static>(self, responder: Responder, result: T) {
        match lock(&self.rounds).take_required() {
            Some(required) => responder.answer(move |reply| required.respond(reply)),
            None => responder.answer(move |reply| result.respond(reply)),
        }
    }
}

impl FromRequest<HandlerRequest> for Cancellation {
    fn from_request(request: &HandlerRequest) -> Cancellation {
        request.link.cancellation()
    }
}
