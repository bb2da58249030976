//! The device on an LM3S6965 (Cortex-M3) with receive interrupts and sleep.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use mcp_proto_embedded::Pump;
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
    let mut pump = Pump::new().session_marks();
    serve(&mut pump, &mut Device::new(&mut board, SETTINGS, RESPONSES), MEMORY.server(PLACE), &mut chip)
}
