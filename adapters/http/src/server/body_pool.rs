//! `Bodies`: a pool of equal parts, one for each body that arrives in pieces or waits for the server.

use mcp_proto::Buffer;

use crate::bytes::write_at;

/// Index that stands for no part.
pub(super) const NO_PART: u16 = u16::MAX;

/// Pool of parts in one buffer.
pub(super) struct Bodies<'b> {
    bytes: Buffer<'b>,
    size: usize,
    /// First released part. Each released part begins with the index of the next one.
    free: u16,
    /// Number of parts that were taken at least once.
    used: u16,
}

impl<'b> Bodies<'b> {
    /// Divides the memory into parts of `size` bytes.
    pub(super) fn new(bytes: Buffer<'b>, size: usize) -> Bodies<'b> {
        Bodies { bytes, size: size.max(2), free: NO_PART, used: 0 }
    }

    /// Creates a pool without parts.
    pub(super) fn empty() -> Bodies<'b> {
        Bodies::new((&mut []).into(), 0)
    }

    fn bytes_mut(&mut self, part: u16) -> &mut [u8] {
        let start = usize::from(part).saturating_mul(self.size);
        self.bytes.bytes_mut().get_mut(start..start.saturating_add(self.size)).unwrap_or_default()
    }

    /// Returns the first `length` bytes of a part.
    pub(super) fn get(&self, part: u16, length: usize) -> &[u8] {
        let start = usize::from(part).saturating_mul(self.size);
        self.bytes.bytes().get(start..start.saturating_add(length.min(self.size))).unwrap_or_default()
    }

    /// Takes a free part. Returns `None` if all parts are in use.
    pub(super) fn take(&mut self) -> Option<u16> {
        let part = self.free;
        if part == NO_PART {
            let (part, used) = (self.used, self.used.checked_add(1).filter(|used| *used < NO_PART)?);
            self.bytes.ensure(usize::from(used).saturating_mul(self.size))?;
            self.used = used;
            return Some(part);
        }
        let next = self.get(part, 2).first_chunk::<2>().copied()?;
        self.free = u16::from_le_bytes(next);
        Some(part)
    }

    /// Writes bytes at an offset. Returns `false` without an effect if the bytes exceed the part.
    pub(super) fn write(&mut self, part: u16, at: usize, bytes: &[u8]) -> bool {
        write_at(self.bytes_mut(part), at, bytes).is_some()
    }

    /// Returns a part to the pool.
    pub(super) fn release(&mut self, part: u16) {
        let next = self.free.to_le_bytes();
        if self.write(part, 0, &next) {
            self.free = part;
        }
    }
}
