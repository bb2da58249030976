//! `McpService`: the tower service.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use mcp_proto_tokio::ServerHandle;
use tower_service::Service;

use crate::body::ResponseBody;
use crate::future::ResponseFuture;
use crate::shared::Shared;

/// An MCP server as a tower service, created by [`Serve::service`](crate::Serve::service).
///
/// Clones share one server. When the last clone and the last response are dropped, all running requests are
/// cancelled.
///
/// Dropping a response before its end closes the exchange like a closed connection. A request of 2026-07-28 is then
/// cancelled. A request of the handshake era continues, with the exceptions of
/// [`HttpServer::close`](mcp_proto_http::server::HttpServer::close).
#[derive(Debug, Clone)]
pub struct McpService {
    shared: Arc<Shared>,
}

/// The user of a request, an extension of [`http::Request`] that a layer in front of the [`McpService`] inserts.
///
/// The number has the meaning of [`Verdict::Allow`](crate::Verdict::Allow). [`HttpAccess::bearer`] and
/// [`HttpAccess::authorize`] replace this user with their own.
///
/// [`HttpAccess::bearer`]: crate::HttpAccess::bearer
/// [`HttpAccess::authorize`]: crate::HttpAccess::authorize
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User(pub u64);

impl McpService {
    pub(crate) fn new(shared: Arc<Shared>) -> McpService {
        McpService { shared }
    }

    /// Returns the handle of the server, for notifications of changed lists and resources, and for the shutdown. Any
    /// other message to a client belongs to a request: see [`Responder`](crate::Responder).
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        self.shared.handle.clone()
    }

    /// Returns the number of exchanges: requests without a complete response, and event streams for notifications. The
    /// number includes running requests of clients that have disconnected. Within the handler and the hooks, this
    /// method returns the number before the current step of the server.
    #[must_use]
    pub fn open_exchanges(&self) -> usize {
        self.shared.open_exchanges()
    }
}

impl<B: Body> Service<Request<B>> for McpService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    /// Processes a request. The runtime of the current task must be tokio.
    fn call(&mut self, request: Request<B>) -> ResponseFuture<B> {
        let (head, body) = request.into_parts();
        ResponseFuture::new(Arc::clone(&self.shared), head, body)
    }
}
