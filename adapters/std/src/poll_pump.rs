//! A pump over files, pipes and sockets: what the system can wait for.
//!
//! The thread that owns the machine reads and writes by itself. It never waits for its peer to read: it writes what fits, and
//! waits for everything at once, with `poll`: for input, for room for output, for whoever wakes it, and for the deadline. If
//! only input can come, it does not ask before it reads.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use mcp_proto::{Action, Clock, Machine, Millis, Receive};
use mcp_proto_handles::Wake;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::output::Output;
use crate::pump::{LAST_INPUT, Mover, PumpStatus, Turn};
use crate::read_buffer::{CHUNK, Chunk};
use crate::waker::Bell;

/// Moves bytes between a machine and two streams, without other threads.
pub(crate) struct Polled {
    input: File,
    output: Output,
    bell: Arc<Bell>,
    chunk: Chunk,
    ended: bool,
    /// Whether a read may come back with nothing, so that it has to be asked before.
    asks: bool,
    out: Out,
}

/// What is known of the output.
#[derive(Clone, Copy)]
enum Out {
    /// Something may fit.
    Free,
    /// It was said that something fits.
    Ready,
    /// The peer has to read first.
    Full,
    /// Nothing can be written any more since then, and the machine does not know it yet. A peer that has answered and gone
    /// may be noticed by a write first. Its answers count.
    Broken(Millis),
    Over,
}

/// What can be waited for, and what of it has come.
#[derive(Clone, Copy)]
struct Ready {
    input: bool,
    output: bool,
}

impl Polled {
    pub(crate) fn new(input: OwnedFd, output: OwnedFd) -> io::Result<Polled> {
        Ok(Polled {
            input: input.into(),
            output: Output::new(output),
            bell: Arc::new(Bell::new()?),
            chunk: Chunk::new(),
            ended: false,
            asks: false,
            out: Out::Free,
        })
    }

    /// Writes what fits. So much was written.
    fn write(&mut self, bytes: &[u8], now: Millis) -> usize {
        let written = self.output.write(bytes, matches!(self.out, Out::Ready));
        self.out = match &written {
            Ok(n) if *n == bytes.len() => Out::Free,
            Ok(_) => Out::Full,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => Out::Full,
                ErrorKind::Interrupted => self.out,
                _ => Out::Broken(now),
            },
        };
        written.unwrap_or(0)
    }

    /// Reads once, right into the machine if it has as much room as a chunk: large messages are not copied then.
    fn read(&mut self, mut receive: Receive<'_>) {
        let space = receive.space();
        let is_large = space.len() >= CHUNK;
        match self.input.read(if is_large { space } else { self.chunk.space() }) {
            Ok(n @ 1..) if is_large => receive.filled(n),
            Ok(n @ 1..) => self.chunk.filled(n),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Somebody has made it non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.asks = true,
            Ok(_) | Err(_) => {
                self.ended = true;
                receive.eof();
            }
        }
    }

    /// Waits until one of these is ready, it is woken, or the time is over: what is ready then.
    fn wait(&self, wanted: Ready, time: Option<Millis>) -> Ready {
        let (input, output) = (self.input.as_fd(), self.output.as_fd());
        let came = self.bell.wait(|bell, may_sleep| {
            let time = if may_sleep { time } else { Some(Millis(0)) };
            // Only what is wanted: a peer that has hung up would be there all the time.
            let first = if wanted.input { (input, PollFlags::IN) } else { (output, PollFlags::OUT) };
            let mut files = [
                PollFd::from_borrowed_fd(bell, PollFlags::IN),
                PollFd::from_borrowed_fd(first.0, first.1),
                PollFd::from_borrowed_fd(output, PollFlags::OUT),
            ];
            let count = 1 + usize::from(wanted.input) + usize::from(wanted.output);
            poll(&mut files[..count], time.map(timespec).as_ref())
                .map(|_| files.map(|file| !file.revents().is_empty()))
        });
        match came {
            Ok([_, first, last]) => Ready {
                input: wanted.input && first,
                output: wanted.output && if wanted.input { last } else { first },
            },
            Err(Errno::INTR) => Ready { input: false, output: false },
            // It cannot wait for both, so it waits for one.
            Err(_) => wanted,
        }
    }
}

impl Mover for Polled {
    fn run(&mut self, machine: &mut dyn Machine, clock: Clock, turn: Turn) -> PumpStatus {
        let Turn { now, until, nobody_wakes } = turn;
        let mut begun = Some(now);
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
            if !self.chunk.is_empty() && receive.is_ready() {
                self.chunk.feed(receive);
                continue;
            }
            let last_input = self.out.last_input();
            if last_input.is_some_and(|until| self.ended || until <= now) {
                self.out = Out::Over;
                transmit.broken();
                continue;
            }
            let woken = self.bell.was_rung() || until.is_some_and(|until| until <= now);
            let unsent = transmit.bytes();
            if !unsent.is_empty() && self.out.may_fit() {
                let n = self.write(unsent, now);
                transmit.sent(n);
                // However often it is woken, it reads, too.
                if !woken {
                    continue;
                }
            }
            let wanted = Ready {
                input: receive.is_ready() && !self.ended,
                output: matches!(self.out, Out::Full) && !unsent.is_empty(),
            };
            let at = if woken { Some(now) } else { deadline.into_iter().chain(last_input).min() };
            // Nothing else can happen, so that nothing has to be asked: it may take as long as it likes.
            let only_input = wanted.input && !wanted.output && at.is_none() && nobody_wakes && !self.asks;
            let ready = if only_input { wanted } else { self.wait(wanted, at.map(|at| at.since(now))) };
            if ready.output {
                self.out = Out::Ready;
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
        let bell = Arc::clone(&self.bell);
        Arc::new(move || bell.ring())
    }

    fn can_be_woken(&self) -> bool {
        let shared = Arc::strong_count(&self.bell) > 1;
        // Whoever has just given up the last one may have used it before.
        fence(Ordering::Acquire);
        shared
    }
}

impl Out {
    fn may_fit(self) -> bool {
        matches!(self, Out::Free | Out::Ready)
    }

    /// How long the peer is still heard.
    fn last_input(self) -> Option<Millis> {
        match self {
            Out::Broken(since) => Some(since.plus(LAST_INPUT)),
            _ => None,
        }
    }
}

/// A day at most: not all systems can wait for much longer.
fn timespec(Millis(time): Millis) -> Timespec {
    let time = Duration::from_millis(time.min(86_400_000));
    Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() }
}
