//! The device on RISC-V: the board `virt` of QEMU.
#![no_std]
#![no_main]

use mcp_proto::server::Slot;
use mcp_proto_firmware::chips::virt::Virt;
use mcp_proto_firmware::device::{Device, IN_FLIGHT, Memory, Simulated, serve};
use riscv_rt::entry;

#[entry]
fn main() -> ! {
    let mut memory = Memory::new();
    let (mut slots, mut board) = ([Slot::EMPTY; IN_FLIGHT], Simulated::default());
    let mut device = Device::new(&mut board);
    let mut chip = Virt::start();
    match memory.server(&mut slots) {
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
