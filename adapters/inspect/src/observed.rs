//! The observer of the client in this program: passes the messages to a monitor, and optionally to a trace and a page.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::monitor::{Monitor, Requirement, Sender, Violation};
use mcp_proto::{Clock, Direction, Observer, ProtocolError, Revision};

use crate::quoted;
use crate::results::Results;
use crate::show;
use crate::terminal::{Output, object};
use crate::trace::Trace;
use crate::web::Feed;

/// An observer with a monitor.
pub(crate) struct Observed {
    monitor: Monitor,
    clock: Clock,
    violations: Option<Violations>,
    trace: Option<Trace>,
    results: Option<Results>,
    feed: Option<Feed>,
}

/// A list of violations that the observer shares with the program.
#[derive(Debug, Default, Clone)]
pub(crate) struct Violations(Arc<Mutex<Vec<Violation>>>);

impl Violations {
    /// Removes and returns the violations.
    pub(crate) fn take(&self) -> Vec<Violation> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observed {
    /// Creates an observer, which prints a violation whenever the server breaks a mandatory rule. If `is_traced`, the
    /// observer prints every message. With `--json` and without `--quiet`, the observer prints the messages of the
    /// server as JSON objects. If there is a feed, the observer passes every message to the feed, except oversized
    /// messages.
    pub(crate) fn new(is_traced: bool, feed: Option<Feed>) -> Observed {
        let output = Output::get();
        Observed {
            monitor: Monitor::new(),
            clock: Clock::start(),
            violations: None,
            trace: is_traced.then(Trace::default),
            results: Some(Results::default()).filter(|_| output.json && !output.quiet),
            feed,
        }
    }

    /// Returns the list to which the observer adds violations. After this call, the observer does not print violations.
    pub(crate) fn collect_violations(&mut self) -> Violations {
        self.violations.get_or_insert_default().clone()
    }
}

impl Observer for Observed {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        if let Some(trace) = &mut self.trace {
            trace.line(direction, line, outcome);
        }
        // For an oversized line, `line` contains at most the id, so the monitor cannot check the message.
        if matches!(outcome, Err(ProtocolError::LineTooLong { .. })) {
            return;
        }
        let sender = match direction {
            Direction::Out => Sender::Client,
            Direction::In => Sender::Server,
        };
        if let Some(results) = &mut self.results {
            results.line(direction, line);
        }
        let found = self.monitor.line(sender, line, self.clock.now());
        if let Some(feed) = &self.feed {
            feed.message(sender, line, &found);
        }
        if let (Direction::In, Err(error)) = (direction, outcome) {
            show::refused(line, error);
        }
        match &self.violations {
            Some(violations) => violations.0.lock().unwrap_or_else(PoisonError::into_inner).extend(found),
            None => found.iter().filter(|violation| is_failure(violation)).for_each(|violation| {
                note!("violation: {violation}");
                print(violation, &[violation.revision.map_or("", Revision::as_str)], 1);
            }),
        }
    }
}

/// With `--json`, prints a violation.
pub(crate) fn print(violation: &Violation, revisions: &[&str], count: u32) {
    let Violation { rule, method, text, .. } = violation;
    let revisions: Vec<_> = revisions.iter().map(|revision| quoted(revision)).collect();
    object(&[
        ("violation", &quoted(&rule.to_string())),
        ("required", if rule.requirement() == Requirement::Must { "true" } else { "false" }),
        ("method", &method.as_deref().map_or("null".into(), quoted)),
        ("text", &quoted(text)),
        ("revisions", &format!("[{}]", revisions.join(","))),
        ("count", &count.to_string()),
        ("section", &quoted(rule.section())),
    ]);
}

/// Returns whether the server breaks a rule that it must follow.
fn is_failure(violation: &Violation) -> bool {
    violation.sender == Sender::Server && violation.rule.requirement() == Requirement::Must
}
