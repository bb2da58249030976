//! How a decision of `poll` becomes what the host hears: the plan's places in the line become borrows.

use crate::inflight::Ticket;
use crate::json::{Json, Kind, Member, Span, Str};
use crate::line::Input;
use crate::outcome::{Outcome, RpcError};
use crate::rpc;

use super::Client;
use super::connect::Connected;
use super::event::{Event, Failure, Finished};
use super::listen::Acknowledged;
use super::members::Noted;
use super::method::Method;
use super::plan::{FailurePlan, OutcomePlan, Plan};
use super::rounds::InputRequired;
use super::views::{LogMessage, Progress, Updated};

impl Client<'_> {
    /// What happened, if the last poll said [`Action::Event`](crate::Action::Event).
    pub fn event(&mut self) -> Option<Event<'_>> {
        let plan = self.plan.take()?;
        let Client { input, core, .. } = self;
        let line = input.bytes();
        let view = |span: Span| rpc::view(line, span);
        Some(match plan {
            Plan::Fault(fault) => Event::Fault(fault),
            Plan::Room => Event::Room,
            Plan::Silent => Event::Silent,
            Plan::Connected { revision, result } => {
                Event::Connected(Connected { revision, result: view(result) })
            }
            Plan::Failed(failure) => Event::Failed(match failure {
                FailurePlan::NoRevision => Failure::NoRevision,
                FailurePlan::NoCommonRevision(answer) => Failure::NoCommonRevision(view(answer)),
                FailurePlan::Refused(error) => Failure::Refused(RpcError { error: view(error), era: None }),
                FailurePlan::InvalidAnswer => Failure::InvalidAnswer,
                FailurePlan::TimedOut => Failure::TimedOut,
                FailurePlan::Closed => Failure::Closed,
            }),
            Plan::Finished { ticket, method, outcome } => {
                let outcome = match outcome {
                    OutcomePlan::Result { result, member } => {
                        return Some(Event::Finished(finished(input, ticket, method, result, member)));
                    }
                    OutcomePlan::Error(error) => {
                        Outcome::Error(RpcError { error: view(error), era: core.era() })
                    }
                    OutcomePlan::Lost(lost) => Outcome::Lost(lost),
                };
                Event::Finished(Finished { ticket, method, outcome, member: None, noted: None })
            }
            Plan::Page { ticket, list, result, last } => list.page(ticket, view(result), last),
            Plan::Progress { ticket, params } => Event::Progress(Progress { ticket, params: view(params) }),
            Plan::Log { params } => Event::Log(LogMessage::of(view(params))),
            Plan::Changed { listed, subscription } => Event::Changed { listed, subscription },
            Plan::Updated { params, subscription } => {
                Event::Updated { resource: Updated::of(view(params)), subscription }
            }
            Plan::Acknowledged { ticket, params } => {
                Event::Acknowledged(Acknowledged { ticket, params: view(params) })
            }
            Plan::Expired(ticket) => Event::Expired(ticket),
            Plan::InputRequired { ticket, result } => {
                Event::InputRequired(InputRequired { ticket, result: view(result) })
            }
            Plan::Cancelled { ticket, reason } => {
                Event::Cancelled { ticket, reason: reason.and_then(|reason| view(reason).string()) }
            }
            Plan::Asked { id, params, context } => {
                Event::Asked(core.asked(view(id).bytes(), params.map(view), context))
            }
            Plan::Notification { method, params } => {
                let method = Str::trusted(line.get(method.range()).unwrap_or_default());
                Event::Notification { method, params: params.map(view) }
            }
        })
    }
}

/// A request that has ended with a result.
fn finished<'a>(
    input: &'a Input<'_>,
    ticket: Ticket,
    method: Method,
    result: Span,
    member: Span,
) -> Finished<'a> {
    let line = input.bytes();
    let member = Some(rpc::view(line, member)).filter(|member| !member.bytes().is_empty());
    let result = rpc::view(line, result);
    // `null` is what some send for a result without members.
    let result = if result.kind() == Kind::Object { result } else { Json::EMPTY_OBJECT };
    let noted = input.inner(Member::Result).map(|places| Noted { line, places });
    Finished { ticket, method, outcome: Outcome::Result(result), member, noted }
}
