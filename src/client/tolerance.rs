//! What a client takes from servers that were written by a crib sheet and not by the specification: `docs/compatibility.md`
//! has all of it.

use crate::version::Era;

use super::core::Core;
use super::info::ClientInfo;

/// The switches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance {
    pub(crate) missing_jsonrpc: bool,
    pub(crate) empty_cursor_ends: bool,
}

impl Tolerance {
    pub(crate) const DEFAULT: Tolerance = Tolerance { missing_jsonrpc: false, empty_cursor_ends: true };
}

impl ClientInfo<'_> {
    /// Takes messages without `jsonrpc`, as if they said `"2.0"`. Another value is still refused, and so is its absence if
    /// this is not called.
    #[must_use]
    pub const fn tolerate_missing_jsonrpc(mut self) -> Self {
        self.tolerance.missing_jsonrpc = true;
        self
    }

    /// Whether an empty `nextCursor` ends a list in the handshake era, as some servers write it: `true` if this is not
    /// called. In `2026-07-28` it is a cursor like any other, whatever is said here.
    #[must_use]
    pub const fn empty_cursor_ends(mut self, ends: bool) -> Self {
        self.tolerance.empty_cursor_ends = ends;
        self
    }
}

impl Core<'_> {
    /// Whether an empty cursor says that there is no next page.
    pub(crate) fn empty_cursor_ends(&self) -> bool {
        self.info.tolerance.empty_cursor_ends && self.era() != Some(Era::Stateless)
    }
}
