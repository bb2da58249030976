//! Chunks of a body (RFC 9112, section 7.1).

use crate::WriteError;

/// The end of a chunked body: the empty chunk, without trailer fields.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Number of bytes that [`frame_chunk`] needs in front of the data.
pub const CHUNK_OFFSET: usize = 10;

const LINE_END: &[u8] = b"\r\n";

/// The line in front of the data of a chunk. [`ChunkHead::END`] follows the data.
///
/// The line has a fixed length, so that a caller can reserve space for the line before the length of the data is
/// known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkHead([u8; CHUNK_OFFSET]);

impl ChunkHead {
    /// The line end after the data.
    pub const END: &'static [u8] = LINE_END;

    /// Creates the line for data of this length. Returns `None` for zero, because an empty chunk ends the body, and for
    /// more than 32 bits.
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
    pub(crate) fn as_array(&self) -> &[u8; CHUNK_OFFSET] {
        &self.0
    }
}

/// Frames data that is already in a buffer, at [`CHUNK_OFFSET`]. Returns the whole chunk.
///
/// Returns an empty slice if `length` is 0.
///
/// # Errors
///
/// The buffer is shorter than `CHUNK_OFFSET + length + 2` bytes, or `length` exceeds 32 bits.
pub fn frame_chunk(buffer: &mut [u8], length: usize) -> Result<&[u8], WriteError> {
    let Some(head) = ChunkHead::new(length) else {
        return if length == 0 { Ok(&[]) } else { Err(WriteError::BufferFull) };
    };
    let data_end = CHUNK_OFFSET.saturating_add(length);
    let chunk = buffer.get_mut(..data_end.saturating_add(LINE_END.len())).ok_or(WriteError::BufferFull)?;
    for (place, bytes) in [(0, head.as_bytes()), (data_end, LINE_END)] {
        if let Some(place) = chunk.get_mut(place..).and_then(|rest| rest.get_mut(..bytes.len())) {
            place.copy_from_slice(bytes);
        }
    }
    Ok(chunk)
}

/// Copies data into a buffer as a chunk. Returns the whole chunk.
///
/// Returns an empty slice for no data.
///
/// # Errors
///
/// The buffer is shorter than `CHUNK_OFFSET + data.len() + 2` bytes, or the length of the data exceeds 32 bits.
pub fn write_chunk<'b>(buffer: &'b mut [u8], data: &[u8]) -> Result<&'b [u8], WriteError> {
    let place = buffer.get_mut(CHUNK_OFFSET..).and_then(|rest| rest.get_mut(..data.len()));
    match place {
        Some(place) => place.copy_from_slice(data),
        None if data.is_empty() => {}
        None => return Err(WriteError::BufferFull),
    }
    frame_chunk(buffer, data.len())
}
