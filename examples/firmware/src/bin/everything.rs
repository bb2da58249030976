//! A server with every feature except tasks, skills and extensions, on a polled LM3S6965.
#![no_std]
#![no_main]

use mcp_proto::{Action, ConfigError, Next};
use mcp_proto_firmware::chips::lm3s6965::Polled;
use mcp_proto_firmware::device::{Device, Memory, Place, Responses, Settings, Simulated};

fn serve(
    memory: &'static mut Memory,
    place: &'static mut Place<'static>,
    settings: &mut Settings,
    responses: &mut Responses,
    chip: &mut Polled,
) -> Result<(), ConfigError> {
    let mut board = Simulated::default();
    let mut device = Device::new(&mut board, settings, responses);
    let server = memory.server(place)?;
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
            Action::Event => device.handle_event(server, now),
            Action::Closed => {
                server.reset();
                device.drop_test();
            }
        }
        device.work(server, now);
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    static mut PLACE: Place<'static> = Place::new();
    static mut SETTINGS: Settings = Settings::new();
    static mut RESPONSES: Responses = [0; 256];
    let mut chip = Polled::start();
    // `serve` returns only if the memory is too small. A test on the PC checks that the memory suffices.
    _ = serve(MEMORY, PLACE, SETTINGS, RESPONSES, &mut chip);
    loop {
        chip.now();
    }
}
