//! Queues of server notifications, and subscriptions.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use mcp_proto::json::Json;

use crate::error::CallError;
use crate::owned::{Notification, view};
use crate::pending::Canceller;
use crate::signal::Signal;

/// Maximum number of queued notifications. Further notifications are dropped and counted.
const MAX_QUEUED: usize = 256;

/// A queue of notifications for one consumer.
#[derive(Debug, Default)]
pub struct NotificationQueue {
    state: Signal<State>,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Notification>,
    missed: usize,
    is_closed: bool,
}

impl NotificationQueue {
    /// Adds a notification. Does not add a change that is already in the queue. If the queue is full, counts the
    /// notification as missed. Until the consumer has received [`Notification::Missed`], also counts later
    /// notifications as missed.
    pub(crate) fn push(&self, notification: Notification) {
        self.state.update(|state| {
            let is_change = matches!(notification, Notification::Changed(_) | Notification::Updated(_));
            if is_change && state.queue.contains(&notification) {
                return;
            }
            if state.queue.len() >= MAX_QUEUED || state.missed > 0 {
                state.missed += 1;
            } else {
                state.queue.push_back(notification);
            }
        });
    }

    /// Closes the queue: no more notifications follow.
    pub(crate) fn close(&self) {
        self.state.update(|state| state.is_closed = true);
    }

    /// Returns the next notification. Returns `None` if the queue is closed and empty.
    pub async fn next(&self) -> Option<Notification> {
        let next = |state: &mut State| match state.queue.pop_front() {
            Some(notification) => Some(Some(notification)),
            None if state.missed > 0 => Some(Some(Notification::Missed(mem::take(&mut state.missed)))),
            None => state.is_closed.then_some(None),
        };
        self.state.wait_until(next).await
    }
}

/// A stream of the server's notifications: see
/// [`ClientHandle::notifications`](crate::ClientHandle::notifications).
///
/// ```no_run
/// # async fn example(client: &mcp_proto_handles::ClientHandle) -> Result<(), mcp_proto_handles::CallError> {
/// # use mcp_proto::client::Listed;
/// # use mcp_proto_handles::Notification;
///
/// let mut notifications = client.notifications();
/// while let Some(notification) = notifications.next().await {
///     if notification == Notification::Changed(Listed::Tools) {
///         println!("{} tools now", client.list_tools().await?.len());
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Notifications {
    pub(crate) queue: Arc<NotificationQueue>,
}

impl Notifications {
    /// Returns the next notification, or `None` if the client is closed and no notification is left. Dropping this
    /// future loses no notification.
    pub async fn next(&mut self) -> Option<Notification> {
        self.queue.next().await
    }
}

/// A subscription (`2026-07-28`): see [`ClientHandle::listen`](crate::ClientHandle::listen).
///
/// A subscription's notifications are [`Notification::Changed`], [`Notification::Updated`], and [`Notification::Other`]
/// of an extension. [`Notification::Reconnected`] and [`Notification::Missed`] report that changes may be missing.
/// Dropping this value ends the subscription.
///
/// Over HTTP, a subscription has its own stream. If the stream breaks, the client sends the subscription again, as
/// often as the client's [`Reconnect`](crate::Reconnect) permits.
#[derive(Debug)]
pub struct Subscription {
    pub(crate) notifications: Notifications,
    pub(crate) acknowledged: String,
    pub(crate) canceller: Canceller,
}

impl Subscription {
    /// Returns the filter that the server acknowledged, as JSON.
    ///
    /// The filter is an object like `{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`. The acknowledged
    /// filter may be smaller than the requested filter.
    #[must_use]
    pub fn acknowledged(&self) -> Json<'_> {
        view(&self.acknowledged)
    }

    /// Returns the next notification. Returns `None` if no notification is left, and the subscription has ended or the
    /// client is closed. [`failure`](Subscription::failure) then returns the error, if there is one. Dropping this
    /// future loses no notification.
    pub async fn next(&mut self) -> Option<Notification> {
        self.notifications.next().await
    }

    /// Returns the error that has ended the subscription, such as the error of the stream after all attempts to
    /// reconnect. Returns `None` for an open subscription, and for one that the server has ended.
    #[must_use]
    pub fn failure(&self) -> Option<CallError> {
        self.canceller.failure()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.canceller.cancel("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_on::{block_on, block_on_until};
    use mcp_proto::client::Listed;

    #[test]
    fn full_queue_merges_changes_and_counts_missed() {
        let queue = NotificationQueue::default();
        let log = || Notification::Log { level: None, logger: None, data: "1".into() };
        for _ in 0..300 {
            queue.push(Notification::Changed(Listed::Tools));
            queue.push(log());
        }
        let now = std::time::Instant::now();
        let received: Vec<_> =
            std::iter::from_fn(|| block_on_until(Some(now), queue.next()).flatten()).collect();
        assert_eq!(received.len(), MAX_QUEUED + 1);
        assert_eq!(received[..2], [Notification::Changed(Listed::Tools), log()]);
        assert_eq!(
            received
                .iter()
                .filter(|notification| **notification == Notification::Changed(Listed::Tools))
                .count(),
            1
        );
        assert_eq!(received[MAX_QUEUED], Notification::Missed(301 - MAX_QUEUED));
        queue.push(Notification::Changed(Listed::Tools));
        queue.close();
        assert_eq!(block_on(queue.next()), Some(Notification::Changed(Listed::Tools)));
        assert_eq!(block_on(queue.next()), None);
    }
}
