//! `FieldSection`: the field section of a head, reduced to the fields that a head keeps.

use crate::http1::HttpError;
use crate::http1::field_buffer::{FieldBuffer, Full};
use crate::http1::field_lines::{FieldLines, FieldPart};
use crate::http1::names::{FieldName, NameMatcher, Side};
use crate::http1::syntax::decimal;

/// Incremental parser of a field section.
#[derive(Debug)]
pub(super) struct FieldSection<'b> {
    pub(super) buffer: FieldBuffer<'b>,
    side: Side,
    lines: FieldLines,
    name: NameMatcher,
    /// The field of the open entry. `None` while no entry is open.
    field: Option<FieldName>,
}

impl<'b> FieldSection<'b> {
    pub(super) fn new(buffer: &'b mut [u8], side: Side) -> FieldSection<'b> {
        FieldSection {
            buffer: FieldBuffer::new(buffer),
            side,
            lines: FieldLines::new(),
            name: NameMatcher::for_side(side),
            field: None,
        }
    }

    pub(super) fn clear(&mut self) {
        self.buffer.clear();
        (self.lines, self.name, self.field) = (FieldLines::new(), NameMatcher::for_side(self.side), None);
    }

    /// Parses the next part of the input, which must not be empty. Returns the rest, and whether the section is
    /// complete.
    #[inline(never)]
    pub(super) fn next<'i>(&mut self, input: &'i [u8]) -> Result<(&'i [u8], bool), HttpError> {
        let shown = self.field.map_or("field line", FieldName::shown);
        let (part, rest) = self.lines.next(input).map_err(|reason| HttpError::bad(shown, reason))?;
        let stored = match part {
            FieldPart::Name(piece) => self.name(piece),
            FieldPart::NameEnd => self.name_end(),
            FieldPart::Value(piece) if self.field.is_some() => self.buffer.push_value(piece),
            FieldPart::Value(_) | FieldPart::Syntax => Ok(()),
            FieldPart::LineEnd => return self.line_end().map(|()| (rest, false)),
            FieldPart::SectionEnd => return Ok((rest, true)),
        };
        stored.map_err(|Full| full(self.field.unwrap_or(FieldName::McpParam))).map(|()| (rest, false))
    }

    fn name(&mut self, piece: &[u8]) -> Result<(), Full> {
        let suffix = self.name.feed(piece);
        if suffix.is_empty() {
            return Ok(());
        }
        if self.field.is_none() {
            self.field = Some(FieldName::McpParam);
            self.buffer.open(FieldName::McpParam)?;
        }
        self.buffer.push_name(suffix)
    }

    fn name_end(&mut self) -> Result<(), Full> {
        let field = self.name.field();
        self.name = NameMatcher::for_side(self.side);
        match field {
            Some(field) if self.field.is_none() => {
                self.field = Some(field);
                self.buffer.open(field)
            }
            _ => Ok(()),
        }
    }

    /// Closes the open entry. If an earlier entry has the same name, joins the values of a list, and drops an equal
    /// value of a field that may be repeated. Fails for any other repeated field, and for a name or value that is too
    /// long.
    fn line_end(&mut self) -> Result<(), HttpError> {
        let Some(field) = self.field.take() else { return Ok(()) };
        self.buffer.close().map_err(|Full| full(field))?;
        let Some((first, last)) = self.buffer.repeated() else { return Ok(()) };
        if field.is_list() {
            return self.buffer.join_last().map_err(|Full| full(field));
        }
        let is_equal = match field {
            FieldName::ContentLength => decimal(first).is_some_and(|first| decimal(last) == Some(first)),
            _ => self.side == Side::Client && first == last,
        };
        if !is_equal {
            return Err(HttpError::bad(field.shown(), "repeated"));
        }
        self.buffer.remove_last();
        Ok(())
    }
}

fn full(field: FieldName) -> HttpError {
    HttpError::new(431, field.shown(), "does not fit in the head buffer")
}
