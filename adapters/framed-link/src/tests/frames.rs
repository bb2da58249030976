//! Frames on the line, and text between them.

use std::vec::Vec;

use mcp_proto::Millis;

use crate::frame::{FRAME, Frame, Session};
use crate::{FramedLink, PAYLOAD};

const SESSION: Session = [1, 2, 3, 4];

fn encoded(frame: Frame<'_>) -> Vec<u8> {
    let mut space = [0xAA; FRAME];
    let len = frame.encode(SESSION, &mut space);
    space[..len].to_vec()
}

#[test]
fn frames_are_encoded_as_documented() {
    let hello = Frame::Hello { sender: 0x1234, receiver: 0 };
    let data = Frame::Data { seq: 7, ack: 0, payload: b"hi" };
    // Each code byte of COBS is the distance to the next zero.
    assert_eq!(encoded(hello), [0, 4, 248, 52, 18, 1, 3, 18, 238, 0]);
    assert_eq!(encoded(data), [0, 3, 249, 7, 5, 104, 105, 223, 27, 0]);
    assert_eq!(encoded(Frame::Ack { ack: 255 }), [0, 5, 250, 255, 213, 170, 0]);
    assert_eq!(encoded(Frame::Repeat { ack: 1 }), [0, 5, 251, 1, 53, 151, 0]);
}

#[test]
fn frames_round_trip_and_only_a_hello_needs_no_session() {
    let payload: Vec<u8> = (0..PAYLOAD as u8).map(|at| at.wrapping_mul(3)).collect();
    let mut frames = std::vec![
        Frame::Hello { sender: 0xFF00, receiver: 0x00FF },
        Frame::Ack { ack: 0 },
        Frame::Repeat { ack: 9 },
    ];
    frames.extend((1..=PAYLOAD).map(|len| Frame::Data { seq: len as u8, ack: 0, payload: &payload[..len] }));
    for frame in frames {
        let bytes = encoded(frame);
        assert_eq!((bytes[0], bytes[bytes.len() - 1]), (0, 0));
        let segment = &bytes[1..bytes.len() - 1];
        assert!(!segment.contains(&0), "{frame:?}");
        assert_eq!(Frame::decode(&mut segment.to_vec(), Some(SESSION)), Some(frame));
        for other in [None, Some([1, 2, 3, 5])] {
            let is_valid = Frame::decode(&mut segment.to_vec(), other).is_some();
            assert_eq!(is_valid, matches!(frame, Frame::Hello { .. }), "{frame:?}");
        }
    }
}

#[test]
fn every_flip_of_up_to_three_bits_in_the_payload_is_detected() {
    let bytes = encoded(Frame::Data { seq: 1, ack: 2, payload: b"\"jsonrpc\":\"2.0\"" });
    let segment = &bytes[1..bytes.len() - 1];
    // The bits of the payload, which follows the code byte of COBS and three bytes of the header.
    let bits: Vec<usize> = (4 * 8..(segment.len() - 2) * 8).collect();
    let flipped = |positions: [usize; 3]| {
        let mut damaged = segment.to_vec();
        for bit in positions {
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        damaged
    };
    for (at, &one) in bits.iter().enumerate() {
        for (next, &two) in bits.iter().enumerate().skip(at) {
            for &three in &bits[next..] {
                let mut damaged = flipped([one, two, three]);
                let is_same = damaged == segment;
                assert_eq!(
                    Frame::decode(&mut damaged, Some(SESSION)).is_some(),
                    is_same,
                    "{one} {two} {three}"
                );
            }
        }
    }
}

#[test]
fn damaged_structure_is_no_frame() {
    let long = [&[2; 1][..], &[1; 200]].concat();
    for segment in [&[][..], &[1], &[9, 1, 2], &[255; 70], &long, &[4, 0xF9, 1, 2], &[2, 0xF9, 2, 2, 1, 1]] {
        assert_eq!(Frame::decode(&mut segment.to_vec(), Some(SESSION)), None, "{segment:?}");
    }
}

/// Returns all text that a link finds in these bytes.
fn text_in(bytes: &[u8], piece: usize) -> Vec<u8> {
    let (mut link, mut text) = (FramedLink::new(1), Vec::new());
    for bytes in bytes.chunks(piece) {
        link.input(bytes, Millis(0), |bytes| text.extend(bytes));
    }
    if let Some(rest) = link.take_text() {
        text.extend(rest);
    }
    text
}

#[test]
fn text_between_frames_is_returned_in_order() {
    let frame = encoded(Frame::Hello { sender: 5, receiver: 0 });
    let long = "päivää ".repeat(60);
    let line =
        [b"boot\r\n", &frame[..], &frame, b"\x1b[0mready\n", &frame, long.as_bytes(), &frame, b"panic"];
    let line = line.concat();
    for piece in 1..80 {
        let text = text_in(&line, piece);
        let expected = ["boot\r\n\x1b[0mready\n", &long, "panic"].concat();
        assert_eq!(std::str::from_utf8(&text), Ok(&*expected), "in pieces of {piece}");
    }
}

#[test]
fn damaged_frames_are_not_text() {
    let frame = encoded(Frame::Data { seq: 1, ack: 0, payload: &[b'x'; PAYLOAD] });
    for at in 0..frame.len() {
        let mut damaged = frame.clone();
        damaged[at] ^= 0x10;
        // Byte 2 is the kind. Only the kind guarantees that a frame does not count as text.
        if at != 2 {
            assert_eq!(text_in(&damaged, 10), b"", "byte {at}");
        }
    }
}
