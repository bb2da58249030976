//! An MCP server on an ESP32-C3, over its USB port.
#![no_std]
#![no_main]

use embedded_io::ErrorKind;
use esp_hal::Blocking;
use esp_hal::gpio::{Level, Output, OutputConfig};
use esp_hal::main;
use esp_hal::time::Instant;
use esp_hal::usb::usb_serial_jtag::UsbSerialJtag;
use mcp_proto::server::{Router, SecondInitialize, ServerConfig};
use mcp_proto::{Millis, Server, ToolArguments, router, tool};
use mcp_proto_embedded::{Link, Pump, PumpStatus};

esp_bootloader_esp_idf::esp_app_desc!();

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

/// The USB port. Reads and writes do not wait: the computer may send nothing, or may not be reading.
struct Usb(UsbSerialJtag<'static, Blocking>);

impl Link for Usb {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        let arrived = core::iter::from_fn(|| self.0.read_byte().ok());
        let count = space
            .iter_mut()
            .zip(arrived)
            .map(|(place, byte)| *place = byte)
            .count();
        Ok((count > 0).then_some(count))
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        let sent = bytes
            .iter()
            .take_while(|byte| self.0.write_byte_nb(**byte).is_ok())
            .count();
        // Sends the bytes in the buffer. If the computer does not read, the buffer stays full.
        _ = self.0.flush_tx_nb();
        Ok(sent)
    }
}

#[main]
fn main() -> ! {
    let chip = esp_hal::init(esp_hal::Config::default());
    let led = Output::new(chip.GPIO8, Level::Low, OutputConfig::default());
    let (mut board, mut usb) = (Board { led }, Usb(UsbSerialJtag::new(chip.USB_DEVICE)));

    let (mut rx, mut tx) = ([0; RX], [0; TX]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).expect("the buffers are large enough");
    let mut pump = Pump::new().session_marks();
    loop {
        let now = Millis(Instant::now().duration_since_epoch().as_millis());
        match pump.step(&mut server, &mut usb, now) {
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
