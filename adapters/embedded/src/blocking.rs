//! Blocking pump: `Pump::run` over `embedded_io::{Read, Write}`.

use embedded_io::{Error, ErrorKind, Read, Write};
use mcp_proto::{Action, Machine, Millis};

use crate::pump::Pump;
use crate::status::{PumpStatus, reject_zero};

impl Pump {
    /// Moves bytes over a blocking link until the caller has something to do.
    ///
    /// Never returns [`PumpStatus::Moved`]. Returns [`PumpStatus::Idle`] only if the machine waits for the caller, or
    /// the driver's read or write ended with [`ErrorKind::TimedOut`].
    ///
    /// The pump writes and flushes all output before it reads. While a read blocks, the machine is not polled, so a
    /// deadline takes effect only after the read. That suffices for a server whose tools all respond immediately. Use
    /// [`step`](Pump::step) for any other server.
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
            let io = match machine.poll(now()) {
                Action::Event => {
                    // Flush first, because the peer may wait for an earlier response while the caller handles the
                    // event.
                    self.flush(port);
                    return PumpStatus::Event;
                }
                Action::Closed => {
                    self.flush(port);
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
                self.feed(receive).or_else(|| if takes_more { self.read(port) } else { None })
            };
            match step {
                Some(PumpStatus::Moved) => {}
                Some(step) => return step,
                None => return PumpStatus::Idle(deadline),
            }
        }
    }

    fn read(&mut self, port: &mut dyn Port) -> Option<PumpStatus> {
        if !self.wants_more() {
            return None;
        }
        self.flush(port);
        let read = port.read(self.read_buffer());
        self.record_read(read.map(Some))
    }

    fn flush(&mut self, port: &mut dyn Port) {
        if core::mem::take(&mut self.unflushed) {
            port.flush();
        }
    }
}

/// A driver with its error type erased to [`ErrorKind`].
trait Port {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind>;
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind>;
    fn flush(&mut self);
}

impl<T: Read + Write> Port for T {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        Read::read(self, space).map_err(|error| error.kind())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        Write::write(self, bytes).map_err(|error| error.kind())
    }

    fn flush(&mut self) {
        // An error of the link appears again in the next read or write.
        _ = Write::flush(self);
    }
}
