//! A server as it is set up: what the host lends, and what it wants before the first poll.

use crate::buffer::Buffer;
use crate::error::ConfigError;
use crate::framing::LineDecoder;
use crate::peer::keep_alive::KeepAlive;
use crate::peer::observer::Observer;
use crate::peer::slots::InFlight;
use crate::peer::transmit_buffer::TransmitBuffer;
use crate::server::batch::Batch;
use crate::server::features::subscriptions::registry::SubscriptionRegistry;
use crate::server::keep_alive::PINGER;
use crate::server::min_buffer_size::measure;
use crate::server::server_state::ServerState;
use crate::server::{InboundRequest, Server, ServerConfig, Slot};

/// No slot gives an id less than this many bytes.
const SHORTEST_ID: usize = 8;

impl<'b> Server<'b> {
    /// A server that works on these buffers: slices of the host's, or `Buffer::grown` (with `alloc`).
    ///
    /// A line that is longer than `rx` is refused, and so is an answer that is longer than `tx`.
    ///
    /// # Errors
    /// A buffer is too small for what the machine itself has to read and write, or the catalogue is not valid.
    pub fn new(
        info: &'b ServerConfig<'b>,
        rx: impl Into<Buffer<'b>>,
        tx: impl Into<Buffer<'b>>,
    ) -> Result<Server<'b>, ConfigError> {
        let (rx, output) = (rx.into(), TransmitBuffer::new(tx.into()));
        // Before there is a server, which is large: this goes deep, and setting up moves it from place to place.
        check(info, info.limits.id, rx.limit(), &output)?;
        Ok(Server::unchecked(info, rx, output))
    }

    #[inline(never)]
    fn unchecked(info: &'b ServerConfig<'b>, rx: Buffer<'b>, output: TransmitBuffer<'b>) -> Server<'b> {
        let limits = info.limits;
        Server { input: LineDecoder::new(rx, limits.depth, limits.id), core: ServerState::new(info, output) }
    }

    fn checked(self) -> Result<Server<'b>, ConfigError> {
        check(self.core.info, self.core.id_limit(), self.input.limit(), &self.core.output)?;
        Ok(self)
    }

    /// Lends room for requests in flight: one that is answered later in each slot, with an equal part of `text` for its
    /// id and its progress token, or one of the server's own. Without it, [`Call::defer`](crate::server::Call::defer) hands every call back, and
    /// nothing can be [asked](Server::request).
    ///
    /// # Errors
    /// [`ConfigError::TextTooSmall`]: the part of a slot holds not even an id of 8 bytes.
    pub fn in_flight(mut self, slots: &'b mut [Slot], text: &'b mut [u8]) -> Result<Server<'b>, ConfigError> {
        let needed = slots.len().saturating_mul(SHORTEST_ID);
        self.set_in_flight(InFlight::lent(slots, text), needed)?;
        Ok(self)
    }

    /// The same on the heap: room for `limit` requests in flight. It grows as it is needed.
    ///
    /// # Errors
    /// None today.
    #[cfg(feature = "alloc")]
    pub fn in_flight_grown(mut self, limit: usize) -> Result<Server<'b>, ConfigError> {
        self.set_in_flight(InFlight::grown(limit, self.core.id_limit().saturating_mul(2)), 0)?;
        Ok(self)
    }

    /// The seed stays, whichever is set first. `needed`: how much text there has to be.
    #[inline(never)]
    fn set_in_flight(
        &mut self,
        mut table: InFlight<'b, InboundRequest>,
        needed: usize,
    ) -> Result<(), ConfigError> {
        table.set_seed(self.core.in_flight.seed());
        self.core.in_flight = table;
        let part = self.core.in_flight.text_limit();
        if self.core.in_flight.limit() > 0 {
            if part < SHORTEST_ID {
                return Err(ConfigError::TextTooSmall { needed });
            }
            self.input.set_id_limit(self.core.id_limit());
        }
        Ok(())
    }

    /// Lends room for the URIs of the resources that clients watch, with [`Subscriptions`](crate::server::Subscriptions): each takes its length and 11
    /// bytes. A resource that finds no room is refused (`resources/subscribe`, -32603), or left out of what
    /// `subscriptions/listen` acknowledges. Without it, none can be watched.
    #[must_use]
    pub fn subscription_buffer(mut self, uris: impl Into<Buffer<'b>>) -> Server<'b> {
        self.core.watches = SubscriptionRegistry::new(uris.into());
        self
    }

    /// Takes batches, several messages in one JSON array, in sessions of `2025-03-26`, the only revision that has them;
    /// `answers` is room for the answers until they leave as one message, and for 24 bytes of the machine's own. Servers that speak that revision should call
    /// this: otherwise a batch gets one error (-32600), and nothing of it is done.
    ///
    /// The host hears of the members as of lines, one after the other. The line of their answers is no longer than any
    /// answer may be, so a batch is refused as a whole (-32600, naming how many there may be) if not even the smallest
    /// errors for its requests would fit into that or into `answers`: some 180 bytes for each, and those of the longest
    /// id. A member's answer may use what those of the others leave.
    ///
    /// A member may be [deferred](crate::server::Call::defer): the array then stays open, and everything else is served.
    /// Members of another batch that comes meanwhile cannot be deferred, so that at most one is open; for both to have
    /// all the room, lend twice of what an answer may have. A member that is cancelled is left out. What else is sent
    /// comes before the array, or behind it, and never waits for it.
    ///
    /// `initialize` cannot be in a batch (-32600), nor can requests of the stateless era.
    ///
    /// Specification: 2025-03-26, *Base protocol*, *Batching*.
    #[must_use]
    pub fn batch_buffer(mut self, answers: impl Into<Buffer<'b>>) -> Server<'b> {
        self.core.batch = Batch::new(answers.into());
        self
    }

    /// Hashes the ids of clients with this seed. Give a random one where a client may want to slow the server down.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Server<'b> {
        self.core.in_flight.set_seed(seed);
        self
    }

    /// Lets each answer use at most `bytes` of the transmit buffer, so that several can wait there and leave in one
    /// write. If this is not called, an answer may use the whole of a lent buffer, which therefore drains first.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: the machine's own messages need more.
    pub fn reply_room(mut self, bytes: usize) -> Result<Server<'b>, ConfigError> {
        self.core.output.set_reply_room(bytes);
        self.checked()
    }

    /// Takes and gives whole messages instead of lines: for WebSockets, HTTP bodies, queues.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: each message takes some bytes more in the transmit buffer.
    pub fn message_mode(mut self) -> Result<Server<'b>, ConfigError> {
        self.input.use_frames();
        self.core.output.use_frames();
        self.checked()
    }

    /// Shows every message to `observer`.
    #[must_use]
    pub fn observe(mut self, observer: &'b mut (dyn Observer + Send + 'b)) -> Server<'b> {
        self.core.output.set_observer(observer);
        self
    }

    /// Pings a client of the handshake era when nothing was heard of it for a while.
    #[must_use]
    pub fn keep_alive(mut self, pings: KeepAlive) -> Server<'b> {
        self.core.keep_alive.set(pings);
        self.core.pinging = Some(&PINGER);
        self
    }
}

/// Whether the machine's own messages have room.
#[inline(never)]
fn check(
    info: &ServerConfig<'_>,
    id_limit: usize,
    rx: usize,
    output: &TransmitBuffer<'_>,
) -> Result<(), ConfigError> {
    let needed = LineDecoder::needed(id_limit);
    if rx < needed {
        return Err(ConfigError::RxTooSmall { needed });
    }
    let needed = measure(info)?.saturating_add(id_limit).saturating_add(output.overhead());
    if output.reply_room() < needed {
        return Err(ConfigError::TxTooSmall { needed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_kept_whichever_is_set_first() {
        static INFO: ServerConfig<'_> = ServerConfig::new("s", "1");
        for seed_first in [false, true] {
            let (mut rx, mut tx, mut slots, mut text) = ([0; 1024], [0; 1024], [Slot::EMPTY; 2], [0; 64]);
            let server = Server::new(&INFO, &mut rx, &mut tx).unwrap();
            let server = if seed_first {
                server.seed(7).in_flight(&mut slots, &mut text).unwrap()
            } else {
                server.in_flight(&mut slots, &mut text).unwrap().seed(7)
            };
            assert_eq!(server.core.in_flight.seed(), 7, "seed first: {seed_first}");
        }
    }
}
