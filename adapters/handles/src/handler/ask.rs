//! `Ask`: input requests of a handler, in both eras.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::input::{EncodedInput, Input};
use mcp_proto::json::{Json, Kind};
use mcp_proto::server::{Call, Complete, FromRequest, GetPrompt, ReadResource, Reply};
use mcp_proto::{ClientCapabilities, Revision};

use crate::defer::Defer;
use crate::handler::HandlerRequest;
use crate::outbound_request::{ClientResponse, RequestError, check_support};
use crate::request_link::RequestLink;
use crate::signal::lock;

/// Requests input from the client: a form, a URL, a model's message, or the roots.
///
/// In the handshake era, the server sends a request, and the handler waits for the response.
///
/// In `2026-07-28`, a server sends no requests. If the input is not known yet, [`request`](Ask::request) returns
/// [`RequestError::InputRequired`], and the handler must return. The handler's result is not used, because the server's
/// response requests the input. The client sends the request again with the input, and the handler runs **again from
/// its beginning**. In the new run, `request` returns the known input immediately. Therefore the handler must request
/// input before it changes anything, and in the same order in each run.
///
/// The server does not store the input between two runs: the client sends all earlier input again, in the member
/// `requestState` of the request. So this input is as untrusted as any response of a client.
///
/// If the client did not declare a capability that the input needs, [`request`](Ask::request) returns
/// [`RequestError::MissingCapability`]. The handler may continue without the input. If the handler fails with the text
/// of this error instead, for example with `?`, the response of `2026-07-28` is the error -32021, which names the
/// capability.
#[derive(Debug, Clone)]
pub struct Ask {
    link: RequestLink,
    input: Arc<Mutex<InputState>>,
}

impl Ask {
    /// Requests input, and in the handshake era waits for the response. The timeout of the wait is
    /// [`Limits::request_timeout`](mcp_proto::server::Limits::request_timeout) of the server.
    ///
    /// # Errors
    /// See [`RequestError`]. After [`RequestError::InputRequired`], the handler must return, for example with `?`.
    pub fn request<'r>(
        &'r self,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        self.start(input, None)
    }

    /// Like [`request`](Ask::request) with a timeout of `time`. In `2026-07-28` there is no timeout.
    ///
    /// # Errors
    /// See [`request`](Ask::request).
    pub fn request_within<'r>(
        &'r self,
        time: Duration,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        self.start(input, Some(time))
    }

    fn start<'r>(
        &'r self,
        input: &dyn Input,
        time: Option<Duration>,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        // Encode the input now, because the returned future does not borrow `input`.
        let stored = lock(&self.input).request(input, self.link.client);
        let sent = stored.is_none().then(|| self.link.send_request(input, time));
        async move {
            match sent {
                Some(sent) => sent.await,
                None => stored.unwrap_or(Err(RequestError::Closed)),
            }
        }
    }
}

impl FromRequest<HandlerRequest> for Ask {
    fn from_request(request: &HandlerRequest) -> Ask {
        Ask { link: request.link.clone(), input: Arc::clone(&request.input) }
    }
}

/// The input that a client sent with a request (`2026-07-28`).
#[derive(Debug)]
pub struct ReceivedInput {
    /// Whether the response may require more input.
    can_require: bool,
    /// The JSON texts of the client's responses, in the order of the handler's input requests.
    responses: Vec<String>,
}

/// A request to which a handler responds outside of the event loop.
pub trait HandledRequest: Defer {
    /// Copies the input that the client sent with the request.
    fn received_input(&self) -> ReceivedInput;
}

macro_rules! handled_request {
    ($($request:ident)*) => {$(
        impl HandledRequest for $request<'_> {
            fn received_input(&self) -> ReceivedInput {
                let can_require = self.can_require_input();
                let state = self.request_state().filter(|_| can_require).map(|state| state.to_string());
                let mut responses = state.map(|state| earlier_responses(&state)).unwrap_or_default();
                if let Some(response) = self.input(&key(responses.len())).filter(|_| can_require) {
                    responses.push(response.to_string());
                }
                ReceivedInput { can_require, responses }
            }
        }
    )*};
}

handled_request!(Call GetPrompt ReadResource);

/// A completion never requires input.
impl HandledRequest for Complete<'_> {
    fn received_input(&self) -> ReceivedInput {
        ReceivedInput { can_require: false, responses: Vec::new() }
    }
}

/// Returns the responses in `state`, the `requestState` that the client sent. Returns no responses if `state` is not
/// an array.
fn earlier_responses(state: &str) -> Vec<String> {
    match Json::parse(state.as_bytes()) {
        Ok(state) if state.kind() == Kind::Array => {
            state.elements().map(|response| response.to_string()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the key of the input with this index.
fn key(index: usize) -> String {
    format!("input-{}", index + 1)
}

/// The input requests of one run of a handler.
#[derive(Debug)]
pub(crate) struct InputState {
    received: ReceivedInput,
    /// The number of input requests in this run that the client supports. Counted only if the server's response may
    /// require input (`2026-07-28`).
    requested: usize,
    required: Option<EncodedInput>,
    /// The capabilities that the last unsupported request of this run needs and the client lacks.
    missing: ClientCapabilities,
}

impl InputState {
    pub(crate) fn new(received: ReceivedInput) -> InputState {
        InputState { received, requested: 0, required: None, missing: ClientCapabilities::NONE }
    }

    /// Returns the client's response if it is known, or the reason why there is none. Returns `None` if the server's
    /// response cannot require input, as in the handshake era: the caller then sends a request.
    fn request(
        &mut self,
        input: &dyn Input,
        (revision, client): (Revision, ClientCapabilities),
    ) -> Option<Result<ClientResponse, RequestError>> {
        if !self.received.can_require {
            return None;
        }
        // An unsupported request has no index, because it never has a response.
        if let Err(error) = check_support(input, (revision, client)) {
            if let RequestError::MissingCapability(missing) = error {
                self.missing = missing;
            }
            return Some(Err(error));
        }
        let index = self.requested;
        self.requested += 1;
        if let Some(response) = self.received.responses.get(index) {
            return Some(Ok(ClientResponse { json: response.clone() }));
        }
        if self.required.is_none() {
            self.required = EncodedInput::new(input, revision, client);
        }
        Some(Err(match self.required {
            Some(_) => RequestError::InputRequired,
            None => RequestError::Invalid("the request is invalid"),
        }))
    }

    /// Returns the capabilities that the last unsupported request of the handler needs and the client lacks.
    pub(crate) fn missing(&self) -> ClientCapabilities {
        self.missing
    }

    /// Removes and returns the input that the response must require. Returns `None` if the handler needs no further
    /// input.
    pub(crate) fn take_required(&mut self) -> Option<RequiredInput> {
        let input = self.required.take()?;
        let responses = std::mem::take(&mut self.received.responses);
        Some(RequiredInput { key: key(responses.len()), input, state: format!("[{}]", responses.join(",")) })
    }
}

/// A response that requires input.
pub(crate) struct RequiredInput {
    key: String,
    input: EncodedInput,
    /// The client's responses to the earlier input requests: the JSON text of an array.
    state: String,
}

impl RequiredInput {
    pub(crate) fn respond(&self, reply: Reply<'_>) {
        // The call may have become a task while the handler was running.
        if reply.can_require_input() {
            reply.require_input(&[(&self.key, &self.input)], Some(&self.state));
        } else {
            reply.fail(RequestError::AutomaticTask.to_string());
        }
    }
}
