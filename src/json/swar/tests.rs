use super::*;
use std::vec::Vec;

#[test]
fn a_run_ends_at_the_first_byte_of_interest_wherever_it_stands() {
    for length in 0..200 {
        for stop in [b'"', b'\\', 0, 0x1F, b'\n', 0x80, 0xFF, 0xC3] {
            let mut text: Vec<u8> = (0..length).map(|at| if at % 3 == 0 { b' ' } else { 0x7F }).collect();
            text.push(stop);
            text.extend_from_slice(
                b"\"\\\0tail of the text, longer than one block of bytes, so that all loops run",
            );
            assert_eq!(plain_run(&text), length, "{stop:#x} at {length}");
            let beyond = if stop >= 0x80 { length + 1 } else { length };
            assert_eq!(text_run(&text), beyond, "{stop:#x} at {length}");
            assert_eq!(plain_run(&text[..length]), length);
        }
    }
}

#[test]
fn every_byte_alone_is_classified() {
    for byte in 0..=255u8 {
        let stop = byte < 0x20 || byte == b'"' || byte == b'\\';
        for lead in [0usize, 1, 7, 8, 63, 64, 65] {
            let mut text: Vec<u8> = std::vec![b'a'; lead];
            text.push(byte);
            text.extend(std::vec![b'z'; 20]);
            assert_eq!(text_run(&text) == lead, stop, "{byte:#x}");
            assert_eq!(plain_run(&text) == lead, stop || byte >= 0x80, "{byte:#x}");
        }
    }
}

#[test]
fn a_short_text_is_a_word() {
    let word = |text: &[u8]| short_plain_text(text);
    assert_eq!(word(b"id\":1,..."), Some((u64::from_le_bytes(*b"id\0\0\0\0\0\0"), 2)));
    assert_eq!(word(b"jsonrpc\""), Some((u64::from_le_bytes(*b"jsonrpc\0"), 7)));
    assert_eq!(word(b"\"......."), Some((0, 0)));
    for other in [&b"id\""[..], b"jsonrpc:\"", b"i\\u0064\"...", b"i\xC3\xA4\"......", b"1234567\\\""] {
        assert_eq!(word(other), None);
    }
}
