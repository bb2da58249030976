//! Scan errors: their kind and position.

use crate::json::write_text::{WriteText, prints};

/// The kind of a scan error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScanErrorKind {
    /// There is no value, only white space.
    Empty,
    /// A byte that JSON does not allow there.
    Syntax,
    /// Not UTF-8.
    Utf8,
    /// Half of a surrogate pair, as `\uXXXX`.
    Surrogate,
    /// A control character inside a string that is not escaped.
    Control,
    /// Containers nested deeper than the limit.
    TooDeep,
    /// The text ends too early.
    Incomplete,
    /// Only for lines: the sender or a carrier has lost a part of it, and put the byte `CAN` (0x18) there. See
    /// [`Receive::filled`](crate::Receive::filled).
    GivenUp,
}

/// Why a text is not one JSON value within the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanError {
    /// What is wrong.
    pub kind: ScanErrorKind,
    /// The position of the wrong byte, counted from the start of the text.
    pub at: usize,
}

impl ScanErrorKind {
    /// Whether the members found so far are intact.
    pub(crate) fn leaves_members(self) -> bool {
        matches!(self, ScanErrorKind::TooDeep | ScanErrorKind::GivenUp)
    }
}

impl WriteText for ScanError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let what = match self.kind {
            ScanErrorKind::Empty => "no JSON value",
            ScanErrorKind::Syntax => "unexpected character",
            ScanErrorKind::Utf8 => "invalid UTF-8",
            ScanErrorKind::Surrogate => "lone surrogate escape",
            ScanErrorKind::Control => "control character in a string",
            ScanErrorKind::TooDeep => "nested too deep",
            ScanErrorKind::Incomplete => "unexpected end of text",
            ScanErrorKind::GivenUp => "given up on its way",
        };
        (what, " at byte ", self.at).pieces(put);
    }
}

prints!(ScanError);

impl core::error::Error for ScanError {}
