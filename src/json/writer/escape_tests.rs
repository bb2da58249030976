use super::escape::{escape_into, escape_of, escaped_length};
use std::string::String;
use std::vec;
use std::vec::Vec;

/// The reference: one byte after the other.
fn reference(text: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in text {
        match byte {
            0..=0x1F | b'"' | b'\\' => {
                let (escape, length) = escape_of(*byte);
                escaped.extend_from_slice(&escape[..length]);
            }
            byte => escaped.push(*byte),
        }
    }
    escaped
}

fn check(text: &[u8]) {
    let expected = reference(text);
    assert_eq!(escaped_length(text), expected.len());
    // More room than needed, exactly enough, and too little: then the output is that of the bytes that were read.
    for room in [expected.len() + 500, expected.len(), expected.len() / 2, expected.len().saturating_sub(1)] {
        let mut target = vec![0xEE; room];
        let (read, written) = escape_into(&mut target, text);
        assert_eq!(target[..written], reference(&text[..read]), "{text:?} in {room}");
        assert!(read == text.len() || room < expected.len(), "{text:?} in {room}");
        // The next one did not fit.
        assert!(read == text.len() || written + reference(&text[read..=read]).len() > room);
    }
}

#[test]
fn byte_at_any_position_is_escaped() {
    for length in (0..40).chain(60..70).chain(126..131).chain([200]) {
        for at in 0..length {
            for byte in [b'"', b'\\', b'\n', 0, 0x1F, b' ', b'!', b'#', b'[', b']', 0x7F] {
                let mut text = vec![b'a'; length];
                text[at] = byte;
                check(&text);
            }
        }
    }
    for byte in 0..=255 {
        check(&[byte]);
        check(&[byte; 9]);
        check(&[byte; 150]);
    }
}

#[test]
fn text_full_of_escapes_is_escaped() {
    let parts =
        ["a", "\"", "\\\n", "\u{1}", "é", "plain text of some length, that is longer than a word", "\t\t"];
    let mut seed = 1u32;
    for count in 0..300 {
        let mut text = String::new();
        for _ in 0..count % 40 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(parts[(seed >> 16) as usize % parts.len()]);
        }
        check(text.as_bytes());
    }
}
