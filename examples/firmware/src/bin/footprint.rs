//! Measures the size of a server and the cost of a call.
//!
//! The script `.ci/footprint` runs this image on Cortex-M3 and converts the ticks to instructions. The image prints a
//! name and a number on each line, and then sleeps.
#![no_std]
#![no_main]

use core::arch::asm;

use cortex_m_rt::entry;
use mcp_proto::server::{Event, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Action, Decimal, Millis, Server};

use mcp_proto_firmware::chips::lm3s6965::{Polled, Stopwatch};
use mcp_proto_framed_link::FramedLink;

#[cfg_attr(feature = "fields", path = "footprint/fields.rs")]
#[cfg_attr(not(feature = "fields"), path = "footprint/led.rs")]
mod call;
use call::{CALL, answer};
#[cfg(feature = "nested")]
#[path = "footprint/nested.rs"]
mod nested;

static TOOLS: Tools = Tools::new(&[Tool::new(
    "led_set",
    r#"{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}"#,
)]);
static CONFIG: ServerConfig = ServerConfig::new("blinky", "0.1.0").features(&[&TOOLS]);

const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
/// Passes `input` to a server `times` times, with minimal overhead. Returns the length of the last response,
/// or 0 if the server closes.
fn serve(server: &mut Server<'_>, input: &[u8], times: u32) -> usize {
    let mut answered = 0;
    for _ in 0..times {
        let mut rest = input;
        loop {
            match server.poll(Millis::ZERO) {
                Action::Io(io) => {
                    let (out, mut space) = io.split();
                    let length = out.bytes().len();
                    if rest.is_empty() && length == 0 {
                        break;
                    }
                    answered = length.max(if length == 0 { answered } else { 0 });
                    out.sent(length);
                    let taken =
                        space.space().iter_mut().zip(rest).map(|(place, byte)| *place = *byte).count();
                    space.filled(taken);
                    rest = rest.get(taken..).unwrap_or_default();
                }
                Action::Event => {
                    if let Some(Event::Call(call)) = server.event() {
                        answer(call);
                    }
                }
                Action::Closed => return 0,
            }
        }
    }
    answered
}

/// Executes two instructions `times` times.
fn spin(times: u32) {
    // SAFETY: the code only counts down a register that it owns.
    unsafe { asm!("2:", "subs {0}, #1", "bne 2b", inout(reg) times => _) };
}

fn print(chip: &mut Polled, name: &str, value: usize) {
    let mut put = |bytes: &[u8]| {
        let mut rest = bytes;
        while !rest.is_empty() {
            let sent = chip.write(rest);
            rest = rest.get(sent..).unwrap_or_default();
        }
    };
    put(name.as_bytes());
    put(b" ");
    let mut digits = Digits([0; 20], 0);
    _ = core::fmt::Write::write_fmt(&mut digits, format_args!("{}", Decimal::from(value as u64)));
    put(digits.0.get(..digits.1).unwrap_or_default());
    put(b"\n");
}

struct Digits([u8; 20], usize);

impl core::fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            *self.0.get_mut(self.1).ok_or(core::fmt::Error)? = byte;
            self.1 += 1;
        }
        Ok(())
    }
}

#[entry]
fn main() -> ! {
    let mut chip = Polled::start();
    print(&mut chip, "server", size_of::<Server<'_>>());
    print(&mut chip, "slot", size_of::<Slot>());
    print(&mut chip, "framed_link", size_of::<FramedLink>());
    let (mut rx, mut tx) = ([0; 512], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
    let server =
        Server::new(&CONFIG, &mut rx, &mut tx).and_then(|server| server.in_flight(&mut slots, &mut text));
    if let Ok(mut server) = server {
        serve(&mut server, HELLO, 1);
        print(&mut chip, "bytes_in", CALL.len());
        let answered = serve(&mut server, CALL, 1);
        print(&mut chip, "bytes_out", answered);
        let stopwatch = Stopwatch::start();
        spin(1_000_000);
        print(&mut chip, "ticks_of_2000000_instructions", stopwatch.ticks());
        for (name, times) in [("ticks_of_100_calls", 100), ("ticks_of_200_calls", 200)] {
            let stopwatch = Stopwatch::start();
            serve(&mut server, CALL, times);
            print(&mut chip, name, stopwatch.ticks());
        }
    }
    #[cfg(feature = "nested")]
    {
        print(&mut chip, "stack_of_a_level", nested::bytes_of_a_level());
        print(&mut chip, "stack_of_an_optional_level", nested::bytes_of_an_optional_level());
    }
    print(&mut chip, "end", 0);
    loop {
        cortex_m::asm::wfi();
    }
}
