//! `FieldLines`: splits a field section into names and values (RFC 9112, section 5).

use crate::bytes::{split_long_run, split_run};
use crate::http1::syntax::{is_token, is_value, is_white_space};

/// Incremental lexer of field lines, up to and including the empty line after them.
///
/// The lexer is strict: a line ends with CRLF, no white space precedes the colon, and no line continues another. With a
/// more tolerant lexer, an attacker could smuggle a request past an intermediary that reads the lines differently (RFC
/// 9112, section 11.2).
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldLines {
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    LineStart,
    Name,
    /// White space between the colon and the value.
    ValueStart,
    Value,
    /// After the CR of a field line.
    LineFeed,
    /// After the CR of the empty line.
    LastLineFeed,
}

/// A part of a field section. A name or value that arrives in pieces has one part for each piece.
#[derive(Debug)]
pub(super) enum FieldPart<'i> {
    /// Bytes without content.
    Syntax,
    Name(&'i [u8]),
    NameEnd,
    /// May end with white space that does not belong to the value.
    Value(&'i [u8]),
    LineEnd,
    SectionEnd,
}

impl FieldLines {
    pub(super) const fn new() -> FieldLines {
        FieldLines { state: State::LineStart }
    }

    /// Splits off the next part. Returns the part and the rest of the input, or the reason why the line is invalid.
    ///
    /// The input must not be empty. Each part has at least one byte.
    pub(super) fn next<'i>(&mut self, input: &'i [u8]) -> Result<(FieldPart<'i>, &'i [u8]), &'static str> {
        let Some((first, rest)) = input.split_first() else { return Ok((FieldPart::Syntax, input)) };
        let (part, state, rest) = match (self.state, *first) {
            (State::LineStart, b'\r') => (FieldPart::Syntax, State::LastLineFeed, rest),
            (State::LineStart, b' ' | b'\t') => return Err("line folding is obsolete"),
            (State::LineStart, b':') => return Err("empty name"),
            (State::LineStart | State::Name, byte) if is_token(byte) => {
                let (name, rest) = split_run(input, is_token);
                (FieldPart::Name(name), State::Name, rest)
            }
            (State::Name, b':') => (FieldPart::NameEnd, State::ValueStart, rest),
            (State::Name, b' ' | b'\t') => return Err("white space before the colon"),
            (State::Name, b'\r') => return Err("line without a colon"),
            (State::ValueStart, b' ' | b'\t') => {
                (FieldPart::Syntax, State::ValueStart, split_run(input, is_white_space).1)
            }
            (State::ValueStart | State::Value, byte) if is_value(byte) => {
                let (value, rest) = split_long_run(input, is_value);
                (FieldPart::Value(value), State::Value, rest)
            }
            (State::ValueStart | State::Value, b'\r') => (FieldPart::Syntax, State::LineFeed, rest),
            (State::LineFeed, b'\n') => (FieldPart::LineEnd, State::LineStart, rest),
            (State::LastLineFeed, b'\n') => (FieldPart::SectionEnd, State::LineStart, rest),
            (State::LineFeed | State::LastLineFeed, _) => return Err("CR without LF"),
            (_, b'\n') => return Err("LF without CR"),
            (State::LineStart | State::Name, _) => return Err("invalid byte in a name"),
            (State::ValueStart | State::Value, _) => return Err("control character in a value"),
        };
        self.state = state;
        Ok((part, rest))
    }
}
