//! Emits events: turns the spans of a pending event into borrowed views.

use crate::framing::LineDecoder;
use crate::json::{Json, Kind, Member, Span, Str};
use crate::peer::response::{Outcome, RpcError};
use crate::peer::slots::Ticket;
use crate::rpc;

use crate::client::Client;
use crate::client::connect::Connected;
use crate::client::event::{ConnectFailure, Event, Response};
use crate::client::input_required::InputRequired;
use crate::client::members::Noted;
use crate::client::method::Method;
use crate::client::pending_event::{FailurePlan, OutcomePlan, PendingEvent};
use crate::client::subscriptions::Acknowledged;
use crate::client::views::{LogMessage, Progress, Updated};

impl Client<'_> {
    /// Returns the event, if the last poll returned [`Action::Event`](crate::Action::Event).
    pub fn event(&mut self) -> Option<Event<'_>> {
        let plan = self.plan.take()?;
        let Client { input, core, .. } = self;
        let line = input.bytes();
        let view = |span: Span| rpc::view(line, span);
        Some(match plan {
            PendingEvent::ProtocolError(fault) => Event::ProtocolError(fault),
            PendingEvent::Writable => Event::Writable,
            PendingEvent::PeerUnresponsive => Event::PeerUnresponsive,
            PendingEvent::Connected { revision, result } => {
                Event::Connected(Connected { revision, result: view(result) })
            }
            PendingEvent::ConnectFailed(failure) => Event::ConnectFailed(match failure {
                FailurePlan::NoRevision => ConnectFailure::NoRevision,
                FailurePlan::NoCommonRevision(answer) => ConnectFailure::NoCommonRevision(view(answer)),
                FailurePlan::Refused(error) => {
                    ConnectFailure::Refused(RpcError { error: view(error), era: None })
                }
                FailurePlan::InvalidResponse => ConnectFailure::InvalidResponse,
                FailurePlan::TimedOut => ConnectFailure::TimedOut,
                FailurePlan::Closed => ConnectFailure::Closed,
            }),
            PendingEvent::Response { ticket, method, outcome } => {
                let outcome = match outcome {
                    OutcomePlan::Result { result, member } => {
                        return Some(Event::Response(finished(input, ticket, method, result, member)));
                    }
                    OutcomePlan::Error(error) => {
                        Outcome::Error(RpcError { error: view(error), era: core.era() })
                    }
                    OutcomePlan::Failed(lost) => Outcome::Failed(lost),
                };
                Event::Response(Response { ticket, method, outcome, member: None, noted: None })
            }
            PendingEvent::Page { ticket, list, result, last } => list.page(ticket, view(result), last),
            PendingEvent::Progress { ticket, params } => {
                Event::Progress(Progress { ticket, params: view(params) })
            }
            PendingEvent::Log { params } => Event::Log(LogMessage::from_json(view(params))),
            PendingEvent::Changed { listed, subscription } => Event::Changed { listed, subscription },
            PendingEvent::Updated { params, subscription } => {
                Event::Updated { resource: Updated::from_json(view(params)), subscription }
            }
            PendingEvent::Acknowledged { ticket, params } => {
                Event::Acknowledged(Acknowledged { ticket, params: view(params) })
            }
            PendingEvent::Expired(ticket) => Event::Expired(ticket),
            PendingEvent::InputRequired { ticket, result } => {
                Event::InputRequired(InputRequired { ticket, result: view(result) })
            }
            PendingEvent::Cancelled { ticket, reason } => {
                Event::Cancelled { ticket, reason: reason.and_then(|reason| view(reason).string()) }
            }
            PendingEvent::ServerRequest { id, params, context } => {
                Event::ServerRequest(core.asked(view(id).bytes(), params.map(view), context))
            }
            PendingEvent::Notification { method, params } => {
                let method = Str::trusted(line.get(method.range()).unwrap_or_default());
                Event::Notification { method, params: params.map(view) }
            }
        })
    }
}

/// Builds the response of a request that ended with a result.
fn finished<'a>(
    input: &'a LineDecoder<'_>,
    ticket: Ticket,
    method: Method,
    result: Span,
    member: Span,
) -> Response<'a> {
    let line = input.bytes();
    let member = Some(rpc::view(line, member)).filter(|member| !member.bytes().is_empty());
    let result = rpc::view(line, result);
    // Some servers send `null` for a result without members.
    let result = if result.kind() == Kind::Object { result } else { Json::EMPTY_OBJECT };
    let noted = input.inner(Member::Result).map(|places| Noted { line, places });
    Response { ticket, method, outcome: Outcome::Result(result), member, noted }
}
