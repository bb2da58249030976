//! The pump: moves bytes between a state machine and two async streams.
//!
//! The pump moves bytes and reports them to the state machine within one poll, so dropping a future loses no bytes.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use mcp_proto::{Action, Machine, Millis, Receive, Transmit};
use mcp_proto_handles::{HttpFailure, PumpStatus, Wake, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::pump_state::PumpState;

/// Maximum number of reads before a write. Several reads batch responses into one write, and the limit bounds the delay
/// of a response.
const MAX_READS: u8 = 8;

/// Time to read the peer's last messages after a write has failed.
const DRAIN_TIME: Millis = Millis(250);

/// Time limit for the shutdown of the output.
const SHUTDOWN_TIME: Millis = Millis::seconds(2);

/// Moves bytes between one state machine and two streams.
///
/// A pump serves one connection. Each message is a line.
///
/// ```
/// use mcp_proto_tokio::server::{Event, ServerConfig};
/// use mcp_proto_tokio::{Buffer, Server};
/// use mcp_proto_tokio::{Pump, PumpStatus};
///
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let input = &br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..];
/// # let mut output = Vec::new();
/// let mut server = Server::new(&CONFIG, Buffer::grown(65536), Buffer::grown(65536))?;
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
    state: PumpState,
    /// Number of reads since the last attempt to write.
    reads: u8,
    needs_flush: bool,
    has_ended: bool,
    output_state: OutputState,
    /// The deadline for the shutdown of the output, set when the connection is closed.
    shutdown_deadline: Option<Millis>,
}

/// The state of the output.
#[derive(Clone, Copy)]
enum OutputState {
    Open,
    /// Writing failed at this time, and the state machine does not know yet. A peer may have responded before it closed
    /// its input, so the pump reads the last messages before it reports the failure.
    Broken(Millis),
    Closed,
}

/// The implementation of a pump.
pub(crate) trait PumpImpl {
    fn state(&mut self) -> &mut PumpState;

    /// Polls the pump for [`run_until`]. `now` is a recent time, for the first poll of the state machine.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        machine: &mut dyn Machine,
        now: Millis,
        until: Option<Millis>,
    ) -> Poll<PumpStatus>;

    /// Returns the failure of the last closed HTTP stream. The failure is kept until the pump takes further input.
    /// Returns `None` if that stream has not failed. Pumps for other transports always return `None`.
    fn failure(&self) -> Option<HttpFailure> {
        None
    }

    /// Removes and returns the failure of the application's last response that the server has refused over HTTP. After
    /// such a refusal, the pump returns [`PumpStatus::Woken`].
    fn take_refused_response(&mut self) -> Option<HttpFailure> {
        None
    }
}

/// Moves bytes or messages until there is a status to return. At the time `until`, this status is
/// [`PumpStatus::Woken`], unless there is an event or the connection has closed.
///
/// `now` is the result of [`PumpState::read_clock`] or [`PumpState::time_after_event`].
pub(crate) async fn run_until<P: PumpImpl + ?Sized>(
    pump: &mut P,
    machine: &mut (dyn Machine + Send),
    now: Millis,
    until: Option<Millis>,
) -> PumpStatus {
    let mut first_now = Some(now);
    poll_fn(|context| {
        // Time passes before the next poll of the task, so a later poll does not use `now`.
        let first_now = first_now.take();
        if pump.state().must_yield(context) {
            return Poll::Pending;
        }
        let now = first_now.unwrap_or_else(|| pump.state().read_clock());
        let status = pump.poll(context, machine, now, until);
        pump.state().count(&status);
        status
    })
    .await
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Pump<R, W> {
    /// Creates a pump between these streams. At the end of the connection, the pump shuts down the output. Dropping
    /// the pump drops both streams.
    pub fn new(input: R, output: W) -> Pump<R, W> {
        Pump::with_clock(input, output, Instant::now())
    }

    /// Like [`new`](Pump::new), with a clock that starts at `start`.
    pub(crate) fn with_clock(input: R, output: W, start: Instant) -> Pump<R, W> {
        let state = PumpState::new(start);
        Pump {
            input,
            output,
            state,
            reads: 0,
            needs_flush: false,
            has_ended: false,
            output_state: OutputState::Open,
            shutdown_deadline: None,
        }
    }

    /// Moves bytes until there is a status to return.
    ///
    /// The method returns when the state machine has an event, a waker is used, or the connection closes. The runtime
    /// must have its timer enabled.
    ///
    /// The method is cancel-safe: dropping the future at any time loses no bytes, and the caller may call `run` again.
    pub async fn run(&mut self, machine: &mut (dyn Machine + Send)) -> PumpStatus {
        let now = self.read_clock();
        self.run_until(machine, now, None).await
    }

    /// Like [`run`](Pump::run), with `now` as the current time. Also returns [`PumpStatus::Woken`] at the time `until`.
    pub(crate) async fn run_until(
        &mut self,
        machine: &mut (dyn Machine + Send),
        now: Millis,
        until: Option<Millis>,
    ) -> PumpStatus {
        run_until(self, machine, now, until).await
    }

    /// Returns the current time of the pump's clock. The state machine uses the same clock.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.state.now()
    }

    /// Returns the current time, like [`now`](Pump::now), and records the reading for
    /// [`time_after_event`](Pump::time_after_event).
    pub(crate) fn read_clock(&mut self) -> Millis {
        self.state.read_clock()
    }

    /// Returns the time after an event. If the last events were quick and the state machine has no deadline, this
    /// method does not read the clock: see [`EventTime`](mcp_proto_handles::EventTime).
    pub(crate) fn time_after_event(&mut self, has_deadline: bool) -> Millis {
        self.state.time_after_event(has_deadline)
    }

    /// Returns a waker with which any thread or task can make [`run`](Pump::run) return.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker::new(self.state.wake())
    }

    pub(crate) fn wake(&self) -> Wake {
        self.state.wake()
    }

    /// Reads directly into the space of the state machine, if the machine is ready to receive. Returns `true` if the
    /// state machine must be polled again.
    fn try_read(&mut self, context: &mut Context<'_>, mut receive: Receive<'_>) -> bool {
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
            Poll::Ready(_) => {
                self.has_ended = true;
                receive.eof();
            }
        }
        true
    }

    /// Writes pending bytes, flushes written bytes, or reports a failed write. Returns `true` if the state machine must
    /// be polled again.
    fn try_write(&mut self, context: &mut Context<'_>, transmit: Transmit<'_>, now: Millis) -> bool {
        if let Some(until) = self.output_state.drain_until()
            && (self.has_ended || until <= now)
        {
            self.output_state = OutputState::Closed;
            transmit.broken();
            return true;
        }
        if !matches!(self.output_state, OutputState::Open) {
            return false;
        }
        let output = Pin::new(&mut self.output);
        if transmit.bytes().is_empty() {
            if !self.needs_flush {
                return false;
            }
            let flushed = output.poll_flush(context);
            self.needs_flush = flushed.is_pending();
            let has_failed = matches!(flushed, Poll::Ready(Err(_)));
            if has_failed {
                self.output_state = OutputState::Broken(self.state.now());
            }
            return has_failed;
        }
        match output.poll_write(context, transmit.bytes()) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => {
                self.needs_flush = true;
                transmit.sent(n);
            }
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            Poll::Ready(_) => self.output_state = OutputState::Broken(self.state.now()),
        }
        true
    }

    /// Shuts down the output, so that the peer receives all bytes. Waits at most [`SHUTDOWN_TIME`]: at its end, the
    /// method may return [`PumpStatus::Woken`], and the next call returns [`PumpStatus::Closed`].
    fn poll_shutdown(
        &mut self,
        context: &mut Context<'_>,
        until: Option<Millis>,
        now: Millis,
    ) -> Poll<PumpStatus> {
        let end = *self.shutdown_deadline.get_or_insert_with(|| now.plus(SHUTDOWN_TIME));
        if Pin::new(&mut self.output).poll_shutdown(context).is_ready() || end <= now {
            return Poll::Ready(PumpStatus::Closed);
        }
        let deadline = until.map_or(end, |until| until.min(end));
        if self.state.is_woken(context, until, now) {
            return Poll::Ready(PumpStatus::Woken);
        }
        if self.state.poll_deadline(context, Some(deadline)) {
            return Poll::Ready(if deadline == end { PumpStatus::Closed } else { PumpStatus::Woken });
        }
        Poll::Pending
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> PumpImpl for Pump<R, W> {
    fn state(&mut self) -> &mut PumpState {
        &mut self.state
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        machine: &mut dyn Machine,
        now: Millis,
        until: Option<Millis>,
    ) -> Poll<PumpStatus> {
        let mut first_now = Some(now);
        loop {
            let now = first_now.take().unwrap_or_else(|| self.read_clock());
            let io = match machine.poll(now) {
                Action::Event => return Poll::Ready(PumpStatus::Event),
                Action::Closed => return self.poll_shutdown(context, until, now),
                Action::Io(io) => io,
            };
            let deadline = io.deadline().into_iter().chain(until).min();
            let (transmit, receive) = io.split();
            if self.reads < MAX_READS && self.try_read(context, receive) {
                self.reads += 1;
                continue;
            }
            let must_yield = mem::take(&mut self.reads) >= MAX_READS;
            let has_progress = self.try_write(context, transmit, now);
            let deadline = deadline.into_iter().chain(self.output_state.drain_until()).min();
            if self.state.is_woken(context, until, now) {
                return Poll::Ready(PumpStatus::Woken);
            }
            let poll_again = has_progress || self.state.poll_deadline(context, deadline);
            if must_yield {
                // Yield to other tasks, even if more input is ready.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if !poll_again {
                return Poll::Pending;
            }
        }
    }
}

impl OutputState {
    /// Returns the time until which the pump reads input after a failed write. Returns `None` if no write has failed,
    /// or the failure was reported.
    fn drain_until(self) -> Option<Millis> {
        match self {
            OutputState::Broken(since) => Some(since.plus(DRAIN_TIME)),
            _ => None,
        }
    }
}

impl<R, W> std::fmt::Debug for Pump<R, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pump").finish_non_exhaustive()
    }
}
