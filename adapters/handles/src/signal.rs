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
pub struct Signal<T> {
    inner: Mutex<Inner<T>>,
}

#[derive(Debug, Default)]
struct Inner<T> {
    value: T,
    /// Each with its number. Whoever only polls has none: 0.
    waiting: Vec<(u64, Waker)>,
    /// The number that was given last.
    last: u64,
}

impl<T> Signal<T> {
    /// A value that nobody waits for yet.
    pub fn new(value: T) -> Signal<T> {
        Signal { inner: Mutex::new(Inner { value, waiting: Vec::new(), last: 0 }) }
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
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
        result
    }

    /// What `ready` finds in the value; if it finds nothing, whoever polls is woken by the next change. This is for one at
    /// a time: the last one who has polled is woken, nobody before.
    pub fn poll<R>(&self, context: &mut Context<'_>, ready: impl FnOnce(&mut T) -> Option<R>) -> Poll<R> {
        let mut inner = lock(&self.inner);
        if let Some(found) = ready(&mut inner.value) {
            return Poll::Ready(found);
        }
        let known = match inner.waiting.iter_mut().find(|(number, _)| *number == 0) {
            Some((_, waker)) if waker.will_wake(context.waker()) => None,
            Some((_, waker)) => Some(std::mem::replace(waker, context.waker().clone())),
            None => {
                inner.waiting.push((0, context.waker().clone()));
                None
            }
        };
        // Dropping it may look here.
        drop(inner);
        drop(known);
        Poll::Pending
    }

    /// Waits until `ready` finds something in the value.
    pub async fn until<R>(&self, mut ready: impl FnMut(&mut T) -> Option<R>) -> R {
        let mut place = Place { watched: self, number: 0 };
        poll_fn(|context| {
            let mut inner = lock(&self.inner);
            if let Some(found) = ready(&mut inner.value) {
                return Poll::Ready(found);
            }
            let known = place.leave(&mut inner);
            inner.last += 1;
            place.number = inner.last;
            inner.waiting.push((place.number, context.waker().clone()));
            // Dropping it may look here.
            drop(inner);
            drop(known);
            Poll::Pending
        })
        .await
    }
}

/// A place among those who wait. Whoever stops waiting gives it up.
struct Place<'w, T> {
    watched: &'w Signal<T>,
    number: u64,
}

impl<T> Place<'_, T> {
    fn leave(&self, inner: &mut Inner<T>) -> Option<(u64, Waker)> {
        let at = inner.waiting.iter().position(|(number, _)| *number == self.number && *number > 0)?;
        Some(inner.waiting.swap_remove(at))
    }
}

impl<T> Drop for Place<'_, T> {
    fn drop(&mut self) {
        let left = self.leave(&mut lock(&self.watched.inner));
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    #[test]
    fn all_who_wait_are_woken_and_who_does_not_is_forgotten() {
        struct Nobody;
        impl std::task::Wake for Nobody {
            fn wake(self: std::sync::Arc<Self>) {}
        }
        let value = Signal::new(0);
        let waker = Waker::from(std::sync::Arc::new(Nobody));
        let mut context = Context::from_waker(&waker);
        {
            let mut one = pin!(value.until(|value| (*value > 0).then_some(*value)));
            let mut two = pin!(value.until(|value| (*value > 1).then_some(*value)));
            for _ in 0..3 {
                assert!(one.as_mut().poll(&mut context).is_pending());
                assert!(two.as_mut().poll(&mut context).is_pending());
                assert!(value.poll(&mut context, |value| (*value > 2).then_some(())).is_pending());
            }
            assert_eq!(lock(&value.inner).waiting.len(), 3);
            value.change(|value| *value = 1);
            assert!(lock(&value.inner).waiting.is_empty());
            assert_eq!(one.as_mut().poll(&mut context), Poll::Ready(1));
            assert!(two.as_mut().poll(&mut context).is_pending());
        }
        assert!(lock(&value.inner).waiting.is_empty(), "nobody waits any more");
    }

    #[test]
    fn whoever_polls_last_is_woken_and_nobody_before_is_remembered() {
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
        assert_eq!(lock(&value.inner).waiting.len(), 1);
        value.change(|value| *value = 1);
        let woken = wakers.iter().map(|woken| woken.0.load(std::sync::atomic::Ordering::Relaxed));
        assert_eq!(woken.collect::<Vec<_>>(), [false, false, true]);
    }
}
