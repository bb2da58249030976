//! Blocks a thread on a future.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Maximum length of one wait. Some systems reject very long timeouts.
const MAX_WAIT: Duration = Duration::from_secs(86_400);

struct Parked {
    thread: Thread,
    /// Whether the future must be polled: it was woken after its last poll, or was never polled. The token of `unpark`
    /// is not enough, because other code on this thread may consume the token.
    woken: AtomicBool,
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Blocks this thread until the future is ready.
pub fn block_on<R>(future: impl Future<Output = R>) -> R {
    let Ok(result) = poll_parked::<_, Infallible>(future, || {
        thread::park();
        Ok(())
    });
    result
}

/// Blocks this thread until the future is ready or `until` has passed. If `until` is `None`, waits until the future is
/// ready. Returns `None` if `until` passes first.
pub fn block_on_until<R>(until: Option<Instant>, future: impl Future<Output = R>) -> Option<R> {
    let wait = || match until.map(|until| until.saturating_duration_since(Instant::now())) {
        None => {
            thread::park();
            Ok(())
        }
        Some(Duration::ZERO) => Err(()),
        Some(left) => {
            thread::park_timeout(left.min(MAX_WAIT));
            Ok(())
        }
    };
    poll_parked(future, wait).ok()
}

fn poll_parked<R, E>(
    future: impl Future<Output = R>,
    mut wait: impl FnMut() -> Result<(), E>,
) -> Result<R, E> {
    let parked = Arc::new(Parked { thread: thread::current(), woken: AtomicBool::new(true) });
    let waker = Waker::from(Arc::clone(&parked));
    let mut future = pin!(future);
    loop {
        if parked.woken.swap(false, Ordering::Acquire)
            && let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker))
        {
            return Ok(result);
        }
        if !parked.woken.load(Ordering::Acquire) {
            wait()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Signal;

    #[test]
    fn block_on_until_returns_at_change_or_deadline() {
        let value = Arc::new(Signal::new(0));
        let shared = Arc::clone(&value);
        let thread =
            thread::spawn(move || block_on(shared.wait_until(|value| (*value == 3).then_some(*value))));
        for _ in 0..3 {
            value.update(|value| *value += 1);
        }
        assert_eq!(thread.join().unwrap(), 3);
        let soon = Instant::now().checked_add(Duration::from_millis(20));
        assert_eq!(block_on_until(soon, value.wait_until(|value| (*value == 4).then_some(()))), None);
        assert!(Instant::now() >= soon.unwrap());
    }
}
