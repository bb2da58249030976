//! The device on RISC-V: the board `virt` of QEMU.
#![no_std]
#![no_main]

use mcp_proto_firmware::chips::virt::Virt;
use mcp_proto_firmware::device::{Device, Memory, Place, Settings, Simulated, serve};
use riscv_rt::entry;

#[entry]
fn main() -> ! {
    // They live as long as `main`, which is for ever.
    let (mut memory, mut place, mut settings) = (Memory::new(), Place::new(), Settings::new());
    let (mut board, mut chip) = (Simulated::default(), Virt::start());
    serve(&mut Device::new(&mut board, &mut settings), memory.server(&mut place), &mut chip)
}

/// Never linked, as long as nothing can panic: the build is checked for that.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
