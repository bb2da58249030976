//! Lines of the client that wait until the board is ready.

use std::collections::VecDeque;
use std::time::Instant;

use crate::message;

/// Size of all stored lines, in bytes, above which the bridge stops reading from the client.
const MAX_HELD: usize = 1 << 20;

/// The stored lines, in order.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: VecDeque<HeldLine>,
    bytes: usize,
}

#[derive(Debug)]
struct HeldLine {
    line: Vec<u8>,
    since: Instant,
    /// The JSON texts of the ids of the requests in the line.
    ids: Vec<String>,
}

impl Held {
    pub(super) fn push(&mut self, line: &[u8], now: Instant) {
        self.bytes += line.len();
        self.lines.push_back(HeldLine { line: line.to_owned(), since: now, ids: message::request_ids(line) });
    }

    /// Returns the number of lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_HELD
    }

    /// Removes and returns all lines.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Vec<u8>> + use<> {
        std::mem::take(self).lines.into_iter().map(|held| held.line)
    }

    /// Returns when the oldest request was stored, or `None` if no line has a request.
    pub(super) fn oldest_request(&self) -> Option<Instant> {
        self.lines.iter().find(|held| !held.ids.is_empty()).map(|held| held.since)
    }

    /// Removes each line with a request, if `is_late` returns `true` for the time at which the line was stored. Returns
    /// the ids of the requests in the removed lines.
    pub(super) fn take_late(&mut self, is_late: impl Fn(Instant) -> bool) -> Vec<String> {
        let mut late = Vec::new();
        self.lines.retain_mut(|held| {
            let stays = held.ids.is_empty() || !is_late(held.since);
            if !stays {
                self.bytes -= held.line.len();
                late.append(&mut held.ids);
            }
            stays
        });
        late
    }
}
