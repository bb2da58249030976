//! Models of servers and clients, and drivers that check machines against them.
//!
//! A run is a list of operations: messages of the peer, actions of the application, time, and connection failures. The
//! driver moves bytes as a [`Movement`] describes. The model checks every message and event. The driver returns the
//! first [`Violation`], with the dialogue up to that point. Property tests and fuzz targets share this code.

mod application;
pub mod client;
mod encode;
mod obligations;
pub mod operation;
pub mod pair;
pub mod server;
mod server_setup;
#[cfg(feature = "proptest")]
pub mod strategy;
pub mod tasks;
mod transport;

use std::fmt;

use serde_json::Value;

pub use self::transport::Movement;

/// The result of a run, for comparison with another run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// All output of the machine.
    pub output: Vec<u8>,
    /// All events, in order, with the results of some method calls of the application.
    pub events: Vec<String>,
    /// Length of the longest line sent by the peer.
    pub longest: usize,
    /// Number of polls.
    pub polls: usize,
}

/// A violation of the model. Displays the dialogue so far.
pub struct Violation {
    /// Description of the violation.
    pub why: String,
    /// The dialogue. `>` marks a line of the peer, `<` a line of the machine, `!` an event or a result,
    /// `*` an action.
    pub dialogue: Vec<String>,
}

impl Violation {
    /// Inserts the setup at the start of the dialogue.
    fn with_setup(mut self, setup: &dyn fmt::Debug) -> Violation {
        self.dialogue.insert(0, format!("{setup:?}"));
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.why)?;
        for line in &self.dialogue {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Compares two runs whose output and events must be equal. Ignores `Writable`, because the time of this event depends
/// on when the transport takes the output.
///
/// # Errors
/// Describes the first difference.
pub fn same(first: &Summary, second: &Summary) -> Result<(), String> {
    if first.output == second.output && first.events == second.events {
        return Ok(());
    }
    let lines = |summary: &Summary| -> Vec<String> {
        let output = String::from_utf8_lossy(&summary.output).into_owned();
        let events = summary.events.iter().filter(|event| *event != "! Writable").cloned();
        output.lines().map(|line| format!("< {line}")).chain(events).collect()
    };
    let (first, second) = (lines(first), lines(second));
    match first.iter().zip(&second).find(|(one, other)| one != other) {
        Some((one, other)) => Err(format!("first\n  {one}\nthen\n  {other}")),
        None if first.len() == second.len() => Ok(()),
        None => Err(format!("{} lines and events, then {}", first.len(), second.len())),
    }
}

/// Formats a dialogue line. Shows only the start of a long message.
fn shown(sigil: &str, line: &[u8]) -> String {
    let start = &line[..line.len().min(SHOWN)];
    let rest = if start.len() < line.len() { "…" } else { "" };
    format!("{sigil} {}{rest}", String::from_utf8_lossy(start))
}

/// The maximum number of bytes of a message in a dialogue.
const SHOWN: usize = 400;

/// Returns the element `nth` from the end; `nth` wraps. Returns `None` if `from` is empty.
fn nth_back<T: Clone>(from: &[T], nth: u8) -> Option<T> {
    from.iter().rev().nth(usize::from(nth) % from.len().max(1)).cloned()
}

/// Returns the violation `why` unless the condition holds.
pub(crate) fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// Returns the id as JSON text, with its escapes normalized, or `None` for an invalid id.
pub(crate) fn readable(id: &Value) -> Option<String> {
    let text = id.to_string();
    (id.is_string() || text.parse::<i64>().is_ok()).then_some(text)
}
