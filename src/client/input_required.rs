//! Multi round-trip requests (`2026-07-28`): input requests and their responses.
//!
//! If a server needs input for a request, the response contains input requests. [`Client::resume`] then sends the
//! request again with the input responses. The ticket stays the same.
//!
//! Specification: 2026-07-28, *Multi round-trip requests*.

use crate::error::SendError;
use crate::json::{Json, Kind, Str, WriteBody, Writer};
use crate::peer::request::{Flags, OutboundState};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::peer::transmit_buffer::Overflow;
use crate::protocol::methods;
use crate::protocol::revision::Revision;
use crate::rpc::Object;
use crate::time::Millis;

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::method_properties::Method;
use crate::client::pending_event::PendingEvent;
use crate::client::request_data::NO_SEQUENCE;
use crate::client::requests::send::write_name;
use crate::client::server_requests::check;
use crate::client::server_requests::input_request::InputRequest;
use crate::client::tasks::record::Keys;
use crate::protocol::elicitation::result::{ElicitAction, write_form};
use crate::protocol::objects::application_json::{once, write_object};
use crate::protocol::roots::{Roots, write_roots};
use crate::protocol::sampling::result::{Sampled, write_sampled};

/// An input-required result: the server needs input to complete a request.
///
/// [`Client::resume`] sends the request again with the responses, and [`Client::cancel`] cancels the request. The time
/// until the application calls `resume` counts towards the [maximum](crate::client::Options::maximum) duration of the
/// request.
///
/// The input requests borrow the receive buffer. An application that responds later must copy the parts that it needs.
#[derive(Debug, Clone, Copy)]
pub struct InputRequired<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) result: Json<'a>,
    /// The keys of a task's earlier input requests. The server may repeat these requests, and `requests` omits them.
    pub(crate) answered: Keys<'a>,
}

impl<'a> InputRequired<'a> {
    /// Returns the ticket of the request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Returns the input requests, each with the key for its response. If there are none, the application should resume
    /// the request after a delay.
    pub fn requests(&self) -> impl Iterator<Item = (Str<'a>, InputRequest<'a>)> {
        let requests = self.result.get("inputRequests").unwrap_or(Json::NULL).members();
        requests.filter(|(key, _)| !self.answered.contains(*key)).filter_map(|(key, request)| {
            let [method, params] = request.pick(["method", "params"]);
            let (method, params) = (method?.string()?, params.unwrap_or(Json::EMPTY_OBJECT));
            let kind = check::kind_of(&|name| method == *name, params)?;
            Some((key, InputRequest::from_json(kind, "", params)))
        })
    }

    /// Returns whether the server sent a `requestState`. The client returns this state with the resumed request.
    #[must_use]
    pub fn has_state(&self) -> bool {
        self.result.get("requestState").is_some_and(|state| state.kind() == Kind::String)
    }

    /// Returns the whole result, exactly as the server wrote it.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.result
    }
}

/// Writes the input responses, each under the key of its input request. Every input request needs exactly one response.
///
/// The client checks the number of responses, but neither their keys nor their kinds, because it does not store the
/// input requests. A server ignores or refuses a response with a wrong key or of the wrong kind.
#[derive(Debug)]
pub struct InputResponses<'w, 'a> {
    out: &'w mut Writer<'a>,
    revision: Revision,
    count: u32,
    valid: bool,
}

impl InputResponses<'_, '_> {
    /// Responds that the user has submitted the form. `content` writes the field names and values.
    pub fn accept(&mut self, key: &str, content: impl FnOnce(&mut Writer<'_>)) {
        let (revision, mut content) = (self.revision, once(content));
        self.write_response(key, &mut |out: &mut Writer<'_>| {
            write_form(out, revision, &mut |out: &mut Writer<'_>| write_object(out, &mut content))
        });
    }

    /// Responds that the user agrees to open the URL.
    pub fn agree(&mut self, key: &str) {
        self.action(key, ElicitAction::Accept);
    }

    /// Responds that the user declines a form or a URL. To decline any other input request, the application must
    /// [cancel](Client::cancel) the whole request.
    pub fn decline(&mut self, key: &str) {
        self.action(key, ElicitAction::Decline);
    }

    /// Responds that the user has dismissed a form or a URL.
    pub fn cancel(&mut self, key: &str) {
        self.action(key, ElicitAction::Cancel);
    }

    /// Responds with the roots. The closure `roots` adds each root.
    pub fn roots(&mut self, key: &str, roots: impl FnOnce(&mut Roots<'_, '_>)) {
        let mut roots = Some(roots);
        self.write_response(key, &mut |out: &mut Writer<'_>| write_roots(out, &mut roots));
    }

    /// Responds with a model's message. [`ServerRequest::sampled`](crate::client::ServerRequest::sampled) describes the
    /// parameters.
    pub fn sampled(
        &mut self,
        key: &str,
        model: &str,
        stop_reason: &str,
        content: impl FnOnce(&mut Sampled<'_, '_>),
    ) {
        let (revision, mut content) = (self.revision, Some(content));
        self.write_response(key, &mut |out: &mut Writer<'_>| {
            write_sampled(out, revision, model, stop_reason, &mut content)
        });
    }

    fn action(&mut self, key: &str, action: ElicitAction) {
        self.write_response(key, &mut |out: &mut Writer<'_>| {
            action.write(out);
        });
    }

    fn write_response(&mut self, key: &str, body: &mut dyn WriteBody) {
        if self.count == 0 {
            self.out.begin_object_at("inputResponses");
        }
        self.count = self.count.saturating_add(1);
        self.out.begin_object_at(key);
        self.valid &= body.write(self.out);
        self.out.end_object();
    }
}

impl Client<'_> {
    /// Sends a request again, with responses to the server's input requests ([`InputRequired`]). The client does not
    /// store the parameters, so `params` must write the same members as in the first request. A tool call has the
    /// members `name` and `arguments`. The [`Options`](crate::client::Options) of the request still apply, including
    /// `_meta`.
    ///
    /// If the input requests belong to a [task](crate::client::ClientConfig::tasks), the client sends the id of the
    /// task and the responses, and does not call `params`.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has ended, or needs no input. [`SendError::NotConnected`], [`SendError::Busy`]:
    /// as for [`call_with`](Client::call_with). [`SendError::Unwritable`]: the request is larger than the transmit
    /// buffer. [`SendError::Invalid`]: the request is not valid JSON, or the number of responses differs from the
    /// number of input requests. After an error, the client has sent nothing. Except after `Gone`, the application may
    /// try again.
    pub fn resume(
        &mut self,
        ticket: Ticket,
        params: impl FnMut(&mut Writer<'_>),
        responses: impl FnOnce(&mut InputResponses<'_, '_>),
    ) -> Result<(), SendError> {
        let mut params = params;
        let mut params = |out: &mut Writer<'_>| out.members_checked(&mut params).is_ok();
        self.state.resume(ticket, None, &mut params, &mut Some(responses))
    }

    /// Resumes a tool call. `arguments` is the JSON text of an object.
    ///
    /// # Errors
    /// Same as [`resume`](Client::resume). [`SendError::Invalid`] also means that the request is not a tool call.
    pub fn resume_call_json(
        &mut self,
        ticket: Ticket,
        tool: &str,
        arguments: &str,
        responses: impl FnOnce(&mut InputResponses<'_, '_>),
    ) -> Result<(), SendError> {
        let mut params = |out: &mut Writer<'_>| {
            write_name(out, tool);
            out.raw_object(arguments)
        };
        self.state.resume(ticket, Some(Method::CallTool), &mut params, &mut Some(responses))
    }

    /// Resumes a request to read a resource.
    ///
    /// # Errors
    /// Same as [`resume`](Client::resume). [`SendError::Invalid`] also means that the request does not read a
    /// resource.
    pub fn resume_read(
        &mut self,
        ticket: Ticket,
        uri: &str,
        responses: impl FnOnce(&mut InputResponses<'_, '_>),
    ) -> Result<(), SendError> {
        let mut params = |out: &mut Writer<'_>| out.field_string("uri", uri);
        self.state.resume(ticket, Some(Method::ReadResource), &mut params, &mut Some(responses))
    }
}

impl ClientState<'_> {
    /// Validates an input-required result against the declared capabilities. Returns the number of input requests, and
    /// the raw `requestState`, which is empty if the server sent none. Returns `None` if the result is not valid.
    fn check_input_requests<'l>(&self, result: Json<'l>) -> Option<(u32, &'l [u8])> {
        let [requests, state] = result.pick(["inputRequests", "requestState"]);
        let present = |value: &Json<'_>| !value.is_null();
        let (requests, state) = (requests.filter(present), state.filter(present));
        if requests.is_some_and(|requests| requests.kind() != Kind::Object)
            || state.is_some_and(|state| state.kind() != Kind::String)
        {
            return None;
        }
        let count = self.count_requests(requests.unwrap_or(Json::NULL))?;
        let is_valid = count > 0 || state.is_some();
        is_valid.then_some((count, state.map_or(b"", Json::bytes)))
    }

    /// Counts the input requests of an object. Returns `None` if a request is not valid, or requires a capability that
    /// the client did not declare.
    pub(crate) fn count_requests(&self, requests: Json<'_>) -> Option<u32> {
        match self.config.server_requests {
            Some(hooks) => (hooks.count)(self, requests),
            None => requests.members().next().is_none().then_some(0),
        }
    }

    /// Handles an input-required result. Stores the `requestState`, and keeps the request in flight with the same
    /// ticket. An error is the failure with which the caller ends the request.
    pub(crate) fn handle_input_required(
        &mut self,
        ticket: Ticket,
        result: Object<'_>,
    ) -> Result<(), RequestFailure> {
        let outbound = self.peer.in_flight.outbound(ticket).copied().ok_or(RequestFailure::Invalid)?;
        let method = outbound.data.method.resumable_name();
        let checked = method.and_then(|_| self.check_input_requests(result.json()));
        let (count, state) = checked.ok_or(RequestFailure::Invalid)?;
        if outbound.data.partial_results >= self.config.input_limit {
            return Err(RequestFailure::TooManyInputRequests);
        }
        if !self.peer.in_flight.set_text_after(ticket, outbound.data.meta_length.into(), state) {
            return Err(RequestFailure::StateTooLong);
        }
        if let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) {
            outbound.data.partial_results = outbound.data.partial_results.saturating_add(1);
            // Retire the id, so that the client ignores later messages with this id. The new number also stores the
            // number of input requests.
            outbound.data.sequence = NO_SEQUENCE.saturating_add(count.into());
            outbound.state = OutboundState::NeedsInput;
        }
        // Until the first poll after the request was sent, `maximum` is a duration. From then on, `maximum` is a
        // deadline.
        let deadline = match outbound.flags.has(Flags::STARTED) {
            false => Millis::ZERO,
            true => outbound.data.maximum,
        };
        self.peer.in_flight.set_deadline(ticket, Some(deadline));
        self.emit(PendingEvent::InputRequired { ticket, result: result.span() });
        Ok(())
    }

    /// Sends a request again with input responses. `params` writes the members of the parameters. If `expected` is not
    /// `None`, the request must have this method.
    fn resume(
        &mut self,
        ticket: Ticket,
        expected: Option<Method>,
        params: &mut dyn WriteBody,
        responses: &mut Option<impl FnOnce(&mut InputResponses<'_, '_>)>,
    ) -> Result<(), SendError> {
        let outbound = self.peer.in_flight.outbound(ticket);
        let outbound = outbound.filter(|outbound| outbound.state == OutboundState::NeedsInput);
        let request = outbound.ok_or(SendError::Gone)?.data;
        if expected.is_some_and(|expected| request.method.in_events() != expected) {
            return Err(SendError::Invalid);
        }
        let input_requests = request.input_requests();
        let task = self.config.tasks.filter(|_| request.method.is_task());
        let name = task.map(|_| methods::TASKS_UPDATE.name).or_else(|| request.method.resumable_name());
        let (method, revision) = name
            .filter(|_| self.is_connected())
            .zip(self.peer.session.map(|session| session.revision))
            .ok_or(SendError::NotConnected)?;
        let mut valid = true;
        let sent = self.resend(ticket, method, &mut |out, state| {
            // For a task, write only the id, because the server has the parameters of the call.
            match task {
                Some(tasks) => (tasks.hooks.write_id)(state, out),
                None => valid = params.write(out),
            }
            let mut written = InputResponses { out, revision, count: 0, valid: true };
            if let Some(responses) = responses.take() {
                responses(&mut written);
            }
            let InputResponses { count, valid: written_valid, .. } = written;
            if count > 0 {
                out.end_object();
            }
            valid &= written_valid && u64::from(count) == input_requests;
            if !state.is_empty() && task.is_none() {
                out.field_bytes("requestState", state);
            }
            if !valid {
                out.fail();
            }
        });
        sent.map_err(|Overflow| self.send_error(valid))?;
        if let Some(outbound) = self.peer.in_flight.outbound_mut(ticket)
            && task.is_some()
        {
            outbound.data.method = Method::TaskUpdate;
        }
        Ok(())
    }
}
