//! Polled driver for QEMU's RISC-V board `virt` (16550 UART).

use mcp_proto::Millis;

use super::{Port, Register};

const UART_DATA: Port = Port(0x1000_0000);
const UART_LINE: Port = Port(0x1000_0005);
const HAS_BYTE: u8 = 1 << 0;
const HAS_SPACE: u8 = 1 << 5;
/// The lower half of the clock, at 10 MHz.
const TIME: Register = Register(0x0200_BFF8);
const TICKS_PER_MILLISECOND: u32 = 10_000;

/// The board in its state after a reset in QEMU.
pub struct Polled {
    now: Millis,
    /// The value of the clock at `now`.
    ticks: u32,
}

impl Polled {
    /// Starts the clock.
    pub fn start() -> Polled {
        Polled { now: Millis::ZERO, ticks: TIME.read() }
    }

    /// Returns the time since the start. Call this every millisecond, because each call counts at most one millisecond.
    pub fn now(&mut self) -> Millis {
        if TIME.read().wrapping_sub(self.ticks) >= TICKS_PER_MILLISECOND {
            self.ticks = self.ticks.wrapping_add(TICKS_PER_MILLISECOND);
            self.now = self.now.plus(Millis(1));
        }
        self.now
    }

    /// Reads received bytes without blocking. Returns the number of bytes, which may be 0.
    pub fn read(&mut self, space: &mut [u8]) -> usize {
        let arrived = || (UART_LINE.read() & HAS_BYTE != 0).then(|| UART_DATA.read());
        space.iter_mut().zip(core::iter::from_fn(arrived)).map(|(place, byte)| *place = byte).count()
    }

    /// Sends as many bytes as possible without blocking. Returns the number of bytes, which may be 0.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let has_space = bytes.iter().take_while(|_| UART_LINE.read() & HAS_SPACE != 0);
        has_space.map(|byte| UART_DATA.write(*byte)).count()
    }
}
