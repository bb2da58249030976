//! Models of servers and clients, and drivers that check machines against them.
//!
//! A run is a list of operations: messages of the peer, actions of the application, time, and connection failures. The
//! driver moves bytes as a [`Way`] describes, and the model checks every message and event. The first violation is a
//! [`ConnectFailure`] with the dialogue so far. Property tests and fuzzers share this code.

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

/// The result of a run, for comparison with another run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// All output of the machine.
    pub output: Vec<u8>,
    /// All events, and the results of the application's calls.
    pub events: Vec<String>,
    /// The longest line that the peer has sent.
    pub longest: usize,
    /// Number of polls.
    pub polls: usize,
}

/// A violation of the model. Displays the dialogue so far.
pub struct ConnectFailure {
    /// Description of the violation.
    pub why: String,
    /// The dialogue: `>` a line of the peer, `<` of the machine, `!` an event, `*` an action of the application.
    pub dialogue: Vec<String>,
}

impl ConnectFailure {
    /// Inserts the setup at the start of the dialogue.
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

/// Compares two runs that must be the same.
///
/// # Errors
/// The first difference.
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

/// The maximum number of bytes of a message in a dialogue.
const SHOWN: usize = 400;

/// The element `nth` from the end, wrapping. `None` if `from` is empty.
fn back<T: Clone>(from: &[T], nth: u8) -> Option<T> {
    from.iter().rev().nth(usize::from(nth) % from.len().max(1)).cloned()
}
