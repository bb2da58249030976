//! Notices that a thread waits for, instead of a callback that gets them; and subscriptions, which tell by notices.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use mcp_proto::Ticket;
use mcp_proto::json::Json;

use crate::hub::Hub;
use crate::owned::{Notice, view};
use crate::sync::{lock, wait, wait_for};

/// So many notices may wait for somebody who is slow; more are dropped, and counted.
pub(crate) const NOTICES: usize = 256;

/// Notices that wait to be taken.
#[derive(Default)]
pub(crate) struct Feed {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    notices: VecDeque<Notice>,
    missed: usize,
    over: bool,
}

impl Feed {
    /// Adds a notice. That something has changed is not said twice before it is heard. It is always `true`.
    pub(crate) fn push(&self, notice: Notice) -> bool {
        let mut state = lock(&self.state);
        let is_change = matches!(notice, Notice::Changed(_) | Notice::Updated(_));
        if is_change && state.notices.contains(&notice) {
            return true;
        }
        if state.notices.len() >= NOTICES || state.missed > 0 {
            state.missed += 1;
        } else {
            state.notices.push_back(notice);
        }
        self.changed.notify_all();
        true
    }

    /// There will be no more.
    pub(crate) fn end(&self) {
        lock(&self.state).over = true;
        self.changed.notify_all();
    }

    fn next(&self, until: Option<Instant>) -> Option<Notice> {
        let mut state = lock(&self.state);
        loop {
            if let Some(notice) = state.notices.pop_front() {
                return Some(notice);
            }
            if state.missed > 0 {
                return Some(Notice::Missed(std::mem::take(&mut state.missed)));
            }
            if state.over {
                return None;
            }
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => wait(&self.changed, state),
                Some(Duration::ZERO) => return None,
                Some(left) => wait_for(&self.changed, state, left),
            };
        }
    }
}

/// What a server says by itself, for a thread that waits for it: see [`ClientHandle::notices`](crate::ClientHandle::notices).
/// As an iterator it ends with the connection.
///
/// ```no_run
/// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
/// use mcp_proto::client::Listed;
/// use mcp_proto_std::Notice;
///
/// for notice in client.notices() {
///     if notice == Notice::Changed(Listed::Tools) {
///         println!("{} tools now", client.list_tools()?.len());
///     }
/// }
/// # Ok(()) }
/// ```
pub struct Notices {
    pub(crate) feed: Arc<Feed>,
}

impl Notices {
    /// The next one, if it comes within this time. `None`: it does not, or the connection is over.
    pub fn next_within(&mut self, time: Duration) -> Option<Notice> {
        self.feed.next(Instant::now().checked_add(time))
    }
}

impl Iterator for Notices {
    type Item = Notice;

    fn next(&mut self) -> Option<Notice> {
        self.feed.next(None)
    }
}

impl std::fmt::Debug for Notices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notices").finish_non_exhaustive()
    }
}

/// A subscription (`2026-07-28`): see [`ClientHandle::listen`](crate::ClientHandle::listen). What it tells is
/// [`Notice::Changed`] and [`Notice::Updated`]. As an iterator it ends when the server ends it, or with the connection;
/// dropping it ends it, too.
#[derive(Debug)]
pub struct Subscription {
    pub(crate) notices: Notices,
    pub(crate) acknowledged: String,
    pub(crate) ticket: Ticket,
    pub(crate) hub: Arc<Hub>,
}

impl Subscription {
    /// What the server will tell, as it wrote it: an object like
    /// `{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`. It may be less than what was asked for.
    #[must_use]
    pub fn acknowledged(&self) -> Json<'_> {
        view(&self.acknowledged)
    }

    /// The next change, if it comes within this time. `None`: it does not, or the subscription is over.
    pub fn next_within(&mut self, time: Duration) -> Option<Notice> {
        self.notices.next_within(time)
    }
}

impl Iterator for Subscription {
    type Item = Notice;

    fn next(&mut self) -> Option<Notice> {
        self.notices.next()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.cancel(self.ticket, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_proto::client::Listed;

    #[test]
    fn a_change_is_said_once_and_what_does_not_fit_is_counted() {
        let feed = Feed::default();
        let log = || Notice::Log { level: None, logger: None, data: "1".into() };
        for _ in 0..300 {
            feed.push(Notice::Changed(Listed::Tools));
            feed.push(log());
        }
        let heard: Vec<_> = std::iter::from_fn(|| feed.next(Some(Instant::now()))).collect();
        assert_eq!(heard.len(), NOTICES + 1);
        assert_eq!(heard[..2], [Notice::Changed(Listed::Tools), log()]);
        assert_eq!(heard.iter().filter(|notice| **notice == Notice::Changed(Listed::Tools)).count(), 1);
        assert_eq!(heard[NOTICES], Notice::Missed(301 - NOTICES));
        feed.push(Notice::Changed(Listed::Tools));
        feed.end();
        assert_eq!(feed.next(None), Some(Notice::Changed(Listed::Tools)));
        assert_eq!(feed.next(None), None);
    }
}
