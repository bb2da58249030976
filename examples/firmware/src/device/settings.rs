//! The settings resource: a text of up to 1 KiB.

use mcp_proto::WriteText;

/// The maximum length in bytes.
const SIZE: usize = 1024;

/// Up to 1 KiB of UTF-8.
pub struct Settings {
    text: [u8; SIZE],
    length: usize,
}

/// The reason why a write is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    TooLong,
    InvalidPosition,
    Control,
}

impl WriteText for Refused {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            Refused::TooLong => "the settings hold at most 1024 bytes",
            Refused::InvalidPosition => "`at` is past the end, or within a character",
            Refused::Control => "the only control characters in settings are newlines and tabs",
        });
    }
}

impl Settings {
    /// Creates empty settings.
    pub const fn new() -> Settings {
        Settings { text: [0; SIZE], length: 0 }
    }

    pub(super) fn text(&self) -> &str {
        // The text is always valid UTF-8, because every write starts and ends at a character boundary.
        self.text.get(..self.length).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// Replaces the text from byte `at` on with `text`. On error, the settings stay unchanged.
    pub(super) fn write(&mut self, at: usize, text: &str) -> Result<(), Refused> {
        // Most control characters besides newline and tab take six bytes in a response. The transmit buffer has only
        // two bytes for each byte of the settings.
        if text.bytes().any(|byte| byte < b' ' && byte != b'\n' && byte != b'\t') {
            return Err(Refused::Control);
        }
        if !self.text().is_char_boundary(at) {
            return Err(Refused::InvalidPosition);
        }
        let end = at.saturating_add(text.len());
        let space = self.text.get_mut(at..end).ok_or(Refused::TooLong)?;
        space.iter_mut().zip(text.bytes()).for_each(|(slot, byte)| *slot = byte);
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_replaces_text_from_a_position() {
        let mut settings = Settings::new();
        settings.write(0, "name=board\n").unwrap();
        settings.write(5, "päivää").unwrap();
        assert_eq!(settings.text(), "name=päivää");
        settings.write(settings.text().len(), "!").unwrap();
        assert_eq!(settings.text(), "name=päivää!");
        settings.write(0, "").unwrap();
        assert_eq!(settings.text(), "");
    }

    #[test]
    fn refused_write_changes_nothing() {
        let mut settings = Settings::new();
        settings.write(0, "ä").unwrap();
        assert_eq!(settings.write(1, "x"), Err(Refused::InvalidPosition));
        assert_eq!(settings.write(3, "x"), Err(Refused::InvalidPosition));
        assert_eq!(settings.write(0, "\u{1}"), Err(Refused::Control));
        let long = std::string::String::from_utf8([b'x'; SIZE].to_vec()).unwrap();
        assert_eq!(settings.write(2, &long), Err(Refused::TooLong));
        assert_eq!(settings.text(), "ä");
        settings.write(0, &long).unwrap();
        assert_eq!(settings.text(), long);
    }
}
