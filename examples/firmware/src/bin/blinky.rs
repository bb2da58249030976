//! The image: the main loop on an LM3S6965, whose UART is a PL011. Built for Cortex-M0, it runs on its M3 too.
#![cfg_attr(target_arch = "arm", no_std, no_main)]

#[cfg(not(target_arch = "arm"))]
fn main() {
    eprintln!("Build this for a board: cargo run --release --target thumbv6m-none-eabi");
}

#[cfg(target_arch = "arm")]
mod image {
    use core::ptr::{read_volatile, write_volatile};

    use mcp_proto::{Fault, Millis};
    use mcp_proto_firmware::Board;

    const UART_DATA: *mut u32 = 0x4000_C000 as *mut u32;
    const UART_FLAGS: *const u32 = 0x4000_C018 as *const u32;
    const RECEIVE_EMPTY: u32 = 1 << 4;
    const TRANSMIT_FULL: u32 = 1 << 5;
    const TICK_CONTROL: *mut u32 = 0xE000_E010 as *mut u32;
    const TICK_RELOAD: *mut u32 = 0xE000_E014 as *mut u32;
    const TICK_PASSED: u32 = 1 << 16;
    const CYCLES_PER_MILLISECOND: u32 = 12_000;

    struct Evaluation {
        now: Millis,
        led: bool,
        faults: u32,
    }

    /// A register of the chip.
    fn read(register: *const u32) -> u32 {
        // SAFETY: the addresses above are registers of this chip, always there and four bytes wide.
        unsafe { read_volatile(register) }
    }

    fn write(register: *mut u32, value: u32) {
        // SAFETY: as for `read`.
        unsafe { write_volatile(register, value) }
    }

    impl Board for Evaluation {
        fn now(&mut self) -> Millis {
            if read(TICK_CONTROL) & TICK_PASSED != 0 {
                self.now = self.now.plus(Millis(1));
            }
            self.now
        }

        fn read(&mut self, space: &mut [u8]) -> usize {
            let arrived = || (read(UART_FLAGS) & RECEIVE_EMPTY == 0).then(|| read(UART_DATA) as u8);
            space.iter_mut().zip(core::iter::from_fn(arrived)).map(|(place, byte)| *place = byte).count()
        }

        fn write(&mut self, bytes: &[u8]) -> usize {
            let sent = |byte: &&u8| {
                let room = read(UART_FLAGS) & TRANSMIT_FULL == 0;
                if room {
                    write(UART_DATA, u32::from(**byte));
                }
                room
            };
            bytes.iter().take_while(sent).count()
        }

        fn set_led(&mut self, on: bool) {
            self.led = on;
        }

        fn test(&mut self, _: u8) -> bool {
            true
        }

        fn report(&mut self, _: Fault) {
            self.faults = self.faults.saturating_add(1);
        }
    }

    #[cortex_m_rt::entry]
    fn main() -> ! {
        write(TICK_RELOAD, CYCLES_PER_MILLISECOND - 1);
        write(TICK_CONTROL, 0b101);
        let mut board = Evaluation { now: Millis::ZERO, led: false, faults: 0 };
        loop {
            _ = mcp_proto_firmware::run(&mut board);
        }
    }

    /// Never linked, as long as nothing can panic: the build is checked for that.
    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        loop {}
    }
}
