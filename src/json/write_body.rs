//! `WriteBody`: closures that write a part of a message, as trait objects.

use super::writer::Writer;

/// A closure that writes a part of a message.
///
/// Functions take `&mut dyn WriteBody`, not `&mut dyn FnMut(&mut Writer<'_>)`. The virtual table of `dyn FnMut` has one
/// more entry: a function for calls by value, which nothing calls. This function takes 14 to 24 bytes of flash for each
/// closure.
pub(crate) trait WriteBody {
    /// Writes the part. Returns `false` if the closure reports that the part is not valid. A caller that validates the
    /// output itself, or whose parts are always valid, ignores the result.
    fn write(&mut self, out: &mut Writer<'_>) -> bool;
}

impl<V: Validity, F: FnMut(&mut Writer<'_>) -> V> WriteBody for F {
    fn write(&mut self, out: &mut Writer<'_>) -> bool {
        self(out).is_valid()
    }
}

/// The return type of a closure that writes: `bool` for whether the output is valid, or `()` for a closure that never
/// reports invalid output.
pub(crate) trait Validity: Copy {
    fn is_valid(self) -> bool;
}

impl Validity for bool {
    fn is_valid(self) -> bool {
        self
    }
}

impl Validity for () {
    fn is_valid(self) -> bool {
        true
    }
}
