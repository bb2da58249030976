//! Assembles lines of bounded length from pieces of input.

use mcp_proto::json::{DEPTH_LIMIT, Scanner};

use crate::message::{self, Damaged};

/// Maximum length of a line without the line break, in bytes.
pub(crate) const MAX_LINE: usize = 16 << 20;
/// Length up to which the id of a line that is longer than [`MAX_LINE`] is always found, in bytes.
const MAX_ID: usize = 1024;

/// A complete line.
#[derive(Debug)]
pub(crate) enum Line<'l> {
    /// The line without its line break.
    Whole(&'l [u8]),
    /// The readable parts of a line that is too long.
    TooLong(Damaged),
}

/// The incomplete line at the end of the input.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    line: Vec<u8>,
    oversized: Option<Oversized>,
}

impl Lines {
    /// Appends `bytes`, and passes each complete line to `take`.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            self.append(text);
            if text.len() < piece.len() {
                match self.oversized.take() {
                    None => take(Line::Whole(&self.line)),
                    Some(oversized) => take(Line::TooLong(oversized.end())),
                }
                self.line.clear();
                self.line.shrink_to(1 << 16);
            }
        }
    }

    /// Returns whether the incomplete line may be a message.
    pub(crate) fn holds_message(&self) -> bool {
        self.oversized.is_some() || matches!(message::trim(&self.line), [b'{' | b'[', ..])
    }

    /// Drops the incomplete line.
    pub(crate) fn clear(&mut self) {
        *self = Lines::default();
    }

    fn append(&mut self, text: &[u8]) {
        if self.oversized.is_none() && self.line.len() + text.len() > MAX_LINE {
            let mut oversized = Oversized::new();
            oversized.feed(&self.line);
            self.line = Vec::new();
            self.oversized = Some(oversized);
        }
        match &mut self.oversized {
            Some(oversized) => oversized.feed(text),
            None => self.line.extend_from_slice(text),
        }
    }
}

/// A line that is scanned for its id, but not stored.
#[derive(Debug)]
struct Oversized {
    scanner: Scanner,
    /// The last bytes of the line, and the position of the first of these bytes.
    window: Vec<u8>,
    window_start: usize,
    id: Option<String>,
}

impl Oversized {
    fn new() -> Oversized {
        Oversized { scanner: Scanner::new(DEPTH_LIMIT), window: Vec::new(), window_start: 0, id: None }
    }

    fn feed(&mut self, text: &[u8]) {
        for piece in text.chunks(MAX_ID) {
            self.scanner.feed(piece);
            self.window.extend_from_slice(piece);
            if self.id.is_none()
                && let Some(id) = message::complete_id(&self.scanner)
                && let Some(start) = id.start.checked_sub(self.window_start)
            {
                self.id = self.window.get(start..start + id.len()).and_then(message::id_text);
            }
            let surplus = self.window.len().saturating_sub(MAX_ID);
            self.window.drain(..surplus);
            self.window_start += surplus;
        }
    }

    fn end(self) -> Damaged {
        let why = format!("longer than {} MiB", MAX_LINE >> 20);
        Damaged { id: self.id, kind: message::scanned_kind(&self.scanner), why, is_json: false }
    }
}
