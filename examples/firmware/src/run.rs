//! The main loop: poll the server, move bytes, handle events, and run one step of the self test.
use super::Board;
use core::mem::MaybeUninit;
use mcp_proto::server::{Call, Event, Router, SecondInitialize, ServerConfig, Slot};
use mcp_proto::{Action, ConfigError, Next, SendError, Server, Ticket, ToolArguments, router, tool};

static ROUTER: Router<Blinky> = router![led_set, self_test];
static CONFIG: ServerConfig =
    ServerConfig::new("blinky", "0.1.0").features(&[ROUTER.tools()]).second_initialize(SecondInitialize::Restart);
struct Blinky { led: bool, test: Option<(Ticket, u8)> }
#[derive(ToolArguments)]
#[tool(allow_unknown_fields)]
struct LedSet { on: bool }

#[tool]
fn led_set(blinky: &mut Blinky, LedSet { on }: LedSet) -> &'static str { blinky.led = on; "ok" }
/// Test the whole board, in ten steps
#[tool]
fn self_test(blinky: &mut Blinky, call: Call<'_>) {
    if blinky.test.is_some() { return call.fail("a test is running") }
    match call.defer(None) {
        Ok(ticket) => blinky.test = Some((ticket, 0)),
        Err(call) => call.busy(),
    }
}

/// Runs the server until the server closes.
pub fn run(board: &mut dyn Board) -> Result<(), ConfigError> {
    let (mut rx, mut tx) = ([0; 512], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
    let mut place = MaybeUninit::uninit();
    let server = Server::init(&mut place, &CONFIG, &mut rx, &mut tx)?;
    server.set_in_flight(&mut slots, &mut text)?;
    let mut blinky = Blinky { led: false, test: None };
    loop {
        match server.poll(board.now()) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => { let n = board.write(out.bytes()); out.sent(n) }
                Next::Read(mut input) => { let n = board.read(input.space()); input.filled(n) }
                Next::Wait => {}
            },
            Action::Event => match server.event() {
                Some(Event::Call(call)) => { ROUTER.call(&mut blinky, call); board.set_led(blinky.led) }
                Some(Event::Cancelled { .. } | Event::Expired(_) | Event::Restarted) => blinky.test = None,
                Some(Event::ProtocolError(fault)) => board.report(fault),
                _ => {}
            },
            Action::Closed => return Ok(()),
        }
        let Some((ticket, step)) = blinky.test else { continue };
        match server.reply(ticket) {
            Ok(reply) if !board.test(step) => { reply.fail("the board is broken"); blinky.test = None }
            Ok(reply) if step == 9 => { reply.text("test passed"); blinky.test = None }
            Ok(mut reply) => { _ = reply.progress(step + 1, Some(10.into()), ""); blinky.test = Some((ticket, step + 1)) }
            Err(SendError::Busy) => {}
            Err(_) => blinky.test = None,
        }
    }
}
