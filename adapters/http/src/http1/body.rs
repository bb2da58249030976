//! `BodyDecoder`: the data of a body, without its framing.

use crate::bytes::split_long_run;
use crate::http1::field_lines::{FieldLines, FieldPart};
use crate::http1::syntax::is_value;
use crate::http1::{BodyFraming, HttpError};

/// Maximum of `BodyDecoder::overhead`, in bytes.
const MAX_OVERHEAD: u64 = 4096;

/// Maximum number of digits of a chunk size.
const MAX_SIZE_DIGITS: u8 = 16;

/// Incremental decoder of a body (RFC 9112, sections 6 and 7).
///
/// The decoder skips chunk extensions and trailer fields, and has no buffer: it returns data as a part of the input.
#[derive(Debug)]
pub struct BodyDecoder {
    state: State,
    /// Number of bytes of chunk extensions, trailer fields, and white space after a chunk size. Each byte of data
    /// reduces the number by one, down to zero.
    overhead: u64,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Contains the number of missing bytes.
    Length(u64),
    UntilClose,
    Size {
        digits: u8,
        size: u64,
    },
    /// White space after the size. An extension follows.
    BeforeExtension(u64),
    Extension(u64),
    SizeLineFeed(u64),
    /// Contains the number of missing bytes of the chunk.
    Data(u64),
    DataEnd,
    DataLineFeed,
    Trailer(FieldLines),
    Complete,
    Failed(HttpError),
}

/// The result of [`BodyDecoder::decode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyPiece<'i> {
    /// Number of bytes that the decoder has consumed, including `data`.
    pub consumed: usize,
    /// A piece of the body. Empty if the consumed bytes are only framing.
    pub data: &'i [u8],
}

const fn bad<T>(reason: &'static str) -> Result<T, HttpError> {
    Err(HttpError::bad("body", reason))
}

impl BodyDecoder {
    /// Creates a decoder for the framing of a head.
    #[must_use]
    pub const fn new(framing: BodyFraming) -> BodyDecoder {
        let state = match framing {
            BodyFraming::Length(0) => State::Complete,
            BodyFraming::Length(length) => State::Length(length),
            BodyFraming::Chunked => State::Size { digits: 0, size: 0 },
            BodyFraming::UntilClose => State::UntilClose,
        };
        BodyDecoder { state, overhead: 0 }
    }

    /// Decodes input up to the end of the next piece of data.
    ///
    /// Call this method again with the rest of the input until the rest is empty or the body is complete. After the end
    /// of the body, the decoder consumes nothing, because the rest belongs to the next message.
    ///
    /// # Errors
    ///
    /// The framing is invalid. Every later call with input returns the same error.
    #[inline(never)]
    pub fn decode<'i>(&mut self, input: &'i [u8]) -> Result<BodyPiece<'i>, HttpError> {
        let mut rest = input;
        let mut data: &[u8] = &[];
        while let (true, Some((first, behind))) = (data.is_empty(), rest.split_first()) {
            if let State::Complete = self.state {
                break;
            }
            (data, rest) =
                self.step(rest, *first, behind).inspect_err(|error| self.state = State::Failed(*error))?;
        }
        Ok(BodyPiece { consumed: input.len().saturating_sub(rest.len()), data })
    }

    /// Handles the end of the connection.
    ///
    /// # Errors
    ///
    /// The body is incomplete (RFC 9112, section 8), or an earlier call failed.
    pub fn eof(&mut self) -> Result<(), HttpError> {
        match self.state {
            State::Complete => Ok(()),
            State::UntilClose => {
                self.state = State::Complete;
                Ok(())
            }
            State::Failed(error) => Err(error),
            _ => bad("the connection closed before its end")
                .inspect_err(|error| self.state = State::Failed(*error)),
        }
    }

    /// Returns whether the whole body has been decoded.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// Decodes one byte of framing, a run of such bytes, or a piece of data. `first` and `behind` are the first byte
    /// and the rest of `input`. Returns data and the rest of the input.
    #[inline(never)]
    fn step<'i>(
        &mut self,
        input: &'i [u8],
        first: u8,
        behind: &'i [u8],
    ) -> Result<(&'i [u8], &'i [u8]), HttpError> {
        let mut rest = behind;
        self.state = match (self.state, first) {
            (State::Complete, _) => return Ok((&[], input)),
            (State::Failed(error), _) => return Err(error),
            (State::UntilClose, _) => return Ok((input, &[])),
            (State::Length(missing), _) => {
                let (data, rest, missing) = split_data(input, missing);
                self.state = if missing == 0 { State::Complete } else { State::Length(missing) };
                return Ok((data, rest));
            }
            (State::Data(missing), _) => {
                let (data, rest, missing) = split_data(input, missing);
                self.overhead = self.overhead.saturating_sub(u64::try_from(data.len()).unwrap_or(u64::MAX));
                self.state = if missing == 0 { State::DataEnd } else { State::Data(missing) };
                return Ok((data, rest));
            }
            (State::Size { digits: 1.., size }, b'\r') => State::SizeLineFeed(size),
            (State::Size { digits: 1.., size }, b';') => State::Extension(size),
            (State::Size { digits: 1.., size } | State::BeforeExtension(size), b' ' | b'\t') => {
                self.add_overhead(1)?;
                State::BeforeExtension(size)
            }
            (State::Size { digits, size }, digit) => match char::from(digit).to_digit(16) {
                Some(digit) if digits < MAX_SIZE_DIGITS => {
                    State::Size { digits: digits.saturating_add(1), size: (size << 4) | u64::from(digit) }
                }
                Some(_) => return bad("the chunk size is too large"),
                None => return bad("invalid chunk size"),
            },
            (State::BeforeExtension(size), b';') => State::Extension(size),
            (State::BeforeExtension(_), _) => return bad("invalid chunk size"),
            (State::Extension(size), b'\r') => State::SizeLineFeed(size),
            (State::Extension(size), byte) if is_value(byte) => {
                let (extension, behind) = split_long_run(input, is_value);
                rest = behind;
                self.add_overhead(extension.len())?;
                State::Extension(size)
            }
            (State::Extension(_), _) => return bad("invalid byte in a chunk extension"),
            (State::SizeLineFeed(0), b'\n') => State::Trailer(FieldLines::new()),
            (State::SizeLineFeed(size), b'\n') => State::Data(size),
            (State::DataEnd, b'\r') => State::DataLineFeed,
            (State::DataLineFeed, b'\n') => State::Size { digits: 0, size: 0 },
            (State::SizeLineFeed(_) | State::DataLineFeed, _) => return bad("CR without LF"),
            (State::DataEnd, _) => return bad("a chunk is longer than its size"),
            (State::Trailer(mut lines), _) => {
                let (part, behind) =
                    lines.next(input).map_err(|reason| HttpError::bad("trailer field", reason))?;
                rest = behind;
                match part {
                    FieldPart::SectionEnd => State::Complete,
                    _ => {
                        self.add_overhead(input.len().saturating_sub(rest.len()))?;
                        State::Trailer(lines)
                    }
                }
            }
        };
        Ok((&[], rest))
    }

    fn add_overhead(&mut self, bytes: usize) -> Result<(), HttpError> {
        self.overhead = self.overhead.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if self.overhead > MAX_OVERHEAD {
            bad("chunk extensions or trailer fields are too long")
        } else {
            Ok(())
        }
    }
}

/// Splits off up to `missing` bytes. Returns these bytes, the rest, and the number of bytes that are still missing.
fn split_data(input: &[u8], missing: u64) -> (&[u8], &[u8], u64) {
    let available = usize::try_from(missing).unwrap_or(usize::MAX).min(input.len());
    let (data, rest) = input.split_at_checked(available).unwrap_or((input, &[]));
    (data, rest, missing.saturating_sub(u64::try_from(available).unwrap_or(u64::MAX)))
}
