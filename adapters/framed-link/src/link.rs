//! `FramedLink`: one end of a line.

use mcp_proto::Millis;

use crate::endpoint::Endpoint;
use crate::frame::{FRAME, Frame};
use crate::segments::{Segment, Segments};

/// One end of a reliable byte stream over a serial line. See the [crate documentation](crate).
#[derive(Debug, Clone)]
pub struct FramedLink {
    endpoint: Endpoint,
    segments: Segments,
    /// The last frame for the line. The bytes from `start` to `end` are not written yet.
    frame: [u8; FRAME],
    start: usize,
    end: usize,
    /// Whether the frame requires an answer, and is not completely written yet.
    awaits_answer: bool,
}

impl FramedLink {
    /// Creates one end of a line.
    ///
    /// `number` should be different at each start of the program, so that the other end distinguishes a restart from a
    /// continued session. A random number or a counter of starts suffices. A constant also suffices if the numbers of
    /// the other end are random. But with a constant, data can be lost without a report if this end restarts twice
    /// within a round trip.
    #[must_use]
    pub const fn new(number: u16) -> FramedLink {
        FramedLink {
            endpoint: Endpoint::new(number),
            segments: Segments::new(),
            frame: [0; FRAME],
            start: 0,
            end: 0,
            awaits_answer: false,
        }
    }

    /// Returns whether this end has a session with the other end.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        self.endpoint.is_connected
    }

    /// Returns whether only a part of a frame was [written](FramedLink::written) to the line. Other text may be written
    /// to the line only while this method returns `false`.
    #[must_use]
    pub const fn is_within_frame(&self) -> bool {
        self.start > 0 && self.start < self.end
    }

    /// Returns whether no [sent](FramedLink::send) byte awaits its acknowledgment. The other end acknowledges bytes
    /// that it has consumed.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.endpoint.is_idle()
    }

    /// Begins a new session. Drops all bytes in transit. The other end [reports](FramedLink::take_reset) the new
    /// session.
    pub fn restart(&mut self) {
        self.endpoint.begin(0);
        self.endpoint.is_reset = false;
        (self.start, self.end) = (0, 0);
    }

    /// Returns whether the other end has begun a new session. Bytes in transit were then lost.
    ///
    /// Returns `true` once after the other end has ended one or more sessions. No byte of the stream is then received
    /// or sent until the caller calls this method.
    #[must_use]
    pub fn take_reset(&mut self) -> bool {
        core::mem::take(&mut self.endpoint.is_reset)
    }

    /// Accepts bytes of the stream. Returns the number of accepted bytes.
    ///
    /// Returns 0 while an earlier frame is not acknowledged, before the link is connected, and while a
    /// [reset](FramedLink::take_reset) is not reported.
    pub fn send(&mut self, bytes: &[u8]) -> usize {
        self.endpoint.send(bytes)
    }

    /// Returns the received bytes of the stream that are not consumed.
    #[must_use]
    pub fn received(&self) -> &[u8] {
        self.endpoint.received()
    }

    /// Removes bytes from the beginning of the [received](FramedLink::received) bytes. The other end can send further
    /// bytes when all received bytes are consumed.
    pub fn consume(&mut self, count: usize) {
        self.endpoint.consume(count);
    }

    /// Returns the next bytes for the line. The caller reports the written bytes with
    /// [`written`](FramedLink::written).
    ///
    /// Returns no bytes if nothing is due. Call this method again at the [deadline](FramedLink::deadline), and after
    /// `input`, `send` and `consume`.
    pub fn output(&mut self, now: Millis) -> &[u8] {
        if self.start >= self.end {
            self.start = 0;
            (self.end, self.awaits_answer) = self.endpoint.next_frame(now, &mut self.frame);
        }
        self.frame.get(self.start..self.end).unwrap_or_default()
    }

    /// Records that this number of bytes of the [output](FramedLink::output) was written to the line.
    pub fn written(&mut self, count: usize, now: Millis) {
        self.start = self.start.saturating_add(count).min(self.end);
        if self.start == self.end && core::mem::take(&mut self.awaits_answer) {
            self.endpoint.written(now);
        }
    }

    /// Returns the time at which [`output`](FramedLink::output) has a frame to repeat.
    ///
    /// Returns `None` if no frame waits for an answer. Also returns `None` while a part of the last output is not
    /// [written](FramedLink::written), because the line then accepts no repetition.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        if self.start < self.end {
            return None;
        }
        self.endpoint.deadline()
    }

    /// Processes bytes of the line. Calls `text` with each piece of text outside of frames.
    ///
    /// A piece may end at any byte, and ends before the next frame. A damaged frame is rarely mistaken for text.
    pub fn input(&mut self, bytes: &[u8], now: Millis, mut text: impl FnMut(&[u8])) {
        for byte in bytes {
            match self.segments.push(*byte) {
                None => {}
                Some(Segment::Text(bytes)) => text(bytes),
                Some(Segment::Overlong) => self.endpoint.damaged(),
                Some(Segment::Frame(bytes)) => match Frame::decode(bytes, self.endpoint.incoming()) {
                    Some(frame) => self.endpoint.apply(frame, now),
                    None => self.endpoint.damaged(),
                },
            }
        }
    }

    /// Returns the undelivered text since the last frame. Returns `None` if there is no such text.
    ///
    /// Call this method when the line has been silent for a while, because the next frame may be far away.
    pub fn take_text(&mut self) -> Option<&[u8]> {
        self.segments.take_text()
    }

    #[cfg(test)]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}
