//! URI templates: matching URIs and extracting variables.
//!
//! Specification: *Resources*, *Resource templates*; RFC 6570 level 1 (`{name}`) and the reserved expansion of level 2
//! (`{+name}`).
#![allow(clippy::as_conversions, reason = "a digit is less than 16")]

use core::fmt;

use crate::json::{Chars, Str, TooShort, WriteText, find_in_bytes, prints, text_of};

/// A part of a template.
enum Piece<'t> {
    Literal(&'t [u8]),
    Variable {
        name: &'t [u8],
        /// Whether the value may have reserved characters, such as slashes (`{+name}`).
        reserved: bool,
    },
}

/// Splits off the first part of a template, and returns this part and the rest. Returns `None` if the template is
/// empty, or begins with a brace that is not closed.
fn split(template: &[u8]) -> Option<(Piece<'_>, &[u8])> {
    let inside = match template {
        [] => return None,
        [b'{', inside @ ..] => inside,
        _ => {
            let end = find_in_bytes(b'{', template).unwrap_or(template.len());
            let (text, rest) = template.split_at_checked(end)?;
            return Some((Piece::Literal(text), rest));
        }
    };
    let (name, rest) = inside.split_at_checked(find_in_bytes(b'}', inside)?)?;
    let (name, reserved) = match name {
        [b'+', name @ ..] => (name, true),
        _ => (name, false),
    };
    Some((Piece::Variable { name, reserved }, rest.get(1..)?))
}

/// Returns whether a template is valid. Braces must enclose names. No `{name}` may follow a `{+name}`, because [`find`]
/// requires that the last value can contain the text of all earlier values.
pub(crate) const fn is_valid(template: &str) -> bool {
    let mut rest = template.as_bytes();
    let mut any_reserved = false;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match byte {
            b'}' => return false,
            b'{' => {
                if let [b'+', name @ ..] = rest {
                    (rest, any_reserved) = (name, true);
                } else if any_reserved {
                    return false;
                }
                match after_name(rest) {
                    Some(tail) => rest = tail,
                    None => return false,
                }
            }
            _ => {}
        }
    }
    true
}

/// Returns the part of the template after a name and its closing brace. Returns `None` if the name is empty or not
/// valid, or has no closing brace.
const fn after_name(text: &[u8]) -> Option<&[u8]> {
    let (mut rest, mut empty) = (text, true);
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match byte {
            b'}' => return if empty { None } else { Some(rest) },
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'%' => empty = false,
            _ => return None,
        }
    }
    None
}

/// A position in a URI.
#[derive(Clone)]
struct Position<'u> {
    rest: Chars<'u>,
    /// The offset in the URI, in bytes, after decoding of JSON escapes.
    at: usize,
}

impl Position<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        self.at = self.at.saturating_add(next.len_utf8());
        Some(next)
    }

    /// Consumes `text`. Returns `false` if the URI does not continue with `text`. The position then has no meaning.
    fn take_text(&mut self, text: &str) -> bool {
        text.chars().all(|wanted| self.next() == Some(wanted))
    }

    /// Consumes one character of a value. A `%` and its two digits count as one character. Returns `false` at the end
    /// of the URI, or if a value cannot contain the next character. The position then has no meaning.
    fn take_value_char(&mut self, reserved: bool) -> bool {
        match self.next() {
            Some('%') => {
                let mut is_digit = || self.next().is_some_and(|next| next.is_ascii_hexdigit());
                is_digit() && is_digit()
            }
            Some('A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '.' | '_' | '~') => true,
            // `encodeURIComponent` of JavaScript, and so the TypeScript SDK, does not encode these characters.
            Some('!' | '\''..='*') => true,
            Some('#'..='$' | '&' | '+'..='/' | ':' | ';' | '=' | '?' | '@' | '[' | ']') => reserved,
            _ => false,
        }
    }
}

/// The last variable that [`find`] has matched.
struct LastVariable<'t, 'u> {
    /// The template after the variable.
    rest: &'t [u8],
    /// The end of the value.
    end: Position<'u>,
    reserved: bool,
    is_wanted: bool,
}

/// Matches a URI against a template. Returns `None` if the URI does not match. Returns `Some(None)` if the template has
/// no variable `wanted`. Otherwise returns the byte range of the variable's value in the URI.
///
/// Each value is as short as possible. After a mismatch, only the last value grows. The earlier values need not grow,
/// because the last value can contain any text that they can contain.
pub(crate) fn find(template: &str, uri: Chars<'_>, wanted: &str) -> Option<Option<(usize, usize)>> {
    let mut here = Position { rest: uri, at: 0 };
    let mut pattern = template.as_bytes();
    let mut found = None;
    let mut last: Option<LastVariable<'_, '_>> = None;
    loop {
        let matches = match split(pattern) {
            Some((Piece::Variable { name, reserved }, rest)) => {
                let is_wanted = name == wanted.as_bytes();
                if is_wanted {
                    found = Some((here.at, here.at));
                }
                last = Some(LastVariable { rest, end: here.clone(), reserved, is_wanted });
                pattern = rest;
                true
            }
            Some((Piece::Literal(text), rest)) => {
                pattern = rest;
                here.take_text(text_of(text))
            }
            None if here.next().is_none() => return Some(found),
            None => false,
        };
        if !matches {
            let variable = last.as_mut()?;
            if !variable.end.take_value_char(variable.reserved) {
                return None;
            }
            if let (true, Some((_, to))) = (variable.is_wanted, &mut found) {
                *to = variable.end.at;
            }
            (pattern, here) = (variable.rest, variable.end.clone());
        }
    }
}

/// Returns whether a template has a variable of this name.
pub(crate) fn has_variable(template: &str, wanted: Str<'_>) -> bool {
    let mut rest = template.as_bytes();
    while let Some((piece, tail)) = split(rest) {
        if matches!(piece, Piece::Variable { name, .. } if wanted == *text_of(name)) {
            return true;
        }
        rest = tail;
    }
    false
}

/// A URI that matches a template, with the values of the variables.
#[derive(Debug, Clone, Copy)]
pub struct Matches<'a> {
    pub(crate) template: &'a str,
    pub(crate) uri: &'a str,
}

impl<'a> Matches<'a> {
    /// Returns the value of a variable. Returns `None` if the template has no variable of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Variable<'a>> {
        value_of(self.template, self.uri, name)
    }
}

/// Returns the value of a variable in a URI. Returns `None` if the URI does not match, or the template has no variable
/// of this name.
pub(crate) fn value_of<'u>(template: &str, uri: &'u str, name: &str) -> Option<Variable<'u>> {
    let (from, to) = find(template, Chars::new(uri), name)??;
    Some(Variable { text: uri.get(from..to)? })
}

/// The value of a template's variable, percent-decoded on access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Variable<'u> {
    text: &'u str,
}

impl<'u> Variable<'u> {
    /// Returns the percent-encoded text, as in the URI.
    #[must_use]
    pub fn raw(self) -> &'u str {
        self.text
    }

    /// Returns the text, or `None` if the text contains percent-encoded characters.
    ///
    /// The operator `==`, [`bytes`](Variable::bytes), [`copy_to`](Variable::copy_to) and `Display` decode any text.
    #[must_use]
    pub fn as_str(self) -> Option<&'u str> {
        find_in_bytes(b'%', self.text.as_bytes()).is_none().then_some(self.text)
    }

    /// Returns the decoded bytes, which can be invalid UTF-8.
    pub fn bytes(self) -> impl Iterator<Item = u8> + Clone + 'u {
        let mut rest = self.text.as_bytes();
        core::iter::from_fn(move || {
            let (byte, tail) = match rest {
                [b'%', high, low, tail @ ..] => (digit(*high) << 4 | digit(*low), tail),
                [byte, tail @ ..] => (*byte, tail),
                [] => return None,
            };
            rest = tail;
            Some(byte)
        })
    }

    /// Copies the decoded text to `target`, and returns the copy. If the decoded text is not UTF-8, returns an empty
    /// text.
    ///
    /// # Errors
    /// Returns [`TooShort`] if `target` is shorter than the decoded text.
    pub fn copy_to(self, target: &mut [u8]) -> Result<&str, TooShort> {
        let needed = self.bytes().count();
        let Some(place) = target.get_mut(..needed) else { return Err(TooShort { needed }) };
        place.iter_mut().zip(self.bytes()).for_each(|(place, byte)| *place = byte);
        Ok(text_of(place))
    }
}

/// Returns the value of a hexadecimal digit, or 0 for any other byte.
fn digit(byte: u8) -> u8 {
    char::from(byte).to_digit(16).unwrap_or_default() as u8
}

/// Compares the decoded text with a text. For example, `%41` equals `A`.
impl PartialEq<str> for Variable<'_> {
    fn eq(&self, other: &str) -> bool {
        self.bytes().eq(other.bytes())
    }
}

impl PartialEq<&str> for Variable<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// Writes the decoded text, with U+FFFD for invalid UTF-8.
impl WriteText for Variable<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let mut bytes = self.bytes();
        while let Some(first) = bytes.next() {
            let mut character = [first, 0, 0, 0];
            let mut length = 1usize;
            for place in character.iter_mut().skip(1).take(followers(first)) {
                let mut rest = bytes.clone();
                let Some(next) = rest.next().filter(|next| next & 0xC0 == 0x80) else { break };
                (*place, bytes) = (next, rest);
                length = length.saturating_add(1);
            }
            let character = character.get(..length).unwrap_or_default();
            put(core::str::from_utf8(character).unwrap_or("\u{FFFD}"));
        }
    }
}

prints!(Variable<'_>);

/// Returns the number of continuation bytes that UTF-8 requires after the first byte of a character.
fn followers(first: u8) -> usize {
    match first {
        0xF0.. => 3,
        0xE0.. => 2,
        0xC0.. => 1,
        _ => 0,
    }
}

/// Prints the percent-encoded text in quotes.
impl fmt::Debug for Variable<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text, formatter)
    }
}

#[cfg(test)]
mod tests;
