//! `Printable`: text from a peer, made harmless for terminals and logs.

use std::fmt::{self, Write};

/// A text whose control characters are escaped when it is displayed.
///
/// A peer chooses its names, descriptions, messages and errors. Without escapes, such a text could clear a terminal,
/// set the title of a terminal, or forge lines of a log. `Printable` escapes control characters, including line breaks
/// but not tabs, and characters that change the direction of text. [`PeerError`](crate::PeerError) and other errors
/// of this crate escape text of the peer.
///
/// ```
/// # use mcp_proto_handles::Printable;
///
/// let name = "tool\u{1b}]0;title\u{7}\nsecond line";
/// assert_eq!(Printable(name).to_string(), "tool\\u{1b}]0;title\\u{7}\\nsecond line");
/// assert_eq!(Printable("päivää\t✓").to_string(), "päivää\t✓");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printable<'t>(pub &'t str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, character)) = rest.char_indices().find(|(_, character)| is_harmful(*character)) {
            let (before, behind) = rest.split_at(at);
            f.write_str(before)?;
            character.escape_default().try_for_each(|escaped| f.write_char(escaped))?;
            rest = behind.get(character.len_utf8()..).unwrap_or_default();
        }
        f.write_str(rest)
    }
}

/// Returns whether a character controls the terminal, separates lines, or changes the direction of the text around it.
fn is_harmful(character: char) -> bool {
    character != '\t' && character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::Printable;
    use crate::PeerError;

    #[test]
    fn control_characters_are_escaped_wherever_they_are() {
        let cases = [
            ("", ""),
            ("plain ✓ text", "plain ✓ text"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\r\nb\t", "a\\r\\nb\t"),
            ("\u{9b}1m\u{7f}\0", "\\u{9b}1m\\u{7f}\\u{0}"),
            ("left\u{202e}right\u{2069}", "left\\u{202e}right\\u{2069}"),
        ];
        for (text, printed) in cases {
            assert_eq!(Printable(text).to_string(), printed);
        }
    }

    #[test]
    fn errors_of_a_peer_are_printed_with_escapes() {
        let error = PeerError { code: -32000, message: "\u{1b}]0;owned\u{7}".into(), data: None };
        assert_eq!(error.to_string(), "\\u{1b}]0;owned\\u{7} (-32000)");
    }
}
