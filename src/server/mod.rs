//! The server side of one connection, in both eras.
//!
//! A [`ServerInfo`] says who the server is and what it offers: a list of features, each of which brings its methods, its
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
//! A server may ask its client, too: what is in [`input`](crate::input), with [`Server::ask`] in the handshake era
//! ([`Event::Answered`] is what came of it), with [`Call::needs_input`] in `2026-07-28`.
//!
//! Types of the protocol have their own names wherever they are: here and in the root of the crate they are built and
//! written, in [`client`](crate::client) they are read.

mod advance;
#[cfg(feature = "serde")]
mod arguments;
mod ask;
mod asking;
mod batch;
mod call;
mod catalogue;
mod change;
mod completion;
mod core;
mod dispatch;
mod event;
mod extensions;
mod feature;
mod get;
mod handshake;
mod incoming;
mod info;
mod list;
mod listen;
mod logging;
mod measure;
mod page;
mod pings;
mod plan;
mod prompts;
mod read;
mod reply;
mod request;
mod resources;
mod round;
mod setup;
mod subscriptions;
mod tolerance;
mod tool_result;
mod tools;
mod watch;
mod write;

pub use self::ask::{Answered, Ask};
pub use self::call::{Call, Connected};

pub use self::completion::{Complete, Completion, Reference};
pub use self::event::Event;
pub use self::extensions::{Experimental, Extensions};
pub use self::feature::{Change, Feature};
pub use self::get::{GetPrompt, Messages};
pub use self::incoming::Incoming;
pub use self::info::{Limits, SecondInitialize, ServerInfo, UnknownVersion};
pub use self::list::{ListPrompts, ListResources, ListTemplates, ListTools};
pub use self::listen::Listening;
pub use self::logging::Logging;
pub use self::prompts::{Argument, Prompt, Prompts};
pub use self::read::{Contents, ReadResource};
pub use self::reply::Reply;
pub use self::resources::Resources;
pub use self::subscriptions::Subscriptions;
pub use self::tool_result::ToolResult;
pub use self::tools::{Tool, Tools};
pub use crate::client::Progress;
pub use crate::types::resource::{Resource, Template};
pub use crate::types::template::{Matches, Variable};

use self::advance::Rest;
use self::core::Core;
use self::plan::Plan;
use self::reply::Source;
use crate::fault::NotNow;
use crate::inflight::Ticket;
use crate::lifecycle::{State, Trigger};
use crate::line::Input;
use crate::machine::{Action, Io, Machine, Receive, sealed};
use crate::time::Millis;
use crate::version::Revision;

/// Room for one request in flight: one that is answered later, or one of the server's own. Lend an array:
/// `[Slot::EMPTY; 4]`.
pub type Slot = crate::inflight::Slot<Incoming>;

/// The server side of one connection.
///
/// Poll it, do what the [`Action`] says, and poll again. It works on buffers that the host lends or, with `alloc`, on
/// ones that grow to a limit.
///
/// ```
/// use mcp_proto::server::{Event, ServerInfo, Tool, Tools};
/// use mcp_proto::{Action, Millis, Next, Server};
///
/// static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// static INFO: ServerInfo = ServerInfo::new("example", "1.0.0").features(&[&TOOLS]);
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
    input: Input<'b>,
    core: Core<'b>,
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
        let deadline = match self.go_on() {
            Rest::Event => return Action::Event,
            Rest::Closed => return Action::Closed,
            Rest::Io(deadline) => deadline,
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
    /// [`NotNow::Gone`]: it was answered, cancelled, took too long, or its connection is over. [`NotNow::Busy`]: there
    /// is no room for an answer yet; [`Event::Room`] says when there is.
    #[inline(never)]
    pub fn reply(&mut self, ticket: Ticket) -> Result<Reply<'_>, NotNow> {
        let incoming = self.core.in_flight.get(ticket).filter(|incoming| incoming.is_open());
        let context = incoming.ok_or(NotNow::Gone)?.context();
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
        let Core { watches, in_flight, .. } = &self.core;
        watches.iter().any(|watch| watch.uri == uri && watch.owner.lives(in_flight))
    }

    /// Ends a subscription of the stateless era: when there is room, the client gets what it was not told yet, and then
    /// the answer to its `subscriptions/listen`. On a transport with one channel `notifications/cancelled` follows it.
    ///
    /// # Errors
    /// [`NotNow::Gone`]: it has ended, or is no subscription.
    pub fn end_subscription(&mut self, ticket: Ticket) -> Result<(), NotNow> {
        self.core.end_subscription(ticket)
    }

    /// Makes sure that a whole answer has room. A request that is handed out, or about to be, was promised it before;
    /// and what the machine itself has to answer or to report comes first.
    fn take_room(&mut self) -> Result<(), NotNow> {
        let waits = self.core.fault.is_some() || self.core.in_flight.first_queued().is_some();
        let waits = waits || self.core.batches.in_line() || self.core.batch_is_complete();
        if self.owes() || waits || !self.core.has_room() {
            self.core.wants_room = true;
            return Err(NotNow::Busy);
        }
        Ok(())
    }

    /// Whether a request waits for its answer that is handed out, or about to be.
    fn owes(&self) -> bool {
        self.core.owed || matches!(self.core.plan, Some(Plan::Request { .. }))
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
    /// tickets stay refused. Of what was [asked](Server::ask) nothing more is heard.
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
