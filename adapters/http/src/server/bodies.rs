//! `Bodies`: a pool of equal parts, one for each body that arrives in pieces or waits for the server.

/// Index that stands for no part.
pub(super) const NO_PART: u16 = u16::MAX;

/// Pool of parts in lent memory.
pub(super) struct Bodies<'b> {
    bytes: &'b mut [u8],
    size: usize,
    free: u16,
}

impl<'b> Bodies<'b> {
    /// Divides the memory into parts of `size` bytes.
    pub(super) fn new(bytes: &'b mut [u8], size: usize) -> Bodies<'b> {
        let size = size.max(2);
        let count = u16::try_from(bytes.len().checked_div(size).unwrap_or(0)).unwrap_or(NO_PART);
        let mut bodies = Bodies { bytes, size, free: NO_PART };
        for part in (0..count.min(NO_PART - 1)).rev() {
            bodies.release(part);
        }
        bodies
    }

    fn bytes_mut(&mut self, part: u16) -> &mut [u8] {
        let start = usize::from(part).saturating_mul(self.size);
        self.bytes.get_mut(start..start.saturating_add(self.size)).unwrap_or_default()
    }

    /// Returns the first `length` bytes of a part.
    pub(super) fn get(&self, part: u16, length: usize) -> &[u8] {
        let start = usize::from(part).saturating_mul(self.size);
        self.bytes.get(start..start.saturating_add(length.min(self.size))).unwrap_or_default()
    }

    /// Takes a free part.
    pub(super) fn take(&mut self) -> Option<u16> {
        let part = self.free;
        let next = self.get(part, 2).first_chunk::<2>().copied()?;
        self.free = u16::from_le_bytes(next);
        Some(part)
    }

    /// Writes bytes at an offset. Returns `false` if they exceed the part.
    pub(super) fn write(&mut self, part: u16, at: usize, bytes: &[u8]) -> bool {
        match self.bytes_mut(part).get_mut(at..at.saturating_add(bytes.len())) {
            Some(space) => {
                space.copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }

    /// Returns a part to the pool.
    pub(super) fn release(&mut self, part: u16) {
        let next = self.free.to_le_bytes();
        if self.write(part, 0, &next) {
            self.free = part;
        }
    }
}
