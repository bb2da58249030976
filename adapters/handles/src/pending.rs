//! A request that waits for its answer: what whoever asked and whoever owns the machine share.

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use mcp_proto::Ticket;

use crate::client_shared::ClientShared;
use crate::error::CallError;
use crate::notifications::Feed;
use crate::options::CallOptions;
use crate::owned::{CallResult, Progress};
use crate::request::Request;
use crate::signal::Signal;

/// So many reports of progress are kept for somebody who does not take them; then the oldest go.
const PROGRESS_KEPT: usize = 64;

/// What comes back.
#[derive(Debug)]
pub(crate) enum Answer {
    Json(String),
    /// The entries of a list, each as JSON.
    List(Vec<String>),
    /// A subscription was taken up: what of it, as JSON.
    Listening(Ticket, String),
}

#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) request: Request,
    pub(crate) options: CallOptions,
    /// Where the notices of a subscription go.
    pub(crate) feed: Option<Arc<Feed>>,
    state: Signal<State>,
    /// Whether it still counts as one that is on its way.
    open: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    stage: Stage,
    progress: VecDeque<Progress>,
}

#[derive(Debug, Default)]
enum Stage {
    /// It waits to be sent.
    #[default]
    Queued,
    Sent(Ticket),
    Done(Result<Answer, CallError>),
    /// Its answer was taken.
    Over,
}

impl Pending {
    pub(crate) fn new(request: Request, options: CallOptions) -> Arc<Pending> {
        let feed = matches!(request, Request::Listen { .. }).then(Arc::default);
        let (state, open) = (Signal::default(), AtomicBool::new(true));
        Arc::new(Pending { request, options, feed, state, open })
    }

    /// It does not count any more. `false`: it did not before.
    pub(crate) fn close(&self) -> bool {
        self.open.swap(false, Ordering::Relaxed)
    }

    /// Whether somebody still waits for it.
    pub(crate) fn is_wanted(&self) -> bool {
        self.state.look(|state| matches!(state.stage, Stage::Queued | Stage::Sent(_)))
    }

    /// It was sent. `false`: nobody wants it any more.
    pub(crate) fn sent(&self, ticket: Ticket) -> bool {
        self.state.look(|state| {
            let queued = matches!(state.stage, Stage::Queued);
            if queued {
                state.stage = Stage::Sent(ticket);
            }
            queued
        })
    }

    pub(crate) fn progress(&self, progress: Progress) {
        self.state.change(|state| {
            if state.progress.len() >= PROGRESS_KEPT {
                state.progress.pop_front();
            }
            state.progress.push_back(progress);
        });
    }

    /// Ends it, unless it has ended.
    pub(crate) fn end(&self, answer: Result<Answer, CallError>) {
        self.state.change(|state| {
            if let Stage::Queued | Stage::Sent(_) = state.stage {
                state.stage = Stage::Done(answer);
            }
        });
    }

    /// Nobody wants the answer any more. `None`: it has ended. What has to be cancelled comes back: a request that was
    /// sent, or a subscription that was taken up unheard.
    fn give_up(&self) -> Option<Option<Ticket>> {
        self.state.change(|state| {
            let ticket = match state.stage {
                Stage::Queued => None,
                Stage::Sent(ticket) | Stage::Done(Ok(Answer::Listening(ticket, _))) => Some(ticket),
                Stage::Done(_) | Stage::Over => return None,
            };
            state.stage = Stage::Done(Err(CallError::Cancelled));
            Some(ticket)
        })
    }

    fn poll_answer(&self, context: &mut Context<'_>) -> Poll<Result<Answer, CallError>> {
        self.state.poll(context, |state| match mem::replace(&mut state.stage, Stage::Over) {
            Stage::Done(answer) => Some(answer),
            Stage::Over => Some(Err(CallError::Closed)),
            stage => {
                state.stage = stage;
                None
            }
        })
    }

    /// The next report of progress. `None`: it has ended.
    async fn next_progress(&self) -> Option<Progress> {
        let next = |state: &mut State| match state.progress.pop_front() {
            Some(progress) => Some(Some(progress)),
            None => matches!(state.stage, Stage::Done(_) | Stage::Over).then_some(None),
        };
        self.state.until(next).await
    }
}

/// A request that was sent. As a future it is its result; dropping it cancels it.
///
/// ```no_run
/// # async fn example(client: &mcp_proto_handles::ClientHandle) -> Result<(), mcp_proto_handles::CallError> {
/// use mcp_proto_handles::CallOptions;
///
/// let mut call = client.begin_json("slow", r#"{"seconds":60}"#, CallOptions::new().with_progress())?;
/// while let Some(step) = call.progress().await {
///     println!("{} of {:?}", step.progress, step.total);
/// }
/// println!("{:?}", call.await?.text());
/// # Ok(()) }
/// ```
#[must_use = "dropping it cancels the request"]
pub struct PendingRequest<T> {
    canceller: Canceller,
    /// What the answer is. `None`: it is something else.
    read: fn(Answer) -> Option<T>,
}

/// A call that was sent: see [`PendingRequest`].
pub type PendingCall = PendingRequest<CallResult>;

impl<T> PendingRequest<T> {
    pub(crate) fn new(pending: Arc<Pending>, hub: Arc<ClientShared>, read: fn(Answer) -> Option<T>) -> Self {
        PendingRequest { canceller: Canceller { pending, hub }, read }
    }

    pub(crate) fn pending(&self) -> Arc<Pending> {
        Arc::clone(&self.canceller.pending)
    }

    /// The next report of progress, if the options asked for it. `None`: the request has ended. If nobody takes them, the
    /// last 64 are kept. Nothing is lost if this future is dropped.
    pub async fn progress(&mut self) -> Option<Progress> {
        self.canceller.pending.next_progress().await
    }

    /// Cancels it. Waiting for it then says so.
    pub fn cancel(&self, reason: &str) {
        self.canceller.cancel(reason);
    }

    /// The right to cancel it, for others.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }
}

impl<T> Future for PendingRequest<T> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.canceller.pending.poll_answer(context).map(|answer| {
            (self.read)(answer?).ok_or_else(|| CallError::Invalid("the answer is of another kind".into()))
        })
    }
}

impl<T> Drop for PendingRequest<T> {
    fn drop(&mut self) {
        self.cancel("");
    }
}

impl<T> std::fmt::Debug for PendingRequest<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingRequest").finish_non_exhaustive()
    }
}

/// The right to cancel a request.
#[derive(Clone)]
pub struct Canceller {
    pending: Arc<Pending>,
    hub: Arc<ClientShared>,
}

impl Canceller {
    /// Cancels the request. If it has ended, nothing happens.
    pub fn cancel(&self, reason: &str) {
        let Some(sent) = self.pending.give_up() else { return };
        // There is room for another one at once.
        self.hub.closed_one(&self.pending);
        if let Some(ticket) = sent {
            self.hub.cancel(ticket, reason);
        }
    }
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
