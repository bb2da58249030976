//! Handlers that run outside of the event loop: on worker threads, or as tasks.

use crate::json::{Chars, Json, WriteText};
use crate::protocol::capabilities::ClientCapabilities;
use crate::server::event::RequestParts;
use crate::server::features::completion::begins_with;
use crate::server::features::read_resource::ReadResource;
use crate::server::input_required::InputResponses;
use crate::server::reply::Reply;

/// A context of handlers that run outside of the event loop. Clones share the application's state.
///
/// The adapters for hosts implement this trait. The attributes of functions, such as [`tool`](macro@crate::tool), use
/// the trait for `async` functions, and for functions that run on a worker thread.
#[diagnostic::on_unimplemented(
    message = "a router with the context `{Self}` has no server handle, so it cannot run handlers outside of the event \
               loop",
    note = "an adapter with threads or tasks can: use the type `Router` of `mcp_proto_std` or `mcp_proto_tokio`",
    note = "these handlers are `async` or `blocking`, or have a parameter of a type named `Ask`, `Cancellation`, \
            `ClientDetails`, `Log`, `Progress` or `ServerHandle`"
)]
pub trait HostContext: Clone + Send + Sync + 'static {
    /// The handle of the server, which starts handlers.
    type Server;
    /// The deferred request, from which a handler gets its parameters.
    type Request;

    /// Returns the handle of the server.
    fn server(&self) -> &Self::Server;
}

/// A server that runs handlers of requests `Q` on worker threads. `R` is the deferred request.
pub trait RunBlocking<Q, R> {
    /// Defers the request, and runs the handler on a worker thread. The handler returns a function. Unless the handler
    /// requires input, this function then responds to the request through the [`Reply`]. The function also gets the set
    /// of capabilities that the handler needs and the client lacks.
    fn run_blocking<T: FnOnce(Reply<'_>, ClientCapabilities) + Send + 'static>(
        &self,
        request: Q,
        handler: impl FnOnce(&R) -> T + Send + 'static,
    );
}

/// A server that runs `async` handlers of requests `Q` as tasks. `R` is the deferred request.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run `async` handlers",
    note = "an `async` handler needs an adapter with an async runtime, such as `mcp_proto_tokio`"
)]
pub trait RunAsync<Q, R> {
    /// Defers the request, and runs the future of the handler as a task. The future returns a function. Unless the
    /// handler requires input, this function then responds to the request through the [`Reply`]. The function also gets
    /// the set of capabilities that the handler needs and the client lacks.
    ///
    /// If `observes_cancellation` is `false`, a cancellation of the request drops the future.
    fn run_async<F>(
        &self,
        request: Q,
        observes_cancellation: bool,
        handler: impl FnOnce(&R) -> F + Send + 'static,
    ) where
        F: Future<Output: FnOnce(Reply<'_>, ClientCapabilities) + Send + 'static> + Send + 'static;
}

/// A parameter of a handler that runs outside of the event loop. `R` is the deferred request of the adapter.
#[diagnostic::on_unimplemented(
    message = "a handler cannot have the parameter `{Self}`",
    note = "the names `Ask`, `Cancellation`, `ClientDetails`, `Log` and `Progress` mean types in the module `handler` of \
            the adapter that runs the handler",
    note = "a type of your own with such a name needs another name here: `type Percent = Progress;`, or an import with `as`"
)]
pub trait FromRequest<R> {
    /// Creates the parameter for one request.
    fn from_request(request: &R) -> Self;
}

/// Creates a [`ReadResource`] from the URI and the reply of a request. The request has no input responses.
pub fn read_resource<'l: 's, 's>(uri: &'s str, reply: Reply<'l>) -> ReadResource<'s> {
    let Reply { state, config, pending } = reply;
    let input_responses = InputResponses { responses: Json::NULL, state: Json::NULL };
    let reply = Reply { state, config, pending };
    ReadResource { parts: RequestParts { subject: uri, input_responses, reply } }
}

/// Responds to a completion with the values that begin with the typed text.
pub fn matching<V: WriteText>(reply: Reply<'_>, typed: &str, values: impl IntoIterator<Item = V>) {
    reply.values(None, values.into_iter().filter(|value| begins_with(value, Chars::new(typed))));
}
