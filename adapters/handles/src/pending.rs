//! A client request in flight: future, cancellation and shared state.

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use mcp_proto::{Millis, RequestFailure, Ticket};

use crate::client_shared::ClientShared;
use crate::error::CallError;
use crate::notifications::NotificationQueue;
use crate::options::CallOptions;
use crate::owned::{Notification, Progress};
use crate::reconnect::{Reconnect, StreamAttempts};
use crate::request::Request;
use crate::signal::Signal;
use crate::views::CallResult;

/// Maximum number of queued progress notifications. A full queue drops the oldest notification.
const MAX_QUEUED_PROGRESS: usize = 64;

/// The contents of a successful response.
#[derive(Debug)]
pub(crate) enum ResponseBody {
    Json(String),
    /// The entries of a list, each as JSON.
    List(Vec<String>),
    /// A subscription that the server acknowledged, with the acknowledged filter as JSON.
    Listening(Ticket, String),
    /// The server has ended the subscription. Before the acknowledgment, this is an error for the caller.
    Ended,
}

impl ResponseBody {
    pub(crate) fn into_json(self) -> Option<String> {
        match self {
            ResponseBody::Json(json) => Some(json),
            _ => None,
        }
    }

    pub(crate) fn into_list(self) -> Option<Vec<String>> {
        match self {
            ResponseBody::List(entries) => Some(entries),
            _ => None,
        }
    }

    pub(crate) fn into_call_result(self) -> Option<CallResult> {
        self.into_json().map(CallResult::from_valid_json)
    }
}

/// A request, shared between its future and the event loop.
#[derive(Debug)]
pub(crate) struct RequestState {
    pub(crate) request: Request,
    pub(crate) options: CallOptions,
    /// The queue for notifications that belong to the request. Only [`Request::Listen`] and [`Request::Other`] have a
    /// queue.
    pub(crate) queue: Option<Arc<NotificationQueue>>,
    state: Signal<State>,
    /// Whether the request counts against [`ClientShared::request_limit`].
    is_counted: AtomicBool,
    /// Whether the request was repeated, because the server refused its header fields or has ended the session.
    is_repeated: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    stage: Stage,
    /// The end of the request: `Ok`, or the error. `None` until the request has ended. The acknowledgment of a
    /// subscription is a result, but not an end.
    end: Option<Result<(), CallError>>,
    progress: VecDeque<Progress>,
    /// The attempts to send a subscription again. `None` until its stream has closed.
    attempts: Option<StreamAttempts>,
}

#[derive(Debug, Default)]
enum Stage {
    /// The request waits to be sent.
    #[default]
    Queued,
    Sent(Ticket),
    Done(Result<ResponseBody, CallError>),
    /// The future has returned the result.
    Taken,
    /// The future has returned the acknowledgment of this subscription.
    Listening(Ticket),
}

impl RequestState {
    pub(crate) fn new(request: Request, options: CallOptions) -> Arc<RequestState> {
        let queue = matches!(request, Request::Listen { .. } | Request::Other { .. }).then(Arc::default);
        let (state, is_counted) = (Signal::default(), AtomicBool::new(true));
        let is_repeated = AtomicBool::new(false);
        Arc::new(RequestState { request, options, queue, state, is_counted, is_repeated })
    }

    /// Stops counting the request against [`ClientShared::request_limit`]. Returns `false` if the request was not
    /// counted.
    pub(crate) fn release_slot(&self) -> bool {
        self.is_counted.swap(false, Ordering::Relaxed)
    }

    /// Returns whether the request waits to be sent, or for its result. A subscription that is sent again waits for
    /// another acknowledgment.
    pub(crate) fn is_awaited(&self) -> bool {
        self.state.with(|state| matches!(state.stage, Stage::Queued | Stage::Sent(_)))
    }

    /// Records that the request was sent. Returns `false` if the request has ended, for example by a cancellation.
    pub(crate) fn mark_sent(&self, ticket: Ticket) -> bool {
        self.state.with(|state| {
            let is_queued = matches!(state.stage, Stage::Queued);
            if is_queued {
                state.stage = Stage::Sent(ticket);
            }
            is_queued
        })
    }

    /// Marks a sent request as unsent, so that it is sent again. Returns `false` if the request is not in flight, or
    /// was repeated before.
    pub(crate) fn mark_repeated(&self) -> bool {
        self.state.with(|state| {
            let is_sent = matches!(state.stage, Stage::Sent(_));
            let is_first = is_sent && !self.is_repeated.swap(true, Ordering::Relaxed);
            if is_first {
                state.stage = Stage::Queued;
            }
            is_first
        })
    }

    /// Marks a subscription whose stream has closed as unsent, so that it is sent again. Returns whether the server
    /// has acknowledged the subscription on this stream. Returns `None` for any other request, and for a subscription
    /// that the server has never acknowledged.
    pub(crate) fn mark_stream_closed(&self) -> Option<bool> {
        self.state.with(|state| {
            let is_open =
                matches!(state.stage, Stage::Listening(_) | Stage::Done(Ok(ResponseBody::Listening(..))));
            let was_open = is_open || matches!(state.stage, Stage::Sent(_)) && state.attempts.is_some();
            was_open.then(|| {
                state.stage = Stage::Queued;
                is_open
            })
        })
    }

    /// Takes one attempt to send the subscription again, and returns the time of the attempt. Returns `None` if no
    /// attempt is left. `was_open` is the result of [`mark_stream_closed`](RequestState::mark_stream_closed), and
    /// `least` is the shortest pause.
    pub(crate) fn take_attempt(
        &self,
        all: Reconnect,
        was_open: bool,
        least: Millis,
        now: Millis,
    ) -> Option<Millis> {
        self.state.with(|state| {
            state.attempts.get_or_insert(StreamAttempts::new(all)).take(all, was_open, least, now)
        })
    }

    /// Returns whether the request is a subscription whose stream has closed at least once.
    pub(crate) fn has_attempts(&self) -> bool {
        self.state.with(|state| state.attempts.is_some())
    }

    /// Returns whether the request is a subscription that was sent again and awaits its acknowledgment.
    pub(crate) fn is_sent_again(&self) -> bool {
        self.state.with(|state| matches!(state.stage, Stage::Sent(_)) && state.attempts.is_some())
    }

    pub(crate) fn progress(&self, progress: Progress) {
        self.state.update(|state| {
            if state.progress.len() >= MAX_QUEUED_PROGRESS {
                state.progress.pop_front();
            }
            state.progress.push_back(progress);
        });
    }

    /// Sets the result, unless the request already has one. Unless the result is an acknowledged subscription, also
    /// ends the request, and then closes the notification queue. So if a consumer sees that the queue is closed,
    /// `failure` already returns the error of the request, if there is one.
    pub(crate) fn complete(&self, result: Result<ResponseBody, CallError>) {
        let is_end = !matches!(result, Ok(ResponseBody::Listening(..)));
        self.state.update(|state| {
            if is_end {
                state.end.get_or_insert(result.as_ref().map(|_| ()).map_err(Clone::clone));
            }
            if matches!(state.stage, Stage::Queued | Stage::Sent(_)) {
                state.stage = Stage::Done(result);
            }
        });
        if is_end {
            self.close_queue();
        }
    }

    /// Returns the error with which the request has ended. Returns `None` if the request has not ended, or has ended
    /// without an error.
    fn failure(&self) -> Option<CallError> {
        self.state.with(|state| state.end.clone()?.err())
    }

    /// Closes the notification queue of the request, if there is one.
    fn close_queue(&self) {
        if let Some(queue) = &self.queue {
            queue.close();
        }
    }

    /// Cancels the request. Returns `None` if the request has already ended.
    ///
    /// The inner value is the ticket that the client must cancel. The inner value is `None` if the request waits
    /// to be sent.
    fn cancel(&self) -> Option<Option<Ticket>> {
        let ticket = self.take_ticket();
        if ticket.is_some() {
            self.close_queue();
        }
        ticket
    }

    fn take_ticket(&self) -> Option<Option<Ticket>> {
        self.state.update(|state| {
            if state.end.is_some() {
                return None;
            }
            let ticket = match state.stage {
                Stage::Sent(ticket)
                | Stage::Listening(ticket)
                | Stage::Done(Ok(ResponseBody::Listening(ticket, _))) => Some(ticket),
                Stage::Queued | Stage::Done(_) | Stage::Taken => None,
            };
            state.end = Some(Err(CallError::Cancelled));
            state.stage = Stage::Done(Err(CallError::Cancelled));
            Some(ticket)
        })
    }

    fn poll_result(&self, context: &mut Context<'_>) -> Poll<Result<ResponseBody, CallError>> {
        self.state.poll(context, |state| match mem::replace(&mut state.stage, Stage::Taken) {
            Stage::Done(result) => {
                if let Ok(ResponseBody::Listening(ticket, _)) = &result {
                    state.stage = Stage::Listening(*ticket);
                }
                Some(result)
            }
            Stage::Taken => Some(Err(CallError::Closed)),
            stage => {
                state.stage = stage;
                None
            }
        })
    }

    /// Returns the next progress notification, or `None` if the request has a result and no notification is left.
    async fn next_progress(&self) -> Option<Progress> {
        let next = |state: &mut State| match state.progress.pop_front() {
            Some(progress) => Some(Some(progress)),
            None => (!matches!(state.stage, Stage::Queued | Stage::Sent(_))).then_some(None),
        };
        self.state.wait_until(next).await
    }
}

/// A request in flight, as a future of its result. Dropping the future cancels the request.
///
/// ```no_run
/// # async fn example(client: &mcp_proto_handles::ClientHandle) -> Result<(), mcp_proto_handles::CallError> {
/// # use mcp_proto_handles::CallOptions;
///
/// let mut call = client.begin_json("slow", r#"{"seconds":60}"#, CallOptions::new().with_progress())?;
/// while let Some(progress) = call.progress().await {
///     println!("{} of {:?}", progress.progress, progress.total);
/// }
/// println!("{:?}", call.await?.text());
/// # Ok(()) }
/// ```
#[must_use = "dropping it cancels the request"]
pub struct PendingRequest<T> {
    canceller: Canceller,
    is_detached: bool,
    /// Converts the response. Returns `None` if the response does not match the request.
    read: fn(ResponseBody) -> Option<T>,
}

/// A tool call in flight: see [`PendingRequest`].
pub type PendingCall = PendingRequest<CallResult>;

impl<T> PendingRequest<T> {
    pub(crate) fn new(
        state: Arc<RequestState>,
        shared: Arc<ClientShared>,
        read: fn(ResponseBody) -> Option<T>,
    ) -> Self {
        PendingRequest { canceller: Canceller { state, shared }, is_detached: false, read }
    }

    pub(crate) fn state(&self) -> Arc<RequestState> {
        Arc::clone(&self.canceller.state)
    }

    /// Returns the next progress notification or status of a task. Returns `None` if the request has ended and no
    /// notification is left.
    ///
    /// The server sends progress notifications only with [`CallOptions::with_progress`]. The request keeps the last 64
    /// notifications. Dropping this future loses no notification.
    pub async fn progress(&mut self) -> Option<Progress> {
        self.canceller.state.next_progress().await
    }

    /// Returns the next notification of an extension that belongs to this request. Returns `None` if the request has
    /// ended and no notification is left.
    ///
    /// The `_meta` of such a notification contains the subscription id of the request. Only requests of
    /// [`begin_request`](crate::ClientHandle::begin_request) have such notifications. For other requests, the method
    /// returns `None` immediately. Dropping this future loses no notification.
    pub async fn notification(&mut self) -> Option<Notification> {
        self.canceller.state.queue.as_ref()?.next().await
    }

    /// Cancels the request, unless it has ended. `reason` is for the server, and may be empty. The future of a
    /// cancelled request returns [`CallError::Cancelled`].
    pub fn cancel(&self, reason: &str) {
        self.canceller.cancel(reason);
    }

    /// Drops the future without cancelling the request. The client ignores the result of the request.
    ///
    /// A call that has become a task can thus outlive this client: see [`TaskCall`](crate::TaskCall).
    pub fn detach(mut self) {
        self.is_detached = true;
    }

    /// Returns a handle with which any task or thread can cancel the request.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }
}

impl<T> Future for PendingRequest<T> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.canceller.state.poll_result(context).map(|result| match result? {
            ResponseBody::Ended => Err(CallError::Invalid(RequestFailure::Ended.to_string())),
            body => (self.read)(body)
                .ok_or_else(|| CallError::Invalid("the response does not match the request".into())),
        })
    }
}

impl<T> Drop for PendingRequest<T> {
    fn drop(&mut self) {
        if !self.is_detached {
            self.cancel("");
        }
    }
}

impl<T> std::fmt::Debug for PendingRequest<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingRequest").finish_non_exhaustive()
    }
}

/// A handle that cancels a request. Clones cancel the same request.
#[derive(Clone)]
pub struct Canceller {
    state: Arc<RequestState>,
    shared: Arc<ClientShared>,
}

impl Canceller {
    /// Returns the error with which the request has ended: see [`RequestState::failure`].
    pub(crate) fn failure(&self) -> Option<CallError> {
        self.state.failure()
    }

    /// Cancels the request, unless it has ended. `reason` is for the server, and may be empty.
    pub fn cancel(&self, reason: &str) {
        let Some(ticket) = self.state.cancel() else { return };
        // Free the slot at once, so that a new request can start before the event loop cancels this one.
        self.shared.release_slot(&self.state);
        if let Some(ticket) = ticket {
            self.shared.cancel(ticket, reason);
        }
    }
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
