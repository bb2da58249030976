//! Bytes that the caller lends, or a `Vec` that grows to a limit: the only room that knows about the heap.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// A buffer for one direction of a connection: a slice that the caller lends, or (feature `alloc`) a `Vec` that
/// grows to a limit and shrinks again when it is idle.
///
/// ```
/// use mcp_proto::Buffer;
/// let mut bytes = [0u8; 512];
/// let lent: Buffer<'_> = (&mut bytes).into();
/// assert_eq!(lent.limit(), 512);
/// ```
#[derive(Debug)]
pub struct Buffer<'b> {
    store: Store<'b>,
}

#[derive(Debug)]
enum Store<'b> {
    Lent(&'b mut [u8]),
    #[cfg(feature = "alloc")]
    Grown {
        bytes: Vec<u8>,
        limit: usize,
        /// The most of it that was used since it was empty.
        used: usize,
        /// How many times in a row it was emptied having used little of its size.
        calm: u8,
    },
}

/// A grown buffer keeps this many bytes when it is idle.
#[cfg(feature = "alloc")]
const FLOOR: usize = 4096;

/// It shrinks after it was mostly unused this many times in a row: often enough not to thrash, rarely enough
/// that a stream of large messages allocates once.
#[cfg(feature = "alloc")]
const CALM: u8 = 32;

impl<'b> Buffer<'b> {
    /// A buffer on the heap that grows as it is needed, to `limit` bytes at most.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn grown(limit: usize) -> Buffer<'static> {
        Buffer { store: Store::Grown { bytes: Vec::new(), limit, used: 0, calm: 0 } }
    }

    /// The most bytes that it can hold.
    #[must_use]
    pub fn limit(&self) -> usize {
        match &self.store {
            Store::Lent(bytes) => bytes.len(),
            #[cfg(feature = "alloc")]
            Store::Grown { limit, .. } => *limit,
        }
    }

    /// Whether the caller lent it: its size never changes.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        match &self.store {
            Store::Lent(_) => true,
            #[cfg(feature = "alloc")]
            Store::Grown { .. } => false,
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.store {
            Store::Lent(bytes) => bytes,
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, .. } => bytes,
        }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.store {
            Store::Lent(bytes) => bytes,
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, .. } => bytes,
        }
    }

    /// The same bytes for a shorter time, with the right to grow: what a token carries.
    #[inline]
    pub(crate) fn room(&mut self) -> Room<'_> {
        match &mut self.store {
            Store::Lent(bytes) => Room::Lent(bytes),
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, limit, .. } => Room::Grown { bytes, limit: *limit },
        }
    }

    /// Raises the limit of a grown buffer. A lent one stays as it is.
    pub(crate) fn extend_limit(&mut self, bytes: usize) {
        match &mut self.store {
            Store::Lent(_) => _ = bytes,
            #[cfg(feature = "alloc")]
            Store::Grown { limit, .. } => *limit = limit.saturating_add(bytes),
        }
    }

    /// Says that so much of it is in use.
    #[inline]
    pub(crate) fn note(&mut self, used: usize) {
        match &mut self.store {
            Store::Lent(_) => _ = used,
            #[cfg(feature = "alloc")]
            Store::Grown { used: most, .. } => *most = used.max(*most),
        }
    }

    /// Says that the buffer is empty after `used` of its bytes had been in use, or what was noted before: one that is much
    /// larger than what it is used for gives memory back.
    pub(crate) fn settle(&mut self, used: usize) {
        match &mut self.store {
            Store::Lent(_) => _ = used,
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, used: most, calm, .. } => {
                let used = used.max(core::mem::take(most));
                if bytes.len() <= FLOOR || used > bytes.len() / 4 {
                    *calm = 0;
                    return;
                }
                shrink(bytes, used, calm);
            }
        }
    }
}

impl<'b> From<&'b mut [u8]> for Buffer<'b> {
    fn from(bytes: &'b mut [u8]) -> Self {
        Buffer { store: Store::Lent(bytes) }
    }
}

impl<'b, const N: usize> From<&'b mut [u8; N]> for Buffer<'b> {
    fn from(bytes: &'b mut [u8; N]) -> Self {
        Buffer { store: Store::Lent(bytes) }
    }
}

/// A [`Buffer`] that a token borrows: one lifetime, whatever the buffer's own is.
#[derive(Debug)]
pub(crate) enum Room<'a> {
    Lent(&'a mut [u8]),
    #[cfg(feature = "alloc")]
    Grown {
        bytes: &'a mut Vec<u8>,
        limit: usize,
    },
    /// Nothing is stored: whoever writes here wants to know how long it would be.
    Measure,
}

impl<'a> Room<'a> {
    /// Makes `end` bytes available, if the limit allows it. `None`: it does not, or the heap is exhausted.
    pub(crate) fn ensure(&mut self, end: usize) -> Option<&mut [u8]> {
        match self {
            Room::Lent(bytes) => (end <= bytes.len()).then_some(&mut **bytes),
            #[cfg(feature = "alloc")]
            Room::Grown { bytes, limit } => {
                if end > bytes.len() {
                    grow(bytes, end, *limit)?;
                }
                Some(bytes.as_mut_slice())
            }
            Room::Measure => None,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Room::Lent(bytes) => bytes,
            #[cfg(feature = "alloc")]
            Room::Grown { bytes, .. } => bytes,
            Room::Measure => &[],
        }
    }

    /// At least `end` bytes, for as long as the token lives. `None`: there cannot be that many.
    pub(crate) fn into_grown(mut self, end: usize) -> Option<&'a mut [u8]> {
        self.ensure(end)?;
        match self {
            Room::Lent(bytes) => Some(bytes),
            #[cfg(feature = "alloc")]
            Room::Grown { bytes, .. } => Some(bytes),
            Room::Measure => None,
        }
    }
}

/// Gives memory back, if this was so often enough.
#[cfg(feature = "alloc")]
#[cold]
fn shrink(bytes: &mut Vec<u8>, used: usize, calm: &mut u8) {
    *calm = calm.saturating_add(1);
    if *calm >= CALM {
        *calm = 0;
        let keep = FLOOR.max(used.saturating_mul(2));
        bytes.truncate(keep);
        bytes.shrink_to(keep);
    }
}

/// Seldom, and away from what happens for each piece of output.
#[cfg(feature = "alloc")]
#[cold]
#[inline(never)]
fn grow(bytes: &mut Vec<u8>, end: usize, limit: usize) -> Option<()> {
    if end > limit {
        return None;
    }
    // Doubled, so that it seldom happens; but what one large text needs and a little more is enough, because all of it is
    // filled with zeros.
    let wanted = bytes.len().saturating_mul(2).max(end.saturating_add(end / 4)).max(FLOOR).min(limit);
    bytes.try_reserve(wanted.saturating_sub(bytes.len())).ok()?;
    bytes.resize(wanted, 0);
    Some(())
}

#[cfg(test)]
mod tests;
