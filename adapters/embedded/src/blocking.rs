//! A link that blocks.

use embedded_io::{Error, ErrorKind, Read, Write};
use mcp_proto::{Action, Machine, Millis};

use crate::pump::Pump;
use crate::status::{PumpStatus, whole};

impl Pump {
    /// Moves bytes until there is something to do for the host, over a link that blocks. It does not come back with
    /// [`PumpStatus::Moved`], and with [`PumpStatus::Idle`] only if the machine waits for the host, or the driver has given up waiting
    /// with [`ErrorKind::TimedOut`].
    ///
    /// Everything is written and flushed before anything is read. While a read blocks, the machine does not hear of the
    /// time: what is due comes late, with the next byte. That is enough for a server whose tools are all quick; any other
    /// wants [`step`](Pump::step).
    ///
    /// `now` gives a time of any clock that never runs backwards: see [`Millis`].
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
                    // The host may take its time, and somebody may wait for what was answered before.
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
                self.sent(transmit, whole(written))
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
        let read = port.read(self.chunk());
        self.arrived(read.map(Some))
    }

    fn flush(&mut self, port: &mut dyn Port) {
        if core::mem::take(&mut self.unflushed) {
            port.flush();
        }
    }
}

/// A driver, whatever its errors are.
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
        // If the link is gone, the next read or write says so, too.
        _ = Write::flush(self);
    }
}
