//! The fast way through a text on hosts, escapes and all.

use crate::json::swar::{plain_run, text_run};
use crate::json::walk::split;

/// May stand in a text as it is: printable ASCII.
const PLAIN: u8 = 1;
/// May follow a backslash, and is all of the escape then.
const ESCAPED: u8 = 2;
/// A hexadecimal digit.
const DIGIT: u8 = 4;

/// What each byte may be.
static CLASSES: [u8; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "it is computed when it is compiled")]
const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0u8;
    while byte < 0x80 {
        let plain = byte >= 0x20 && byte != b'"' && byte != b'\\';
        let escaped = matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't');
        classes[byte as usize] = if plain { PLAIN } else { 0 }
            | if escaped { ESCAPED } else { 0 }
            | if byte.is_ascii_hexdigit() { DIGIT } else { 0 };
        byte = byte.wrapping_add(1);
    }
    classes
}

fn is(class: u8, byte: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|classes| classes & class != 0)
}

/// Whether the next escape is near. Escapes come in crowds, and then a search by words, which begins anew behind each, has to
/// wait for what the last one found; a branch is mostly foreseen. Where they are rare, as in a program, it is faster.
#[inline(always)]
fn is_crowded(rest: &[u8]) -> bool {
    matches!(rest, [b'\\', ..] | [_, b'\\', ..] | [_, _, b'\\', ..])
}

/// What follows the characters that a text begins with: its closing quote, or what is wrong, cut or needs a closer look.
#[inline(never)]
pub(super) fn behind_characters(text: &[u8]) -> &[u8] {
    let mut rest = text;
    loop {
        rest = rest.get(plain_run(rest)..).unwrap_or_default();
        rest = match rest {
            [b'\\', ..] => {
                let behind = behind_escapes(rest);
                if behind.len() == rest.len() {
                    return rest;
                }
                behind
            }
            [0x80..=0xFF, ..] => {
                let (run, behind) = split(rest, text_run(rest));
                match core::str::from_utf8(run) {
                    Ok(_) => behind,
                    Err(error) => return rest.get(error.valid_up_to()..).unwrap_or_default(),
                }
            }
            _ => return rest,
        };
    }
}

/// What follows escapes with little between them.
#[inline(always)]
fn behind_escapes(rest: &[u8]) -> &[u8] {
    let mut rest = rest;
    loop {
        rest = match rest {
            [byte, tail @ ..] if is(PLAIN, *byte) => {
                rest = tail;
                continue;
            }
            [b'\\', escaped, tail @ ..] if is(ESCAPED, *escaped) => tail,
            // No half of a surrogate pair: these begin with a `d`.
            [b'\\', b'u', first, second, third, fourth, tail @ ..]
                if is(DIGIT, *first)
                    && first | 0x20 != b'd'
                    && is(DIGIT, *second)
                    && is(DIGIT, *third)
                    && is(DIGIT, *fourth) =>
            {
                tail
            }
            _ => return rest,
        };
        if !is_crowded(rest) {
            return rest;
        }
    }
}
