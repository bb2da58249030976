//! Chunks of a body (RFC 9112, section 7.1).

/// The end of a chunked body: the empty chunk, without trailer fields.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

const LINE_END: &[u8] = b"\r\n";

/// The line in front of the data of a chunk. [`ChunkHead::END`] follows the data.
///
/// The line has a fixed length, so that a caller can reserve space for the line before the length of the data is
/// known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkHead([u8; 10]);

impl ChunkHead {
    /// The line end after the data.
    pub const END: &'static [u8] = LINE_END;

    /// Creates the line for data of this length. Returns `None` for zero, because an empty chunk ends the body, and for
    /// a length of more than 32 bits.
    #[must_use]
    pub fn new(length: usize) -> Option<ChunkHead> {
        let mut length = u32::try_from(length).ok().filter(|length| *length > 0)?;
        let mut line = *b"00000000\r\n";
        for digit in line.iter_mut().rev().skip(LINE_END.len()) {
            let value = u8::try_from(length & 15).unwrap_or_default();
            *digit = if value < 10 {
                b'0'.saturating_add(value)
            } else {
                b'A'.saturating_add(value).saturating_sub(10)
            };
            length >>= 4;
        }
        Some(ChunkHead(line))
    }

    /// Returns the line.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the line as an array.
    pub(crate) fn as_array(&self) -> &[u8; 10] {
        &self.0
    }
}
