//! The input texts and messages of the benchmarks.

use crate::dialect::Dialect;

/// A paragraph of prose without escapes.
const PROSE: &str =
    "The quick brown fox jumps over the lazy dog, and nobody has ever asked the dog what it thinks of that. ";
/// A line of a program, because tools mostly send source code.
const CODE: &str =
    "    if let Some(\"name\") = line.get(at..) { println!(\"{name}\\t{at}\"); } // a tab and a quote\n";
/// Length of the note in the small call, so that the call is 200 bytes long.
const NOTE: usize = 10;
const UMLAUTS: &str =
    "Zwölf große Boxkämpfer jagen Viktor quer über den Sylter Deich; Съешь же ещё этих мягких булок. ";

/// Returns a call of the tool `echo`, as one line without its line break.
#[must_use]
pub fn call(id: usize, text: &str) -> Vec<u8> {
    Dialect::Handshake.call(id, text)
}

/// Appends a text as the content of a JSON string, without the quotes.
pub fn escape(line: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', byte]),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\t' => line.extend_from_slice(b"\\t"),
            0..32 => line.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => line.push(byte),
        }
    }
}

/// Repeats a text to at least `length` bytes, without cutting the last copy.
fn repeated(piece: &str, length: usize) -> String {
    piece.repeat(length.div_ceil(piece.len()))
}

/// Returns prose of exactly `length` bytes.
#[must_use]
pub fn prose(length: usize) -> String {
    let mut text = repeated(PROSE, length);
    text.truncate(length);
    text
}

/// Returns source code of at least `length` bytes, in which about one of fifteen bytes needs an escape.
#[must_use]
pub fn code(length: usize) -> String {
    repeated(CODE, length)
}

/// Returns a text of at least `length` bytes, in which three of seven bytes need an escape.
#[must_use]
pub fn full_of_escapes(length: usize) -> String {
    repeated("a\"b\\c\nd\te \"f\" ", length)
}

/// Returns a text of at least `length` bytes, of which nearly half are not ASCII.
#[must_use]
pub fn umlauts(length: usize) -> String {
    repeated(UMLAUTS, length)
}

/// Returns a request of exactly 200 bytes, with arguments of several types.
///
/// # Panics
/// Never.
#[must_use]
pub fn small_call() -> Vec<u8> {
    let line = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"set_light","arguments":"#,
            r#"{{"room":"kitchen","level":75,"on":true,"color":[255,180,90],"note":"{}"}},"_meta":{{"progressToken":"p7"}}}}}}"#
        ),
        prose(NOTE)
    );
    assert_eq!(line.len(), 200);
    line.into_bytes()
}

/// Returns a request of at least `length` bytes with dense structure: small objects with short names, numbers and
/// booleans.
#[must_use]
pub fn dense(length: usize) -> Vec<u8> {
    let mut line =
        br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"plot","arguments":{"points":["#
            .to_vec();
    let mut index = 0_u32;
    while line.len() < length {
        if index > 0 {
            line.push(b',');
        }
        let (x, y) = (index.wrapping_mul(2_654_435_761) % 10_000, f64::from(index) * 0.37);
        let point = format!(
            r#"{{"x":{x},"y":{y:.2},"on":{},"tags":["a","b{}"],"at":null}}"#,
            index.is_multiple_of(3),
            index % 10
        );
        line.extend_from_slice(point.as_bytes());
        index += 1;
    }
    line.extend_from_slice(b"]}}}");
    line
}
