//! A time limit for tests that could hang.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs a test on a thread of its own and returns its result. Panics if the test takes longer than `time`.
pub(crate) fn within<T: Send + 'static>(time: Duration, test: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = channel();
    let thread = thread::spawn(move || {
        let result = test();
        let _ = done.send(());
        result
    });
    match wait.recv_timeout(time) {
        Err(RecvTimeoutError::Timeout) => panic!("the test hangs: not done within {time:?}"),
        _ => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
    }
}

/// Time limit of one test.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(60);
