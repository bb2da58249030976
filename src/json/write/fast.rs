//! The usual case on hosts: short pieces into room that is there. One look at the room, words instead of bytes, and no
//! calls; of a text that is a constant only stores are left. What does not come to an end here has changed nothing, and takes the
//! ways for everything.

use super::Writer;
use crate::buffer::copy;

/// The longest text that is copied before it is known whether something in it has to be escaped.
const SHORT: usize = 24;

impl Writer<'_> {
    /// The free room, if at least `wanted` bytes of it are there without growing.
    #[inline(always)]
    fn at_hand(&mut self, wanted: usize) -> Option<&mut [u8]> {
        if self.overflowed {
            return None;
        }
        let all = self.room.bytes_mut();
        let end = self.limit.min(all.len());
        all.get_mut(self.at..end).filter(|free| free.len() >= wanted)
    }

    /// Writes a byte. `false`: it is not written.
    #[inline(always)]
    pub(super) fn put_byte(&mut self, byte: u8) -> bool {
        let Some([place, ..]) = self.at_hand(1) else { return false };
        *place = byte;
        self.at = self.at.wrapping_add(1);
        self.last = byte;
        true
    }

    /// Writes bytes as they are. `false`: they are not written.
    #[inline(always)]
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        let (Some(place), Some(last)) = (self.at_hand(bytes.len()), bytes.last()) else { return false };
        copy_short(place, bytes);
        self.at = self.at.wrapping_add(bytes.len());
        self.last = *last;
        true
    }

    /// Writes a number. `false`: it is not written.
    #[inline(always)]
    pub(super) fn put_unsigned(&mut self, value: u64) -> bool {
        let mut length = 1usize;
        let mut bound = 10u64;
        while value >= bound {
            // Longer ones are rare.
            if length == 8 {
                return false;
            }
            (length, bound) = (length.wrapping_add(1), bound.wrapping_mul(10));
        }
        let comma = usize::from(self.comma_is_due());
        let length = length.wrapping_add(comma);
        let Some(place) = self.at_hand(length).and_then(|free| free.get_mut(..length)) else { return false };
        if let Some(place) = place.first_mut() {
            *place = b',';
        }
        let mut rest = value;
        for place in place.iter_mut().skip(comma).rev() {
            let [digit, ..] = (rest % 10).to_le_bytes();
            (*place, rest) = (b'0' | digit, rest / 10);
        }
        self.order.value(self.last);
        self.at = self.at.wrapping_add(length);
        self.last = b'0';
        true
    }

    /// Writes a short text of JSON, if there is nothing in it that could end a line. `false`: it is not written.
    #[inline(always)]
    pub(super) fn put_json(&mut self, json: &[u8]) -> bool {
        let comma = usize::from(self.comma_is_due());
        if json.len() > 8 || json.iter().any(|byte| *byte < b' ') {
            return false;
        }
        let (Some(free), Some(last)) = (self.at_hand(json.len().wrapping_add(1)), json.last()) else {
            return false;
        };
        if let Some(place) = free.first_mut() {
            *place = b',';
        }
        copy_short(free.get_mut(comma..).unwrap_or_default(), json);
        self.order.value(self.last);
        self.at = self.at.wrapping_add(comma).wrapping_add(json.len());
        self.last = *last;
        true
    }

    /// Writes a part of a string. `false`: it is not written.
    #[inline(always)]
    pub(super) fn put_plain(&mut self, text: &[u8]) -> bool {
        if text.len() > SHORT || text.is_empty() {
            return false;
        }
        if !self.at_hand(text.len()).is_some_and(|place| copy_plain(place, text)) {
            return false;
        }
        self.at = self.at.wrapping_add(text.len());
        self.last = b'"';
        true
    }

    /// Writes a string, or the name of a member, with what has to stand before and behind it. `false`: it is not written.
    #[inline(always)]
    pub(super) fn put_string<const NAME: bool>(&mut self, text: &str) -> bool {
        let text = text.as_bytes();
        let comma = usize::from(self.comma_is_due());
        // With the comma, the quotes and the colon.
        let Some(free) = self.at_hand(text.len().wrapping_add(4)) else { return false };
        if let Some(place) = free.first_mut() {
            *place = b',';
        }
        let Some([quote, free @ ..]) = free.get_mut(comma..) else { return false };
        *quote = b'"';
        if text.len() > SHORT || !copy_plain(free, text) {
            return false;
        }
        let Some([quote, colon, ..]) = free.get_mut(text.len()..) else { return false };
        (*quote, *colon) = (b'"', b':');
        if NAME {
            self.order.name(self.last);
            self.last = b':';
        } else {
            self.order.value(self.last);
            self.last = b'"';
        }
        let around = if NAME { 3 } else { 2 };
        self.at = self.at.wrapping_add(comma).wrapping_add(text.len()).wrapping_add(around);
        true
    }
}

/// Copies bytes, of which there are usually few: a call of `memcpy` costs more than they do.
#[inline(always)]
fn copy_short(place: &mut [u8], bytes: &[u8]) {
    let Some(place) = place.get_mut(..bytes.len()) else { return };
    if bytes.len() > 16 {
        copy(place, bytes);
    } else if !copy_ends::<8>(place, bytes) && !copy_ends::<4>(place, bytes) {
        copy_few(place, bytes);
    }
}

/// Copies the first and the last so many bytes, which may overlap. `false`: there are not so many.
#[inline(always)]
fn copy_ends<const N: usize>(place: &mut [u8], bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else { return false };
    if let Some(place) = place.first_chunk_mut() {
        *place = *first;
    }
    if let Some(place) = place.last_chunk_mut() {
        *place = *last;
    }
    true
}

/// Copies less than four bytes.
#[inline(always)]
fn copy_few(place: &mut [u8], bytes: &[u8]) {
    match (place, bytes) {
        ([a, b, c], [from_a, from_b, from_c]) => (*a, *b, *c) = (*from_a, *from_b, *from_c),
        ([a, b], [from_a, from_b]) => (*a, *b) = (*from_a, *from_b),
        ([a], [from_a]) => *a = *from_a,
        _ => {}
    }
}

/// Copies a text, and says whether nothing in it has to be escaped.
#[inline(always)]
fn copy_plain(place: &mut [u8], text: &[u8]) -> bool {
    let Some(place) = place.get_mut(..text.len()) else { return false };
    let mut found = 0;
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        found = escapes(u64::from_le_bytes(*first)) | escapes(u64::from_le_bytes(*last));
        if text.len() > 16
            && let (Some(place), Some(middle)) = (place.get_mut(8..16), text.get(8..16))
            && let (Some(place), Some(middle)) = (place.first_chunk_mut::<8>(), middle.first_chunk::<8>())
        {
            *place = *middle;
            found |= escapes(u64::from_le_bytes(*middle));
        }
        copy_ends::<8>(place, text);
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        found = escapes(u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)));
        copy_ends::<4>(place, text);
    } else {
        for byte in text {
            found |= u64::from(matches!(byte, 0..=0x1F | b'"' | b'\\'));
        }
        copy_few(place, text);
    }
    found == 0
}

const LOW: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// The high bit of each byte of `word` that has to be escaped: a quote, a backslash or a control character. Every bit is
/// right, so that all of them can be used.
#[inline(always)]
pub(super) fn escapes(word: u64) -> u64 {
    let low = word & !HIGH;
    // With this bit turned over, a quote comes right behind the control characters. A byte gets its high bit if it is more.
    let more = (low ^ LOW.wrapping_mul(0x02)).wrapping_add(LOW.wrapping_mul(0x80 - 0x21));
    // Zero, for a backslash, is what does not get its high bit.
    let other = (low ^ LOW.wrapping_mul(0x5C)).wrapping_add(LOW.wrapping_mul(0x7F));
    !(more & other | word) & HIGH
}

#[cfg(test)]
mod tests;
