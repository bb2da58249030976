//! Interrupt-driven driver for the nRF51822 (micro:bit, Cortex-M0).
//!
//! Each direction has a queue, because the UART buffers no byte to send and only a few received bytes. The processor
//! has no SysTick, so a timer is the clock.

use core::sync::atomic::{AtomicBool, Ordering};

use cortex_m::interrupt;
use embedded_io::{ErrorKind, Read, ReadReady};
use mcp_proto::Millis;
use mcp_proto_embedded::{Link, Queue, SESSION_MARK};

use super::Register;
use super::ticks::{Ticks, tick};
use crate::device::Chip;

const UART_START_RECEIVING: Register = Register(0x4000_2000);
const UART_START_SENDING: Register = Register(0x4000_2008);
const UART_RECEIVED: Register = Register(0x4000_2108);
const UART_SENT: Register = Register(0x4000_211C);
const UART_ERROR: Register = Register(0x4000_2124);
const UART_ENABLE_INTERRUPTS: Register = Register(0x4000_2304);
const UART_DISABLE_INTERRUPTS: Register = Register(0x4000_2308);
const RECEIVED_SOME: u32 = 1 << 2;
const SENT_SOME: u32 = 1 << 7;
const HAD_ERROR: u32 = 1 << 9;
/// Receive errors. Writing a bit clears it.
const UART_ERROR_SOURCE: Register = Register(0x4000_2480);
const IS_BREAK: u32 = 1 << 3;
const UART_ENABLE: Register = Register(0x4000_2500);
const UART_PIN_TO_SEND: Register = Register(0x4000_250C);
const UART_PIN_TO_RECEIVE: Register = Register(0x4000_2514);
const UART_DATA_RECEIVED: Register = Register(0x4000_2518);
const UART_DATA_TO_SEND: Register = Register(0x4000_251C);
const UART_BAUD: Register = Register(0x4000_2524);
const BAUD_115_200: u32 = 0x01D7_E000;

const TIMER_START: Register = Register(0x4000_8000);
const TIMER_REACHED: Register = Register(0x4000_8140);
const TIMER_SHORTCUTS: Register = Register(0x4000_8200);
const TIMER_ENABLE_INTERRUPTS: Register = Register(0x4000_8304);
const TIMER_PRESCALER: Register = Register(0x4000_8510);
const TIMER_COMPARE: Register = Register(0x4000_8540);

/// Interrupt enable register. The UART has interrupt 2, and the timer has interrupt 8.
const ENABLE_INTERRUPTS: Register = Register(0xE000_E100);
const UART_INTERRUPT: u32 = 1 << 2;
const TIMER_INTERRUPT: u32 = 1 << 8;

/// Received bytes.
static RECEIVED: Queue<128> = Queue::new();
/// Bytes that wait behind the byte that the UART is sending.
static TO_SEND: Queue<64> = Queue::new();

/// Whether the UART is sending a byte. If so, a transmit interrupt follows.
static SENDS: AtomicBool = AtomicBool::new(false);

/// The chip, with its UART at 115,200 baud.
pub struct Nrf51 {
    ticks: Ticks,
    /// Whether output waits because the queue was full.
    waits_to_send: bool,
}

impl Nrf51 {
    /// Starts the UART, the clock and their interrupts.
    pub fn start() -> Nrf51 {
        UART_PIN_TO_SEND.write(24);
        UART_PIN_TO_RECEIVE.write(25);
        UART_BAUD.write(BAUD_115_200);
        UART_ENABLE.write(4);
        UART_START_RECEIVING.write(1);
        UART_START_SENDING.write(1);
        UART_ENABLE_INTERRUPTS.write(RECEIVED_SOME | SENT_SOME | HAD_ERROR);
        // 16 MHz / 2^4 / 1000 = 1 kHz.
        TIMER_PRESCALER.write(4);
        TIMER_COMPARE.write(1000);
        TIMER_SHORTCUTS.write(1);
        TIMER_ENABLE_INTERRUPTS.write(1 << 16);
        TIMER_START.write(1);
        ENABLE_INTERRUPTS.write(UART_INTERRUPT | TIMER_INTERRUPT);
        Nrf51 { ticks: Ticks::default(), waits_to_send: false }
    }
}

/// Handles the interrupt of the timer.
pub fn timer() {
    if TIMER_REACHED.has(1) {
        TIMER_REACHED.write(0);
        tick();
    }
}

/// Handles the interrupt of the UART.
pub fn uart() {
    if UART_SENT.has(1) {
        UART_SENT.write(0);
        send_next();
    }
    while UART_RECEIVED.has(1) {
        // A break needs space for a whole session mark.
        if RECEIVED.free() <= SESSION_MARK.len() {
            // The UART buffers six more bytes. If further bytes arrive, the UART reports an overrun.
            return UART_DISABLE_INTERRUPTS.write(RECEIVED_SOME | HAD_ERROR);
        }
        // Clears the signal, so that the UART can signal the next received byte.
        UART_RECEIVED.write(0);
        RECEIVED.push(UART_DATA_RECEIVED.read() as u8);
    }
    if UART_ERROR.has(1) {
        UART_ERROR.write(0);
        let source = UART_ERROR_SOURCE.read();
        UART_ERROR_SOURCE.write(source);
        // A break starts a new session.
        if source & IS_BREAK == 0 {
            RECEIVED.lost();
        } else {
            RECEIVED.push_all(SESSION_MARK);
        }
    }
}

/// Sends the next byte of the queue, if any. The UART must have sent the previous byte.
fn send_next() {
    let next = TO_SEND.pop();
    SENDS.store(next.is_some(), Ordering::Relaxed);
    if let Some(byte) = next {
        UART_DATA_TO_SEND.write(byte.into());
    }
}

fn has_received() -> bool {
    (&RECEIVED).read_ready() != Ok(false)
}

impl Link for Nrf51 {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        if !has_received() {
            return Ok(None);
        }
        let count = (&RECEIVED).read(space).map_err(|_| ErrorKind::Other);
        UART_ENABLE_INTERRUPTS.write(RECEIVED_SOME | HAD_ERROR);
        count.map(Some)
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        let free = bytes.len().min(TO_SEND.free());
        let queued = TO_SEND.push_slice(bytes.get(..free).unwrap_or(bytes));
        self.waits_to_send = queued < bytes.len();
        interrupt::free(|_| {
            if !SENDS.load(Ordering::Relaxed) {
                send_next();
            }
        });
        Ok(queued)
    }
}

impl Chip for Nrf51 {
    fn now(&mut self) -> Millis {
        self.ticks.now()
    }

    fn sleep(&mut self, until: Millis) {
        // Clear the flag, because the next `transmit` sets the flag again if output is still pending.
        let waits_to_send = core::mem::take(&mut self.waits_to_send);
        self.ticks.sleep(until, || has_received() || waits_to_send && TO_SEND.is_empty());
    }
}
