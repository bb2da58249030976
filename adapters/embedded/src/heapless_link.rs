//! A link over two `heapless` queues.

use embedded_io::ErrorKind;
use heapless::spsc::{Consumer, Producer};

use crate::link::Link;

/// A [`Link`] over the main loop's ends of two [`heapless`] queues.
///
/// The other ends belong to interrupts or to another core. This type is for applications that already have such queues.
/// Other applications should use [`Queue`](crate::Queue), which needs no splitting, and reports bytes that did not fit.
///
/// ```
/// use heapless::spsc::Queue;
/// use mcp_proto::server::{Event, ServerConfig};
/// use mcp_proto::{Millis, Server};
/// use mcp_proto_embedded::{HeaplessLink, Pump, PumpStatus};
///
/// static CONFIG: ServerConfig = ServerConfig::new("board", "1.0.0");
/// let (mut received, mut to_send) = (Queue::<u8, 64>::new(), Queue::<u8, 64>::new());
/// let (mut interrupt, received) = received.split();
/// let (to_send, mut sends) = to_send.split();
///
/// let (mut rx, mut tx) = ([0; 512], [0; 1024]);
/// let mut server = Server::new(&CONFIG, &mut rx, &mut tx)?;
/// let mut link = HeaplessLink { received, to_send };
/// for byte in b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n" {
///     interrupt.enqueue(*byte).unwrap();
/// }
/// let mut pump = Pump::new();
/// while let PumpStatus::Moved = pump.step(&mut server, &mut link, Millis::ZERO) {}
/// assert_eq!(sends.dequeue(), Some(b'{'));
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
///
/// A `heapless` queue does not record bytes that did not fit. If an interrupt cannot enqueue a byte, it should enqueue
/// `CAN` (0x18) as soon as the queue has space again. The machine then discards the line that contains this byte.
///
/// `heapless` divides by the queue size, and the compiler cannot always prove that this size is not zero. The firmware
/// image may therefore contain a panic symbol. On processors without atomic instructions, such as RV32IMC, `heapless`
/// needs one of its `portable-atomic` features.
pub struct HeaplessLink<'q> {
    /// Received bytes, which an interrupt or another core enqueues.
    pub received: Consumer<'q, u8>,
    /// Bytes to send, which an interrupt or another core dequeues.
    pub to_send: Producer<'q, u8>,
}

impl Link for HeaplessLink<'_> {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        let arrived = core::iter::from_fn(|| self.received.dequeue());
        let count = space.iter_mut().zip(arrived).map(|(place, byte)| *place = byte).count();
        Ok((count > 0).then_some(count))
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        Ok(bytes.iter().take_while(|byte| self.to_send.enqueue(**byte).is_ok()).count())
    }
}

impl core::fmt::Debug for HeaplessLink<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HeaplessLink").finish_non_exhaustive()
    }
}
