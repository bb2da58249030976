//! `Storage`: a value that the caller lends, or that is on the heap.

use core::ops::{Deref, DerefMut};

/// A lent or owned value.
pub(crate) enum Storage<'b, T> {
    Lent(&'b mut T),
    #[cfg(feature = "alloc")]
    Owned(alloc::boxed::Box<T>),
}

impl<T> Deref for Storage<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Storage::Lent(value) => value,
            #[cfg(feature = "alloc")]
            Storage::Owned(value) => value,
        }
    }
}

impl<T> DerefMut for Storage<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match self {
            Storage::Lent(value) => value,
            #[cfg(feature = "alloc")]
            Storage::Owned(value) => value,
        }
    }
}
