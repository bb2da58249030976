//! What a board prints beside its messages goes somewhere else.
//!
//! Boards share one UART between the protocol and their log. A message is a line that begins with `{`; or with `[{`, which
//! is a batch, while `[` alone begins the log lines of half the world. Nothing is kept for that but one bracket, so a line
//! may be as long as it likes, and what of it is there goes on at once.

/// Where a piece of a line belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of a message: for the client.
    Message,
    /// Of anything else: for people.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Only blanks and control characters have come of this line.
    Start,
    /// And then a bracket, which waits for what follows it.
    Bracket,
    Inside(Kind),
}

/// Sorts what a board sends, in whatever pieces it comes.
#[derive(Debug)]
pub(crate) struct Sort {
    at: At,
}

impl Sort {
    /// A line begins.
    pub(crate) fn new() -> Sort {
        Sort { at: At::Start }
    }

    /// The beginning of the line was thrown away, so its rest is no message.
    pub(crate) fn in_a_line() -> Sort {
        Sort { at: At::Inside(Kind::Other) }
    }

    /// Gives each piece of `bytes` to `take`, in order, and none of them twice; none behind one that `take` cannot take.
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
