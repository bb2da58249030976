//! The protocol step by step.

use mcp_proto::Millis;

use super::line::Line;
use crate::frame::{FRAME, Frame};
use crate::{FramedLink, PAYLOAD};

/// Writes the due output of a link, and drops all bytes on its wire.
fn lose(line: &mut Line, side: usize) {
    line.write(side);
    line.wires[side].bytes.clear();
}

#[test]
fn both_ends_connect_in_either_order() {
    for first in [0, 1] {
        let mut line = Line::new([7, 7]);
        lose(&mut line, 1 - first);
        line.settle();
        assert!(line.is_connected());
        assert_eq!(line.resets, [0, 0], "the first session is no reset");
    }
}

#[test]
fn nothing_is_accepted_before_the_link_is_connected() {
    let mut line = Line::new([7, 9]);
    assert_eq!(line.send(0, 5), 0);
    line.settle();
    assert_eq!(line.send(0, 5), 5);
}

#[test]
fn stream_arrives_in_both_directions_at_once() {
    let mut line = Line::connected();
    for len in [1, 2, PAYLOAD - 1, PAYLOAD, PAYLOAD + 1, 3 * PAYLOAD] {
        let accepted = [line.send(0, len), line.send(1, len)];
        assert_eq!(accepted, [len.min(PAYLOAD); 2]);
        line.settle();
        line.expect_complete();
    }
}

#[test]
fn sequence_numbers_wrap_around() {
    let mut line = Line::connected();
    for _ in 0..600 {
        assert_eq!(line.send(0, 1), 1);
        line.settle();
    }
    line.expect_complete();
}

#[test]
fn lost_frame_is_repeated_at_its_deadline() {
    let mut line = Line::connected();
    line.send(0, 10);
    lose(&mut line, 0);
    let deadline = line.links[0].deadline().unwrap();
    line.now = Millis(deadline.0 - 1);
    line.write(0);
    assert!(line.wires[0].bytes.is_empty(), "the frame is not repeated before its deadline");
    line.now = deadline;
    line.write(0);
    assert!(!line.wires[0].bytes.is_empty());
    line.settle();
    line.expect_complete();
}

#[test]
fn partly_written_frame_delays_the_repetition() {
    let mut line = Line::connected();
    line.send(0, 10);
    lose(&mut line, 0);
    line.send(1, 10);
    line.write(1);
    line.deliver(1, usize::MAX);
    line.read(0, 10);
    // The line accepts only the first byte of the acknowledgment.
    let ack = line.links[0].output(line.now).len();
    line.links[0].written(1, line.now);
    line.now = line.now.plus(Millis(1000));
    assert_eq!(line.links[0].deadline(), None);
    line.links[0].written(ack - 1, line.now);
    assert!(line.links[0].deadline().unwrap() <= line.now);
    line.settle();
    line.expect_complete();
}

#[test]
fn lost_acknowledgment_delivers_a_frame_once() {
    let mut line = Line::connected();
    line.send(0, 10);
    line.write(0);
    line.deliver(0, usize::MAX);
    line.read(1, usize::MAX);
    lose(&mut line, 1);
    line.settle();
    line.expect_complete();
    assert!(line.links[0].is_idle());
}

#[test]
fn damaged_frame_is_repeated_before_its_deadline() {
    let mut line = Line::connected();
    line.send(0, 10);
    line.write(0);
    line.wires[0].bytes[5] ^= 1;
    let before = line.now;
    line.deliver(0, usize::MAX);
    line.write(1);
    line.deliver(1, usize::MAX);
    line.write(0);
    line.deliver(0, usize::MAX);
    line.read(1, usize::MAX);
    line.expect_complete();
    assert_eq!(line.now, before);
}

#[test]
fn time_between_repetitions_doubles_up_to_a_limit() {
    let mut line = Line::connected();
    line.send(0, 1);
    let mut waits = std::vec::Vec::new();
    for _ in 0..10 {
        lose(&mut line, 0);
        let deadline = line.links[0].deadline().unwrap();
        waits.push(deadline.since(line.now).0);
        line.now = deadline;
    }
    assert!(waits.windows(2).all(|pair| pair[1] == (pair[0] * 2).min(2000)), "{waits:?}");
    // A measured round trip ends the long waits.
    for _ in 0..20 {
        line.settle();
        line.send(0, 1);
        line.write(0);
    }
    assert!(line.links[0].deadline().unwrap().since(line.now).0 <= 100);
}

#[test]
fn long_wait_for_the_other_end_delays_no_data() {
    let mut line = Line::new([1, 2]);
    for _ in 0..10 {
        lose(&mut line, 0);
        line.now = line.links[0].deadline().unwrap();
    }
    line.settle();
    line.send(0, 1);
    line.write(0);
    assert!(line.links[0].deadline().unwrap().since(line.now).0 <= 100);
}

#[test]
fn unread_payload_blocks_the_sender() {
    let mut line = Line::connected();
    line.send(0, 8);
    line.write(0);
    line.deliver(0, usize::MAX);
    line.write(1);
    assert!(line.wires[1].bytes.is_empty(), "no acknowledgment before the payload is read");
    line.read(1, 7);
    line.write(1);
    line.deliver(1, usize::MAX);
    assert_eq!(line.send(0, 8), 0);
    line.read(1, 1);
    line.write(1);
    line.deliver(1, usize::MAX);
    assert_eq!(line.send(0, 8), 8);
}

#[test]
fn restart_of_either_end_is_reported_at_the_other() {
    for side in [0, 1] {
        let mut line = Line::connected();
        line.send(0, 10);
        line.send(1, 10);
        line.restart(side);
        line.settle();
        assert!(line.is_connected());
        assert_eq!(line.resets[1 - side], 1);
        line.send(0, 10);
        line.send(1, 10);
        line.settle();
        line.expect_complete();
    }
}

#[test]
fn restart_with_the_same_number_is_reported() {
    let mut line = Line::connected();
    line.restart_as(1, 1);
    line.settle();
    assert_eq!((line.is_connected(), line.resets[0]), (true, 1));
}

#[test]
fn ends_in_different_sessions_begin_a_common_one() {
    let hello = |sender, receiver| {
        let mut space = [0; FRAME];
        let len = Frame::Hello { sender, receiver }.encode([0; 4], &mut space);
        space[..len].to_vec()
    };
    let mut line = Line::new([1, 2]);
    // The first end answers the second one. Then a late hello arrives, from when the second end had the number 9.
    line.links[0].input(&hello(2, 0), line.now, |_| {});
    line.write(0);
    line.links[0].input(&hello(9, 1), line.now, |_| {});
    line.deliver(0, usize::MAX);
    assert!(line.links.iter().all(FramedLink::is_connected) && !line.is_connected());
    line.settle();
    assert!(line.is_connected());
}

#[test]
fn unreported_reset_blocks_the_stream() {
    let mut line = Line::connected();
    line.restart(1);
    line.write(1);
    let hello: std::vec::Vec<u8> = line.wires[1].bytes.drain(..).collect();
    line.links[0].input(&hello, line.now, |_| {});
    assert_eq!((line.links[0].send(b"x"), line.links[0].received()), (0, &b""[..]));
    assert!(line.links[0].take_reset());
    assert!(!line.links[0].take_reset());
}

#[test]
fn number_zero_is_replaced() {
    let mut line = Line::new([0, 0]);
    line.settle();
    assert!(line.is_connected());
}
