//! Waits on condition variables, with poisoned locks ignored.

use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::Duration;

pub(crate) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits for at most `time`, or one day if `time` is longer. Some systems reject longer timeouts.
pub(crate) fn wait_for<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> MutexGuard<'a, T> {
    let time = time.min(Duration::from_secs(86_400));
    condition.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner).0
}
