//! The main loop of `run` on a polled LM3S6965: tools only.
//!
//! The image is compiled for Cortex-M0, and also runs on the Cortex-M3 of this chip.
#![cfg_attr(target_arch = "arm", no_std, no_main)]

#[cfg(not(target_arch = "arm"))]
fn main() {
    eprintln!("Build this for a board: cargo run --release --target thumbv6m-none-eabi");
}

#[cfg(target_arch = "arm")]
mod image {
    use mcp_proto::{Millis, ProtocolError};
    use mcp_proto_firmware::Board;
    use mcp_proto_firmware::chips::lm3s6965::Polled;

    struct Evaluation {
        chip: Polled,
        led: bool,
        faults: u32,
    }

    impl Board for Evaluation {
        fn now(&mut self) -> Millis {
            self.chip.now()
        }

        fn read(&mut self, space: &mut [u8]) -> usize {
            self.chip.read(space)
        }

        fn write(&mut self, bytes: &[u8]) -> usize {
            self.chip.write(bytes)
        }

        fn set_led(&mut self, on: bool) {
            self.led = on;
        }

        fn test(&mut self, _: u8) -> bool {
            true
        }

        fn report(&mut self, _: ProtocolError) {
            self.faults = self.faults.saturating_add(1);
        }
    }

    #[cortex_m_rt::entry]
    fn main() -> ! {
        let mut board = Evaluation { chip: Polled::start(), led: false, faults: 0 };
        loop {
            _ = mcp_proto_firmware::run(&mut board);
        }
    }
}
