//! Handlers that run outside of the event loop: on worker threads, or as tasks.

use crate::server::call::Call;
use crate::server::router::into_tool_result::IntoToolResult;

/// A context of handlers that run outside of the event loop. Clones share the state.
///
/// The adapters for hosts implement this trait. The macro [`tool`](macro@crate::tool) uses it for `async` functions, and
/// for functions that run on a worker thread.
#[diagnostic::on_unimplemented(
    message = "a router with the context `{Self}` cannot run tools outside of the event loop",
    note = "an adapter with threads or tasks can: use the type `Router` of `mcp_proto_std` or `mcp_proto_tokio`"
)]
pub trait HostContext: Clone + Send + Sync + 'static {
    /// The handle of the server, which starts handlers.
    type Server;

    /// The handle of the server.
    fn server(&self) -> &Self::Server;
}

/// A server that runs handlers on worker threads.
pub trait RunBlocking {
    /// The deferred request, from which the handler gets its parameters.
    type Request;

    /// Defers the call, runs the handler on a worker thread, and responds with the handler's result.
    fn run_blocking<T: IntoToolResult + Send + 'static>(
        &self,
        call: Call<'_>,
        handler: impl FnOnce(&Self::Request) -> T + Send + 'static,
    );
}

/// A server that runs `async` handlers as tasks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run `async` tools",
    note = "an `async` tool needs an adapter with an async runtime, such as `mcp_proto_tokio`"
)]
pub trait RunAsync {
    /// The deferred request, from which the handler gets its parameters.
    type Request;

    /// Defers the call, runs the future of the handler as a task, and responds with the handler's result.
    ///
    /// If `observes_cancellation` is `false`, a cancellation of the call drops the future.
    fn run_async<F>(
        &self,
        call: Call<'_>,
        observes_cancellation: bool,
        handler: impl FnOnce(&Self::Request) -> F + Send + 'static,
    ) where
        F: Future<Output: IntoToolResult + Send + 'static> + Send + 'static;
}

/// A parameter of a handler that runs outside of the event loop. `R` is the deferred request of the adapter.
#[diagnostic::on_unimplemented(
    message = "a handler cannot have the parameter `{Self}`",
    note = "the names `Ask`, `Cancellation`, `ClientDetails`, `Log` and `Progress` mean types of the adapter that runs \
            the handler"
)]
pub trait FromRequest<R> {
    /// Creates the parameter for one request.
    fn from_request(request: &R) -> Self;
}
