//! Async adapters for blocking streams, such as stdin. Each stream has a thread.
//!
//! The adapters do not use tokio's own stdin, because the shutdown of a runtime would wait for a blocked read.

use std::io::{self, ErrorKind, Read, Write};
use std::mem;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use mcp_proto_handles::{BlockingStream, Signal, block_on};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum number of bytes per read, and of queued output bytes.
const BUFFER_SIZE: usize = 64 * 1024;

/// An input stream that a thread reads.
pub(crate) struct Input {
    state: Arc<Signal<InputState>>,
}

#[derive(Default)]
struct InputState {
    /// The buffer that the owner of [`Input`] reads from. The thread reads into another buffer, and then swaps the two.
    buffer: Vec<u8>,
    /// Bytes of the buffer that the owner has not read.
    unread: Range<usize>,
    ended: bool,
    /// Whether [`Input`] was dropped.
    is_closed: bool,
}

impl Input {
    pub(crate) fn start(stream: impl Read + Send + 'static) -> io::Result<Input> {
        let state = Arc::<Signal<InputState>>::default();
        let guard = InputGuard(Arc::clone(&state));
        thread::Builder::new().name("mcp-read".into()).spawn(move || {
            let mut stream = BlockingStream::new(stream, || guard.0.with(|state| state.is_closed));
            let mut buffer = Vec::new();
            while let Some(n) = read(&mut stream, &mut buffer) {
                let fetched = |state: &mut InputState| {
                    (state.unread.is_empty() || state.is_closed).then_some(state.is_closed)
                };
                if block_on(guard.0.wait_until(fetched)) {
                    return;
                }
                guard.0.update(|state| {
                    mem::swap(&mut state.buffer, &mut buffer);
                    state.unread = 0..n;
                });
            }
        })?;
        Ok(Input { state })
    }
}

/// Reads into a buffer, which first gets the size [`BUFFER_SIZE`]. Returns the number of bytes, or `None` if the input
/// has ended or failed.
fn read(stream: &mut impl Read, buffer: &mut Vec<u8>) -> Option<usize> {
    buffer.resize(BUFFER_SIZE, 0);
    stream.read(buffer).ok().filter(|n| *n > 0)
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.state.poll(context, |state| {
            let bytes = &state.buffer[state.unread.clone()];
            if bytes.is_empty() {
                return state.ended.then_some(false);
            }
            let n = bytes.len().min(space.remaining());
            space.put_slice(&bytes[..n]);
            state.unread.start += n;
            Some(state.unread.is_empty())
        });
        if let Poll::Ready(true) = read {
            // Wake the thread, because the buffer is empty again.
            self.state.update_by_poller(|_| {});
        }
        read.map(|_| Ok(()))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.state.update(|state| state.is_closed = true);
    }
}

/// A guard that reports the end of the input on drop, even if the stream panics.
struct InputGuard(Arc<Signal<InputState>>);

impl Drop for InputGuard {
    fn drop(&mut self) {
        self.0.update(|state| state.ended = true);
    }
}

/// An output stream that a thread writes to.
pub(crate) struct Output {
    state: Arc<Signal<OutputState>>,
}

#[derive(Default)]
struct OutputState {
    bytes: Vec<u8>,
    /// Whether the thread is writing.
    writing: bool,
    /// Whether the owner of [`Output`] waits for space.
    awaits_space: bool,
    broken: bool,
    /// Whether [`Output`] was shut down or dropped.
    is_closed: bool,
    /// Whether [`Output`] was dropped. The thread then no longer waits for a non-blocking stream.
    is_dropped: bool,
}

impl Output {
    pub(crate) fn start(stream: impl Write + Send + 'static) -> io::Result<Output> {
        let state = Arc::<Signal<OutputState>>::default();
        let guard = OutputGuard(Arc::clone(&state));
        thread::Builder::new().name("mcp-write".into()).spawn(move || {
            let mut stream = BlockingStream::new(stream, || guard.0.with(|state| state.is_dropped));
            while let Some(bytes) = block_on(guard.0.wait_until(OutputState::next)) {
                if stream.write_all(&bytes).and_then(|()| stream.flush()).is_err() {
                    return;
                }
                if guard.0.with(OutputState::finish_write) {
                    guard.0.update(|_| {});
                }
            }
        })?;
        Ok(Output { state })
    }
}

impl OutputState {
    /// Takes the bytes to write next. Returns `None` if the thread must wait. Returns `Some(None)` if `is_closed` is
    /// set and all bytes are written.
    fn next(&mut self) -> Option<Option<Vec<u8>>> {
        self.writing = !self.bytes.is_empty();
        match self.writing {
            true => Some(Some(mem::take(&mut self.bytes))),
            false => self.is_closed.then_some(None),
        }
    }

    /// Records the end of a write. Returns `true` if the owner of [`Output`] waits for space.
    fn finish_write(&mut self) -> bool {
        self.writing = false;
        mem::take(&mut self.awaits_space)
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.state.poll(context, |state| {
            if state.broken || state.is_closed {
                return Some(Err(ErrorKind::BrokenPipe.into()));
            }
            let n = bytes.len().min(BUFFER_SIZE.saturating_sub(state.bytes.len()));
            state.bytes.extend_from_slice(&bytes[..n]);
            state.awaits_space = n == 0;
            (n > 0).then_some(Ok(n))
        });
        if written.is_ready() {
            // Wake the thread, because bytes may be queued.
            self.state.update_by_poller(|_| {});
        }
        written
    }

    /// Wakes the task if the output breaks, or if its thread ends after a shutdown. If the bytes are written while the
    /// output is open, a flush does not wake the task: the pump continues without a complete flush, and each wake-up
    /// costs two system calls.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state.poll(context, |state| match state.broken {
            true => Some(Err(ErrorKind::BrokenPipe.into())),
            false => (state.bytes.is_empty() && !state.writing).then_some(Ok(())),
        })
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state.update_by_poller(|state| state.is_closed = true);
        self.poll_flush(context)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.state.update(|state| (state.is_closed, state.is_dropped) = (true, true));
    }
}

/// A guard that reports a broken output on drop, unless the output was closed and all bytes are written.
struct OutputGuard(Arc<Signal<OutputState>>);

impl Drop for OutputGuard {
    fn drop(&mut self) {
        self.0.update(|state| state.broken |= state.writing || !state.is_closed);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::{sleep, timeout};

    use super::*;

    const PAUSE: Duration = Duration::from_millis(50);
    const LIMIT: Duration = Duration::from_secs(5);

    /// Returns a non-blocking stream and its peer.
    fn nonblocking() -> (UnixStream, UnixStream) {
        let (here, there) = UnixStream::pair().unwrap();
        here.set_nonblocking(true).unwrap();
        (here, there)
    }

    #[tokio::test]
    async fn nonblocking_input_without_bytes_stays_open() {
        let (here, mut there) = nonblocking();
        let mut input = Input::start(here).unwrap();
        sleep(PAUSE).await;
        there.write_all(b"request").unwrap();
        drop(there);
        let mut read = Vec::new();
        timeout(LIMIT, input.read_to_end(&mut read)).await.unwrap().unwrap();
        assert_eq!(read, b"request");
    }

    #[tokio::test]
    async fn nonblocking_output_waits_for_a_slow_reader() {
        let (here, mut there) = nonblocking();
        let mut output = Output::start(here).unwrap();
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|at| at.to_le_bytes()[0]).collect();
        let reader = thread::spawn(move || {
            thread::sleep(PAUSE);
            let mut read = Vec::new();
            there.read_to_end(&mut read).map(|_| read)
        });
        timeout(LIMIT, output.write_all(&bytes)).await.unwrap().unwrap();
        timeout(LIMIT, output.shutdown()).await.unwrap().unwrap();
        drop(output);
        assert!(reader.join().unwrap().unwrap() == bytes);
    }

    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl std::task::Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn output_wakes_its_task_after_a_failure_only() {
        let (here, mut there) = UnixStream::pair().unwrap();
        let mut output = Output::start(here).unwrap();
        let count = Arc::new(WakeCount::default());
        let waker = std::task::Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let mut write = || {
            assert!(Pin::new(&mut output).poll_write(&mut context, b"response").is_ready());
            Pin::new(&mut output).poll_flush(&mut context)
        };
        let _ = write();
        there.read_exact(&mut [0; 8]).unwrap();
        thread::sleep(PAUSE);
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        drop(there);
        let _ = write();
        let start = Instant::now();
        loop {
            let wake_ups = count.0.load(Ordering::Relaxed);
            if matches!(Pin::new(&mut output).poll_flush(&mut context), Poll::Ready(Err(_))) {
                return;
            }
            // Only a wake-up leads to the next poll.
            while count.0.load(Ordering::Relaxed) == wake_ups {
                assert!(start.elapsed() < LIMIT, "no wake-up");
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[tokio::test]
    async fn threads_of_dropped_nonblocking_streams_end() {
        let (here, mut there) = nonblocking();
        there.set_nonblocking(true).unwrap();
        let input = Input::start(here.try_clone().unwrap()).unwrap();
        let mut output = Output::start(here).unwrap();
        // The peer does not read.
        while let Ok(written) = timeout(PAUSE, output.write_all(&[0; BUFFER_SIZE])).await {
            written.unwrap();
        }
        drop((input, output));
        let is_over = async {
            while !matches!(there.write(b"x"), Err(error) if error.kind() == ErrorKind::BrokenPipe) {
                sleep(PAUSE).await;
            }
        };
        timeout(LIMIT, is_over).await.unwrap();
    }
}
