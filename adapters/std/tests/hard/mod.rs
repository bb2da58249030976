//! Tests that may not hang.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// What comes of it. It fails if that takes longer.
pub(crate) fn within<T: Send + 'static>(time: Duration, test: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = channel();
    let thread = thread::spawn(move || {
        let result = test();
        let _ = done.send(());
        result
    });
    match wait.recv_timeout(time) {
        Err(RecvTimeoutError::Timeout) => panic!("it hangs: not done within {time:?}"),
        _ => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
    }
}

/// The time for a test as a whole.
pub(crate) const HARD: Duration = Duration::from_secs(60);
