//! A pump over streams that can only block.
//!
//! The thread that calls [`run`](Mover::run) owns the machine. A thread for each direction does nothing but block: one reads
//! ahead by two chunks at most, one writes what it was handed. So neither direction waits for the other, deadlines
//! come while both are blocked, and a peer that stops reading stops being read in the end.

use std::io::{self, ErrorKind, Read, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use mcp_proto::{Action, Clock, Machine, Millis, Transmit};

use mcp_proto_handles::{Wake, lock};

use crate::pump::{LAST_INPUT, Mover, PumpStatus, Turn};
use crate::read_buffer::{CHUNK, Chunk};
use crate::sync::{wait, wait_for};

/// A buffer of the writer that grew beyond this is not kept.
const KEPT: usize = 256 * 1024;

/// Moves bytes between a machine and two streams that can only block.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    /// The chunk that the machine is being fed with.
    chunk: Chunk,
    told_end: bool,
    /// Since when nothing can be written.
    broken: Option<Millis>,
}

struct Shared {
    state: Mutex<State>,
    owner: Condvar,
    reader: Condvar,
    writer: Condvar,
}

struct State {
    /// A chunk that was read and not fetched yet, if `filled` is not zero.
    chunk: Vec<u8>,
    filled: usize,
    ended: bool,
    /// What the writer was handed. It takes it out to write it.
    outgoing: Vec<u8>,
    writing: Writing,
    woken: bool,
    /// The pump is gone.
    over: bool,
}

#[derive(Debug, Clone, Copy)]
enum Writing {
    Idle,
    Busy,
    Written(usize),
    Broken,
}

impl Threads {
    pub(crate) fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Threads> {
        let state = State {
            chunk: vec![0; CHUNK],
            filled: 0,
            ended: false,
            outgoing: Vec::new(),
            writing: Writing::Idle,
            woken: false,
            over: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            owner: Condvar::new(),
            reader: Condvar::new(),
            writer: Condvar::new(),
        });
        let threads =
            Threads { shared: Arc::clone(&shared), chunk: Chunk::new(), told_end: false, broken: None };
        let reader = InputEnd(Arc::clone(&shared));
        thread::Builder::new().name("mcp-read".into()).spawn(move || read(&reader.0, input))?;
        let writer = OutputEnd(shared);
        thread::Builder::new().name("mcp-write".into()).spawn(move || write(&writer.0, output))?;
        Ok(threads)
    }
}

impl Mover for Threads {
    fn run(&mut self, machine: &mut dyn Machine, clock: Clock, turn: Turn) -> PumpStatus {
        let Turn { now, until, .. } = turn;
        let mut begun = Some(now);
        let Threads { shared, chunk, told_end, broken } = self;
        loop {
            let now = begun.take().unwrap_or_else(|| clock.now());
            let io = match machine.poll(now) {
                Action::Event => return PumpStatus::Event,
                Action::Closed => return PumpStatus::Closed,
                Action::Io(io) => io,
            };
            let deadline = io.deadline().into_iter().chain(until).min();
            let (transmit, receive) = io.split();
            // All of the chunk comes before any output: then the answers to all of it leave in one write.
            if !chunk.is_empty() && receive.is_ready() {
                chunk.feed(receive);
                continue;
            }
            let mut state = lock(&shared.state);
            // A peer that has answered and gone may be noticed by a write first. Its answers count.
            let last_input = state.is_broken().then(|| broken.get_or_insert(now).plus(LAST_INPUT));
            let nothing_comes = *told_end || last_input.is_some_and(|until| until <= now);
            let mut moved = shared.hand_over(&mut state, transmit, nothing_comes);
            if chunk.is_empty() {
                if state.filled > 0 {
                    mem::swap(chunk.space(), &mut state.chunk);
                    chunk.filled(mem::take(&mut state.filled));
                    shared.reader.notify_one();
                    moved = true;
                } else if state.ended && !mem::replace(told_end, true) {
                    receive.eof();
                    moved = true;
                }
            }
            // Not earlier: however often it is woken, it moves bytes.
            if mem::take(&mut state.woken) || until.is_some_and(|until| until <= now) {
                return PumpStatus::Woken;
            }
            if !moved {
                match deadline.into_iter().chain(last_input).min() {
                    Some(at) => drop(wait_for(&shared.owner, state, Duration::from_millis(at.since(now).0))),
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

    /// It does not matter: a condition is waited on anyway.
    fn can_be_woken(&self) -> bool {
        true
    }
}

impl State {
    fn is_broken(&self) -> bool {
        matches!(self.writing, Writing::Broken)
    }
}

impl Shared {
    /// Reports what was written, or hands over all that is ready. That nothing can be written is reported when nothing
    /// more comes. `true`: the machine has to be polled again.
    fn hand_over(&self, state: &mut State, transmit: Transmit<'_>, nothing_comes: bool) -> bool {
        match state.writing {
            Writing::Written(n) => {
                state.writing = Writing::Idle;
                transmit.sent(n);
                true
            }
            Writing::Broken if nothing_comes => {
                // From now on the writer is as good as busy: nothing is handed to it.
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

impl Drop for Threads {
    fn drop(&mut self) {
        lock(&self.shared.state).over = true;
        self.shared.reader.notify_all();
        self.shared.writer.notify_all();
    }
}

/// Tells the pump that nothing more comes, even if the stream has panicked.
struct InputEnd(Arc<Shared>);

impl Drop for InputEnd {
    fn drop(&mut self) {
        lock(&self.0.state).ended = true;
        self.0.owner.notify_one();
    }
}

fn read(shared: &Shared, mut input: impl Read) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let n = match input.read(&mut chunk) {
            Ok(n) => n.min(CHUNK),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        if n == 0 {
            return;
        }
        let mut state = lock(&shared.state);
        while state.filled > 0 && !state.over {
            state = wait(&shared.reader, state);
        }
        if state.over {
            return;
        }
        mem::swap(&mut state.chunk, &mut chunk);
        state.filled = n;
        shared.owner.notify_one();
    }
}

/// Tells the pump that nothing more can be written, even if the stream has panicked.
struct OutputEnd(Arc<Shared>);

impl Drop for OutputEnd {
    fn drop(&mut self) {
        lock(&self.0.state).writing = Writing::Broken;
        self.0.owner.notify_one();
    }
}

fn write(shared: &Shared, mut output: impl Write) {
    loop {
        let mut state = lock(&shared.state);
        while state.outgoing.is_empty() && !state.over {
            state = wait(&shared.writer, state);
        }
        if state.over {
            return;
        }
        let mut bytes = mem::take(&mut state.outgoing);
        drop(state);
        if write_whole(&mut output, &bytes).is_err() {
            return;
        }
        let mut state = lock(&shared.state);
        state.writing = Writing::Written(bytes.len());
        if bytes.capacity() <= KEPT {
            bytes.clear();
            state.outgoing = bytes;
        }
        shared.owner.notify_one();
    }
}

fn write_whole(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    output.write_all(bytes)?;
    output.flush()
}
