//! The queue of the client's lines: a thread reads the lines, and the relay takes them.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use mcp_proto_handles::{BlockingStream, lock};

use super::worker::Reports;
use crate::sync::wait;

/// The number of queued bytes above which the thread waits for the relay.
const MAX_QUEUED: usize = 16 * 1024 * 1024;
/// Memory of a queued line in addition to its bytes.
const LINE_OVERHEAD: usize = 64;

/// A line of the client. `None` stands for a line that is too long.
pub(super) type Line = Option<Vec<u8>>;

/// The relay's end of the queue. Dropping this value ends the thread at its next line, or when the input is not ready.
pub(super) struct Lines(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    space: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Line>,
    bytes: usize,
    has_ended: bool,
    is_closed: bool,
}

impl Lines {
    /// Starts a thread that reads lines of up to `longest` bytes, including the line break. After each line, and at the
    /// end of the input, the thread wakes the relay through `reports`.
    pub(super) fn start(
        input: impl Read + Send + 'static,
        longest: usize,
        reports: &Arc<Reports>,
    ) -> io::Result<Lines> {
        let lines = Lines(Arc::default());
        let (shared, watched, reports) = (Arc::clone(&lines.0), Arc::clone(&lines.0), Arc::clone(reports));
        let input = BlockingStream::new(input, move || lock(&watched.queue).is_closed);
        thread::Builder::new().name("mcp-relay".into()).spawn(move || {
            shared.read(input, longest, &reports);
            lock(&shared.queue).has_ended = true;
            reports.wake();
        })?;
        Ok(lines)
    }

    /// Takes the next line, or returns `None` if no line is queued.
    pub(super) fn take(&self) -> Option<Line> {
        let mut queue = lock(&self.0.queue);
        let line = queue.lines.pop_front()?;
        queue.bytes -= size(&line);
        self.0.space.notify_one();
        Some(line)
    }

    /// Returns whether the input has ended. Lines may be left.
    pub(super) fn has_ended(&self) -> bool {
        lock(&self.0.queue).has_ended
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.0.queue).lines.is_empty()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        lock(&self.0.queue).is_closed = true;
        self.0.space.notify_one();
    }
}

impl Shared {
    fn read(&self, input: impl Read, longest: usize, reports: &Reports) {
        let mut input = BufReader::new(input);
        loop {
            let mut line = Vec::new();
            match input.by_ref().take(longest as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let is_whole = line.len() < longest || line.ends_with(b"\n");
            if !is_whole && input.skip_until(b'\n').is_err() || !self.add(is_whole.then_some(line)) {
                return;
            }
            reports.wake();
        }
    }

    /// Adds a line when the queue has space or is closed. Returns `false` if the queue is closed.
    fn add(&self, line: Line) -> bool {
        let mut queue = lock(&self.queue);
        while queue.bytes > MAX_QUEUED && !queue.is_closed {
            queue = wait(&self.space, queue);
        }
        queue.bytes += size(&line);
        queue.lines.push_back(line);
        !queue.is_closed
    }
}

fn size(line: &Line) -> usize {
    LINE_OVERHEAD + line.as_ref().map_or(0, Vec::capacity)
}
