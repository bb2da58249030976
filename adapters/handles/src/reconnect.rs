//! The state of a client session between two connections.

use crate::Wake;
use crate::owned::Notification;
use crate::session::ClientSession;

impl ClientSession {
    /// Sets whether the owner reconnects after a lost connection. Unsent requests then wait for the next
    /// connection.
    pub fn set_reconnect(&mut self, can_reconnect: bool) {
        self.can_reconnect = can_reconnect;
    }

    /// Whether unsent requests wait for the next connection.
    pub(crate) fn keeps_unsent(&self) -> bool {
        self.can_reconnect && !self.is_closing
    }

    /// Records the loss of a connection that the owner will replace.
    ///
    /// The session drops requests of the server, and keeps unsent requests of the client. The handles call `wake` until
    /// the new connection [opens](ClientSession::connection_opened).
    pub fn connection_lost(&mut self, wake: Wake) {
        self.shared.open_connection(wake);
        self.is_connecting = true;
        self.was_lost = true;
        self.server_requests.clear();
        self.responses.clear();
        self.resumable.clear();
    }

    /// Records a new connection, after [`Client::reconnect`](mcp_proto::Client::reconnect).
    pub fn connection_opened(&mut self, wake: Wake) {
        self.shared.open_connection(wake);
    }

    /// Records that the handshake is complete. After a loss, reports the reconnection to all notification queues.
    pub(crate) fn mark_connected(&mut self) {
        self.is_connecting = false;
        self.is_blocked = false;
        if std::mem::take(&mut self.was_lost) {
            for sent in self.sent.values() {
                if let Some(queue) = &sent.state.queue {
                    queue.push(Notification::Reconnected);
                }
            }
            self.shared.broadcast(&Notification::Reconnected);
        }
    }

    /// Whether the application has closed the client.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }
}
