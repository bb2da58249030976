//! Models of whole machines, and what drives the machines against them.
//!
//! A run is a list of operations: what the peer sends, what the host does, how time passes, how the connection fails. The
//! driver moves the bytes in one of many [`Way`]s, the model looks at everything that is said and heard, and the first
//! thing that may not be is a [`ConnectFailure`] with the dialogue up to there. Property tests and fuzzers share all of it.

pub mod client;
mod host;
mod mover;
pub mod operation;
mod owed;
pub mod pair;
pub mod server;
#[cfg(feature = "proptest")]
pub mod strategy;
mod text;

use std::fmt;

pub use self::mover::Way;

/// What a run has come to, for comparing it with another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// All that the machine has written.
    pub output: Vec<u8>,
    /// All that the host has heard, and how its own calls went.
    pub events: Vec<String>,
    /// The longest line that the peer has sent.
    pub longest: usize,
    /// How often the machine was polled.
    pub polls: usize,
}

/// Something happened that may not be. Printed, it is the dialogue up to there.
pub struct ConnectFailure {
    /// What is wrong.
    pub why: String,
    /// What was said, heard and done: `>` by the peer, `<` by the machine, `!` the host hears, `*` the host does.
    pub dialogue: Vec<String>,
}

impl ConnectFailure {
    /// The dialogue begins with what was set up.
    fn with_setup(mut self, setup: &dyn fmt::Debug) -> ConnectFailure {
        self.dialogue.insert(0, format!("{setup:?}"));
        self
    }
}

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.dialogue {
            writeln!(f, "{line}")?;
        }
        write!(f, "{}", self.why)
    }
}

impl fmt::Debug for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The first difference between two runs that should be the same.
///
/// # Errors
/// There is one.
pub fn same(first: &Summary, second: &Summary) -> Result<(), String> {
    if first.output == second.output && first.events == second.events {
        return Ok(());
    }
    let lines = |summary: &Summary| -> Vec<String> {
        let output = String::from_utf8_lossy(&summary.output).into_owned();
        output.lines().map(|line| format!("< {line}")).chain(summary.events.iter().cloned()).collect()
    };
    let (first, second) = (lines(first), lines(second));
    match first.iter().zip(&second).find(|(one, other)| one != other) {
        Some((one, other)) => Err(format!("first\n  {one}\nthen\n  {other}")),
        None if first.len() == second.len() => Ok(()),
        None => Err(format!("{} lines and events, then {}", first.len(), second.len())),
    }
}

/// A line of a dialogue: the start of a message, because the rest of a long one is filler.
fn shown(sigil: &str, line: &[u8]) -> String {
    let start = &line[..line.len().min(SHOWN)];
    let rest = if start.len() < line.len() { "…" } else { "" };
    format!("{sigil} {}{rest}", String::from_utf8_lossy(start))
}

/// The most bytes of a message in a dialogue.
const SHOWN: usize = 400;

/// Counted back from the last one, round and round.
fn back<T: Clone>(from: &[T], nth: u8) -> Option<T> {
    from.iter().rev().nth(usize::from(nth) % from.len().max(1)).cloned()
}
