//! An MCP server on a NUCLEO-F411RE (STM32F411), over the UART of its debug probe.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_stm32::bind_interrupts;
use embassy_stm32::gpio::{Level, Output, Speed};
use embassy_stm32::peripherals::USART2;
use embassy_stm32::usart::{BufferedInterruptHandler, BufferedUart, Config};
use embassy_time::Instant;
use mcp_proto::server::{Router, SecondInitialize, ServerConfig};
use mcp_proto::{Millis, Server, ToolArguments, router, tool};
use mcp_proto_embedded::{Pump, PumpStatus, Timer};

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
    led: Output<'static>,
}

#[derive(ToolArguments)]
struct LedSet {
    /// Whether the LED is on
    on: bool,
}

/// Turns the LED on or off.
#[tool]
fn led_set(board: &mut Board, LedSet { on }: LedSet) -> &'static str {
    board.led.set_level(on.into());
    if on { "LED is on" } else { "LED is off" }
}

bind_interrupts!(struct Interrupts {
    USART2 => BufferedInterruptHandler<USART2>;
});

struct Clock;

impl Timer for Clock {
    fn now(&mut self) -> Millis {
        Millis(Instant::now().as_millis())
    }

    async fn until(&mut self, at: Millis) {
        embassy_time::Timer::at(Instant::from_millis(at.0)).await
    }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let chip = embassy_stm32::init(Default::default());
    let mut board = Board {
        led: Output::new(chip.PA5, Level::Low, Speed::Low),
    };

    // 115,200 baud. The interrupt fills `received`, so that no byte is lost while a tool runs for up to 22 ms.
    let (mut received, mut to_send) = ([0; 256], [0; 64]);
    let uart = BufferedUart::new(
        chip.USART2,
        chip.PA3,
        chip.PA2,
        &mut to_send,
        &mut received,
        Interrupts,
        Config::default(),
    );
    let (mut output, mut input) = uart.expect("115,200 baud are possible").split();

    let (mut rx, mut tx) = ([0; RX], [0; TX]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).expect("the buffers are large enough");
    let mut pump = Pump::new().session_marks();
    loop {
        match pump
            .wait(&mut server, &mut input, &mut output, &mut Clock)
            .await
        {
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
            _ => {}
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
