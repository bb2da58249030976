//! The device as a task of embassy's executor, on an LM3S6965.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use embassy_executor::Executor;
use embassy_futures::select::{Either, select};
use mcp_proto::Server;
use mcp_proto_embedded::{Pump, Timer};
use mcp_proto_firmware::chips::lm3s6965_async::{start, tick, uart};
use mcp_proto_firmware::device::{Device, Memory, Place, Responses, Settings, Simulated};

#[embassy_executor::task]
async fn serve(
    server: &'static mut Server<'static>,
    settings: &'static mut Settings,
    responses: &'static mut Responses,
) -> ! {
    let (mut input, mut output, mut clock) = start();
    let mut board = Simulated::default();
    let mut device = Device::new(&mut board, settings, responses);
    let mut pump = Pump::new().session_marks();
    loop {
        device.work(server, clock.now());
        let mut alarm = clock;
        let step = pump.wait(server, &mut input, &mut output, &mut clock);
        // `wait` is cancel-safe, so the pump loses no bytes if the timer completes first.
        if let Either::First(step) = select(step, alarm.until(device.deadline())).await {
            device.react(step, server, &mut pump, alarm.now());
        }
    }
}

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
    static mut EXECUTOR: Option<Executor> = None;
    EXECUTOR.insert(Executor::new()).run(|spawner| {
        // Both calls succeed, because a test on the PC checks that the memory suffices, and `serve` is called only
        // once.
        if let Ok(server) = MEMORY.server(PLACE)
            && let Ok(task) = serve(server, SETTINGS, RESPONSES)
        {
            spawner.spawn(task);
        }
    })
}
