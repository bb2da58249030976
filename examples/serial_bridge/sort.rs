//! Separates a board's messages from its other output.
//!
//! A board sends messages and log output on one UART. A message is a line that begins with `{`, or with `[{` for a
//! batch. `[` alone begins many log lines. The sorter stores at most one bracket, so lines have no length limit, and
//! the bridge forwards each piece immediately.

/// The destination of a piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Part of a message, for the client.
    Message,
    /// Other output, for the user.
    Other,
}

/// The position within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before the first character. The board has sent only blanks and control characters.
    Start,
    /// After a bracket. The sorter stores the bracket until the next byte decides its kind.
    Bracket,
    Inside(Kind),
}

/// Sorts a board's output, which may arrive in arbitrary pieces.
#[derive(Debug)]
pub(crate) struct Sort {
    at: At,
}

impl Sort {
    /// Starts at the beginning of a line.
    pub(crate) fn new() -> Sort {
        Sort { at: At::Start }
    }

    /// Starts within a line. The remaining part of the line is not a message, because the bridge has discarded the
    /// beginning.
    pub(crate) fn in_a_line() -> Sort {
        Sort { at: At::Inside(Kind::Other) }
    }

    /// Passes each piece of `bytes` to `take` once, in order. Stops at the first error of `take` and returns it.
    pub(crate) fn pieces<E>(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(Kind, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(&first) = bytes.first() {
            match self.at {
                At::Start if first == b'[' => {
                    (self.at, bytes) = (At::Bracket, &bytes[1..]);
                }
                At::Start if first == b'{' => self.at = At::Inside(Kind::Message),
                At::Start if first <= b' ' => {
                    take(Kind::Other, &bytes[..1])?;
                    bytes = &bytes[1..];
                }
                At::Start => self.at = At::Inside(Kind::Other),
                At::Bracket => {
                    let kind = if first == b'{' { Kind::Message } else { Kind::Other };
                    take(kind, b"[")?;
                    self.at = At::Inside(kind);
                }
                At::Inside(kind) => {
                    let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
                    let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
                    take(kind, line)?;
                    bytes = rest;
                    if end.is_some() {
                        self.at = At::Start;
                    }
                }
            }
        }
        Ok(())
    }
}
