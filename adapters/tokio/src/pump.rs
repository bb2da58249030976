//! The pump: moves bytes between a machine and two streams.
//!
//! Everything happens in one poll function: what was read is in the machine, and what was written is reported to it, before
//! anything can be dropped. So nothing is lost whenever a future is.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_proto::{Action, Machine, Millis, Receive, Transmit};
use mcp_proto_handles::Signal;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// So often something is read before what is to be said about it is written: then many answers leave in one write, and none
/// waits for long.
const READS: u8 = 8;

/// So often in a row there may be something to do for the host before others get their turn.
const STEPS: u8 = 32;

/// How long the end of a stream may take to be written.
const GOODBYE: Millis = Millis::seconds(2);

/// Moves bytes for one machine, in lines. Made for one connection.
///
/// ```
/// use mcp_proto::server::{Event, ServerConfig};
/// use mcp_proto::{Buffer, Server};
/// use mcp_proto_tokio::{Pump, PumpStatus};
///
/// static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let input = &br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..];
/// # let mut output = Vec::new();
/// let mut server = Server::new(&INFO, Buffer::grown(65536), Buffer::grown(65536))?;
/// let mut pump = Pump::new(input, &mut output);
/// loop {
///     match pump.run(&mut server).await {
///         PumpStatus::Event => drop(server.event()),
///         PumpStatus::Woken => {}
///         PumpStatus::Closed => break,
///     }
/// }
/// # assert!(output.ends_with(b"\"result\":{}}\n"));
/// # Ok(()) }
/// ```
pub struct Pump<R, W> {
    input: R,
    output: W,
    start: Instant,
    woken: Arc<Signal<bool>>,
    /// It is there while there is a deadline.
    timer: Option<Pin<Box<Sleep>>>,
    /// How often was read since the last write.
    reads: u8,
    /// How often there was something to do for the host since others had their turn.
    steps: u8,
    unflushed: bool,
    /// The connection is over: so long the stream may take to end.
    ends: Option<Millis>,
}

/// Why [`Pump::run`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PumpStatus {
    /// The machine has an event.
    Event,
    /// A [`Waker`] was used.
    Woken,
    /// The connection is over.
    Closed,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Pump<R, W> {
    /// A pump between these streams. At the end of the connection the output is shut down; both are closed when the pump
    /// is dropped.
    pub fn new(input: R, output: W) -> Pump<R, W> {
        Pump {
            input,
            output,
            start: Instant::now(),
            woken: Arc::default(),
            timer: None,
            reads: 0,
            steps: 0,
            unflushed: false,
            ends: None,
        }
    }

    /// Moves bytes until there is something to do for the host. The runtime needs its timer.
    ///
    /// This is cancel-safe: if the future is dropped at any time, nothing is lost, and `run` can be called again.
    pub async fn run(&mut self, machine: &mut (dyn Machine + Send)) -> PumpStatus {
        self.run_until(machine, None).await
    }

    /// The same, until then at the latest: that is [`PumpStatus::Woken`], too.
    pub(crate) async fn run_until(
        &mut self,
        machine: &mut (dyn Machine + Send),
        until: Option<Millis>,
    ) -> PumpStatus {
        poll_fn(|context| {
            if self.steps >= STEPS {
                self.steps = 0;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let step = self.poll(context, machine, until);
            self.steps = if step.is_ready() { self.steps + 1 } else { 0 };
            step
        })
        .await
    }

    /// The time on the pump's clock, which is the machine's.
    #[must_use]
    pub fn now(&self) -> Millis {
        Millis(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Something that makes [`run`](Pump::run) come back, from anywhere.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker { woken: Arc::clone(&self.woken) }
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        machine: &mut dyn Machine,
        until: Option<Millis>,
    ) -> Poll<PumpStatus> {
        loop {
            let now = self.now();
            let io = match machine.poll(now) {
                Action::Event => return Poll::Ready(PumpStatus::Event),
                Action::Closed => return self.poll_end(context, now),
                Action::Io(io) => io,
            };
            let deadline = io.deadline().into_iter().chain(until).min();
            let (transmit, receive) = io.split();
            if self.reads < READS && self.has_read(context, receive) {
                self.reads += 1;
                continue;
            }
            let paused = mem::take(&mut self.reads) >= READS;
            let moved = self.has_written(context, transmit);
            let is_due = until.is_some_and(|until| until <= now);
            if is_due || self.woken.poll(context, |woken| mem::take(woken).then_some(())).is_ready() {
                return Poll::Ready(PumpStatus::Woken);
            }
            let again = moved || self.is_time(context, deadline);
            if paused {
                // There may be more to read, but others want to run, too.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if !again {
                return Poll::Pending;
            }
        }
    }

    /// Reads straight into the machine, if it takes anything. `true`: it has to be polled again.
    fn has_read(&mut self, context: &mut Context<'_>, mut receive: Receive<'_>) -> bool {
        if !receive.is_ready() {
            return false;
        }
        let mut space = ReadBuf::new(receive.space());
        let read = Pin::new(&mut self.input).poll_read(context, &mut space);
        let n = space.filled().len();
        match read {
            Poll::Pending => return false,
            Poll::Ready(Ok(())) if n > 0 => receive.filled(n),
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            Poll::Ready(_) => receive.eof(),
        }
        true
    }

    /// Writes what is ready, all of it if the stream takes it, or flushes what was written. `true`: the machine has to be
    /// polled again.
    fn has_written(&mut self, context: &mut Context<'_>, transmit: Transmit<'_>) -> bool {
        let output = Pin::new(&mut self.output);
        if transmit.bytes().is_empty() {
            if !self.unflushed {
                return false;
            }
            let flushed = output.poll_flush(context);
            self.unflushed = flushed.is_pending();
            return match flushed {
                Poll::Ready(Err(_)) => {
                    transmit.broken();
                    true
                }
                _ => false,
            };
        }
        match output.poll_write(context, transmit.bytes()) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => {
                self.unflushed = true;
                transmit.sent(n);
            }
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            Poll::Ready(_) => transmit.broken(),
        }
        true
    }

    /// Whether the deadline has come, if there is one. Nobody is woken where there is none.
    fn is_time(&mut self, context: &mut Context<'_>, deadline: Option<Millis>) -> bool {
        let at = deadline.and_then(|at| self.start.checked_add(Duration::from_millis(at.0)));
        let Some(at) = at else {
            self.timer = None;
            return false;
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if timer.deadline() != at {
            timer.as_mut().reset(at);
        }
        timer.as_mut().poll(context).is_ready()
    }

    /// HeaplessLink the output, so that the peer has all of it.
    fn poll_end(&mut self, context: &mut Context<'_>, now: Millis) -> Poll<PumpStatus> {
        let ends = *self.ends.get_or_insert(now.plus(GOODBYE));
        let is_over = Pin::new(&mut self.output).poll_shutdown(context).is_ready();
        if is_over || self.is_time(context, Some(ends)) {
            self.timer = None;
            return Poll::Ready(PumpStatus::Closed);
        }
        Poll::Pending
    }
}

impl<R, W> std::fmt::Debug for Pump<R, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pump").finish_non_exhaustive()
    }
}

/// Makes [`Pump::run`] come back with [`PumpStatus::Woken`]: now, or when it is called next.
#[derive(Debug, Clone)]
pub struct Waker {
    woken: Arc<Signal<bool>>,
}

impl Waker {
    /// Wakes the pump.
    pub fn wake(&self) {
        self.woken.change(|woken| *woken = true);
    }
}
