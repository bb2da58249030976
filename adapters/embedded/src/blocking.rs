//! Blocking pump: `Pump::run` over `embedded_io::{Read, Write}`.

use embedded_io::{Error, ErrorKind, Read, Write};
use mcp_proto::{Action, Machine, Millis};

use crate::log;
use crate::pump::Pump;
use crate::status::{PumpStatus, accept_unsupported, is_unflushed_after, reject_zero};

impl Pump {
    /// Moves bytes over a blocking link until the caller has something to do.
    ///
    /// Never returns [`PumpStatus::Moved`]. Returns [`PumpStatus::Idle`] in two cases only. Either the machine accepts
    /// no input, and waits for the caller or for a deadline. Or a read, write or flush of the driver has ended with
    /// [`ErrorKind::TimedOut`].
    ///
    /// The pump writes all output, and then flushes once, before it reads. Two seconds after the machine has closed,
    /// the pump returns [`PumpStatus::Closed`] even if the flush times out.
    ///
    /// If a flush before a read fails, the pump returns `Idle` for `TimedOut`, and [`PumpStatus::NotWritten`] for
    /// another temporary error. The next call repeats the flush, and reads even if the flush fails again. There is one
    /// exception: after a flush that timed out, the first flush that fails with another temporary error also returns
    /// `NotWritten`, before a read. While a read blocks, the pump repeats no flush. So if flushes can time out, reads
    /// should also time out.
    ///
    /// Before the pump returns an event, it flushes the output that it has written. A failure of this flush is not
    /// reported.
    ///
    /// While a read blocks, the machine is not polled, so a deadline takes effect only after the read. This delay does
    /// no harm to a server that sends only responses, and sends them immediately. For any other machine, use
    /// [`step`](Pump::step), or a driver whose reads time out.
    ///
    /// `now` returns the time of a clock that never runs backwards: see [`Millis`].
    pub fn run<T: Read + Write>(
        &mut self,
        machine: &mut dyn Machine,
        link: &mut T,
        now: &mut dyn FnMut() -> Millis,
    ) -> PumpStatus {
        self.block(machine, link, now)
    }

    fn block(
        &mut self,
        machine: &mut dyn Machine,
        port: &mut dyn Port,
        now: &mut dyn FnMut() -> Millis,
    ) -> PumpStatus {
        loop {
            let time = now();
            let io = match machine.poll(time) {
                Action::Event => {
                    // The peer may wait for an earlier response while the caller handles the event.
                    _ = self.flush(port);
                    return PumpStatus::Event;
                }
                Action::Closed => {
                    let closes_at = self.closing(time);
                    if self.flush(port) == Err(ErrorKind::TimedOut) && time < closes_at {
                        return PumpStatus::Idle(Some(closes_at));
                    }
                    return self.closed();
                }
                Action::Io(io) => io,
            };
            let deadline = io.deadline();
            let (transmit, receive) = io.split();
            let output = self.output(&transmit);
            let step = if !output.is_empty() {
                let written = port.write(output);
                self.record_write(transmit, reject_zero(written))
            } else {
                let takes_more = receive.is_ready();
                self.feed(receive).or_else(|| self.flush_and_read(port, takes_more))
            };
            match step {
                Some(PumpStatus::Moved) => {}
                Some(step) => return step,
                None => return PumpStatus::Idle(deadline),
            }
        }
    }

    fn flush_and_read(&mut self, port: &mut dyn Port, takes_more: bool) -> Option<PumpStatus> {
        // Return the first failure of a flush since the last write, and after `TimedOut` also the first other error.
        // After further failures, read nevertheless: the flush may always fail, or the peer may read only after it has
        // written more. An error of a closed link needs no report here, because the next read or write fails too.
        if let Err(kind) = self.flush(port)
            && self.unflushed
            && matches!(self.flush_error, None | Some(ErrorKind::TimedOut))
            && self.flush_error.replace(kind) != Some(kind)
        {
            if kind == ErrorKind::TimedOut {
                return None;
            }
            log::not_written(kind);
            return Some(PumpStatus::NotWritten(kind));
        }
        if !takes_more || !self.wants_more() {
            return None;
        }
        let read = port.read(self.read_buffer());
        self.record_read(read.map(Some))
    }

    fn flush(&mut self, port: &mut dyn Port) -> Result<(), ErrorKind> {
        if !self.unflushed {
            return Ok(());
        }
        let flushed = port.flush();
        self.unflushed = is_unflushed_after(flushed);
        flushed
    }
}

/// A driver whose errors are reduced to their [`ErrorKind`].
trait Port {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind>;
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind>;
    fn flush(&mut self) -> Result<(), ErrorKind>;
}

impl<T: Read + Write> Port for T {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        Read::read(self, space).map_err(|error| error.kind())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        Write::write(self, bytes).map_err(|error| error.kind())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        accept_unsupported(Write::flush(self).map_err(|error| error.kind()))
    }
}
