//! The LM3S6965, a Cortex-M3 with a PL011 as its first UART: asked again and again, without interrupts.

use mcp_proto::Millis;

use super::Register;

pub(super) const UART_DATA: Register = Register(0x4000_C000);
pub(super) const UART_FLAGS: Register = Register(0x4000_C018);
pub(super) const RECEIVE_EMPTY: u32 = 1 << 4;
pub(super) const TRANSMIT_FULL: u32 = 1 << 5;

pub(super) const TICK_CONTROL: Register = Register(0xE000_E010);
pub(super) const TICK_RELOAD: Register = Register(0xE000_E014);
const TICK_CURRENT: Register = Register(0xE000_E018);
const TICK_PASSED: u32 = 1 << 16;
pub(super) const CYCLES_PER_MILLISECOND: u32 = 12_000;

/// The chip as it is in QEMU after a reset: its UART works.
pub struct Polled {
    now: Millis,
}

impl Polled {
    /// Starts the clock.
    pub fn start() -> Polled {
        TICK_RELOAD.write(CYCLES_PER_MILLISECOND - 1);
        TICK_CONTROL.write(0b101);
        Polled { now: Millis::ZERO }
    }

    /// Time since the start, if it is asked every millisecond: it is late by what a turn of the main loop takes longer. Where
    /// interrupts count, nothing is missed.
    pub fn now(&mut self) -> Millis {
        if TICK_CONTROL.has(TICK_PASSED) {
            self.now = self.now.plus(Millis(1));
        }
        self.now
    }

    /// Takes bytes that have arrived, as many as there are and fit: maybe none. It does not look what was wrong with them,
    /// and 16 find room in the UART: at full speed bytes get lost. The images with interrupts see to both.
    pub fn read(&mut self, space: &mut [u8]) -> usize {
        let arrived = || (!UART_FLAGS.has(RECEIVE_EMPTY)).then(|| UART_DATA.read() as u8);
        space.iter_mut().zip(core::iter::from_fn(arrived)).map(|(place, byte)| *place = byte).count()
    }

    /// Sends bytes, as many as can be sent at once: maybe none.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        bytes.iter().take_while(|byte| send(**byte)).count()
    }
}

/// Counts ticks of the processor's clock, up to 2^24 of them. It takes the clock away from [`Polled`].
pub struct Stopwatch(());

impl Stopwatch {
    /// Starts it.
    pub fn start() -> Stopwatch {
        TICK_RELOAD.write(0x00FF_FFFF);
        TICK_CURRENT.write(0);
        TICK_CONTROL.write(0b101);
        Stopwatch(())
    }

    /// What has passed since.
    pub fn ticks(self) -> usize {
        0x00FF_FFFFusize.saturating_sub(TICK_CURRENT.read() as usize)
    }
}

/// Sends a byte, if there is room for it.
pub(super) fn send(byte: u8) -> bool {
    let room = !UART_FLAGS.has(TRANSMIT_FULL);
    if room {
        UART_DATA.write(byte.into());
    }
    room
}
