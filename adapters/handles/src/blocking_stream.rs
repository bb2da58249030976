//! `BlockingStream`: retries reads, writes and flushes while a stream is not ready.

use std::io::{self, ErrorKind, Read, Write};
use std::thread;
use std::time::Duration;

/// Pause after an attempt for which the stream was not ready.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// A stream that retries a read, a write or a flush while the wrapped stream is not ready, or after an interruption.
///
/// An operation of the wrapped stream fails with [`WouldBlock`](ErrorKind::WouldBlock) or
/// [`TimedOut`](ErrorKind::TimedOut) if the timeout of that stream expires, or if another owner of the open file has
/// made the file non-blocking. Neither error means that the stream has ended.
#[derive(Debug)]
pub struct BlockingStream<S, F> {
    stream: S,
    is_closed: F,
}

impl<S, F: Fn() -> bool> BlockingStream<S, F> {
    /// Wraps a stream. If the wrapped stream is not ready and `is_closed` returns `true`, the operation is not retried,
    /// and fails.
    pub fn new(stream: S, is_closed: F) -> BlockingStream<S, F> {
        BlockingStream { stream, is_closed }
    }

    fn retry<R>(&mut self, mut attempt: impl FnMut(&mut S) -> io::Result<R>) -> io::Result<R> {
        loop {
            let result = attempt(&mut self.stream);
            match result.as_ref().map_err(io::Error::kind) {
                Err(ErrorKind::Interrupted) => {}
                Err(ErrorKind::WouldBlock | ErrorKind::TimedOut) if !(self.is_closed)() => {
                    thread::sleep(RETRY_PAUSE);
                }
                _ => return result,
            }
        }
    }
}

impl<S: Read, F: Fn() -> bool> Read for BlockingStream<S, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.retry(|stream| stream.read(buffer))
    }
}

impl<S: Write, F: Fn() -> bool> Write for BlockingStream<S, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.retry(S::flush)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Instant;

    use super::*;

    /// A stream whose operations fail, each with the next of these errors. When no error is left, they succeed.
    struct Unready(VecDeque<ErrorKind>);

    impl Unready {
        fn next(&mut self) -> io::Result<()> {
            self.0.pop_front().map_or(Ok(()), |kind| Err(kind.into()))
        }
    }

    impl Read for Unready {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.next().map(|()| 1)
        }
    }

    impl Write for Unready {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.next().map(|()| 1)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.next()
        }
    }

    fn unready(is_closed: bool, kinds: &[ErrorKind]) -> BlockingStream<Unready, impl Fn() -> bool> {
        BlockingStream::new(Unready(kinds.iter().copied().collect()), move || is_closed)
    }

    #[test]
    fn operations_are_retried_until_stream_is_ready() {
        use ErrorKind::{Interrupted, TimedOut, WouldBlock};
        let kinds = [WouldBlock, Interrupted, TimedOut];
        let start = Instant::now();
        assert_eq!(unready(false, &kinds).read(&mut [0]).unwrap(), 1);
        assert_eq!(unready(false, &kinds).write(b"x").unwrap(), 1);
        unready(false, &kinds).flush().unwrap();
        assert!(start.elapsed() >= 6 * RETRY_PAUSE);
    }

    #[test]
    fn other_errors_and_closed_streams_fail() {
        use ErrorKind::{BrokenPipe, Interrupted, TimedOut, WouldBlock};
        assert_eq!(unready(false, &[WouldBlock, BrokenPipe]).flush().unwrap_err().kind(), BrokenPipe);
        assert_eq!(unready(true, &[Interrupted, WouldBlock]).read(&mut [0]).unwrap_err().kind(), WouldBlock);
        assert_eq!(unready(true, &[TimedOut]).write(b"x").unwrap_err().kind(), TimedOut);
        assert_eq!(unready(true, &[Interrupted]).write(b"x").unwrap(), 1);
    }
}
