//! Drivers for the boards' chips. All unsafe code of the library is in these modules.

use core::ptr::{read_volatile, write_volatile};

#[cfg(target_arch = "arm")]
pub mod lm3s6965;
#[cfg(feature = "embassy")]
pub mod lm3s6965_async;
#[cfg(feature = "http")]
pub mod lm3s6965_ethernet;
#[cfg(feature = "lm3s6965")]
pub mod lm3s6965_interrupts;
#[cfg(target_arch = "arm")]
mod memory;
#[cfg(feature = "microbit")]
pub mod nrf51;
#[cfg(any(feature = "lm3s6965", feature = "microbit", feature = "http"))]
pub mod ticks;
#[cfg(feature = "virt")]
pub mod virt;
#[cfg(all(target_arch = "riscv32", any(feature = "smallest", feature = "smallest_client")))]
pub mod virt_polled;

/// Returns the number of this start of the board, counted since power-on from an arbitrary number.
#[cfg(feature = "framed")]
pub fn count_start() -> u16 {
    use core::sync::atomic::{AtomicU32, Ordering};
    // SAFETY: the section is not initialized at the start, so the number survives a reset. Any content is valid.
    #[unsafe(link_section = ".uninit.STARTS")]
    static STARTS: AtomicU32 = AtomicU32::new(0);
    let starts = STARTS.load(Ordering::Relaxed).wrapping_add(1);
    STARTS.store(starts, Ordering::Relaxed);
    starts as u16
}

/// A register of four bytes.
#[derive(Clone, Copy)]
struct Register(usize);

impl Register {
    fn read(self) -> u32 {
        // SAFETY: the constants of this type in these modules are addresses of registers. The registers are always
        // present on their chip, and four bytes wide.
        unsafe { read_volatile(self.0 as *const u32) }
    }

    #[cfg(any(target_arch = "arm", feature = "virt"))]
    fn write(self, value: u32) {
        // SAFETY: the safety comment of `read` also applies here.
        unsafe { write_volatile(self.0 as *mut u32, value) }
    }

    /// Returns the register `offset` bytes after this register.
    #[cfg(target_arch = "arm")]
    fn offset_by(self, offset: usize) -> Register {
        Register(self.0 + offset)
    }

    /// Returns whether any of these bits is set.
    #[cfg(target_arch = "arm")]
    fn has(self, bits: u32) -> bool {
        self.read() & bits != 0
    }
}

/// A register of one byte.
#[cfg(target_arch = "riscv32")]
#[derive(Clone, Copy)]
struct Port(usize);

#[cfg(target_arch = "riscv32")]
impl Port {
    fn read(self) -> u8 {
        // SAFETY: the constants of this type in these modules are addresses of registers. The registers are always
        // present on their board, and one byte wide.
        unsafe { read_volatile(self.0 as *const u8) }
    }

    fn write(self, value: u8) {
        // SAFETY: the safety comment of `read` also applies here.
        unsafe { write_volatile(self.0 as *mut u8, value) }
    }
}
