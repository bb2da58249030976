//! Checks a server, and reports its violations of the specification.

mod connection;
mod script;

use std::collections::BTreeMap;
use std::process::ExitCode;

use mcp_proto::monitor::{Requirement, Rule, Sender, Violation};
use mcp_proto::{Revision, Revisions};

use crate::observed::{self, Observed};
use crate::options::Arguments;
use crate::quoted;
use crate::terminal::{Output, fail, object};

/// The outcome of the script in one revision.
enum Outcome {
    /// The script ran, and the monitor found these violations. `exit` is the reason of an early end.
    Checked { violations: Vec<Violation>, exit: Option<String> },
    /// The script could not open a session, for this reason. In most cases, the server does not support the revision.
    Unsupported(String),
}

/// Checks a server over HTTP, in the revision that the client selects. Requests the lists, and performs the options of
/// the command line. Returns an error if the session fails without a violation.
pub(crate) fn check_url(arguments: &Arguments) -> Result<ExitCode, String> {
    let mut observed = Observed::new(arguments.trace, None);
    let violations = observed.collect_violations();
    let outcome = crate::connect(arguments, observed);
    let mut report = Report::default();
    report.add(violations.take());
    match outcome {
        Err(why) if report.rows.is_empty() => Err(why),
        Err(why) => {
            fail(&why);
            Ok(report.print())
        }
        Ok(()) => Ok(report.print()),
    }
}

/// Checks a server on stdin and stdout, in every revision that the arguments allow. The exit code is 1 if the server
/// has violated a rule, or has exited or closed its stdout during a check. Returns an error if the server cannot be
/// started, or supports none of the revisions.
pub(crate) fn check(arguments: &Arguments) -> Result<ExitCode, String> {
    let mut report = Report::default();
    let mut is_checked = false;
    for revision in Revision::ALL {
        if !arguments.revisions.unwrap_or(Revisions::ALL).contains(revision) {
            continue;
        }
        match script::run(arguments, revision)? {
            Outcome::Checked { violations, exit } => {
                is_checked = true;
                report.add(violations);
                print_revision(revision, true, exit.as_deref());
                if let Some(why) = exit {
                    report!("{}: {why}", revision.as_str());
                    report.is_interrupted = true;
                }
            }
            Outcome::Unsupported(why) => {
                say!("{}: not checked: {why}", revision.as_str());
                print_revision(revision, false, Some(&why));
            }
        }
    }
    if !is_checked {
        return Err("the server supports no revision".into());
    }
    Ok(report.print())
}

/// With `--json`, prints whether a revision was checked. With `--quiet`, prints only a check that ended early. `why` is
/// the reason of an early end, or the reason why the revision was not checked.
fn print_revision(revision: Revision, is_checked: bool, why: Option<&str>) {
    if !Output::get().quiet || why.is_some() && is_checked {
        object(&[
            ("revision", &quoted(revision.as_str())),
            ("checked", &is_checked.to_string()),
            ("reason", &why.map_or("null".into(), quoted)),
        ]);
    }
}

/// The violations, each with the revisions in which it occurs.
#[derive(Default)]
struct Report {
    rows: BTreeMap<String, Row>,
    /// Whether the server has exited, or closed its stdout, before the end of a check.
    is_interrupted: bool,
}

struct Row {
    first: Violation,
    revisions: Vec<&'static str>,
    count: u32,
}

impl Report {
    /// Adds the violations of the server. Violations with the same rule, method and text are one row. Lines that are
    /// not JSON are one row, which shows the first of these lines. The same applies to lines that are not UTF-8.
    fn add(&mut self, violations: Vec<Violation>) {
        for violation in violations {
            if violation.sender != Sender::Server {
                continue;
            }
            let text = match violation.rule {
                Rule::LineJson | Rule::LineUtf8 => "",
                _ => &violation.text,
            };
            let key = format!("{:?} {:?} {text}", violation.rule, violation.method);
            let revision = violation.revision.map_or("before the session", Revision::as_str);
            let row =
                self.rows.entry(key).or_insert(Row { first: violation, revisions: Vec::new(), count: 0 });
            row.count += 1;
            if !row.revisions.contains(&revision) {
                row.revisions.push(revision);
            }
        }
    }

    /// Prints the report. Returns the exit code.
    fn print(&self) -> ExitCode {
        if self.rows.is_empty() && !self.is_interrupted {
            say!("no violations");
            return ExitCode::SUCCESS;
        }
        for row in self.rows.values() {
            observed::print(&row.first, &row.revisions, row.count);
            let Violation { rule, method, text, .. } = &row.first;
            let should = if rule.requirement() == Requirement::Should { " (recommended)" } else { "" };
            let method = method.as_deref().map(|method| format!("{method}: ")).unwrap_or_default();
            let times = if row.count == 1 { String::new() } else { format!(", {} times", row.count) };
            report!("{rule}{should}: {method}{text}");
            report!("    {}{times}; specification: {}", row.revisions.join(", "), rule.section());
        }
        let count = self.rows.len();
        say!("{count} violation{}", if count == 1 { "" } else { "s" });
        ExitCode::FAILURE
    }
}
