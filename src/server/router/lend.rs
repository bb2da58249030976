//! Traits of contexts that lend state to the functions of a router, and the compiler messages for all other contexts.

use core::borrow::{Borrow, BorrowMut};

/// A context that lends the state `T` to functions with a parameter `&T`.
#[diagnostic::on_unimplemented(
    message = "a router of `{Self}` cannot lend the state `&{T}`",
    label = "a function in this router takes `&{T}`",
    note = "the type of the router names the state: `Router<{T}>`",
    note = "to lend a part of the state, implement `Borrow` of the part for the context"
)]
pub trait Lend<T: ?Sized>: Borrow<T> {}

#[diagnostic::do_not_recommend]
impl<C: Borrow<T> + ?Sized, T: ?Sized> Lend<T> for C {}

/// A context that lends the state `T` to functions with a parameter `&mut T`.
#[diagnostic::on_unimplemented(
    message = "a router of `{Self}` cannot lend the state `&mut {T}`",
    label = "a function in this router takes `&mut {T}`",
    note = "a router of an adapter with threads or tasks shares its state: take `&self` or `&{T}`, and put the members \
            that change into a `Mutex` or an atomic type",
    note = "any other router: its type names the state, `Router<{T}>`; to lend a part of the state, implement \
            `BorrowMut` of the part for the context"
)]
pub trait LendMut<T: ?Sized>: BorrowMut<T> {}

#[diagnostic::do_not_recommend]
impl<C: BorrowMut<T> + ?Sized, T: ?Sized> LendMut<T> for C {}
