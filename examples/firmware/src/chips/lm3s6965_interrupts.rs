//! Interrupt-driven driver for the LM3S6965, with sleep.
//!
//! The receive interrupt fills a queue, so that no byte is lost while the main loop is busy for up to 22 ms.

use embedded_io::{ErrorKind, Read, ReadReady};
use mcp_proto::Millis;
use mcp_proto_embedded::{Link, Queue, SESSION_MARK};

use super::Register;
use super::lm3s6965::{
    CYCLES_PER_MILLISECOND, RECEIVE_EMPTY, TICK_CONTROL, TICK_RELOAD, TRANSMIT_FULL, UART_DATA, UART_FLAGS,
};
use super::ticks::Ticks;
use crate::device::Chip;

// The pins and the clocks of the first UART.
const UART_CLOCKS: Register = Register(0x400F_E104);
const PORT_CLOCKS: Register = Register(0x400F_E108);
const PORT_A_FUNCTION: Register = Register(0x4000_4420);
const PORT_A_DIGITAL: Register = Register(0x4000_451C);

const UART_BAUD_WHOLE: Register = Register(0x4000_C024);
const UART_BAUD_64THS: Register = Register(0x4000_C028);
const UART_LINE: Register = Register(0x4000_C02C);
const EIGHT_BITS_AND_FIFOS: u32 = 0x70;
const UART_CONTROL: Register = Register(0x4000_C030);
const ENABLED_BOTH_WAYS: u32 = 0x301;
const UART_INTERRUPTS: Register = Register(0x4000_C038);
/// The receive FIFO is half full, or has timed out.
const RECEIVED_SOME: u32 = 1 << 4 | 1 << 6;
/// The transmit FIFO is half empty.
const SENT_SOME: u32 = 1 << 5;
// Error bits of the data register.
const IS_BREAK: u32 = 1 << 10;
const IS_DAMAGED: u32 = 1 << 8 | 1 << 9;
const OTHERS_WERE_LOST: u32 = 1 << 11;

/// Interrupt enable register. The UART has interrupt 5.
const ENABLE_INTERRUPTS: Register = Register(0xE000_E100);
const UART_INTERRUPT: u32 = 1 << 5;

/// Received bytes, enough for 22 ms at 115,200 baud.
static RECEIVED: Queue<256> = Queue::new();

/// The chip, with its UART at 115,200 baud.
pub struct Interrupting {
    ticks: Ticks,
    /// Whether output waits because the UART was full.
    waits_to_send: bool,
}

impl Interrupting {
    /// Starts the chip.
    pub fn start() -> Interrupting {
        start();
        Interrupting { ticks: Ticks::default(), waits_to_send: false }
    }
}

/// Starts the UART, the clock and their interrupts.
pub(super) fn start() {
    UART_CLOCKS.write(1);
    PORT_CLOCKS.write(1);
    PORT_A_FUNCTION.write(0b11);
    PORT_A_DIGITAL.write(0b11);
    // The divisor for 115,200 baud: 12 MHz / 16 / 115,200 = 6 + 33/64.
    UART_BAUD_WHOLE.write(6);
    UART_BAUD_64THS.write(33);
    UART_LINE.write(EIGHT_BITS_AND_FIFOS);
    UART_CONTROL.write(ENABLED_BOTH_WAYS);
    UART_INTERRUPTS.write(RECEIVED_SOME);
    ENABLE_INTERRUPTS.write(UART_INTERRUPT);
    TICK_RELOAD.write(CYCLES_PER_MILLISECOND - 1);
    TICK_CONTROL.write(0b111);
}

/// Handles the interrupt of the UART.
pub fn uart() {
    let mut interrupts = UART_INTERRUPTS.read();
    // Disable the transmit interrupt: every interrupt wakes the main loop, which then transmits again. If output
    // remains, `transmit` enables the interrupt again.
    interrupts &= !SENT_SOME;
    while !UART_FLAGS.has(RECEIVE_EMPTY) {
        // The next byte may be a break, which needs space for a whole session mark. Without space, the bytes stay in
        // the UART. Without flow control the UART then overruns, and reports the overrun.
        if RECEIVED.free() < SESSION_MARK.len() {
            interrupts &= !RECEIVED_SOME;
            break;
        }
        let data = UART_DATA.read();
        // A break starts a new session, even after lost bytes. The UART also reports the break as a framing error.
        if data & IS_BREAK != 0 {
            RECEIVED.push_all(SESSION_MARK);
            continue;
        }
        if data & (OTHERS_WERE_LOST | IS_DAMAGED) != 0 {
            RECEIVED.lost();
        }
        if data & IS_DAMAGED == 0 {
            RECEIVED.push(data as u8);
        }
    }
    UART_INTERRUPTS.write(interrupts);
}

/// Enables further interrupts of the UART.
fn enable(interrupts: u32) {
    // In a critical section, because the interrupt handler also writes this register.
    cortex_m::interrupt::free(|_| UART_INTERRUPTS.write(UART_INTERRUPTS.read() | interrupts));
}

/// Returns whether the queue contains bytes or a mark for lost bytes.
fn has_received() -> bool {
    (&RECEIVED).read_ready() != Ok(false)
}

/// Reads from the queue of received bytes. Returns `None` if the queue is empty, and fails where bytes were lost.
pub(super) fn receive(space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
    if !has_received() {
        return Ok(None);
    }
    let count = (&RECEIVED).read(space).map_err(|_| ErrorKind::Other);
    enable(RECEIVED_SOME);
    count.map(Some)
}

/// Sends a byte. Returns `false` if the UART is full.
fn send(byte: u8) -> bool {
    let has_space = !UART_FLAGS.has(TRANSMIT_FULL);
    if has_space {
        UART_DATA.write(byte.into());
    }
    has_space
}

/// Sends as many bytes as fit into the UART, and returns their number. If bytes remain, enables the interrupt for
/// free space.
pub(super) fn transmit(bytes: &[u8]) -> usize {
    let sent = bytes.iter().take_while(|byte| send(**byte)).count();
    if sent < bytes.len() {
        enable(SENT_SOME);
    }
    sent
}

impl Link for Interrupting {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        receive(space)
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        let sent = transmit(bytes);
        self.waits_to_send = sent < bytes.len();
        Ok(sent)
    }
}

impl Chip for Interrupting {
    fn now(&mut self) -> Millis {
        self.ticks.now()
    }

    fn sleep(&mut self, until: Millis) {
        // Clear the flag, because the next `transmit` sets the flag again if output is still pending.
        let waits_to_send = core::mem::take(&mut self.waits_to_send);
        // The handler disables the transmit interrupt, and may have run before this check.
        let has_space = || waits_to_send && !UART_INTERRUPTS.has(SENT_SOME);
        self.ticks.sleep(until, || has_received() || has_space());
    }
}
