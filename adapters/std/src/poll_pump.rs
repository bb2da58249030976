//! A pump for files, pipes and sockets, based on `poll(2)`.
//!
//! The thread that owns the state machine reads and writes. A write may be partial, and blocks only if `poll` does not
//! support the stream. Between reads and writes, the thread waits with `poll` for input, output space, a wake-up or the
//! deadline. A blocking read replaces `poll` if only input can end the wait: there is no waker, no deadline and no full
//! output. Exception: after a read has failed with `WouldBlock`, `poll` precedes each read.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use mcp_proto::{Action, Machine, Millis, Receive};
use mcp_proto_handles::{PumpStatus, Wake};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::output::Output;
use crate::pump::{DRAIN_TIME, PumpClock, PumpImpl, RunOptions};
use crate::read_buffer::{MIN_READ_SIZE, ReadBuffer};
use crate::waker::WakePipe;

/// Moves bytes between a state machine and two streams on the calling thread.
pub(crate) struct PollPump {
    input: Arc<File>,
    output: Output,
    wake_pipe: Arc<WakePipe>,
    buffer: ReadBuffer,
    ended: bool,
    /// Whether a read has failed with `WouldBlock`. A `poll` then precedes each read.
    must_poll: bool,
    output_state: OutputState,
}

/// The last known state of the output.
#[derive(Clone, Copy)]
enum OutputState {
    /// A write may succeed.
    Unknown,
    /// `poll` reported space, or does not support the stream.
    Ready,
    /// The output may be full. `poll` must report space before the next write.
    Full,
    /// Writing failed at this time, and the pump has not yet reported the failure to the state machine. A peer may have
    /// responded before it closed its input, so the pump first reads the last messages.
    Broken(Millis),
    Closed,
}

/// Directions to wait for, or the directions that are ready.
#[derive(Clone, Copy)]
struct Readiness {
    input: bool,
    output: bool,
}

impl PollPump {
    /// Creates a pump. `input` and `output` may be the same socket.
    pub(crate) fn new(input: Arc<File>, output: Arc<File>) -> io::Result<PollPump> {
        Ok(PollPump {
            input,
            output: Output::new(output),
            wake_pipe: Arc::new(WakePipe::new()?),
            buffer: ReadBuffer::new(),
            ended: false,
            must_poll: false,
            output_state: OutputState::Unknown,
        })
    }

    /// Writes all or some of the bytes. Returns the number of written bytes, which is zero after an error.
    fn write(&mut self, bytes: &[u8], clock: &mut PumpClock) -> usize {
        let written = self.output.write(bytes, matches!(self.output_state, OutputState::Ready));
        self.output_state = match &written {
            Ok(n) if *n == bytes.len() => OutputState::Unknown,
            Ok(_) => OutputState::Full,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => OutputState::Full,
                ErrorKind::Interrupted => self.output_state,
                _ => OutputState::Broken(clock.read()),
            },
        };
        written.unwrap_or(0)
    }

    /// Reads once, into the space of the state machine. If that space is small, reads into the buffer of the pump
    /// instead, which saves system calls.
    fn read(&mut self, mut receive: Receive<'_>) {
        let space = receive.space();
        let is_large = space.len() >= MIN_READ_SIZE;
        match self.input.read(if is_large { space } else { self.buffer.space() }) {
            Ok(n @ 1..) if is_large => receive.filled(n),
            Ok(n @ 1..) => self.buffer.filled(n),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The application, or another owner of the open file, has made it non-blocking or set a read timeout.
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.must_poll = true,
            Ok(_) | Err(_) => {
                self.ended = true;
                receive.eof();
            }
        }
    }

    /// Waits for readiness, a wake-up, or the end of `time`. `None` sets no time limit. Returns the directions that are
    /// ready.
    fn wait(&self, wanted: Readiness, time: Option<Millis>) -> Readiness {
        let (input, output) = (self.input.as_fd(), self.output.as_fd());
        let events = self.wake_pipe.wait(|wake_pipe, may_block| {
            let time = if may_block { time } else { Some(Millis(0)) };
            // Poll only the wanted directions: a stream with a closed peer is always ready, and would end every wait.
            let first = if wanted.input { (input, PollFlags::IN) } else { (output, PollFlags::OUT) };
            let mut files = [
                PollFd::from_borrowed_fd(wake_pipe, PollFlags::IN),
                PollFd::from_borrowed_fd(first.0, first.1),
                PollFd::from_borrowed_fd(output, PollFlags::OUT),
            ];
            let count = 1 + usize::from(wanted.input) + usize::from(wanted.output);
            poll(&mut files[..count], time.map(timespec).as_ref())
                .map(|_| files.map(|file| !file.revents().is_empty()))
        });
        match events {
            Ok([_, first, last]) => Readiness {
                input: wanted.input && first,
                output: wanted.output && if wanted.input { last } else { first },
            },
            Err(Errno::INTR) => Readiness { input: false, output: false },
            // `poll` does not support these files, so the caller blocks in the read or write instead.
            Err(_) => wanted,
        }
    }
}

impl PumpImpl for PollPump {
    fn run(&mut self, machine: &mut dyn Machine, clock: &mut PumpClock, options: RunOptions) -> PumpStatus {
        let RunOptions { now, until, no_wakers } = options;
        let mut first_now = Some(now);
        loop {
            let now = first_now.take().unwrap_or_else(|| clock.read());
            let io = match machine.poll(now) {
                Action::Event => return PumpStatus::Event,
                Action::Closed => return PumpStatus::Closed,
                Action::Io(io) => io,
            };
            let deadline = io.deadline().into_iter().chain(until).min();
            let (transmit, receive) = io.split();
            // Feed the buffered input to the state machine before any output, so that one write can contain several
            // responses.
            if !self.buffer.is_empty() && receive.is_ready() {
                self.buffer.feed(receive);
                continue;
            }
            let drain_until = self.output_state.drain_until();
            if drain_until.is_some_and(|until| self.ended || until <= now) {
                self.output_state = OutputState::Closed;
                transmit.broken();
                continue;
            }
            let woken = self.wake_pipe.take_wake() || until.is_some_and(|until| until <= now);
            let unsent = transmit.bytes();
            if !unsent.is_empty() && self.output_state.may_fit() {
                let n = self.write(unsent, clock);
                transmit.sent(n);
                // Fall through after a wake-up, so that frequent wake-ups cannot prevent reading.
                if !woken {
                    continue;
                }
            }
            let wanted = Readiness {
                input: receive.is_ready() && !self.ended,
                output: matches!(self.output_state, OutputState::Full) && !unsent.is_empty(),
            };
            let at = if woken { Some(now) } else { deadline.into_iter().chain(drain_until).min() };
            // If only input can end the wait, a blocking read replaces `poll`, unless `must_poll` is set.
            let can_block_on_read =
                wanted.input && !wanted.output && at.is_none() && no_wakers && !self.must_poll;
            let ready = if can_block_on_read {
                wanted
            } else {
                self.wait(wanted, at.map(|at| at.since(clock.read())))
            };
            if ready.output {
                self.output_state = OutputState::Ready;
            }
            if ready.input {
                self.read(receive);
            }
            if woken {
                return PumpStatus::Woken;
            }
        }
    }

    fn wake(&self) -> Wake {
        let wake_pipe = Arc::clone(&self.wake_pipe);
        Arc::new(move || wake_pipe.wake())
    }

    fn has_wakers(&self) -> bool {
        let has_wakers = Arc::strong_count(&self.wake_pipe) > 1;
        // Pairs with the `Release` in the drop of the last waker, so that an earlier wake-up by that waker is visible.
        fence(Ordering::Acquire);
        has_wakers
    }
}

impl OutputState {
    fn may_fit(self) -> bool {
        matches!(self, OutputState::Unknown | OutputState::Ready)
    }

    /// Returns the time until which the pump reads input after a failed write. Returns `None` if no write has failed,
    /// or the failure was reported to the state machine.
    fn drain_until(self) -> Option<Millis> {
        match self {
            OutputState::Broken(since) => Some(since.plus(DRAIN_TIME)),
            _ => None,
        }
    }
}

/// Converts a time, limited to one day because some systems reject longer timeouts.
fn timespec(Millis(time): Millis) -> Timespec {
    let time = Duration::from_millis(time.min(86_400_000));
    Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() }
}
