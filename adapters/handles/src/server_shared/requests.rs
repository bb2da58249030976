//! Requests of the server to its client.

use std::sync::Arc;

use mcp_proto::Ticket;
use mcp_proto::input::Input;

use super::ServerShared;
use crate::cancellation::Task;
use crate::outbound_request::{ClientResponse, OutboundRequest, PendingResponse, RequestError, ResponseCell};
use crate::server_command::ServerCommand;

impl ServerShared {
    /// Sends the client a request that is independent of the client's requests, and waits for the response.
    ///
    /// Only the handshake era has such requests.
    ///
    /// # Errors
    /// See [`RequestError`]. The error is [`RequestError::Invalid`] if the transport has many sessions, or on the
    /// thread of the event loop.
    pub fn request<'d>(
        &'d self,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'d> {
        let session = match self.has_sessions {
            // The session of the last handshake may belong to another client.
            true => Err(RequestError::Invalid(
                "over HTTP, a request must belong to a call: use `Responder::request`",
            )),
            false => self.state.with(|state| state.session).ok_or(RequestError::Closed),
        };
        let request = session.and_then(|session| OutboundRequest::new(input, session, None, None));
        self.send_request(request, None)
    }

    /// Sends the client a request and waits for the response. Dropping the future cancels the request. Fails on the
    /// thread of the event loop, which cannot wait.
    pub(crate) async fn send_request(
        &self,
        request: Result<(OutboundRequest, Arc<ResponseCell>), RequestError>,
        task: Option<&Task>,
    ) -> Result<ClientResponse, RequestError> {
        self.check_may_wait()?;
        let (request, response) = request?;
        let _guard = CancelOnDrop { shared: self, response: Arc::clone(&response) };
        self.send(ServerCommand::request(request), task).await;
        response.wait().await
    }

    /// Returns an error on the thread of the event loop, which cannot wait.
    pub(crate) fn check_may_wait(&self) -> Result<(), RequestError> {
        match self.is_owner() {
            true => Err(RequestError::Invalid(
                "the handler cannot wait for a response: send the request from another thread",
            )),
            false => Ok(()),
        }
    }

    /// Records a request that was sent to the client. Cancels all requests whose callers no longer wait.
    pub(crate) fn request_sent(&self, ticket: Ticket, pending: PendingResponse) {
        self.state.with(|state| state.outbound.insert(ticket, pending));
        self.cancel_abandoned();
    }

    /// Cancels requests to the client whose callers no longer wait.
    fn cancel_abandoned(&self) {
        let abandoned = self.state.with(|state| state.outbound.take_all(PendingResponse::is_abandoned));
        abandoned.into_iter().for_each(|(ticket, _)| self.push(ServerCommand::cancel(ticket)));
    }
}

/// A guard that cancels a request to the client on drop, unless the caller has taken the response.
struct CancelOnDrop<'d> {
    shared: &'d ServerShared,
    response: Arc<ResponseCell>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.response.is_finished() {
            return;
        }
        self.response.abandon();
        self.shared.cancel_abandoned();
    }
}
