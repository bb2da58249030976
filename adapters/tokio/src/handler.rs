//! Functions as handlers: a router on tokio, and the parameters of its functions.
//!
//! The attribute [`tool`](macro@mcp_proto::tool) makes a function a tool, and [`router!`](mcp_proto::router) lists
//! tools. [`route`] passes events to the functions:
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
//! static INFO: ServerConfig = ServerConfig::new("kitchen", "1.0.0").features(ROUTER.features());
//!
//! #[tokio::main]
//! async fn main() -> Result<(), ServeError> {
//!     serve(&INFO, route(&ROUTER, Kitchen { minutes_per_cup: 3 })).await
//! }
//! ```
//!
//! # Where a function runs
//!
//! | function | runs |
//! |---|---|
//! | `fn` | immediately, in the task of the server: for functions that only compute. It also runs on boards and threads. |
//! | `async fn` | as a task. If the client cancels the call, the future is dropped. |
//! | `async fn` with a parameter [`Cancellation`] | as a task, to its end |
//! | `fn` with the attribute `#[tool(blocking)]`, or a parameter of the table below | on a thread for blocking work |
//!
//! Functions share the state: `&self` or `&T`. Use a `Mutex` or an atomic type for state that changes. A function that
//! does not run immediately owns its arguments and its result: `String`, not `&str`.
//!
//! # Parameters
//!
//! | type | what it does |
//! |---|---|
//! | [`Progress`] | reports progress |
//! | [`Ask`] | requests input from the client: a form, a URL, a model's message, the roots |
//! | [`Log`] | sends log messages |
//! | [`Cancellation`] | observes the cancellation of the call |
//! | [`ClientDetails`] | the revision, and the capabilities of the client |
//!
//! `#[tool]` recognizes these types by their names, so do not rename them in an import.
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

use mcp_proto::server::{Call, IntoToolResult, RunAsync, RunBlocking};
pub use mcp_proto_handles::Cancellation;
use mcp_proto_handles::Responder;
use mcp_proto_handles::handler::ReceivedInput;
pub use mcp_proto_handles::handler::{Ask, ClientDetails, HandlerRequest, Log, Progress, route};

use crate::tasks::{ServerHandle, unless_cancelled};

/// The context of a router on tokio: the state, and the handle of the server.
pub type Context<S> = mcp_proto_handles::handler::Context<S, ServerHandle>;

/// A static router on tokio, for the state `S`.
pub type Router<S> = mcp_proto::server::Router<'static, Context<S>>;

impl RunAsync for ServerHandle {
    type Request = HandlerRequest;

    fn run_async<F>(
        &self,
        call: Call<'_>,
        observes_cancellation: bool,
        handler: impl FnOnce(&HandlerRequest) -> F + Send + 'static,
    ) where
        F: Future<Output: IntoToolResult + Send + 'static> + Send + 'static,
    {
        let input = ReceivedInput::new(&call);
        self.run(call, move |responder| async move {
            let request = HandlerRequest::new(&responder, input);
            let future = handler(&request);
            let result = match observes_cancellation {
                true => Some(future.await),
                false => unless_cancelled(&responder, future).await,
            };
            if let Some(result) = result {
                request.respond(responder, result);
            }
        });
    }
}

impl RunBlocking for ServerHandle {
    type Request = HandlerRequest;

    fn run_blocking<T: IntoToolResult + Send + 'static>(
        &self,
        call: Call<'_>,
        handler: impl FnOnce(&HandlerRequest) -> T + Send + 'static,
    ) {
        let input = ReceivedInput::new(&call);
        self.run(call, move |responder: Responder| async move {
            let work = tokio::task::spawn_blocking(move || {
                let request = HandlerRequest::new(&responder, input);
                let result = handler(&request);
                request.respond(responder, result);
            });
            // A panic drops the responder, which sends an error response.
            drop(work.await);
        });
    }
}
