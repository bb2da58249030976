//! Operations on bytes: splits off the leading bytes that satisfy a condition, copies and rotates.

/// Number of bytes that [`split_long_run`] tests as one block. Compilers use vector instructions for a block.
const BLOCK: usize = 16;

/// Splits off the bytes at the front for which the predicate holds. Returns these bytes and the rest.
#[inline]
pub(crate) fn split_run(bytes: &[u8], is_member: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let length = bytes.iter().position(|byte| !is_member(*byte)).unwrap_or(bytes.len());
    bytes.split_at_checked(length).unwrap_or((bytes, &[]))
}

/// As [`split_run`], but faster for long runs and simple predicates.
#[inline]
pub(crate) fn split_long_run(bytes: &[u8], is_member: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let is_whole = |block: &&[u8]| block.iter().fold(true, |is_whole, byte| is_whole & is_member(*byte));
    let blocks = bytes.chunks_exact(BLOCK).take_while(is_whole).count().saturating_mul(BLOCK);
    let (_, rest) = split_run(bytes.get(blocks..).unwrap_or_default(), is_member);
    bytes.split_at_checked(bytes.len().saturating_sub(rest.len())).unwrap_or((bytes, &[]))
}

/// Copies bytes to an offset. Returns the end of the copy, or `None` without an effect if the bytes do not fit.
pub(crate) fn write_at(buffer: &mut [u8], at: usize, bytes: &[u8]) -> Option<usize> {
    // The compiler sees that source and target have the same length, so the panic of `copy_from_slice` is not linked.
    buffer.get_mut(at..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
    at.checked_add(bytes.len())
}

/// Moves the last `n` bytes to the front. `n` must not exceed the length. `slice::rotate_right` would take more flash
/// memory, and may panic.
pub(crate) fn rotate_right(bytes: &mut [u8], n: usize) {
    reverse(bytes);
    if let Some((front, rest)) = bytes.split_at_mut_checked(n) {
        reverse(front);
        reverse(rest);
    }
}

fn reverse(mut bytes: &mut [u8]) {
    while let [first, rest @ .., last] = bytes {
        core::mem::swap(first, last);
        bytes = rest;
    }
}
