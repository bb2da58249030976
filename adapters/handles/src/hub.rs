//! What the handles and the thread of a client share.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, Weak};

use mcp_proto::Ticket;

use crate::error::CallError;
use crate::notices::Feed;
use crate::owned::Notice;
use crate::pending::Pending;
use crate::pump::Waker;
use crate::question::{InputAnswer, Place};
use crate::sync::lock;

pub(crate) struct Hub {
    state: Mutex<State>,
    limit: usize,
}

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    /// Requests that were started and have not ended, as far as the thread knows.
    open: usize,
    waker: Option<Waker>,
    over: bool,
    /// Who wants to hear every notice.
    feeds: Vec<Weak<Feed>>,
}

/// What the thread is to do.
pub(crate) enum Command {
    Start(Arc<Pending>),
    Cancel(Ticket, String),
    /// The host has answered a question.
    Answer(Place, InputAnswer),
    RootsChanged,
    Close,
}

impl Hub {
    pub(crate) fn new(limit: usize) -> Arc<Hub> {
        Arc::new(Hub { state: Mutex::default(), limit })
    }

    /// A connection begins. An attempt before it may have ended.
    pub(crate) fn begin(&self, waker: Waker) {
        let mut state = lock(&self.state);
        (state.over, state.waker) = (false, Some(waker));
    }

    /// The connection is over. What was not done comes back.
    pub(crate) fn end(&self) -> VecDeque<Command> {
        let mut state = lock(&self.state);
        (state.over, state.waker) = (true, None);
        for feed in state.feeds.drain(..).filter_map(|feed| feed.upgrade()) {
            feed.end();
        }
        mem::take(&mut state.commands)
    }

    pub(crate) fn start(&self, pending: Arc<Pending>) -> Result<(), CallError> {
        let mut state = lock(&self.state);
        if state.over {
            return Err(CallError::Closed);
        }
        if state.open >= self.limit {
            return Err(CallError::Busy);
        }
        state.open += 1;
        state.send(Command::Start(pending));
        Ok(())
    }

    pub(crate) fn cancel(&self, ticket: Ticket, reason: &str) {
        self.send(Command::Cancel(ticket, reason.into()));
    }

    pub(crate) fn send(&self, command: Command) {
        lock(&self.state).send(command);
    }

    pub(crate) fn commands(&self) -> VecDeque<Command> {
        mem::take(&mut lock(&self.state).commands)
    }

    pub(crate) fn is_over(&self) -> bool {
        lock(&self.state).over
    }

    /// A request that was started has ended.
    pub(crate) fn closed_one(&self) {
        let mut state = lock(&self.state);
        state.open = state.open.saturating_sub(1);
    }

    /// Passes every notice from now on to this feed, too.
    pub(crate) fn feed(&self, feed: &Arc<Feed>) {
        let mut state = lock(&self.state);
        if state.over {
            return feed.end();
        }
        state.feeds.push(Arc::downgrade(feed));
    }

    pub(crate) fn notice(&self, notice: &Notice) {
        let feeds = &mut lock(&self.state).feeds;
        feeds.retain(|feed| feed.upgrade().is_some_and(|feed| feed.push(notice.clone())));
    }
}

impl State {
    fn send(&mut self, command: Command) {
        if !self.over {
            self.commands.push_back(command);
            if let Some(waker) = &self.waker {
                waker.wake();
            }
        }
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}
