//! The record of a dialogue: each message with its time and violations, and optionally a transcript.

use std::fs::File;
use std::io::Write;

use mcp_proto::monitor::{Monitor, Sender};
use mcp_proto::{Clock, Millis};
use mcp_proto_std::Printable;

use super::transcript;
use crate::web::Feed;

/// The maximum length of a line in the record, in bytes. The rest of a longer line is left out.
const LINE_LIMIT: usize = 64 << 20;

pub(super) struct Record {
    monitor: Monitor,
    clock: Clock,
    log: Box<dyn Write + Send>,
    transcript: Option<File>,
    feed: Option<Feed>,
    /// Time of the last message.
    last: Millis,
    /// The incomplete line of the client, and of the server.
    partial: [Vec<u8>; 2],
}

impl Record {
    /// Begins a record, optionally with a transcript and with a feed for a page.
    pub(super) fn new(
        log: Box<dyn Write + Send>,
        mut transcript: Option<File>,
        feed: Option<Feed>,
    ) -> Record {
        if let Some(file) = &mut transcript {
            let _ = file.write_all(transcript::HEAD.as_bytes());
        }
        let monitor = Monitor::new().line_limit(LINE_LIMIT);
        Record {
            monitor,
            clock: Clock::start(),
            log,
            transcript,
            feed,
            last: Millis::ZERO,
            partial: Default::default(),
        }
    }

    /// Records bytes. A failure to write the record never disturbs the dialogue.
    pub(super) fn bytes(&mut self, sender: Sender, bytes: &[u8]) {
        let now = self.clock.now();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let partial = &mut self.partial[usize::from(sender == Sender::Server)];
            append(partial, piece, LINE_LIMIT);
            if !piece.ends_with(b"\n") {
                self.monitor.bytes(sender, piece, now);
                continue;
            }
            let line = std::mem::take(partial);
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            self.line(sender, line, now);
            let violations = self.monitor.bytes(sender, piece, now);
            self.report(&violations);
            if let Some(feed) = &self.feed {
                feed.message(sender, line, &violations);
            }
        }
    }

    fn line(&mut self, sender: Sender, line: &[u8], now: Millis) {
        let (sign, name) = match sender {
            Sender::Client => ('>', "client"),
            Sender::Server => ('<', "server"),
        };
        let text = String::from_utf8_lossy(line);
        let seconds = format!("{}.{:03}", now.0 / 1000, now.0 % 1000);
        let _ = writeln!(self.log, "{seconds:>9} {name} {sign} {}", Printable(&text));
        if let Some(file) = &mut self.transcript {
            let gap = now.since(self.last);
            let _ = file.write_all(transcript::entry(sign, line, gap).as_bytes());
        }
        self.last = now;
    }

    /// Records the end of a stream.
    pub(super) fn end(&mut self, sender: Sender) {
        let now = self.clock.now();
        let line = std::mem::take(&mut self.partial[usize::from(sender == Sender::Server)]);
        if !line.is_empty() {
            self.line(sender, &line, now);
        }
        let violations = self.monitor.end(sender, now);
        self.report(&violations);
        if let Some(feed) = &self.feed {
            if !line.is_empty() {
                feed.message(sender, &line, &[]);
            }
            feed.end(sender, &violations);
        }
        if let Some(file) = self.transcript.as_mut().filter(|_| sender == Sender::Client) {
            let _ = file.write_all(transcript::END.as_bytes());
        }
    }

    fn report(&mut self, violations: &[mcp_proto::monitor::Violation]) {
        for violation in violations {
            let _ = writeln!(self.log, "          ! {}", Printable(&violation.to_string()));
        }
        let _ = self.log.flush();
    }
}

/// Appends `piece` to the line up to a line length of `limit` bytes. Drops the rest of the piece.
fn append(line: &mut Vec<u8>, piece: &[u8], limit: usize) {
    let free = limit.saturating_sub(line.len()).min(piece.len());
    line.extend_from_slice(&piece[..free]);
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn oversized_line_is_recorded_up_to_the_limit() {
        let mut line = Vec::new();
        for (piece, expected) in [("abc", "abc"), ("defgh", "abcdef"), ("x", "abcdef"), ("\n", "abcdef")] {
            append(&mut line, piece.as_bytes(), 6);
            assert_eq!(line, expected.as_bytes());
        }
    }
}
