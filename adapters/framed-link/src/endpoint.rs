//! The protocol of one end of the line: sessions, acknowledgment and repetition.
//!
//! **Sessions.** Each end has a number. A *hello* frame contains the number of its sender, and the number of the other
//! end, or 0 if the sender does not know that number. An end that receives its own number in a hello is connected,
//! because the other end knows the number from an earlier hello. The first valid frame of another kind also connects an
//! end, because only a connected end sends such frames. For a connected end, a hello with other numbers counts as a
//! restart of the other end: the session ends, and this end has another number in the next session.
//!
//! **Acknowledgment.** One data frame at a time is in transit in each direction. The receiver acknowledges the frame
//! when the caller has consumed the payload, so the sender never sends more than the receiver has space for.

use mcp_proto::Millis;

use crate::PAYLOAD;
use crate::frame::{FRAME, Frame, Session};
use crate::timer::Timer;

/// Number of consecutive damaged frames after which an end sends a hello.
const MAX_DAMAGED: u8 = 8;

/// The state of one end.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// The number of this end.
    local: u16,
    /// The number of the other end, or 0.
    remote: u16,
    pub(crate) is_connected: bool,
    /// Whether the other end has ended a session, and `FramedLink::take_reset` has not reported this yet.
    pub(crate) is_reset: bool,
    due: Due,
    timer: Timer,
    /// Number of damaged frames since the last valid frame, or since damaged frames last caused a hello.
    damaged: u8,
    /// The payload in transit. `sent_len` is 0 if no frame is in transit.
    sent: [u8; PAYLOAD],
    sent_len: usize,
    sent_seq: u8,
    is_repeated: bool,
    /// The received payload. The bytes from `received_start` to `received_end` are not consumed yet.
    received: [u8; PAYLOAD],
    received_start: usize,
    received_end: usize,
    /// The sequence number of the next payload to receive.
    next_seq: u8,
}

/// The kinds of frames that [`Endpoint::next_frame`] must send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Due {
    hello: bool,
    data: bool,
    ack: bool,
    repeat: bool,
}

impl Endpoint {
    pub(crate) const fn new(number: u16) -> Endpoint {
        Endpoint {
            local: if number == 0 { 1 } else { number },
            remote: 0,
            is_connected: false,
            is_reset: false,
            due: Due { hello: true, data: false, ack: false, repeat: false },
            timer: Timer::new(),
            damaged: 0,
            sent: [0; PAYLOAD],
            sent_len: 0,
            sent_seq: 0,
            is_repeated: false,
            received: [0; PAYLOAD],
            received_start: 0,
            received_end: 0,
            next_seq: 0,
        }
    }

    /// Ends the session, and begins a session with the end whose number is `remote`. 0 stands for an unknown number.
    pub(crate) fn begin(&mut self, remote: u16) {
        // Any sequence of numbers without short cycles suffices.
        let next = self.local.wrapping_mul(25_173).wrapping_add(13_849);
        let is_reset = self.is_reset || self.is_connected;
        *self = Endpoint { remote, is_reset, ..Endpoint::new(next) };
    }

    /// Accepts bytes of the stream, and returns their number. Returns 0 while a frame is in transit, before the ends
    /// are connected, and while a reset is not reported.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> usize {
        if !self.is_connected || self.is_reset || self.sent_len > 0 {
            return 0;
        }
        self.sent_len = self.sent.iter_mut().zip(bytes).map(|(place, byte)| *place = *byte).count();
        self.due.data = self.sent_len > 0;
        self.is_repeated = false;
        self.sent_len
    }

    /// Returns whether all bytes of the stream were acknowledged.
    pub(crate) fn is_idle(&self) -> bool {
        self.sent_len == 0
    }

    pub(crate) fn received(&self) -> &[u8] {
        if self.is_reset {
            return &[];
        }
        self.received.get(self.received_start..self.received_end).unwrap_or_default()
    }

    pub(crate) fn consume(&mut self, count: usize) {
        if self.received().is_empty() {
            return;
        }
        self.received_start = self.received_start.saturating_add(count).min(self.received_end);
        self.due.ack |= self.received().is_empty();
    }

    pub(crate) fn deadline(&self) -> Option<Millis> {
        self.timer.deadline()
    }

    /// Encodes the next frame that is due. Returns the length of the frame, and whether the frame requires an answer. A
    /// length of 0 means that no frame is due.
    pub(crate) fn next_frame(&mut self, now: Millis, space: &mut [u8; FRAME]) -> (usize, bool) {
        if self.timer.take_expired(now) {
            self.repeat();
        }
        let due = self.due;
        let ack = self.acknowledged();
        let payload = self.sent.get(..self.sent_len).unwrap_or_default();
        let frame = match due {
            Due { hello: true, .. } => {
                self.due.hello = false;
                Frame::Hello { sender: self.local, receiver: self.remote }
            }
            Due { data: true, .. } => {
                (self.due.data, self.due.ack) = (false, false);
                Frame::Data { seq: self.sent_seq, ack, payload }
            }
            Due { repeat: true, .. } => {
                (self.due.repeat, self.due.ack) = (false, false);
                Frame::Repeat { ack }
            }
            Due { ack: true, .. } => {
                self.due.ack = false;
                Frame::Ack { ack }
            }
            _ => return (0, false),
        };
        let [a, b] = self.local.to_le_bytes();
        let [c, d] = self.remote.to_le_bytes();
        (frame.encode([a, b, c, d], space), due.hello || due.data)
    }

    /// Records that a frame that requires an answer was written.
    pub(crate) fn written(&mut self, now: Millis) {
        // The answer to an earlier copy of the frame may have arrived meanwhile.
        if !self.is_connected || self.sent_len > 0 {
            self.timer.start(now);
        }
    }

    /// Returns the session of received frames, or `None` if the number of the other end is unknown.
    pub(crate) fn incoming(&self) -> Option<Session> {
        let ([a, b], [c, d]) = (self.remote.to_le_bytes(), self.local.to_le_bytes());
        (self.remote != 0).then_some([a, b, c, d])
    }

    /// Handles a valid frame.
    pub(crate) fn apply(&mut self, frame: Frame<'_>, now: Millis) {
        self.damaged = 0;
        let (ack, asks_to_repeat) = match frame {
            Frame::Hello { sender, receiver } => return self.hello(sender, receiver == self.local),
            Frame::Data { ack, .. } | Frame::Ack { ack } => (ack, false),
            Frame::Repeat { ack } => (ack, true),
        };
        self.connect();
        if self.sent_len > 0 && ack == self.sent_seq.wrapping_add(1) {
            self.timer.answered(now, !self.is_repeated);
            (self.sent_len, self.sent_seq, self.due.data) = (0, ack, false);
        }
        if asks_to_repeat {
            self.repeat();
        }
        if let Frame::Data { seq, payload, .. } = frame {
            self.data(seq, payload);
        }
    }

    /// Handles a damaged frame: if this end is connected, requests a repetition, so that the other end need not wait
    /// for its timer.
    ///
    /// An old frame can connect the two ends in different sessions. Then each end considers the frames of the other end
    /// damaged. So after several damaged frames in sequence, an end sends a hello, which contains its session.
    pub(crate) fn damaged(&mut self) {
        self.damaged = self.damaged.saturating_add(1);
        if !self.is_connected {
            return;
        }
        if self.damaged >= MAX_DAMAGED {
            self.damaged = 0;
            self.due.hello = true;
        } else {
            self.due.repeat = true;
        }
    }

    fn hello(&mut self, sender: u16, knows_this_end: bool) {
        if sender == 0 {
            return;
        }
        if self.is_connected {
            match knows_this_end && sender == self.remote {
                // The other end does not know that both are connected.
                true => self.due.ack = true,
                false => self.begin(sender),
            }
            return;
        }
        self.remote = sender;
        match knows_this_end {
            true => {
                self.connect();
                self.due.ack = true;
            }
            false => self.due.hello = true,
        }
    }

    fn connect(&mut self) {
        if !self.is_connected {
            self.is_connected = true;
            self.due.hello = false;
            // Unanswered hellos have increased the time limit, so the limit does not reflect the round trip.
            self.timer = Timer::new();
        }
    }

    fn data(&mut self, seq: u8, payload: &[u8]) {
        if seq != self.next_seq {
            // The peer repeats a frame that has already arrived: the acknowledgment was lost, or has not arrived yet.
            self.due.ack |= self.received_start == self.received_end;
        } else if self.received_start == self.received_end {
            let places = self.received.iter_mut().zip(payload);
            self.received_end = places.map(|(place, byte)| *place = *byte).count();
            self.received_start = 0;
            self.next_seq = seq.wrapping_add(1);
        }
    }

    /// Before the ends are connected, makes a hello due. Afterwards, makes the frame in transit due again, or an
    /// acknowledgment if no frame is in transit.
    fn repeat(&mut self) {
        if !self.is_connected {
            self.due.hello = true;
        } else if self.sent_len > 0 {
            // If the frame is still due, sending it is no further repetition.
            self.is_repeated |= !self.due.data;
            self.due.data = true;
            self.timer.stop();
        } else {
            self.due.ack = true;
        }
    }

    /// Returns the sequence number before which all payloads were consumed.
    fn acknowledged(&self) -> u8 {
        match self.received_start == self.received_end {
            true => self.next_seq,
            false => self.next_seq.wrapping_sub(1),
        }
    }

    /// Returns the numbers of this end and of the other end.
    #[cfg(test)]
    pub(crate) fn numbers(&self) -> (u16, u16) {
        (self.local, self.remote)
    }

    /// Returns the state that a test compares: without times and counts of damage, and with only the first byte of a
    /// payload.
    #[cfg(test)]
    pub(crate) fn state(&self) -> impl core::fmt::Debug {
        let sent = (self.sent_len, self.sent.first().copied(), self.sent_seq);
        let received = (self.received().first().copied(), self.next_seq);
        (self.numbers(), self.is_connected, self.due, self.timer.deadline().is_some(), sent, received)
    }
}
