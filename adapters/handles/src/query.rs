//! Methods of server handles: subscriptions, notifications, log messages and elicitation.

use mcp_proto::{Level, Ticket};
use serde_core::Serialize;

use crate::cancellation::Task;
use crate::outbound_request::RequestError;
use crate::promise::Promise;
use crate::server_command::ServerCommand;
use crate::server_shared::ServerShared;

impl ServerShared {
    /// Returns whether a client has subscribed to the resource with this URI.
    ///
    /// # Errors
    /// Returns [`RequestError::Closed`] if the connection is closed. Returns [`RequestError::Invalid`] on the thread of
    /// the event loop, because that thread would wait for itself.
    pub async fn is_watched(&self, uri: &str) -> Result<bool, RequestError> {
        self.check_may_wait()?;
        let (promise, result) = Promise::new(RequestError::Closed);
        self.push(ServerCommand::is_watched(uri.into(), promise));
        result.wait_until(|result| result.take()).await
    }

    /// Ends a subscription of the stateless era, if it has not ended.
    pub fn end_subscription(&self, ticket: Ticket) {
        self.push(ServerCommand::end_subscription(ticket));
    }

    /// Sends a notification of an extension. The notification belongs to the request in flight with this ticket, or to
    /// the session if `ticket` is `None` (handshake era).
    ///
    /// See [`Server::notify`](mcp_proto::Server::notify) and
    /// [`Server::notify_subscription`](mcp_proto::Server::notify_subscription). Sends nothing if `params` serializes
    /// neither to an object nor to `null`, if the notification is invalid or too long, or if there is no such session
    /// or request. Also sends nothing if `ticket` is `None` and the transport has many sessions. Waits until the queue
    /// of commands has space.
    pub fn notify<T: Serialize + ?Sized>(
        &self,
        ticket: Option<Ticket>,
        method: &str,
        params: &T,
    ) -> impl Future<Output = ()> + use<'_, T> {
        let is_sent = ticket.is_some() || !self.has_sessions;
        let command = ServerCommand::notify(ticket, method, params).filter(|_| is_sent);
        self.send_notification(command, None)
    }

    pub(crate) async fn send_notification(&self, command: Option<ServerCommand>, task: Option<&Task>) {
        if let Some(command) = command {
            self.send(command, task).await;
        }
    }

    /// Sends a notification that belongs to no request, if the transport has one session. Waits until the queue of
    /// commands has space.
    pub(crate) async fn send_to_session(&self, command: Option<ServerCommand>) {
        self.send_notification(command.filter(|_| !self.has_sessions), None).await;
    }

    /// Sends a log message that belongs to no request. Waits until the queue of commands has space. Sends nothing if
    /// the transport has many sessions.
    pub async fn log(&self, level: Level, text: String) {
        self.log_data(level, None, &text).await;
    }

    /// Sends a log message with data. The message belongs to no request. Sends nothing if the data does not serialize,
    /// or if the transport has many sessions. Waits until the queue of commands has space.
    pub fn log_data<T: Serialize + ?Sized>(
        &self,
        level: Level,
        logger: Option<&str>,
        data: &T,
    ) -> impl Future<Output = ()> + use<'_, T> {
        self.send_to_session(ServerCommand::log(None, level, logger, data))
    }

    /// Notifies the client that an elicitation in URL mode is complete. Waits until the queue of commands has space.
    /// Only clients of `2025-11-25` receive the notification. Sends nothing if the transport has many sessions.
    pub async fn elicitation_complete(&self, id: &str) {
        self.send_to_session(Some(ServerCommand::elicitation_complete(None, id.into()))).await;
    }
}
