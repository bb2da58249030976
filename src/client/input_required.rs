//! Requests that take several rounds (`2026-07-28`): a server that needs something of the client answers with questions,
//! and the request is sent again with the answers. To the host it stays one request with one ticket.
//!
//! Specification: 2026-07-28, *Multi round-trip requests*.

use crate::error::SendError;
use crate::json::{Json, Kind, SortKey, Str, Writer};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::peer::transmit_buffer::Overflow;
use crate::protocol::revision::Revision;
use crate::rpc::span_of;
use crate::time::Millis;

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::method::Method;
use crate::client::outbound_request::{Clock, Stage, UNANSWERED};
use crate::client::pending_event::PendingEvent;
use crate::client::server_requests::check;
use crate::client::server_requests::input_request::InputRequest;
use crate::client::server_requests::results::{
    Action, Roots, Sampled, once, write_form, write_object, write_roots, write_sampled,
};

/// A server needs something before it answers a request. [`Client::resume`] sends the request again with the answers;
/// [`Client::cancel`] gives it up. The request's [maximum](crate::client::Options::maximum) goes on meanwhile.
///
/// What is asked for stands in the receive buffer: take what is needed until the answers are there.
#[derive(Debug, Clone, Copy)]
pub struct InputRequired<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) result: Json<'a>,
}

impl<'a> InputRequired<'a> {
    /// Which request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// What is asked for, each with the key of its answer. There may be nothing: then the server only wants the request
    /// to come again, after a moment.
    pub fn requests(&self) -> impl Iterator<Item = (Str<'a>, InputRequest<'a>)> {
        self.result.get("inputRequests").unwrap_or(Json::NULL).members().filter_map(|(key, request)| {
            let [method, params] = request.pick(["method", "params"]);
            let kind = check::kind_of(method?.string()?, params)?;
            Some((key, InputRequest::from_json(kind, params.unwrap_or(Json::EMPTY_OBJECT))))
        })
    }

    /// Whether the server has given a state that comes back to it. The machine keeps it.
    #[must_use]
    pub fn has_state(&self) -> bool {
        self.result.get("requestState").is_some_and(|state| state.kind() == Kind::String)
    }

    /// The whole result.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.result
    }
}

/// The answers to what a server asked for, each under its key. All of them have to be given.
#[derive(Debug)]
pub struct InputResponses<'w, 'a> {
    out: &'w mut Writer<'a>,
    count: u32,
    valid: bool,
}

/// The only revision with questions in answers.
const REVISION: Revision = Revision::V2026_07_28;

impl InputResponses<'_, '_> {
    /// The user has filled in the form, whose fields `content` writes, names and values.
    pub fn accept(&mut self, key: &str, content: impl FnOnce(&mut Writer<'_>)) {
        let mut content = once(content);
        self.answer(key, &mut |out| write_form(out, REVISION, &mut |out| write_object(out, &mut content)));
    }

    /// The user agrees to open the address.
    pub fn agree(&mut self, key: &str) {
        self.action(key, Action::Accept);
    }

    /// The user says no to a form or an address. (There is no such answer to anything else: give the request up.)
    pub fn decline(&mut self, key: &str) {
        self.action(key, Action::Decline);
    }

    /// The user has closed a form or the question for an address.
    pub fn cancel(&mut self, key: &str) {
        self.action(key, Action::Cancel);
    }

    /// The roots, which `roots` adds one by one.
    pub fn roots(&mut self, key: &str, roots: impl FnOnce(&mut Roots<'_, '_>)) {
        let mut roots = Some(roots);
        self.answer(key, &mut |out| write_roots(out, &mut roots));
    }

    /// What a model has said: see [`ServerRequestReply::sampled`](crate::client::ServerRequestReply::sampled).
    pub fn sampled(
        &mut self,
        key: &str,
        model: &str,
        stop_reason: &str,
        content: impl FnOnce(&mut Sampled<'_, '_>),
    ) {
        let mut content = Some(content);
        self.answer(key, &mut |out| write_sampled(out, REVISION, model, stop_reason, &mut content));
    }

    fn action(&mut self, key: &str, action: Action) {
        self.answer(key, &mut |out| {
            action.write(out);
            true
        });
    }

    fn answer(&mut self, key: &str, body: &mut dyn FnMut(&mut Writer<'_>) -> bool) {
        if self.count == 0 {
            self.out.key("inputResponses");
            self.out.begin_object();
        }
        self.count = self.count.saturating_add(1);
        self.out.key(key);
        self.out.begin_object();
        self.valid &= body(self.out);
        self.out.end_object();
    }
}

impl Client<'_> {
    /// Sends a request again, with the answers to what the server asked for ([`InputRequired`]). `params` writes its
    /// members as they were (the machine has no room to keep them): of a call of a tool `name` and `arguments`. What the
    /// [`Options`](crate::client::Options) said about it goes on, `_meta` included.
    ///
    /// # Errors
    /// [`SendError::Gone`]: it has ended, or nothing was asked. [`SendError::NotConnected`], [`SendError::Busy`]: as
    /// [`call_with`](Client::call_with). [`SendError::Unwritable`]: it is larger than the transmit buffer, or not valid
    /// JSON, or there are more or fewer answers than questions. Then nothing was sent, and it may be tried again.
    pub fn resume(
        &mut self,
        ticket: Ticket,
        params: impl FnMut(&mut Writer<'_>),
        answers: impl FnOnce(&mut InputResponses<'_, '_>),
    ) -> Result<(), SendError> {
        let mut params = params;
        self.core.resume(ticket, &mut |out| out.members_checked(&mut params).is_ok(), &mut Some(answers))
    }

    /// The same for a call of a tool, with arguments of any type that serializes to an object.
    ///
    /// # Errors
    /// As [`resume`](Client::resume).
    #[cfg(feature = "serde")]
    pub fn resume_call<T: serde_core::Serialize + ?Sized>(
        &mut self,
        ticket: Ticket,
        tool: &str,
        arguments: &T,
        answers: impl FnOnce(&mut InputResponses<'_, '_>),
    ) -> Result<(), SendError> {
        let mut arguments = |out: &mut Writer<'_>| match out.serialize(arguments) {
            Ok(()) => out.ends_with(b'}'),
            Err(_) => out.overflowed(),
        };
        self.resume_call_dyn(ticket, tool, &mut arguments, answers)
    }

    /// The same for a call of a tool, with arguments that are JSON text: an object.
    ///
    /// # Errors
    /// As [`resume`](Client::resume).
    pub fn resume_call_json(
        &mut self,
        ticket: Ticket,
        tool: &str,
        arguments: &str,
        answers: impl FnOnce(&mut InputResponses<'_, '_>),
    ) -> Result<(), SendError> {
        let mut arguments =
            |out: &mut Writer<'_>| out.raw(arguments).is_ok() && (out.overflowed() || out.ends_with(b'}'));
        self.resume_call_dyn(ticket, tool, &mut arguments, answers)
    }

    fn resume_call_dyn(
        &mut self,
        ticket: Ticket,
        tool: &str,
        arguments: &mut dyn FnMut(&mut Writer<'_>) -> bool,
        answers: impl FnOnce(&mut InputResponses<'_, '_>),
    ) -> Result<(), SendError> {
        if self.core.open(ticket).is_some_and(|it| it.method != Method::CallTool) {
            return Err(SendError::Unwritable);
        }
        let mut params = |out: &mut Writer<'_>| {
            out.field_string("name", tool);
            out.key("arguments");
            arguments(out)
        };
        self.core.resume(ticket, &mut params, &mut Some(answers))
    }
}

/// What a result that asks for input asks for: how many questions, and its state as it is written.
struct Questions<'l> {
    count: u32,
    state: &'l [u8],
}

impl ClientState<'_> {
    /// Whether the host may be asked for all of that. `None`: it is no valid result.
    fn questions<'l>(&self, result: Json<'l>) -> Option<Questions<'l>> {
        let [requests, state] = result.pick(["inputRequests", "requestState"]);
        let present = |value: &Json<'_>| !value.is_null();
        let (requests, state) = (requests.filter(present), state.filter(present));
        if requests.is_some_and(|requests| requests.kind() != Kind::Object)
            || state.is_some_and(|state| state.kind() != Kind::String)
        {
            return None;
        }
        let mut count = 0u32;
        for (_, request) in requests.unwrap_or(Json::NULL).members() {
            let [method, params] = request.pick(["method", "params"]);
            check::check(method?.string()?, params, self.declared(), self.in_flight.seed()).ok()?;
            count = count.saturating_add(1);
        }
        let asks = count > 0 || state.is_some();
        asks.then_some(Questions { count, state: state.map_or(b"", Json::bytes) })
    }

    /// The server asks back. The request goes on under its ticket, if it can.
    pub(crate) fn input_required(
        &mut self,
        line: &[u8],
        ticket: Ticket,
        result: Json<'_>,
    ) -> Result<PendingEvent, RequestFailure> {
        let outgoing = self.in_flight.get(ticket).copied().ok_or(RequestFailure::Invalid)?;
        let questions = outgoing.method.may_ask().and_then(|_| self.questions(result));
        let questions = questions.ok_or(RequestFailure::Invalid)?;
        if outgoing.number >= self.info.rounds {
            return Err(RequestFailure::TooManyRounds);
        }
        if !self.in_flight.set_text_after(ticket, outgoing.meta_length.into(), questions.state) {
            return Err(RequestFailure::StateTooLong);
        }
        if let Some(outgoing) = self.in_flight.get_mut(ticket) {
            outgoing.number = outgoing.number.saturating_add(1);
            // Its id is used up: whatever still comes with it is for nobody.
            outgoing.sequence = UNANSWERED.saturating_add(questions.count.into());
            outgoing.stage = Stage::NeedsInput;
            outgoing.last_progress = SortKey::NONE;
        }
        // Before the first poll after it was sent, the maximum is a span.
        let deadline = match outgoing.clock {
            Clock::Stopped => Millis::ZERO,
            _ => outgoing.maximum,
        };
        self.in_flight.set_deadline(ticket, Some(deadline));
        Ok(PendingEvent::InputRequired { ticket, result: span_of(line, result.bytes()) })
    }

    fn resume(
        &mut self,
        ticket: Ticket,
        params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
        answers: &mut Option<impl FnOnce(&mut InputResponses<'_, '_>)>,
    ) -> Result<(), SendError> {
        let outgoing = self.in_flight.get(ticket).ok_or(SendError::Gone)?;
        if outgoing.stage != Stage::NeedsInput {
            return Err(SendError::Gone);
        }
        let questions = outgoing.questions();
        let method =
            outgoing.method.may_ask().filter(|_| self.is_connected()).ok_or(SendError::NotConnected)?;
        let mut valid = true;
        let sent = self.send_again(ticket, method, &mut |out, state| {
            valid = params(out);
            let mut written = InputResponses { out, count: 0, valid: true };
            if let Some(answers) = answers.take() {
                answers(&mut written);
            }
            let InputResponses { count, valid: answered, .. } = written;
            if count > 0 {
                out.end_object();
            }
            valid &= answered && u64::from(count) == questions;
            if !state.is_empty() {
                out.key("requestState");
                out.json_bytes(state);
            }
            if !valid {
                out.fail();
            }
        });
        sent.map_err(|Overflow| self.refused(valid))
    }
}
