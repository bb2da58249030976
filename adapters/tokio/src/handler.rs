//! Functions as handlers: a router on tokio, and the parameters of its functions.
//!
//! The attributes [`tool`](macro@mcp_proto::tool), [`prompt`](macro@mcp_proto::prompt),
//! [`resource`](macro@mcp_proto::resource) and [`complete`](macro@mcp_proto::complete) make a function a handler, and
//! [`router!`](mcp_proto::router) lists functions. [`route`] passes events to these functions:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use mcp_proto_tokio::handler::Progress;
//! use mcp_proto_tokio::server::ServerConfig;
//! use mcp_proto_tokio::{Router, ServeError, ToolArguments, route, router, serve, tool};
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
//! async fn brew(kitchen: &Kitchen, Brew { cups }: Brew, progress: Progress) -> String {
//!     for cup in 0..cups {
//!         progress.report(cup, Some(cups.into()), "brewing").await;
//!         tokio::time::sleep(Duration::from_secs(60) * kitchen.minutes_per_cup).await;
//!     }
//!     format!("{cups} cups of tea")
//! }
//!
//! static ROUTER: Router<Kitchen> = router![brew];
//! static CONFIG: ServerConfig = ServerConfig::new("kitchen", "1.0.0").features(ROUTER.features());
//!
//! #[tokio::main]
//! async fn main() -> Result<(), ServeError> {
//!     serve(&CONFIG, route(&ROUTER, Kitchen { minutes_per_cup: 3 })).await
//! }
//! ```
//!
//! # Where a function runs
//!
//! | function | runs |
//! |---|---|
//! | `fn` | immediately, in the task of the server: for functions that only compute |
//! | `async fn` | as a task. If the request is cancelled or its timeout expires, the future is dropped. |
//! | `async fn` with a parameter [`Cancellation`] | as a task, which continues in both of these cases |
//! | `fn` with the item `blocking` (`#[tool(blocking)]`), or a parameter of the table below | on a blocking thread |
//!
//! A function of the first row without a `ServerHandle` also works in a router of the core on a board, and in a router
//! on threads.
//!
//! Functions share the state: `&self` or `&T`. Use a `Mutex` or an atomic type for state that changes. A function that
//! does not run immediately must own its arguments and its result: `String`, not `&str`. Exceptions are the variables
//! of a resource URI and the text to complete, which may be `&str`.
//!
//! A panic of a function that runs immediately ends the connection: `serve` panics, too, and `Serve::listen` continues
//! with the other connections. A panic fails only its request (-32603) if the function runs in a task or on another
//! thread, or if the server runs over HTTP.
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
//! use mcp_proto_tokio::server::{Change, Resources, ServerConfig, Subscriptions};
//! use mcp_proto_tokio::{Router, ServerHandle, ToolArguments, resource, router, tool};
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
//! [`Serve::on_start`](crate::Serve::on_start) passes the handle to code outside of requests, such as a task that
//! watches a file.
//!
//! # Input of the client
//!
//! ```
//! use mcp_proto_tokio::handler::Ask;
//! use mcp_proto_tokio::input::{Field, Form};
//! use mcp_proto_tokio::server::Failure;
//! use mcp_proto_tokio::tool;
//!
//! /// Greets the user.
//! #[tool]
//! async fn greet(ask: Ask) -> Result<String, Failure> {
//!     let answer = ask.request(&Form::new("Who are you?", &[Field::text("name").required()])).await?;
//!     let name = answer.elicited().and_then(|form| form.field("name")?.string());
//!     Ok(name.map_or("Hello!".into(), |name| format!("Hello, {name}!")))
//! }
//! ```
//!
//! In `2026-07-28`, the function runs again from its beginning when the client has the input: see [`Ask`].
//!
//! # Over HTTP
//!
//! The event handler of [`route`] also works with `mcp_proto_tower`.

use mcp_proto::ClientCapabilities;
use mcp_proto::server::{Reply, RunAsync, RunBlocking};
pub use mcp_proto_handles::Cancellation;
use mcp_proto_handles::Responder;
use mcp_proto_handles::handler::HandledRequest;
pub use mcp_proto_handles::handler::{Ask, ClientDetails, HandlerRequest, Log, Progress, route};

use crate::tasks::{ServerHandle, unless_cancelled};

/// The context of a router on tokio: the state, and the handle of the server.
pub type Context<S> = mcp_proto_handles::handler::Context<S, ServerHandle>;

/// A static router on tokio, for the state `S`: the argument of [`route`].
///
/// An alias of the core's [`Router`](mcp_proto::server::Router). Functions share the state, so they take `&S`.
pub type Router<S> = mcp_proto::server::Router<'static, Context<S>>;

impl<Q: HandledRequest> RunAsync<Q, HandlerRequest> for ServerHandle {
    fn run_async<F>(
        &self,
        request: Q,
        observes_cancellation: bool,
        handler: impl FnOnce(&HandlerRequest) -> F + Send + 'static,
    ) where
        F: Future<Output: FnOnce(Reply<'_>, ClientCapabilities) + Send + 'static> + Send + 'static,
    {
        let input = request.received_input();
        self.run(request, move |responder| async move {
            let request = HandlerRequest::new(&responder, input);
            let future = handler(&request);
            let respond = match observes_cancellation {
                true => Some(future.await),
                false => unless_cancelled(&responder, future).await,
            };
            if let Some(respond) = respond {
                request.respond(responder, respond);
            }
        });
    }
}

impl<Q: HandledRequest> RunBlocking<Q, HandlerRequest> for ServerHandle {
    fn run_blocking<T: FnOnce(Reply<'_>, ClientCapabilities) + Send + 'static>(
        &self,
        request: Q,
        handler: impl FnOnce(&HandlerRequest) -> T + Send + 'static,
    ) {
        let input = request.received_input();
        self.run(request, move |responder: Responder| async move {
            let span = responder.span();
            let run = move || {
                let request = HandlerRequest::new(&responder, input);
                let respond = handler(&request);
                request.respond(responder, respond);
            };
            let work = tokio::task::spawn_blocking(move || span.in_scope(run));
            // A panic drops the responder. The drop sends an error response.
            drop(work.await);
        });
    }
}
