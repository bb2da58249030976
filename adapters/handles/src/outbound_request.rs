//! Requests of a server to its client (handshake era), and their responses.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::{ElicitResultView, EncodedInput, Input, RootsView, SampledView};
use mcp_proto::json::Json;
use mcp_proto::server::{RequestOptions, Response};
use mcp_proto::{
    ClientCapabilities, Millis, Outcome, RequestFailure, Revision, SendError, Server, Ticket, WireFeature,
};

use crate::error::PeerError;
use crate::owned::view;
use crate::signal::Signal;

/// A client's response: see [`Responder::request`](crate::Responder::request).
///
/// The contents come from the client and are not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientResponse {
    pub(crate) json: String,
}

impl ClientResponse {
    /// Returns the result as JSON.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        view(&self.json)
    }

    /// Returns the user's response to an elicitation, or `None` if the result has another shape.
    #[must_use]
    pub fn elicited(&self) -> Option<ElicitResultView<'_>> {
        ElicitResultView::from_json(self.json())
    }

    /// Returns the model's message, or `None` if the result has another shape.
    #[must_use]
    pub fn sampled(&self) -> Option<SampledView<'_>> {
        SampledView::from_json(self.json())
    }

    /// Returns the client's roots, or `None` if the result has another shape.
    #[must_use]
    pub fn roots(&self) -> Option<RootsView<'_>> {
        RootsView::from_json(self.json())
    }
}

/// The reason why a request to the client has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The revision lacks the request. In `2026-07-28`, a server sends no requests: its response lists the
    /// [required input](mcp_proto::server::Call::require_input).
    Unsupported,
    /// The client did not declare these capabilities.
    MissingCapability(ClientCapabilities),
    /// The call has become a task [automatically](mcp_proto::server::Tasks::automatic), and such a task cannot request
    /// input. Create the task with [`Call::into_task`](mcp_proto::server::Call::into_task), and request the input with
    /// [`Task::require_input`](mcp_proto::server::Task::require_input).
    AutomaticTask,
    /// The server's response will require this input, and the client will send its request again with the input
    /// (`2026-07-28`). The handler must return without a result: see `handler::Ask`.
    InputRequired,
    /// The client responded with an error.
    Client(PeerError),
    /// The timeout expired, and the server cancelled the request.
    TimedOut,
    /// The deferred request that this request belongs to has ended, for example by a cancellation or a timeout.
    Cancelled,
    /// There is no session, or the session or the connection has ended.
    Closed,
    /// The limit of requests in flight is reached.
    Busy,
    /// The request cannot be sent, or the response cannot be used, for the given reason.
    Invalid(&'static str),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::Unsupported => f.write_str("the protocol revision does not support the request"),
            // `mcp_proto::server::routes::missing_text` has the same text.
            RequestError::MissingCapability(missing) => {
                write!(f, "the client did not declare the capability {missing}")
            }
            RequestError::AutomaticTask => {
                f.write_str("the call has become a task, which cannot request input from the client")
            }
            RequestError::InputRequired => f.write_str("the client must provide input first"),
            RequestError::Client(error) => error.fmt(f),
            RequestError::TimedOut => f.write_str("the client did not respond in time"),
            RequestError::Cancelled => f.write_str("the request was cancelled"),
            RequestError::Closed => f.write_str("the connection is closed"),
            RequestError::Busy => f.write_str("too many concurrent requests"),
            RequestError::Invalid(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for RequestError {}

/// Checks that the revision has the request, and that the client declared the capabilities that the request needs.
pub(crate) fn check_support(
    input: &dyn Input,
    (revision, client): (Revision, ClientCapabilities),
) -> Result<(), RequestError> {
    match input.needs().without(client) {
        _ if !input.revisions().contains(revision) => Err(RequestError::Unsupported),
        ClientCapabilities::NONE => Ok(()),
        missing => Err(RequestError::MissingCapability(missing)),
    }
}

/// A cell for the response to one request, shared by the caller and the event loop.
#[derive(Debug, Default)]
pub(crate) struct ResponseCell {
    state: Signal<ResponseState>,
}

#[derive(Debug, Default)]
enum ResponseState {
    #[default]
    Pending,
    Ready(Result<ClientResponse, RequestError>),
    /// The caller has taken the response, or no longer waits for it.
    Finished,
}

impl ResponseCell {
    fn set(&self, response: Result<ClientResponse, RequestError>) {
        self.state.update(|state| {
            if let ResponseState::Pending = state {
                *state = ResponseState::Ready(response);
            }
        });
    }

    pub(crate) async fn wait(&self) -> Result<ClientResponse, RequestError> {
        let take = |state: &mut ResponseState| match std::mem::replace(state, ResponseState::Finished) {
            ResponseState::Ready(response) => Some(response),
            ResponseState::Finished => Some(Err(RequestError::Closed)),
            ResponseState::Pending => {
                *state = ResponseState::Pending;
                None
            }
        };
        self.state.wait_until(take).await
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.state.with(|state| matches!(state, ResponseState::Finished))
    }

    /// Records that the caller no longer waits for the response.
    pub(crate) fn abandon(&self) {
        self.state.with(|state| *state = ResponseState::Finished);
    }
}

/// Sender for the response of one request. If the sender is dropped without a response, the caller gets `Closed`.
struct ResponseSender(Arc<ResponseCell>);

impl Drop for ResponseSender {
    fn drop(&mut self) {
        self.0.set(Err(RequestError::Closed));
    }
}

/// A request that waits to be sent to the client.
pub(crate) struct OutboundRequest {
    input: EncodedInput,
    timeout: Option<Millis>,
    pub(crate) during: Option<Ticket>,
    response: ResponseSender,
}

impl OutboundRequest {
    /// Encodes `input` for a client with this revision and these capabilities. Returns the request and the cell of
    /// its response. Returns an error if the client does not support the request, or `input` is invalid.
    pub(crate) fn new(
        input: &dyn Input,
        (revision, client): (Revision, ClientCapabilities),
        timeout: Option<Duration>,
        during: Option<Ticket>,
    ) -> Result<(OutboundRequest, Arc<ResponseCell>), RequestError> {
        if !revision.has(WireFeature::ServerRequests) {
            return Err(RequestError::Unsupported);
        }
        check_support(input, (revision, client))?;
        let input =
            EncodedInput::new(input, revision, client).ok_or(RequestError::Invalid(INVALID_REQUEST))?;
        let cell = Arc::default();
        let response = ResponseSender(Arc::clone(&cell));
        let request = OutboundRequest { input, timeout: timeout.map(Millis::from), during, response };
        Ok((request, cell))
    }

    /// Sends the request. Returns `Ok(None)` if the caller no longer waits, or if the request failed and the cell has
    /// the error. Returns the request as `Err` if the server cannot send it yet, because the transmit buffer is full or
    /// other messages come first.
    pub(crate) fn send(
        self,
        server: &mut Server<'_>,
    ) -> Result<Option<(Ticket, PendingResponse)>, OutboundRequest> {
        let OutboundRequest { input, timeout, during, response } = &self;
        if response.0.is_finished() {
            return Ok(None);
        }
        let mut options = RequestOptions::DEFAULT;
        if let Some(timeout) = *timeout {
            options = options.timeout(timeout);
        }
        if let Some(during) = *during {
            options = options.during(during);
        }
        let error = match server.request(input, options) {
            Ok(ticket) => {
                return Ok(Some((ticket, PendingResponse { during: self.during, response: self.response })));
            }
            Err(SendError::Busy) => return Err(self),
            Err(SendError::Full) => RequestError::Busy,
            Err(SendError::Gone) => RequestError::Cancelled,
            Err(SendError::NotConnected) => RequestError::Closed,
            // `new` has checked that the client supports the request, so the deferred request has become a task.
            Err(SendError::Unsupported) if during.is_some() => RequestError::AutomaticTask,
            Err(SendError::Unsupported) => RequestError::Unsupported,
            Err(_) => RequestError::Invalid(INVALID_REQUEST),
        };
        response.0.set(Err(error));
        Ok(None)
    }
}

const INVALID_REQUEST: &str = "the request is invalid or too long for the transmit buffer";

/// A request that was sent to the client and has no response yet.
pub(crate) struct PendingResponse {
    pub(crate) during: Option<Ticket>,
    response: ResponseSender,
}

impl PendingResponse {
    /// Returns whether the caller no longer waits for the response.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.response.0.is_finished()
    }

    /// Ends the request with `Cancelled`, because the deferred request that the request belongs to has ended.
    pub(crate) fn cancel(self) {
        self.response.0.set(Err(RequestError::Cancelled));
    }

    /// Reports the response to the caller.
    pub(crate) fn complete(self, response: &Response<'_>) {
        self.response.0.set(match response.outcome() {
            Outcome::Result(result) => Ok(ClientResponse { json: result.to_string() }),
            Outcome::Error(error) => Err(RequestError::Client(PeerError::from_rpc(error))),
            Outcome::Failed(RequestFailure::TimedOut) => Err(RequestError::TimedOut),
            Outcome::Failed(RequestFailure::TooLong) => Err(RequestError::Invalid(
                "the client's response is longer than the receive buffer; raise `longest_line`",
            )),
            Outcome::Failed(RequestFailure::Invalid) => {
                Err(RequestError::Invalid("the client's response is invalid"))
            }
            _ => Err(RequestError::Closed),
        });
    }
}
