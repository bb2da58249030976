//! Locks that a panic elsewhere does not break.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Locks, whether or not a thread has panicked with the lock: what is kept behind our locks is valid at every step.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

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
