//! `Buffer`: lent bytes, or a `Vec` that grows to a limit.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

#[cfg(feature = "alloc")]
use crate::time::Millis;

/// Buffer for sent or received bytes, or for other data of a connection, such as the responses to a batch.
///
/// A buffer is a slice that the caller lends. With the feature `alloc`, a buffer can also be a `Vec`. The `Vec` grows
/// up to a limit. A `Vec` of more than 16 KiB shrinks after many small messages, or when the connection is idle.
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
        /// Maximum number of used bytes since the buffer was last empty.
        used: usize,
        /// Number of consecutive uses of at most a quarter of the buffer.
        small_uses: u8,
        /// The time since which at most a quarter of the buffer is in use, or `BUSY`. The field is not an `Option`, so
        /// that the compiler stores the discriminant of the enum in a niche of the `Vec`. The pointer to the data then
        /// has the same offset in both variants.
        idle_since: Millis,
    },
}

/// Minimum size, in bytes, of the first allocation of a grown buffer, unless its limit is lower or the heap has less
/// space. Two buffers of this size are most of the memory of a new connection.
#[cfg(feature = "alloc")]
const FIRST_SIZE: usize = 1024;

/// Maximum size, in bytes, of a buffer that does not shrink.
///
/// A larger buffer has a deadline while it is idle. A thread that waits for input with a deadline needs one more system
/// call. This size is therefore so large that dozens of short messages at once do not exceed it.
#[cfg(feature = "alloc")]
const MAX_KEPT: usize = 16 * 1024;

/// Minimum size, in bytes, to which a buffer shrinks by itself.
#[cfg(feature = "alloc")]
const FLOOR: usize = 4096;

/// Number of consecutive small uses after which a grown buffer shrinks.
///
/// The number is high, so that a buffer with alternating message sizes does not shrink.
#[cfg(feature = "alloc")]
const SMALL_USES: u8 = 32;

/// Time after which a large buffer of an idle connection shrinks.
#[cfg(feature = "alloc")]
const IDLE_TIME: Millis = Millis::seconds(5);

/// The value of `idle_since` while no idle time runs.
#[cfg(feature = "alloc")]
const BUSY: Millis = Millis::MAX;

impl<'b> Buffer<'b> {
    /// Creates a heap buffer that grows on demand, up to `limit` bytes.
    ///
    /// For a transmit buffer, `limit` is the maximum size of one message. If several messages wait, the buffer can grow
    /// by another 64 KiB.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn grown(limit: usize) -> Buffer<'static> {
        Buffer { store: Store::Grown { bytes: Vec::new(), limit, used: 0, small_uses: 0, idle_since: BUSY } }
    }

    /// Returns the maximum number of bytes that the buffer can hold.
    #[must_use]
    pub fn limit(&self) -> usize {
        match &self.store {
            Store::Lent(bytes) => bytes.len(),
            #[cfg(feature = "alloc")]
            Store::Grown { limit, .. } => *limit,
        }
    }

    /// Returns whether the caller lent the buffer. The size of a lent buffer never changes.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        match &self.store {
            Store::Lent(_) => true,
            #[cfg(feature = "alloc")]
            Store::Grown { .. } => false,
        }
    }

    /// Returns the allocated bytes. For a lent buffer, these are all bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.store {
            Store::Lent(bytes) => bytes,
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, .. } => bytes,
        }
    }

    /// Returns the allocated bytes like [`bytes`](Buffer::bytes), but mutable.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.store {
            Store::Lent(bytes) => bytes,
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, .. } => bytes,
        }
    }

    /// Borrows the buffer for a shorter lifetime. A borrowed `Vec` can still grow.
    #[inline]
    pub(crate) fn reborrow(&mut self) -> BufferMut<'_> {
        match &mut self.store {
            Store::Lent(bytes) => BufferMut::Lent(bytes),
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, limit, .. } => BufferMut::Grown { bytes, limit: *limit },
        }
    }

    /// Provides at least `end` bytes. A transport calls this method to collect a message.
    ///
    /// Returns `None` if the [limit](Buffer::limit) is lower, or the heap is exhausted.
    pub fn ensure(&mut self, end: usize) -> Option<&mut [u8]> {
        self.reborrow().into_grown(end)
    }

    /// Raises the limit of a grown buffer by `bytes`. No effect on a lent buffer.
    pub(crate) fn extend_limit(&mut self, bytes: usize) {
        match &mut self.store {
            Store::Lent(_) => _ = bytes,
            #[cfg(feature = "alloc")]
            Store::Grown { limit, .. } => *limit = limit.saturating_add(bytes),
        }
    }

    /// Records that `used` bytes are in use.
    #[inline]
    pub(crate) fn record_use(&mut self, used: usize) {
        match &mut self.store {
            Store::Lent(_) => _ = used,
            #[cfg(feature = "alloc")]
            Store::Grown { used: max, .. } => *max = used.max(*max),
        }
    }

    /// Returns whether the buffer has grown beyond the size that it keeps when idle.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        match &self.store {
            Store::Lent(_) => false,
            Store::Grown { bytes, .. } => bytes.len() > MAX_KEPT,
        }
    }

    /// Shrinks the buffer if at most a quarter of it has been in use for [`IDLE_TIME`]. Returns the end of this time
    /// while it runs, otherwise `None`. `used` is the number of bytes that are in use now. The caller must call this
    /// method only for a [large](Buffer::is_large) buffer.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn shrink_by_deadline(&mut self, used: usize, now: Millis) -> Option<Millis> {
        match &mut self.store {
            Store::Lent(_) => None,
            Store::Grown { bytes, idle_since, .. } => shrink_by_deadline(bytes, used, idle_since, now),
        }
    }

    /// Frees the memory of a grown buffer behind the first `used` bytes.
    pub(crate) fn trim(&mut self, used: usize) {
        match &mut self.store {
            Store::Lent(_) => _ = used,
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, .. } => truncate(bytes, used),
        }
    }

    /// Records that the buffer is empty after a use of `used` bytes. Shrinks a grown buffer of more than 16 KiB after
    /// many consecutive uses of at most a quarter of it. No effect on a lent buffer.
    pub fn shrink_if_idle(&mut self, used: usize) {
        match &mut self.store {
            Store::Lent(_) => _ = used,
            #[cfg(feature = "alloc")]
            Store::Grown { bytes, used: max, small_uses, .. } => {
                // `record_use` may have recorded a larger size.
                let used = used.max(core::mem::take(max));
                if bytes.len() <= MAX_KEPT {
                    *small_uses = 0;
                } else {
                    shrink(bytes, used, small_uses);
                }
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

/// Mutable borrow of a [`Buffer`]. Unlike `&mut Buffer<'_>`, the type has only one lifetime.
#[derive(Debug)]
pub(crate) enum BufferMut<'a> {
    Lent(&'a mut [u8]),
    #[cfg(feature = "alloc")]
    Grown {
        bytes: &'a mut Vec<u8>,
        limit: usize,
    },
}

impl<'a> BufferMut<'a> {
    /// Provides at least `end` bytes. Returns `None` if the limit is lower or the heap is exhausted.
    pub(crate) fn ensure(&mut self, end: usize) -> Option<&mut [u8]> {
        match self {
            BufferMut::Lent(bytes) => (end <= bytes.len()).then_some(&mut **bytes),
            #[cfg(feature = "alloc")]
            BufferMut::Grown { bytes, limit } => {
                if end > bytes.len() {
                    grow(bytes, end, *limit)?;
                }
                Some(bytes.as_mut_slice())
            }
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            BufferMut::Lent(bytes) => bytes,
            #[cfg(feature = "alloc")]
            BufferMut::Grown { bytes, .. } => bytes,
        }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            BufferMut::Lent(bytes) => bytes,
            #[cfg(feature = "alloc")]
            BufferMut::Grown { bytes, .. } => bytes,
        }
    }

    /// Provides at least `end` bytes for the whole lifetime of the borrow. Returns `None` in the same cases as
    /// [`ensure`](BufferMut::ensure).
    pub(crate) fn into_grown(mut self, end: usize) -> Option<&'a mut [u8]> {
        self.ensure(end)?;
        match self {
            BufferMut::Lent(bytes) => Some(bytes),
            #[cfg(feature = "alloc")]
            BufferMut::Grown { bytes, .. } => Some(bytes),
        }
    }
}

/// Counts the consecutive uses of at most a quarter of a large buffer. Frees memory after [`SMALL_USES`] such uses.
#[cfg(feature = "alloc")]
#[cold]
fn shrink(bytes: &mut Vec<u8>, used: usize, small_uses: &mut u8) {
    if used > bytes.len() / 4 {
        *small_uses = 0;
        return;
    }
    *small_uses = small_uses.saturating_add(1);
    if *small_uses >= SMALL_USES {
        *small_uses = 0;
        truncate(bytes, size_for(used));
    }
}

#[cfg(feature = "alloc")]
#[cold]
fn shrink_by_deadline(
    bytes: &mut Vec<u8>,
    used: usize,
    idle_since: &mut Millis,
    now: Millis,
) -> Option<Millis> {
    if used > bytes.len() / 4 {
        *idle_since = BUSY;
        return None;
    }
    *idle_since = now.min(*idle_since);
    let deadline = idle_since.plus(IDLE_TIME);
    if deadline > now {
        return Some(deadline);
    }
    *idle_since = BUSY;
    truncate(bytes, size_for(used));
    None
}

/// Returns the size to which a buffer with `used` bytes shrinks.
#[cfg(feature = "alloc")]
fn size_for(used: usize) -> usize {
    FLOOR.max(used.saturating_mul(2))
}

#[cfg(feature = "alloc")]
fn truncate(bytes: &mut Vec<u8>, length: usize) {
    bytes.truncate(length);
    bytes.shrink_to(length);
}

/// Grows the buffer to at least `end` bytes. Returns `None` in the same cases as [`BufferMut::ensure`]. Not inlined,
/// because growth is rare, and the code of every write of output would contain a copy of this function.
#[cfg(feature = "alloc")]
#[cold]
#[inline(never)]
fn grow(bytes: &mut Vec<u8>, end: usize, limit: usize) -> Option<()> {
    if end > limit {
        return None;
    }
    // The buffer grows to twice its size, to a quarter more than `end` or to `FIRST_SIZE`, whichever is largest, but
    // not beyond the limit. It then rarely grows. The buffer grows no further, because `resize` zeroes all new bytes.
    let wanted = bytes.len().saturating_mul(2).max(end.saturating_add(end / 4)).max(FIRST_SIZE).min(limit);
    // A heap without space for `wanted` bytes may have space for `end` bytes.
    let size = [wanted, end].into_iter().find(|size| reserve(bytes, *size))?;
    bytes.resize(size, 0);
    Some(())
}

/// Allocates memory for `size` bytes. Returns `false` if the heap is exhausted.
#[cfg(feature = "alloc")]
fn reserve(bytes: &mut Vec<u8>, size: usize) -> bool {
    #[cfg(test)]
    if size > tests::HEAP.get() {
        return false;
    }
    bytes.try_reserve_exact(size.saturating_sub(bytes.len())).is_ok()
}

#[cfg(test)]
pub(crate) mod tests;
