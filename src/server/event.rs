//! Events of a server, constructed from the pending event and the received line.

use core::borrow::BorrowMut;
use core::mem;

use crate::error::ProtocolError;
use crate::framing::LineDecoder;
use crate::json::{Json, SortKey, Span, Str, text_of};
use crate::peer::inbound::Source;
use crate::peer::progress_event::Progress;
use crate::peer::slots::Ticket;
use crate::rpc;
use crate::server::Server;
use crate::server::argument_chunks::ArgumentChunk;
use crate::server::call::{Call, Connected};
use crate::server::features::completion::Complete;
use crate::server::features::dynamic_list::{ListPrompts, ListResources, ListTemplates, ListTools};
use crate::server::features::extension_request::ExtensionRequest;
use crate::server::features::get_prompt::GetPrompt;
use crate::server::features::read_resource::ReadResource;
use crate::server::features::subscriptions::authorized::SubscriptionRequest;
use crate::server::features::subscriptions::notify::Listening;
use crate::server::input_required::InputResponses;
use crate::server::pending_event::{PendingEvent, Spans};
use crate::server::reply::{Pending, Reply, StateAccess};
use crate::server::request_context::Context;
use crate::server::send_request::Response;
use crate::server::server_state::ServerState;
use crate::server::tasks::access::TaskAccess;
use crate::server::tasks::{TaskInput, TaskResult, TaskTicket};

/// An event of a server. The event borrows the server, so the application must drop the event before the next poll.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A client sent `initialize`. The server has responded.
    Connected(Connected<'a>),
    /// The client completed the handshake (`notifications/initialized`).
    Ready,
    /// A new client restarted the session.
    ///
    /// The server dropped the requests of the previous client, and their tickets are invalid. Requests that the server
    /// sent fail with [`RequestFailure::Closed`](crate::RequestFailure::Closed). The server also removed all tasks,
    /// unless the table [keeps](crate::server::TaskTable::keep_on_reset) its tasks.
    Restarted,
    /// The client calls a tool.
    Call(Call<'a>),
    /// A part of a [streamed](crate::server::Tool::streamed) argument, before the [`Call`](Event::Call) to which it
    /// belongs.
    ArgumentChunk(ArgumentChunk<'a>),
    /// The [chunks](Event::ArgumentChunk) end without a [`Call`](Event::Call), for example because the line is not
    /// valid or the server refused the call. The application must discard the chunks.
    ///
    /// [`ProtocolError`](Event::ProtocolError) follows with the reason, if there is an error. The chunks may also end
    /// without this event: with [`Action::Closed`](crate::Action::Closed), or when the caller [resets](Server::reset)
    /// the server.
    ArgumentsAborted,
    /// The client reads a resource.
    ReadResource(ReadResource<'a>),
    /// The client requests a prompt.
    GetPrompt(GetPrompt<'a>),
    /// The client requests completions of an argument.
    Complete(Complete<'a>),
    /// The client requests a page of the dynamic list of tools.
    ListTools(ListTools<'a>),
    /// The client requests a page of the dynamic list of resources.
    ListResources(ListResources<'a>),
    /// The client requests a page of the dynamic list of resource templates.
    ListTemplates(ListTemplates<'a>),
    /// The client requests a page of the dynamic list of prompts.
    ListPrompts(ListPrompts<'a>),
    /// The client sent a request with a method of an [extension](crate::server::Extensions::methods).
    Request(ExtensionRequest<'a>),
    /// The client sent a notification of an [extension](crate::server::Extensions::notifications).
    Notification {
        /// The method.
        method: &'a str,
        /// The parameters, if the notification has any.
        params: Option<Json<'a>>,
    },
    /// The client requests subscriptions. The application decides which resources the server accepts. The server
    /// emits this event only with the feature [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions).
    SubscriptionRequest(SubscriptionRequest<'a>),
    /// A client opened a subscription (`2026-07-28`). The server has acknowledged the subscription.
    Listening(Listening<'a>),
    /// The client of the session subscribed to the resource with this URI. The server has responded.
    Subscribed(&'a str),
    /// The client of the session unsubscribed from this URI. Another session or a subscription may still get the
    /// changes of the resource ([`Server::is_watched`]).
    Unsubscribed(&'a str),
    /// The client cancelled a deferred request or a subscription, or the request ended with its
    /// [stream](crate::Receive::stream_closed). The client may also have cancelled the [automatic
    /// task](crate::server::Tasks::automatic) of a deferred request.
    ///
    /// The application must stop working on the request. The application must also [cancel](Server::cancel) the
    /// requests that it sent [during](crate::server::RequestOptions::during) this request. The server sends no
    /// response. Exception: if a [chunked](Call::chunked) response has begun, the server ends this response as a
    /// failure.
    ///
    /// The server also emits this event for a request that waits for the result of a task. The ticket is then unknown
    /// to the application.
    Cancelled {
        /// The request. The ticket is no longer valid.
        ticket: Ticket,
        /// The reason, if the client gave one.
        reason: Option<Str<'a>>,
    },
    /// The timeout of a deferred request, the time to live of its automatic task, or the grace period of the connection
    /// expired. The ticket of the request is no longer valid. The server responds with an error, ends a
    /// [chunked](Call::chunked) response as a failure, or removes the task.
    ///
    /// The server also emits this event for a request that waits for the result of a task. The ticket is then unknown
    /// to the application.
    Expired(Ticket),
    /// A request or a subscription of the client needs the result of a task. The application
    /// [keeps](crate::server::Task::finish) this result.
    TaskResult(TaskResult<'a>),
    /// [Input requests](crate::server::Task::require_input) of a task have responses, or have failed.
    TaskInput(TaskInput<'a>),
    /// The client cancelled a task. The application must stop working on the task.
    TaskCancelled(TaskTicket),
    /// The server removed a task, because its time to live expired, or because its session ended and no other client
    /// may access the task. The task may have ended before. The ticket of the task is no longer valid.
    TaskExpired(TaskTicket),
    /// A request that the server sent has ended.
    Response(Response<'a>),
    /// A request that the server sent [with progress](crate::server::RequestOptions::with_progress) makes progress.
    Progress(Progress<'a>),
    /// The client's roots have changed. The application can [request](Server::request) the new roots. The server emits
    /// this event only if the client declared `roots.listChanged`, and only after [`Server::request`], [`Server::ping`]
    /// or [`Server::replace_session`] has succeeded on this connection.
    RootsChanged,
    /// The transmit buffer has space again. The server emits this event after
    /// [`SendError::Busy`](crate::SendError::Busy), after a chunk of which the buffer took only [a
    /// part](crate::server::Chunks::text), or after a [pause](Server::pause_stream).
    Writable,
    /// The client has not responded to a ping, or has read nothing while the transmit buffer had no space for a ping:
    /// see [`Server::keep_alive`].
    PeerUnresponsive,
    /// The server has handled an error of the client or of the application, such as an invalid message or an invalid
    /// response. The error itself does not end the connection.
    ///
    /// The event has no message, because the server has released the line. An [observer](Server::observe) gets the
    /// message with its error, such as a call with the name of an unknown tool.
    ProtocolError(ProtocolError),
}

impl Server<'_> {
    /// Returns the event after a poll that returned [`Action::Event`](crate::Action::Event). Returns `None` in all
    /// other cases.
    #[inline(never)]
    pub fn event(&mut self) -> Option<Event<'_>> {
        // The line with the chunks was not the expected call. Report the end of the chunks before the event of the
        // line.
        if self.input.take_aborted() {
            return Some(Event::ArgumentsAborted);
        }
        // The pending event concerns the new client. Report the end of the old session first.
        if mem::take(&mut self.state.restarted) {
            return Some(Event::Restarted);
        }
        if let Some(PendingEvent::Request { context, event }) = self.state.pending_event {
            self.state.pending_event = None;
            return event(&mut self.input, &mut self.state, context);
        }
        self.other_event()
    }

    /// Removes and returns the pending event.
    // Not inlined, so that the code of requests, which are the most frequent events, stays together.
    #[inline(never)]
    fn other_event(&mut self) -> Option<Event<'_>> {
        let pending_event = self.state.pending_event.take()?;
        let Server { input, state, .. } = self;
        Some(match pending_event {
            PendingEvent::ProtocolError(error) => Event::ProtocolError(error),
            PendingEvent::Writable => Event::Writable,
            PendingEvent::PeerUnresponsive => Event::PeerUnresponsive,
            PendingEvent::Ready => Event::Ready,
            PendingEvent::Expired(ticket) => Event::Expired(ticket),
            PendingEvent::OutboundEvent(event) => {
                (state.outbound_hooks()?.event)(event, part(input, spans_of(input).arguments))
            }
            PendingEvent::Task(event) => {
                let arguments = part(input, spans_of(input).arguments);
                return (state.task_hooks()?.event)(event, state, arguments);
            }
            PendingEvent::Cancelled(ticket) => {
                Event::Cancelled { ticket, reason: part(input, spans_of(input).arguments).string() }
            }
            PendingEvent::Argument(argument) => return (argument.event)(&argument, input, state),
            PendingEvent::StreamClosed(ticket) => Event::Cancelled { ticket, reason: None },
            PendingEvent::Feature { event, ticket } => return event(input, state, ticket),
            PendingEvent::Connected(revision) => Event::Connected(Connected {
                revision,
                client_info: part(input, spans_of(input).arguments),
                capabilities: part(input, spans_of(input).meta),
            }),
            PendingEvent::Request { context, event } => return event(input, state, context),
        })
    }
}

pub(crate) fn spans_of(input: &LineDecoder<'_>) -> Spans {
    Spans::new(*input.event_spans())
}

/// Returns the part of the event's line at this span. Returns an empty text, which counts as `null`, if the span is
/// missing.
pub(crate) fn part<'a>(input: &'a LineDecoder<'_>, span: Span) -> Json<'a> {
    rpc::view(input.bytes(), span)
}

/// Function that constructs the event of a request.
///
/// Each feature names its own function, so that the linker drops unused features. The function returns the same type
/// as `Server::event`, so that the compiler constructs the large value in its final place.
pub(crate) type MakeEvent =
    for<'a> fn(&'a mut LineDecoder<'_>, &'a mut TaskAccess<'_>, Context) -> Option<Event<'a>>;

/// Function that constructs a feature's event that needs no response. The ticket identifies a subscription, or is
/// `Ticket::NONE`.
pub(crate) type MakeFeatureEvent =
    for<'a> fn(&'a LineDecoder<'_>, &'a ServerState<'_>, Ticket) -> Option<Event<'a>>;

/// The bytes of a line before and after a part that is decoded in place.
struct Surroundings<'a> {
    before: &'a [u8],
    after: &'a [u8],
    /// Offset of `after` in the line.
    end: usize,
}

impl<'a> Surroundings<'a> {
    /// Splits the line into the part and the bytes around the part.
    fn around(line: &'a mut [u8], part: Span) -> (&'a mut [u8], Surroundings<'a>) {
        let end = part.end.min(line.len());
        let (before, after) = line.split_at_mut_checked(end).unwrap_or_default();
        let (before, part) = before.split_at_mut_checked(part.start.min(end)).unwrap_or_default();
        (part, Surroundings { before, after, end })
    }

    #[inline(never)]
    fn at(&self, span: Span) -> &'a [u8] {
        if span.is_missing() {
            return &[];
        }
        let span = span.range();
        let part = match span.start.checked_sub(self.end) {
            Some(start) => self.after.get(start..span.end.wrapping_sub(self.end)),
            None => self.before.get(span),
        };
        part.unwrap_or_default()
    }
}

/// The parts of a request that its event exposes.
#[derive(Debug)]
pub(crate) struct RequestParts<'a> {
    /// The decoded name of the tool or prompt, the URI, or the method of an extension. Empty for other requests.
    pub(crate) subject: &'a str,
    /// The input of a retried request. Exception: if the event exposes all parameters, `input_responses.responses`
    /// holds the parameters.
    pub(crate) input_responses: InputResponses<'a>,
    pub(crate) reply: Reply<'a>,
}

impl<'a> RequestParts<'a> {
    /// Converts the spans of the event into slices of the line.
    pub(crate) fn new(
        input: &'a mut LineDecoder<'_>,
        state: &'a mut ServerState<'_>,
        context: Context,
    ) -> RequestParts<'a> {
        RequestParts::with_arguments(input, state, context, &mut &mut [][..])
    }

    /// Converts the spans like [`new`](Self::new), and sets `arguments` to the part of the line with the arguments. The
    /// reply reaches the state through `access`.
    ///
    /// The function returns only the parts, so that the compiler constructs the parts in their final place in the
    /// event.
    pub(crate) fn with_arguments<'b: 'a>(
        input: &'a mut LineDecoder<'_>,
        access: &'a mut (impl StateAccess + BorrowMut<ServerState<'b>>),
        context: Context,
        arguments: &mut &'a mut [u8],
    ) -> RequestParts<'a> {
        let stream = input.stream();
        access.borrow_mut().peer.response_pending = true;
        let spans = spans_of(input);
        let (part, surroundings) = Surroundings::around(input.bytes_mut(), spans.arguments);
        *arguments = part;
        let Spans { id, subject, meta, responses, state: request_state, .. } = spans;
        let source = Source::Line {
            id: surroundings.at(id),
            meta: surroundings.at(meta),
            last_progress: SortKey::NONE,
        };
        let config = access.borrow_mut().config;
        RequestParts {
            subject: text_of(surroundings.at(subject)),
            input_responses: InputResponses {
                responses: Json::exact(surroundings.at(responses)),
                state: Json::exact(surroundings.at(request_state)),
            },
            reply: Reply { state: access, config, pending: Pending { source, stream, context } },
        }
    }

    /// Returns the parameters of a request whose event exposes all parameters. Returns an empty object if there are
    /// none.
    pub(crate) fn params(&self) -> Json<'a> {
        match self.input_responses.responses {
            params if params.bytes().is_empty() => Json::EMPTY_OBJECT,
            params => params,
        }
    }
}
