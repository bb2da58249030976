//! Spare capacity of a writer for callers that write several constants in one step.

use super::Writer;
use crate::buffer::copy;
use crate::json::decimal::digit_bytes;
use crate::json::search::text_run;

/// The spare capacity behind what was written so far. A piece that does not fit ends the chain with `None`.
pub(crate) struct Free<'f> {
    bytes: &'f mut [u8],
    /// Where the capacity ends, in all of the room.
    limit: usize,
}

impl<'f> Free<'f> {
    /// Where the pieces end, in all of the room.
    pub(crate) fn end(self) -> usize {
        self.limit.wrapping_sub(self.bytes.len())
    }

    /// Bytes as they are.
    pub(crate) fn token(self, token: &str) -> Option<Free<'f>> {
        self.bytes(token.as_bytes())
    }

    /// Bytes as they are.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Option<Free<'f>> {
        let (place, rest) = self.bytes.split_at_mut_checked(bytes.len())?;
        copy(place, bytes);
        Some(Free { bytes: rest, ..self })
    }

    /// The inside of a string that has no escapes.
    pub(crate) fn plain(self, text: &str) -> Option<Free<'f>> {
        if text_run(text.as_bytes()) < text.len() { None } else { self.token(text) }
    }

    /// A number that is not negative.
    pub(crate) fn number(self, value: u64) -> Option<Free<'f>> {
        self.bytes(digit_bytes(value, &mut [0; 20]))
    }
}

impl Writer<'_> {
    /// The spare capacity that is there without growing. A piece counts when it is [`filled`](Writer::filled).
    pub(crate) fn free(&mut self) -> Option<Free<'_>> {
        if self.overflowed {
            return None;
        }
        let all = self.room.bytes_mut();
        let end = self.limit.min(all.len());
        Some(Free { bytes: all.get_mut(self.at..end)?, limit: end })
    }

    /// The spare capacity was filled up to here, and this is the last byte.
    pub(crate) fn filled(&mut self, to: usize, last: u8) {
        (self.at, self.last) = (to, last);
    }
}
