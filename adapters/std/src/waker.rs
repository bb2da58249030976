//! Getting a thread that waits for files to look up.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU8, Ordering};

/// Rung from any thread, and heard by one, which may wait for it together with files: then it is a byte in a pipe, and
/// otherwise only a note.
pub(crate) struct Bell {
    state: AtomicU8,
    here: PipeReader,
    there: PipeWriter,
}

/// Nothing was rung, and nobody waits.
const QUIET: u8 = 0;
/// Whoever rings first has to write.
const WAITED_FOR: u8 = 1;
const RUNG: u8 = 2;

impl Bell {
    pub(crate) fn new() -> io::Result<Bell> {
        let (here, there) = io::pipe()?;
        Ok(Bell { state: AtomicU8::new(QUIET), here, there })
    }

    /// What was done before is seen by whoever hears it.
    pub(crate) fn ring(&self) {
        if self.state.swap(RUNG, Ordering::AcqRel) == WAITED_FOR {
            // One byte in an empty pipe: it cannot fail, and does not block.
            let _ = (&self.there).write_all(&[0]);
        }
    }

    /// Whether it was rung since it was asked last.
    pub(crate) fn was_rung(&self) -> bool {
        // Asked often, and seldom true.
        self.state.load(Ordering::Acquire) == RUNG && self.state.swap(QUIET, Ordering::AcqRel) == RUNG
    }

    /// Waits, in the way of the caller, who gets what becomes readable when it is rung, and whether it may take time: not
    /// if it was rung before.
    pub(crate) fn wait<T>(&self, wait: impl FnOnce(BorrowedFd<'_>, bool) -> T) -> T {
        let may_sleep = self.is_changed(QUIET, WAITED_FOR);
        let result = wait(self.here.as_fd(), may_sleep);
        if may_sleep && !self.is_changed(WAITED_FOR, QUIET) {
            // Whoever rang has written, or is about to.
            let _ = (&self.here).read_exact(&mut [0]);
        }
        result
    }

    fn is_changed(&self, old: u8, new: u8) -> bool {
        self.state.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_heard(bell: &Bell, time: &Timespec) -> Option<usize> {
        bell.wait(|bell, may_sleep| {
            may_sleep.then(|| poll(&mut [PollFd::new(&bell, PollFlags::IN)], Some(time)).unwrap())
        })
    }

    #[test]
    fn it_is_heard_once_however_often_and_whenever_it_is_rung() {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let bell = Bell::new().unwrap();
        assert_eq!(is_heard(&bell, &now), Some(0));
        assert!(!bell.was_rung());
        bell.ring();
        bell.ring();
        assert_eq!(is_heard(&bell, &now), None, "nobody waits when it was rung before");
        assert!(bell.was_rung());
        assert!(!bell.was_rung());
        assert_eq!(is_heard(&bell, &now), Some(0), "nothing of it is left in the pipe");
    }

    #[test]
    fn nobody_who_rings_is_missed() {
        let bell = Arc::new(Bell::new().unwrap());
        let long = Timespec { tv_sec: 20, tv_nsec: 0 };
        let (done, next) = std::sync::mpsc::channel();
        let theirs = Arc::clone(&bell);
        let ringer = thread::spawn(move || {
            for round in 0..2000 {
                // With and without a pause: before somebody waits, meanwhile, and after.
                (0..round % 7 * 50).for_each(|_| std::hint::spin_loop());
                theirs.ring();
                next.recv().unwrap();
            }
        });
        for _ in 0..2000 {
            while !bell.was_rung() {
                assert_ne!(is_heard(&bell, &long), Some(0), "it is never heard");
            }
            done.send(()).unwrap();
        }
        ringer.join().unwrap();
    }
}
