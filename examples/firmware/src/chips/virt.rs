//! Driver for QEMU's RISC-V board `virt` (16550 UART), without interrupt handlers.
//!
//! The processor sleeps until an interrupt is pending. The main loop then polls the UART. No byte is lost if one turn
//! of the loop takes less time than the UART's FIFO takes to fill.

use embedded_io::ErrorKind;
use mcp_proto::Millis;
use mcp_proto_embedded::{Link, SESSION_MARK};
use riscv::asm::wfi;
use riscv::register::mie;

use super::{Port, Register};
use crate::device::Chip;

const UART_DATA: Port = Port(0x1000_0000);
const UART_INTERRUPTS: Port = Port(0x1000_0001);
const RECEIVED_SOME: u8 = 1 << 0;
const SENT_ALL: u8 = 1 << 1;
const UART_FIFOS: Port = Port(0x1000_0002);
const UART_LINE: Port = Port(0x1000_0005);
const HAS_BYTE: u8 = 1 << 0;
const OTHERS_WERE_LOST: u8 = 1 << 1;
const IS_DAMAGED: u8 = 1 << 2 | 1 << 3;
const IS_BREAK: u8 = 1 << 4;
const IS_EMPTY: u8 = 1 << 5;
/// Bits that are cleared by a read of the register.
const CLEARED_BY_READ: u8 = OTHERS_WERE_LOST | IS_DAMAGED | IS_BREAK;
/// Size of the UART's FIFO for each direction, in bytes.
const FIFO: u8 = 16;

// The interrupt controller. The UART has interrupt 10.
const UART_PRIORITY: Register = Register(0x0C00_0000 + 4 * 10);
const ENABLE_INTERRUPTS: Register = Register(0x0C00_2000);
const PRIORITY_THRESHOLD: Register = Register(0x0C20_0000);
const CLAIM: Register = Register(0x0C20_0004);

// The clock at 10 MHz, in two halves.
const ALARM_LOW: Register = Register(0x0200_4000);
const ALARM_HIGH: Register = Register(0x0200_4004);
const TIME_LOW: Register = Register(0x0200_BFF8);
const TIME_HIGH: Register = Register(0x0200_BFFC);
const TICKS_PER_MILLISECOND: u64 = 10_000;

/// The board. The driver expects the register values that QEMU sets at a reset.
pub struct Virt {
    /// Line status bits of the next byte, read earlier from the register.
    pending_errors: u8,
    /// Number of bytes to read before the position where bytes are missing.
    lost_behind: Option<u8>,
    /// The rest of the session mark that a break has started.
    mark: &'static [u8],
}

impl Virt {
    /// Starts the UART and enables the interrupts that end a sleep.
    pub fn start() -> Virt {
        UART_FIFOS.write(1);
        UART_INTERRUPTS.write(RECEIVED_SOME);
        UART_PRIORITY.write(1);
        PRIORITY_THRESHOLD.write(0);
        ENABLE_INTERRUPTS.write(1 << 10);
        // SAFETY: interrupts stay disabled globally. Pending interrupts wake the processor, but the processor calls no
        // handler.
        unsafe {
            mie::set_mext();
            mie::set_mtimer();
        }
        Virt { pending_errors: 0, lost_behind: None, mark: b"" }
    }

    /// Reads the line status. Reading the register clears the error bits of the next byte, so the driver stores these
    /// bits until it reads the byte.
    fn line(&mut self) -> u8 {
        let line = UART_LINE.read();
        self.pending_errors |= line & CLEARED_BY_READ;
        line | self.pending_errors
    }
}

impl Link for Virt {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        let mut count = 0usize;
        for slot in space {
            if let [byte, rest @ ..] = self.mark {
                (*slot, self.mark) = (*byte, rest);
                count = count.saturating_add(1);
                continue;
            }
            if self.lost_behind == Some(0) {
                break;
            }
            let line = self.line();
            if line & HAS_BYTE == 0 {
                break;
            }
            let byte = UART_DATA.read();
            self.pending_errors = 0;
            // An overrun loses the bytes that follow the bytes in the full FIFO.
            if line & OTHERS_WERE_LOST != 0 {
                self.lost_behind = self.lost_behind.or(Some(FIFO));
            }
            self.lost_behind = self.lost_behind.map(|left| left.saturating_sub(1));
            if line & IS_DAMAGED != 0 && line & IS_BREAK == 0 {
                self.lost_behind = Some(0);
                break;
            }
            // A break starts a new session. The UART reports the break with a byte 0. The driver passes the session
            // mark instead of that byte.
            *slot = byte;
            if line & IS_BREAK != 0
                && let [first, rest @ ..] = SESSION_MARK
            {
                (*slot, self.mark) = (*first, rest);
            }
            count = count.saturating_add(1);
        }
        if count > 0 {
            return Ok(Some(count));
        }
        if self.lost_behind == Some(0) {
            self.lost_behind = None;
            return Err(ErrorKind::Other);
        }
        Ok(None)
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        if self.line() & IS_EMPTY == 0 {
            UART_INTERRUPTS.write(RECEIVED_SOME | SENT_ALL);
            return Ok(0);
        }
        Ok(bytes.iter().take(FIFO.into()).map(|byte| UART_DATA.write(*byte)).count())
    }
}

impl Chip for Virt {
    fn now(&mut self) -> Millis {
        // The low half may wrap between the two reads.
        let ticks = loop {
            let high = TIME_HIGH.read();
            let low = TIME_LOW.read();
            if high == TIME_HIGH.read() {
                break u64::from(high) << 32 | u64::from(low);
            }
        };
        Millis(ticks / TICKS_PER_MILLISECOND)
    }

    fn sleep(&mut self, until: Millis) {
        let alarm = until.0.saturating_mul(TICKS_PER_MILLISECOND);
        ALARM_HIGH.write(u32::MAX);
        ALARM_LOW.write(alarm as u32);
        ALARM_HIGH.write((alarm >> 32) as u32);
        wfi();
        // Completes the interrupt. The interrupt becomes pending again if its cause remains.
        let interrupt = CLAIM.read();
        CLAIM.write(interrupt);
        UART_INTERRUPTS.write(RECEIVED_SOME);
    }
}
