//! The server state machine of one connection, for all revisions.
//!
//! A [`ServerConfig`] holds the server's identity and a list of features. A feature adds methods, events or a
//! capability. The linker drops features that no configuration names.
//!
//! | feature | events | response methods |
//! |---|---|---|
//! | [`Tools`] | [`Event::Call`], [`Event::ListTools`] | [`Call::text`], [`content`](Call::content), [`fail`](Call::fail), … |
//! | [`Resources`] | [`Event::ReadResource`], [`Event::ListResources`], [`Event::ListTemplates`] | [`ReadResource::text`], [`blob`](ReadResource::blob), … |
//! | [`Prompts`] | [`Event::GetPrompt`], [`Event::ListPrompts`] | [`GetPrompt::messages`] |
//! | [`Completion`], for prompts and resources | [`Event::Complete`] | [`Complete::values`] |
//! | [`Logging`] | none: the server stores the level | [`Server::log`], [`Call::log`] |
//! | [`Subscriptions`] | [`Event::Listening`], [`Event::Subscribed`], [`Event::Unsubscribed`] | [`Server::changed`] |
//! | [`AuthorizedSubscriptions`] | [`Event::SubscriptionRequest`] | [`SubscriptionRequest::accept_if`] |
//! | [`Extensions`] | [`Event::Request`], [`Event::Notification`] | [`ExtensionRequest::result`], [`result_with`](ExtensionRequest::result_with), … |
//! | [`Tasks`] | [`Event::TaskResult`], [`Event::TaskInput`], [`Event::TaskCancelled`] | [`Call::into_task`], [`Server::task`] |
//!
//! The server lists a static catalog by itself. The server emits a `List…` event only for a dynamic list, which the
//! application provides. A method such as [`Call::text`] consumes the request and cannot fail. For long work,
//! [`Call::defer`] returns a ticket, with which [`Server::reply`] responds later. [`Event::Cancelled`] and
//! [`Event::Expired`] report that the application can no longer respond. With [`Call::chunked`], a result may be larger
//! than the transmit buffer. With [`Tool::streamed`], one argument may be larger than the receive buffer.
//!
//! A server can also request input from its client: see [`input`](crate::input). In the handshake era the application
//! calls [`Server::request`] and receives [`Event::Response`]. In `2026-07-28` the application calls
//! [`Call::require_input`]. [`InputRequests`] requests input for the tools of a `Router` in both eras.
//!
//! The server writes the protocol objects of this module and of the crate root. A client reads an object with a view,
//! whose name ends with `View`: [`Tool`] with [`ToolView`](crate::client::ToolView).

mod argument_chunks;
#[cfg(feature = "serde")]
mod arguments;
mod batch;
mod call;
mod change_set;
#[cfg(feature = "serde")]
mod checked_result;
mod chunks;
mod compatibility;
mod config;
mod defer;
mod dispatch;
mod event;
mod feature;
pub(crate) mod features;
mod handshake;
mod in_flight_hooks;
mod input_requests;
mod input_required;
mod keep_alive;
mod min_buffer_size;
mod outbound_hooks;
mod pending_event;
mod poll;
mod reply;
mod request_cache;
mod request_context;
mod request_methods;
mod response_status;
#[cfg(feature = "derive")]
mod router;
mod send_notification;
mod send_request;
mod server_state;
mod session;
mod setup;
mod setup_in_place;
mod stateless;
pub(crate) mod tasks;
mod write_message;

pub use crate::server::argument_chunks::ArgumentChunk;
#[cfg(feature = "derive")]
pub use crate::server::arguments::ToolInput;
pub use crate::server::call::{Call, Connected};
pub use crate::server::chunks::{ChunkedContent, Chunks};
pub use crate::server::send_request::{RequestOptions, Response};

pub use crate::protocol::meta::RequestMeta;
pub use crate::protocol::objects::base64::{Base64, Base64Error};
pub use crate::protocol::objects::completion::ReferenceView;
pub use crate::protocol::objects::prompt::{Prompt, PromptArgument};
pub use crate::protocol::objects::prompt_result::Messages;
pub use crate::protocol::objects::resource::{Resource, ResourceTemplate};
pub use crate::protocol::objects::resource_contents::Contents;
pub use crate::protocol::objects::skill::{Skill, SkillFile};
pub use crate::protocol::objects::tool::Tool;
pub use crate::protocol::objects::tool_result::ToolResult;
pub use crate::protocol::uri_template::{Matches, Variable};
pub use crate::server::config::{Limits, SecondInitialize, ServerConfig, UnknownVersion};
pub use crate::server::event::Event;
pub use crate::server::feature::{Change, Feature};
pub use crate::server::features::completion::{Complete, Completion};
pub use crate::server::features::dynamic_list::{ListPrompts, ListResources, ListTemplates, ListTools};
pub use crate::server::features::extension_request::ExtensionRequest;
pub use crate::server::features::extensions::{Experimental, Extensions};
pub use crate::server::features::get_prompt::GetPrompt;
pub use crate::server::features::logging::Logging;
pub use crate::server::features::prompts::Prompts;
pub use crate::server::features::read_resource::ReadResource;
pub use crate::server::features::resources::Resources;
pub use crate::server::features::skills::Skills;
pub use crate::server::features::subscriptions::Subscriptions;
pub use crate::server::features::subscriptions::authorized::{AuthorizedSubscriptions, SubscriptionRequest};
pub use crate::server::features::subscriptions::notify::Listening;
pub use crate::server::features::tasks::Tasks;
pub use crate::server::features::tools::Tools;
pub use crate::server::input_requests::{InputHandler, InputRequests};
pub use crate::server::reply::Reply;
#[cfg(feature = "alloc")]
pub use crate::server::response_status::ResponseStatus;
#[cfg(feature = "derive")]
pub use crate::server::router::deferred::{FromRequest, HostContext, RunAsync, RunBlocking};
#[cfg(all(feature = "derive", feature = "alloc"))]
pub use crate::server::router::failure::Failure;
#[cfg(feature = "derive")]
pub use crate::server::router::failure::HandlerError;
#[cfg(feature = "derive")]
pub use crate::server::router::into_prompt_result::{IntoPromptResult, PromptMessages};
#[cfg(feature = "derive")]
pub use crate::server::router::into_resource_result::{IntoResourceResult, WrittenJson};
#[cfg(feature = "derive")]
pub use crate::server::router::into_tool_result::{Content, IntoToolResult, Structured};
#[cfg(feature = "derive")]
#[doc(hidden)]
pub use crate::server::router::routes;
#[cfg(feature = "derive")]
pub use crate::server::router::{CompletionHandler, PromptHandler, ResourceHandler, Router, ToolHandler};
pub use crate::server::session::Session;
pub use crate::server::tasks::{
    Task, TaskInput, TaskOptions, TaskOutcome, TaskResult, TaskSlot, TaskTable, TaskTicket,
};

use crate::error::SendError;
use crate::framing::LineDecoder;
use crate::json::{Json, ScanError};
use crate::machine::{Action, Machine, PollStep, sealed};
use crate::peer::lifecycle::{State, Trigger};
use crate::peer::request::Request;
use crate::peer::slots::Ticket;
use crate::protocol::revision::Revision;
use crate::rpc::Message;
use crate::server::request_context::Context;
use crate::server::server_state::ServerState;
use crate::server::session::OutboundSession;
use crate::server::tasks::access::TaskAccess;
use crate::time::Millis;

/// Storage for one request in flight.
///
/// A slot holds a deferred request, a request with a chunked response, a subscription of the stateless era, or a request
/// that the server sent.
///
/// The caller lends an array: `[Slot::EMPTY; 4]`.
pub type Slot = crate::peer::slots::Slot<Request<Context, OutboundSession>>;

/// The server side of one connection.
///
/// The caller polls the server, performs the returned [`Action`], and polls again. The caller lends the buffers. With
/// the feature `alloc`, the server can also own buffers that grow up to a limit.
///
/// ```
/// use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
/// use mcp_proto::{Action, Millis, Next, Server};
///
/// static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
///
/// let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
/// let mut server = Server::new(&CONFIG, &mut rx, &mut tx)?;
/// # let mut wire = (&br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..], Vec::new());
/// # let (input, output) = (&mut wire.0, &mut wire.1);
/// # use std::io::{Read, Write};
/// loop {
///     match server.poll(Millis(0)) {
///         Action::Io(io) => match io.next() {
///             Next::Write(out) => { let n = output.write(out.bytes())?; out.sent(n) }
///             Next::Read(mut space) => match input.read(space.space())? {
///                 0 => space.eof(),
///                 n => space.filled(n),
///             },
///             Next::Wait => {}
///         },
///         Action::Event => match server.event() {
///             Some(Event::Call(call)) => call.text("Hello!"),
///             _ => {}
///         },
///         Action::Closed => break,
///     }
/// }
/// # assert!(output.ends_with(b"\"result\":{}}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server<'b> {
    input: LineDecoder<'b>,
    state: TaskAccess<'b>,
}

/// The phase of the end of a connection. In phase `Open`, the end has not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Open,
    /// The input has ended, and a line waits for transmit space. Whenever the client reads output, the grace period
    /// restarts. When the period expires, the server drops the connection. Exception: if the client has read all output
    /// by then, the server only ends the chunked response that blocks the line.
    InputEnded,
    /// The application may still respond to requests in flight.
    Grace,
    /// The grace period has expired. The server drops the connection if the client reads no output for one more grace
    /// period.
    Flushing,
}

impl Server<'_> {
    /// Advances the server and returns the next action: see [`Machine::poll`].
    #[inline]
    pub fn poll(&mut self, now: Millis) -> Action<'_> {
        self.poll_step(now).into_action(&mut self.state.peer.output, &mut self.input)
    }

    #[inline(never)]
    fn poll_step(&mut self, now: Millis) -> PollStep {
        self.state.peer.now = self.state.peer.now.max(now);
        self.finish_event();
        let step = self.poll_inner();
        let PollStep::Io(deadline) = step else { return step };
        #[cfg(feature = "alloc")]
        let deadline = self.state.peer.shrink_buffers(&mut self.input, deadline);
        if self.input.is_full_after_move() && self.handle_full_buffer() {
            return PollStep::Event;
        }
        PollStep::Io(deadline)
    }

    /// Returns the earliest time at which a request, a task, a ping or the end of the connection times out, a ping is
    /// due, or a call becomes a task. Returns `None` if there is no such time. A time that has passed does not count,
    /// even if its action waits for space in the output.
    ///
    /// For the time of the next poll, use [`Io::deadline`](crate::Io::deadline), which is earlier if a growing buffer
    /// is to shrink.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        let state = &self.state;
        let has_timers = state.peer.in_flight.len() > 0
            || state.ending != Ending::Open
            || state.keep_alive_hooks.is_some()
            || state.tasks.is_some();
        if has_timers { self.earliest_deadline() } else { None }
    }

    #[inline(never)]
    fn earliest_deadline(&self) -> Option<Millis> {
        let state = &self.state;
        let ending = Some(state.ending_deadline).filter(|_| state.ending != Ending::Open);
        let keep_alive = state.keep_alive_hooks.and_then(|hooks| (hooks.deadline)(state));
        let keep_alive = match state.task_hooks() {
            Some(hooks) => (hooks.earliest_deadline)(state, keep_alive),
            None => keep_alive,
        };
        state.peer.next_deadline([state.in_flight_deadline(), ending, keep_alive])
    }

    /// Parses a message for [`Receive::parsed`](crate::Receive::parsed).
    ///
    /// The result is that of [`Message::parse`]. On 64-bit processors, the method is faster than [`Message::parse`] if
    /// the message repeats the `_meta` of the last request. Most clients repeat their `_meta`.
    ///
    /// # Errors
    /// [`ScanError`] in the same cases as [`Message::parse`].
    pub fn parse<'m>(&self, message: &'m [u8]) -> Result<Message<'m>, ScanError> {
        Message::parse_with(self.state.request_cache.meta(), message)
    }

    /// Reads the metadata of a request of `2026-07-28`, which is the member `_meta` of its parameters. Returns `None` if
    /// the member with the revision is missing or `null`.
    ///
    /// Call this method to check a request before the server receives it. Like [`parse`](Server::parse), the method is
    /// faster if `meta` repeats the `_meta` of the last request.
    #[must_use]
    pub fn request_meta(&self, meta: Json<'_>) -> Option<RequestMeta> {
        self.state.request_cache.stored(meta).unwrap_or_else(|| RequestMeta::from_json(meta))
    }

    /// Returns the handle that responds to a deferred request.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has ended, or is not deferred. [`SendError::Busy`]: the transmit buffer has no
    /// space for a response, or the space is reserved for other messages. [`Event::Writable`] reports when the buffer
    /// has space.
    #[inline(never)]
    pub fn reply(&mut self, ticket: Ticket) -> Result<Reply<'_>, SendError> {
        let inbound = self.state.peer.in_flight.inbound(ticket).filter(|inbound| inbound.is_open());
        let Some(inbound) = inbound else {
            let hooks = self.state.task_hooks().ok_or(SendError::Gone)?;
            return (hooks.reply)(&mut self.state, ticket);
        };
        let pending = reply::Pending::in_slot(ticket, inbound);
        self.state.ensure_response_space()?;
        let config = self.state.config;
        Ok(Reply { state: &mut *self.state, config, pending })
    }

    /// Reports to the client that a list or a resource has changed.
    ///
    /// The method cannot fail: the server sends the notification as soon as the transmit buffer has space. Until then,
    /// the server combines repeated changes into one notification.
    ///
    /// After the handshake, the server notifies the client of a changed list if the feature with this list declared
    /// `listChanged`. With [`Subscriptions`] or [`AuthorizedSubscriptions`], the server also notifies every
    /// subscription to that list or resource. A change has no effect while the connection ends.
    pub fn changed(&mut self, change: Change<'_>) {
        self.state.record_change(change);
    }

    /// Returns whether a feature declared `listChanged` for the changed list. Returns `false` for a single resource.
    ///
    /// An adapter with several sessions calls this method before it sends a notification itself.
    #[must_use]
    pub fn declares_change(&self, change: Change<'_>) -> bool {
        self.state.config.declared_lists().any(change.list())
    }

    /// Returns whether a session or a subscription gets the changes of the resource with this URI.
    ///
    /// After [`Event::Unsubscribed`], or when a subscription ends, an application can stop observing a file if this
    /// method returns `false`.
    #[must_use]
    pub fn is_watched(&self, uri: &str) -> bool {
        let ServerState { registry, peer, .. } = &*self.state;
        registry.resources().any(|entry| entry.uri == uri && entry.owner.is_active(&peer.in_flight))
    }

    /// Ends a subscription of the stateless era.
    ///
    /// As soon as there is transmit space, the server sends the pending notifications and then the response to
    /// `subscriptions/listen`. Except in [message mode](Server::message_mode), `notifications/cancelled` follows.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the subscription has ended, or the ticket does not belong to a subscription.
    pub fn end_subscription(&mut self, ticket: Ticket) -> Result<(), SendError> {
        self.state.end_subscription(ticket)
    }

    /// Frees the unused memory of a grown receive buffer and a grown transmit buffer.
    ///
    /// A buffer that has grown beyond 16 KiB also shrinks without this call: after many small messages, and after five
    /// idle seconds.
    pub fn trim(&mut self) {
        self.input.trim();
        self.state.peer.output.trim();
    }

    /// Returns the number of the client's requests that take a slot.
    ///
    /// This number includes deferred requests, open chunked responses, subscriptions of the stateless era, and expired
    /// requests whose error response is unsent.
    #[must_use]
    pub fn deferred(&self) -> usize {
        self.state.peer.in_flight.inbound_requests().count()
    }

    /// Returns the number of late notifications: cancellations that match no request in flight, and progress of
    /// requests that have ended. Late responses are not counted.
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

    /// Returns the revision that the handshake negotiated, or `None` before a handshake.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.state.peer.session.map(|session| session.revision)
    }

    /// Ends the connection.
    ///
    /// Until the grace period expires, the application may respond to requests in flight, and the client may cancel
    /// requests. The server refuses new requests.
    pub fn shutdown(&mut self, now: Millis) {
        self.state.peer.now = self.state.peer.now.max(now);
        self.state.peer.lifecycle.apply(Trigger::Shutdown);
        self.state.awaits_exit = false;
    }

    /// Ends the connection like [`shutdown`](Server::shutdown). `deadline` replaces the end of the grace period.
    ///
    /// The server responds with an error to deferred requests that are still in flight at the deadline.
    pub fn shutdown_by(&mut self, now: Millis, deadline: Millis) {
        self.shutdown(now);
        if let Some(hooks) = self.state.outbound_hooks() {
            (hooks.end_all)(&mut self.state, false);
        }
        (self.state.ending, self.state.ending_deadline) = (Ending::Grace, deadline);
    }

    /// Starts a new connection on the same buffers.
    ///
    /// The server drops the session, the requests in flight, buffered input and unsent output. The server also removes
    /// tasks, unless the table [keeps](TaskTable::keep_on_reset) tasks. Tickets of the old connection are no longer
    /// valid, except for the tickets of kept tasks. [Requests](Server::request) that the server sent end without an
    /// event.
    pub fn reset(&mut self) {
        self.input.reset();
        self.state.reset();
    }
}

/// Memory budget of a server and four slots on a small board. The budget excludes the text of the slots
/// (`docs/footprint.md`).
#[cfg(all(target_os = "none", target_pointer_width = "32", not(feature = "alloc")))]
const _: () = assert!(size_of::<Server<'_>>() + 4 * size_of::<Slot>() <= 512, "a server exceeds the budget");

impl Machine for Server<'_> {
    fn poll(&mut self, now: Millis) -> Action<'_> {
        Server::poll(self, now)
    }
}

impl sealed::Sealed for Server<'_> {}

impl ::core::fmt::Debug for Server<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("Server")
            .field("state", &self.state())
            .field("deferred", &self.deferred())
            .finish_non_exhaustive()
    }
}
