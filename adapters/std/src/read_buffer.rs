//! What was read at once, until the machine has taken it.

use mcp_proto::Receive;

/// How much is read at once.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Bytes on their way from the input to the machine.
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    fed: usize,
    filled: usize,
}

impl Chunk {
    pub(crate) fn new() -> Chunk {
        Chunk { bytes: vec![0; CHUNK], fed: 0, filled: 0 }
    }

    /// Whether the machine has taken all of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.fed == self.filled
    }

    /// Where to put what is read next. Nothing may be left.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// So much was read.
    pub(crate) fn filled(&mut self, n: usize) {
        (self.fed, self.filled) = (0, n.min(self.bytes.len()));
    }

    /// Gives the machine what it has room for.
    pub(crate) fn feed(&mut self, mut receive: Receive<'_>) {
        let (bytes, space) = (&self.bytes[self.fed..self.filled], receive.space());
        let n = bytes.len().min(space.len());
        space[..n].copy_from_slice(&bytes[..n]);
        receive.filled(n);
        self.fed += n;
    }
}
