//! The main loop: poll the server, move bytes, handle events, and run one step of the self test.
use super::Board;
use core::mem::MaybeUninit;
use mcp_proto::server::{Event, SecondInitialize, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Action, ConfigError, Next, SendError, Server, Ticket};

static TOOLS: Tools = Tools::new(&[
    Tool::new("led_set", r#"{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}"#),
    Tool::new("self_test", "{}").description("Test the whole board, in ten steps"),
]);
static INFO: ServerConfig =
    ServerConfig::new("blinky", "0.1.0").features(&[&TOOLS]).second_initialize(SecondInitialize::Restart);
#[derive(serde::Deserialize)]
struct LedSet { on: bool }

/// Runs the server until power is lost.
pub fn run(board: &mut dyn Board) -> Result<(), ConfigError> {
    let (mut rx, mut tx) = ([0; 512], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
    let mut place = MaybeUninit::uninit();
    let server = Server::init(&mut place, &INFO, &mut rx, &mut tx)?;
    server.set_in_flight(&mut slots, &mut text)?;
    let mut test: Option<(Ticket, u8)> = None;
    loop {
        match server.poll(board.now()) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => { let n = board.write(out.bytes()); out.sent(n) }
                Next::Read(mut input) => { let n = board.read(input.space()); input.filled(n) }
                Next::Wait => {}
            },
            Action::Event => match server.event() {
                Some(Event::Call(mut call)) => match call.name() {
                    "led_set" => match call.arguments::<LedSet>() {
                        Ok(LedSet { on }) => { board.set_led(on); call.text("ok") }
                        Err(error) => call.invalid(error),
                    },
                    "self_test" if test.is_some() => call.fail("a test is running"),
                    "self_test" => match call.defer(None) {
                        Ok(ticket) => test = Some((ticket, 0)),
                        Err(call) => call.busy(),
                    },
                    _ => call.unknown_tool(),
                },
                Some(Event::Cancelled { .. } | Event::Expired(_) | Event::Restarted) => test = None,
                Some(Event::ProtocolError(fault)) => board.report(fault),
                _ => {}
            },
            Action::Closed => return Ok(()),
        }
        let Some((ticket, step)) = test else { continue };
        match server.reply(ticket) {
            Ok(reply) if !board.test(step) => { reply.fail("the board is broken"); test = None }
            Ok(reply) if step == 9 => { reply.text("test passed"); test = None }
            Ok(mut reply) => { _ = reply.progress(step + 1, Some(10.into()), ""); test = Some((ticket, step + 1)) }
            Err(SendError::Busy) => {}
            Err(_) => test = None,
        }
    }
}
