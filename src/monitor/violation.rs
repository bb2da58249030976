//! `Violation`: the breach of a rule, by a message or by a missing response.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::rule::{Requirement, Rule};
use super::shape::Shape;
use crate::json::Json;
use crate::protocol::revision::Revision;
use crate::time::Millis;

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Sender {
    /// Returns the other side.
    #[must_use]
    pub const fn peer(self) -> Sender {
        match self {
            Sender::Client => Sender::Server,
            Sender::Server => Sender::Client,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Sender::Client => "client",
            Sender::Server => "server",
        }
    }
}

/// A violation of the specification. [`sender`](Violation::sender) is at fault.
///
/// `Display` adds no line break. Parts of the text come from the message and may contain control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The revision of the message. `None` if the revision is unknown.
    pub revision: Option<Revision>,
    /// The side that broke the rule.
    pub sender: Sender,
    /// The time of the message, or of the end of the stream.
    pub at: Millis,
    /// The id of the request or response, or of the request that a cancellation names, as JSON. `None` if there is no
    /// such id.
    pub id: Option<String>,
    /// The method of the message, or of the request that a response belongs to. `None` if the method is not known.
    pub method: Option<String>,
    /// The description of the violation.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.sender.name())?;
        for part in [&self.id, &self.method].into_iter().flatten() {
            write!(out, " {part}")?;
        }
        write!(out, ": {} [{}", self.text, self.rule)?;
        if self.rule.requirement() == Requirement::Should {
            out.write_str(", recommended")?;
        }
        match self.revision {
            Some(revision) => write!(out, "; {}, {}]", revision.as_str(), self.rule.section()),
            None => write!(out, "; {}]", self.rule.section()),
        }
    }
}

/// Collects the violations of one message.
#[derive(Debug)]
pub(super) struct Report<'v> {
    pub(super) found: &'v mut Vec<Violation>,
    pub(super) sender: Sender,
    pub(super) now: Millis,
    pub(super) revision: Option<Revision>,
    pub(super) id: Option<String>,
    pub(super) method: Option<String>,
}

impl Report<'_> {
    pub(super) fn add(&mut self, rule: Rule, text: impl Into<String>) {
        self.found.push(Violation {
            rule,
            revision: self.revision,
            sender: self.sender,
            at: self.now,
            id: self.id.clone(),
            method: self.method.clone(),
            text: text.into(),
        });
    }

    /// Compares a value with its shape. Returns whether the value matches.
    pub(super) fn check(&mut self, rule: Rule, shape: &Shape, value: Json<'_>, revision: Revision) -> bool {
        let outcome = shape.check(value, revision);
        if let Err(wrong) = &outcome {
            self.add(rule, wrong.to_string());
        }
        outcome.is_ok()
    }

    pub(super) fn add_if(&mut self, is_broken: bool, rule: Rule, text: &str) {
        if is_broken {
            self.add(rule, text);
        }
    }
}
