//! A server over HTTP with two tools and two connections, only for revision `2026-07-28`.
//!
//! The server does not depend on the network: a [`Network`] moves the bytes of the connections.

use core::mem::MaybeUninit;

use embedded_io::ErrorKind;
use mcp_proto::server::{Call, Event, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{ConfigError, Millis, Revisions, SendError, Server, Ticket};
use mcp_proto_embedded::{HttpPump, HttpStatus, Link};
use mcp_proto_http::server::{AllowList, ExchangeSlot, HttpConfig, HttpServer, Policy, Step};

/// The number of connections, and of exchanges.
pub const CONNECTIONS: usize = 2;
/// Maximum length of a client's message, in bytes. A call takes about 300 bytes, because its `_meta`
/// describes the client.
const MAX_MESSAGE: usize = 436;
/// The longest message of the server.
const TX: usize = 512;
/// The longest id and progress token of a deferred call, together.
const TEXT: usize = 48;
/// The memory of a connection for the header fields of a request, in bytes.
const HEAD: usize = 216;
/// The output of both exchanges, in pages.
const OUTPUT: usize = 4 * PAGE;
const PAGE: usize = 152;

/// The time between two steps of the self test.
const STEP_TIME: Millis = Millis(50);

static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("led_set", r#"{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}"#),
    Tool::new("self_test", "{}").description("Test the whole board, in ten steps"),
]);
static CONFIG: ServerConfig<'static> =
    ServerConfig::new("http", "0.1.0").features(&[&TOOLS]).revisions(Revisions::STATELESS);
static HTTP: HttpConfig<'static> = config();

const fn config() -> HttpConfig<'static> {
    let hosts = AllowList::Names(&["127.0.0.1", "localhost", "board.local"]);
    let http = HttpConfig::new().path("/mcp").hosts(hosts).revisions(Revisions::STATELESS);
    let (mut limits, mut times) = (http.get_limits(), http.get_times());
    (limits.body, limits.page, limits.id) = (MAX_MESSAGE, PAGE, TEXT / 2);
    // A short time, because an idle connection keeps other clients out.
    times.idle = Millis::seconds(5);
    http.limits(limits).times(times)
}

#[derive(serde::Deserialize)]
struct LedSet {
    on: bool,
}

/// Connections to clients.
pub trait Network {
    /// Returns the time since the start.
    fn now(&mut self) -> Millis;
    /// Reads like [`Link::receive`], from one of the connections. Fails with `NotConnected` if the connection has no
    /// client.
    fn receive(&mut self, connection: usize, space: &mut [u8]) -> Result<Option<usize>, ErrorKind>;
    /// Writes like [`Link::transmit`], to one of the connections.
    fn transmit(&mut self, connection: usize, bytes: &[u8]) -> Result<usize, ErrorKind>;
    /// Ends the output of a connection.
    fn end(&mut self, connection: usize);
    /// Closes a connection, so that the next client can use it. Does not block.
    fn close(&mut self, connection: usize);
    /// Moves pending data, and waits for input or until `until`. May return earlier.
    fn wait(&mut self, until: Millis);
}

struct At<'n>(&'n mut dyn Network, usize);

impl Link for At<'_> {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        self.0.receive(self.1, space)
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.0.transmit(self.1, bytes)
    }
}

/// A policy that authorizes every request.
pub struct Open;

impl Policy for Open {
    const HANDSHAKE: bool = false;

    fn random(&mut self) -> [u8; 16] {
        // Only sessions need randomness, and 2026-07-28 has no sessions.
        [0; 16]
    }
}

/// The tools of the board.
#[derive(Default)]
struct Device {
    led: bool,
    test: Option<SelfTest>,
}

/// A running self test.
#[derive(Clone, Copy)]
struct SelfTest {
    ticket: Ticket,
    step: u8,
    /// The time of the next step.
    next: Millis,
}

impl Device {
    #[inline(never)]
    fn event(&mut self, server: &mut Server<'_>) {
        match server.event() {
            Some(Event::Call(call)) => self.call(call),
            Some(Event::Cancelled { .. } | Event::Expired(_)) => self.test = None,
            _ => {}
        }
    }

    fn call(&mut self, mut call: Call<'_>) {
        match call.name() {
            "led_set" => match call.arguments() {
                Ok(LedSet { on }) => {
                    self.led = on;
                    call.text("ok");
                }
                Err(error) => call.invalid(error),
            },
            "self_test" if self.test.is_some() => call.fail("a test is running"),
            "self_test" => match call.defer(None) {
                Ok(ticket) => self.test = Some(SelfTest { ticket, step: 0, next: Millis::ZERO }),
                Err(call) => call.busy(),
            },
            _ => call.unknown_tool(),
        }
    }

    /// Runs a step of the test if it is due. Returns the time of the next call, or `None` without a test. If a step was
    /// due, the time is `now`, because the server may have output.
    #[inline(never)]
    fn work(&mut self, server: &mut Server<'_>, now: Millis) -> Option<Millis> {
        let SelfTest { ticket, step, next } = self.test.as_mut()?;
        if *next > now {
            return Some(*next);
        }
        *next = now.plus(STEP_TIME);
        match server.reply(*ticket) {
            Ok(reply) if *step == 9 => {
                reply.text("test passed");
                self.test = None;
            }
            Ok(mut reply) => {
                *step += 1;
                _ = reply.progress(*step, Some(10.into()), "");
            }
            Err(SendError::Busy) => *next = now.plus(Millis(1)),
            Err(_) => self.test = None,
        }
        Some(now)
    }
}

/// Buffers of the servers, all zeros to save flash.
pub struct Memory {
    rx: [u8; MAX_MESSAGE],
    tx: [u8; TX],
    text: [u8; TEXT * CONNECTIONS],
    output: [u8; OUTPUT],
    bodies: [u8; MAX_MESSAGE * CONNECTIONS],
    heads: [[u8; HEAD]; CONNECTIONS],
}

impl Memory {
    /// Creates empty buffers.
    pub const fn new() -> Memory {
        Memory {
            rx: [0; MAX_MESSAGE],
            tx: [0; TX],
            text: [0; TEXT * CONNECTIONS],
            output: [0; OUTPUT],
            bodies: [0; MAX_MESSAGE * CONNECTIONS],
            heads: [[0; HEAD]; CONNECTIONS],
        }
    }
}

/// Uninitialized memory for the machines and their tables. As statics, the machines take no flash, and leave no copy on
/// the stack.
pub struct Place<'m> {
    slots: MaybeUninit<[Slot; CONNECTIONS]>,
    server: MaybeUninit<Server<'m>>,
    exchanges: MaybeUninit<[ExchangeSlot; CONNECTIONS]>,
    http: MaybeUninit<HttpServer<'m, Open>>,
    pumps: [MaybeUninit<HttpPump<'m>>; CONNECTIONS],
}

impl Place<'_> {
    /// Creates uninitialized memory.
    pub const fn new() -> Self {
        Place {
            slots: MaybeUninit::uninit(),
            server: MaybeUninit::uninit(),
            exchanges: MaybeUninit::uninit(),
            http: MaybeUninit::uninit(),
            pumps: [const { MaybeUninit::uninit() }; CONNECTIONS],
        }
    }
}

/// The machines, and the pump of each connection.
struct Machines<'p, 'm> {
    server: &'p mut Server<'m>,
    http: &'p mut HttpServer<'m, Open>,
    pumps: [&'p mut HttpPump<'m>; CONNECTIONS],
}

impl<'m> Place<'m> {
    fn fill(&'m mut self, memory: &'m mut Memory) -> Result<Machines<'m, 'm>, ConfigError> {
        let Memory { rx, tx, text, output, bodies, heads } = memory;
        let server = write_server(&mut self.server, &mut self.slots, rx, tx, text)?;
        let http = write_http(&mut self.http, &mut self.exchanges, output, bodies);
        let ([first, second], [first_head, second_head]) = (&mut self.pumps, heads);
        Ok(Machines { server, http, pumps: [write_pump(first, first_head), write_pump(second, second_head)] })
    }
}

// The following functions are not inlined: each needs stack memory to move a machine. After the call, this memory is
// free again.

#[inline(never)]
fn write_server<'m>(
    place: &'m mut MaybeUninit<Server<'m>>,
    slots: &'m mut MaybeUninit<[Slot; CONNECTIONS]>,
    rx: &'m mut [u8],
    tx: &'m mut [u8],
    text: &'m mut [u8],
) -> Result<&'m mut Server<'m>, ConfigError> {
    let server = Server::init(place, &CONFIG, rx, tx)?;
    server.set_message_mode()?;
    server.set_in_flight(slots.write([Slot::EMPTY; CONNECTIONS]), text)?;
    Ok(server)
}

#[inline(never)]
fn write_http<'m>(
    place: &'m mut MaybeUninit<HttpServer<'m, Open>>,
    exchanges: &'m mut MaybeUninit<[ExchangeSlot; CONNECTIONS]>,
    output: &'m mut [u8],
    bodies: &'m mut [u8],
) -> &'m mut HttpServer<'m, Open> {
    let exchanges = exchanges.write([ExchangeSlot::EMPTY; CONNECTIONS]);
    place.write(HttpServer::new(&HTTP, Open, exchanges, output).body_buffer(bodies))
}

#[inline(never)]
fn write_pump<'m>(place: &'m mut MaybeUninit<HttpPump<'m>>, head: &'m mut [u8]) -> &'m mut HttpPump<'m> {
    place.write(HttpPump::new(head))
}

/// Serves the connections. Returns `Ok` only if the server closes.
///
/// # Errors
/// A buffer is too small for the tables. The error depends only on constants, so a test detects it.
pub fn serve<'m>(
    network: &mut dyn Network,
    memory: &'m mut Memory,
    place: &'m mut Place<'m>,
) -> Result<(), ConfigError> {
    let Machines { server, http, mut pumps } = place.fill(memory)?;
    let mut device = Device::default();
    loop {
        let now = network.now();
        let mut next = Millis(u64::MAX);
        for (index, pump) in pumps.iter_mut().enumerate() {
            match pump.step(http, server, &mut At(network, index), now) {
                HttpStatus::Idle(at) => next = next.min(at.unwrap_or(next)),
                HttpStatus::Closing(at) => {
                    network.end(index);
                    next = next.min(at.unwrap_or(next));
                }
                // A connection without a client starts again at each step, so that its idle time begins when a client
                // connects.
                HttpStatus::Closed => {
                    pump.new_connection(http);
                    network.close(index);
                }
                _ => next = now,
            }
        }
        match http.poll(server, now) {
            Step::Event => device.event(server),
            Step::Output(_) => {}
            Step::Wait(at) => match device.work(server, now) {
                Some(step) if step <= now => {}
                step => network.wait([at, step].into_iter().flatten().fold(next, Millis::min)),
            },
            Step::Closed => return Ok(()),
        }
    }
}
