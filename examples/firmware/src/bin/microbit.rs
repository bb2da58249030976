//! The device on a micro:bit (nRF51822, Cortex-M0, 16 KiB of RAM).
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use mcp_proto::server::Slot;
use mcp_proto_firmware::chips::nrf51::{Nrf51, timer, uart};
use mcp_proto_firmware::device::{Device, IN_FLIGHT, Memory, Simulated, serve};

/// Every interrupt that has no name: those of the UART and of the timer are enabled.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    timer();
    uart();
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    let (mut slots, mut board) = ([Slot::EMPTY; IN_FLIGHT], Simulated::default());
    let mut device = Device::new(&mut board);
    let mut chip = Nrf51::start();
    match MEMORY.server(&mut slots) {
        Ok(mut server) => serve(&mut device, &mut server, &mut chip),
        // A test on the PC has made sure that it does not come to this.
        Err(_) => loop {},
    }
}

/// Never linked, as long as nothing can panic: the build is checked for that.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
