//! Random operations on a line: no byte is lost, repeated or reordered without a report.

use std::vec;
use std::vec::Vec;

use mcp_proto::Millis;
use proptest::prelude::*;

use super::Random;
use super::line::Line;

/// An operation on one direction of the line, on the link that writes to this direction, or on the clock. Positions are
/// taken modulo the number of bytes in transit.
#[derive(Debug, Clone)]
enum Operation {
    Send(usize),
    Read(usize),
    Write,
    Deliver(usize),
    Flip(usize, u8),
    Drop(usize, usize),
    Insert(usize, Vec<u8>),
    Duplicate(usize, usize),
    /// Writes an earlier frame again. The number counts back from the last frame.
    Replay(usize),
    Cut,
    Wait(u64),
    Restart,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let at = 0..200_usize;
    prop_oneof![
        6 => (0..100_usize).prop_map(Send),
        6 => (0..100_usize).prop_map(Read),
        8 => Just(Write),
        8 => (0..200_usize).prop_map(Deliver),
        3 => (at.clone(), 1..=255_u8).prop_map(|(at, mask)| Flip(at, mask)),
        1 => (at.clone(), 1..80_usize).prop_map(|(at, len)| Drop(at, len)),
        1 => (at.clone(), prop::collection::vec(any::<u8>(), 1..80)).prop_map(|(at, bytes)| Insert(at, bytes)),
        1 => (at, 1..80_usize).prop_map(|(at, len)| Duplicate(at, len)),
        1 => (0..100_usize).prop_map(Replay),
        1 => Just(Cut),
        2 => (0..500_u64).prop_map(Wait),
        1 => Just(Restart),
    ]
}

fn apply(line: &mut Line, side: usize, operation: &Operation) {
    let bytes = &mut line.wires[side].bytes;
    let len = bytes.len();
    let range = |at: usize, count: usize| {
        let at = at.checked_rem(len).unwrap_or(0);
        at..(at + count).min(len)
    };
    match *operation {
        Operation::Send(count) => _ = line.send(side, count),
        Operation::Read(count) => line.read(side, count),
        Operation::Write => line.write(side),
        Operation::Deliver(count) => line.deliver(side, count),
        Operation::Flip(at, mask) => bytes.range_mut(range(at, 1)).for_each(|byte| *byte ^= mask),
        Operation::Drop(at, count) => drop(bytes.drain(range(at, count))),
        Operation::Insert(at, ref noise) => {
            let rest = bytes.split_off(range(at, 0).start);
            bytes.extend(noise);
            bytes.extend(rest);
        }
        Operation::Duplicate(at, count) => {
            let copy: Vec<u8> = bytes.range(range(at, count)).copied().collect();
            let rest = bytes.split_off(range(at, count).end);
            bytes.extend(copy);
            bytes.extend(rest);
        }
        Operation::Replay(back) => {
            if let Some(segment) = line.wires[side].written.iter().nth_back(back) {
                bytes.push_back(0);
                bytes.extend(segment);
                bytes.push_back(0);
            }
        }
        Operation::Cut => bytes.clear(),
        Operation::Wait(millis) => line.now = line.now.plus(Millis(millis)),
        Operation::Restart => line.restart(side),
    }
}

proptest! {
    #[test]
    fn random_operations_lose_no_byte_without_a_reset(
        numbers in any::<[u16; 2]>(),
        is_connected in any::<bool>(),
        operations in prop::collection::vec((0..2_usize, operation()), 0..300),
    ) {
        let mut line = Line::new(numbers);
        if is_connected {
            line.settle();
        }
        for (side, operation) in &operations {
            apply(&mut line, *side, operation);
        }
        // All bytes of the current session arrive as soon as the line has no more damage.
        line.settle();
        prop_assert!(line.is_connected());
        for side in [0, 1] {
            prop_assert_eq!(line.send(side, 50), 50);
        }
        line.settle();
        line.expect_complete();
    }
}

/// Sends a stream in both directions over a line that flips a bit in `permille` of 1000 bytes. Returns the number of
/// bytes on the line for each byte sent, and the milliseconds for each byte of one direction.
fn noisy_transfer(seed: u64, permille: u64) -> (f64, f64) {
    let (mut line, mut random) = (Line::connected(), Random(seed));
    let (total, mut accepted, mut on_line) = (20_000, [0; 2], 0);
    while accepted != [total; 2] || !line.links.iter().all(|link| link.is_idle()) {
        for side in [0, 1] {
            accepted[side] += line.send(side, (total - accepted[side]).min(64));
            line.write(side);
            on_line += line.wires[side].bytes.len();
            for byte in &mut line.wires[side].bytes {
                if random.below(1000) < permille {
                    *byte ^= 1 << random.below(8);
                }
            }
            line.deliver(side, usize::MAX);
            line.read(1 - side, usize::MAX);
        }
        line.now = line.now.plus(Millis(1));
        assert!(line.now < Millis(10_000_000), "the transfer does not end");
    }
    line.expect_complete();
    assert_eq!(line.resets, [0, 0]);
    (on_line as f64 / (2 * total) as f64, line.now.0 as f64 / total as f64)
}

#[test]
fn one_percent_of_flipped_bytes_loses_nothing() {
    let (sound, _) = noisy_transfer(1, 0);
    assert!((1.1..1.2).contains(&sound), "{sound} bytes on the line for each byte of the stream");
    for seed in 1..20 {
        let (noisy, millis) = noisy_transfer(seed, 10);
        assert!((2.0..3.5).contains(&noisy), "{noisy} bytes on the line for each byte of the stream");
        assert!(millis < 1.0, "{millis} ms for each byte");
    }
}
