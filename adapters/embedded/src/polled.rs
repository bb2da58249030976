//! Steps of a main loop: nothing blocks.

use mcp_proto::{Action, Io, Machine, Millis};

use crate::link::Link;
use crate::pump::Pump;
use crate::status::{PumpStatus, told};

impl Pump {
    /// A step of a main loop: polls the machine once, writes what the link takes at once, and reads what has arrived. It
    /// never blocks, and takes as long as 64 bytes do, and what the machine does with them.
    ///
    /// `now` is a time of any clock that never runs backwards: see [`Millis`].
    pub fn step(&mut self, machine: &mut dyn Machine, link: &mut dyn Link, now: Millis) -> PumpStatus {
        let io = match machine.poll(now) {
            Action::Event => return PumpStatus::Event,
            Action::Closed => return self.closed(),
            Action::Io(io) => io,
        };
        self.exchange(io, link)
    }

    /// By itself, so that its part of the stack is not taken while the machine is polled.
    #[inline(never)]
    fn exchange(&mut self, io: Io<'_>, link: &mut dyn Link) -> PumpStatus {
        let deadline = io.deadline();
        let (transmit, receive) = io.split();
        let output = self.output(&transmit);
        let written = if output.is_empty() { Ok(0) } else { link.transmit(output) };
        let sent = self.sent(transmit, written);
        let arrived = if self.wants_more() {
            let arrived = link.receive(self.chunk());
            self.arrived(arrived)
        } else {
            None
        };
        let fed = self.feed(receive);
        // An error first, then what can wait for no later step, then whether anything has moved.
        told(arrived)
            .or(told(fed))
            .or(told(sent))
            .or(arrived)
            .or(fed)
            .or(sent)
            .unwrap_or(PumpStatus::Idle(deadline))
    }
}
