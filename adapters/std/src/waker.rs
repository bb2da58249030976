//! Wakes a thread blocked in `poll(2)`, through an event descriptor or a pipe.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU8, Ordering};

/// Wakes one thread from any thread.
///
/// While the thread waits, a wake-up signals a file descriptor, so that one `poll` can wait for the wake-up and for
/// other files. While the thread does not wait, a wake-up only sets a flag.
pub(crate) struct WakePipe {
    state: AtomicU8,
    signal: Signal,
}

/// No wake-up is pending, and the thread does not wait.
const IDLE: u8 = 0;
/// The thread waits. The next wake-up sends the signal.
const WAITING: u8 = 1;
/// A wake-up is pending.
const WOKEN: u8 = 2;

impl WakePipe {
    pub(crate) fn new() -> io::Result<WakePipe> {
        Ok(WakePipe { state: AtomicU8::new(IDLE), signal: Signal::new()? })
    }

    /// Wakes the thread. Earlier writes of the caller are visible to the thread that takes the wake-up.
    pub(crate) fn wake(&self) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == WAITING {
            self.signal.send();
        }
    }

    /// Takes a pending wake-up. Returns `false` if none was pending.
    pub(crate) fn take_wake(&self) -> bool {
        // The load avoids a swap when no wake-up is pending, which is the common case.
        self.state.load(Ordering::Acquire) == WOKEN && self.state.swap(IDLE, Ordering::AcqRel) == WOKEN
    }

    /// Calls `wait` with a file descriptor and a flag that permits blocking.
    ///
    /// If the flag is `false`, a wake-up is pending, and `wait` must not block. The file descriptor becomes readable on
    /// a wake-up.
    pub(crate) fn wait<T>(&self, wait: impl FnOnce(BorrowedFd<'_>, bool) -> T) -> T {
        let may_block = self.transition(IDLE, WAITING);
        let result = wait(self.signal.as_fd(), may_block);
        if may_block && !self.transition(WAITING, IDLE) {
            // A waker has changed the state, so its signal was sent or will be sent soon.
            self.signal.receive();
        }
        result
    }

    /// Changes the state from `old` to `new`. Returns `false` if the state was not `old`.
    fn transition(&self, old: u8, new: u8) -> bool {
        self.state.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// A signal that makes a file descriptor readable. On Linux and Android, an event descriptor replaces the two ends of a
/// pipe.
#[cfg(any(target_os = "linux", target_os = "android"))]
struct Signal(std::os::fd::OwnedFd);

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Signal {
    fn new() -> io::Result<Signal> {
        Ok(Signal(rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC)?))
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.0)
    }

    fn send(&self) {
        // Adding one to a counter of zero neither fails nor blocks.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Waits for the signal, and clears it.
    fn receive(&self) {
        while rustix::io::read(&self.0, &mut [0; 8]) == Err(rustix::io::Errno::INTR) {}
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
struct Signal(io::PipeReader, io::PipeWriter);

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Signal {
    fn new() -> io::Result<Signal> {
        io::pipe().map(|(reader, writer)| Signal(reader, writer))
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.0)
    }

    fn send(&self) {
        // A write of one byte into an empty pipe neither fails nor blocks.
        let _ = io::Write::write_all(&mut &self.1, &[0]);
    }

    /// Waits for the signal, and clears it.
    fn receive(&self) {
        let _ = io::Read::read_exact(&mut &self.0, &mut [0]);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    /// Polls the pipe if the call may block, and returns the number of ready files. Otherwise returns `None`.
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
                // With different delays, the wake-ups come before, during and after the wait.
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
