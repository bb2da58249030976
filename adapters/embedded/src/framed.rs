//! `FramedPump`: a pump over a serial line that damages bytes.

use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;

use embedded_io::{Error, ErrorKind, Read, Write};
use mcp_proto::{Machine, Millis};
use mcp_proto_framed_link::FramedLink;

use crate::asynch::{Timer, first, flush_until, into_option, read_if, sleep, write_or_flush};
use crate::link::Link;
use crate::log;
use crate::pump::Pump;
use crate::status::{ErrorClass, PumpStatus, accept_unsupported, classify, is_unflushed_after, reject_zero};

/// Maximum number of bytes in one read from the line.
const READ_SIZE: usize = 32;

/// A [`Pump`] over a serial line that damages, drops or inserts bytes.
///
/// Both ends of the line exchange frames with checksums, and repeat lost frames: see [`mcp_proto_framed_link`]. The
/// other end is another `FramedPump`, or `mcp-serial-bridge --framed`. The methods have the names and contracts of
/// [`Pump`]'s methods, and session marks are enabled. [`PumpStatus::NewSession`] also reports a restart of the other
/// end. `LineBroken` is never returned, because lost bytes are sent again. After the machine has closed,
/// [`PumpStatus::Closed`] is returned when the other end has received all output, or after two seconds. If the line has
/// ended or is closed, the pump does not wait for the other end.
///
/// ```
/// use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
/// use mcp_proto::{Millis, Server};
/// use mcp_proto_embedded::{FramedPump, Link, PumpStatus};
///
/// static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// static CONFIG: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&TOOLS]);
///
/// fn main_loop(uart: &mut dyn Link, starts: u16, now: fn() -> Millis) -> Result<(), mcp_proto::ConfigError> {
///     let (mut rx, mut tx) = ([0; 512], [0; 1024]);
///     let mut server = Server::new(&CONFIG, &mut rx, &mut tx)?;
///     let mut pump = FramedPump::new(starts);
///     loop {
///         match pump.step(&mut server, uart, now()) {
///             PumpStatus::Event => match server.event() {
///                 Some(Event::Call(call)) => call.text("Hello!"),
///                 _ => {}
///             },
///             PumpStatus::NewSession => server.reset(),
///             PumpStatus::Closed => return Ok(()),
///             // Sleep until an interrupt, at most until the deadline: a lost frame may have to be repeated.
///             PumpStatus::Idle(_deadline) => {}
///             _ => {}
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct FramedPump {
    pump: Pump,
    link: FramedLink,
    line: Line,
    is_unflushed: bool,
    /// Whether `wait` has returned an error of a write or flush since the last successful write.
    has_reported_error: bool,
}

/// The state of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Open,
    /// The input has ended. The output is still open.
    Ended,
    /// The line is closed: a read or write has returned this error.
    Lost(ErrorKind),
}

impl FramedPump {
    /// Creates a pump for one line.
    ///
    /// `number` should be different at each start of the board: a random number, or a counter of starts in RAM that
    /// keeps its content. See [`FramedLink::new`] for the effect of a constant.
    #[must_use]
    pub const fn new(number: u16) -> FramedPump {
        FramedPump {
            pump: Pump::new().session_marks(),
            link: FramedLink::new(number),
            line: Line::Open,
            is_unflushed: false,
            has_reported_error: false,
        }
    }

    /// Returns whether both ends of the line have agreed on a session.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        self.link.is_connected()
    }

    /// Starts a new session on both ends of the line. The caller must also reset the machine.
    pub fn new_session(&mut self) {
        self.pump.new_session();
        self.link.restart();
        self.line = Line::Open;
    }

    /// Polls the machine once and moves bytes in both directions. See [`Pump::step`].
    ///
    /// Call this method again at the deadline of [`PumpStatus::Idle`], because a lost frame may have to be repeated.
    pub fn step(&mut self, machine: &mut dyn Machine, line: &mut dyn Link, now: Millis) -> PumpStatus {
        let mut space = [0; READ_SIZE];
        let has_read = match self.line {
            Line::Open => {
                let arrived = line.receive(&mut space);
                self.arrived(&space, arrived, now)
            }
            _ => false,
        };
        let status = self.poll_machine(machine, now);
        let written = self.transmit(line, now);
        match (status, written) {
            (PumpStatus::Idle(_), Err(kind)) => PumpStatus::NotWritten(kind),
            (PumpStatus::Idle(_), Ok(true)) => PumpStatus::Moved,
            (PumpStatus::Idle(_), _) if has_read => PumpStatus::Moved,
            (PumpStatus::Idle(deadline), _) => PumpStatus::Idle(self.earlier(deadline)),
            (status, _) => status,
        }
    }

    /// Moves bytes over a blocking line until the caller has something to do. See [`Pump::run`].
    ///
    /// Never returns [`PumpStatus::NotWritten`]: after a temporary error, a later call repeats the write or flush.
    ///
    /// A lost frame is repeated between two reads. So the driver's read should end with [`ErrorKind::TimedOut`] after
    /// at most 100 ms without input, and the caller should then call `run` again.
    pub fn run<T: Read + Write>(
        &mut self,
        machine: &mut dyn Machine,
        line: &mut T,
        now: &mut dyn FnMut() -> Millis,
    ) -> PumpStatus {
        loop {
            let status = self.poll_machine(machine, now());
            let has_written = self.write_all(line, now);
            let deadline = match status {
                PumpStatus::Moved => continue,
                // Poll again, because the write of the last frame may have ended the connection.
                PumpStatus::Idle(_) if has_written && self.line != Line::Open => continue,
                PumpStatus::Idle(deadline) if self.line == Line::Open => deadline,
                PumpStatus::Closed if self.is_unflushed && now() < self.pump.closes_at => {
                    return PumpStatus::Idle(Some(self.pump.closes_at));
                }
                status => return status,
            };
            let mut space = [0; READ_SIZE];
            let read = line.read(&mut space).map_err(|error| error.kind());
            if matches!(read, Err(kind) if classify(kind) == ErrorClass::TimedOut) {
                return PumpStatus::Idle(self.earlier(deadline));
            }
            self.arrived(&space, read.map(Some), now());
        }
    }

    /// Moves bytes in both directions until the caller has something to do. See [`Pump::wait`].
    ///
    /// The futures of the driver must be cancel-safe, as for [`Pump::wait`]. Before this method returns a status other
    /// than [`PumpStatus::Closed`] and [`PumpStatus::NotWritten`], it polls due writes and then a flush. The method
    /// drops the first of these futures that does not complete at once. `embedded-io-async` recommends that a dropped
    /// write has written no bytes, but does not require this.
    pub async fn wait<R: embedded_io_async::Read, W: embedded_io_async::Write, T: Timer>(
        &mut self,
        machine: &mut dyn Machine,
        input: &mut R,
        output: &mut W,
        timer: &mut T,
    ) -> PumpStatus {
        loop {
            let now = timer.now();
            let deadline = match self.poll_machine(machine, now) {
                PumpStatus::Moved => continue,
                PumpStatus::Idle(deadline) => deadline,
                PumpStatus::Closed => {
                    if self.is_unflushed {
                        flush_until(output, timer, self.pump.closes_at).await;
                        self.is_unflushed = false;
                    }
                    return PumpStatus::Closed;
                }
                status => {
                    self.begin_write(output, now).await;
                    return status;
                }
            };
            // If a repetition is due, this call selects the frame. Without the call, the deadline below would be in
            // the past.
            self.link.output(now);
            let (deadline, reads) = (self.earlier(deadline), self.line == Line::Open);
            let (is_unflushed, has_failed) = (self.is_unflushed, self.has_reported_error);
            let bytes = self.writable(now);
            let flushes = bytes.is_empty() && is_unflushed;
            let mut space = [0; READ_SIZE];
            let write = write_or_flush(output, bytes, flushes, has_failed);
            let read = read_if(input, &mut space, reads);
            let (written, arrived) = first(pin!(write), pin!(read), pin!(sleep(timer, deadline))).await;
            let now = timer.now();
            if let Some(flushed) = written.filter(|_| flushes) {
                self.is_unflushed = is_unflushed_after(flushed);
            }
            let written = written.map_or(Ok(false), |written| self.record_write(written, now));
            if let Some(arrived) = arrived {
                self.arrived(&space, arrived.map(Some), now);
            }
            if let Err(kind) = written {
                self.has_reported_error = true;
                return PumpStatus::NotWritten(kind);
            }
        }
    }

    /// Returns the bytes that are due for the async output.
    fn writable(&mut self, now: Millis) -> &[u8] {
        match self.line {
            // A closed line gets no bytes: each write would fail at once, and `wait` would never yield to the executor.
            Line::Lost(_) => &[],
            Line::Open | Line::Ended => self.link.output(now),
        }
    }

    /// Writes and flushes the frames that the output accepts at once, because the other end may wait for them while the
    /// caller handles an event. Does not wait for the output: the pump would not read meanwhile, so the other end would
    /// never make space if it writes before it reads.
    async fn begin_write<W: embedded_io_async::Write>(&mut self, output: &mut W, now: Millis) {
        loop {
            let (is_unflushed, has_failed) = (self.is_unflushed, self.has_reported_error);
            let bytes = self.writable(now);
            let flushes = bytes.is_empty() && is_unflushed;
            let written = {
                let mut write = pin!(write_or_flush(output, bytes, flushes, has_failed));
                poll_fn(|context| Poll::Ready(into_option(write.as_mut().poll(context)))).await
            };
            if let Some(flushed) = written.filter(|_| flushes) {
                self.is_unflushed = is_unflushed_after(flushed);
            }
            // If the line does not accept a frame, a later call writes the frame.
            if !written.is_some_and(|written| matches!(self.record_write(written, now), Ok(true))) {
                return;
            }
        }
    }

    /// Reports a new session of the other end. Otherwise polls the machine once, and moves bytes between machine and
    /// link. After the machine has closed, returns [`PumpStatus::Idle`] until the link has nothing more to send, or two
    /// seconds have passed.
    fn poll_machine(&mut self, machine: &mut dyn Machine, now: Millis) -> PumpStatus {
        if self.link.take_reset() {
            self.pump.new_session();
            log::new_session();
            return PumpStatus::NewSession;
        }
        // Once the machine is closed, only a new session opens the connection again.
        if self.pump.closes_at == Millis::MAX {
            match self.pump.step(machine, &mut Stream { link: &mut self.link, line: self.line }, now) {
                PumpStatus::Closed => _ = self.pump.closing(now),
                status => return status,
            }
        }
        let is_sending = match self.line {
            Line::Open => !self.link.is_idle(),
            // No acknowledgment can arrive.
            Line::Ended => !self.link.output(now).is_empty(),
            Line::Lost(_) => false,
        };
        if is_sending && now < self.pump.closes_at {
            return PumpStatus::Idle(Some(self.pump.closes_at));
        }
        PumpStatus::Closed
    }

    /// Handles the result of a read. Returns whether bytes have arrived, or the line has ended.
    fn arrived(&mut self, space: &[u8], read: Result<Option<usize>, ErrorKind>, now: Millis) -> bool {
        match read {
            Ok(None) => return false,
            Ok(Some(0)) => self.line = Line::Ended,
            Ok(Some(count)) => self.link.input(space.get(..count).unwrap_or(space), now, |_| {}),
            Err(kind) if classify(kind) == ErrorClass::Gone => self.line = Line::Lost(kind),
            // Other errors need no report, because the checksums detect lost bytes.
            Err(_) => return false,
        }
        true
    }

    /// Writes frames until the line accepts no further bytes. Returns whether any byte was written. Fails with a
    /// temporary error.
    fn transmit(&mut self, line: &mut dyn Link, now: Millis) -> Result<bool, ErrorKind> {
        let mut has_written = false;
        loop {
            let bytes = self.link.output(now);
            if bytes.is_empty() {
                return Ok(has_written);
            }
            let written = line.transmit(bytes);
            if !self.record_write(written, now)? {
                return Ok(has_written);
            }
            has_written = true;
        }
    }

    /// Writes and flushes all frames that are due. Returns whether any byte was written.
    fn write_all<T: Read + Write>(&mut self, line: &mut T, now: &mut dyn FnMut() -> Millis) -> bool {
        let mut has_written = false;
        loop {
            let time = now();
            let bytes = self.link.output(time);
            if bytes.is_empty() {
                break;
            }
            let written = reject_zero(line.write(bytes).map_err(|error| error.kind()));
            // If the line does not accept a frame, a later call writes the frame.
            if !matches!(self.record_write(written, time), Ok(true)) {
                break;
            }
            has_written = true;
        }
        if self.is_unflushed {
            // An error of a closed line appears again in the next read or write.
            self.is_unflushed =
                is_unflushed_after(accept_unsupported(line.flush().map_err(|error| error.kind())));
        }
        has_written
    }

    /// Handles the result of a write. Returns whether bytes were written. Fails with a temporary error.
    fn record_write(&mut self, written: Result<usize, ErrorKind>, now: Millis) -> Result<bool, ErrorKind> {
        match written {
            Ok(count) => {
                self.link.written(count, now);
                if count > 0 {
                    (self.is_unflushed, self.has_reported_error) = (true, false);
                }
                Ok(count > 0)
            }
            Err(kind) => match classify(kind) {
                ErrorClass::TimedOut => Ok(false),
                ErrorClass::Temporary => {
                    log::not_written(kind);
                    Err(kind)
                }
                ErrorClass::Gone => {
                    self.line = Line::Lost(kind);
                    Ok(false)
                }
            },
        }
    }

    fn earlier(&self, deadline: Option<Millis>) -> Option<Millis> {
        deadline.into_iter().chain(self.link.deadline()).min()
    }
}

/// The byte stream of the link, for the pump.
struct Stream<'l> {
    link: &'l mut FramedLink,
    line: Line,
}

impl Link for Stream<'_> {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        let count = space.iter_mut().zip(self.link.received()).map(|(place, byte)| *place = *byte).count();
        self.link.consume(count);
        match self.line {
            _ if count > 0 => Ok(Some(count)),
            Line::Open => Ok(None),
            Line::Ended => Ok(Some(0)),
            Line::Lost(kind) => Err(kind),
        }
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        match self.line {
            Line::Lost(kind) => Err(kind),
            _ => Ok(self.link.send(bytes)),
        }
    }
}
