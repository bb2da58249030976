//! Two links and the line between them, with a check of all received bytes.

use std::collections::{BTreeMap, VecDeque};
use std::vec::Vec;

use mcp_proto::Millis;

use crate::FramedLink;
use crate::frame::Frame;

/// One direction of the line.
#[derive(Clone, Default)]
pub(super) struct Wire {
    pub(super) bytes: VecDeque<u8>,
    /// The beginning of a segment that was delivered without its end.
    partial: Vec<u8>,
    /// All segments that were written, the newest last.
    pub(super) written: Vec<Vec<u8>>,
}

/// The number of the first link, and the number of the second link.
type SessionKey = (u16, u16);

/// Two links. A link writes to the wire with its own index.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) links: [FramedLink; 2],
    pub(super) wires: [Wire; 2],
    pub(super) now: Millis,
    /// The bytes that each link accepted for sending, by session.
    accepted: [BTreeMap<SessionKey, Vec<u8>>; 2],
    /// The bytes that were received from each link, by session.
    pub(super) received: [BTreeMap<SessionKey, Vec<u8>>; 2],
    /// The session in which each link is connected, until the link reports the end of the session.
    sessions: [Option<SessionKey>; 2],
    pub(super) resets: [u32; 2],
    next_byte: u8,
    /// The bytes outside frames, such as log text of a board, that came over each wire.
    pub(super) text: [Vec<u8>; 2],
}

impl Line {
    pub(super) fn new(numbers: [u16; 2]) -> Line {
        Line {
            links: numbers.map(FramedLink::new),
            wires: Default::default(),
            now: Millis(0),
            accepted: Default::default(),
            received: Default::default(),
            sessions: [None; 2],
            resets: [0; 2],
            next_byte: 0,
            text: Default::default(),
        }
    }

    /// Creates two connected links.
    pub(super) fn connected() -> Line {
        let mut line = Line::new([0x1234, 1]);
        line.settle();
        assert!(line.is_connected());
        line
    }

    pub(super) fn is_connected(&self) -> bool {
        self.links.iter().all(FramedLink::is_connected) && self.key(0) == self.key(1)
    }

    pub(super) fn key(&self, side: usize) -> SessionKey {
        let numbers = self.links[side].endpoint().numbers();
        if side == 0 { numbers } else { (numbers.1, numbers.0) }
    }

    /// Writes the due output of a link to its wire.
    pub(super) fn write(&mut self, side: usize) {
        while self.write_one(side) {}
    }

    /// Writes one frame. Returns `false` if no frame is due.
    pub(super) fn write_one(&mut self, side: usize) -> bool {
        let bytes = self.links[side].output(self.now).to_vec();
        let [0, segment @ .., 0] = &*bytes else { return false };
        self.links[side].written(bytes.len(), self.now);
        self.wires[side].written.push(segment.to_vec());
        self.wires[side].bytes.extend(bytes);
        true
    }

    /// Delivers bytes of a wire to the other link.
    ///
    /// Drops a damaged segment with a valid checksum: the test is about the protocol, not about the CRC.
    pub(super) fn deliver(&mut self, from: usize, count: usize) {
        let (wire, to) = (&mut self.wires[from], 1 - from);
        let count = count.min(wire.bytes.len());
        for byte in wire.bytes.drain(..count) {
            wire.partial.push(byte);
            if byte != 0 {
                continue;
            }
            let segment = wire.partial[..wire.partial.len() - 1].to_vec();
            let is_valid =
                Frame::decode(&mut segment.clone(), self.links[to].endpoint().incoming()).is_some();
            if is_valid && !wire.written.contains(&segment) {
                wire.partial.clear();
                continue;
            }
            let text = &mut self.text[from];
            self.links[to].input(&wire.partial, self.now, |bytes| text.extend(bytes));
            wire.partial.clear();
            observe(&mut self.links[to], &mut self.sessions[to], &mut self.resets[to], to);
        }
    }

    /// Passes new bytes to a link. Returns the number of accepted bytes.
    pub(super) fn send(&mut self, side: usize, count: usize) -> usize {
        let bytes: Vec<u8> = (0..count).map(|at| self.next_byte.wrapping_add(at as u8)).collect();
        let count = self.links[side].send(&bytes);
        self.next_byte = self.next_byte.wrapping_add(count as u8);
        self.accepted[side].entry(self.key(side)).or_default().extend(&bytes[..count]);
        count
    }

    /// Reads received bytes, and checks that they were sent in this session, in this order.
    pub(super) fn read(&mut self, side: usize, count: usize) {
        let bytes = self.links[side].received();
        let bytes = bytes[..count.min(bytes.len())].to_vec();
        self.links[side].consume(bytes.len());
        let (key, from) = (self.key(side), 1 - side);
        let received = self.received[from].entry(key).or_default();
        received.extend(bytes);
        let accepted = self.accepted[from].get(&key).map(Vec::as_slice).unwrap_or_default();
        assert!(accepted.starts_with(received), "{received:?} of {accepted:?} in session {key:x?}");
    }

    /// Starts the program of a link again, with a new number.
    pub(super) fn restart(&mut self, side: usize) {
        let mut link = self.links[side].clone();
        link.restart();
        self.restart_as(side, link.endpoint().numbers().0);
    }

    /// Starts the program of a link again, with this number.
    pub(super) fn restart_as(&mut self, side: usize, number: u16) {
        self.links[side] = FramedLink::new(number);
        self.sessions[side] = None;
    }

    /// Moves bytes until both links are idle. Advances the time to each deadline.
    pub(super) fn settle(&mut self) {
        for _ in 0..200 {
            for side in [0, 1] {
                self.write(side);
                self.deliver(side, usize::MAX);
                self.read(1 - side, usize::MAX);
                self.write(1 - side);
            }
            if self.wires.iter().all(|wire| wire.bytes.is_empty()) {
                let deadlines = self.links.iter().filter_map(FramedLink::deadline);
                let Some(deadline) = deadlines.min() else { return };
                self.now = self.now.max(deadline);
            }
        }
        panic!("the line does not settle: {:?}", self.links);
    }

    /// Checks that all bytes accepted in the current session were received.
    pub(super) fn expect_complete(&self) {
        let key = self.key(0);
        for side in [0, 1] {
            let [received, accepted] = [&self.received, &self.accepted]
                .map(|streams| streams[side].get(&key).cloned().unwrap_or_default());
            assert_eq!(received, accepted, "from link {side}");
        }
    }
}

/// Takes a reset. Checks that the link reports a reset if and only if a session has ended.
fn observe(link: &mut FramedLink, session: &mut Option<SessionKey>, resets: &mut u32, side: usize) {
    let (local, remote) = link.endpoint().numbers();
    let key = if side == 0 { (local, remote) } else { (remote, local) };
    let has_ended = session.is_some_and(|session| session != key);
    assert_eq!(link.take_reset(), has_ended, "a session that has ended is reported once");
    *resets += u32::from(has_ended);
    if has_ended {
        *session = None;
    }
    if link.is_connected() {
        *session = Some(key);
    }
}
