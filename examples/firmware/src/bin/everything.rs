//! The image with everything that a server can have, on the core alone: an LM3S6965 that is asked again and again.
#![no_std]
#![no_main]

use mcp_proto::server::Slot;
use mcp_proto::{Action, Fault, Misuse, Next};
use mcp_proto_firmware::device::{Device, Hardware, IN_FLIGHT, Memory};
use mcp_proto_firmware::lm3s6965::Polled;

struct Evaluation {
    led: bool,
    faults: u32,
}

impl Hardware for Evaluation {
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

fn serve(memory: &mut Memory) -> Result<(), Misuse> {
    let mut chip = Polled::start();
    let mut evaluation = Evaluation { led: false, faults: 0 };
    let mut device = Device::new(&mut evaluation);
    let mut slots = [Slot::EMPTY; IN_FLIGHT];
    let mut server = memory.server(&mut slots)?;
    loop {
        let now = chip.now();
        match server.poll(now) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => {
                    let sent = chip.write(out.bytes());
                    out.sent(sent);
                }
                Next::Read(mut input) => {
                    let filled = chip.read(input.space());
                    input.filled(filled);
                }
                Next::Wait => {}
            },
            Action::Event => device.hear(&mut server, now),
            Action::Closed => return Ok(()),
        }
        device.work(&mut server, now);
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    loop {
        _ = serve(MEMORY);
    }
}

/// Never linked, as long as nothing can panic: the build is checked for that.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
