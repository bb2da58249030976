//! Tests of the searches: all bytes, and all positions around the boundaries of words and blocks.

use super::*;
use std::vec::Vec;

/// Returns the results of all kernels, including kernels that the build target does not use.
fn runs<const ASCII: bool>(bytes: &[u8]) -> [usize; 4] {
    let beyond = if ASCII { HIGH } else { 0 };
    let kernels = [byte_run(bytes, beyond), word_run(bytes, beyond), block_run::<ASCII>(bytes)];
    [text_run_before(beyond, bytes), kernels[0], kernels[1], kernels[2]]
}

#[test]
fn run_ends_at_first_stop() {
    for length in 0..200 {
        for stop in [b'"', b'\\', 0, 0x1F, b'\n', 0x80, 0xFF, 0xC3] {
            let mut text: Vec<u8> = (0..length).map(|at| if at % 3 == 0 { b' ' } else { 0x7F }).collect();
            text.push(stop);
            text.extend_from_slice(
                b"\"\\\0tail of the text, longer than one block of bytes, so that all loops run",
            );
            assert_eq!(runs::<true>(&text), [length; 4], "{stop:#x} at {length}");
            let beyond = if stop >= 0x80 { length + 1 } else { length };
            assert_eq!(runs::<false>(&text), [beyond; 4], "{stop:#x} at {length}");
            assert_eq!(runs::<true>(&text[..length]), [length; 4]);
        }
    }
}

#[test]
fn short_text_is_copied_if_it_is_one_run() {
    for length in 0..40 {
        let mut text: Vec<u8> = (b'a'..).take(length).collect();
        let mut target = [0xEE; 48];
        let is_short = (1..=2 * BYTES).contains(&length);
        assert_eq!(copy_short(&mut target[..length], &text), is_short, "{length}");
        assert!(!is_short || target[..length] == text && target[length..].iter().all(|byte| *byte == 0xEE));
        assert!(length == 0 || !copy_short(&mut target[..length - 1], &text), "{length}");
        for at in 0..length {
            for byte in 0..=255 {
                let plain = core::mem::replace(&mut text[at], byte);
                assert_eq!(
                    copy_short(&mut target, &text),
                    is_short && !is_stop(byte, 0),
                    "{byte:#x} at {at}"
                );
                text[at] = plain;
            }
        }
    }
}

#[test]
fn every_byte_is_classified() {
    for byte in 0..=255u8 {
        let stop = byte < 0x20 || byte == b'"' || byte == b'\\';
        assert_eq!((is_stop(byte, 0), is_stop(byte, HIGH)), (stop, stop || byte >= 0x80), "{byte:#x}");
        for lead in [0usize, 1, 7, 8, 63, 64, 65] {
            let mut text: Vec<u8> = std::vec![b'a'; lead];
            text.push(byte);
            text.extend(std::vec![b'z'; 20]);
            let end = text.len();
            assert_eq!(runs::<false>(&text), [if stop { lead } else { end }; 4], "{byte:#x}");
            assert_eq!(runs::<true>(&text), [if stop || byte >= 0x80 { lead } else { end }; 4], "{byte:#x}");
        }
        let mut block = [b'a'; BLOCK];
        block[usize::from(byte) % BLOCK] = byte;
        assert_eq!(block_has_stop::<false>(&block), stop, "{byte:#x}");
        assert_eq!(block_has_stop::<true>(&block), stop || byte >= 0x80, "{byte:#x}");
    }
}

/// Tests that a subtraction borrow from one byte into the next does not change the position.
#[test]
fn borrow_between_bytes_does_not_change_the_position() {
    let interesting = [0, 1, 0x1F, b' ', b'!', b'"', b'#', b'[', b'\\', b']', 0x7F, 0x80, 0xA2, 0xDC, 0xFF];
    let pairs = interesting.iter().flat_map(|low| interesting.map(|high| (*low, high)));
    for (low, high) in pairs {
        for mut bytes in [*b"..aaaaaa", *b"aaa..a!a", *b"a  !  .."] {
            let from = bytes.iter().position(|byte| *byte == b'.').unwrap();
            bytes[from..from + 2].copy_from_slice(&[low, high]);
            let end = |ends: fn(u8) -> bool| bytes.iter().position(|byte| ends(*byte)).unwrap_or(8);
            let (text, plain) = (end(|byte| is_stop(byte, 0)), end(|byte| is_stop(byte, HIGH)));
            assert_eq!((word_run(&bytes, 0), word_run(&bytes, HIGH)), (text, plain), "{bytes:?}");
            let at = bytes.iter().position(|byte| *byte == high);
            assert_eq!(find_in_words(high, &bytes), at, "{bytes:?}");
        }
    }
}

#[test]
fn first_position_of_byte_is_found() {
    for length in 0..20 {
        for at in 0..=length {
            for wanted in [0, b'\n', b'\r', 0x80, 0xFF] {
                let mut bytes = std::vec![wanted ^ 1; length];
                bytes[at..].fill(wanted);
                assert_eq!(find_in_words(wanted, &bytes), (at < length).then_some(at), "{wanted:#x}");
                assert_eq!(find_in_words(wanted ^ 2, &bytes), None, "{wanted:#x}");
            }
        }
    }
}

#[test]
fn backslash_is_found_at_every_position() {
    for length in 0..40 {
        for other in [b'x', b'\\' - 1, b'\\' + 1, b'\\' | 0x80, 0, 0xFF] {
            let mut bytes = std::vec![other; length];
            assert!(!has_backslash(&bytes));
            for at in 0..length {
                bytes[at] = b'\\';
                assert!(has_backslash(&bytes), "{at} of {length}");
                bytes[at] = other;
            }
        }
    }
}

#[test]
fn find_returns_the_first_position() {
    for find in [find, find_in_bytes, find_in_words] {
        for length in 0..40 {
            let mut bytes = std::vec![b'a'; length];
            assert_eq!(find(b'b', &bytes), None);
            bytes.extend_from_slice(b"bab");
            assert_eq!(find(b'b', &bytes), Some(length));
        }
    }
}
