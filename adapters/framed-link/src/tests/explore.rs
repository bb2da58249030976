//! Explores all states of small models: two links, few frames, at most one restart, lost and repeated frames.
//!
//! The tests compare the number of states, so a change of the protocol that adds or removes states fails a test.

use std::collections::HashSet;
use std::vec::Vec;
use std::{format, string::String};

use super::line::Line;

/// The bounds of a model.
#[derive(Clone, Copy)]
struct Bounds {
    /// The maximum number of bytes that each link sends.
    sent: [usize; 2],
    /// The maximum number of restarts of the second link.
    restarts: u32,
    /// The maximum number of frames on a wire.
    in_transit: usize,
}

#[derive(Clone)]
struct Model {
    bounds: Bounds,
    line: Line,
    sent: [usize; 2],
    restarts: u32,
}

impl Model {
    /// Returns the state without times, because a time limit may expire at any moment.
    fn key(&self) -> String {
        let ends = [0, 1].map(|side| self.line.links[side].endpoint().state());
        let wires = [0, 1].map(|side| &self.line.wires[side].bytes);
        format!("{ends:?} {wires:?} {:?} {} {:?}", self.sent, self.restarts, self.line.received)
    }

    /// Returns the end of the first frame on a wire, or `None` if the wire has no frame.
    fn first_frame(&self, side: usize) -> Option<usize> {
        let bytes = &self.line.wires[side].bytes;
        bytes.iter().skip(1).position(|byte| *byte == 0).map(|end| end + 2)
    }

    fn has_space(&self, side: usize) -> bool {
        let zeros = self.line.wires[side].bytes.iter().filter(|byte| **byte == 0).count();
        zeros / 2 < self.bounds.in_transit
    }

    /// Returns all states that one operation can reach.
    fn next(&self) -> Vec<Model> {
        let mut states = Vec::new();
        let mut after = |operation: &dyn Fn(&mut Model)| {
            let mut model = self.clone();
            operation(&mut model);
            states.push(model);
        };
        for side in [0, 1] {
            if self.sent[side] < self.bounds.sent[side] {
                after(&|model| model.sent[side] += model.line.send(side, 1));
            }
            after(&|model| model.line.read(side, 1));
            if self.has_space(side) {
                after(&|model| _ = model.line.write_one(side));
                after(&|model| {
                    // Only the timer of this link expires: the clock jumps to its deadline and back.
                    let now = model.line.now;
                    model.line.now = model.line.links[side].deadline().unwrap_or(now);
                    _ = model.line.write_one(side);
                    model.line.now = now;
                });
            }
            if let Some(end) = self.first_frame(side) {
                after(&|model| model.line.deliver(side, end));
                after(&|model| drop(model.line.wires[side].bytes.drain(..end)));
                if self.has_space(side) {
                    after(&|model| {
                        let bytes = &mut model.line.wires[side].bytes;
                        let copy: Vec<u8> = bytes.range(..end).copied().collect();
                        copy.into_iter().rev().for_each(|byte| bytes.push_front(byte));
                    });
                }
            }
        }
        if self.restarts < self.bounds.restarts {
            after(&|model| {
                model.restarts += 1;
                model.line.restart(1);
            });
        }
        states
    }
}

/// Visits all states, and checks that all bytes of the current session arrive if the line has no further damage.
/// Returns the number of states.
fn explore(bounds: Bounds) -> usize {
    let start = Model { bounds, line: Line::new([1, 2]), sent: [0; 2], restarts: 0 };
    let (mut known, mut waiting) = (HashSet::from([start.key()]), std::vec![start]);
    while let Some(model) = waiting.pop() {
        let mut end = model.line.clone();
        end.settle();
        end.expect_complete();
        assert!(end.is_connected(), "{}", model.key());
        waiting.extend(model.next().into_iter().filter(|model| known.insert(model.key())));
        assert!(known.len() < 100_000, "the model is too large");
    }
    known.len()
}

#[test]
fn every_state_of_a_session_delivers_its_stream() {
    let bounds = Bounds { sent: [2, 0], restarts: 0, in_transit: 1 };
    assert_eq!(explore(bounds), 4_260);
}

#[test]
fn every_state_with_streams_in_both_directions_delivers_them() {
    let bounds = Bounds { sent: [1, 1], restarts: 0, in_transit: 1 };
    assert_eq!(explore(bounds), 18_004);
}

#[test]
fn every_state_with_repeated_frames_delivers_its_stream() {
    let bounds = Bounds { sent: [0, 1], restarts: 0, in_transit: 2 };
    assert_eq!(explore(bounds), 20_032);
}

#[test]
fn every_state_around_a_restart_delivers_its_stream() {
    let bounds = Bounds { sent: [1, 0], restarts: 1, in_transit: 1 };
    assert_eq!(explore(bounds), 82_516);
}
