//! Queues of `heapless` as a link.

use embedded_io::ErrorKind;
use heapless::spsc::{Consumer, Producer};

use crate::link::Link;

/// The main loop's ends of two queues of [`heapless`], whose other ends belong to interrupts, or to another core: for those
/// who have such queues already. A [`Queue`](crate::Queue) needs no splitting, and reports what did not fit.
///
/// ```
/// use heapless::spsc::Queue;
/// use mcp_proto::server::{Event, ServerConfig};
/// use mcp_proto::{Millis, Server};
/// use mcp_proto_embedded::{HeaplessLink, Pump, PumpStatus};
///
/// static INFO: ServerConfig = ServerConfig::new("board", "1.0.0");
/// let (mut received, mut to_send) = (Queue::<u8, 64>::new(), Queue::<u8, 64>::new());
/// let (mut interrupt, received) = received.split();
/// let (to_send, mut sends) = to_send.split();
///
/// let (mut rx, mut tx) = ([0; 512], [0; 1024]);
/// let mut server = Server::new(&INFO, &mut rx, &mut tx)?;
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
/// The queues of `heapless` know nothing of bytes that found no room: an interrupt that fails to put one in should put in
/// the byte `CAN` (0x18) once there is room again, which makes the machine give the line up. An image with such queues may
/// have a panic symbol: the remainder of a division by their size, which the compiler does not always see. On processors without atomic
/// instructions, such as RV32IMC, `heapless` needs one of its features `portable-atomic`.
pub struct HeaplessLink<'q> {
    /// What interrupts have received.
    pub received: Consumer<'q, u8>,
    /// What interrupts are to send.
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
