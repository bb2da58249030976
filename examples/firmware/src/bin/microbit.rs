//! The device on a micro:bit (nRF51822, Cortex-M0, 16 KiB of RAM).
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use mcp_proto_embedded::Pump;
use mcp_proto_firmware::chips::nrf51::{Nrf51, timer, uart};
use mcp_proto_firmware::device::{Device, Memory, Place, Responses, Settings, Simulated, serve};

/// Handles all interrupts without their own handler. The interrupts of the UART and of the timer are enabled.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    timer();
    uart();
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    static mut PLACE: Place<'static> = Place::new();
    static mut SETTINGS: Settings = Settings::new();
    static mut RESPONSES: Responses = [0; 256];
    let mut board = Simulated::default();
    let mut chip = Nrf51::start();
    let mut pump = Pump::new().session_marks();
    serve(&mut pump, &mut Device::new(&mut board, SETTINGS, RESPONSES), MEMORY.server(PLACE), &mut chip)
}
