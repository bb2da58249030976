//! A shared value that threads and tasks can wait on.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Locks a mutex and ignores poisoning. The locked values stay valid even if a holder panics.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A locked value and the wakers of tasks that wait for changes.
///
/// All methods call their closures under the lock. A closure must not use the same signal, nor drop a value whose
/// destructor uses the signal.
#[derive(Debug, Default)]
pub struct Signal<T> {
    inner: Mutex<Inner<T>>,
}

#[derive(Debug, Default)]
struct Inner<T> {
    value: T,
    /// Wakers, each with the number of its waiter. [`Signal::poll`] uses number 0.
    waiters: Vec<(u64, Waker)>,
    /// The last assigned number.
    last_number: u64,
}

impl<T> Signal<T> {
    /// Creates a signal without waiters.
    pub fn new(value: T) -> Signal<T> {
        Signal { inner: Mutex::new(Inner { value, waiters: Vec::new(), last_number: 0 }) }
    }

    /// Accesses the value without waking any waiter. Use [`update`](Signal::update) if a waiter may wait for the
    /// change.
    pub fn with<R>(&self, access: impl FnOnce(&mut T) -> R) -> R {
        access(&mut lock(&self.inner).value)
    }

    /// Changes the value and wakes all waiters.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        self.update_and_wake(change, |_| true)
    }

    /// Changes the value and wakes the waiters of [`wait_until`](Signal::wait_until). Does not wake the task that
    /// [polls](Signal::poll), because this task makes the change.
    pub fn update_by_poller<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        self.update_and_wake(change, |number| number > 0)
    }

    fn update_and_wake<R>(&self, change: impl FnOnce(&mut T) -> R, wakes: impl Fn(u64) -> bool) -> R {
        let mut inner = lock(&self.inner);
        let result = change(&mut inner.value);
        let waiters = inner.waiters.extract_if(.., |(number, _)| wakes(*number)).collect::<Vec<_>>();
        // Release the lock first, because a waker may use the signal immediately.
        drop(inner);
        waiters.into_iter().for_each(|(_, waker)| waker.wake());
        result
    }

    /// Calls `ready` once. If `ready` returns `None`, stores the waker of `context`. Only one task may poll, because
    /// the signal stores only the waker of the last call.
    pub fn poll<R>(&self, context: &mut Context<'_>, ready: impl FnOnce(&mut T) -> Option<R>) -> Poll<R> {
        let mut inner = lock(&self.inner);
        if let Some(found) = ready(&mut inner.value) {
            return Poll::Ready(found);
        }
        let replaced = match inner.waiters.iter_mut().find(|(number, _)| *number == 0) {
            Some((_, waker)) if waker.will_wake(context.waker()) => None,
            Some((_, waker)) => Some(std::mem::replace(waker, context.waker().clone())),
            None => {
                inner.waiters.push((0, context.waker().clone()));
                None
            }
        };
        // A waker's destructor may use the signal, so drop the waker outside of the lock.
        drop(inner);
        drop(replaced);
        Poll::Pending
    }

    /// Waits until `ready` returns a value.
    pub async fn wait_until<R>(&self, mut ready: impl FnMut(&mut T) -> Option<R>) -> R {
        let mut waiter = Waiter { signal: self, number: 0 };
        poll_fn(|context| {
            let mut inner = lock(&self.inner);
            if let Some(found) = ready(&mut inner.value) {
                return Poll::Ready(found);
            }
            let replaced = waiter.deregister(&mut inner);
            inner.last_number += 1;
            waiter.number = inner.last_number;
            inner.waiters.push((waiter.number, context.waker().clone()));
            // A waker's destructor may use the signal, so drop the waker outside of the lock.
            drop(inner);
            drop(replaced);
            Poll::Pending
        })
        .await
    }
}

/// The registration of one waiter, removed on drop.
struct Waiter<'w, T> {
    signal: &'w Signal<T>,
    number: u64,
}

impl<T> Waiter<'_, T> {
    fn deregister(&self, inner: &mut Inner<T>) -> Option<(u64, Waker)> {
        let at = inner.waiters.iter().position(|(number, _)| *number == self.number && *number > 0)?;
        Some(inner.waiters.swap_remove(at))
    }
}

impl<T> Drop for Waiter<'_, T> {
    fn drop(&mut self) {
        let removed = self.deregister(&mut lock(&self.signal.inner));
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    #[test]
    fn change_wakes_all_waiters_and_drop_deregisters() {
        struct NoopWaker;
        impl std::task::Wake for NoopWaker {
            fn wake(self: std::sync::Arc<Self>) {}
        }
        let value = Signal::new(0);
        let waker = Waker::from(std::sync::Arc::new(NoopWaker));
        let mut context = Context::from_waker(&waker);
        {
            let mut one = pin!(value.wait_until(|value| (*value > 0).then_some(*value)));
            let mut two = pin!(value.wait_until(|value| (*value > 1).then_some(*value)));
            for _ in 0..3 {
                assert!(one.as_mut().poll(&mut context).is_pending());
                assert!(two.as_mut().poll(&mut context).is_pending());
                assert!(value.poll(&mut context, |value| (*value > 2).then_some(())).is_pending());
            }
            assert_eq!(lock(&value.inner).waiters.len(), 3);
            value.update(|value| *value = 1);
            assert!(lock(&value.inner).waiters.is_empty());
            assert_eq!(one.as_mut().poll(&mut context), Poll::Ready(1));
            assert!(two.as_mut().poll(&mut context).is_pending());
        }
        assert!(lock(&value.inner).waiters.is_empty(), "no waiter is left");
    }

    #[test]
    fn change_wakes_only_the_last_poller() {
        #[derive(Default)]
        struct Woken(std::sync::atomic::AtomicBool);
        impl std::task::Wake for Woken {
            fn wake(self: std::sync::Arc<Self>) {
                self.0.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
        let value = Signal::new(0);
        let wakers: Vec<_> = (0..3).map(|_| std::sync::Arc::new(Woken::default())).collect();
        for woken in &wakers {
            let waker = Waker::from(std::sync::Arc::clone(woken));
            let found = value.poll(&mut Context::from_waker(&waker), |value| (*value > 0).then_some(()));
            assert!(found.is_pending());
        }
        assert_eq!(lock(&value.inner).waiters.len(), 1);
        value.update(|value| *value = 1);
        let woken = wakers.iter().map(|woken| woken.0.load(std::sync::atomic::Ordering::Relaxed));
        assert_eq!(woken.collect::<Vec<_>>(), [false, false, true]);
    }
}
