//! Buffers of the device's server, all zeros to save flash.

use core::mem::MaybeUninit;

use mcp_proto::server::Slot;
use mcp_proto::{ConfigError, Server};

use super::CONFIG;

/// The maximum number of requests in flight, in both directions together.
const IN_FLIGHT: usize = 4;

/// The server's buffers. The sizes of the buffers are the limits of the server.
pub struct Memory {
    /// Receive buffer. Holds a request of 2026-07-28 that writes all settings of the device, if few of their characters
    /// need escapes.
    rx: [u8; 2048],
    /// Transmit buffer. Holds all settings, even if each byte needs an escape.
    tx: [u8; 2560],
    /// The id and the progress token of each request in flight.
    text: [u8; 64 * IN_FLIGHT],
    /// The subscribed URIs.
    watches: [u8; 128],
    /// The responses to a batch.
    answers: [u8; 1024],
}

impl Memory {
    /// Creates empty buffers.
    pub const fn new() -> Memory {
        Memory {
            rx: [0; 2048],
            tx: [0; 2560],
            text: [0; 64 * IN_FLIGHT],
            watches: [0; 128],
            answers: [0; 1024],
        }
    }

    /// Creates a server on these buffers, stored in `place`.
    ///
    /// # Errors
    /// A buffer is too small for the tables. The error depends only on constants, so a test detects it.
    // Not inlined, because `Server::init` needs a deep stack.
    #[inline(never)]
    pub fn server<'m>(&'m mut self, place: &'m mut Place<'m>) -> Result<&'m mut Server<'m>, ConfigError> {
        let Memory { rx, tx, text, watches, answers } = self;
        let server = Server::init(&mut place.server, &CONFIG, rx, tx)?;
        server.set_in_flight(place.slots.write([Slot::EMPTY; IN_FLIGHT]), text)?;
        server.set_subscription_buffer(watches);
        server.set_batch_buffer(answers);
        Ok(server)
    }
}

/// Uninitialized memory for the server and its request slots. Initialized values in a static would take flash, because
/// these values are not all zeros.
pub struct Place<'m> {
    server: MaybeUninit<Server<'m>>,
    slots: MaybeUninit<[Slot; IN_FLIGHT]>,
}

impl Place<'_> {
    /// Creates uninitialized memory.
    pub const fn new() -> Self {
        Place { server: MaybeUninit::uninit(), slots: MaybeUninit::uninit() }
    }
}
