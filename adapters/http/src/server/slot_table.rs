//! `Slots`: a table in lent memory, or one that grows to a limit.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Storage of a table of the [`HttpServer`](super::HttpServer): [`ExchangeSlot`](super::ExchangeSlot)s or
/// [`SessionSlot`](super::SessionSlot)s.
///
/// The storage is a slice that the caller lends. With the feature `alloc`, the storage can also be a `Vec` that grows
/// to a limit.
///
/// ```
/// use mcp_proto_http::server::{ExchangeSlot, Slots};
/// let mut exchanges = [ExchangeSlot::EMPTY; 8];
/// let lent: Slots<'_, ExchangeSlot> = (&mut exchanges).into();
/// assert_eq!(lent.limit(), 8);
/// ```
#[derive(Debug)]
pub struct Slots<'b, T> {
    store: Store<'b, T>,
}

#[derive(Debug)]
enum Store<'b, T> {
    Lent(&'b mut [T]),
    #[cfg(feature = "alloc")]
    Grown {
        slots: Vec<T>,
        limit: usize,
    },
}

/// Number of slots after the first growth of a table, unless the limit is lower.
#[cfg(feature = "alloc")]
const FIRST_GROWTH: usize = 16;

/// The maximum number of slots. The key of a session is its index plus 1, and the core server reserves the key
/// `u16::MAX`.
const MAX_SLOTS: usize = 65_534;

impl<T: Copy> Slots<'_, T> {
    /// Creates a table on the heap that grows on demand, up to `limit` slots, at most 65,534.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn grown(limit: usize) -> Slots<'static, T> {
        Slots { store: Store::Grown { slots: Vec::new(), limit: limit.min(MAX_SLOTS) } }
    }

    /// Returns the maximum number of slots.
    #[must_use]
    pub fn limit(&self) -> usize {
        match &self.store {
            Store::Lent(slots) => slots.len().min(MAX_SLOTS),
            #[cfg(feature = "alloc")]
            Store::Grown { limit, .. } => *limit,
        }
    }

    pub(super) fn as_slice(&self) -> &[T] {
        match &self.store {
            Store::Lent(slots) => slots.get(..slots.len().min(MAX_SLOTS)).unwrap_or_default(),
            #[cfg(feature = "alloc")]
            Store::Grown { slots, .. } => slots,
        }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        let limit = self.limit();
        match &mut self.store {
            Store::Lent(slots) => slots.get_mut(..limit).unwrap_or_default(),
            #[cfg(feature = "alloc")]
            Store::Grown { slots, .. } => slots,
        }
    }

    /// Frees all slots: overwrites the slots of a lent table with `empty`, and removes the slots of a growing table.
    pub(super) fn reset(&mut self, empty: T) {
        match &mut self.store {
            Store::Lent(slots) => slots.fill(empty),
            #[cfg(feature = "alloc")]
            Store::Grown { slots, .. } => slots.clear(),
        }
    }

    /// Adds slots to a full table. Returns the previous number of slots, or `None` if the table cannot grow.
    pub(super) fn grow(&mut self, empty: T) -> Option<usize> {
        match &mut self.store {
            Store::Lent(_) => {
                let _ = empty;
                None
            }
            #[cfg(feature = "alloc")]
            Store::Grown { slots, limit } => {
                let count = slots.len();
                let wanted = count.saturating_mul(2).max(FIRST_GROWTH).min(*limit);
                if wanted <= count || slots.try_reserve(wanted.saturating_sub(count)).is_err() {
                    return None;
                }
                slots.resize(wanted, empty);
                Some(count)
            }
        }
    }
}

impl<'b, T> From<&'b mut [T]> for Slots<'b, T> {
    fn from(slots: &'b mut [T]) -> Self {
        Slots { store: Store::Lent(slots) }
    }
}

impl<'b, T, const N: usize> From<&'b mut [T; N]> for Slots<'b, T> {
    fn from(slots: &'b mut [T; N]) -> Self {
        Slots { store: Store::Lent(slots) }
    }
}
