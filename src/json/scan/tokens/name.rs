//! Names: those of a message are told by the first eight bytes at once.

use super::{behind_plain, plain_end};
use crate::json::scan::Member;

/// The first member of most messages, and the comma behind it.
const JSONRPC_2: u128 = u128::from_le_bytes(*br#""jsonrpc":"2.0","#);

/// From where to where its value goes.
pub(super) const VERSION: [usize; 2] = [10, 15];

/// What follows it. With one look it is known to be the version that all have.
#[inline(always)]
pub(super) fn behind_version(rest: &[u8]) -> Option<&[u8]> {
    let (head, tail) = rest.split_first_chunk()?;
    (u128::from_le_bytes(*head) == JSONRPC_2).then_some(tail)
}

/// A name of a member of the message, and what follows it and its colon.
#[inline(always)]
pub(super) fn member_name(rest: &[u8]) -> Option<(Member, &[u8])> {
    const JSONRPC: u64 = u64::from_le_bytes(*b"\"jsonrpc");
    const METHOD: u64 = u64::from_le_bytes(*b"\"method\"");
    const PARAMS: u64 = u64::from_le_bytes(*b"\"params\"");
    const RESULT: u64 = u64::from_le_bytes(*b"\"result\"");
    const ERROR: u64 = u64::from_le_bytes(*b"\"error\":");
    const ID: u64 = u64::from_le_bytes(*b"\"id\":\0\0\0");
    let (head, behind) = rest.split_first_chunk()?;
    let word = u64::from_le_bytes(*head);
    match (word, behind) {
        _ if word << 24 == ID << 24 => Some((Member::Id, rest.get(5..)?)),
        (METHOD, [b':', tail @ ..]) => Some((Member::Method, tail)),
        (PARAMS, [b':', tail @ ..]) => Some((Member::Params, tail)),
        (RESULT, [b':', tail @ ..]) => Some((Member::Result, tail)),
        (JSONRPC, [b'"', b':', tail @ ..]) => Some((Member::Jsonrpc, tail)),
        (ERROR, tail) => Some((Member::Error, tail)),
        _ => None,
    }
}

/// A name of seven bytes at most with a colon right behind it: how much follows its closing quote, and what its colon.
#[inline(always)]
pub(super) fn short_name(rest: &[u8]) -> Option<(usize, &[u8])> {
    let head = rest.first_chunk::<10>()?;
    let [b'"', text @ ..] = head else { return None };
    let length = plain_end(u64::from_le_bytes(*text.first_chunk()?))?;
    let end = text.get(length..)?.first_chunk()?;
    if *end != *b"\":" {
        return None;
    }
    let tail = rest.get(length.wrapping_add(3)..)?;
    Some((tail.len().wrapping_add(1), tail))
}

/// What follows a name that has no escapes.
#[inline(always)]
pub(super) fn behind_name(rest: &[u8]) -> Option<&[u8]> {
    let [b'"', text @ ..] = rest else { return None };
    let [b'"', tail @ ..] = behind_plain::<2>(text) else { return None };
    Some(tail)
}
