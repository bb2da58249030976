//! Names: those of a message are told by the first eight bytes at once.

use super::{behind_plain, plain_bytes};
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

/// A name of a member of the message with the colon behind it, and how long they are.
#[inline(always)]
pub(super) fn member_name(rest: &[u8]) -> Option<(Member, usize)> {
    const JSONRPC: u64 = u64::from_le_bytes(*b"\"jsonrpc");
    const METHOD: u64 = u64::from_le_bytes(*b"\"method\"");
    const PARAMS: u64 = u64::from_le_bytes(*b"\"params\"");
    const RESULT: u64 = u64::from_le_bytes(*b"\"result\"");
    const ERROR: u64 = u64::from_le_bytes(*b"\"error\":");
    const ID: u64 = u64::from_le_bytes(*b"\"id\":\0\0\0");
    let head = rest.first_chunk::<10>()?;
    let [.., eighth, ninth] = *head;
    let word = u64::from_le_bytes(*head.first_chunk()?);
    let found = match word {
        JSONRPC if (eighth, ninth) == (b'"', b':') => (Member::Jsonrpc, 10),
        METHOD if eighth == b':' => (Member::Method, 9),
        PARAMS if eighth == b':' => (Member::Params, 9),
        RESULT if eighth == b':' => (Member::Result, 9),
        ERROR => (Member::Error, 8),
        _ if word << 24 == ID << 24 => (Member::Id, 5),
        _ => return None,
    };
    Some(found)
}

/// What follows a name that has no escapes. Most have seven bytes at most.
#[inline(always)]
pub(super) fn behind_name(rest: &[u8]) -> Option<&[u8]> {
    let [b'"', text @ ..] = rest else { return None };
    if let Some((word, _)) = text.split_first_chunk() {
        let length = plain_bytes(u64::from_le_bytes(*word));
        if length < 8 {
            return behind_quote(text.get(length..)?);
        }
    }
    behind_long_name(text)
}

#[inline(never)]
fn behind_long_name(text: &[u8]) -> Option<&[u8]> {
    behind_quote(behind_plain(text))
}

#[inline(always)]
fn behind_quote(rest: &[u8]) -> Option<&[u8]> {
    let [b'"', tail @ ..] = rest else { return None };
    Some(tail)
}
