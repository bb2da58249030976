//! A value that several share, and that one may wait for.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Locks, whether or not a thread has panicked with the lock: what is kept behind our locks is valid at every step.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value behind a lock, with all who wait for it to change.
///
/// Nothing may be dropped inside of the closures whose own end would look here.
#[derive(Debug, Default)]
pub struct Watched<T> {
    inner: Mutex<Inner<T>>,
}

#[derive(Debug, Default)]
struct Inner<T> {
    value: T,
    waiting: Vec<Waker>,
}

impl<T> Watched<T> {
    /// A value that nobody waits for yet.
    pub fn new(value: T) -> Watched<T> {
        Watched { inner: Mutex::new(Inner { value, waiting: Vec::new() }) }
    }

    /// Looks at the value, or changes of it what nobody waits for.
    pub fn look<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut lock(&self.inner).value)
    }

    /// Changes the value, and wakes all who wait.
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut inner = lock(&self.inner);
        let result = change(&mut inner.value);
        let waiting = std::mem::take(&mut inner.waiting);
        // Whoever is woken may look here at once.
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
        result
    }

    /// What `ready` finds in the value; if it finds nothing, it is tried again after the next change.
    pub fn poll<R>(&self, context: &mut Context<'_>, ready: impl FnOnce(&mut T) -> Option<R>) -> Poll<R> {
        let mut inner = lock(&self.inner);
        if let Some(found) = ready(&mut inner.value) {
            return Poll::Ready(found);
        }
        if !inner.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            inner.waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Waits until `ready` finds something in the value.
    pub async fn until<R>(&self, mut ready: impl FnMut(&mut T) -> Option<R>) -> R {
        poll_fn(|context| self.poll(context, &mut ready)).await
    }
}
