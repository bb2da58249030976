//! The client side of one connection, for all protocol revisions.
//!
//! A [`ClientConfig`] holds the client's identity, revisions, timeouts and capabilities. The client connects by itself.
//! Each function that sends a request returns a [`Ticket`], which identifies the request until its end:
//!
//! | to | call | the application receives |
//! |---|---|---|
//! | connect | [`Client::poll`] | [`Event::Connected`], or [`Event::ConnectFailed`] |
//! | call a tool | [`Client::call`], [`call_with`](Client::call_with), [`call_json`](Client::call_json) | [`Response::tool_result`] |
//! | list | [`Client::list_tools`], [`list_resources`](Client::list_resources), [`list_templates`](Client::list_templates), [`list_prompts`](Client::list_prompts) | [`Event::Tools`], … for each page |
//! | read, get, complete | [`Client::read_resource`], [`get_prompt`](Client::get_prompt), [`complete`](Client::complete) | [`Response::resource`], [`prompt`](Response::prompt), [`completion`](Response::completion) |
//! | let calls become tasks | [`ClientConfig::tasks`] | [`Event::Task`], then the end of the call |
//! | continue a task after a restart | [`Client::resume_task`] | [`Response::tool_result`] |
//! | subscribe to changes | [`Client::listen`] (`2026-07-28`), [`subscribe`](Client::subscribe) (before) | [`Event::Changed`], [`Event::Updated`] |
//! | send anything else | [`Client::request`], [`notify`](Client::notify) | [`Response::outcome`] |
//! | cancel | [`Client::cancel`] | nothing |
//! | continue after a lost connection | [`Client::reconnect`] | [`Response::is_retryable`]: whether the application can repeat a failed request |
//!
//! A server may request input from the client: roots, a form or a URL for the user, or a message of a model. Up to
//! `2025-11-25` the request arrives as [`Event::ServerRequest`]. The application responds immediately, or defers the
//! request with [`ServerRequest::defer`] and responds with [`Client::reply`]. In `2026-07-28` the request arrives as
//! [`Event::InputRequired`], and the application responds with [`Client::resume`]. In both cases, an [`InputRequest`]
//! describes the input.
//!
//! Views, such as [`ToolView`], [`ResourceView`] and [`ContentView`], read the server's messages. Each view has a
//! constructor `from_json`. The application can therefore copy JSON and view the copy later. For writing, a server uses
//! the type with the same name without `View`, such as `server::Tool`.

mod capabilities;
mod client_state;
mod config;
mod connect;
mod emit;
mod event;
mod input_required;
mod lists;
mod method_properties;
mod notification;
mod options;
mod page;
mod pending_event;
mod receive;
mod reconnect;
mod request_data;
mod requests;
mod send_notification;
mod server_requests;
mod setup;
mod subscriptions;
mod tasks;

use ::core::mem;

pub use crate::client::config::{ClientConfig, Connect, Timeouts};
pub use crate::client::connect::Connected;
pub use crate::client::event::{ConnectFailure, Event, Listed, Response};
pub use crate::client::input_required::{InputRequired, InputResponses};
pub use crate::client::notification::Updated;
pub use crate::client::options::Options;
pub use crate::client::page::{PromptsPage, ResourcesPage, TemplatesPage, ToolsPage};
pub use crate::client::server_requests::input_request::InputRequest;
pub use crate::client::server_requests::{ServerRequest, ServerRequestReply};
pub use crate::client::subscriptions::{Acknowledged, Filter};
pub use crate::client::tasks::TaskLimits;
pub use crate::protocol::elicitation::choice::ChoiceView;
pub use crate::protocol::elicitation::field::{FieldKind, FieldView};
pub use crate::protocol::elicitation::{FormView, OpenUrlView};
pub use crate::protocol::objects::annotations::AnnotationsView;
pub use crate::protocol::objects::base64::{Base64, Base64Error};
pub use crate::protocol::objects::cache_hints::Freshness;
pub use crate::protocol::objects::completion::{CompletionView, Reference};
pub use crate::protocol::objects::content::{BlockView, ContentView};
pub use crate::protocol::objects::icon::IconView;
pub use crate::protocol::objects::implementation::ImplementationView;
pub use crate::protocol::objects::log_message::LogMessage;
pub use crate::protocol::objects::prompt::{PromptArgumentView, PromptView};
pub use crate::protocol::objects::prompt_result::{PromptMessageView, PromptResultView};
pub use crate::protocol::objects::resource::{ResourceTemplateView, ResourceView};
pub use crate::protocol::objects::resource_contents::{ReadResultView, ResourceContentsView};
pub use crate::protocol::objects::task::TaskView;
pub use crate::protocol::objects::tool::{ToolHintsView, ToolView};
pub use crate::protocol::objects::tool_result::ToolResultView;
pub use crate::protocol::roots::Roots;
pub use crate::protocol::sampling::CreateMessageView;
pub use crate::protocol::sampling::message::SampleMessageView;
pub use crate::protocol::sampling::model_preferences::ModelPreferencesView;
pub use crate::protocol::sampling::result::Sampled;

use crate::client::client_state::ClientState;
use crate::client::pending_event::{PendingEvent, PendingFailure, PendingOutcome};
use crate::client::receive::Handled;
use crate::client::request_data::SentRequest;
use crate::client::server_requests::input_request::InputKind;
use crate::framing::{Content as LineContent, Line, LineDecoder};
use crate::json::{Member, Shape, Span};
use crate::machine::{Action, Io, Machine, Receive, sealed};
use crate::peer::keep_alive::Due;
use crate::peer::lifecycle::{State, Trigger};
use crate::peer::request::{InboundState, Outbound, OutboundState, Request};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::Class;
use crate::time::Millis;

/// Memory for one request in flight. The application lends an array: `[Slot::EMPTY; 4]`.
pub type Slot = crate::peer::slots::Slot<Request<InputKind, SentRequest>>;

/// The client side of one connection.
///
/// The caller calls [`poll`](Client::poll), performs the returned [`Action`], and polls again. The client connects by
/// itself. After [`Event::Connected`], the application can send requests. Each request has a [`Ticket`], which is valid
/// until the request ends.
///
/// ```
/// use mcp_proto::client::{ClientConfig, Slot};
/// use mcp_proto::{Action, Client, Millis};
///
/// static INFO: ClientConfig = ClientConfig::new("example", "1.0.0");
/// let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
/// let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 128]);
/// let mut client = Client::new(&INFO, &mut rx, &mut tx)?.in_flight(&mut slots, &mut text);
/// match client.poll(Millis(0)) {
///     Action::Io(io) => assert!(io.split().0.bytes().starts_with(br#"{"jsonrpc":"2.0","id":1,"#)),
///     _ => unreachable!("the client connects first"),
/// }
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
pub struct Client<'b> {
    input: LineDecoder<'b>,
    state: ClientState<'b>,
    /// The event that the next call of `event` returns.
    pending_event: Option<PendingEvent>,
    grace_deadline: Option<Millis>,
    /// While the connection closes, the first slot that `drain` has not processed.
    next_ended_slot: u32,
}

impl Client<'_> {
    /// The number of requests in flight, including [deferred](ServerRequest::defer) requests of the server.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.state.peer.in_flight.len()
    }

    /// Whether a request is in flight.
    #[must_use]
    pub fn is_pending(&self, ticket: Ticket) -> bool {
        let is_deferred = self.state.peer.in_flight.deferred(ticket).is_some();
        is_deferred || self.state.open_request(ticket).is_some()
    }

    /// The state of the connection.
    #[must_use]
    pub fn state(&self) -> State {
        self.state.peer.lifecycle.state()
    }

    /// The negotiated revision. The value is `None` until the client is connected.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.state.peer.session.map(|session| session.revision)
    }

    /// The capabilities that the server declared. The value is `None` until the client is connected.
    #[must_use]
    pub fn capabilities(&self) -> Option<ServerCapabilities> {
        self.state.peer.session.map(|session| session.capabilities)
    }

    /// Ends the connection. [Subscriptions](Client::listen) and [tasks](ClientConfig::tasks) wait for
    /// [`reconnect`](Client::reconnect). Every other request of the application fails with [`RequestFailure::Closed`]. The machine still offers unsent output during
    /// the [grace period](Timeouts::grace). The caller then closes the server's input.
    pub fn shutdown(&mut self, now: Millis) {
        self.state.peer.now = self.state.peer.now.max(now);
        self.state.connecting = None;
        self.state.peer.lifecycle.apply(Trigger::Shutdown);
    }

    /// Starts a new connection on the same buffers. The client drops all state of the old connection, without events
    /// for requests in flight. All tickets of the old connection become invalid.
    pub fn reset(&mut self) {
        self.input.reset();
        self.state.peer.in_flight.clear();
        self.state.reset_connection();
        self.pending_event = None;
        self.grace_deadline = None;
        self.next_ended_slot = 0;
    }

    /// Returns the next action for the caller: see [`Machine::poll`].
    pub fn poll(&mut self, now: Millis) -> Action<'_> {
        self.state.peer.now = self.state.peer.now.max(now);
        if self.pending_event.is_none() && mem::take(&mut self.state.peer.event_holds_line) {
            if mem::take(&mut self.state.peer.response_pending) {
                self.state.respond_to_dropped_request(self.input.bytes(), self.input.stream());
            }
            self.input.release_element();
        }
        loop {
            if self.pending_event.is_some() {
                return Action::Event;
            }
            if !self.step() {
                break;
            }
        }
        match self.state.peer.lifecycle.state() {
            State::Closed => Action::Closed,
            _ => {
                let deadline = self.next_deadline();
                self.input.make_room();
                Action::Io(Io::new(
                    self.state.peer.output.transmit(),
                    Receive::new(&mut self.input),
                    deadline,
                ))
            }
        }
    }

    /// The latest time for the next poll.
    fn next_deadline(&self) -> Option<Millis> {
        let ClientState { peer, connecting, .. } = &self.state;
        let connecting = connecting.map(|connecting| connecting.deadline);
        let keep_alive = peer.keep_alive.deadline(peer.now).filter(|_| self.state.is_connected());
        peer.next_deadline([self.grace_deadline, connecting, keep_alive])
    }

    /// Performs one step. Returns `false` if the client is closed, or has to wait for input, transmit space or a
    /// deadline.
    fn step(&mut self) -> bool {
        if self.state.peer.output.is_broken() {
            // Process the earlier input, because the server may have responded before the output broke.
            self.state.peer.output.clear();
            self.input.end();
        }
        if let Some(error) = self.state.peer.pending_error.take() {
            self.pending_event = Some(PendingEvent::ProtocolError(error));
            return true;
        }
        match self.state.peer.lifecycle.state() {
            State::Closed => return false,
            State::Start => {
                self.pending_event = self.state.connect();
                return true;
            }
            State::Draining => return self.drain(),
            _ => {}
        }
        if self.state.connecting.is_some_and(|connecting| connecting.deadline <= self.state.peer.now) {
            self.pending_event = self.state.handle_connect_failure(PendingFailure::TimedOut);
            return true;
        }
        self.expire_due_request()
            || self.state.write_queued()
            || self.emit_writable()
            || self.check_keep_alive()
            || self.process_next_line()
            || self.handle_end_of_input()
    }

    fn emit_writable(&mut self) -> bool {
        let is_due = self.state.peer.report_writable
            && self.state.peer.output.is_empty()
            && !self.state.server_request_waits;
        if is_due {
            self.state.peer.report_writable = false;
            self.pending_event = Some(PendingEvent::Writable);
        }
        is_due
    }

    /// Handles one request whose deadline has expired. If the request was just sent, starts its timeout. Any other
    /// request fails, expires or is cancelled.
    fn expire_due_request(&mut self) -> bool {
        let peer = &mut self.state.peer;
        let Some(ticket) = peer.in_flight.due(peer.now) else { return false };
        match peer.in_flight.get(ticket) {
            None => return false,
            Some(Request::Inbound(inbound)) if inbound.state == InboundState::Deferred => {
                peer.expire(ticket);
                self.pending_event = Some(PendingEvent::Expired(ticket));
            }
            Some(Request::Inbound(_)) => {
                peer.in_flight.release(ticket);
                self.pending_event = Some(PendingEvent::Cancelled { ticket, reason: Span::MISSING });
            }
            Some(Request::Outbound(outbound)) => {
                let method = outbound.data.method.in_events();
                if let Some(tasks) = self.state.config.tasks
                    && outbound.state == OutboundState::TaskWaiting
                    && outbound.data.maximum > peer.now
                {
                    tasks.hooks.poll(&mut self.state, ticket);
                } else if let Some(failure) = peer.handle_deadline(ticket) {
                    self.state.abandon(ticket, "timeout");
                    let outcome = PendingOutcome::Failed(failure);
                    self.pending_event = Some(PendingEvent::Response { ticket, method, outcome });
                }
            }
        }
        true
    }

    fn check_keep_alive(&mut self) -> bool {
        if !self.state.is_connected() {
            return false;
        }
        match self.state.peer.keep_alive.due(self.state.peer.now) {
            Due::Nothing => false,
            Due::Ping => {
                self.state.write_ping();
                false
            }
            Due::PeerUnresponsive { close } => {
                if close {
                    self.input.close();
                }
                self.pending_event = Some(PendingEvent::PeerUnresponsive);
                true
            }
        }
    }

    /// Processes the next line. Returns `false` if no line is complete, or if the transmit buffer lacks space for the
    /// response.
    fn process_next_line(&mut self) -> bool {
        match self.input.line() {
            Some(line) => self.process_line(line),
            None => false,
        }
    }

    fn process_line(&mut self, line: Line) -> bool {
        if let LineContent::StreamClosed = line.content {
            self.pending_event = self.state.fail_exchange(line.stream);
            self.input.release();
            return true;
        }
        let is_message = matches!(line.content, LineContent::Message);
        let may_be_batch = is_message && self.state.has(WireFeature::Batches);
        if may_be_batch && self.input.envelope().shape == Shape::Array && self.input.open_batch() {
            return true;
        }
        let bytes = self.input.bytes();
        let class = match line.content {
            LineContent::Message => {
                let tolerant = self.state.config.missing_jsonrpc;
                Some(Class::new(bytes, self.input.scanner(), tolerant))
            }
            _ => None,
        };
        let is_request = match line.content {
            LineContent::Message => matches!(class, Some(Class::Request { .. })),
            LineContent::Truncated | LineContent::StreamClosed => false,
            LineContent::Broken(_) | LineContent::TooLong { .. } => {
                let envelope = self.input.envelope();
                envelope.method.is_some() && envelope.id.is_some()
            }
        };
        let input = class.as_ref().and_then(|class| receive::requested_input(&self.state, bytes, class));
        if is_request && self.state.responds_to_requests() {
            let for_application = input.is_some();
            let has_space = if for_application {
                self.state.peer.reserve_response()
            } else {
                self.state.has_own_response_space()
            };
            self.state.server_request_waits = for_application && !has_space;
            if !has_space {
                return false;
            }
        }
        self.state.peer.keep_alive.record_activity();
        self.state.peer.output.observe_sent();
        let received = match class {
            Some(class) => {
                let index = self.input.member_index(Member::Result);
                receive::handle_message(&mut self.state, bytes, class, input, index, line.stream)
            }
            None => receive::handle_unreadable_line(&mut self.state, bytes, line, &self.input.envelope()),
        };
        let outcome = match &received {
            Handled::ProtocolError(error) => Err(*error),
            _ => Ok(()),
        };
        self.state.peer.output.observe_received(bytes, outcome);
        match received {
            Handled::Event(pending_event) => {
                self.pending_event = Some(pending_event);
                self.state.peer.event_holds_line = true;
            }
            Handled::Done => self.input.release_element(),
            Handled::ProtocolError(error) => {
                self.pending_event = Some(PendingEvent::ProtocolError(error));
                self.input.release_element();
            }
        }
        true
    }

    fn handle_end_of_input(&mut self) -> bool {
        if !self.input.is_ended() {
            return false;
        }
        if self.input.line().is_some() {
            // A request of the server may wait for transmit space until the end of the grace period.
            let ends = self.grace_deadline();
            if self.state.peer.now < ends {
                return false;
            }
        }
        if self.state.connecting.is_some() {
            self.pending_event = self.state.fail_connect(PendingFailure::Closed);
            return true;
        }
        self.state.peer.lifecycle.apply(Trigger::EndOfInput)
    }

    /// The end of the grace period. The first call of this function starts the grace period.
    fn grace_deadline(&mut self) -> Millis {
        *self.grace_deadline.get_or_insert(self.state.peer.now.plus(self.state.config.timeouts.grace))
    }

    /// Ends one request, or ends the connection after the last request.
    ///
    /// The connection ends when all output is sent, the grace period is over, or the output is broken.
    #[cold]
    fn drain(&mut self) -> bool {
        if let Some(ticket) = self.state.peer.in_flight.first_from(self.next_ended_slot) {
            self.next_ended_slot = ticket.slot;
            self.state.peer.in_flight.clear_queue();
            if self.state.park(ticket) {
                self.next_ended_slot = ticket.slot.saturating_add(1);
                return true;
            }
            let open = self.state.open_request(ticket).copied();
            let inbound = self.state.peer.in_flight.inbound(ticket);
            let is_server_request = inbound.is_some_and(|it| it.state != InboundState::Expired);
            self.state.peer.in_flight.release(ticket);
            if let Some(Outbound { data: SentRequest { method, .. }, .. }) = open {
                let outcome = PendingOutcome::Failed(RequestFailure::Closed);
                let method = method.in_events();
                self.pending_event = Some(PendingEvent::Response { ticket, method, outcome });
            } else if is_server_request {
                self.pending_event = Some(PendingEvent::Cancelled { ticket, reason: Span::MISSING });
            }
            return true;
        }
        let ends = self.grace_deadline();
        let over = self.state.peer.output.is_empty()
            || ends <= self.state.peer.now
            || self.state.peer.output.is_broken();
        over && self.state.peer.lifecycle.apply(Trigger::Drained)
    }
}

impl Machine for Client<'_> {
    fn poll(&mut self, now: Millis) -> Action<'_> {
        Client::poll(self, now)
    }
}

impl sealed::Sealed for Client<'_> {}

impl ::core::fmt::Debug for Client<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("Client")
            .field("state", &self.state())
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}
