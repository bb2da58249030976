//! Wakes a thread blocked in `poll(2)` (self-pipe).

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU8, Ordering};

/// Wakes one thread from any thread.
///
/// While the thread waits, a wake-up is a byte in a pipe, so the thread can also wait for files. Otherwise, a wake-up
/// only sets a flag.
pub(crate) struct WakePipe {
    state: AtomicU8,
    reader: PipeReader,
    writer: PipeWriter,
}

/// No wake-up is pending, and the thread does not wait.
const IDLE: u8 = 0;
/// The thread waits. The next wake-up writes to the pipe.
const WAITING: u8 = 1;
/// A wake-up is pending.
const WOKEN: u8 = 2;

impl WakePipe {
    pub(crate) fn new() -> io::Result<WakePipe> {
        let (reader, writer) = io::pipe()?;
        Ok(WakePipe { state: AtomicU8::new(IDLE), reader, writer })
    }

    /// Wakes the thread. Earlier writes of the caller are visible to the thread that takes the wake-up.
    pub(crate) fn wake(&self) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == WAITING {
            // A write of one byte into an empty pipe neither fails nor blocks.
            let _ = (&self.writer).write_all(&[0]);
        }
    }

    /// Takes a pending wake-up. Returns `false` if none was pending.
    pub(crate) fn take_wake(&self) -> bool {
        // The load avoids a swap when no wake-up is pending, which is the common case.
        self.state.load(Ordering::Acquire) == WOKEN && self.state.swap(IDLE, Ordering::AcqRel) == WOKEN
    }

    /// Calls `wait` with the read end of the pipe and a flag that permits blocking.
    ///
    /// The call must not block if a wake-up is pending. The read end becomes readable on a wake-up.
    pub(crate) fn wait<T>(&self, wait: impl FnOnce(BorrowedFd<'_>, bool) -> T) -> T {
        let may_block = self.transition(IDLE, WAITING);
        let result = wait(self.reader.as_fd(), may_block);
        if may_block && !self.transition(WAITING, IDLE) {
            // A waker has changed the state, so its byte is in the pipe or arrives soon.
            let _ = (&self.reader).read_exact(&mut [0]);
        }
        result
    }

    /// Changes the state from `old` to `new`. Returns `false` if the state was not `old`.
    fn transition(&self, old: u8, new: u8) -> bool {
        self.state.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    /// Polls the pipe if the call may block. Returns the number of ready files.
    fn poll_pipe(pipe: &WakePipe, time: &Timespec) -> Option<usize> {
        pipe.wait(|reader, may_block| {
            may_block.then(|| poll(&mut [PollFd::new(&reader, PollFlags::IN)], Some(time)).unwrap())
        })
    }

    #[test]
    fn repeated_wakes_are_taken_once() {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let pipe = WakePipe::new().unwrap();
        assert_eq!(poll_pipe(&pipe, &now), Some(0));
        assert!(!pipe.take_wake());
        pipe.wake();
        pipe.wake();
        assert_eq!(poll_pipe(&pipe, &now), None, "a pending wake-up must prevent blocking");
        assert!(pipe.take_wake());
        assert!(!pipe.take_wake());
        assert_eq!(poll_pipe(&pipe, &now), Some(0), "the pipe must be empty");
    }

    #[test]
    fn wake_at_any_time_is_not_lost() {
        let pipe = Arc::new(WakePipe::new().unwrap());
        let long = Timespec { tv_sec: 20, tv_nsec: 0 };
        let (done, next) = std::sync::mpsc::channel();
        let shared = Arc::clone(&pipe);
        let waking_thread = thread::spawn(move || {
            for round in 0..2000 {
                // Different delays wake before, during and after the wait.
                (0..round % 7 * 50).for_each(|_| std::hint::spin_loop());
                shared.wake();
                next.recv().unwrap();
            }
        });
        for _ in 0..2000 {
            while !pipe.take_wake() {
                assert_ne!(poll_pipe(&pipe, &long), Some(0), "a wake-up was lost");
            }
            done.send(()).unwrap();
        }
        waking_thread.join().unwrap();
    }
}
