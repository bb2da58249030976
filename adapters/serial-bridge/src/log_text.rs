//! Escapes text for the log, which a terminal may show.

use std::collections::VecDeque;
use std::fmt::Write;

/// Maximum number of bytes of a line that are shown, counted before escaping. Longer lines are cut.
const MAX_SHOWN: usize = 1000;

/// Appends a line to `log`. Escapes invalid UTF-8 and control characters except tabs, so that no escape
/// sequence reaches a terminal. Skips empty lines.
pub(crate) fn append(log: &mut VecDeque<u8>, line: &[u8]) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return;
    }
    let mut text = String::new();
    for chunk in line[..line.len().min(MAX_SHOWN)].utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\t' => text.push('\t'),
                letter if letter.is_control() => _ = write!(text, "\\x{:02x}", u32::from(letter)),
                letter => text.push(letter),
            }
        }
        for byte in chunk.invalid() {
            _ = write!(text, "\\x{byte:02x}");
        }
    }
    if line.len() > MAX_SHOWN {
        text.push('…');
    }
    text.push('\n');
    log.extend(text.as_bytes());
}
