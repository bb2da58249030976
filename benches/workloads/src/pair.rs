//! The pair that `benches/src/pair.rs` measures: a client and a server, connected by copying bytes.

use mcp_proto::client::{self, ClientConfig, Connect, Options};
use mcp_proto::server::{self, ServerConfig};
use mcp_proto::{Action, Buffer, Client, Millis, Receive, Revision, Server, Ticket, Transmit};

use crate::machine::{CONFIG, IdleObserver, echo};

static HANDSHAKE: ClientConfig<'static> =
    ClientConfig::new("example-host", "1.0.0").connect(Connect::Handshake);
static STATELESS: ClientConfig<'static> = HANDSHAKE.connect(Connect::Stateless);

/// The options of a call that is deferred, with a timeout that never expires.
const HELD: Options<'static> = Options::DEFAULT.timeout(Millis(1 << 40));

/// A connected client and server.
pub struct Pair {
    client: Client<'static>,
    server: Server<'static>,
    /// Deferred calls of `hold`.
    held: Vec<Ticket>,
    options: Options<'static>,
}

/// Every call is for the same tool.
pub const ONE_TOOL: [&str; 2] = ["echo", "echo"];
/// Consecutive calls are for different tools.
pub const TWO_TOOLS: [&str; 2] = ["echo", "again"];

impl Pair {
    /// Creates and connects both machines, with buffers for messages of `longest` bytes, and `in_flight` slots for
    /// requests.
    ///
    /// # Panics
    /// If the machines do not connect.
    #[must_use]
    pub fn new(longest: usize, in_flight: usize) -> Pair {
        let (client, server) = machines(&HANDSHAKE, longest, in_flight);
        Pair::connect(client, server, Revision::V2025_11_25)
    }

    /// Creates a pair like `new`, in revision 2026-07-28.
    ///
    /// # Panics
    /// If the machines do not connect.
    #[must_use]
    pub fn stateless(longest: usize, in_flight: usize) -> Pair {
        let (client, server) = machines(&STATELESS, longest, in_flight);
        Pair::connect(client, server, Revision::V2026_07_28)
    }

    /// Creates a pair like `new`, with an observer of each machine.
    ///
    /// # Panics
    /// If the machines do not connect.
    #[must_use]
    pub fn observed(longest: usize, in_flight: usize) -> Pair {
        let (client, server) = machines(&HANDSHAKE, longest, in_flight);
        let (client, server) = (
            client.observe(Box::leak(Box::new(IdleObserver))),
            server.observe(Box::leak(Box::new(IdleObserver))),
        );
        Pair::connect(client, server, Revision::V2025_11_25)
    }

    fn connect(client: Client<'static>, server: Server<'static>, revision: Revision) -> Pair {
        let mut pair = Pair { client, server, held: Vec::new(), options: Options::DEFAULT };
        pair.run(Calls::NONE);
        assert_eq!(pair.client.revision(), Some(revision));
        pair
    }

    /// Adds a progress token to each call that [`Pair::echo`] makes.
    #[must_use]
    pub fn with_progress(mut self) -> Pair {
        self.options = Options::DEFAULT.with_progress();
        self
    }

    /// Calls these tools in turn, with up to `window` calls in flight, until `count` responses are received. Checks
    /// each text.
    ///
    /// # Panics
    /// If a call fails, or its response does not have the text of the call.
    #[inline(never)]
    pub fn echo(&mut self, tools: [&str; 2], text: &str, count: usize, window: usize) {
        let calls = Calls { tools, text, options: self.options, left: count, window, in_flight: 0 };
        let calls = self.run(calls);
        assert_eq!((calls.left, calls.in_flight), (0, 0), "calls without a response");
    }

    /// Allocates space for `count` tickets, so that a measurement does not include the allocation.
    pub fn reserve(&mut self, count: usize) {
        self.held.reserve_exact(count);
    }

    /// Makes `count` calls of `hold` pending, at the client and at the server.
    ///
    /// # Panics
    /// If there are not enough slots.
    pub fn hold(&mut self, count: usize) {
        let wanted = self.held.len() + count;
        while self.held.len() < wanted {
            self.client.call_json("hold", "{}", HELD).expect("space for a call");
            self.run(Calls::NONE);
        }
    }

    /// Sends `count` requests that the server never receives, to measure the client's memory alone.
    ///
    /// # Panics
    /// If there are not enough slots.
    pub fn request(&mut self, count: usize) {
        for _ in 0..count {
            self.client.call_json("hold", "{}", HELD).expect("space for a call");
            if let Action::Io(io) = self.client.poll(Millis(0)) {
                let out = io.split().0;
                let n = out.bytes().len();
                out.sent(n);
            }
        }
    }

    /// Responds to one pending call and makes a new one, `count` times.
    ///
    /// # Panics
    /// If no call is pending, or a ticket is not valid.
    #[inline(never)]
    pub fn exchange(&mut self, count: usize) {
        let mut at = 0;
        for _ in 0..count {
            // Respond out of order, with a large stride through the deferred calls.
            at = (at + 7919) % self.held.len();
            let ticket = self.held.swap_remove(at);
            self.server.reply(ticket).expect("it is held").text("");
            self.client.call_json("hold", "{}", HELD).expect("space for a call");
            self.run(Calls::NONE);
        }
    }

    /// Returns the number of pending requests at the client and at the server.
    #[must_use]
    pub fn pending(&self) -> (usize, usize) {
        (self.client.pending(), self.server.deferred())
    }

    /// Makes the calls, and runs both machines until they transfer no more bytes.
    ///
    /// Each poll offers both directions. The response goes into the space that the client offered together with the
    /// call. The next call goes into the space that the server offered together with the response.
    fn run<'c>(&mut self, mut calls: Calls<'c>) -> Calls<'c> {
        calls.send(&mut self.client);
        let Action::Io(io) = self.client.poll(Millis(0)) else { panic!("nothing has arrived") };
        let (mut up, mut into_client) = io.split();
        let Action::Io(io) = self.server.poll(Millis(0)) else { panic!("nothing has arrived") };
        let mut into_server = io.split().1;
        loop {
            let mut is_moved = copy(up, into_server);
            let down;
            (down, into_server) = loop {
                match self.server.poll(Millis(0)) {
                    Action::Io(io) => break io.split(),
                    Action::Event => match self.server.event() {
                        Some(server::Event::Call(call)) if call.name() == "hold" => {
                            self.held.push(call.defer(Some(Millis(1 << 40))).expect("a slot"));
                        }
                        Some(server::Event::Call(call)) => echo(call),
                        Some(server::Event::Connected(_) | server::Event::Ready) => {}
                        other => panic!("{other:?}"),
                    },
                    Action::Closed => panic!("the server has ended"),
                }
            };
            is_moved |= copy(down, into_client);
            (up, into_client) = loop {
                match self.client.poll(Millis(0)) {
                    Action::Io(io) => break io.split(),
                    Action::Event => match self.client.event() {
                        Some(client::Event::Response(end)) => {
                            calls.check(&end);
                            calls.send(&mut self.client);
                        }
                        Some(client::Event::Connected(_)) => {}
                        other => panic!("{other:?}"),
                    },
                    Action::Closed => panic!("the client has ended"),
                }
            };
            if !is_moved {
                return calls;
            }
        }
    }
}

/// The calls of [`Pair::echo`].
struct Calls<'a> {
    tools: [&'a str; 2],
    text: &'a str,
    options: Options<'static>,
    /// The number of calls to make.
    left: usize,
    window: usize,
    in_flight: usize,
}

impl Calls<'_> {
    const NONE: Calls<'static> =
        Calls { tools: ["", ""], text: "", options: Options::DEFAULT, left: 0, window: 0, in_flight: 0 };

    /// If no call is in flight, makes up to `window` calls.
    fn send(&mut self, client: &mut Client<'static>) {
        if self.in_flight > 0 {
            return;
        }
        let text = self.text;
        let arguments = |out: &mut mcp_proto::json::Writer<'_>| {
            out.begin_object();
            out.field_string("text", text);
            out.end_object();
        };
        while self.left > 0 && self.in_flight < self.window {
            client.call_with(self.tools[self.left % 2], self.options, arguments).expect("space for a call");
            self.left -= 1;
            self.in_flight += 1;
        }
    }

    /// Checks the text of a response.
    fn check(&mut self, end: &client::Response<'_>) {
        let result = end.tool_result().expect("a result");
        assert!(result.text().is_some_and(|it| it == self.text), "the same text");
        self.in_flight -= 1;
    }
}

fn machines(
    config: &'static ClientConfig<'static>,
    longest: usize,
    in_flight: usize,
) -> (Client<'static>, Server<'static>) {
    let buffer = || Buffer::grown(longest);
    let server: &'static ServerConfig<'static> = &CONFIG;
    let server = Server::new(server, buffer(), buffer()).expect("a server");
    let client = Client::new(config, buffer(), buffer()).expect("a client");
    (client.in_flight_grown(in_flight), server.in_flight_grown(in_flight).expect("slots"))
}

/// Copies output into the other machine's input buffer, as much as fits. Returns whether any byte was copied.
fn copy(out: Transmit<'_>, mut into: Receive<'_>) -> bool {
    let bytes = out.bytes();
    if bytes.is_empty() || !into.is_ready() {
        return false;
    }
    let space = into.space();
    let n = bytes.len().min(space.len());
    space[..n].copy_from_slice(&bytes[..n]);
    into.filled(n);
    out.sent(n);
    n > 0
}
