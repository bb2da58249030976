//! Waiting on a condition, whether or not a thread has panicked with the lock.

use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::Duration;

pub(crate) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits for `time` at most. Some systems refuse very long times, so that it may also end after a day.
pub(crate) fn wait_for<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> MutexGuard<'a, T> {
    let time = time.min(Duration::from_secs(86_400));
    condition.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner).0
}
