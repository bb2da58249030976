//! Bytes that were read but not yet received by the state machine.

use mcp_proto::Receive;

/// Maximum size of the buffer, in bytes.
pub(crate) const READ_SIZE: usize = 64 * 1024;

/// Size of the first allocation, in bytes. Also the minimum space of the state machine for a read without this buffer.
pub(crate) const MIN_READ_SIZE: usize = 1024;

/// A buffer between the input stream and the state machine.
///
/// A buffer from [`new`](ReadBuffer::new) allocates memory only at its first use, because most pumps never use it.
/// After a read that fills the buffer, the size doubles, up to [`READ_SIZE`].
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    received: usize,
    filled: usize,
}

impl ReadBuffer {
    pub(crate) fn new() -> ReadBuffer {
        ReadBuffer { bytes: Vec::new(), received: 0, filled: 0 }
    }

    /// Creates a buffer of the largest size.
    pub(crate) fn large() -> ReadBuffer {
        ReadBuffer { bytes: vec![0; READ_SIZE], ..ReadBuffer::new() }
    }

    /// Returns `true` if the state machine has received all bytes.
    pub(crate) fn is_empty(&self) -> bool {
        self.received == self.filled
    }

    /// Returns the space for the next read. The buffer must be empty.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        if self.filled >= self.bytes.len() && self.bytes.len() < READ_SIZE {
            self.bytes.resize(MIN_READ_SIZE.max(self.bytes.len() * 2), 0);
        }
        &mut self.bytes
    }

    /// Records that `n` bytes were read into the space.
    pub(crate) fn filled(&mut self, n: usize) {
        (self.received, self.filled) = (0, n.min(self.bytes.len()));
    }

    /// Moves as many bytes as fit to the state machine.
    pub(crate) fn feed(&mut self, mut receive: Receive<'_>) {
        let (bytes, space) = (&self.bytes[self.received..self.filled], receive.space());
        let n = bytes.len().min(space.len());
        space[..n].copy_from_slice(&bytes[..n]);
        receive.filled(n);
        self.received += n;
    }
}
