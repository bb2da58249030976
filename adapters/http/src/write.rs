//! `SliceWriter`: appends text to a lent slice and keeps the first error.

use crate::bytes::write_at;
use core::fmt;

use mcp_proto::WriteText;

/// The reason why a text was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The text is longer than the lent slice.
    BufferFull,
    /// A name or a value contains a byte that is not allowed in it, for example a line end. This error also reports an
    /// empty name, method or target.
    InvalidByte,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WriteError::BufferFull => "the buffer is full",
            WriteError::InvalidByte => "a name or a value contains a byte that is not allowed in it",
        })
    }
}

impl core::error::Error for WriteError {}

/// Text in a lent slice.
#[derive(Debug)]
pub(crate) struct SliceWriter<'b> {
    bytes: &'b mut [u8],
    length: usize,
    error: Option<WriteError>,
}

impl<'b> SliceWriter<'b> {
    pub(crate) fn new(bytes: &'b mut [u8]) -> SliceWriter<'b> {
        SliceWriter { bytes, length: 0, error: None }
    }

    /// Appends bytes, or records [`WriteError::BufferFull`] if the bytes do not fit. Does nothing after an error.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.error.is_some() {
            return;
        }
        match write_at(self.bytes, self.length, bytes) {
            Some(end) => self.length = end,
            None => self.error = Some(WriteError::BufferFull),
        }
    }

    /// Appends bytes, or records [`WriteError::InvalidByte`] if a byte is not allowed.
    pub(crate) fn push_checked(&mut self, bytes: &[u8], is_allowed: fn(u8) -> bool) {
        if bytes.iter().all(|byte| is_allowed(*byte)) {
            self.push(bytes);
        } else {
            self.fail(WriteError::InvalidByte);
        }
    }

    /// Appends a text, or records [`WriteError::InvalidByte`] if a byte of the text is not allowed.
    pub(crate) fn push_text(&mut self, text: &dyn WriteText, is_allowed: fn(u8) -> bool) {
        text.pieces(&mut |piece| self.push_checked(piece.as_bytes(), is_allowed));
    }

    /// Records an error. An earlier error takes precedence.
    pub(crate) fn fail(&mut self, error: WriteError) {
        self.error = self.error.or(Some(error));
    }

    /// Returns the whole text, or the first error.
    pub(crate) fn finish(self) -> Result<&'b [u8], WriteError> {
        match self.error {
            Some(error) => Err(error),
            None => self.bytes.get(..self.length).ok_or(WriteError::BufferFull),
        }
    }
}
