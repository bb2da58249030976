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
use crate::pump::{Pump, SESSION_MARK};
use crate::status::{ErrorClass, PumpStatus, accept_unsupported, classify, is_unflushed_after, reject_zero};

/// Maximum number of bytes in one read from the line.
const READ_SIZE: usize = 32;

/// A [`Pump`] over a serial line that damages, drops or inserts bytes.
///
/// Both ends of the line exchange frames with checksums, and repeat lost frames: see [`mcp_proto_framed_link`]. The
/// other end is another `FramedPump`, or the program `mcp-serial-bridge --framed`.
///
/// The methods have the names and contracts of [`Pump`]'s methods, except for differences that a method names, and for
/// these differences:
///
/// - [Session marks](Pump::session_marks) are always enabled. [`PumpStatus::NewSession`] also reports a restart of the
///   other end.
/// - [`PumpStatus::LineBroken`] is never returned, because lost bytes are sent again.
/// - After the machine has closed, [`PumpStatus::Closed`] is returned when the other end has received all output, or
///   after two seconds. If the input of the line has ended or the line is closed, the pump does not wait for the other
///   end.
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
///             // Sleep until an interrupt, but at most until the deadline, at which the pump may repeat a lost frame.
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

/// The state of the serial line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Open,
    /// The input has ended. The output is still open.
    Ended,
    /// The line is closed: a read, write or flush has returned this error.
    Lost(ErrorKind),
}

impl FramedPump {
    /// Creates a pump for one line.
    ///
    /// `number` should be different at each start of the board: a random number, or a counter of starts in memory that
    /// a restart does not clear. See [`FramedLink::new`] for the effect of a constant number.
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

    /// Returns whether the line has accepted only a part of a frame.
    ///
    /// An application that logs on the same line writes a log line only while this method returns `false`, because text
    /// within a frame would damage the frame. Each log line must be UTF-8 and end with a newline.
    #[must_use]
    pub const fn is_within_message(&self) -> bool {
        self.link.is_within_frame()
    }

    /// Returns whether this end of the line has a session with the other end.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        self.link.is_connected()
    }

    /// Starts a new session on both ends of the line, and drops all bytes in transit.
    ///
    /// The caller must also reset the machine. A `FramedPump` at the other end then returns [`PumpStatus::NewSession`].
    /// If the line had ended or was closed, this pump uses the line again.
    pub fn new_session(&mut self) {
        self.pump.new_session();
        self.link.restart();
        self.line = Line::Open;
    }

    /// Polls the machine at most once, and moves bytes in both directions. See [`Pump::step`].
    ///
    /// Call this method again at the deadline of [`PumpStatus::Idle`], at which the pump may repeat a lost frame.
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
    /// Never returns [`PumpStatus::NotWritten`]: after a temporary error, the pump repeats the write or flush later.
    ///
    /// The pump repeats a lost frame only between two reads. So a read of the driver should end with
    /// [`ErrorKind::TimedOut`] after at most 100 ms without input, and the caller should then call `run` again.
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
                // After the end of the input, the connection can end once the last frame is written. A write may also
                // have found a closed line. Poll again to report either.
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
    /// The futures of the driver must be cancel-safe, as for [`Pump::wait`]: a read or write that the pump drops
    /// must have moved no bytes. `embedded-io-async` recommends this property but does not require it.
    ///
    /// Before this method returns a status other than [`PumpStatus::Closed`] and [`PumpStatus::NotWritten`], it polls
    /// the writes of due frames, and then a flush. It stops at the first of these futures that does not complete at
    /// once, and drops this future.
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
            // If a repetition is due, this call selects the frame and stops its timer. Without the call, the deadline
            // below would be in the past.
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

    /// Returns the bytes to write next.
    fn writable(&mut self, now: Millis) -> &[u8] {
        match self.line {
            // Each write to a closed line would fail at once, so `wait` would never yield to the executor.
            Line::Lost(_) => &[],
            Line::Open | Line::Ended => self.link.output(now),
        }
    }

    /// Writes and flushes the frames that the output accepts at once, because the other end may wait for these frames
    /// while the caller handles an event.
    ///
    /// Does not wait for the output, because the pump would not read in the meantime. If the other end reads only after
    /// the pump has read, neither end would continue.
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
            // Stop after the flush, or when the line accepts no further bytes. A later call writes the other bytes.
            if !written.is_some_and(|written| matches!(self.record_write(written, now), Ok(true))) {
                return;
            }
        }
    }

    /// Returns [`PumpStatus::NewSession`] if the other end has begun a new session. Otherwise polls the machine once,
    /// and moves bytes between the machine and the link.
    ///
    /// After the machine has closed, returns [`PumpStatus::Idle`] while the link has bytes to send or awaits their
    /// acknowledgment, but for at most two seconds. Then returns [`PumpStatus::Closed`].
    fn poll_machine(&mut self, machine: &mut dyn Machine, now: Millis) -> PumpStatus {
        if self.link.take_reset() {
            self.pump.new_session();
            log::new_session();
            return PumpStatus::NewSession;
        }
        // Once `closes_at` is set, the machine is closed. The pump polls the machine again only after a new session has
        // cleared `closes_at`.
        if self.pump.closes_at == Millis::MAX {
            let is_start = self.pump.is_at_start();
            match self.pump.step(
                machine,
                &mut Stream { link: &mut self.link, is_start, line: self.line },
                now,
            ) {
                PumpStatus::Closed => _ = self.pump.closing(now),
                status => return status,
            }
        }
        let is_sending = match self.line {
            Line::Open => !self.link.is_idle(),
            // The input has ended, so no acknowledgment can arrive.
            Line::Ended => !self.link.output(now).is_empty(),
            Line::Lost(_) => false,
        };
        if is_sending && now < self.pump.closes_at {
            return PumpStatus::Idle(Some(self.pump.closes_at));
        }
        PumpStatus::Closed
    }

    /// Handles the result of a read. Returns whether bytes have arrived, or the line has ended or closed.
    fn arrived(&mut self, space: &[u8], read: Result<Option<usize>, ErrorKind>, now: Millis) -> bool {
        match read {
            Ok(None) => return false,
            Ok(Some(0)) => self.line = Line::Ended,
            Ok(Some(count)) => self.link.input(space.get(..count).unwrap_or(space), now, |_| {}),
            Err(kind) if classify(kind) == ErrorClass::Gone => self.line = Line::Lost(kind),
            // Lost bytes need no report, because the checksums detect the damaged frame.
            Err(_) => return false,
        }
        true
    }

    /// Writes the frames that are due, until the line accepts no further bytes. Returns whether any byte was written,
    /// or the line was found closed. Fails if a write fails with a temporary error.
    fn transmit(&mut self, line: &mut dyn Link, now: Millis) -> Result<bool, ErrorKind> {
        let mut has_written = false;
        loop {
            let bytes = self.writable(now);
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

    /// Writes the frames that are due, until a write fails, and then flushes. Returns whether any byte was written, or
    /// the line was found closed.
    fn write_all<T: Read + Write>(&mut self, line: &mut T, now: &mut dyn FnMut() -> Millis) -> bool {
        let mut has_written = false;
        loop {
            let time = now();
            let bytes = self.writable(time);
            if bytes.is_empty() {
                break;
            }
            let written = reject_zero(line.write(bytes).map_err(|error| error.kind()));
            // A later call writes the bytes that the line did not accept.
            if !matches!(self.record_write(written, time), Ok(true)) {
                break;
            }
            has_written = true;
        }
        if self.is_unflushed {
            // An error is not returned: the pump repeats a failed flush, and on a closed line, the next read fails too.
            self.is_unflushed =
                is_unflushed_after(accept_unsupported(line.flush().map_err(|error| error.kind())));
        }
        has_written
    }

    /// Handles the result of a write. The result of an async flush counts as the result of a write of 0 bytes. Returns
    /// whether bytes were written, or the line was found closed. Fails if the error is temporary.
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
                    Ok(true)
                }
            },
        }
    }

    /// Returns the earlier one of `deadline` and the deadline of the link.
    fn earlier(&self, deadline: Option<Millis>) -> Option<Millis> {
        deadline.into_iter().chain(self.link.deadline()).min()
    }
}

/// The byte stream that the frames carry, as a [`Link`] for the inner [`Pump`].
struct Stream<'l> {
    link: &'l mut FramedLink,
    /// Whether the pump has read no byte of the stream.
    is_start: bool,
    line: Line,
}

impl Link for Stream<'_> {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        let received = self.link.received();
        // Skip the mark at the start of a session, because the link itself detects sessions.
        let skipped = match received {
            [b'\n', 0x04, ..] if self.is_start => SESSION_MARK.len(),
            _ => 0,
        };
        let received = received.get(skipped..).unwrap_or_default();
        let count = space.iter_mut().zip(received).map(|(place, byte)| *place = *byte).count();
        self.link.consume(skipped.saturating_add(count));
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
