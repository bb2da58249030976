//! The context of a router on threads or tokio, and the event handler that passes events to a router.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use mcp_proto::server::{Event, HostContext, Router};

use crate::handler::HandlerRequest;

/// The context of a router: the state of the application, and the handle `H` of the server.
///
/// A handler with a parameter `&S` borrows the state, and a handler with a parameter of the type `H` gets the handle.
/// To lend a part of the state, implement `Borrow<Part>` for the `Context<State>` of the adapter.
pub struct Context<S, H> {
    state: Arc<S>,
    server: H,
}

impl<S, H> Context<S, H> {
    /// Creates a context.
    #[must_use]
    pub fn new(state: Arc<S>, server: H) -> Context<S, H> {
        Context { state, server }
    }

    /// Returns the state of the application.
    #[must_use]
    pub fn state(&self) -> &S {
        &self.state
    }
}

impl<S, H> Borrow<S> for Context<S, H> {
    fn borrow(&self) -> &S {
        &self.state
    }
}

impl<S: Send + Sync + 'static, H: Clone + Send + Sync + 'static> HostContext for Context<S, H> {
    type Server = H;
    type Request = HandlerRequest;

    fn server(&self) -> &H {
        &self.server
    }
}

impl<S, H: Clone> Clone for Context<S, H> {
    fn clone(&self) -> Self {
        Context { state: Arc::clone(&self.state), server: self.server.clone() }
    }
}

impl<S: fmt::Debug, H> fmt::Debug for Context<S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Returns an event handler that passes each request to its handler. `state` is the state of the application, or an
/// `Arc` of the state.
///
/// If the router does not have the requested tool, prompt or resource, the event handler refuses the request with an
/// error that says so. The event handler drops other events. The server responds to a dropped request with an error. An
/// application that needs other events, or has entries outside of the router, calls this event handler from an event
/// handler of its own.
pub fn route<'r, S: Send + Sync + 'static, H: Clone>(
    router: &'r Router<'r, Context<S, H>>,
    state: impl Into<Arc<S>>,
) -> impl Fn(Event<'_>, &H) + Clone + Send + Sync {
    let state = state.into();
    move |event, server| match router.handle(&mut Context::new(Arc::clone(&state), server.clone()), event) {
        Some(Event::Call(call)) => call.unknown_tool(),
        Some(Event::GetPrompt(request)) => request.unknown_prompt(),
        Some(Event::ReadResource(request)) => request.not_found(),
        Some(Event::Complete(request)) => request.error(-32602, "unknown prompt or resource template"),
        // The server responds with an error to a request that is dropped here.
        _ => {}
    }
}
