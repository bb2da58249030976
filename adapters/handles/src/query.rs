//! What a server's handles ask of its machine, or tell it, beside the requests that they deal with.

use std::sync::Arc;

use mcp_proto::{Server, Ticket};

use crate::outbound_request::RequestError;
use crate::server_command::ServerCommand;
use crate::server_shared::ServerShared;
use crate::signal::Signal;

impl ServerShared {
    /// Whether anybody watches the resource with this URI.
    ///
    /// # Errors
    /// The connection is over, or the thread that owns the machine would wait for itself.
    pub async fn is_watched(&self, uri: &str) -> Result<bool, RequestError> {
        if self.is_owner() {
            return Err(RequestError::Invalid(
                "the handler cannot wait for an answer: ask on another thread",
            ));
        }
        let look = Look { uri: uri.into(), found: Arc::default() };
        let found = Arc::clone(&look.found);
        self.push(ServerCommand::look(look));
        found.until(|found| found.take()).await
    }

    /// Ends a subscription of the stateless era, if it has not ended.
    pub fn end_subscription(&self, ticket: Ticket) {
        self.push(ServerCommand::end_subscription(ticket));
    }

    /// Says that what the client was sent to a web page for is done, when there is room for it.
    pub async fn elicitation_complete(&self, id: &str) {
        self.send(ServerCommand::complete(id.into()), None).await;
    }
}

/// The question whether a resource is watched. If it is dropped, the connection is over.
pub(crate) struct Look {
    uri: String,
    found: Arc<Signal<Option<Result<bool, RequestError>>>>,
}

impl Look {
    pub(crate) fn answer(self, server: &Server<'_>) {
        let is_watched = server.is_watched(&self.uri);
        self.found.change(|found| *found = Some(Ok(is_watched)));
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        // An answer that was given stays; if it was taken, nobody looks any more.
        self.found.change(|found| _ = found.get_or_insert(Err(RequestError::Closed)));
    }
}
