//! `VersionMatcher`: the name and the version of the protocol in a start line.

use crate::http1::HttpVersion;

/// Incremental parser of a protocol version such as `HTTP/1.1` (RFC 9112, section 2.3).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VersionMatcher {
    position: u8,
    is_other_major: bool,
    is_minor_zero: bool,
}

impl VersionMatcher {
    /// Compares the next byte. Returns `None` if the text so far does not begin a version.
    pub(super) fn feed(&mut self, byte: u8) -> Option<()> {
        let is_match = match self.position {
            5 => {
                self.is_other_major = byte != b'1';
                byte.is_ascii_digit()
            }
            7 => {
                self.is_minor_zero = byte == b'0';
                byte.is_ascii_digit()
            }
            position => b"HTTP/ .".get(usize::from(position)) == Some(&byte),
        };
        self.position = self.position.saturating_add(1);
        is_match.then_some(())
    }

    /// Returns whether the text is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.position == 8
    }

    /// Returns the version of a complete text, or `None` if the major version is not 1.
    pub(super) fn version(&self) -> Option<HttpVersion> {
        let version = if self.is_minor_zero { HttpVersion::Http10 } else { HttpVersion::Http11 };
        (!self.is_other_major).then_some(version)
    }
}
