//! `Storage`: a task table that the caller lends, or that is on the heap.
//!
//! `with_taken` gives access to a state and, at the same time, to the value of one of its fields.

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

/// Calls `act` with the state and the value of a field of the state. Returns `None` if the field is `None`.
///
/// The field is `None` during the call. Afterwards, the field gets the value back, even if `act` panics. For example,
/// `act` may run a closure of the application that panics.
pub(crate) fn with_taken<S, T, R>(
    state: &mut S,
    field: impl Fn(&mut S) -> &mut Option<T>,
    act: impl FnOnce(&mut S, &mut T) -> R,
) -> Option<R> {
    let value = field(state).take()?;
    let mut taken = Taken { state, field, value: Some(value) };
    let Taken { state, value, .. } = &mut taken;
    value.as_mut().map(|value| act(state, value))
}

/// Returns a value to its field when dropped.
struct Taken<'s, S, T, F: Fn(&mut S) -> &mut Option<T>> {
    state: &'s mut S,
    field: F,
    value: Option<T>,
}

impl<S, T, F: Fn(&mut S) -> &mut Option<T>> Drop for Taken<'_, S, T, F> {
    fn drop(&mut self) {
        *(self.field)(self.state) = self.value.take();
    }
}
