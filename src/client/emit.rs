//! Emits events: turns the spans of a pending event into borrowed views.

use core::mem;

use crate::json::{Member, Span};
use crate::peer::progress_event::Progress;
use crate::peer::response::RpcError;
use crate::platform::cold_path;
use crate::rpc;

use crate::client::Client;
use crate::client::connect::Connected;
use crate::client::event::{ConnectFailure, Event, Response};
use crate::client::input_required::InputRequired;
use crate::client::notification::Updated;
use crate::client::pending_event::{PendingEvent, PendingFailure};
use crate::client::subscriptions::Acknowledged;
use crate::protocol::objects::log_message::LogMessage;
use crate::protocol::objects::task::TaskView;

impl Client<'_> {
    /// Returns the event that the last poll announced with [`Action::Event`](crate::Action::Event). Returns `None` if
    /// there is no such event, or if an earlier call has already returned the event.
    pub fn event(&mut self) -> Option<Event<'_>> {
        let Client { input, state, .. } = self;
        if mem::replace(&mut state.event_received, true) {
            cold_path();
            return None;
        }
        let line = input.bytes();
        let view = |span: Span| rpc::view(line, span);
        let known = |span: Span| (!span.is_missing()).then(|| view(span));
        // The event of a server request borrows the state mutably. The code of this event therefore precedes the
        // `match`, which borrows the pending event.
        if let Some(PendingEvent::ServerRequest { id, method, params, context }) = state.pending_event {
            let method = rpc::text(line, method);
            let request = state.server_request(view(id).bytes(), method, known(params), context);
            return Some(Event::ServerRequest(request));
        }
        let era = state.era();
        Some(match *state.pending_event.as_ref()? {
            PendingEvent::Response(ref response) => {
                let index = input.scanner().inner(Member::Result);
                Event::Response(Response { response, line, index, era })
            }
            PendingEvent::Chunk(chunk) => {
                let data = chunk.data(input.text_so_far());
                Event::Chunk { ticket: chunk.ticket, block: chunk.block, data }
            }
            PendingEvent::ServerRequest { .. } => return None,
            PendingEvent::ProtocolError(error) => Event::ProtocolError(error),
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
                    tasks.map(|tasks| (tasks.hooks.answered_keys)(state, ticket)).unwrap_or_default();
                Event::InputRequired(InputRequired { ticket, result: view(result), answered })
            }
            PendingEvent::Cancelled { ticket, reason } => {
                Event::Cancelled { ticket, reason: view(reason).string() }
            }
            PendingEvent::Notification { method, params, subscription } => {
                Event::Notification { method: rpc::text(line, method), params: known(params), subscription }
            }
        })
    }
}
