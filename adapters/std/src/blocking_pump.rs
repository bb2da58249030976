//! A pump for blocking streams, with one thread for each direction.
//!
//! The thread that calls [`run`](PumpImpl::run) owns the state machine. The reader thread reads ahead by at most two
//! buffers; the writer thread writes the bytes that the owner passes on. Neither direction waits for the other, and
//! deadlines expire even while both threads block. If a peer stops reading, the buffers fill, and the pump then stops
//! reading from that peer.

use std::io::{self, Read, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use mcp_proto::{Action, Machine, Millis, Transmit};

use mcp_proto_handles::{BlockingStream, PumpStatus, Wake, lock};

use crate::pump::{DRAIN_TIME, PumpClock, PumpImpl, RunOptions};
use crate::read_buffer::{READ_SIZE, ReadBuffer};
use crate::sync::{wait, wait_for};

/// Maximum capacity of a write buffer that the pump reuses.
const MAX_KEPT_CAPACITY: usize = 256 * 1024;

/// Moves bytes between a state machine and two streams that can only block.
pub(crate) struct BlockingPump {
    shared: Arc<Shared>,
    /// The bytes of the reader thread that this pump has fetched, and the state machine has not received yet.
    buffer: ReadBuffer,
    reported_end: bool,
    /// The time at which the pump noticed a failed write.
    broken_since: Option<Millis>,
}

struct Shared {
    state: Mutex<State>,
    owner: Condvar,
    reader: Condvar,
    writer: Condvar,
}

struct State {
    /// The bytes that the reader thread has passed on, and the owner has not fetched. If `filled` is zero, the buffer
    /// holds no bytes.
    buffer: Vec<u8>,
    filled: usize,
    ended: bool,
    /// The bytes to write. The writer takes the vector during a write.
    outgoing: Vec<u8>,
    writing: Writing,
    woken: bool,
    /// Whether the pump was dropped.
    is_closed: bool,
}

#[derive(Debug, Clone, Copy)]
enum Writing {
    Idle,
    Busy,
    Written(usize),
    Broken,
}

impl BlockingPump {
    pub(crate) fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<BlockingPump> {
        let state = State {
            buffer: vec![0; READ_SIZE],
            filled: 0,
            ended: false,
            outgoing: Vec::new(),
            writing: Writing::Idle,
            woken: false,
            is_closed: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            owner: Condvar::new(),
            reader: Condvar::new(),
            writer: Condvar::new(),
        });
        let pump = BlockingPump {
            shared: Arc::clone(&shared),
            buffer: ReadBuffer::large(),
            reported_end: false,
            broken_since: None,
        };
        let reader = ReaderGuard(Arc::clone(&shared));
        thread::Builder::new().name("mcp-read".into()).spawn(move || run_reader(&reader.0, input))?;
        let writer = WriterGuard(shared);
        thread::Builder::new().name("mcp-write".into()).spawn(move || run_writer(&writer.0, output))?;
        Ok(pump)
    }
}

impl PumpImpl for BlockingPump {
    fn run(&mut self, machine: &mut dyn Machine, clock: &mut PumpClock, options: RunOptions) -> PumpStatus {
        let RunOptions { now, until, .. } = options;
        let mut first_now = Some(now);
        let BlockingPump { shared, buffer, reported_end, broken_since } = self;
        loop {
            let now = first_now.take().unwrap_or_else(|| clock.read());
            let io = match machine.poll(now) {
                Action::Event => return PumpStatus::Event,
                Action::Closed => return PumpStatus::Closed,
                Action::Io(io) => io,
            };
            let deadline = io.deadline().into_iter().chain(until).min();
            let (transmit, receive) = io.split();
            // Feed the buffer before any output, so that one write can contain several responses.
            if !buffer.is_empty() && receive.is_ready() {
                buffer.feed(receive);
                continue;
            }
            let mut state = lock(&shared.state);
            // A peer may have responded before it closed its input. The pump therefore reads the last messages before
            // it reports a failed write.
            let drain_until =
                state.is_broken().then(|| broken_since.get_or_insert_with(|| clock.read()).plus(DRAIN_TIME));
            let is_drained = *reported_end || drain_until.is_some_and(|until| until <= now);
            let mut has_progress = shared.hand_over(&mut state, transmit, is_drained);
            if buffer.is_empty() {
                if state.filled > 0 {
                    mem::swap(buffer.space(), &mut state.buffer);
                    buffer.filled(mem::take(&mut state.filled));
                    shared.reader.notify_one();
                    has_progress = true;
                } else if state.ended && !mem::replace(reported_end, true) {
                    receive.eof();
                    has_progress = true;
                }
            }
            // Check for a wake-up after the transfer of bytes, so that frequent wake-ups cannot prevent the transfer.
            if mem::take(&mut state.woken) || until.is_some_and(|until| until <= now) {
                return PumpStatus::Woken;
            }
            if !has_progress {
                match deadline.into_iter().chain(drain_until).min() {
                    Some(at) => {
                        let time = Duration::from_millis(at.since(clock.read()).0);
                        drop(wait_for(&shared.owner, state, time));
                    }
                    None => drop(wait(&shared.owner, state)),
                }
            }
        }
    }

    fn wake(&self) -> Wake {
        let shared = Arc::clone(&self.shared);
        Arc::new(move || {
            lock(&shared.state).woken = true;
            shared.owner.notify_one();
        })
    }

    /// Always returns `true`. The result has no effect, because this pump waits on a condition variable in any case.
    fn has_wakers(&self) -> bool {
        true
    }
}

impl State {
    fn is_broken(&self) -> bool {
        matches!(self.writing, Writing::Broken)
    }
}

impl Shared {
    /// Reports written bytes to the state machine, or passes new bytes to the writer.
    ///
    /// Reports a failed write only if `is_drained` is set: the input has ended, or `DRAIN_TIME` has passed. Returns
    /// `true` if the caller must poll the state machine again.
    fn hand_over(&self, state: &mut State, transmit: Transmit<'_>, is_drained: bool) -> bool {
        match state.writing {
            Writing::Written(n) => {
                state.writing = Writing::Idle;
                transmit.sent(n);
                true
            }
            Writing::Broken if is_drained => {
                // `Busy` prevents further transfers to the writer, which has ended.
                state.writing = Writing::Busy;
                transmit.broken();
                true
            }
            Writing::Idle if !transmit.bytes().is_empty() => {
                state.outgoing.extend_from_slice(transmit.bytes());
                state.writing = Writing::Busy;
                self.writer.notify_one();
                false
            }
            Writing::Idle | Writing::Busy | Writing::Broken => false,
        }
    }
}

impl Drop for BlockingPump {
    fn drop(&mut self) {
        lock(&self.shared.state).is_closed = true;
        self.shared.reader.notify_all();
        self.shared.writer.notify_all();
    }
}

/// A guard that reports the end of the input on drop, even if the stream panics.
struct ReaderGuard(Arc<Shared>);

impl Drop for ReaderGuard {
    fn drop(&mut self) {
        lock(&self.0.state).ended = true;
        self.0.owner.notify_one();
    }
}

fn run_reader(shared: &Shared, input: impl Read) {
    let mut input = BlockingStream::new(input, || lock(&shared.state).is_closed);
    let mut buffer = vec![0; READ_SIZE];
    loop {
        let n = input.read(&mut buffer).map_or(0, |n| n.min(READ_SIZE));
        if n == 0 {
            return;
        }
        let mut state = lock(&shared.state);
        while state.filled > 0 && !state.is_closed {
            state = wait(&shared.reader, state);
        }
        if state.is_closed {
            return;
        }
        mem::swap(&mut state.buffer, &mut buffer);
        state.filled = n;
        shared.owner.notify_one();
    }
}

/// A guard that reports the end of the output on drop, even if the stream panics.
struct WriterGuard(Arc<Shared>);

impl Drop for WriterGuard {
    fn drop(&mut self) {
        lock(&self.0.state).writing = Writing::Broken;
        self.0.owner.notify_one();
    }
}

fn run_writer(shared: &Shared, output: impl Write) {
    let mut output = BlockingStream::new(output, || lock(&shared.state).is_closed);
    loop {
        let mut state = lock(&shared.state);
        while state.outgoing.is_empty() && !state.is_closed {
            state = wait(&shared.writer, state);
        }
        if state.is_closed {
            return;
        }
        let mut bytes = mem::take(&mut state.outgoing);
        drop(state);
        if output.write_all(&bytes).and_then(|()| output.flush()).is_err() {
            return;
        }
        let mut state = lock(&shared.state);
        state.writing = Writing::Written(bytes.len());
        if bytes.capacity() <= MAX_KEPT_CAPACITY {
            bytes.clear();
            state.outgoing = bytes;
        }
        shared.owner.notify_one();
    }
}
