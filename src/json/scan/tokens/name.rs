//! Names: those of a message are told by the first eight bytes at once.

use super::behind_plain;
use crate::json::scan::Member;

/// The first member of most messages.
const JSONRPC_2: u128 = u128::from_le_bytes(*br#""jsonrpc":"2.0","#);

/// From where to where its value goes.
pub(super) const VERSION: [usize; 2] = [10, 15];

/// Whether the first 16 bytes are the version that all have, and a comma.
#[inline(always)]
pub(super) fn is_version(rest: &[u8]) -> bool {
    rest.first_chunk().is_some_and(|head| u128::from_le_bytes(*head) == JSONRPC_2)
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

/// What follows a name that has no escapes.
#[inline(always)]
pub(super) fn behind_name(rest: &[u8]) -> Option<&[u8]> {
    let [b'"', text @ ..] = rest else { return None };
    let [b'"', tail @ ..] = behind_plain::<2>(text) else { return None };
    Some(tail)
}
