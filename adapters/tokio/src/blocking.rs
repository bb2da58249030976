//! Streams that block, such as stdin and stdout, each on a thread of its own.
//!
//! tokio's own have theirs in the runtime, which waits for them in the end: for a line that nobody types any more.

use std::io::{self, ErrorKind, Read, Write};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use mcp_proto_handles::{Signal, block_on};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read at once, and how much may wait to be written.
const CHUNK: usize = 64 * 1024;

/// What a thread reads.
pub(crate) struct Input {
    state: Arc<Signal<Incoming>>,
}

#[derive(Default)]
struct Incoming {
    bytes: Vec<u8>,
    /// So many of them were taken.
    taken: usize,
    ended: bool,
    /// Nobody wants any more.
    over: bool,
}

impl Input {
    pub(crate) fn start(mut stream: impl Read + Send + 'static) -> io::Result<Input> {
        let state = Arc::<Signal<Incoming>>::default();
        let end = InputEnd(Arc::clone(&state));
        thread::Builder::new().name("mcp-read".into()).spawn(move || {
            while let Some(bytes) = read(&mut stream) {
                let fetched =
                    |state: &mut Incoming| (state.bytes.is_empty() || state.over).then_some(state.over);
                if block_on(end.0.until(fetched)) {
                    return;
                }
                end.0.change(|state| state.bytes = bytes);
            }
        })?;
        Ok(Input { state })
    }
}

fn read(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut bytes = vec![0; CHUNK];
    loop {
        match stream.read(&mut bytes) {
            Ok(n @ 1..) => {
                bytes.truncate(n);
                return Some(bytes);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.state.poll(context, |state| {
            let bytes = &state.bytes[state.taken..];
            if bytes.is_empty() {
                return state.ended.then_some(false);
            }
            let n = bytes.len().min(space.remaining());
            space.put_slice(&bytes[..n]);
            state.taken += n;
            let all = state.taken == state.bytes.len();
            if all {
                (state.bytes, state.taken) = (Vec::new(), 0);
            }
            Some(all)
        });
        if let Poll::Ready(true) = read {
            // The thread may go on.
            self.state.change(|_| {});
        }
        read.map(|_| Ok(()))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.state.change(|state| state.over = true);
    }
}

/// Says that nothing more comes, even if the stream has panicked.
struct InputEnd(Arc<Signal<Incoming>>);

impl Drop for InputEnd {
    fn drop(&mut self) {
        self.0.change(|state| state.ended = true);
    }
}

/// What a thread writes.
pub(crate) struct Output {
    state: Arc<Signal<Outgoing>>,
}

#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    /// The thread is at it.
    writing: bool,
    broken: bool,
    /// Nothing more is written.
    over: bool,
}

impl Output {
    pub(crate) fn start(mut stream: impl Write + Send + 'static) -> io::Result<Output> {
        let state = Arc::<Signal<Outgoing>>::default();
        let end = OutputEnd(Arc::clone(&state));
        thread::Builder::new().name("mcp-write".into()).spawn(move || {
            while let Some(bytes) = block_on(end.0.until(Outgoing::next)) {
                if stream.write_all(&bytes).and_then(|()| stream.flush()).is_err() {
                    return;
                }
                end.0.change(|state| state.writing = false);
            }
        })?;
        Ok(Output { state })
    }
}

impl Outgoing {
    /// What is to be written next. `Some(None)`: nothing will be.
    fn next(&mut self) -> Option<Option<Vec<u8>>> {
        self.writing = !self.bytes.is_empty();
        match self.writing {
            true => Some(Some(mem::take(&mut self.bytes))),
            false => self.over.then_some(None),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.state.poll(context, |state| {
            if state.broken || state.over {
                return Some(Err(ErrorKind::BrokenPipe.into()));
            }
            let n = bytes.len().min(CHUNK.saturating_sub(state.bytes.len()));
            state.bytes.extend_from_slice(&bytes[..n]);
            (n > 0).then_some(Ok(n))
        });
        if written.is_ready() {
            // The thread has something to do.
            self.state.change(|_| {});
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state.poll(context, |state| match state.broken {
            true => Some(Err(ErrorKind::BrokenPipe.into())),
            false => (state.bytes.is_empty() && !state.writing).then_some(Ok(())),
        })
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state.change(|state| state.over = true);
        self.poll_flush(context)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.state.change(|state| state.over = true);
    }
}

/// Says that nothing more can be written, even if the stream has panicked.
struct OutputEnd(Arc<Signal<Outgoing>>);

impl Drop for OutputEnd {
    fn drop(&mut self) {
        self.0.change(|state| state.broken |= state.writing || !state.over);
    }
}
