//! The device of the image `lm3s6965`, with frames for a serial line that damages bytes.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use mcp_proto_embedded::FramedPump;
use mcp_proto_firmware::chips::count_start;
use mcp_proto_firmware::chips::lm3s6965_interrupts::{Interrupting, uart};
use mcp_proto_firmware::chips::ticks::tick;
use mcp_proto_firmware::device::{Device, Memory, Place, Responses, Settings, Simulated, serve};

#[exception]
fn SysTick() {
    tick();
}

/// Handles all interrupts without their own handler. Only the UART interrupt is enabled.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    uart();
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    static mut PLACE: Place<'static> = Place::new();
    static mut SETTINGS: Settings = Settings::new();
    static mut RESPONSES: Responses = [0; 256];
    let mut board = Simulated::default();
    let mut chip = Interrupting::start();
    let mut pump = FramedPump::new(count_start());
    serve(&mut pump, &mut Device::new(&mut board, SETTINGS, RESPONSES), MEMORY.server(PLACE), &mut chip)
}
