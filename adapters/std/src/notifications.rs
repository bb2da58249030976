//! Notices that a thread waits for, instead of a callback that gets them; and subscriptions, which tell by notices.

use std::time::{Duration, Instant};

use mcp_proto::json::Json;
use mcp_proto_handles::{self as handles, Notification, block_on, block_on_until};

/// What a server says by itself, for a thread that waits for it: see [`ClientHandle::notifications`](crate::ClientHandle::notifications).
/// As an iterator it ends with the connection.
///
/// ```no_run
/// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
/// use mcp_proto::client::Listed;
/// use mcp_proto_std::Notification;
///
/// for notice in client.notifications() {
///     if notice == Notification::Changed(Listed::Tools) {
///         println!("{} tools now", client.list_tools()?.len());
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Notifications {
    pub(crate) inner: handles::Notifications,
}

impl Notifications {
    /// The next one, if it comes within this time. `None`: it does not, or the connection is over.
    pub fn next_within(&mut self, time: Duration) -> Option<Notification> {
        block_on_until(Instant::now().checked_add(time), self.inner.next()).flatten()
    }
}

impl Iterator for Notifications {
    type Item = Notification;

    fn next(&mut self) -> Option<Notification> {
        block_on(self.inner.next())
    }
}

/// A subscription (`2026-07-28`): see [`ClientHandle::listen`](crate::ClientHandle::listen). What it tells is
/// [`Notification::Changed`] and [`Notification::Updated`]. As an iterator it ends when the server ends it, or with the connection;
/// dropping it ends it, too.
#[derive(Debug)]
pub struct Subscription {
    pub(crate) inner: handles::Subscription,
}

impl Subscription {
    /// What the server will tell, as it wrote it: an object like
    /// `{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`. It may be less than what was asked for.
    #[must_use]
    pub fn acknowledged(&self) -> Json<'_> {
        self.inner.acknowledged()
    }

    /// The next change, if it comes within this time. `None`: it does not, or the subscription is over.
    pub fn next_within(&mut self, time: Duration) -> Option<Notification> {
        block_on_until(Instant::now().checked_add(time), self.inner.next()).flatten()
    }
}

impl Iterator for Subscription {
    type Item = Notification;

    fn next(&mut self) -> Option<Notification> {
        block_on(self.inner.next())
    }
}
