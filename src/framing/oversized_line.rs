//! Oversized lines that `fill.rs` has detected: discards their bytes and keeps the text of their `id`.

use crate::framing::flags::Flags;
use crate::framing::line_decoder::{FoundLine, LineDecoder, LineKind};
use crate::json::{Member, Scanner, find};
use crate::platform::{copy, shift};

impl LineDecoder<'_> {
    /// Starts to discard the incomplete line, which fills the buffer.
    ///
    /// The front of the buffer then holds the captured id. The remaining buffer is space for reads.
    pub(super) fn start_discarding(&mut self) {
        let mut captured = 0;
        if let Some(id) = self.scanner.member(Member::Id) {
            let to = id.end.unwrap_or(self.scanned).min(self.scanned);
            captured = to.saturating_sub(id.start).min(self.id_capture_size());
            let to = id.start.wrapping_add(captured);
            if let Some(bytes) = self.buffer.bytes_mut().get_mut(..to) {
                shift(bytes, id.start);
            }
        }
        self.flags.add(Flags::DISCARDING);
        (self.start, self.scanned, self.end) = (0, captured, self.id_capture_size());
    }

    /// Returns the size of the space for the captured id. The space is one byte larger than the id limit, so that
    /// the decoder detects longer ids.
    pub(super) fn id_capture_size(&self) -> usize {
        self.id_limit().saturating_add(1)
    }

    /// Scans and drops bytes of the discarded line.
    ///
    /// Returns the complete line, and whether the end of input completed the line without a newline. Returns `None`
    /// while the line is incomplete.
    pub(super) fn scan_discarded(&mut self) -> Option<(FoundLine, bool)> {
        let id_size = self.id_capture_size();
        let (captured, fresh) = self.buffer.bytes_mut().get_mut(..self.end)?.split_at_mut_checked(id_size)?;
        let newline = find(b'\n', fresh);
        let text = fresh.get(..newline.unwrap_or(fresh.len()))?;
        capture_id(&mut self.scanner, &mut self.scanned, text, captured);
        let release_length = match newline {
            Some(at) => id_size.saturating_add(at).saturating_add(1),
            None if self.is_ended() => self.end,
            None => {
                self.end = id_size;
                return None;
            }
        };
        Some((self.finish_discarded(release_length), newline.is_none()))
    }

    /// Ends the scan of a discarded line and returns the line. The kind of the line is `TooLong`, unless the line is
    /// invalid or blank.
    pub(super) fn finish_discarded(&mut self, release_length: usize) -> FoundLine {
        match LineKind::from_scan(self.scanner.finish()) {
            kind @ (LineKind::Blank | LineKind::Invalid) => FoundLine { kind, length: 0, release_length },
            _ => FoundLine { kind: LineKind::TooLong, length: self.scanned, release_length },
        }
    }
}

/// Scans a part of a discarded line and captures its `id`.
///
/// Appends the bytes of the id to `captured`, which already contains `length` bytes. A later member `id` replaces an
/// earlier member `id`.
pub(super) fn capture_id(scanner: &mut Scanner, length: &mut usize, text: &[u8], captured: &mut [u8]) {
    let before = scanner.position();
    scanner.feed(text);
    let Some(id) = scanner.member(Member::Id) else { return };
    if id.start >= before {
        *length = 0;
    }
    let have = id.start.wrapping_add(*length);
    let from = have.max(before).saturating_sub(before);
    let to = id.end.unwrap_or(usize::MAX).saturating_sub(before).min(text.len());
    let (Some(text), Some(space)) = (text.get(from..to), captured.get_mut(*length..)) else { return };
    let more = text.len().min(space.len());
    if let (Some(text), Some(space)) = (text.get(..more), space.get_mut(..more)) {
        copy(space, text);
        *length = length.wrapping_add(more);
    }
}
