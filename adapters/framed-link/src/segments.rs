//! Splits the bytes of the line into segments, which zeros separate.

use crate::frame::SEGMENT;

/// A complete segment, or a piece of text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Segment<'s> {
    /// A frame, or damaged bytes.
    Frame(&'s mut [u8]),
    /// A piece of text outside of frames.
    Text(&'s [u8]),
    /// Damaged bytes that are too many for a frame.
    Overlong,
}

/// Collects the bytes of a segment until the segment is complete.
#[derive(Debug, Clone)]
pub(crate) struct Segments {
    bytes: [u8; SEGMENT],
    len: usize,
    /// Whether the segment is too long. Its bytes are then dropped.
    is_overlong: bool,
}

impl Segments {
    pub(crate) const fn new() -> Segments {
        Segments { bytes: [0; SEGMENT], len: 0, is_overlong: false }
    }

    /// Adds a byte of the line. Returns a complete segment, or text that fills the buffer, otherwise `None`.
    pub(crate) fn push(&mut self, byte: u8) -> Option<Segment<'_>> {
        if byte == 0 {
            return self.end();
        }
        let Some(place) = self.bytes.get_mut(self.len) else {
            self.is_overlong = true;
            return None;
        };
        *place = byte;
        self.len = self.len.saturating_add(1);
        if self.len == SEGMENT { self.take_text().map(Segment::Text) } else { None }
    }

    /// Takes the incomplete segment if it is text, otherwise returns `None`.
    pub(crate) fn take_text(&mut self) -> Option<&[u8]> {
        let text = self.bytes.get(..self.len).filter(|bytes| !bytes.is_empty() && is_text(bytes))?;
        self.len = 0;
        Some(text)
    }

    /// Ends the segment. Returns `None` if the segment is empty.
    fn end(&mut self) -> Option<Segment<'_>> {
        let len = core::mem::take(&mut self.len);
        if core::mem::take(&mut self.is_overlong) {
            return Some(Segment::Overlong);
        }
        let bytes = self.bytes.get_mut(..len).filter(|bytes| !bytes.is_empty())?;
        Some(if is_text(bytes) { Segment::Text(bytes) } else { Segment::Frame(bytes) })
    }
}

/// Returns whether the bytes may be text. An undamaged frame is never text, because the first byte of its body never
/// occurs in UTF-8.
fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x1B | b' '..=b'~' | 0x80..=0xF4))
}
