//! Polled driver for the LM3S6965 (Cortex-M3, PL011 UART).

use mcp_proto::Millis;

use super::Register;

pub(super) const UART_DATA: Register = Register(0x4000_C000);
/// The distance between the registers of two UARTs, in bytes.
const UART_SIZE: usize = 0x1000;
pub(super) const UART_FLAGS: Register = Register(0x4000_C018);
const UART_LINE_CONTROL: Register = Register(0x4000_C02C);
/// The value of the line control register for eight data bits and queues of 16 bytes.
const EIGHT_BITS_QUEUED: u32 = 0x70;
pub(super) const RECEIVE_EMPTY: u32 = 1 << 4;
pub(super) const TRANSMIT_FULL: u32 = 1 << 5;

pub(super) const TICK_CONTROL: Register = Register(0xE000_E010);
pub(super) const TICK_RELOAD: Register = Register(0xE000_E014);
const TICK_CURRENT: Register = Register(0xE000_E018);
const TICK_PASSED: u32 = 1 << 16;
pub(super) const CYCLES_PER_MILLISECOND: u32 = 12_000;

/// The chip in QEMU, where the UART needs no configuration.
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

    /// Enables the queues of the UART, so that more input arrives at once.
    pub fn enable_queues(&mut self) {
        UART_LINE_CONTROL.write(EIGHT_BITS_QUEUED);
    }

    /// Returns the time since the start. Call this every millisecond, because each call counts at most one millisecond.
    /// The drivers with interrupts do not have this limit.
    pub fn now(&mut self) -> Millis {
        if TICK_CONTROL.has(TICK_PASSED) {
            self.now = self.now.plus(Millis(1));
        }
        self.now
    }

    /// Reads received bytes without blocking. Returns the number of bytes, which may be 0.
    ///
    /// This driver does not check for receive errors. If the input arrives at full speed, bytes are lost, because the
    /// UART buffers at most 16 bytes. The drivers with interrupts do not have these limits.
    pub fn read(&mut self, space: &mut [u8]) -> usize {
        self.read_from(0, space)
    }

    /// Reads from one of the three UARTs, numbered from 0, like [`Polled::read`].
    pub fn read_from(&mut self, uart: usize, space: &mut [u8]) -> usize {
        let (data, flags) = (UART_DATA.offset_by(uart * UART_SIZE), UART_FLAGS.offset_by(uart * UART_SIZE));
        let arrived = || (!flags.has(RECEIVE_EMPTY)).then(|| data.read() as u8);
        space.iter_mut().zip(core::iter::from_fn(arrived)).map(|(place, byte)| *place = byte).count()
    }

    /// Writes to one of the three UARTs, numbered from 0, like [`Polled::write`].
    pub fn write_to(&mut self, uart: usize, bytes: &[u8]) -> usize {
        let (data, flags) = (UART_DATA.offset_by(uart * UART_SIZE), UART_FLAGS.offset_by(uart * UART_SIZE));
        let has_space = bytes.iter().take_while(|_| !flags.has(TRANSMIT_FULL));
        has_space.map(|byte| data.write((*byte).into())).count()
    }

    /// Sends as many bytes as possible without blocking. Returns the number of bytes, which may be 0.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        self.write_to(0, bytes)
    }
}

/// Writes a text to the second UART, and waits while this UART is full.
pub fn print(text: &str) {
    for byte in text.bytes() {
        while UART_FLAGS.offset_by(UART_SIZE).has(TRANSMIT_FULL) {}
        UART_DATA.offset_by(UART_SIZE).write(byte.into());
    }
}

/// Counts up to 2^24 - 1 ticks of the processor's clock. The stopwatch changes the timer, so [`Polled::now`] returns
/// wrong times from then on.
pub struct Stopwatch(());

impl Stopwatch {
    /// Starts the stopwatch.
    pub fn start() -> Stopwatch {
        TICK_RELOAD.write(0x00FF_FFFF);
        TICK_CURRENT.write(0);
        TICK_CONTROL.write(0b101);
        Stopwatch(())
    }

    /// Returns the number of ticks since the start.
    pub fn ticks(self) -> usize {
        0x00FF_FFFFusize.saturating_sub(TICK_CURRENT.read() as usize)
    }
}
