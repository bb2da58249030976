//! `Str`: the escaped text of a JSON string.

use super::search::{has_backslash, text_run};
use super::skip::{after_prefix, split};
use super::write_text::{WriteText, errors, prints};
use crate::platform::{copy, move_down};
use core::fmt;

/// The escaped text of a JSON string, without its quotes. A `Str` compares, iterates and copies the decoded text
/// without a heap.
///
/// ```
/// use mcp_proto::json::Json;
/// let name = Json::parse(br#""tools\/list \ud83d\ude00""#)?.string().unwrap();
/// assert_eq!(name, "tools/list 😀");
/// assert_eq!(name.raw(), r"tools\/list \ud83d\ude00");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Str<'a> {
    text: &'a [u8],
}

/// A copy error: the decoded text does not fit into its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort {
    /// The length of the decoded text in bytes.
    pub needed: usize,
}

impl WriteText for TooShort {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        ("the text has ", self.needed, " bytes").pieces(put);
    }
}

prints!(Str<'_>);
errors!(TooShort);

impl<'a> Str<'a> {
    /// Views the bytes between the quotes of a scanned string.
    pub(crate) const fn trusted(text: &'a [u8]) -> Str<'a> {
        Str { text }
    }

    /// Returns the escaped text, without the quotes.
    #[must_use]
    pub fn raw(self) -> &'a str {
        text_of(self.text)
    }

    /// Returns the bytes of the escaped text.
    pub(super) fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// Returns the text if it contains no escapes; otherwise `None`.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        if has_backslash(self.text) { None } else { Some(self.raw()) }
    }

    /// Returns the length of the decoded text in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.parts().fold(0, |sum: usize, piece| sum.wrapping_add(piece.bytes(&mut [0; 4]).len()))
    }

    /// Returns whether the text is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// Returns an iterator over the decoded characters.
    pub fn chars(self) -> Chars<'a> {
        Chars { pieces: self.parts(), run: "".chars() }
    }

    /// Copies the decoded text to the start of `target`, and returns the copy.
    ///
    /// # Errors
    ///
    /// Returns an error if `target` is shorter than the decoded text.
    pub fn copy_to(self, target: &mut [u8]) -> Result<&str, TooShort> {
        let mut end = 0usize;
        for piece in self.parts() {
            let mut buffer = [0; 4];
            let bytes = piece.bytes(&mut buffer);
            let next = end.wrapping_add(bytes.len());
            match target.get_mut(end..next) {
                Some(place) => copy(place, bytes),
                None => return Err(TooShort { needed: self.len() }),
            }
            end = next;
        }
        let text = target.get(..end).unwrap_or_default();
        Ok(text_of(text))
    }

    fn parts(self) -> Pieces<'a> {
        Pieces { rest: self.text }
    }

    /// Passes the decoded text to `put`, piece by piece.
    pub(super) fn decoded(self, put: &mut dyn FnMut(&str)) {
        for piece in self.parts() {
            put(text_of(piece.bytes(&mut [0; 4])));
        }
    }

    #[inline]
    fn equals(self, other: &[u8]) -> bool {
        // An escape is longer than its character. A text with at most the length of `other` therefore equals
        // `other` only if the text has no escapes.
        if self.text.len() <= other.len() {
            return self.text == other && !has_backslash(other);
        }
        self.decodes_to(other)
    }

    /// Returns whether the decoded text is `name`. `name` must not contain a backslash.
    #[inline]
    pub(crate) fn is_name(self, name: &str) -> bool {
        let name = name.as_bytes();
        // Text with an escape is longer than the decoded name.
        self.text == name || self.text.len() > name.len() && self.decodes_to(name)
    }

    #[cold]
    fn decodes_to(self, other: &[u8]) -> bool {
        let rest = self.parts().try_fold(other, |rest, piece| after_prefix(rest, piece.bytes(&mut [0; 4])));
        rest.is_some_and(<[u8]>::is_empty)
    }
}

impl PartialEq<str> for Str<'_> {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        self.equals(other.as_bytes())
    }
}

impl PartialEq<&str> for Str<'_> {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        self.equals(other.as_bytes())
    }
}

impl PartialEq<Str<'_>> for str {
    fn eq(&self, other: &Str<'_>) -> bool {
        other.equals(self.as_bytes())
    }
}

impl PartialEq<Str<'_>> for &str {
    fn eq(&self, other: &Str<'_>) -> bool {
        other.equals(self.as_bytes())
    }
}

/// Compares decoded text: `"\u0061"` equals `"a"`.
impl PartialEq<Str<'_>> for Str<'_> {
    fn eq(&self, other: &Str<'_>) -> bool {
        self.chars().eq(other.chars())
    }
}

impl Eq for Str<'_> {}

/// Writes the escaped text in quotes. If the text has more than 1000 bytes, writes only the beginning and the length.
impl fmt::Debug for Str<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("\"")?;
        write_shortened(formatter, self.raw())?;
        formatter.write_str("\"")
    }
}

/// Writes a text for `Debug`, at most its first 1000 bytes, because events in a log may contain megabytes.
pub(super) fn write_shortened(formatter: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    const LIMIT: usize = 1000;
    let end = LIMIT.min(text.len());
    // A character has at most four bytes.
    let shown = (end.saturating_sub(3)..=end).rev().find_map(|end| text.get(..end)).unwrap_or_default();
    formatter.write_str(shown)?;
    match shown.len() < text.len() {
        true => write!(formatter, "… ({} bytes)", text.len()),
        false => Ok(()),
    }
}

/// An iterator over the decoded characters of a [`Str`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    pieces: Pieces<'a>,
    run: core::str::Chars<'a>,
}

impl<'a> Chars<'a> {
    /// Creates an iterator over text without escapes.
    pub(crate) fn new(text: &'a str) -> Chars<'a> {
        Chars { pieces: Pieces { rest: &[] }, run: text.chars() }
    }
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            if let Some(next) = self.run.next() {
                return Some(next);
            }
            match self.pieces.next()? {
                Piece::Run(run) => self.run = text_of(run).chars(),
                Piece::Escaped(character) => return Some(character),
            }
        }
    }
}

/// A part of a string's text.
enum Piece<'a> {
    /// A run of bytes without escapes.
    Run(&'a [u8]),
    /// The character of an escape.
    Escaped(char),
}

impl<'a> Piece<'a> {
    /// Returns the decoded text. `buffer` holds the bytes of an escaped character.
    fn bytes<'b>(self, buffer: &'b mut [u8; 4]) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Piece::Run(run) => run,
            Piece::Escaped(character) => character.encode_utf8(buffer).as_bytes(),
        }
    }
}

#[derive(Clone, Debug)]
struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        match self.rest {
            [] => None,
            [b'\\', tail @ ..] => {
                let (character, length) = unescape(tail);
                self.rest = split(tail, length).1;
                Some(Piece::Escaped(character))
            }
            [_, tail @ ..] => {
                // The first byte is part of the run, because scanned text contains no quotes and no control
                // characters.
                let (run, rest) = split(self.rest, 1usize.wrapping_add(text_run(tail)));
                self.rest = rest;
                Some(Piece::Run(run))
            }
        }
    }
}

/// Decodes an escape. Returns the character, and the length of the escape without its backslash. `bytes` start after
/// the backslash. An unpaired surrogate becomes U+FFFD, but scanned text contains none.
fn unescape(bytes: &[u8]) -> (char, usize) {
    let character = match bytes {
        [b'u', rest @ ..] => return unescape_code(rest),
        [b'b', ..] => '\u{8}',
        [b'f', ..] => '\u{C}',
        [b'n', ..] => '\n',
        [b'r', ..] => '\r',
        [b't', ..] => '\t',
        [other @ (b'"' | b'\\' | b'/'), ..] => char::from(*other),
        _ => char::REPLACEMENT_CHARACTER,
    };
    (character, 1)
}

/// Decodes `\uXXXX` or a surrogate pair. Returns the character, and the length of the escape from the `u` on. `bytes`
/// start after the `u`.
fn unescape_code(bytes: &[u8]) -> (char, usize) {
    let (mut code, mut length) = (code_unit(bytes), 5);
    if let (0xD800..=0xDBFF, Some([b'\\', b'u', tail @ ..])) = (code, bytes.get(4..))
        && let second @ 0xDC00..=0xDFFF = code_unit(tail)
    {
        code = ((code & 0x3FF) << 10 | (second & 0x3FF)).wrapping_add(0x10000);
        length = 11;
    }
    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), length)
}

/// Returns the value of four hexadecimal digits.
fn code_unit(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .take(4)
        .fold(0u32, |value, &byte| value << 4 | char::from(byte).to_digit(16).unwrap_or_default())
}

/// Returns scanned bytes as text, or an empty text for invalid UTF-8. Repeats the UTF-8 check, because only
/// `unsafe` code could skip the check.
pub(crate) fn text_of(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or_default()
}

/// Decodes text in place, up to a closing quote or the end. Returns the length of the decoded text, then the length of
/// the escaped text. The decoded text is never longer than the escaped text.
#[inline]
pub(crate) fn decode_in_place(text: &mut [u8]) -> (usize, usize) {
    let run = text_run(text);
    if text.get(run) == Some(&b'\\') { decode_escapes(text, run) } else { (run, run) }
}

/// Decodes text like [`decode_in_place`], from the first escape on. The first escape is at `start`.
#[inline(never)]
fn decode_escapes(text: &mut [u8], start: usize) -> (usize, usize) {
    let (mut from, mut to) = (start, start);
    while let Some([b'\\', tail @ ..]) = text.get(from..) {
        let (character, length) = unescape(tail);
        let escape = length.min(tail.len()).wrapping_add(1);
        let mut decoded = [0; 4];
        let decoded = character.encode_utf8(&mut decoded).as_bytes();
        // Only an invalid escape is shorter than its character, and scanned text contains no invalid escape.
        let length = decoded.len().min(escape);
        if let Some(place) = text.get_mut(to..to.wrapping_add(length)) {
            copy(place, decoded);
        }
        (from, to) = (from.wrapping_add(escape), to.wrapping_add(length));
        let run = text_run(text.get(from..).unwrap_or_default());
        move_down(text, from, to, run);
        (from, to) = (from.wrapping_add(run), to.wrapping_add(run));
    }
    (to, from)
}

#[cfg(test)]
mod tests;
