//! An MCP server on a Raspberry Pi Pico (RP2040), over USB.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_futures::join::join;
use embassy_rp::bind_interrupts;
use embassy_rp::gpio::{Level, Output};
use embassy_rp::peripherals::USB;
use embassy_rp::usb::{Driver, InterruptHandler};
use embassy_time::Instant;
use embassy_usb::class::cdc_acm::{CdcAcmClass, CdcAcmError, Sender, State};
use embassy_usb::{Builder, Config};
use embedded_io_async::{ErrorType, Write};
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
    USBCTRL_IRQ => InterruptHandler<USB>;
});

/// The transmitter of the USB port.
struct ShortPackets<'d>(Sender<'d, Driver<'d, USB>>);

impl ErrorType for ShortPackets<'_> {
    type Error = CdcAcmError;
}

impl Write for ShortPackets<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, CdcAcmError> {
        // After a packet of 64 bytes the computer waits for another packet, so a packet has at most 63 bytes.
        self.0.write(&bytes[..bytes.len().min(63)]).await
    }

    async fn flush(&mut self) -> Result<(), CdcAcmError> {
        self.0.flush().await
    }
}

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
    let chip = embassy_rp::init(Default::default());
    let mut board = Board {
        led: Output::new(chip.PIN_25, Level::Low),
    };

    // These USB ids are for tests only. A product needs its own ids.
    let mut config = Config::new(0x1209, 0x0001);
    config.product = Some(env!("CARGO_PKG_NAME"));
    let (mut descriptor, mut bos, mut control) = ([0; 256], [0; 32], [0; 64]);
    let (mut state, mut packet) = (State::new(), [0; 64]);
    let driver = Driver::new(chip.USB, Interrupts);
    let mut builder = Builder::new(
        driver,
        config,
        &mut descriptor,
        &mut bos,
        &mut [],
        &mut control,
    );
    let (output, input) = CdcAcmClass::new(&mut builder, &mut state, 64).split();
    let (mut output, mut input) = (ShortPackets(output), input.into_buffered(&mut packet));
    let mut usb = builder.build();

    let (mut rx, mut tx) = ([0; RX], [0; TX]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).expect("the buffers are large enough");
    let serve = async {
        loop {
            output.0.wait_connection().await;
            server.reset();
            // A new pump sends a session mark, which reports the reset of the server to the client.
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
                    // The computer has disconnected.
                    PumpStatus::Closed => break,
                    _ => {}
                }
            }
        }
    };
    join(usb.run(), serve).await;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
