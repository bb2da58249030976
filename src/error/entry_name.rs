//! `EntryName`: the name of a catalog entry within an error.

use crate::json::{WriteText, prints};

/// Maximum length of a stored name, in bytes. Without a heap, the stored name is always empty.
const LONGEST: usize = if cfg!(feature = "alloc") { 40 } else { 0 };

/// The name or URI of a catalog entry, for an error message. `Display` writes `…` after a cut name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EntryName {
    bytes: [u8; LONGEST],
    len: u8,
    is_cut: bool,
}

impl EntryName {
    pub(crate) fn new(name: &str) -> EntryName {
        let (mut bytes, mut len) = ([0; LONGEST], 0u8);
        let mut ends = (0..=LONGEST).rev();
        let prefix = ends.find_map(|end| name.get(..end)).filter(|_| name.len() > LONGEST);
        for (to, from) in bytes.iter_mut().zip(prefix.unwrap_or(name).bytes()) {
            (*to, len) = (from, len.saturating_add(1));
        }
        EntryName { bytes, len, is_cut: prefix.is_some() }
    }

    /// Returns the name, cut at a character boundary after at most 40 bytes. Without the feature `alloc`, returns
    /// an empty string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for EntryName {
    fn format(&self, to: defmt::Formatter<'_>) {
        defmt::write!(to, "{=str}", self.as_str());
    }
}

impl WriteText for EntryName {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(self.as_str());
        if self.is_cut {
            put("…");
        }
    }
}

prints!(EntryName);

impl core::fmt::Debug for EntryName {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.as_str(), formatter)
    }
}
