//! An MCP server on a board in QEMU (LM3S6965, Cortex-M3), over its UART.
#![no_std]
#![no_main]

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

use arm_pl011_uart::{PL011Registers, Uart, UniqueMmioPointer};
use cortex_m::Peripherals;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::{entry, exception};
use mcp_proto::server::{Router, SecondInitialize, ServerConfig};
use mcp_proto::{Millis, Server, ToolArguments, router, tool};
use mcp_proto_embedded::{Pump, PumpStatus};

static ROUTER: Router<Board> = router![led_set];
static CONFIG: ServerConfig = ServerConfig::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    .features(ROUTER.features())
    .second_initialize(SecondInitialize::Restart);

/// Sizes of the receive and the transmit buffer: see docs/buffers.md of mcp-proto.
const RX: usize = 640;
const TX: usize = 1024;
const _: () = assert!(
    ROUTER.tools().list_size(&CONFIG) <= TX,
    "TX is too small for the list of tools: it needs ROUTER.tools().list_size(&CONFIG) bytes"
);

/// The hardware of the tools.
struct Board {
    led: bool,
}

#[derive(ToolArguments)]
struct LedSet {
    /// Whether the LED is on
    on: bool,
}

/// Turns the LED on or off.
#[tool]
fn led_set(board: &mut Board, LedSet { on }: LedSet) -> &'static str {
    board.led = on;
    if on { "LED is on" } else { "LED is off" }
}

/// Milliseconds since the start. Wraps after 49 days.
static MILLISECONDS: AtomicU32 = AtomicU32::new(0);
const CYCLES_PER_MILLISECOND: u32 = 12_000;
const UART: *mut PL011Registers = 0x4000_C000 as *mut PL011Registers;

#[exception]
fn SysTick() {
    // A load and a store suffice, because only this handler writes.
    let milliseconds = MILLISECONDS.load(Ordering::Relaxed).wrapping_add(1);
    MILLISECONDS.store(milliseconds, Ordering::Relaxed);
}

#[entry]
fn main() -> ! {
    let mut clock = Peripherals::take().expect("main runs once").SYST;
    clock.set_clock_source(SystClkSource::Core);
    clock.set_reload(CYCLES_PER_MILLISECOND - 1);
    clock.enable_counter();
    clock.enable_interrupt();
    // SAFETY: this is the address of the first UART, and no other code uses this UART.
    let registers = unsafe { UniqueMmioPointer::new(NonNull::new(UART).expect("not zero")) };
    // QEMU needs no baud rate. On a chip: `uart.enable(…)`.
    let mut uart = Uart::new(registers);
    let mut board = Board { led: false };

    let (mut rx, mut tx) = ([0; RX], [0; TX]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).expect("the buffers are large enough");
    let mut pump = Pump::new().session_marks();
    let mut now = Millis::ZERO;
    loop {
        let passed = MILLISECONDS
            .load(Ordering::Relaxed)
            .wrapping_sub(now.0 as u32);
        now = now.plus(Millis(passed.into()));
        match pump.step(&mut server, &mut uart, now) {
            PumpStatus::Event => {
                if let Some(event) = server.event() {
                    // Ignore the events that `handle` returns, because none of them is for a router function.
                    _ = ROUTER.handle(&mut board, event);
                }
            }
            // A new client has connected.
            PumpStatus::NewSession => server.reset(),
            PumpStatus::Closed => {
                pump.new_session();
                server.reset();
            }
            // The clock's interrupt ends the sleep after at most a millisecond.
            PumpStatus::Idle(_) => cortex_m::asm::wfi(),
            _ => {}
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
