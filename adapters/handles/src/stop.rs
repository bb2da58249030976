//! Stops servers from other threads, within a time limit.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::signal::{Signal, lock};

/// Replacement for a time limit that is too long for an `Instant`.
const MAX_TIME: Duration = Duration::from_secs(365 * 86_400);

/// A switch that stops servers, for example from another thread or on a signal.
///
/// Clones share one switch. A switch stops any number of servers: see `Serve::stopped_by` of the adapter. A server that
/// gets a used switch begins to stop immediately. Its running requests have the remaining time.
#[derive(Clone, Default)]
pub struct Stop {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    until: Option<Instant>,
    last_number: u64,
    listeners: Vec<(u64, OnStop)>,
}

type OnStop = Arc<dyn Fn(Duration) + Send + Sync>;

impl Stop {
    /// Creates an unused switch.
    #[must_use]
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Stops the servers and returns immediately.
    ///
    /// Servers accept no new connections or requests. Running requests may finish within `time`, or get an error
    /// response. Clients have two more seconds to read the last responses. Worker threads have one more second to
    /// notice their cancellation. A repeated call replaces the time.
    pub fn within(&self, time: Duration) {
        let now = Instant::now();
        let listeners = {
            let mut state = lock(&self.state);
            state.until = Some(now.checked_add(time).unwrap_or(now + MAX_TIME));
            state.listeners.clone()
        };
        listeners.iter().for_each(|(_, on_stop)| self.notify(on_stop));
    }

    /// Returns whether [`within`](Stop::within) was called.
    #[must_use]
    pub fn is_used(&self) -> bool {
        lock(&self.state).until.is_some()
    }

    /// Returns a future that is ready when the switch was used, for example for `axum::serve`.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + use<> {
        let signal = Arc::new(Signal::new(false));
        let used = Arc::clone(&signal);
        let listener = self.on_stop(move |_| used.update(|is_used| *is_used = true));
        async move {
            signal.wait_until(|is_used| is_used.then_some(())).await;
            drop(listener);
        }
    }

    /// Registers a callback of an adapter. Each call of [`within`](Stop::within) passes the remaining time to `on_stop`.
    ///
    /// If the switch was used before, this method also calls `on_stop` immediately. If several threads use the switch
    /// at the same time, the last call has the time of the latest use. `on_stop` must not block. If the registration is
    /// dropped during a call of `within`, a last call of `on_stop` may follow.
    #[must_use = "dropping the registration removes the callback"]
    pub fn on_stop(&self, on_stop: impl Fn(Duration) + Send + Sync + 'static) -> StopListener {
        let on_stop: OnStop = Arc::new(on_stop);
        let number = {
            let mut state = lock(&self.state);
            state.last_number += 1;
            let number = state.last_number;
            state.listeners.push((number, Arc::clone(&on_stop)));
            number
        };
        self.notify(&on_stop);
        StopListener { stop: self.clone(), number }
    }

    /// Calls `on_stop` with the remaining time, if the switch was used. Repeats the call if the switch was used again
    /// meanwhile: the switch is not locked during calls, so a call with an earlier time could otherwise come last.
    fn notify(&self, on_stop: &OnStop) {
        let mut passed = None;
        loop {
            let until = lock(&self.state).until;
            if until == passed {
                return;
            }
            passed = until;
            if let Some(until) = until {
                on_stop(until.saturating_duration_since(Instant::now()));
            }
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("is_used", &self.is_used()).finish_non_exhaustive()
    }
}

/// The registration of a callback, removed on drop.
pub struct StopListener {
    stop: Stop,
    number: u64,
}

impl fmt::Debug for StopListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopListener").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Drop for StopListener {
    fn drop(&mut self) {
        let number = self.number;
        let removed = {
            let mut state = lock(&self.stop.state);
            let at = state.listeners.iter().position(|(known, _)| *known == number);
            at.map(|at| state.listeners.swap_remove(at))
        };
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::task::{Context, Waker};
    use std::thread;

    #[test]
    fn callback_may_use_the_switch() {
        let (sender, calls) = mpsc::channel();
        // Another thread, so that a deadlock fails the test.
        thread::spawn(move || {
            let stop = Stop::new();
            let register = || {
                let (inner, sender) = (stop.clone(), sender.clone());
                stop.on_stop(move |_| {
                    drop(inner.on_stop(|_| {}));
                    _ = sender.send(inner.is_used());
                })
            };
            let before = register();
            stop.within(Duration::ZERO);
            drop(before);
            drop(register());
        });
        for call in ["use", "registration after the use"] {
            assert_eq!(calls.recv_timeout(Duration::from_secs(10)), Ok(true), "{call}");
        }
        assert!(calls.recv_timeout(Duration::from_secs(10)).is_err(), "no other call");
    }

    #[test]
    fn future_is_ready_when_the_switch_was_used() {
        let stop = Stop::new();
        let mut before = std::pin::pin!(stop.stopped());
        let mut context = Context::from_waker(Waker::noop());
        assert!(before.as_mut().poll(&mut context).is_pending());
        stop.within(Duration::ZERO);
        assert!(before.poll(&mut context).is_ready());
        assert!(std::pin::pin!(stop.stopped()).poll(&mut context).is_ready());
    }

    #[test]
    fn last_call_has_the_time_of_the_latest_use() {
        for is_used_first in [false, true] {
            let (stop, times) = (Stop::new(), Arc::new(Mutex::new(Vec::new())));
            let register = || {
                let (inner, times, is_first) = (stop.clone(), Arc::clone(&times), Mutex::new(true));
                stop.on_stop(move |time| {
                    // The first call uses the switch again before it stores its own time.
                    if std::mem::take(&mut *lock(&is_first)) {
                        inner.within(Duration::ZERO);
                    }
                    lock(&times).push(time);
                })
            };
            let listener = (!is_used_first).then(register);
            stop.within(Duration::from_secs(60));
            drop(listener.unwrap_or_else(register));
            assert_eq!(lock(&times).last(), Some(&Duration::ZERO), "used first: {is_used_first}");
        }
    }
}
