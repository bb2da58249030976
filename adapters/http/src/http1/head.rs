//! `HeadDecoder`: a start line, then a field section, with a limit on their length.

use crate::http1::HttpError;
use crate::http1::field_buffer::FieldBuffer;
use crate::http1::field_section::FieldSection;
use crate::http1::names::Side;

/// Default limit on the length of a head in bytes, including the fields that the parser drops.
pub const DEFAULT_HEAD_LIMIT: usize = 16 * 1024;

pub(super) const HEAD_TOO_LONG: HttpError = HttpError::new(431, "head", "too long");

/// Incremental parser of a start line.
pub(super) trait StartLine: Default {
    const SIDE: Side;

    /// Parses the next part of the input, which must not be empty. Returns the rest, and whether the line is complete.
    fn next<'i>(
        &mut self,
        input: &'i [u8],
        text: &mut FieldBuffer<'_>,
    ) -> Result<(&'i [u8], bool), HttpError>;

    /// Returns the error of a head that reaches its limit in this line.
    fn too_long(&self) -> HttpError;

    /// Checks the complete head, and stores the framing of its body.
    fn validate(&mut self, fields: &FieldBuffer<'_>) -> Result<(), HttpError>;
}

/// Incremental parser of a head.
#[derive(Debug)]
pub(super) struct HeadDecoder<'b, L> {
    line: L,
    section: FieldSection<'b>,
    stage: Stage,
    /// Number of bytes that the head may still have.
    remaining: usize,
    limit: usize,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    StartLine,
    Fields,
    Complete,
    Failed(HttpError),
}

impl<'b, L: StartLine> HeadDecoder<'b, L> {
    pub(super) fn new(buffer: &'b mut [u8]) -> HeadDecoder<'b, L> {
        HeadDecoder {
            line: L::default(),
            section: FieldSection::new(buffer, L::SIDE),
            stage: Stage::StartLine,
            remaining: DEFAULT_HEAD_LIMIT,
            limit: DEFAULT_HEAD_LIMIT,
        }
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        (self.limit, self.remaining) = (limit, limit);
    }

    pub(super) fn clear(&mut self) {
        self.section.clear();
        (self.line, self.stage, self.remaining) = (L::default(), Stage::StartLine, self.limit);
    }

    /// Returns whether no byte of a request head has arrived. Empty lines in front of the head do not count. Only
    /// for request heads: the buffer stores no text of a status line.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::StartLine) && self.section.buffer.start_line().is_empty()
    }

    #[inline(never)]
    pub(super) fn feed(&mut self, input: &[u8]) -> Result<usize, HttpError> {
        let mut rest = input;
        while let (Stage::StartLine | Stage::Fields, false) = (self.stage, rest.is_empty()) {
            rest = self.advance(rest).inspect_err(|error| self.stage = Stage::Failed(*error))?;
        }
        match self.stage {
            Stage::Failed(error) => Err(error),
            _ => Ok(input.len().saturating_sub(rest.len())),
        }
    }

    /// Parses the next part of the input. Returns the rest.
    fn advance<'i>(&mut self, input: &'i [u8]) -> Result<&'i [u8], HttpError> {
        let is_start_line = matches!(self.stage, Stage::StartLine);
        // The parser sees no byte beyond the limit, so pieces of any size give the same error.
        let allowed = input.get(..self.remaining).unwrap_or(input);
        if allowed.is_empty() {
            return Err(if is_start_line { self.line.too_long() } else { HEAD_TOO_LONG });
        }
        let (rest, is_complete) = match is_start_line {
            true => self.line.next(allowed, &mut self.section.buffer)?,
            false => self.section.next(allowed)?,
        };
        let consumed = allowed.len().saturating_sub(rest.len());
        self.remaining = self.remaining.saturating_sub(consumed);
        if is_complete {
            self.stage = if is_start_line { Stage::Fields } else { Stage::Complete };
        }
        if let Stage::Complete = self.stage {
            self.line.validate(&self.section.buffer)?;
        }
        Ok(input.get(consumed..).unwrap_or_default())
    }

    /// Returns the start line and the fields of a complete head, or `None` until the head is complete.
    pub(super) fn head(&self) -> Option<(&L, &FieldBuffer<'b>)> {
        matches!(self.stage, Stage::Complete).then_some((&self.line, &self.section.buffer))
    }
}
