//! Polled driver for QEMU's RISC-V board `virt` (16550 UART).

use core::ptr::{read_volatile, write_volatile};

use mcp_proto::Millis;

use super::Register;

const UART_DATA: *mut u8 = 0x1000_0000 as *mut u8;
const UART_LINE: *const u8 = 0x1000_0005 as *const u8;
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
        // SAFETY: the constants are addresses of registers of one byte, which are always present on this board.
        let arrived = || (line() & HAS_BYTE != 0).then(|| unsafe { read_volatile(UART_DATA) });
        space.iter_mut().zip(core::iter::from_fn(arrived)).map(|(place, byte)| *place = byte).count()
    }

    /// Sends as many bytes as possible without blocking. Returns the number of bytes, which may be 0.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let has_space = bytes.iter().take_while(|_| line() & HAS_SPACE != 0);
        // SAFETY: the safety comment of `read` also applies here.
        has_space.map(|byte| unsafe { write_volatile(UART_DATA, *byte) }).count()
    }
}

fn line() -> u8 {
    // SAFETY: the safety comment of `read` also applies here.
    unsafe { read_volatile(UART_LINE) }
}
