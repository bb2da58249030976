//! `HandlerRequest`: a deferred request, from which a handler gets its parameters.

use std::sync::{Arc, Mutex};

use mcp_proto::ClientCapabilities;
use mcp_proto::server::{FromRequest, Reply};

use crate::cancellation::Cancellation;
use crate::handler::ask::{InputState, ReceivedInput};
use crate::request_link::RequestLink;
use crate::responder::Responder;
use crate::signal::lock;

/// A deferred request, from which a handler gets its parameters.
#[derive(Debug)]
pub struct HandlerRequest {
    pub(crate) link: RequestLink,
    pub(crate) input: Arc<Mutex<InputState>>,
}

impl HandlerRequest {
    /// Creates the request from its responder, and from the input that the client sent with the request.
    #[must_use]
    pub fn new(responder: &Responder, input: ReceivedInput) -> HandlerRequest {
        HandlerRequest { link: responder.link().clone(), input: Arc::new(Mutex::new(InputState::new(input))) }
    }

    /// Sends an `input_required` result if an input request of the handler has returned
    /// [`RequestError::InputRequired`](crate::RequestError::InputRequired). If the call has become a task since then,
    /// sends a failure instead.
    ///
    /// If no input is required, calls `respond`, which writes the handler's response. `respond` also gets the
    /// capabilities that the handler needs and the client lacks.
    pub fn respond(
        self,
        responder: Responder,
        respond: impl FnOnce(Reply<'_>, ClientCapabilities) + Send + 'static,
    ) {
        let mut input = lock(&self.input);
        let missing = input.missing();
        match input.take_required() {
            Some(required) => responder.answer(move |reply| required.respond(reply)),
            None => responder.answer(move |reply| respond(reply, missing)),
        }
    }
}

impl FromRequest<HandlerRequest> for Cancellation {
    fn from_request(request: &HandlerRequest) -> Cancellation {
        request.link.cancellation()
    }
}
