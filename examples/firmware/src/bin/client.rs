//! A client on an LM3S6965 (Cortex-M3): calls a tool over the first UART, and shows the result on the second.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use mcp_proto::client::{ClientConfig, Event, Options, Slot};
use mcp_proto::{Client, ConfigError, Millis, Outcome};
use mcp_proto_embedded::{Pump, PumpStatus};
use mcp_proto_firmware::chips::lm3s6965::print;
use mcp_proto_firmware::chips::lm3s6965_interrupts::{Interrupting, uart};
use mcp_proto_firmware::chips::ticks::tick;
use mcp_proto_firmware::device::Chip;

static CONFIG: ClientConfig = ClientConfig::new("client", env!("CARGO_PKG_VERSION"));
const NEVER: Millis = Millis(u64::MAX);

/// The buffers of the client.
struct Memory {
    /// The receive buffer. Its size limits the messages that the client can receive.
    rx: [u8; 2048],
    tx: [u8; 512],
    text: [u8; 32],
}

fn serve(memory: &mut Memory, chip: &mut Interrupting) -> Result<(), ConfigError> {
    let mut slots = [Slot::EMPTY; 1];
    let client = Client::new(&CONFIG, &mut memory.rx, &mut memory.tx)?;
    let mut client = client.in_flight(&mut slots, &mut memory.text);
    // The session mark lets the other end begin a new session when this board restarts.
    let mut pump = Pump::new().session_marks();
    loop {
        let now = chip.now();
        match pump.step(&mut client, chip, now) {
            PumpStatus::Idle(until) => chip.sleep(until.unwrap_or(NEVER)),
            PumpStatus::Event => handle_event(&mut client),
            // The server has restarted.
            PumpStatus::NewSession => client.reset(),
            // The server has closed the connection or does not respond: connect again.
            PumpStatus::Closed => {
                pump.new_session();
                client.reset();
            }
            _ => {}
        }
    }
}

fn handle_event(client: &mut Client<'_>) {
    match client.event() {
        Some(Event::Connected(server)) => {
            print("connected, ");
            print(server.revision().as_str());
            print("\n");
            // The slot is free, because this is the only request.
            _ = client.call_json("add", r#"{"a":2,"b":40}"#, Options::DEFAULT);
        }
        Some(Event::Response(response)) => {
            let text = match response.outcome() {
                Outcome::Result(_) => response.tool_result().and_then(|result| result.text()),
                Outcome::Error(error) => error.message(),
                _ => None,
            };
            let mut decoded = [0; 64];
            print("add: ");
            print(text.and_then(|text| text.copy_to(&mut decoded).ok()).unwrap_or("no text"));
            print("\n");
        }
        Some(Event::ConnectFailed(_)) => print("no connection\n"),
        _ => {}
    }
}

#[exception]
fn SysTick() {
    tick();
}

/// Handles every interrupt that has no handler of its own. Only the UART interrupt is enabled.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    uart();
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory { rx: [0; 2048], tx: [0; 512], text: [0; 32] };
    let mut chip = Interrupting::start();
    // `serve` returns only if the memory is too small.
    _ = serve(MEMORY, &mut chip);
    loop {
        chip.sleep(NEVER);
    }
}
