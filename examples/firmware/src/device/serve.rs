//! The main loop of a device: work, a step of the pump, and what has come of it.

use mcp_proto::{ConfigError, Millis, Server};
use mcp_proto_embedded::{Link, Pump, PumpStatus, SESSION_MARK};

use super::Device;

const NEVER: Millis = Millis(u64::MAX);

/// What the main loop needs of a chip: its UART, a clock, and a way to wait.
pub trait Chip: Link {
    /// Time since the start.
    fn now(&mut self) -> Millis;
    /// Returns when something has arrived, when what could not be sent may be, at this time, or sooner.
    fn sleep(&mut self, until: Millis);
}

/// Serves for as long as there is power.
pub fn serve(
    device: &mut Device<'_>,
    server: Result<&mut Server<'_>, ConfigError>,
    chip: &mut dyn Chip,
) -> ! {
    let Ok(server) = server else {
        // A test on the PC has made sure that it does not come to this.
        loop {
            chip.sleep(NEVER);
        }
    };
    let mut pump = Pump::new().session_mark(SESSION_MARK);
    loop {
        let now = chip.now();
        device.work(server, now);
        match step(&mut pump, server, chip, now) {
            PumpStatus::Idle(at) => chip.sleep(at.unwrap_or(NEVER).min(device.deadline())),
            step => device.react(step, server, &mut pump, now),
        }
    }
}

/// By itself, so that its part of the stack is not taken while the device hears of something.
#[inline(never)]
fn step(pump: &mut Pump, server: &mut Server<'_>, chip: &mut dyn Chip, now: Millis) -> PumpStatus {
    pump.step(server, chip, now)
}

impl Device<'_> {
    /// What a step of the pump means for the device and its server.
    pub fn react(&mut self, step: PumpStatus, server: &mut Server<'_>, pump: &mut Pump, now: Millis) {
        match step {
            PumpStatus::Event => self.hear(server, now),
            PumpStatus::NewSession => self.begin(server),
            // A line has no end but the one of the power: the next client is welcome.
            PumpStatus::Closed => {
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
