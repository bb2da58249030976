//! Blocking iterators over the notifications of a server, or of one subscription.

use std::time::{Duration, Instant};

use mcp_proto::json::Json;
use mcp_proto_handles::{self as handles, CallError, Notification, block_on, block_on_until};

/// An iterator over the server's notifications: see
/// [`ClientHandle::notifications`](crate::ClientHandle::notifications).
///
/// The iterator ends when the client is closed, but not when the client reconnects.
///
/// ```no_run
/// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
/// use mcp_proto_std::client::Listed;
/// use mcp_proto_std::Notification;
///
/// for notification in client.notifications() {
///     if notification == Notification::Changed(Listed::Tools) {
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
    /// Returns the next notification. Returns `None` if the time expires, or if the client is closed and no
    /// notification is left.
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

/// A subscription (`2026-07-28`): see [`ClientHandle::listen`](crate::ClientHandle::listen).
///
/// The subscription is an iterator over [`Notification::Changed`], [`Notification::Updated`], and
/// [`Notification::Other`] of an extension. [`Notification::Reconnected`] and [`Notification::Missed`] report that
/// changes may be missing. The iterator ends when the subscription ends or the client is closed. Dropping this value
/// ends the subscription.
///
/// Over HTTP, a subscription has its own stream. If the stream breaks, the client sends the subscription again, as
/// often as the client's [`Reconnect`](crate::Reconnect) permits.
#[derive(Debug)]
pub struct Subscription {
    pub(crate) inner: handles::Subscription,
}

impl Subscription {
    /// Returns the filter that the server acknowledged, as JSON.
    ///
    /// The filter is an object like `{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`. The acknowledged
    /// filter may be smaller than the requested filter.
    #[must_use]
    pub fn acknowledged(&self) -> Json<'_> {
        self.inner.acknowledged()
    }

    /// Returns the error that has ended the subscription, for example the error of the last attempt to reconnect.
    /// Returns `None` while the subscription is open, and if the server has ended the subscription.
    #[must_use]
    pub fn failure(&self) -> Option<CallError> {
        self.inner.failure()
    }

    /// Returns the next notification. Returns `None` if the time expires. Also returns `None` if no notification is
    /// left, and the subscription has ended or the client is closed.
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
