//! Functions as handlers: a router on threads, and the parameters of its functions.
//!
//! The attributes [`tool`](macro@mcp_proto::tool), [`prompt`](macro@mcp_proto::prompt),
//! [`resource`](macro@mcp_proto::resource) and [`complete`](macro@mcp_proto::complete) make a function a handler, and
//! [`router!`](mcp_proto::router) lists functions. [`route`] passes events to these functions:
//!
//! ```no_run
//! use std::thread::sleep;
//! use std::time::Duration;
//!
//! use mcp_proto_std::handler::Progress;
//! use mcp_proto_std::server::ServerConfig;
//! use mcp_proto_std::{Router, ServeError, ToolArguments, route, router, serve, tool};
//!
//! struct Kitchen {
//!     minutes_per_cup: u32,
//! }
//!
//! #[derive(ToolArguments)]
//! struct Brew {
//!     #[tool(range = 1..=10)]
//!     cups: u32,
//! }
//!
//! /// Brews tea.
//! #[tool]
//! fn brew(kitchen: &Kitchen, Brew { cups }: Brew, progress: Progress) -> String {
//!     for cup in 0..cups {
//!         progress.report(cup, Some(cups.into()), "brewing");
//!         sleep(Duration::from_secs(60) * kitchen.minutes_per_cup);
//!     }
//!     format!("{cups} cups of tea")
//! }
//!
//! static ROUTER: Router<Kitchen> = router![brew];
//! static CONFIG: ServerConfig = ServerConfig::new("kitchen", "1.0.0").features(ROUTER.features());
//!
//! fn main() -> Result<(), ServeError> {
//!     serve(&CONFIG, route(&ROUTER, Kitchen { minutes_per_cup: 3 }))
//! }
//! ```
//!
//! # Where a function runs
//!
//! | function | runs |
//! |---|---|
//! | `fn` | immediately, on the thread that handles the event: for functions that only compute |
//! | `fn` with the item `blocking`, as in `#[tool(blocking)]`, or a parameter of the table below | on a worker thread |
//!
//! A function of the first row also works in a router of the core on a board, and in a router on tokio. Exception: a
//! function with a parameter `ServerHandle` works only in a router of the crate that this `ServerHandle` comes from.
//!
//! Functions share the state: `&self` or `&T`. Use a `Mutex` or an atomic type for state that changes. A function that
//! does not run immediately must own its arguments and its result: `String`, not `&str`. Exceptions are the variables
//! of a resource URI and the text to complete, which may be `&str`. An `async fn` needs `mcp_proto_tokio`.
//!
//! Over HTTP or on a worker thread, a panic of a function fails only its request (-32603). Any other panic ends the
//! connection: `serve` panics, too, and `Serve::listen` continues with the other connections.
//!
//! # Parameters
//!
//! | type | what it does |
//! |---|---|
//! | [`Progress`] | reports progress |
//! | [`Ask`] | requests input from the client: a form, a URL, a model's message, the roots; not for completions |
//! | [`Log`] | sends log messages |
//! | [`Cancellation`] | observes the cancellation of the request |
//! | [`ClientDetails`] | holds the revision, the capabilities of the client, and the user of the request |
//!
//! The attributes recognize these types, and `ServerHandle`, by their names, so do not rename them in an import.
//!
//! A parameter `ServerHandle` or `&ServerHandle` is the handle of the server, for changes and other messages that
//! belong to no request. This parameter does not change where a function runs.
//!
//! ```
//! use std::sync::atomic::{AtomicU8, Ordering};
//!
//! use mcp_proto_std::server::{Change, Resources, ServerConfig, Subscriptions};
//! use mcp_proto_std::{Router, ServerHandle, ToolArguments, resource, router, tool};
//!
//! struct Lamp {
//!     brightness: AtomicU8,
//! }
//!
//! #[derive(ToolArguments)]
//! struct Dim {
//!     to: u8,
//! }
//!
//! #[resource("lamp://brightness")]
//! fn brightness(lamp: &Lamp) -> u8 {
//!     lamp.brightness.load(Ordering::Relaxed)
//! }
//!
//! /// Dims the lamp.
//! #[tool(idempotent)]
//! fn dim(lamp: &Lamp, Dim { to }: Dim, server: &ServerHandle) {
//!     lamp.brightness.store(to, Ordering::Relaxed);
//!     server.changed(Change::Resource("lamp://brightness"));
//! }
//!
//! static ROUTER: Router<Lamp> = router![brightness, dim];
//! static RESOURCES: Resources = ROUTER.resources().subscribe();
//! static CONFIG: ServerConfig =
//!     ServerConfig::new("lamp", "1.0.0").features(&[ROUTER.tools(), &RESOURCES, &Subscriptions]);
//! ```
//!
//! [`Serve::on_start`](crate::Serve::on_start) passes the handle to code outside of requests, such as a thread that
//! watches a file.

use std::fmt::Display;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{FromRequest, Reply, RunBlocking};
use mcp_proto::{ClientCapabilities, Decimal, Level};
pub use mcp_proto_handles::Cancellation;
use mcp_proto_handles::handler::{self, HandledRequest};
pub use mcp_proto_handles::handler::{ClientDetails, HandlerRequest, route};
use mcp_proto_handles::{ClientResponse, RequestError, block_on};

use crate::worker::ServerHandle;

/// The context of a router on threads: the state, and the handle of the server.
pub type Context<S> = handler::Context<S, ServerHandle>;

/// A static router on threads, for the state `S`: the argument of [`route`].
///
/// An alias of the core's [`Router`](mcp_proto::server::Router). Functions share the state, so they take `&S`.
pub type Router<S> = mcp_proto::server::Router<'static, Context<S>>;

impl<Q: HandledRequest> RunBlocking<Q, HandlerRequest> for ServerHandle {
    fn run_blocking<T: FnOnce(Reply<'_>, ClientCapabilities) + Send + 'static>(
        &self,
        request: Q,
        handler: impl FnOnce(&HandlerRequest) -> T + Send + 'static,
    ) {
        let input = request.received_input();
        self.run(request, move |responder| {
            let responder = responder.into_inner();
            let request = HandlerRequest::new(&responder, input);
            let respond = handler(&request);
            request.respond(responder, respond);
        });
    }
}

/// Reports the progress of a request.
#[derive(Debug, Clone)]
pub struct Progress {
    inner: handler::Progress,
}

impl Progress {
    /// Sends a progress notification, if the client requested progress.
    ///
    /// `done` must increase with each call; `message` may be empty. May wait while the client does not read.
    pub fn report(&self, done: impl Into<Decimal>, total: Option<Decimal>, message: impl Display) {
        block_on(self.inner.report(done, total, message));
    }
}

/// Sends log messages that belong to a request.
#[derive(Debug, Clone)]
pub struct Log {
    inner: handler::Log,
}

impl Log {
    /// Sends a log message.
    ///
    /// Sends nothing if the client does not receive messages of this level, or if the server's configuration lacks the
    /// feature [`Logging`](mcp_proto::server::Logging). May wait while the client does not read.
    pub fn send(&self, level: Level, text: impl Display) {
        block_on(self.inner.send(level, text));
    }
}

/// Requests input from the client: a form, a URL, a model's message, or the roots.
///
/// In the handshake era, the server sends a request, and the handler waits for the response.
///
/// In `2026-07-28`, a server sends no requests. If the input is not known yet, [`request`](Ask::request) returns
/// [`RequestError::InputRequired`], and the handler must return. The handler's result is not used, because the server's
/// response requests the input. The client sends the request again with the input, and the handler runs **again from
/// its beginning**. In the new run, `request` returns the known input immediately. So request input before the handler
/// changes anything, and in the same order in each run.
///
/// The server does not store the input between two runs: the client sends all earlier input again, in the member
/// `requestState` of the request. So this input is as untrusted as any response of a client.
///
/// If the client did not declare the capability for the input, [`request`](Ask::request) returns
/// [`RequestError::MissingCapability`]. The handler may continue without the input. If the handler fails with the text
/// of this error instead, for example with `?`, the response in `2026-07-28` is the error -32021, which names the
/// capability.
///
/// ```
/// use mcp_proto_std::handler::Ask;
/// use mcp_proto_std::input::{Field, Form};
/// use mcp_proto_std::server::Failure;
/// use mcp_proto_std::tool;
///
/// /// Greets the user.
/// #[tool]
/// fn greet(ask: Ask) -> Result<String, Failure> {
///     let answer = ask.request(&Form::new("Who are you?", &[Field::text("name").required()]))?;
///     let name = answer.elicited().and_then(|form| form.field("name")?.string());
///     Ok(name.map_or("Hello!".into(), |name| format!("Hello, {name}!")))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Ask {
    inner: handler::Ask,
}

impl Ask {
    /// Requests input, and in the handshake era waits for the response. The timeout of the wait is
    /// [`Limits::request_timeout`](mcp_proto::server::Limits::request_timeout) of the server.
    ///
    /// # Errors
    /// See [`RequestError`]. After [`RequestError::InputRequired`], the handler must return, for example with `?`.
    pub fn request(&self, input: &dyn Input) -> Result<ClientResponse, RequestError> {
        block_on(self.inner.request(input))
    }

    /// Like [`request`](Ask::request) with a timeout of `time`. In `2026-07-28` there is no timeout.
    ///
    /// # Errors
    /// See [`request`](Ask::request).
    pub fn request_within(&self, time: Duration, input: &dyn Input) -> Result<ClientResponse, RequestError> {
        block_on(self.inner.request_within(time, input))
    }
}

macro_rules! from_request {
    ($($parameter:ident)*) => {$(
        impl FromRequest<HandlerRequest> for $parameter {
            fn from_request(request: &HandlerRequest) -> $parameter {
                $parameter { inner: handler::$parameter::from_request(request) }
            }
        }
    )*};
}

from_request!(Ask Log Progress);
