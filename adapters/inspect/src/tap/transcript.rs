//! Writes a dialogue in the format of `tests/transcripts/README.md`. The server is the subject.

use mcp_proto::Millis;

/// The beginning of a file with one transcript.
pub(crate) const HEAD: &str = "# Recorded by `mcp-inspect --tap`.\n\n== A recorded session\nserver\n";
/// The line for the end of the client's stream.
pub(crate) const END: &str = "~ end\n";
/// The minimum pause to record. The dialogue does not depend on shorter pauses.
const SHORTEST_PAUSE: Millis = Millis(100);

/// Returns the lines of one message, and of the pause before the message. `sign` is `>` for the client, and `<` for
/// the server.
pub(crate) fn entry(sign: char, line: &[u8], pause: Millis) -> String {
    let mut text = if pause >= SHORTEST_PAUSE { format!("~ {} ms\n", pause.0) } else { String::new() };
    text.push(sign);
    text.push(' ');
    for chunk in line.utf8_chunks() {
        let mut rest = chunk.valid().chars().peekable();
        while let Some(letter) = rest.next() {
            match (letter, rest.peek()) {
                // In a transcript, `$` and `\` would begin an abbreviation or an escape, and CR would be lost at the
                // end of a line.
                ('$', Some('a'..='z' | '{')) | ('\\', Some('x')) | ('\r', _) => {
                    text.push_str(&format!("\\x{:02x}", u32::from(letter)));
                }
                _ => text.push(letter),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text.push('\n');
    text
}
