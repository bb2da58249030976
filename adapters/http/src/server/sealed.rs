//! Sealed session ids, which contain the state of their session and a signature.

use mcp_proto::{Revision, SessionKey, StreamId};
use subtle::ConstantTimeEq;

use super::policy::Policy;
use super::response::SessionId;

/// Returns the contents of a sealed id: the revision, and random bytes that make the id unique.
pub(super) fn contents(revision: Revision, random: [u8; 16]) -> [u8; 16] {
    let mut contents = random;
    let number = Revision::ALL.iter().position(|known| *known == revision).unwrap_or(0);
    let [first, ..] = &mut contents;
    *first = u8::try_from(number).unwrap_or(0).wrapping_add(1);
    contents
}

/// Returns the revision in the contents, or `None` if the contents have no valid revision.
pub(super) fn revision(contents: &[u8; 16]) -> Option<Revision> {
    let [first, ..] = *contents;
    Revision::ALL.get(usize::from(first.checked_sub(1)?)).copied()
}

/// Returns the preferred key of the session in the core server. Another session can have the same preferred key.
pub(super) fn key(contents: &[u8; 16]) -> SessionKey {
    let [_, low, high, ..] = *contents;
    valid_key(u16::from_le_bytes([low, high]))
}

/// Returns a key for this number. The key is never 0 or `u16::MAX`, which the core server reserves.
pub(super) fn valid_key(number: u16) -> SessionKey {
    SessionKey((number % u16::MAX).max(1))
}

/// Returns the key of the session that a stream belongs to.
pub(super) fn key_of(stream: StreamId) -> SessionKey {
    let [_, _, low, high] = stream.0.to_le_bytes();
    SessionKey(u16::from_le_bytes([low, high]))
}

/// Returns the id with these contents, or `None` if the policy does not sign.
pub(super) fn seal(policy: &impl Policy, contents: &[u8; 16], user: u64) -> Option<SessionId> {
    let mut id = [0; 32];
    let (head, tail) = id.split_at_mut_checked(16)?;
    head.copy_from_slice(contents);
    tail.copy_from_slice(&policy.sign(&signed(contents, user))?);
    Some(SessionId::from_bytes(&id))
}

/// Returns the contents of an id, or `None` if the id or its signature is invalid, or if the policy does not sign.
pub(super) fn open(policy: &impl Policy, id: &[u8], user: u64) -> Option<[u8; 16]> {
    let id = SessionId::parse::<32>(id)?;
    let (contents, signature) = id.split_first_chunk::<16>()?;
    let expected = policy.sign(&signed(contents, user))?;
    // The comparison takes the same time wherever the signatures differ.
    let is_equal: bool = expected.as_slice().ct_eq(signature).into();
    (is_equal && revision(contents).is_some()).then_some(*contents)
}

/// Returns the signed bytes: the contents and the user.
fn signed(contents: &[u8; 16], user: u64) -> [u8; 24] {
    let mut data = [0; 24];
    for (place, byte) in data.iter_mut().zip(contents.iter().copied().chain(user.to_le_bytes())) {
        *place = byte;
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_keys_belong_to_no_session() {
        for (number, expected) in [(0, 1), (1, 1), (0xfffe, 0xfffe), (u16::MAX, 1)] {
            let [low, high] = u16::to_le_bytes(number);
            let mut contents = [7; 16];
            contents[1..3].copy_from_slice(&[low, high]);
            assert_eq!(key(&contents), SessionKey(expected));
        }
    }
}
