//! What the handles of a client share with whoever owns its machine.

use std::collections::VecDeque;
use std::mem;
use std::process::ExitStatus;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_proto::Ticket;

use crate::Wake;
use crate::error::CallError;
use crate::notifications::Feed;
use crate::owned::Notification;
use crate::pending::Pending;
use crate::server_request::{InputResponse, Place};
use crate::signal::Signal;

/// What the handles of a client share with whoever owns its machine: what they want of it, and whether it is there.
pub struct ClientShared {
    state: Signal<State>,
    limit: usize,
}

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    /// Requests that were started and have not ended.
    open: usize,
    wake: Option<Wake>,
    /// This connection is over. Another attempt to connect may follow.
    over: bool,
    /// Everything is over, and how a child process has ended.
    ended: Option<Option<ExitStatus>>,
    /// Who wants to hear every notice.
    feeds: Vec<Weak<Feed>>,
}

/// What is to be done with the machine.
pub(crate) enum Command {
    Start(Arc<Pending>),
    Cancel(Ticket, String),
    /// The host has answered a question.
    Answer(Place, InputResponse),
    RootsChanged,
    /// Ends the connection, within this time whatever happens.
    Close(Option<Duration>),
}

impl ClientShared {
    /// For a client with so many requests on their way at once.
    #[must_use]
    pub fn new(limit: usize) -> Arc<ClientShared> {
        Arc::new(ClientShared { state: Signal::default(), limit })
    }

    /// A connection begins. An attempt before it may have ended.
    pub(crate) fn begin(&self, wake: Wake) {
        self.state.look(|state| {
            state.over = state.ended.is_some();
            state.wake = Some(wake);
        });
    }

    /// The connection is over. What was not done comes back.
    pub(crate) fn end(&self) -> VecDeque<Command> {
        self.state.look(|state| {
            (state.over, state.wake) = (true, None);
            mem::take(&mut state.commands)
        })
    }

    pub(crate) fn start(&self, pending: Arc<Pending>) -> Result<(), CallError> {
        self.state.look(|state| {
            if state.over {
                return Err(CallError::Closed);
            }
            if state.open >= self.limit {
                return Err(CallError::Busy);
            }
            state.open += 1;
            Ok(())
        })?;
        self.send(Command::Start(pending));
        Ok(())
    }

    pub(crate) fn cancel(&self, ticket: Ticket, reason: &str) {
        self.send(Command::Cancel(ticket, reason.into()));
    }

    /// What comes when the connection is over comes to nothing.
    pub(crate) fn send(&self, command: Command) {
        let left = self.state.look(|state| {
            if state.over {
                return Err(command);
            }
            state.commands.push_back(command);
            Ok(state.wake.clone())
        });
        match left {
            Ok(wake) => wake.iter().for_each(|wake| wake()),
            Err(Command::Start(pending)) => pending.end(Err(CallError::Closed)),
            Err(_) => {}
        }
    }

    pub(crate) fn commands(&self) -> VecDeque<Command> {
        self.state.look(|state| mem::take(&mut state.commands))
    }

    /// Ends the connection: what is unsent is written for as long as the machine's grace lasts, or `within` this time.
    pub fn close(&self, within: Option<Duration>) {
        self.send(Command::Close(within));
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.look(|state| state.over)
    }

    /// A request that was started has ended.
    pub(crate) fn closed_one(&self, pending: &Pending) {
        if pending.close() {
            self.state.look(|state| state.open = state.open.saturating_sub(1));
        }
    }

    /// Passes every notice from now on to this feed, too.
    pub fn feed(&self, feed: &Arc<Feed>) {
        let ended = self.state.look(|state| {
            if state.ended.is_none() {
                // A server that says nothing would let them pile up.
                state.feeds.retain(|feed| feed.strong_count() > 0);
                state.feeds.push(Arc::downgrade(feed));
            }
            state.ended.is_some()
        });
        if ended {
            feed.end();
        }
    }

    pub(crate) fn notice(&self, notice: &Notification) {
        let feeds: Vec<Arc<Feed>> = self.state.look(|state| {
            state.feeds.retain(|feed| feed.strong_count() > 0);
            state.feeds.iter().filter_map(Weak::upgrade).collect()
        });
        feeds.iter().for_each(|feed| feed.push(notice.clone()));
    }

    /// Waits until everything is over, and says how a child process has ended.
    pub async fn ended(&self) -> Option<ExitStatus> {
        self.state.until(|state| state.ended).await
    }

    /// The promise to say that everything is over. A panic keeps it, too.
    #[must_use]
    pub fn promise(self: &Arc<Self>) -> Ended {
        Ended { hub: Arc::clone(self), status: None }
    }
}

/// Says that a client is over, when it is dropped.
#[derive(Debug)]
pub struct Ended {
    hub: Arc<ClientShared>,
    status: Option<ExitStatus>,
}

impl Ended {
    /// How the child process has ended.
    pub fn with(mut self, status: Option<ExitStatus>) {
        self.status = status;
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let feeds = self.hub.state.change(|state| {
            state.over = true;
            state.ended = Some(self.status);
            mem::take(&mut state.feeds)
        });
        feeds.iter().filter_map(Weak::upgrade).for_each(|feed| feed.end());
    }
}

impl std::fmt::Debug for ClientShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientShared").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_hears_no_more_is_forgotten() {
        let hub = ClientShared::new(1);
        let kept = Arc::<Feed>::default();
        hub.feed(&kept);
        for _ in 0..100 {
            hub.feed(&Arc::default());
        }
        assert!(hub.state.look(|state| state.feeds.len()) <= 2);
    }
}
