//! Simulated hardware for boards in QEMU.

use mcp_proto::ProtocolError;

use super::Hardware;

/// A board with a simulated LED and an error counter.
#[derive(Default)]
pub struct Simulated {
    led: bool,
    faults: u32,
}

impl Hardware for Simulated {
    fn set_led(&mut self, on: bool) {
        self.led = on;
    }

    fn test(&mut self, _: u8) -> bool {
        true
    }

    fn report(&mut self, _: ProtocolError) {
        self.faults = self.faults.saturating_add(1);
    }
}
