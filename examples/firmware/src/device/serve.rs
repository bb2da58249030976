//! The main loop of a device: work, a step of the pump, and what has come of it.

use mcp_proto::{Millis, Server};
use mcp_proto_embedded::{Link, Pump, SESSION_MARK, Step};

use super::Device;

/// What the main loop needs of a chip: its UART, a clock, and a way to wait.
pub trait Chip: Link {
    /// Time since the start.
    fn now(&mut self) -> Millis;
    /// Returns when something has arrived, when what could not be sent may be, at this time, or sooner.
    fn sleep(&mut self, until: Millis);
}

/// Serves for as long as there is power.
pub fn serve(device: &mut Device<'_>, server: &mut Server<'_>, chip: &mut dyn Chip) -> ! {
    let mut pump = Pump::new().session_mark(SESSION_MARK);
    loop {
        let now = chip.now();
        device.work(server, now);
        match pump.step(server, chip, now) {
            Step::Idle(machine) => {
                chip.sleep(machine.map_or(device.deadline(), |at| at.min(device.deadline())))
            }
            step => device.react(step, server, &mut pump, now),
        }
    }
}

impl Device<'_> {
    /// What a step of the pump means for the device and its server.
    pub fn react(&mut self, step: Step, server: &mut Server<'_>, pump: &mut Pump, now: Millis) {
        match step {
            Step::Event => self.hear(server, now),
            Step::NewSession => self.begin(server),
            // A line has no end but the one of the power: the next client is welcome.
            Step::Closed => {
                pump.new_session();
                self.begin(server);
            }
            // The server says what became of the request.
            _ => {}
        }
    }

    /// There is a new client: whatever the old one wanted is over.
    fn begin(&mut self, server: &mut Server<'_>) {
        server.reset();
        self.forget();
    }
}
