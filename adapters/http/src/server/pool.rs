//! `Pool`: equal parts of one buffer, for the bodies of requests and for the pages of output.

use core::ops::Range;

use mcp_proto::Buffer;

use crate::bytes::write_at;

/// Index that stands for no part.
pub(super) const NO_PART: u16 = u16::MAX;

/// Equal parts of one buffer. Each released part begins with the index of the next released part.
pub(super) struct Pool<'b> {
    bytes: Buffer<'b>,
    size: usize,
    /// Maximum number of parts.
    limit: u16,
    /// Number of parts that were taken at least once.
    used: u16,
    /// First released part.
    free: u16,
    /// Number of released parts.
    released: u16,
}

impl<'b> Pool<'b> {
    /// Divides the memory into parts of `size` bytes. A part has at least two bytes.
    pub(super) fn new(bytes: Buffer<'b>, size: usize) -> Pool<'b> {
        let size = size.max(2);
        let limit = bytes.limit().checked_div(size).and_then(|limit| u16::try_from(limit).ok());
        let limit = limit.unwrap_or(NO_PART).min(NO_PART - 1);
        Pool { bytes, size, limit, used: 0, free: NO_PART, released: 0 }
    }

    /// Creates a pool without parts.
    pub(super) fn empty() -> Pool<'b> {
        Pool::new((&mut []).into(), 0)
    }

    /// Returns the size of a part.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns the maximum number of parts.
    pub(super) fn limit(&self) -> usize {
        self.limit.into()
    }

    /// Returns the number of released parts.
    pub(super) fn released(&self) -> usize {
        self.released.into()
    }

    /// Returns the bytes of a part. Returns no bytes for [`NO_PART`].
    pub(super) fn part(&self, part: u16) -> &[u8] {
        self.bytes.bytes().get(self.range(part)).unwrap_or_default()
    }

    /// Returns the bytes of a part, for writing. Returns no bytes for [`NO_PART`].
    pub(super) fn part_mut(&mut self, part: u16) -> &mut [u8] {
        let range = self.range(part);
        self.bytes.bytes_mut().get_mut(range).unwrap_or_default()
    }

    /// Returns the position of a part. An index at or above the limit has no bytes, even in a buffer that is larger.
    fn range(&self, part: u16) -> Range<usize> {
        let start = usize::from(part).saturating_mul(self.size);
        let size = if part < self.limit { self.size } else { 0 };
        start..start.saturating_add(size)
    }

    /// Returns whether `count` parts can be taken, besides the released ones. Grows the buffer for these parts.
    pub(super) fn reserve(&mut self, count: usize) -> bool {
        let used = usize::from(self.used).saturating_add(count);
        used <= self.limit.into() && self.bytes.ensure(used.saturating_mul(self.size)).is_some()
    }

    /// Takes a released part, or the first part that was never taken. Returns `None` if all parts are in use, or if the
    /// buffer cannot grow.
    pub(super) fn take(&mut self) -> Option<u16> {
        if let Some(next) = self.part(self.free).first_chunk::<2>().copied() {
            self.released = self.released.saturating_sub(1);
            return Some(core::mem::replace(&mut self.free, u16::from_le_bytes(next)));
        }
        if !self.reserve(1) {
            return None;
        }
        let part = self.used;
        self.used = part.saturating_add(1);
        Some(part)
    }

    /// Returns a part to the pool.
    pub(super) fn release(&mut self, part: u16) {
        let next = self.free.to_le_bytes();
        if self.write(part, 0, &next) {
            self.free = part;
            self.released = self.released.saturating_add(1);
        }
    }

    /// Returns the first `length` bytes of a part.
    pub(super) fn get(&self, part: u16, length: usize) -> &[u8] {
        let part = self.part(part);
        part.get(..length).unwrap_or(part)
    }

    /// Writes bytes at an offset. Returns `false` without an effect if the bytes exceed the part.
    pub(super) fn write(&mut self, part: u16, at: usize, bytes: &[u8]) -> bool {
        write_at(self.part_mut(part), at, bytes).is_some()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{NO_PART, Pool};

    #[test]
    fn buffer_larger_than_all_parts_has_no_further_part() {
        let mut bytes = std::vec![0; 5 * (usize::from(NO_PART) + 1)];
        let mut pool = Pool::new((&mut bytes[..]).into(), 5);
        assert_eq!(pool.limit(), usize::from(NO_PART) - 1);
        assert_eq!((pool.part(NO_PART).len(), pool.part_mut(NO_PART).len()), (0, 0));
        assert_eq!([pool.take(), pool.take()], [Some(0), Some(1)]);
        pool.release(0);
        assert_eq!([pool.take(), pool.take()], [Some(0), Some(2)]);
    }
}
