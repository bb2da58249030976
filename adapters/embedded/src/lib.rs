//! Pumps without a heap for UARTs and sockets, over [`embedded_io`] and [`embedded_io_async`].
//!
//! A pump polls a machine, which is an MCP server or client of [`mcp_proto`], and moves the machine's bytes. The crate
//! needs no heap, contains no `unsafe` code, and never panics.
//!
//! | link | method | requirements |
//! |---|---|---|
//! | polled | [`Pump::step`], in a main loop with other work | [`Link`]: `Read`, `ReadReady`, `Write`, `WriteReady` |
//! | driven by interrupts | [`Pump::step`] | a [`Queue`] for each direction |
//! | blocking | [`Pump::run`] | `Read` + `Write` |
//! | async | [`Pump::wait`], full duplex on any executor | `Read` + `Write` of `embedded-io-async`, and a [`Timer`] |
//!
//! [`Halves`] joins a receiver and a transmitter into one link, and [`WriteBlocks`] replaces a missing `WriteReady`.
//!
//! Each method in the table returns a [`PumpStatus`]. `run` and `wait` usually return because the machine has an event.
//! Two statuses are specific to serial lines, which can lose bytes and have no connections:
//!
//! - **Lost bytes.** After an overrun or a framing error, the pump returns [`PumpStatus::LineBroken`], and the session
//!   continues. The machine discards at most the current line of JSON. If the received part of this line shows a
//!   request and its id, a server sends an error response at the end of the line.
//! - **New clients.** With [session marks](Pump::session_marks), a client that sends such a mark starts a new session,
//!   even in the middle of an old line. The pump then returns [`PumpStatus::NewSession`], and the caller resets the
//!   machine. The reset drops the old session, its calls in flight, and its unsent output.
//!
//! The pumps classify the errors of a link by their kind:
//!
//! - `NotConnected`, `BrokenPipe`, `ConnectionReset`, `ConnectionAborted`, `ConnectionRefused` and `WriteZero` mean
//!   that the link is closed.
//! - `TimedOut` means that no byte has moved.
//! - All other errors, including `Interrupted`, are temporary. A read with such an error has lost bytes. The pump
//!   repeats a write or flush with such an error. As an exception, [`HttpPump`] closes the connection.
//!
//! A flush that ends with `Unsupported` is complete, because the driver has no output to flush.
//!
//! The following example is for an interrupt-driven UART without flow control. If the queue `RECEIVED` is full, a byte
//! that arrives is lost, and the machine discards the line. To lose fewer bytes, an interrupt handler can leave bytes
//! in the UART while the queue has no space, as in the example of [`Queue`].
//!
//! ```
//! use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
//! use mcp_proto::{Millis, ConfigError, Server};
//! use mcp_proto_embedded::{Halves, Pump, Queue, SESSION_MARK, PumpStatus};
//!
//! static RECEIVED: Queue<256> = Queue::new();
//! static TO_SEND: Queue<64> = Queue::new();
//!
//! static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
//! static CONFIG: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&TOOLS]);
//!
//! /// The interrupt handler. The parameters are the contents of the UART's registers. Returns the next byte to send.
//! fn uart(arrived: Option<u8>, overrun: bool, is_break: bool) -> Option<u8> {
//!     if overrun {
//!         RECEIVED.lost();
//!     }
//!     match arrived {
//!         _ if is_break => _ = RECEIVED.push_all(SESSION_MARK),
//!         Some(byte) => _ = RECEIVED.push(byte),
//!         None => {}
//!     }
//!     TO_SEND.pop()
//! }
//!
//! fn main_loop(now: fn() -> Millis, sleep: fn()) -> Result<(), ConfigError> {
//!     let (mut rx, mut tx) = ([0; 512], [0; 1024]);
//!     let mut server = Server::new(&CONFIG, &mut rx, &mut tx)?;
//!     let mut pump = Pump::new().session_marks();
//!     let mut link = Halves(&RECEIVED, &TO_SEND);
//!     loop {
//!         match pump.step(&mut server, &mut link, now()) {
//!             PumpStatus::Event => match server.event() {
//!                 Some(Event::Call(call)) => call.text("Hello!"),
//!                 _ => {}
//!             },
//!             PumpStatus::NewSession => server.reset(),
//!             PumpStatus::Closed => {
//!                 pump.new_session();
//!                 server.reset();
//!             }
//!             // Sleep until the next interrupt. An interrupt between the step and the sleep must prevent the sleep.
//!             PumpStatus::Idle(_) => sleep(),
//!             _ => {}
//!         }
//!         // `TO_SEND` may contain bytes now: enable the transmit interrupt.
//!     }
//! }
//! ```
//!
//! # A client
//!
//! A client needs the same loop. [`PumpStatus::NewSession`] means that the server has restarted. After this status and
//! after [`PumpStatus::Closed`], the caller calls one of two methods, so that the client connects again:
//!
//! - `Client::reconnect` continues subscriptions and tasks of `2026-07-28`. Other requests fail with an event each.
//! - `Client::reset` drops all requests without events. The application must then also forget its tickets.
//!
//! ```
//! use mcp_proto::client::{ClientConfig, Event, Options, Slot};
//! use mcp_proto::{Client, ConfigError, Millis, Outcome};
//! use mcp_proto_embedded::{Link, Pump, PumpStatus};
//!
//! static CONFIG: ClientConfig = ClientConfig::new("panel", "1.0.0");
//!
//! fn main_loop(uart: &mut dyn Link, now: fn() -> Millis, show: fn(&str)) -> Result<(), ConfigError> {
//!     // `rx` must hold the longest response of the server, and `text` 16 bytes for each slot.
//!     let (mut rx, mut tx, mut slots, mut text) = ([0; 1024], [0; 768], [Slot::EMPTY; 1], [0; 16]);
//!     let mut client = Client::new(&CONFIG, &mut rx, &mut tx)?.in_flight(&mut slots, &mut text);
//!     let mut pump = Pump::new().session_marks();
//!     loop {
//!         match pump.step(&mut client, uart, now()) {
//!             PumpStatus::Event => match client.event() {
//!                 Some(Event::Connected(_)) => {
//!                     _ = client.call_json("temperature", "{}", Options::DEFAULT);
//!                 }
//!                 Some(Event::Response(response)) => match response.outcome() {
//!                     Outcome::Result(result) => {
//!                         let content = result.get("structuredContent");
//!                         show(content.and_then(|content| content.get("celsius")?.number()).unwrap_or("?"));
//!                     }
//!                     // An error of the server, or a failure such as a timeout or a restart of the server.
//!                     _ => show("?"),
//!                 },
//!                 _ => {}
//!             },
//!             PumpStatus::NewSession => client.reconnect(),
//!             // The server does not respond, or the link is closed.
//!             PumpStatus::Closed => {
//!                 pump.new_session();
//!                 client.reconnect();
//!             }
//!             PumpStatus::Idle(_) => { /* sleep until an interrupt or the deadline */ }
//!             _ => {}
//!         }
//!     }
//! }
//! ```
//!
//! # Features
//!
//! - `defmt` and `log` enable log messages for link errors, new sessions and closed connections, through the crate of
//!   the same name. `defmt` also implements `defmt::Format` for [`PumpStatus`] and for types of `mcp_proto`, such as
//!   errors, tickets and levels. Without these two features, the image contains no logging code.
//! - `heapless` adds `HeaplessLink`, a link over two queues of that crate.
//! - `http` adds [`HttpPump`] for MCP over HTTP.
//! - `framed` adds [`FramedPump`] for serial lines that damage bytes.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(elided_lifetimes_in_paths)]
// The peer controls the input of this code. With a panic, the peer could stop the board.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented,
        clippy::arithmetic_side_effects
    )
)]

mod asynch;
mod blocking;
#[cfg(feature = "framed")]
mod framed;
#[cfg(feature = "heapless")]
mod heapless_link;
#[cfg(feature = "http")]
mod http;
mod link;
mod log;
mod polled;
mod pump;
mod queue;
mod status;

pub use crate::asynch::Timer;
#[cfg(feature = "framed")]
pub use crate::framed::FramedPump;
#[cfg(feature = "heapless")]
pub use crate::heapless_link::HeaplessLink;
#[cfg(feature = "http")]
pub use crate::http::{HttpPump, HttpShared, HttpStatus};
pub use crate::link::{Halves, Link, WriteBlocks};
pub use crate::pump::{Pump, SESSION_MARK};
pub use crate::queue::{BytesLost, Queue};
pub use crate::status::PumpStatus;
