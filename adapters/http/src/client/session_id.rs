//! The id of a session, or the endpoint of HTTP+SSE: up to 1,024 visible ASCII characters that the server chose.

use core::fmt;

/// The maximum length of a session id or an endpoint that a client accepts, in bytes.
const MAX_LENGTH: usize = 1024;

/// An optional session id or endpoint.
pub(super) struct SessionId {
    bytes: [u8; MAX_LENGTH],
    length: u16,
}

impl SessionId {
    pub(super) const NONE: SessionId = SessionId { bytes: [0; MAX_LENGTH], length: 0 };

    /// Creates an id from the value of a header field, or from the data of an event. Returns `None` if the value is
    /// empty, has a byte that is not visible ASCII, or is too long.
    pub(super) fn new(value: &[u8]) -> Option<SessionId> {
        let is_id = !value.is_empty() && value.iter().all(u8::is_ascii_graphic);
        let mut id =
            SessionId { length: u16::try_from(value.len()).ok().filter(|_| is_id)?, ..SessionId::NONE };
        id.bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(id)
    }

    pub(super) fn is_some(&self) -> bool {
        self.length > 0
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        let id = self.bytes.get(..usize::from(self.length)).filter(|id| !id.is_empty())?;
        core::str::from_utf8(id).ok()
    }
}

impl fmt::Debug for SessionId {
    /// Omits the id, because it is a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_some() { "SessionId(…)" } else { "SessionId(none)" })
    }
}
