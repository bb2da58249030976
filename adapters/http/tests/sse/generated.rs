//! Generated and mutated streams, compared with a reference.

use super::oracle::check;
use crate::http1::random::Random;

const FIELDS: [&str; 12] =
    ["data", "data", "data", "event", "id", "id", "retry", "", "dat", "datax", "unknown", "\u{feff}"];
const VALUES: [&str; 14] = [
    "",
    "",
    ":",
    ": ",
    ": a",
    ":  b",
    ": {\"jsonrpc\":\"2.0\"}",
    ":message",
    ": 17",
    ": 1\0",
    ": s1-42",
    ": 500x",
    ": \u{fc}",
    ": 0123456789012345",
];
const VOCABULARY: &[u8] = b"\r\n\r\n: daetvniry\0\xEF\xBB\xBF017";

#[test]
fn generated_streams_decode_as_with_the_reference() {
    let mut random = Random::new(3);
    for _ in 0..60_000 {
        let mut text = random.choose(&["", "", "\u{feff}"]).to_owned();
        for _ in 0..random.below(14) {
            text += random.choose(&FIELDS);
            text += random.choose(&VALUES);
            text += random.choose(&["\n", "\n", "\n\n", "\r\n", "\r", "\r\n\r\n", "\r\r", ""]);
        }
        let mut text = text.into_bytes();
        if random.below(2) == 0 {
            random.mutate(&mut text, VOCABULARY);
        }
        let capacity = if random.below(2) == 0 { 300 } else { random.below(60) };
        check(&text, capacity, &random.pieces(text.len()));
    }
}
