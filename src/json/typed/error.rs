//! Why a text does not fit a type, and where: without a heap.

use crate::json::decimal::{Decimal, Digits};
use core::fmt::{self, Write as _};
use serde::de::{self, Expected, Unexpected};

/// Message and path together have at most this many bytes. Few more, and clippy's default would call a host's
/// `Result` too large.
const ROOM: usize = 120;
/// What a message leaves for the path.
const PATH: usize = 32;

/// How much of a string an error shows.
const SHOWN: usize = 24;

/// Why a text does not fit a type: "`motor[2].speed`: invalid type: string "fast", expected u8". Long messages are cut
/// at their end, long paths at their start.
#[derive(Clone, Copy)]
pub struct TypedError {
    /// The message at the start, the path at the end: the path grows from the inside out.
    bytes: [u8; ROOM],
    message: u8,
    path: u8,
    /// The path has more steps at its start.
    cut: bool,
}

impl TypedError {
    /// The place inside the value, as `motor[2].speed`; empty if it is the value itself, and without its first steps
    /// if it is too long.
    #[must_use]
    pub fn path(&self) -> &str {
        let start = ROOM.saturating_sub(usize::from(self.path));
        core::str::from_utf8(self.bytes.get(start..).unwrap_or_default()).unwrap_or_default()
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        let message = self.bytes.get(..usize::from(self.message)).unwrap_or_default();
        core::str::from_utf8(message).unwrap_or_default()
    }

    /// The same error, seen from outside the member of that name.
    pub(super) fn inside(mut self, name: &str) -> TypedError {
        if self.path > 0 && !self.path().starts_with('[') {
            self.prepend(&[name, "."]);
        } else {
            self.prepend(&[name]);
        }
        self
    }

    /// The same error, seen from outside the element with that index.
    pub(super) fn inside_element(mut self, index: usize) -> TypedError {
        let separator = if self.path > 0 && !self.path().starts_with('[') { "]." } else { "]" };
        let mut buffer = [0; 20];
        let digits = crate::json::decimal::digits(index as u64, &mut buffer);
        self.prepend(&["[", core::str::from_utf8(digits).unwrap_or_default(), separator]);
        self
    }

    /// A value that is none of these names.
    #[cfg(feature = "derive")]
    pub(super) fn no_variant(value: &str, names: &'static [&'static str]) -> TypedError {
        TypedError::new(format_args!("unknown variant {}, {}", Shown(value), Names(names)))
    }

    /// Puts one step before the path: all of it or nothing, and nothing any more once something was left out.
    fn prepend(&mut self, parts: &[&str]) {
        let length = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let end = ROOM.saturating_sub(usize::from(self.path));
        let Some(start) = end.checked_sub(length).filter(|start| *start >= usize::from(self.message)) else {
            self.cut = true;
            return;
        };
        if self.cut {
            return;
        }
        let step = parts.iter().flat_map(|part| part.bytes());
        self.bytes.iter_mut().skip(start).zip(step).for_each(|(place, byte)| *place = byte);
        self.path = ROOM.saturating_sub(start) as u8;
    }

    fn new(message: fmt::Arguments<'_>) -> TypedError {
        let mut error = TypedError { bytes: [0; ROOM], message: 0, path: 0, cut: false };
        // An error is only the end of the room.
        let _ = Message(&mut error).write_fmt(message);
        error
    }
}

/// The start of `text`, at most that long.
fn cut(text: &str, length: usize) -> &str {
    let boundary = (0..=length.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..boundary.unwrap_or_default()).unwrap_or_default()
}

/// Collects a message as far as there is room.
struct Message<'e>(&'e mut TypedError);

impl fmt::Write for Message<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let start = usize::from(self.0.message);
        let free = ROOM.saturating_sub(PATH).saturating_sub(start);
        let kept = cut(text, free);
        let places = self.0.bytes.iter_mut().skip(start);
        places.zip(kept.bytes()).for_each(|(place, byte)| *place = byte);
        self.0.message = start.saturating_add(kept.len()) as u8;
        if kept.len() < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// What was found, without the floating point formatting that serde's own `Display` would link.
struct Found<'a>(Unexpected<'a>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Bool(value) => write!(formatter, "boolean `{value}`"),
            Unexpected::Unsigned(value) => write!(formatter, "integer `{}`", Digits(value)),
            Unexpected::Signed(value) => write!(formatter, "integer `{}`", Decimal::from(value)),
            Unexpected::Float(_) => formatter.write_str("a number with a fraction"),
            Unexpected::Char(value) => write!(formatter, "character `{value}`"),
            Unexpected::Str(value) => write!(formatter, "string \"{}\"", Shown(value)),
            Unexpected::Bytes(_) => formatter.write_str("bytes"),
            Unexpected::Unit => formatter.write_str("null"),
            Unexpected::Option => formatter.write_str("an optional value"),
            Unexpected::NewtypeStruct => formatter.write_str("a newtype struct"),
            Unexpected::Seq => formatter.write_str("an array"),
            Unexpected::Map => formatter.write_str("an object"),
            Unexpected::Enum => formatter.write_str("an enum"),
            Unexpected::UnitVariant => formatter.write_str("a unit variant"),
            Unexpected::NewtypeVariant => formatter.write_str("a newtype variant"),
            Unexpected::TupleVariant => formatter.write_str("a tuple variant"),
            Unexpected::StructVariant => formatter.write_str("a struct variant"),
            Unexpected::Other(other) => formatter.write_str(other),
        }
    }
}

/// The start of a text.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = cut(self.0, SHOWN);
        formatter.write_str(shown)?;
        formatter.write_str(if shown.len() < self.0.len() { "…" } else { "" })
    }
}

/// The names that there are. (serde's own way to print them can panic.)
struct Names(&'static [&'static str]);

impl fmt::Display for Names {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            [] => return formatter.write_str("there are none"),
            [_] => "expected",
            _ => "expected one of",
        })?;
        let mut separator = " ";
        for name in self.0 {
            write!(formatter, "{separator}`{name}`")?;
            separator = ", ";
        }
        Ok(())
    }
}

impl de::Error for TypedError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        TypedError::new(format_args!("{message}"))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        TypedError::new(format_args!("invalid type: {}, expected {expected}", Found(unexpected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        TypedError::new(format_args!("invalid value: {}, expected {expected}", Found(unexpected)))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        TypedError::new(format_args!("invalid length {}, expected {expected}", Digits::of(length)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        TypedError::new(format_args!("unknown variant `{}`, {}", Shown(variant), Names(expected)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        TypedError::new(format_args!("unknown field `{}`, {}", Shown(field), Names(expected)))
    }
}

impl fmt::Display for TypedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path > 0 || self.cut {
            let cut = if self.cut { "…" } else { "" };
            write!(formatter, "`{cut}{}`: ", self.path())?;
        }
        formatter.write_str(self.message())
    }
}

/// The same as the message.
impl fmt::Debug for TypedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl core::error::Error for TypedError {}
