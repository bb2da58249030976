//! The device as a task of embassy's executor, on an LM3S6965 (Cortex-M3). There may be other tasks beside it.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use embassy_executor::Executor;
use embassy_futures::select::{Either, select};
use mcp_proto::server::Slot;
use mcp_proto_embedded::{Pump, SESSION_MARK, Timer};
use mcp_proto_firmware::chips::lm3s6965_async::{start, tick, uart};
use mcp_proto_firmware::device::{Device, IN_FLIGHT, Memory, Simulated};

#[embassy_executor::task]
async fn serve(memory: &'static mut Memory) -> ! {
    let (mut input, mut output, mut clock) = start();
    let (mut slots, mut board) = ([Slot::EMPTY; IN_FLIGHT], Simulated::default());
    let mut device = Device::new(&mut board);
    // A test on the PC has made sure that there is one.
    let Ok(mut server) = memory.server(&mut slots) else { loop {} };
    let mut pump = Pump::new().session_mark(SESSION_MARK);
    loop {
        device.work(&mut server, clock.now());
        let mut alarm = clock;
        let step = pump.wait(&mut server, &mut input, &mut output, &mut clock);
        // Nothing is lost when the pump has waited in vain.
        if let Either::First(step) = select(step, alarm.until(device.deadline())).await {
            device.react(step, &mut server, &mut pump, alarm.now());
        }
    }
}

#[exception]
fn SysTick() {
    tick();
}

/// Every interrupt that has no name: the UART's is the only one that is enabled.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    uart();
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    static mut EXECUTOR: Option<Executor> = None;
    EXECUTOR.insert(Executor::new()).run(|spawner| {
        if let Ok(task) = serve(MEMORY) {
            spawner.spawn(task);
        }
    })
}

/// Never linked, as long as nothing can panic: the build is checked for that.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
