//! Scan errors: their kind and position.

use crate::json::write_text::{WriteText, errors};

/// The kind of a scan error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ScanErrorKind {
    /// The text is empty, or contains only white space.
    Empty,
    /// A byte is not allowed at this position.
    Syntax,
    /// A string contains invalid UTF-8. Outside of strings, such bytes are an error of the kind
    /// [`Syntax`](ScanErrorKind::Syntax).
    Utf8,
    /// A `\uXXXX` escape is an unpaired surrogate.
    Surrogate,
    /// A string contains an unescaped control character.
    Control,
    /// Containers are nested deeper than the limit.
    TooDeep,
    /// The text ends too early.
    Incomplete,
    /// The text is a received line that contains the byte `CAN` (0x18). The sender or the transport inserts this byte
    /// where bytes were lost. See [`Receive::filled`](crate::Receive::filled).
    Gap,
}

/// A scan error: the text is not one JSON value within the depth limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScanError {
    /// The kind of the error.
    pub kind: ScanErrorKind,
    /// The position of the error in bytes, counted from the start of the text.
    pub at: usize,
}

impl WriteText for ScanError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let what = match self.kind {
            ScanErrorKind::Empty => "no JSON value",
            ScanErrorKind::Syntax => "unexpected character",
            ScanErrorKind::Utf8 => "invalid UTF-8",
            ScanErrorKind::Surrogate => "lone surrogate escape",
            ScanErrorKind::Control => "control character in a string",
            ScanErrorKind::TooDeep => "nested too deeply",
            ScanErrorKind::Incomplete => "unexpected end of text",
            ScanErrorKind::Gap => "bytes were lost",
        };
        (what, " at byte ", self.at).pieces(put);
    }
}

errors!(ScanError);
