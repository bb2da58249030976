//! What a session keeps when its connection is lost and another one is tried.

use crate::Wake;
use crate::owned::Notification;
use crate::session::Session;

impl Session {
    /// When the connection is lost, its owner will try another one: what cannot be sent then waits.
    pub fn lasting(&mut self, lasting: bool) {
        self.lasting = lasting;
    }

    /// Whether what cannot be sent to this connection waits for the next one.
    pub(crate) fn waits(&self) -> bool {
        self.lasting && !self.closing
    }

    /// The connection is over, and another one to the same server will be tried. Questions of the server's are over, too;
    /// what the handles want waits. `wake` is for the time until the new connection [begins](Session::begin).
    pub fn lost(&mut self, wake: Wake) {
        self.hub.begin(wake);
        self.connecting = true;
        self.lost = true;
        self.asked.clear();
        self.answers.clear();
        self.again.clear();
    }

    /// A new connection begins, on the machine that was told to [reconnect](mcp_proto::Client::reconnect).
    pub fn begin(&mut self, wake: Wake) {
        self.hub.begin(wake);
    }

    /// It stands.
    pub(crate) fn connected(&mut self) {
        self.connecting = false;
        self.blocked = false;
        if std::mem::take(&mut self.lost) {
            for waiting in self.waiting.values() {
                if let Some(feed) = &waiting.pending.feed {
                    feed.push(Notification::Reconnected);
                }
            }
            self.hub.notice(&Notification::Reconnected);
        }
    }

    /// Whether the host wants it to end.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.closing
    }
}
