//! The image with everything that a server can have, on the core alone: an LM3S6965 that is asked again and again.
#![no_std]
#![no_main]

use mcp_proto::server::Slot;
use mcp_proto::{Action, Misuse, Next};
use mcp_proto_firmware::chips::lm3s6965::Polled;
use mcp_proto_firmware::device::{Device, IN_FLIGHT, Memory, Simulated};

fn serve(memory: &mut Memory) -> Result<(), Misuse> {
    let mut chip = Polled::start();
    let mut board = Simulated::default();
    let mut device = Device::new(&mut board);
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
