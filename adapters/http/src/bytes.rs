//! `split_run` and `split_long_run`: the bytes of a class at the front of a text.

/// Bytes that [`split_long_run`] tests at once. Compilers use vector instructions for them.
const BLOCK: usize = 16;

/// Splits off the bytes at the front for which the predicate holds.
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
