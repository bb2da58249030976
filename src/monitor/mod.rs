//! `Monitor`: reads both directions of a dialogue, and reports violations of the specification.
//!
//! A monitor is a passive state machine without I/O. The caller passes the bytes or the lines of the client and of the
//! server, each with its time. The monitor sends nothing. The monitor reports each [`Violation`] with its [`Rule`] and
//! the side at fault: the sender of the message, or the server that left a request unanswered. The monitor knows all
//! revisions. One connection may contain both a session with a handshake and stateless requests.
//!
//! The caller must pass a message before the receiver gets the message, so that a response never precedes its request.
//!
//! ```
//! use mcp_proto::Millis;
//! use mcp_proto::monitor::{Monitor, Rule, Sender};
//!
//! let mut monitor = Monitor::new();
//! let request = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
//! let violations = monitor.line(Sender::Client, request, Millis(0));
//! assert_eq!(violations[0].rule, Rule::InitializeFirst);
//! assert_eq!(
//!     violations[0].to_string(),
//!     "client 1 tools/list: the request comes before `initialize` [initialize-first; Lifecycle, Initialization]"
//! );
//! ```
//!
//! The monitor reports only what a dialogue proves. For example, a cancellation and the response to its request may
//! cross. The response is therefore no violation within [`race_window`](Monitor::race_window) after the cancellation.
//! After a message that is too long or nested too deeply for the monitor, the monitor no longer judges references to
//! unknown requests, subscriptions and cursors, because the unread message may have introduced them.

mod message;
mod notification;
mod request;
mod requests;
mod response;
mod result;
mod rule;
mod schema;
mod session;
mod shape;
mod violation;

use alloc::string::String;
use alloc::vec::Vec;

pub use rule::{Requirement, Rule};
use session::Dialogue;
use violation::Report;
pub use violation::{Sender, Violation};

use crate::json::{Json, ScanErrorKind};
use crate::protocol::revision::Revision;
use crate::time::Millis;

/// A passive observer of a dialogue between a client and a server.
///
/// A monitor stores the requests in flight, and the ids and progress tokens of finished requests, up to a limit. Beyond
/// the limit, the monitor no longer judges unknown ids and tokens. A monitor also stores the names of tools and prompts,
/// and up to 1 MiB of output schemas.
#[derive(Debug)]
pub struct Monitor {
    dialogue: Dialogue,
    race_window: Millis,
    line_limit: usize,
}

impl Default for Monitor {
    fn default() -> Monitor {
        Monitor::new()
    }
}

impl Monitor {
    /// Creates a monitor for a new connection.
    #[must_use]
    pub fn new() -> Monitor {
        Monitor { dialogue: Dialogue::default(), race_window: Millis(1000), line_limit: 64 << 20 }
    }

    /// Sets the time within which messages of both directions may cross. The default is one second.
    ///
    /// A response or notification for a cancelled request is no violation within this time after the cancellation.
    #[must_use]
    pub fn race_window(mut self, window: Millis) -> Monitor {
        self.race_window = window;
        self
    }

    /// Sets the maximum length of a line, in bytes without the newline. The default is 64 MiB.
    ///
    /// [`bytes`](Monitor::bytes) does not read longer lines. [`line`](Monitor::line) has no limit.
    #[must_use]
    pub fn line_limit(mut self, limit: usize) -> Monitor {
        self.line_limit = limit;
        self
    }

    /// Returns the revision of the session, or of the last stateless request. Returns `None` if there was neither.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.dialogue.revision()
    }

    /// Reads bytes of the stream from `sender`, in pieces of any size. Returns the violations in the lines that the
    /// bytes complete.
    pub fn bytes(&mut self, sender: Sender, mut bytes: &[u8], now: Millis) -> Vec<Violation> {
        let mut found = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (piece, rest) = bytes.split_at_checked(end).unwrap_or_default();
            bytes = rest.get(1..).unwrap_or_default();
            self.add_piece(sender, piece);
            let party = self.dialogue.party(sender);
            let line = core::mem::take(&mut party.partial);
            if core::mem::take(&mut party.is_oversized) {
                self.dialogue.add_unread(sender);
            } else {
                self.read(sender, &line, now, &mut found);
            }
            // Reuse the memory for the next line.
            let party = self.dialogue.party(sender);
            party.partial = line;
            party.partial.clear();
        }
        self.add_piece(sender, bytes);
        found
    }

    fn add_piece(&mut self, sender: Sender, piece: &[u8]) {
        let limit = self.line_limit;
        let party = self.dialogue.party(sender);
        if party.partial.len().saturating_add(piece.len()) > limit {
            party.is_oversized = true;
        }
        if party.is_oversized {
            party.partial.clear();
        } else {
            party.partial.extend_from_slice(piece);
        }
    }

    /// Reads one message from `sender`, without its newline. Returns the violations.
    pub fn line(&mut self, sender: Sender, line: &[u8], now: Millis) -> Vec<Violation> {
        let mut found = Vec::new();
        self.read(sender, line, now, &mut found);
        found
    }

    /// Records the end of the stream from `sender`, and returns the violations. A last line without a newline is a
    /// violation, unless the line exceeds the [limit](Monitor::line_limit). If that line is valid JSON, this method
    /// also checks the message.
    ///
    /// At the end of the server's stream, each request of the client without a response is a violation. Cancelled
    /// requests, subscriptions, and requests that the server may have refused in an error without an id need no
    /// response. No request needs a response if the client's stream ended first, because the end of the client's stream
    /// ends the session. No request needs a response after an unread message, because this message may be the response.
    pub fn end(&mut self, sender: Sender, now: Millis) -> Vec<Violation> {
        let mut found = Vec::new();
        let party = self.dialogue.party(sender);
        party.has_ended = true;
        let line = core::mem::take(&mut party.partial);
        if core::mem::take(&mut party.is_oversized) {
            self.dialogue.add_unread(sender);
        } else if !line.is_empty() {
            let text = "the stream ends inside a line: a newline ends each message";
            self.report(sender, now, &mut found).add(Rule::LineNewline, text);
            match Json::parse(&line) {
                Ok(_) => self.read(sender, &line, now, &mut found),
                Err(_) => self.dialogue.party(sender).add_unreadable(),
            }
        }
        if sender == Sender::Server && !self.dialogue.client.has_ended && !self.dialogue.has_unread {
            self.report_unanswered(now, &mut found);
        }
        found
    }

    fn report_unanswered(&self, now: Millis, found: &mut Vec<Violation>) {
        let mut report = self.report(Sender::Server, now, found);
        for request in self.dialogue.client.requests.in_flight() {
            if request.freed_at().is_none() && request.subscription.is_none() {
                report.revision = request.revision;
                report.id = Some(request.id.clone());
                report.method = Some(request.method.clone());
                report.add(Rule::RequestUnanswered, "the request has no response");
            }
        }
    }

    fn report<'v>(&self, sender: Sender, now: Millis, found: &'v mut Vec<Violation>) -> Report<'v> {
        Report { found, sender, now, revision: self.dialogue.revision(), id: None, method: None }
    }

    fn read(&mut self, sender: Sender, line: &[u8], now: Millis, found: &mut Vec<Violation>) {
        let mut report = self.report(sender, now, found);
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(line) => {
                report.add(Rule::LineJson, "the line begins with a byte order mark");
                line
            }
            None => line,
        };
        let error = match Json::parse(line) {
            Ok(json) => return self.message(json, &mut report),
            Err(error) => error,
        };
        if error.kind == ScanErrorKind::TooDeep {
            // The specification does not limit the depth, so a deep message is no violation.
            return self.dialogue.add_unread(sender);
        }
        self.dialogue.party(sender).add_unreadable();
        let at = error.at;
        match error.kind {
            ScanErrorKind::Empty => report.add(Rule::LineJson, "the line is empty"),
            ScanErrorKind::Utf8 => {
                let text = alloc::format!("byte {at} of the line is not UTF-8: {}", excerpt(line));
                report.add(Rule::LineUtf8, text);
            }
            ScanErrorKind::Incomplete => {
                report.add(Rule::LineNewline, "the line ends inside a value: a message contains no newline");
            }
            _ => {
                let text = alloc::format!("the line is not JSON: {error}: {}", excerpt(line));
                report.add(Rule::LineJson, text);
            }
        }
    }
}

/// Returns the first bytes of a line as an escaped text in quotes.
fn excerpt(line: &[u8]) -> String {
    const LENGTH: usize = 80;
    let (shown, rest) = line.split_at_checked(LENGTH).unwrap_or((line, &[]));
    let dots = if rest.is_empty() { "" } else { "…" };
    alloc::format!("{:?}{dots}", String::from_utf8_lossy(shown))
}
