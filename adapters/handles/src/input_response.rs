//! Responses of a client session to server requests and required input.
//!
//! Up to `2025-11-25` the server sends its own requests. In `2026-07-28` the server may require input before it
//! responds to a request of the client.

use mcp_proto::client::{InputRequired, ServerRequest};
use mcp_proto::rpc::code;
use mcp_proto::{Client, SendError, Ticket};

use crate::client_shared::Command;
use crate::error::CallError;
use crate::http_failure::HttpFailure;
use crate::owned::Notification;
use crate::server_request::{HandlerCall, InputResponse, ResponseTarget};
use crate::session::{ClientSession, MAX_SERVER_REQUESTS, call_error};

/// Message of the error response if the limit of server requests is reached, if no slot is free, if the table of tasks
/// is full, or if the session has no handler.
const TOO_MANY: &str = "Too many concurrent requests to the client";

/// An input that the server requires. Until the application responds, `response` is `Err` with the handler call, or
/// with `None` if the session has no handler.
pub(crate) struct RequiredInput {
    key: String,
    response: Result<InputResponse, Option<HandlerCall>>,
}

impl ClientSession {
    /// Defers a request of the server, and passes the request to the application. If that is impossible for one of the
    /// reasons of [`TOO_MANY`], responds with an error.
    pub(crate) fn handle_server_request(&mut self, request: ServerRequest<'_>) {
        let has_slot = self.server_requests.len() < MAX_SERVER_REQUESTS;
        let Some(handler) = self.handler.clone().filter(|_| has_slot) else {
            return request.error(code::INTERNAL_ERROR, TOO_MANY);
        };
        let input = request.input();
        match request.defer(None) {
            Ok(ticket) => {
                let target = ResponseTarget::ServerRequest(ticket);
                let call = HandlerCall::start(&handler, &self.shared, target, &input);
                self.server_requests.insert(ticket, call);
            }
            Err(request) => request.error(code::INTERNAL_ERROR, TOO_MANY),
        }
    }

    /// Passes the server's required inputs to the application. If the server requires too many inputs, cancels the
    /// request, which then fails.
    pub(crate) fn request_inputs(&mut self, required: &InputRequired<'_>) {
        let ticket = required.ticket();
        // Each input occupies a task or a queue entry, so the number of inputs must have a limit.
        if required.requests().nth(MAX_SERVER_REQUESTS).is_some() {
            self.shared.send(Command::Cancel(ticket, String::new()));
            let error = CallError::Invalid("the server requires too many inputs together".into());
            return self.complete(ticket, Err(error));
        }
        let Some(sent) = self.sent.get_mut(&ticket) else { return };
        let (handler, shared) = (self.handler.as_ref(), &self.shared);
        let start = |(at, (key, input))| RequiredInput {
            key: ToString::to_string(&key),
            response: Err(handler.map(|handler| {
                HandlerCall::start(handler, shared, ResponseTarget::RequiredInput(ticket, at), &input)
            })),
        };
        sent.inputs = required.requests().enumerate().map(start).collect();
        if sent.inputs.is_empty() {
            self.resumable.push(ticket);
        }
    }

    /// Stores a response of the application until it can be sent. Drops the response if its request has ended. An error
    /// response to a required input is not stored: such a response cancels the request of the client, which then fails.
    pub(crate) fn accept_response(
        &mut self,
        client: &mut Client<'_>,
        target: ResponseTarget,
        response: InputResponse,
    ) {
        match target {
            ResponseTarget::ServerRequest(ticket) if self.server_requests.remove(&ticket).is_some() => {
                self.responses.push_back((ticket, response));
            }
            // The server's request has ended meanwhile.
            ResponseTarget::ServerRequest(_) => {}
            ResponseTarget::RequiredInput(ticket, at) => self.accept_input(client, ticket, at, response),
        }
    }

    /// Reports to the notification queues that, over HTTP, the server has refused a response of the application.
    pub fn report_refused_response(&self, failure: HttpFailure) {
        self.shared.broadcast(&Notification::ResponseRefused(failure.into()));
    }

    fn accept_input(&mut self, client: &mut Client<'_>, ticket: Ticket, at: usize, response: InputResponse) {
        let Some(sent) = self.sent.get_mut(&ticket) else { return };
        if let Some(message) = response.error_message() {
            let declined = CallError::Declined(message.into());
            let _ = client.cancel(ticket, message);
            return self.complete(ticket, Err(declined));
        }
        if let Some(input) = sent.inputs.get_mut(at) {
            input.response = Ok(response);
        }
        if sent.inputs.iter().all(|input| input.response.is_ok()) {
            self.resumable.push(ticket);
        }
    }

    /// Sends responses to server requests. Returns `true` if responses remain because the transmit buffer is full.
    pub(crate) fn send_responses(&mut self, client: &mut Client<'_>) -> bool {
        while let Some((ticket, response)) = self.responses.pop_front() {
            match client.reply(ticket) {
                Ok(reply) => response.send(reply),
                Err(SendError::Busy) => {
                    self.responses.push_front((ticket, response));
                    return true;
                }
                // The server's request has ended meanwhile.
                Err(_) => {}
            }
        }
        false
    }

    /// Sends requests again, with the required input. Returns `true` if requests remain because the transmit buffer is
    /// full or the connection is lost.
    pub(crate) fn resume_requests(&mut self, client: &mut Client<'_>) -> bool {
        while let Some(ticket) = self.resumable.pop() {
            let Some(sent) = self.sent.get(&ticket) else { continue };
            let resumed = client.resume(
                ticket,
                |out| sent.state.request.write_params(out),
                |responses| {
                    for input in &sent.inputs {
                        if let Ok(response) = &input.response {
                            response.write(&input.key, responses);
                        }
                    }
                },
            );
            match resumed {
                Ok(()) | Err(SendError::Gone) => {}
                Err(error) if self.must_retry(error) => {
                    self.resumable.push(ticket);
                    return true;
                }
                Err(error) => {
                    let _ = client.cancel(ticket, "");
                    self.complete(ticket, Err(call_error(error)));
                }
            }
        }
        false
    }
}
