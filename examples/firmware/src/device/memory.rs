//! The memory of a server with everything, in one place. It can be a static: it is all zeros, so it takes no flash.

use core::mem::MaybeUninit;

use mcp_proto::server::Slot;
use mcp_proto::{ConfigError, Server};

use super::INFO;

/// How many requests can be in flight, of the client's and of the board's own.
const IN_FLIGHT: usize = 4;

/// Buffers. Their sizes are the limits of the server.
pub struct Memory {
    /// The longest line: all settings at once, if hardly anything in them has to be escaped, and what clients of
    /// 2026-07-28 say of themselves.
    rx: [u8; 2048],
    /// The longest answer: all settings, even if each byte has to be escaped.
    tx: [u8; 2560],
    /// The id and the progress token of each request in flight.
    text: [u8; 64 * IN_FLIGHT],
    /// The URIs that are watched.
    watches: [u8; 128],
    /// The answers to a batch.
    answers: [u8; 1024],
}

impl Memory {
    /// All of it empty.
    pub const fn new() -> Memory {
        Memory {
            rx: [0; 2048],
            tx: [0; 2560],
            text: [0; 64 * IN_FLIGHT],
            watches: [0; 128],
            answers: [0; 1024],
        }
    }

    /// A server that works on it, put into `place`, with `slots` for what is in flight.
    ///
    /// # Errors
    /// None that a test would not find: it only depends on the tables and the sizes.
    // By itself, because it moves the server around, and nobody needs that part of the stack afterwards. In two steps,
    // because the first goes deep.
    #[inline(never)]
    pub fn server<'m>(&'m mut self, place: &'m mut Place<'m>) -> Result<&'m mut Server<'m>, ConfigError> {
        let Memory { rx, tx, text, watches, answers } = self;
        place.fill(Server::new(&INFO, rx, tx), text, watches, answers)
    }
}

/// Where the server will stand, and what it keeps of requests in flight. Neither is all zeros, so as parts of a static
/// they would take flash if they were there from the beginning.
pub struct Place<'m> {
    server: MaybeUninit<Server<'m>>,
    slots: MaybeUninit<[Slot; IN_FLIGHT]>,
}

impl Place<'_> {
    /// Nothing is there yet.
    pub const fn new() -> Self {
        Place { server: MaybeUninit::uninit(), slots: MaybeUninit::uninit() }
    }
}

impl<'m> Place<'m> {
    #[inline(never)]
    fn fill(
        &'m mut self,
        server: Result<Server<'m>, ConfigError>,
        text: &'m mut [u8],
        watches: &'m mut [u8],
        answers: &'m mut [u8],
    ) -> Result<&'m mut Server<'m>, ConfigError> {
        let slots = self.slots.write([Slot::EMPTY; IN_FLIGHT]);
        Ok(self
            .server
            .write(server?.in_flight(slots, text)?.subscription_buffer(watches).batch_buffer(answers)))
    }
}

impl Default for Place<'_> {
    fn default() -> Self {
        Place::new()
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new()
    }
}
