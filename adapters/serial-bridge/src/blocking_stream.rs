//! `BlockingStream`: waits while a stream is not ready.

use std::io::{self, ErrorKind, Read, Write};
use std::thread::sleep;
use std::time::Duration;

/// Pause before the next attempt.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// A stream that retries a read or a write while the inner stream is not ready. The standard streams may be
/// non-blocking, because the client shares the open files, and may have set `O_NONBLOCK` on them.
pub(crate) struct BlockingStream<S>(pub(crate) S);

impl<S> BlockingStream<S> {
    fn retry<R>(&mut self, mut attempt: impl FnMut(&mut S) -> io::Result<R>) -> io::Result<R> {
        loop {
            let result = attempt(&mut self.0);
            match result.as_ref().map_err(io::Error::kind) {
                Err(ErrorKind::Interrupted) => {}
                Err(ErrorKind::WouldBlock | ErrorKind::TimedOut) => sleep(RETRY_PAUSE),
                _ => return result,
            }
        }
    }
}

impl<S: Read> Read for BlockingStream<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.retry(|stream| stream.read(buffer))
    }
}

impl<S: Write> Write for BlockingStream<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.retry(S::flush)
    }
}
