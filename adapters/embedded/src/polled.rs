//! Polled pump: `Pump::step`, one non-blocking step of a main loop.

use mcp_proto::{Action, Io, Machine, Millis};

use crate::link::Link;
use crate::pump::Pump;
use crate::status::{PumpStatus, filter_reportable};

impl Pump {
    /// Polls the machine once and moves bytes in both directions.
    ///
    /// If the machine has an event or is closed, the pump moves no bytes. Otherwise, the pump offers the pending output
    /// to the link once, without a flush: see [`Link::transmit`]. If the machine has received all bytes of the last
    /// read, the pump also reads bytes that have arrived.
    ///
    /// Blocks only as long as the link does. One step moves at most 64 bytes of input.
    ///
    /// `now` is the time of a clock that never runs backwards: see [`Millis`].
    pub fn step(&mut self, machine: &mut dyn Machine, link: &mut dyn Link, now: Millis) -> PumpStatus {
        let io = match machine.poll(now) {
            Action::Event => return PumpStatus::Event,
            Action::Closed => return self.closed(),
            Action::Io(io) => io,
        };
        self.exchange(io, link)
    }

    /// Moves bytes in both directions once.
    // Not inlined, so that its stack frame is not live while `step` polls the machine.
    #[inline(never)]
    fn exchange(&mut self, io: Io<'_>, link: &mut dyn Link) -> PumpStatus {
        let deadline = io.deadline();
        let (transmit, receive) = io.split();
        let output = self.output(&transmit);
        let written = if output.is_empty() { Ok(0) } else { link.transmit(output) };
        let sent = self.record_write(transmit, written);
        let arrived = if self.wants_more() {
            let arrived = link.receive(self.read_buffer());
            self.record_read(arrived)
        } else {
            None
        };
        let fed = self.feed(receive);
        // Of several results, return a read error first, then a new session, then a write error, then `Moved`.
        filter_reportable(arrived)
            .or(filter_reportable(fed))
            .or(filter_reportable(sent))
            .or(arrived)
            .or(fed)
            .or(sent)
            .unwrap_or(PumpStatus::Idle(deadline))
    }
}
