//! The device on QEMU's RISC-V board `virt`.
#![no_std]
#![no_main]

use mcp_proto_embedded::Pump;
use mcp_proto_firmware::chips::virt::Virt;
use mcp_proto_firmware::device::{Device, Memory, Place, Settings, Simulated, serve};
use riscv_rt::entry;

#[entry]
fn main() -> ! {
    // References to these variables stay valid, because `main` never returns.
    let (mut memory, mut place, mut settings) = (Memory::new(), Place::new(), Settings::new());
    let mut responses = [0; 256];
    let (mut board, mut chip) = (Simulated::default(), Virt::start());
    let mut pump = Pump::new().session_marks();
    let mut device = Device::new(&mut board, &mut settings, &mut responses);
    serve(&mut pump, &mut device, memory.server(&mut place), &mut chip)
}
