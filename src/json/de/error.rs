//! Decoding errors with a message and a path, without a heap.
#![allow(clippy::as_conversions, reason = "offsets in a buffer of less than 256 bytes")]

use super::Step;
use crate::json::decimal::digits;
use crate::json::write_text::{WriteText, debug_prints, errors};
use core::fmt;
use serde_core::de::{self, Expected, Unexpected};

/// The capacity for message and path together. With a few more bytes, clippy would report `result_large_err` in the
/// code of callers.
const CAPACITY: usize = 120;
/// The maximum length of a message. The path takes the remaining capacity.
const MESSAGE: usize = 88;

/// The largest number of bytes that an error shows of an unexpected value or name.
const SHOWN: usize = 24;

/// A decoding error: the text does not fit the type. An example is `` `motor[2].speed`: expected an integer from 0 to
/// 255, found "fast" ``. A long message is cut at its end, a long path at its start. The character `…` marks the cut.
#[derive(Clone, Copy)]
pub struct TypedError {
    /// The message at the start and the path at the end. The path grows backwards, because each new step precedes it.
    bytes: [u8; CAPACITY],
    message: u8,
    /// Whether the message lacks its end.
    message_cut: bool,
    path: u8,
    /// Whether the path lacks its first steps.
    cut: bool,
}

impl TypedError {
    /// Returns the path inside the value, such as `motor[2].speed`. The path of the value itself is empty. A
    /// path that is too long lacks its first steps.
    #[must_use]
    pub fn path(&self) -> &str {
        let start = CAPACITY.saturating_sub(usize::from(self.path));
        core::str::from_utf8(self.bytes.get(start..).unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the message. A message that is too long lacks its end.
    #[must_use]
    pub fn message(&self) -> &str {
        let message = self.bytes.get(..usize::from(self.message)).unwrap_or_default();
        core::str::from_utf8(message).unwrap_or_default()
    }

    /// Prepends a step to the path: the surrounding member or element.
    pub(super) fn put_inside(&mut self, step: &Step<'_>) {
        let separator = if self.path > 0 && !self.path().starts_with('[') { "." } else { "" };
        match step {
            Step::Member(name) => self.prepend(&[name, separator]),
            Step::Element(index) => {
                self.prepend(&["[", digits(*index as u64, &mut [0; 20]), "]", separator]);
            }
        }
    }

    /// Marks the path as incomplete at its start.
    pub(super) fn cut_path(&mut self) {
        self.cut = true;
    }

    /// Prepends one complete step to the path. After a step that does not fit, the method ignores further steps.
    fn prepend(&mut self, parts: &[&str]) {
        let length = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let end = CAPACITY.saturating_sub(usize::from(self.path));
        let Some(start) = end.checked_sub(length).filter(|start| *start >= usize::from(self.message)) else {
            self.cut = true;
            return;
        };
        if self.cut {
            return;
        }
        let step = parts.iter().flat_map(|part| part.bytes());
        self.bytes.iter_mut().skip(start).zip(step).for_each(|(place, byte)| *place = byte);
        self.path = CAPACITY.saturating_sub(start) as u8;
    }

    /// Creates an error without a path.
    #[cfg(any(feature = "derive", feature = "alloc"))]
    pub(crate) fn new(message: &dyn WriteText) -> TypedError {
        PathlessError::new(message).into()
    }
}

impl From<PathlessError> for TypedError {
    fn from(error: PathlessError) -> TypedError {
        let mut typed = TypedError {
            bytes: [0; CAPACITY],
            message: error.length,
            message_cut: error.cut,
            path: 0,
            cut: false,
        };
        if let Some(message) = typed.bytes.first_chunk_mut() {
            *message = error.bytes;
        }
        typed
    }
}

/// A decoding error before its path is known. The type is smaller than [`TypedError`]. This saves stack, because each
/// level of nested containers takes stack for several results.
pub(super) struct PathlessError {
    bytes: [u8; MESSAGE],
    length: u8,
    /// Whether the message lacks its end.
    cut: bool,
}

impl PathlessError {
    #[inline(never)]
    pub(super) fn new(message: &dyn WriteText) -> PathlessError {
        let mut error = PathlessError { bytes: [0; MESSAGE], length: 0, cut: false };
        message.pieces(&mut |piece| error.append(piece));
        error
    }

    /// Creates the error for a tag that names no variant.
    #[cfg(feature = "derive")]
    #[inline(never)]
    pub(super) fn no_variant(value: &str, variants: &'static [&'static str]) -> PathlessError {
        PathlessError::new(&("unknown value ", Shown(value), ", ", Names(variants)))
    }

    /// Appends to the message, as far as the buffer has space.
    fn append(&mut self, piece: &str) {
        let start = usize::from(self.length);
        let kept = cut(piece, MESSAGE.saturating_sub(start));
        let places = self.bytes.iter_mut().skip(start);
        places.zip(kept.bytes()).for_each(|(place, byte)| *place = byte);
        self.length = start.saturating_add(kept.len()) as u8;
        self.cut |= kept.len() < piece.len();
    }

    /// Creates the error for a value that has the wrong type or is out of bounds.
    pub(super) fn wrong(found: &str, expected: &str) -> PathlessError {
        PathlessError::new(&("expected ", expected, ", found ", Shown(found)))
    }

    fn message(&self) -> &str {
        let message = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        core::str::from_utf8(message).unwrap_or_default()
    }
}

/// Returns the start of `text`, with at most `length` bytes.
fn cut(text: &str, length: usize) -> &str {
    let boundary = (0..=length.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..boundary.unwrap_or_default()).unwrap_or_default()
}

/// Text for an unexpected value. Avoids the floating-point formatting that serde's `Display` would link.
struct Found<'a>(Unexpected<'a>);

impl WriteText for Found<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let kind = match self.0 {
            Unexpected::Bool(value) => return value.pieces(put),
            Unexpected::Unsigned(value) => return value.pieces(put),
            Unexpected::Signed(value) => return value.pieces(put),
            Unexpected::Char(value) => return ('"', value, '"').pieces(put),
            Unexpected::Str(value) => return ('"', Shown(value), '"').pieces(put),
            Unexpected::Float(_) => "a number with a fraction",
            Unexpected::Bytes(_) => "bytes",
            Unexpected::Unit => "null",
            Unexpected::Option => "an optional value",
            Unexpected::NewtypeStruct => "a newtype struct",
            Unexpected::Seq => "an array",
            Unexpected::Map => "an object",
            Unexpected::Enum => "an enum",
            Unexpected::UnitVariant => "a unit variant",
            Unexpected::NewtypeVariant => "a newtype variant",
            Unexpected::TupleVariant => "a tuple variant",
            Unexpected::StructVariant => "a struct variant",
            Unexpected::Other(other) => other,
        };
        put(kind);
    }
}

/// The start of a text, with an ellipsis if the text is long.
struct Shown<'a>(&'a str);

impl WriteText for Shown<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let shown = cut(self.0, SHOWN);
        put(shown);
        if shown.len() < self.0.len() {
            put("…");
        }
    }
}

/// Text for the expected names. The `Display` that serde has for these names can panic.
struct Names(&'static [&'static str]);

impl WriteText for Names {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self.0 {
            [] => return put("there are none"),
            [_] => "expected",
            _ => "expected one of",
        });
        let mut separator = " `";
        for name in self.0 {
            (separator, name, "`").pieces(put);
            separator = ", `";
        }
    }
}

/// Text for a visitor's expectation. Only this type and custom messages link the formatting machinery.
struct Wanted<'e>(&'e dyn Expected);

impl WriteText for Wanted<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        format_args!("{}", self.0).pieces(put);
    }
}

impl de::Error for PathlessError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        PathlessError::new(&format_args!("{message}"))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        PathlessError::new(&("expected ", Wanted(expected), ", found ", Found(unexpected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        PathlessError::new(&("expected ", Wanted(expected), ", found ", Found(unexpected)))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        PathlessError::new(&("invalid length ", length, ", expected ", Wanted(expected)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        PathlessError::new(&("unknown value `", Shown(variant), "`, ", Names(expected)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        PathlessError::new(&("unknown field `", Shown(field), "`, ", Names(expected)))
    }

    fn missing_field(field: &'static str) -> Self {
        PathlessError::new(&("missing field `", field, "`"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        PathlessError::new(&("duplicate field `", field, "`"))
    }
}

impl WriteText for PathlessError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(self.message());
    }
}

impl WriteText for TypedError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        if self.path > 0 || self.cut {
            let cut = if self.cut { "`…" } else { "`" };
            (cut, self.path(), "`: ").pieces(put);
        }
        put(self.message());
        if self.message_cut {
            put("…");
        }
    }
}

errors!(PathlessError, TypedError);
debug_prints!(PathlessError, TypedError);
