//! [`mcp_proto`] over [`embedded_io`] and [`embedded_io_async`]: pumps for the UARTs and sockets of boards, for servers and
//! clients alike. No heap, no `unsafe`, nothing that can panic.
//!
//! | the link | the way | what it needs |
//! |---|---|---|
//! | is asked whether it is ready | [`Pump::step`], in a main loop that has other work | [`Link`]: `Read` + `ReadReady` + `Write` + `WriteReady`; [`Halves`] joins two drivers, [`WriteBlocks`] does without `WriteReady` |
//! | is filled and emptied by interrupts | the same | a [`Queue`] for each direction |
//! | blocks | [`Pump::run`] | `Read` + `Write` |
//! | is async | [`Pump::wait`], full duplex on any executor | `Read` + `Write` of `embedded-io-async`, and a [`Timer`] |
//!
//! What comes back is a [`PumpStatus`]: mostly that the machine has an event. Beyond that it is what only a line without
//! connections has:
//!
//! - **Bytes get lost.** An overrun or a framing error costs the line that it comes in. Its request gets an error at once if
//!   its id was read before, and the connection goes on: [`PumpStatus::LineBroken`].
//! - **Clients come and go unseen.** With a [session mark](Pump::session_mark) a new one says that it is new, wherever the
//!   old one was: [`PumpStatus::NewSession`]. The host resets the machine, and nothing of the old session is left: no call in
//!   flight, no half of an answer.
//!
//! Errors are told apart by their kind. `NotConnected`, `BrokenPipe`, `ConnectionReset`, `ConnectionAborted`,
//! `ConnectionRefused` and `WriteZero` mean that the link is gone. `TimedOut` means that nothing was there. With any other,
//! `Interrupted` as well, bytes were lost if it was a read; a write is tried again.
//!
//! The board of an interrupt-driven UART:
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
//! static INFO: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&TOOLS]);
//!
//! /// The interrupt of the UART, with what its registers say.
//! fn uart(arrived: Option<u8>, overrun: bool, is_break: bool) -> Option<u8> {
//!     if overrun {
//!         RECEIVED.lost();
//!     }
//!     match arrived {
//!         _ if is_break => _ = RECEIVED.push(SESSION_MARK),
//!         Some(byte) => _ = RECEIVED.push(byte),
//!         None => {}
//!     }
//!     TO_SEND.pop()
//! }
//!
//! fn main_loop(now: fn() -> Millis, sleep: fn()) -> Result<(), ConfigError> {
//!     let (mut rx, mut tx) = ([0; 512], [0; 1024]);
//!     let mut server = Server::new(&INFO, &mut rx, &mut tx)?;
//!     let mut pump = Pump::new().session_mark(SESSION_MARK);
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
//!             // Until the next interrupt. One that has come since then must not be slept over: see your processor's manual.
//!             PumpStatus::Idle(_) => sleep(),
//!             _ => {}
//!         }
//!         // Bytes may be in `TO_SEND` now: enable the interrupt of the transmitter.
//!     }
//! }
//! ```
//!
//! Features: `defmt` and `log` tell one of these of faults of the link and changes of its state. Without them there is
//! nothing of it in the image. `heapless` makes a link of the queues of that crate.
#![no_std]
#![deny(elided_lifetimes_in_paths)]
// A peer decides what these lines see, so none of them may be able to panic.
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
#[cfg(feature = "heapless")]
mod heapless_link;
mod link;
mod log;
mod polled;
mod pump;
mod queue;
mod status;

pub use crate::asynch::Timer;
#[cfg(feature = "heapless")]
pub use crate::heapless_link::HeaplessLink;
pub use crate::link::{Halves, Link, WriteBlocks};
pub use crate::pump::{Pump, SESSION_MARK};
pub use crate::queue::{BytesLost, Queue};
pub use crate::status::PumpStatus;
