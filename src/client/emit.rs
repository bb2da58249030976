//! Emits events: turns the spans of a pending event into borrowed views.

use crate::json::{Json, Kind, Member, Span};
use crate::peer::progress_event::Progress;
use crate::peer::response::{Outcome, RpcError};
use crate::rpc::{self, Object};

use crate::client::Client;
use crate::client::connect::Connected;
use crate::client::event::{ConnectFailure, Event, Response};
use crate::client::input_required::InputRequired;
use crate::client::notification::Updated;
use crate::client::pending_event::{PendingEvent, PendingFailure, PendingOutcome};
use crate::client::subscriptions::Acknowledged;
use crate::protocol::objects::log_message::LogMessage;
use crate::protocol::objects::task::TaskView;

impl Client<'_> {
    /// Returns the event that the last poll announced with [`Action::Event`](crate::Action::Event). Returns `None` if
    /// there is no such event, or if the application has already received it.
    pub fn event(&mut self) -> Option<Event<'_>> {
        let Client { input, state, .. } = self;
        let pending_event = state.pending_event.take()?;
        if let PendingEvent::Chunk(chunk) = pending_event {
            let data = chunk.data(input.text_so_far());
            return Some(Event::Chunk { ticket: chunk.ticket, block: chunk.block, data });
        }
        let line = input.bytes();
        let view = |span: Span| rpc::view(line, span);
        let known = |span: Span| (!span.is_missing()).then(|| view(span));
        Some(match pending_event {
            PendingEvent::ProtocolError(error) => Event::ProtocolError(error),
            PendingEvent::Chunk(_) => return None,
            PendingEvent::Writable => Event::Writable,
            PendingEvent::PeerUnresponsive => Event::PeerUnresponsive,
            PendingEvent::Connected { revision, result } => {
                Event::Connected(Connected { revision, result: view(result) })
            }
            PendingEvent::ConnectFailed(failure) => Event::ConnectFailed(match failure {
                PendingFailure::NoRevision => ConnectFailure::NoRevision,
                PendingFailure::NoCommonRevision(answer) => ConnectFailure::NoCommonRevision(view(answer)),
                PendingFailure::Refused(error) => {
                    ConnectFailure::Refused(RpcError { error: view(error), era: None })
                }
                PendingFailure::InvalidResponse => ConnectFailure::InvalidResponse,
                PendingFailure::ResponseTooLong { limit } => ConnectFailure::ResponseTooLong { limit },
                PendingFailure::TimedOut => ConnectFailure::TimedOut,
                PendingFailure::Closed => ConnectFailure::Closed,
            }),
            PendingEvent::Response { ticket, method, outcome } => {
                let era = state.era();
                let (outcome, member, result) = match outcome {
                    PendingOutcome::Result { result, member, is_nested } => {
                        let index = input.member_index(Member::Result).filter(|_| !is_nested);
                        let mut result = Object::new(line, result, index);
                        // Some servers send `null` for a result without members.
                        if result.kind() != Kind::Object {
                            result = Object::from_json(Json::EMPTY_OBJECT);
                        }
                        (Outcome::Result(result.json()), known(member), Some(result))
                    }
                    PendingOutcome::Error(error) => {
                        (Outcome::Error(RpcError { error: view(error), era }), None, None)
                    }
                    PendingOutcome::Failed(failure) => (Outcome::Failed(failure), None, None),
                };
                Event::Response(Response { ticket, method, outcome, member, result, era })
            }
            PendingEvent::Page { ticket, list, result, last } => list.page_event(ticket, view(result), last),
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
            PendingEvent::Task { ticket, task } => {
                Event::Task { ticket, task: TaskView::from_json(view(task)) }
            }
            PendingEvent::Expired(ticket) => Event::Expired(ticket),
            PendingEvent::InputRequired { ticket, result } => {
                let tasks = state.config.tasks;
                let answered =
                    tasks.map(|tasks| tasks.hooks.answered_keys(state, ticket)).unwrap_or_default();
                Event::InputRequired(InputRequired { ticket, result: view(result), answered })
            }
            PendingEvent::Cancelled { ticket, reason } => {
                Event::Cancelled { ticket, reason: view(reason).string() }
            }
            PendingEvent::ServerRequest { id, method, params, context } => {
                let method = rpc::text(line, method);
                Event::ServerRequest(state.server_request(view(id).bytes(), method, known(params), context))
            }
            PendingEvent::Notification { method, params, subscription } => {
                Event::Notification { method: rpc::text(line, method), params: known(params), subscription }
            }
        })
    }
}
