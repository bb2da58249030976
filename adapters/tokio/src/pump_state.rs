//! The parts that all pumps share: a clock with a timer, a waker, and fairness to other tasks.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_proto::Millis;
use mcp_proto_handles::{EventTime, PumpStatus, Signal, Wake};
use tokio::time::{Instant, Sleep, sleep_until};

/// Maximum number of consecutive polls with a status before the task yields to other tasks.
const MAX_EVENTS: u8 = 32;

pub(crate) struct PumpState {
    start: Instant,
    time: EventTime,
    woken: Arc<Signal<bool>>,
    /// The timer of the current deadline. `None`: no deadline.
    timer: Option<Pin<Box<Sleep>>>,
    /// Number of consecutive polls that returned a status.
    events: u8,
}

impl PumpState {
    /// Creates the state of a pump whose clock starts at `start`.
    pub(crate) fn new(start: Instant) -> PumpState {
        PumpState { start, time: EventTime::default(), woken: Arc::default(), timer: None, events: 0 }
    }

    pub(crate) fn now(&self) -> Millis {
        time_since(self.start)
    }

    /// Returns the current time, like [`now`](PumpState::now), and records the reading for
    /// [`time_after_event`](PumpState::time_after_event).
    pub(crate) fn read_clock(&mut self) -> Millis {
        let now = self.now();
        self.time.record(now)
    }

    /// Returns the time after an event. If the last events were quick and the state machine has no deadline, this
    /// method does not read the clock: see [`EventTime`].
    pub(crate) fn time_after_event(&mut self, has_deadline: bool) -> Millis {
        let PumpState { start, time, .. } = self;
        time.after_event(has_deadline, || time_since(*start))
    }

    /// Returns a callback that wakes the pump.
    pub(crate) fn wake(&self) -> Wake {
        let woken = Arc::clone(&self.woken);
        Arc::new(move || woken.update(|woken| *woken = true))
    }

    /// Returns `true` if the task must yield to other tasks before the next poll. Wakes the task in this case.
    pub(crate) fn must_yield(&mut self, context: &mut Context<'_>) -> bool {
        let must_yield = self.events >= MAX_EVENTS;
        if must_yield {
            self.events = 0;
            context.waker().wake_by_ref();
        }
        must_yield
    }

    /// Counts consecutive polls that return a status. `status` is the result of a poll.
    pub(crate) fn count(&mut self, status: &Poll<PumpStatus>) {
        self.events = if status.is_ready() { self.events + 1 } else { 0 };
    }

    /// Returns `true` if [`PumpStatus::Woken`] is due: a waker was used since the last check, or the time `until` has
    /// come. Otherwise the use of a waker wakes the task.
    pub(crate) fn is_woken(&self, context: &mut Context<'_>, until: Option<Millis>, now: Millis) -> bool {
        until.is_some_and(|until| until <= now)
            || self.woken.poll(context, |woken| mem::take(woken).then_some(())).is_ready()
    }

    /// Returns `true` if the deadline has passed. Otherwise the timer wakes the task at the deadline, if there is one.
    pub(crate) fn poll_deadline(&mut self, context: &mut Context<'_>, deadline: Option<Millis>) -> bool {
        let at = deadline.and_then(|at| self.start.checked_add(Duration::from_millis(at.0)));
        let Some(at) = at else {
            self.timer = None;
            return false;
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if timer.deadline() != at {
            timer.as_mut().reset(at);
        }
        timer.as_mut().poll(context).is_ready()
    }
}

pub(crate) fn time_since(start: Instant) -> Millis {
    start.elapsed().into()
}
