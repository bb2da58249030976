//! The status and the waker of a pump, which moves bytes or messages between a state machine and its transport.

use std::fmt;

use crate::Wake;

/// The reason why `run` of a pump returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PumpStatus {
    /// The state machine has an event.
    Event,
    /// A [`Waker`] was used, or the time limit of the call has passed. Over HTTP, also: the server has refused a
    /// response of the application.
    Woken,
    /// The connection is closed.
    Closed,
}

/// A handle that wakes a pump from any thread or task.
///
/// The current or a later call of `run` returns [`PumpStatus::Woken`]. Pending events come first. Clones wake the same
/// pump.
#[derive(Clone)]
pub struct Waker {
    wake: Wake,
}

impl Waker {
    /// Creates the waker of a pump from the callback that wakes the pump.
    #[must_use]
    pub fn new(wake: Wake) -> Waker {
        Waker { wake }
    }

    /// Wakes the pump.
    pub fn wake(&self) {
        (self.wake)();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waker").finish_non_exhaustive()
    }
}
