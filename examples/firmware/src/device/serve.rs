//! The main loop of the device, on the pump of `mcp-proto-embedded`.

use mcp_proto::{ConfigError, Machine, Millis, Server};
use mcp_proto_embedded::{Link, Pump, PumpStatus};

use super::Device;

const NEVER: Millis = Millis(u64::MAX);

/// A chip with a UART, a clock and a sleep mode.
pub trait Chip: Link {
    /// Returns the time since the start.
    fn now(&mut self) -> Millis;
    /// Sleeps until `until`. Also returns when a byte arrives or when the UART can send unsent output. May return
    /// earlier.
    fn sleep(&mut self, until: Millis);
}

/// A pump of a polled serial line, with or without frames.
pub trait PolledPump {
    /// Moves bytes in both directions.
    fn step(&mut self, machine: &mut dyn Machine, link: &mut dyn Link, now: Millis) -> PumpStatus;
    /// Starts a new session.
    fn new_session(&mut self);
}

impl PolledPump for Pump {
    fn step(&mut self, machine: &mut dyn Machine, link: &mut dyn Link, now: Millis) -> PumpStatus {
        self.step(machine, link, now)
    }

    fn new_session(&mut self) {
        self.new_session();
    }
}

#[cfg(feature = "framed")]
impl PolledPump for mcp_proto_embedded::FramedPump {
    fn step(&mut self, machine: &mut dyn Machine, link: &mut dyn Link, now: Millis) -> PumpStatus {
        self.step(machine, link, now)
    }

    fn new_session(&mut self) {
        self.new_session();
    }
}

/// Runs the device until power is lost.
// Inlined, because a call from `main` would need a stack frame of its own.
#[inline(always)]
pub fn serve<P: PolledPump>(
    pump: &mut P,
    device: &mut Device<'_>,
    server: Result<&mut Server<'_>, ConfigError>,
    chip: &mut dyn Chip,
) -> ! {
    let Ok(server) = server else {
        // Unreachable, because a test on the PC checks that the memory suffices.
        loop {
            chip.sleep(NEVER);
        }
    };
    loop {
        let now = chip.now();
        device.work(server, now);
        match step(pump, server, chip, now) {
            PumpStatus::Idle(at) => chip.sleep(at.unwrap_or(NEVER).min(device.deadline())),
            step => device.react(step, server, pump, now),
        }
    }
}

// Not inlined, because its stack frame must not be live while the device handles an event.
#[inline(never)]
fn step(pump: &mut impl PolledPump, server: &mut Server<'_>, chip: &mut dyn Chip, now: Millis) -> PumpStatus {
    pump.step(server, chip, now)
}

impl Device<'_> {
    /// Handles a status of the pump other than `Idle`.
    pub fn react(
        &mut self,
        step: PumpStatus,
        server: &mut Server<'_>,
        pump: &mut impl PolledPump,
        now: Millis,
    ) {
        match step {
            PumpStatus::Event => self.handle_event(server, now),
            PumpStatus::NewSession => self.begin(server),
            // A UART has no connections, so the server starts a new session for the next client.
            PumpStatus::Closed => {
                pump.new_session();
                self.begin(server);
            }
            // The pump and the server have handled all other statuses.
            _ => {}
        }
    }

    /// Resets the server and drops the self test of the old client.
    fn begin(&mut self, server: &mut Server<'_>) {
        server.reset();
        self.drop_test();
    }
}
