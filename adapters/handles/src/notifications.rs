//! Notices that somebody waits for; and subscriptions, which tell by notices.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use mcp_proto::Ticket;
use mcp_proto::json::Json;

use crate::client_shared::ClientShared;
use crate::owned::{Notification, view};
use crate::pending::Pending;
use crate::signal::Signal;

/// So many notices may wait for somebody who is slow; more are dropped, and counted.
const NOTICES: usize = 256;

/// Notices that wait to be taken.
#[derive(Debug, Default)]
pub struct Feed {
    state: Signal<State>,
}

#[derive(Debug, Default)]
struct State {
    notices: VecDeque<Notification>,
    missed: usize,
    over: bool,
}

impl Feed {
    /// Adds a notice. That something has changed is not said twice before it is heard.
    pub(crate) fn push(&self, notice: Notification) {
        self.state.change(|state| {
            let is_change = matches!(notice, Notification::Changed(_) | Notification::Updated(_));
            if is_change && state.notices.contains(&notice) {
                return;
            }
            if state.notices.len() >= NOTICES || state.missed > 0 {
                state.missed += 1;
            } else {
                state.notices.push_back(notice);
            }
        });
    }

    /// There will be no more.
    pub(crate) fn end(&self) {
        self.state.change(|state| state.over = true);
    }

    /// The next one. `None`: there will be no more.
    pub async fn next(&self) -> Option<Notification> {
        let next = |state: &mut State| match state.notices.pop_front() {
            Some(notice) => Some(Some(notice)),
            None if state.missed > 0 => Some(Some(Notification::Missed(mem::take(&mut state.missed)))),
            None => state.over.then_some(None),
        };
        self.state.until(next).await
    }
}

/// What a server says by itself, for somebody who waits for it: see [`ClientHandle::notifications`](crate::ClientHandle::notifications).
///
/// ```no_run
/// # async fn example(client: &mcp_proto_handles::ClientHandle) -> Result<(), mcp_proto_handles::CallError> {
/// use mcp_proto::client::Listed;
/// use mcp_proto_handles::Notification;
///
/// let mut notices = client.notifications();
/// while let Some(notice) = notices.next().await {
///     if notice == Notification::Changed(Listed::Tools) {
///         println!("{} tools now", client.list_tools().await?.len());
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Notifications {
    pub(crate) feed: Arc<Feed>,
}

impl Notifications {
    /// The next one. `None`: the connection is over. Nothing is lost if this future is dropped.
    pub async fn next(&mut self) -> Option<Notification> {
        self.feed.next().await
    }
}

/// A subscription (`2026-07-28`): see [`ClientHandle::listen`](crate::ClientHandle::listen). What it tells is
/// [`Notification::Changed`] and [`Notification::Updated`]. Dropping it ends it.
#[derive(Debug)]
pub struct Subscription {
    pub(crate) notices: Notifications,
    pub(crate) acknowledged: String,
    pub(crate) ticket: Ticket,
    pub(crate) pending: Arc<Pending>,
    pub(crate) hub: Arc<ClientShared>,
}

impl Subscription {
    /// What the server will tell, as it wrote it: an object like
    /// `{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`. It may be less than what was asked for.
    #[must_use]
    pub fn acknowledged(&self) -> Json<'_> {
        view(&self.acknowledged)
    }

    /// The next change. `None`: the server has ended the subscription, or the connection is over. Nothing is lost if
    /// this future is dropped.
    pub async fn next(&mut self) -> Option<Notification> {
        self.notices.next().await
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.closed_one(&self.pending);
        self.hub.cancel(self.ticket, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{block_on, block_on_until};
    use mcp_proto::client::Listed;

    #[test]
    fn a_change_is_said_once_and_what_does_not_fit_is_counted() {
        let feed = Feed::default();
        let log = || Notification::Log { level: None, logger: None, data: "1".into() };
        for _ in 0..300 {
            feed.push(Notification::Changed(Listed::Tools));
            feed.push(log());
        }
        let now = std::time::Instant::now();
        let heard: Vec<_> = std::iter::from_fn(|| block_on_until(Some(now), feed.next()).flatten()).collect();
        assert_eq!(heard.len(), NOTICES + 1);
        assert_eq!(heard[..2], [Notification::Changed(Listed::Tools), log()]);
        assert_eq!(heard.iter().filter(|notice| **notice == Notification::Changed(Listed::Tools)).count(), 1);
        assert_eq!(heard[NOTICES], Notification::Missed(301 - NOTICES));
        feed.push(Notification::Changed(Listed::Tools));
        feed.end();
        assert_eq!(block_on(feed.next()), Some(Notification::Changed(Listed::Tools)));
        assert_eq!(block_on(feed.next()), None);
    }
}
