//! `KnownObject`: a stored `_meta`. The scanner skips its repetitions in later messages.

use super::{MemberIndex, NOWHERE, Span};
use crate::json::search::plain_run;
use crate::json::skip::{after_prefix, split};
use crate::platform::copy;

/// The maximum length of the object, in bytes.
pub(crate) const CAPACITY: usize = 512;

/// The number of objects that a machine stores: none on targets whose scanner has no index.
pub(crate) const OBJECTS: usize = if MemberIndex::IS_KEPT { 1 } else { 0 };

/// A copy of a valid object. One of the object's values, such as a progress token, may differ in a repetition.
#[derive(Debug)]
pub(crate) struct KnownObject {
    text: [u8; CAPACITY],
    /// The length of the text before the value that may differ. Equal to `length` if no value may differ, and `NOWHERE`
    /// if no object is stored.
    head: usize,
    /// The position of the text after this value; equal to `length` if no value may differ.
    tail: usize,
    length: usize,
}

impl KnownObject {
    pub(crate) const EMPTY: KnownObject =
        KnownObject { text: [0; CAPACITY], head: NOWHERE, tail: 0, length: 0 };

    /// Returns whether no object is stored.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NOWHERE
    }

    /// Stores `text`, which must be a valid object of at most [`CAPACITY`] bytes. The value at `variable`, a span of
    /// `text`, may differ in a repetition. If the span is missing, no value may differ.
    pub(crate) fn set(&mut self, text: &[u8], variable: Span) {
        copy(&mut self.text, text);
        self.length = text.len();
        (self.head, self.tail) =
            if variable.is_missing() { (self.length, self.length) } else { (variable.start, variable.end) };
    }

    /// Returns the bytes after a repetition of the object at the start of `text`. Returns `None` if `text` does not
    /// start with a repetition, or if no object is stored.
    ///
    /// In `text`, the value that may differ must be an ASCII string without escapes, or a number of only digits.
    // Not inlined, because the loop of `Scanner::tokens` would otherwise spill more variables.
    #[inline(never)]
    pub(crate) fn after<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let rest = after_prefix(text, self.text.get(..self.head)?)?;
        if self.tail == self.length { Some(rest) } else { self.after_variable(rest) }
    }

    /// Returns the bytes after the rest of a repetition, from the value that may differ on. Returns `None` if `text`
    /// does not start with this rest.
    #[inline(never)]
    fn after_variable<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        after_prefix(after_simple_value(text)?, self.text.get(self.tail..self.length)?)
    }
}

/// Returns the bytes after an ASCII string without escapes, or after a number of only digits. Returns `None` if `text`
/// starts with neither. For `1.5`, returns the bytes from the point on, which never continue a repetition.
fn after_simple_value(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'"', text @ ..] => match split(text, plain_run(text)).1 {
            [b'"', tail @ ..] => Some(tail),
            _ => None,
        },
        [b'0', tail @ ..] => Some(tail),
        _ => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits > 0 { text.get(digits..) } else { None }
        }
    }
}
