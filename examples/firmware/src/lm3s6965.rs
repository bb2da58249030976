//! The registers of an LM3S6965 that the images need: its first UART, a PL011, and the clock of its Cortex-M3.

use core::ptr::{read_volatile, write_volatile};

use mcp_proto::Millis;

const UART_DATA: *mut u32 = 0x4000_C000 as *mut u32;
const UART_FLAGS: *mut u32 = 0x4000_C018 as *mut u32;
const RECEIVE_EMPTY: u32 = 1 << 4;
const TRANSMIT_FULL: u32 = 1 << 5;
const TICK_CONTROL: *mut u32 = 0xE000_E010 as *mut u32;
const TICK_RELOAD: *mut u32 = 0xE000_E014 as *mut u32;
const TICK_PASSED: u32 = 1 << 16;
const CYCLES_PER_MILLISECOND: u32 = 12_000;

/// The chip after a reset, asked again and again instead of interrupting.
pub struct Polled {
    now: Millis,
}

/// A register of the chip.
fn read(register: *mut u32) -> u32 {
    // SAFETY: the addresses above are registers of this chip, always there and four bytes wide.
    unsafe { read_volatile(register) }
}

fn write(register: *mut u32, value: u32) {
    // SAFETY: as for `read`.
    unsafe { write_volatile(register, value) }
}

impl Polled {
    /// Starts the clock.
    pub fn start() -> Polled {
        write(TICK_RELOAD, CYCLES_PER_MILLISECOND - 1);
        write(TICK_CONTROL, 0b101);
        Polled { now: Millis::ZERO }
    }

    /// Time since the start. It is to be asked every millisecond.
    pub fn now(&mut self) -> Millis {
        if read(TICK_CONTROL) & TICK_PASSED != 0 {
            self.now = self.now.plus(Millis(1));
        }
        self.now
    }

    /// Takes bytes that have arrived, as many as there are and fit: maybe none.
    pub fn read(&mut self, space: &mut [u8]) -> usize {
        let arrived = || (read(UART_FLAGS) & RECEIVE_EMPTY == 0).then(|| read(UART_DATA) as u8);
        space.iter_mut().zip(core::iter::from_fn(arrived)).map(|(place, byte)| *place = byte).count()
    }

    /// Sends bytes, as many as can be sent at once: maybe none.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let sent = |byte: &&u8| {
            let room = read(UART_FLAGS) & TRANSMIT_FULL == 0;
            if room {
                write(UART_DATA, u32::from(**byte));
            }
            room
        };
        bytes.iter().take_while(sent).count()
    }
}
