//! A batch is one line with several messages: taken apart, each of them is the line for a while.
//!
//! Nothing is kept beside the line itself: what stands behind a member tells whether there is another one.
//!
//! Specification: 2025-03-26, *Base protocol*, *Batching*.

use crate::framing::{Found, Kind, LineDecoder};
use crate::json::next_value;

impl LineDecoder<'_> {
    /// Takes the line apart, which is an array: its first element is the line now. `false`: it has none, or is an
    /// element itself.
    pub(crate) fn open_batch(&mut self) -> bool {
        let is_element = !self.behind().iter().all(u8::is_ascii_whitespace);
        let bracket = self.bytes().iter().position(|byte| *byte == b'[');
        match bracket.filter(|_| !is_element) {
            Some(at) => self.enter(at.wrapping_add(1)),
            None => false,
        }
    }

    /// Lets the line go, or only the element that it is of a batch: then the next one is the line.
    pub(crate) fn release_element(&mut self) {
        let length = self.scanned.saturating_sub(self.start);
        let next = match self.line {
            Some(Kind::Message) => {
                let behind = self.behind();
                let comma = behind.iter().position(|byte| !byte.is_ascii_whitespace());
                comma
                    .filter(|at| behind.get(*at) == Some(&b','))
                    .map(|at| length.wrapping_add(at).wrapping_add(1))
            }
            _ => None,
        };
        if !next.is_some_and(|at| self.enter(at)) {
            self.release();
        }
    }

    /// What is to be released with the line, and is not of it: its end, or the rest of a batch.
    fn behind(&self) -> &[u8] {
        let to = self.start.wrapping_add(self.whole);
        self.buffer.bytes().get(self.scanned..to).unwrap_or_default()
    }

    /// The value behind the first `skipped` bytes of the line, if there is one, is the line now.
    fn enter(&mut self, skipped: usize) -> bool {
        let from = self.start.wrapping_add(skipped);
        let rest = self.buffer.bytes().get(from..self.start.wrapping_add(self.whole)).unwrap_or_default();
        let Some((before, length)) = next_value(rest) else { return false };
        let skipped = skipped.wrapping_add(before);
        let from = self.start.wrapping_add(skipped);
        let value = self.buffer.bytes().get(from..from.wrapping_add(length)).unwrap_or_default();
        self.scanner.reset();
        self.scanner.feed(value);
        // It was valid as a part of the whole, so it is.
        let kind = self.finish();
        self.start = from;
        self.wait(Found { kind, length, whole: self.whole.saturating_sub(skipped) });
        true
    }
}

#[cfg(test)]
mod tests;
