//! A request that waits for its answer: what the thread that asked and the thread of the client share.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use mcp_proto::Ticket;

use crate::client::CallOptions;
use crate::error::CallError;
use crate::hub::Hub;
use crate::notices::Feed;
use crate::owned::{CallResult, Progress};
use crate::request::Request;
use crate::sync::{lock, wait, wait_for};

/// So many reports of progress are kept for a thread that does not take them; then the oldest go.
const PROGRESS_KEPT: usize = 64;

/// What comes back.
pub(crate) enum Answer {
    Json(String),
    /// The entries of a list, each as JSON.
    List(Vec<String>),
    /// A subscription was taken up: what of it, as JSON.
    Listening(Ticket, String),
}

pub(crate) struct Pending {
    pub(crate) request: Request,
    pub(crate) options: CallOptions,
    /// Where the notices of a subscription go.
    pub(crate) feed: Option<Arc<Feed>>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    stage: Stage,
    progress: VecDeque<Progress>,
}

enum Stage {
    /// It waits to be sent.
    Queued,
    Sent(Ticket),
    Done(Result<Answer, CallError>),
    /// Its answer was taken.
    Over,
}

impl Pending {
    pub(crate) fn new(request: Request, options: CallOptions) -> Arc<Pending> {
        let state = State { stage: Stage::Queued, progress: VecDeque::new() };
        let feed = matches!(request, Request::Listen { .. }).then(Arc::default);
        Arc::new(Pending { request, options, feed, state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Whether somebody still waits for it.
    pub(crate) fn is_wanted(&self) -> bool {
        matches!(lock(&self.state).stage, Stage::Queued | Stage::Sent(_))
    }

    /// It was sent. `false`: nobody wants it any more.
    pub(crate) fn sent(&self, ticket: Ticket) -> bool {
        let mut state = lock(&self.state);
        let queued = matches!(state.stage, Stage::Queued);
        if queued {
            state.stage = Stage::Sent(ticket);
        }
        queued
    }

    pub(crate) fn progress(&self, progress: Progress) {
        let mut state = lock(&self.state);
        if state.progress.len() >= PROGRESS_KEPT {
            state.progress.pop_front();
        }
        state.progress.push_back(progress);
        self.changed.notify_all();
    }

    /// Ends it, unless it has ended. The ticket comes back if it was sent.
    pub(crate) fn end(&self, answer: Result<Answer, CallError>) -> Option<Ticket> {
        let mut state = lock(&self.state);
        let ticket = match state.stage {
            Stage::Queued => None,
            Stage::Sent(ticket) => Some(ticket),
            Stage::Done(_) | Stage::Over => return None,
        };
        state.stage = Stage::Done(answer);
        self.changed.notify_all();
        ticket
    }

    /// Waits for the end. What cannot even be sent in time has timed out: once sent, the machine keeps the time.
    pub(crate) fn wait(&self, mut on_progress: impl FnMut(Progress)) -> Result<Answer, CallError> {
        let start = Instant::now();
        let mut state = lock(&self.state);
        loop {
            while let Some(progress) = state.progress.pop_front() {
                drop(state);
                on_progress(progress);
                state = lock(&self.state);
            }
            if let Stage::Done(_) = state.stage {
                return match mem::replace(&mut state.stage, Stage::Over) {
                    Stage::Done(answer) => answer,
                    _ => Err(CallError::Closed),
                };
            }
            let left = self.options.timeout.saturating_sub(start.elapsed());
            state = match state.stage {
                Stage::Queued if left == Duration::ZERO => {
                    state.stage = Stage::Over;
                    return Err(CallError::TimedOut);
                }
                Stage::Queued => wait_for(&self.changed, state, left),
                _ => wait(&self.changed, state),
            };
        }
    }
}

/// A call that was sent. Wait for its result, or cancel it, from this or another thread. Dropping it cancels it.
///
/// ```no_run
/// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
/// use mcp_proto_std::CallOptions;
/// use std::{thread, time::Duration};
///
/// let pending = client.begin_json("slow", r#"{"seconds":60}"#, CallOptions::new())?;
/// let canceller = pending.canceller();
/// thread::spawn(move || {
///     thread::sleep(Duration::from_secs(1));
///     canceller.cancel("not needed any more");
/// });
/// assert_eq!(pending.wait(), Err(mcp_proto_std::CallError::Cancelled));
/// # Ok(()) }
/// ```
#[must_use = "dropping it cancels the call"]
pub struct PendingCall {
    canceller: Canceller,
}

impl PendingCall {
    pub(crate) fn new(pending: Arc<Pending>, hub: Arc<Hub>) -> PendingCall {
        PendingCall { canceller: Canceller { pending, hub } }
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// There is none.
    pub fn wait(self) -> Result<CallResult, CallError> {
        self.wait_with(|_| {})
    }

    /// Waits for the result, and hears of progress on this thread meanwhile, if the options asked for it.
    ///
    /// # Errors
    /// There is no result.
    pub fn wait_with(self, on_progress: impl FnMut(Progress)) -> Result<CallResult, CallError> {
        match self.canceller.pending.wait(on_progress)? {
            Answer::Json(json) => Ok(CallResult::trusted(json)),
            _ => Err(CallError::Invalid("that is no result of a call".into())),
        }
    }

    /// Cancels the call. Waiting for it then says so.
    pub fn cancel(&self, reason: &str) {
        self.canceller.cancel(reason);
    }

    /// The right to cancel it, for other threads.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.cancel("");
    }
}

impl std::fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingCall").finish_non_exhaustive()
    }
}

/// The right to cancel a call.
#[derive(Clone)]
pub struct Canceller {
    pending: Arc<Pending>,
    hub: Arc<Hub>,
}

impl Canceller {
    /// Cancels the call. If it has ended, nothing happens.
    pub fn cancel(&self, reason: &str) {
        if let Some(ticket) = self.pending.end(Err(CallError::Cancelled)) {
            self.hub.cancel(ticket, reason);
        }
    }
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
