//! The client side of one connection, for all protocol revisions.
//!
//! A [`ClientConfig`] holds the client's identity, revisions, timeouts and capabilities. The client connects by itself.
//! Each function that begins a request returns a [`Ticket`], which identifies the request until its end:
//!
//! | to | call | the application receives |
//! |---|---|---|
//! | connect | [`Client::poll`] | [`Event::Connected`], or [`Event::ConnectFailed`] |
//! | call a tool | [`Client::call`], [`call_with`](Client::call_with), [`call_json`](Client::call_json) | [`Response::tool_result`] |
//! | list | [`Client::list_tools`], [`list_resources`](Client::list_resources), [`list_templates`](Client::list_templates), [`list_prompts`](Client::list_prompts) | [`Event::Tools`], … for each page |
//! | read, get, complete | [`Client::read_resource`], [`get_prompt`](Client::get_prompt), [`complete`](Client::complete) | [`Response::resource`], [`prompt`](Response::prompt), [`completion`](Response::completion) |
//! | receive a result that is larger than the receive buffer | [`Client::receive_chunks`] | [`Event::Chunk`], then the response |
//! | let calls become tasks | [`ClientConfig::tasks`] | [`Event::Task`], then the end of the call |
//! | let requests of the server become tasks | [`ClientConfig::client_tasks`], [`Client::client_tasks`] | [`Event::ServerRequest`] |
//! | continue a task after a restart | [`Client::resume_task`] | [`Response::tool_result`] |
//! | subscribe to changes | [`Client::listen`] (`2026-07-28`), [`subscribe`](Client::subscribe) (before) | [`Event::Changed`], [`Event::Updated`] |
//! | send anything else | [`Client::request`], [`notify`](Client::notify) | [`Response::outcome`] |
//! | cancel | [`Client::cancel`] | nothing |
//! | continue after a lost connection | [`Client::reconnect`] | [`Response::is_retryable`]: whether the application can repeat a failed request |
//!
//! A server may request input from the client: roots, a form or a URL for the user, or a message that a model
//! generates. Up to `2025-11-25` the request arrives as [`Event::ServerRequest`]. The application responds immediately,
//! or defers the request with [`ServerRequest::defer`] and responds with [`Client::reply`]. In `2026-07-28` the request
//! arrives as [`Event::InputRequired`], and the application responds with [`Client::resume`]. In both cases, an
//! [`InputRequest`] describes the input.
//!
//! Views, such as [`ToolView`], [`ResourceView`] and [`ContentView`], read the server's messages. Most views have a
//! constructor `from_json`. The application can therefore copy JSON and view the copy later. Most views have a
//! counterpart that writes the object on a server: the type of the same name without `View`, such as `server::Tool`.

mod capabilities;
mod chunks;
mod client_state;
mod client_tasks;
mod config;
mod connect;
mod emit;
mod event;
mod handshake;
mod input_required;
mod keep_alive;
mod lists;
mod method_properties;
mod min_buffer_size;
mod notification;
mod options;
mod page;
mod pending_event;
mod poll;
mod receive;
mod reconnect;
mod request_data;
mod requests;
mod send_error;
mod send_notification;
mod server_requests;
mod setup;
mod stateless;
mod subscriptions;
mod tasks;

use ::core::mem;

pub use crate::client::chunks::ChunkData;
pub use crate::client::config::{ClientConfig, Connect, Timeouts};
pub use crate::client::connect::Connected;
pub use crate::client::event::{ConnectFailure, Event, Listed, Response};
pub use crate::client::input_required::{InputRequired, InputResponses};
pub use crate::client::notification::Updated;
pub use crate::client::options::Options;
pub use crate::client::page::{PromptsPage, ResourcesPage, SkillsPage, TemplatesPage, ToolsPage};
pub use crate::client::server_requests::ServerRequest;
pub use crate::client::server_requests::input_request::InputRequest;
pub use crate::client::subscriptions::{Acknowledged, Filter};
pub use crate::client::tasks::TaskLimits;
pub use crate::peer::tasks::options::TaskOptions;
pub use crate::peer::tasks::table::{TaskSlot, TaskTable};
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
pub use crate::protocol::objects::skill_view::{DirectoryView, SkillFileView, SkillView};
pub use crate::protocol::objects::task::TaskView;
pub use crate::protocol::objects::tool::{ToolHintsView, ToolView};
pub use crate::protocol::objects::tool_result::ToolResultView;
pub use crate::protocol::roots::Roots;
pub use crate::protocol::sampling::CreateMessageView;
pub use crate::protocol::sampling::message::SampleMessageView;
pub use crate::protocol::sampling::model_preferences::ModelPreferencesView;
pub use crate::protocol::sampling::result::Sampled;

use crate::client::chunks::{ChunkHook, ChunkState};
use crate::client::client_state::ClientState;
use crate::client::request_data::SentRequest;
use crate::client::server_requests::input_request::InputKind;
use crate::framing::LineDecoder;
use crate::machine::{Action, Machine, PollStep, sealed};
use crate::peer::LineEvent;
use crate::peer::lifecycle::{State, Trigger};
use crate::peer::request::Request;
use crate::peer::slots::Ticket;
use crate::platform::cold_path;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::revision::Revision;
use crate::time::Millis;

/// Memory for one request in flight. The application lends an array of slots, such as `[Slot::EMPTY; 4]`: see
/// [`Client::in_flight`].
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
/// static CONFIG: ClientConfig = ClientConfig::new("example", "1.0.0");
/// let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
/// let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 128]);
/// let mut client = Client::new(&CONFIG, &mut rx, &mut tx)?.in_flight(&mut slots, &mut text);
/// match client.poll(Millis(0)) {
///     Action::Io(io) => assert!(io.split().0.bytes().starts_with(br#"{"jsonrpc":"2.0","id":1,"#)),
///     _ => unreachable!("the client connects first"),
/// }
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
pub struct Client<'b> {
    input: LineDecoder<'b>,
    state: ClientState<'b>,
    grace_deadline: Option<Millis>,
    /// While the connection closes, the slot at which `drain` continues.
    next_ended_slot: u32,
    /// The function that emits results in chunks. The first call of `receive_chunks` sets this field.
    chunk_hook: Option<ChunkHook>,
    chunks: ChunkState,
}

impl Client<'_> {
    /// Returns the number of slots in use. A slot holds, for example, a request in flight, a task, a
    /// [deferred](ServerRequest::defer) request of the server, or a cancellation that awaits transmit space.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.state.peer.in_flight.len()
    }

    /// Returns whether the ticket belongs to a request in flight, to a [deferred](ServerRequest::defer) request that
    /// awaits its response, or to a deferred request whose [task](Client::client_tasks) has not ended.
    #[must_use]
    pub fn is_pending(&self, ticket: Ticket) -> bool {
        let is_deferred = self.state.peer.in_flight.deferred(ticket).is_some();
        is_deferred || self.state.open_request(ticket).is_some() || self.state.task_of(ticket).is_some()
    }

    /// Returns the maximum length of a line from the server in bytes, including its newline. This length is the limit
    /// of the receive buffer.
    #[must_use]
    pub fn longest_line(&self) -> usize {
        self.input.limit()
    }

    /// Returns the line that caused the latest event, such as a [`ProtocolError`](Event::ProtocolError), without its
    /// newline.
    ///
    /// The line is valid until the next [`poll`](Client::poll). For an event without a complete line, returns an empty
    /// slice, or a line that the client has not handled yet. For an oversized line, returns at most the id of its
    /// message. For a [truncated](crate::ProtocolError::Truncated) line, returns an empty slice.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        self.input.bytes()
    }

    /// Frees the memory that grown buffers do not use.
    ///
    /// A grown buffer of more than 16 KiB also shrinks by itself: after many small messages, or if the connection is
    /// idle for five seconds.
    pub fn trim(&mut self) {
        self.input.trim();
        self.state.peer.output.trim();
    }

    /// Returns the number of late notifications: cancellations that match no request in flight, progress of requests
    /// that await no response, and other notifications of requests that have ended. Late responses are not counted.
    ///
    /// Such a notification is no error, because messages of the two peers can cross: see
    /// [`ProtocolError::is_late`](crate::ProtocolError::is_late). The count stops at 65,535.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn late_messages(&self) -> u16 {
        self.state.peer.late_messages
    }

    /// Returns the state of the connection.
    #[must_use]
    pub fn state(&self) -> State {
        self.state.peer.lifecycle.state()
    }

    /// Returns the negotiated revision, or `None` until the client is connected.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.state.peer.session.map(|session| session.revision)
    }

    /// Returns the capabilities that the server declared, or `None` until the client is connected.
    #[must_use]
    pub fn capabilities(&self) -> Option<ServerCapabilities> {
        self.state.peer.session.map(|session| session.capabilities)
    }

    /// Ends the connection. [Tasks](ClientConfig::tasks), and [subscriptions](Client::listen) whose filter the text of
    /// the slot can hold, wait for [`reconnect`](Client::reconnect). Every other request of the application fails with
    /// [`RequestFailure::Closed`](crate::RequestFailure::Closed). [Deferred](ServerRequest::defer) requests of the
    /// server are cancelled, unless they became tasks in a table with
    /// [`keep_on_reset`](crate::client::TaskTable::keep_on_reset). The client still offers unsent output until the
    /// [grace period](Timeouts::grace) ends. After [`Action::Closed`], the caller should close the server's input.
    pub fn shutdown(&mut self, now: Millis) {
        self.state.peer.now = self.state.peer.now.max(now);
        self.state.connecting = None;
        self.state.peer.lifecycle.apply(Trigger::Shutdown);
    }

    /// Starts a new connection on the same buffers. The client drops all state of the old connection, without events
    /// for requests in flight. All tickets of the old connection become invalid. The exception is a request of the
    /// server that became a task in a table with [`keep_on_reset`](crate::client::TaskTable::keep_on_reset).
    pub fn reset(&mut self) {
        self.state.peer.in_flight.clear();
        self.state.end_client_tasks(false);
        (self.state.pending_event, self.state.event_received) = (None, false);
        self.reset_connection();
    }

    /// Resets the connection, but keeps the requests in flight and the pending event.
    fn reset_connection(&mut self) {
        self.input.reset();
        self.state.reset_connection();
        self.grace_deadline = None;
        self.next_ended_slot = 0;
        self.chunks = ChunkState::START;
    }

    /// Returns the next action for the caller: see [`Machine::poll`].
    #[inline]
    pub fn poll(&mut self, now: Millis) -> Action<'_> {
        self.poll_step(now).into_action(&mut self.state.peer.output, &mut self.input)
    }

    fn poll_step(&mut self, now: Millis) -> PollStep {
        self.state.peer.now = self.state.peer.now.max(now);
        self.state.drop_received_event();
        if self.state.peer.line_event.begin_poll(self.state.pending_event.is_none()) {
            if mem::take(&mut self.state.peer.response_pending) {
                cold_path();
                self.state.respond_to_dropped_request(self.input.bytes(), self.input.stream());
            }
            self.input.release_element();
        }
        loop {
            if self.state.pending_event.is_some() {
                return PollStep::Event;
            }
            if !self.step() {
                break;
            }
        }
        if self.state.peer.lifecycle.state() == State::Closed {
            cold_path();
            return PollStep::Closed;
        }
        self.state.peer.line_event = LineEvent::None;
        let deadline = self.next_deadline();
        #[cfg(feature = "alloc")]
        let deadline = self.state.peer.shrink_buffers(&mut self.input, deadline);
        self.input.provide_space();
        PollStep::Io(deadline)
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
