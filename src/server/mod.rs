//! The server side of one connection, in both eras.
//!
//! A [`ServerConfig`] says who the server is and what it offers: a list of features, each of which brings its methods, its
//! events and its part of the declaration. What is not in the list is not linked.
//!
//! | feature | what the host hears | the answer |
//! |---|---|---|
//! | [`Tools`] | [`Event::Call`], [`Event::ListTools`] | [`Call::text`], [`content`](Call::content), [`fail`](Call::fail), … |
//! | [`Resources`] | [`Event::ReadResource`], [`Event::ListResources`], [`Event::ListTemplates`] | [`ReadResource::text`], [`blob`](ReadResource::blob), … |
//! | [`Prompts`] | [`Event::GetPrompt`], [`Event::ListPrompts`] | [`GetPrompt::messages`] |
//! | [`Completion`], for prompts and resources | [`Event::Complete`] | [`Complete::values`] |
//! | [`Logging`] | nothing: the level is the machine's | [`Server::log`], [`Call::log`] |
//! | [`Subscriptions`] | [`Event::Listening`], [`Event::Subscribed`] | [`Server::changed`] |
//!
//! A catalogue that is a `static` is listed by the machine; a `List…` event only comes for a list of the host's own.
//! Every answer consumes its event's token and cannot fail. What takes long is deferred: [`Call::defer`] gives a ticket, and
//! [`Server::reply`] answers later, while [`Event::Cancelled`] and [`Event::Expired`] say that nobody waits any more.
//!
//! A server may ask its client, too: what is in [`input`](crate::input), with [`Server::request`] in the handshake era
//! ([`Event::Response`] is what came of it), with [`Call::require_input`] in `2026-07-28`.
//!
//! Types of the protocol have their own names wherever they are: here and in the root of the crate they are built and
//! written, in [`client`](crate::client) they are read.

#[cfg(feature = "serde")]
mod arguments;
mod batch;
mod call;
mod change_set;
mod compat;
mod config;
mod dispatch;
mod event;
mod feature;
pub(crate) mod features;
mod handshake;
mod inbound_request;
mod input_required;
mod keep_alive;
mod min_buffer_size;
mod outbound_requests;
mod pending_event;
mod poll;
mod reply;
mod request;
mod requests;
mod server_state;
mod setup;
mod write_message;

pub use crate::server::call::{Call, Connected};
pub use crate::server::requests::{RequestOptions, Response};

pub use crate::client::Progress;
pub use crate::protocol::resource::{Resource, Template};
pub use crate::protocol::uri_template::{Matches, Variable};
pub use crate::server::config::{Limits, SecondInitialize, ServerConfig, UnknownVersion};
pub use crate::server::event::Event;
pub use crate::server::feature::{Change, Feature};
pub use crate::server::features::completion::{Complete, Completion, Reference};
pub use crate::server::features::dynamic_list::{ListPrompts, ListResources, ListTemplates, ListTools};
pub use crate::server::features::extensions::{Experimental, Extensions};
pub use crate::server::features::get_prompt::{GetPrompt, Messages};
pub use crate::server::features::logging::Logging;
pub use crate::server::features::prompts::{Argument, Prompt, Prompts};
pub use crate::server::features::read_resource::{Contents, ReadResource};
pub use crate::server::features::resources::Resources;
pub use crate::server::features::subscriptions::Subscriptions;
pub use crate::server::features::subscriptions::notify::Listening;
pub use crate::server::features::tool_result::ToolResult;
pub use crate::server::features::tools::{Tool, Tools};
pub use crate::server::inbound_request::InboundRequest;
pub use crate::server::reply::Reply;

use crate::error::SendError;
use crate::framing::LineDecoder;
use crate::machine::{Action, Io, Machine, Receive, sealed};
use crate::peer::lifecycle::{State, Trigger};
use crate::peer::slots::Ticket;
use crate::protocol::revision::Revision;
use crate::server::pending_event::PendingEvent;
use crate::server::poll::PollStep;
use crate::server::reply::Source;
use crate::server::server_state::ServerState;
use crate::time::Millis;

/// Room for one request in flight: one that is answered later, or one of the server's own. Lend an array:
/// `[Slot::EMPTY; 4]`.
pub type Slot = crate::peer::slots::Slot<InboundRequest>;

/// The server side of one connection.
///
/// Poll it, do what the [`Action`] says, and poll again. It works on buffers that the host lends or, with `alloc`, on
/// ones that grow to a limit.
///
/// ```
/// use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
/// use mcp_proto::{Action, Millis, Next, Server};
///
/// static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// static INFO: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
///
/// let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
/// let mut server = Server::new(&INFO, &mut rx, &mut tx)?;
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
    core: ServerState<'b>,
}

/// How far a connection is that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    NotYet,
    /// The input has ended, and a line still waits for room. The client is given up if it does not read.
    Waits,
    /// What is in flight may still be finished.
    Grace,
    /// The grace is over. The client is given up if it does not read the last answers.
    Late,
}

impl Server<'_> {
    /// What is needed next: see [`Machine::poll`].
    #[inline(never)]
    pub fn poll(&mut self, now: Millis) -> Action<'_> {
        self.core.now = self.core.now.max(now);
        self.finish_event();
        let deadline = match self.poll_inner() {
            PollStep::Event => return Action::Event,
            PollStep::Closed => return Action::Closed,
            PollStep::Io(deadline) => deadline,
        };
        self.input.make_room();
        Action::Io(Io::new(self.core.output.transmit(), Receive::new(&mut self.input), deadline))
    }

    /// When to poll again even if nothing has moved.
    fn deadline(&self) -> Option<Millis> {
        let (core, mut next) = (&self.core, None);
        // What is due and was not done waits for room, and not for a time: a host must not be woken for it.
        let mut sooner = |at: Option<Millis>| {
            if let Some(at) = at
                && at > core.now
                && next.is_none_or(|next| at < next)
            {
                next = Some(at);
            }
        };
        sooner(core.in_flight.next_deadline());
        sooner(Some(core.ends).filter(|_| core.ending != Ending::NotYet));
        sooner(core.pinging.and_then(|pinging| pinging.deadline(core)));
        next
    }

    /// The right to answer a deferred request, now.
    ///
    /// # Errors
    /// [`SendError::Gone`]: it was answered, cancelled, took too long, or its connection is over. [`SendError::Busy`]: there
    /// is no room for an answer yet; [`Event::Writable`] says when there is.
    #[inline(never)]
    pub fn reply(&mut self, ticket: Ticket) -> Result<Reply<'_>, SendError> {
        let incoming = self.core.in_flight.get(ticket).filter(|incoming| incoming.is_open());
        let context = incoming.ok_or(SendError::Gone)?.context();
        self.take_room()?;
        let info = self.core.info;
        let pending = reply::Pending { source: Source::Slot(ticket), context };
        Ok(Reply { machine: &mut self.core, info, pending })
    }

    /// Says that a list or a resource has changed. This cannot fail: whoever wants to hear of it is told as soon as there
    /// is room, once for any number of changes until then.
    ///
    /// That is the client of a complete handshake, if the feature declared that its list can change; and with
    /// [`Subscriptions`], everybody who listens to that list or watches that resource.
    pub fn changed(&mut self, change: Change<'_>) {
        self.core.set_changed(change);
    }

    /// Whether anybody watches the resource with this URI. A host that watches a file for its clients asks when it hears
    /// [`Event::Unsubscribed`], or that a subscription has ended.
    #[must_use]
    pub fn is_watched(&self, uri: &str) -> bool {
        let ServerState { watches, in_flight, .. } = &self.core;
        watches.iter().any(|watch| watch.uri == uri && watch.owner.lives(in_flight))
    }

    /// Ends a subscription of the stateless era: when there is room, the client gets what it was not told yet, and then
    /// the answer to its `subscriptions/listen`. On a transport with one channel `notifications/cancelled` follows it.
    ///
    /// # Errors
    /// [`SendError::Gone`]: it has ended, or is no subscription.
    pub fn end_subscription(&mut self, ticket: Ticket) -> Result<(), SendError> {
        self.core.end_subscription(ticket)
    }

    /// Makes sure that a whole answer has room. A request that is handed out, or about to be, was promised it before;
    /// and what the machine itself has to answer or to report comes first.
    fn take_room(&mut self) -> Result<(), SendError> {
        let waits = self.core.fault.is_some() || self.core.in_flight.first_queued().is_some();
        let waits = waits || self.core.batches.in_line() || self.core.batch_is_complete();
        if self.owes() || waits || !self.core.has_room() {
            self.core.wants_room = true;
            return Err(SendError::Busy);
        }
        Ok(())
    }

    /// Whether a request waits for its answer that is handed out, or about to be.
    fn owes(&self) -> bool {
        self.core.owed || matches!(self.core.plan, Some(PendingEvent::Request { .. }))
    }

    /// How many requests are in flight: those that are deferred, and subscriptions of the stateless era.
    #[must_use]
    pub fn deferred(&self) -> usize {
        self.core.in_flight.len().saturating_sub(self.core.ours.into())
    }

    /// Where the connection is.
    #[must_use]
    pub fn state(&self) -> State {
        self.core.life.state()
    }

    /// The revision of the handshake, if there was one.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.core.session.map(|session| session.revision)
    }

    /// Ends the connection: what is in flight may be answered for as long as the grace lasts, and may still be cancelled;
    /// new requests are refused.
    pub fn shutdown(&mut self, now: Millis) {
        self.core.now = self.core.now.max(now);
        self.core.life.step(Trigger::Shutdown);
        self.core.awaits_exit = false;
    }

    /// The same with a time of the host's in place of the grace: what is in flight then is answered with an error.
    pub fn shutdown_by(&mut self, now: Millis, deadline: Millis) {
        self.shutdown(now);
        if let Some(asking) = self.core.asking {
            asking.end(&mut self.core, false);
        }
        (self.core.ending, self.core.ends) = (Ending::Grace, deadline);
    }

    /// A new connection on the same buffers: everything of the old one is forgotten, unsent output too, and its
    /// tickets stay refused. Of what was [asked](Server::request) nothing more is heard.
    pub fn reset(&mut self) {
        self.input.reset();
        self.core.reset();
    }
}

/// The budget of a small board: a server and room for four requests in flight, without their text (`docs/footprint.md`).
#[cfg(all(target_os = "none", target_pointer_width = "32", not(feature = "alloc")))]
const _: () = assert!(size_of::<Server<'_>>() + 4 * size_of::<Slot>() <= 512, "a server takes more memory");

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
