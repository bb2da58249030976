//! Base64 decoding: into the caller's buffer, byte by byte, and in place.
#![allow(clippy::as_conversions, reason = "the conversions keep only the low byte on purpose")]

use crate::json::{Str, WriteText, errors};

/// Binary data in base64.
///
/// The decoder accepts both alphabets of RFC 4648, with or without padding, and skips line breaks, because servers
/// send all these variants.
///
/// ```
/// use mcp_proto::client::BlockView;
/// use mcp_proto::client::ContentView;
/// use mcp_proto::json::Json;
/// let json = Json::parse(br#"{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}"#)?;
/// let ContentView::Image { data, .. } = BlockView::from_json(json).content() else { unreachable!() };
/// let mut buffer = [0; 8];
/// assert_eq!(data.decode(&mut buffer), Ok(&b"hello"[..]));
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base64<'a> {
    text: Str<'a>,
}

/// The reason for a decoding failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Base64Error {
    /// A buffer that is too small.
    TooShort {
        /// The required size, in bytes.
        needed: usize,
    },
    /// Text that is not base64. A character or the padding is invalid, or the last group of digits has only one
    /// digit. The cause is invalid data from the peer.
    Invalid,
}

impl WriteText for Base64Error {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        match self {
            Base64Error::TooShort { needed } => {
                ("the buffer is too small: ", *needed, " bytes are enough").pieces(put);
            }
            Base64Error::Invalid => put("the text is not valid base64"),
        }
    }
}

errors!(Base64Error);

impl<'a> Base64<'a> {
    /// Wraps base64 text.
    #[must_use]
    pub fn new(text: Str<'a>) -> Base64<'a> {
        Base64 { text }
    }

    /// Returns the encoded text.
    #[must_use]
    pub fn text(self) -> Str<'a> {
        self.text
    }

    /// Returns the decoded length in bytes. For text that is not valid base64, the length is unspecified.
    #[must_use]
    pub fn decoded_len(self) -> usize {
        let digits = self.text.chars().filter(|character| digit(*character).is_some()).count();
        // Four digits encode three bytes. After the last group of four, two digits encode one byte, and three digits
        // encode two bytes.
        (digits / 4).saturating_mul(3).saturating_add((digits % 4).saturating_sub(1))
    }

    /// Decodes into the start of `target`, and returns the decoded bytes.
    ///
    /// # Errors
    /// `target` is too small, or the text is not base64. The content of `target` is then unspecified.
    pub fn decode(self, target: &mut [u8]) -> Result<&[u8], Base64Error> {
        let mut length = 0usize;
        for byte in self.bytes() {
            let byte = byte?;
            let Some(place) = target.get_mut(length) else {
                return Err(Base64Error::TooShort { needed: self.decoded_len() });
            };
            *place = byte;
            length = length.saturating_add(1);
        }
        Ok(target.get(..length).unwrap_or_default())
    }

    /// Decodes byte by byte, without a buffer for the decoded data. After an error, the iterator ends.
    pub fn bytes(self) -> impl Iterator<Item = Result<u8, Base64Error>> + use<'a> {
        let mut characters = self.text.chars();
        // `None` after the end or an error.
        let mut decoder = Some(Decoder::default());
        core::iter::from_fn(move || {
            let mut current = decoder.take()?;
            for character in characters.by_ref() {
                match current.push(character) {
                    Ok(None) => {}
                    Ok(Some(byte)) => {
                        decoder = Some(current);
                        return Some(Ok(byte));
                    }
                    Err(error) => return Some(Err(error)),
                }
            }
            (!current.is_complete()).then_some(Err(Base64Error::Invalid))
        })
    }
}

/// A decoder that reads one character at a time.
#[derive(Default)]
struct Decoder {
    /// The bits of the last digits. The low `count` bits do not belong to a decoded byte yet.
    bits: u32,
    count: u32,
    /// Number of padding characters so far. After the first, only padding and line breaks may follow.
    padding: u32,
}

impl Decoder {
    /// Reads a character. Returns the byte that the character completes, if any.
    fn push(&mut self, character: char) -> Result<Option<u8>, Base64Error> {
        match (character, digit(character)) {
            ('\r' | '\n', _) => {}
            // Padding follows two or three digits of a group. Two digits leave four bits, and three digits leave two.
            ('=', _) if matches!(self.count, 2 | 4) => self.padding = self.padding.saturating_add(1),
            (_, Some(digit)) if self.padding == 0 => {
                self.bits = (self.bits << 6) | u32::from(digit);
                self.count = self.count.saturating_add(6);
                if self.count >= 8 {
                    self.count = self.count.saturating_sub(8);
                    return Ok(Some(self.bits.checked_shr(self.count).unwrap_or(0) as u8));
                }
            }
            _ => return Err(Base64Error::Invalid),
        }
        Ok(None)
    }

    /// Returns whether the text may end here: not after a single digit of a group, and with either no or complete
    /// padding.
    fn is_complete(&self) -> bool {
        self.count != 6 && (self.padding == 0 || self.padding.saturating_mul(2) == self.count)
    }
}

/// Decodes base64 in place, in the text of a JSON string. Accepts what [`Base64`] accepts.
///
/// The result is at the start of `text`. Returns the number of consumed bytes of `text`, and the length of the result.
/// If `is_complete` is `false`, more text can follow. The function then consumes only the text up to the end of the
/// last group of four digits. Returns `None` if the text is not valid; `text` is then unchanged.
pub(crate) fn decode_in_json(text: &mut [u8], is_complete: bool) -> Option<(usize, usize)> {
    let (_, length) = decode_pass(text, is_complete, 0)?;
    decode_pass(text, is_complete, length)
}

/// Decodes the text, and overwrites its start with the first `limit` bytes of the result.
fn decode_pass(text: &mut [u8], is_complete: bool, limit: usize) -> Option<(usize, usize)> {
    let (mut decoder, mut read, mut length) = (Decoder::default(), 0usize, 0usize);
    let mut whole_groups = (0, 0);
    loop {
        let (character, width) = match text.get(read..).unwrap_or_default() {
            [] => break,
            [b'\\', b'/', ..] => ('/', 2),
            [b'\\', b'n' | b'r', ..] => ('\n', 2),
            [b'\\', b'u', digits @ ..] => (code_unit(digits.first_chunk()?)?, 6),
            [byte, ..] => (char::from(*byte), 1),
        };
        read = read.saturating_add(width);
        let Some(byte) = decoder.push(character).ok()? else { continue };
        if length < limit {
            *text.get_mut(length)? = byte;
        }
        length = length.saturating_add(1);
        if decoder.count == 0 {
            whole_groups = (read, length);
        }
    }
    match is_complete {
        true => decoder.is_complete().then_some((read, length)),
        false => Some(whole_groups),
    }
}

/// Returns the character with this code in four hexadecimal digits. Returns `None` for a surrogate. The scanner has
/// already checked the digits.
fn code_unit(digits: &[u8; 4]) -> Option<char> {
    char::from_u32(u32::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()?)
}

fn digit(character: char) -> Option<u8> {
    let byte = u8::try_from(character).ok()?;
    Some(match byte {
        b'A'..=b'Z' => byte.wrapping_sub(b'A'),
        b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
        b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use std::string::ToString;

    fn decoded<'b>(json: &str, buffer: &'b mut [u8]) -> Result<&'b [u8], Base64Error> {
        Base64::new(Json::parse(json.as_bytes()).unwrap().string().unwrap()).decode(buffer)
    }

    #[test]
    fn base64_variants_are_decoded() {
        // Examples of RFC 4648, texts without padding, both alphabets, escapes and line breaks.
        let cases: &[(&str, &[u8])] = &[
            (r#""""#, b""),
            (r#""Zg==""#, b"f"),
            (r#""Zm8=""#, b"fo"),
            (r#""Zm9v""#, b"foo"),
            (r#""Zm9vYg==""#, b"foob"),
            (r#""Zm9vYmE=""#, b"fooba"),
            (r#""Zm9vYmFy""#, b"foobar"),
            (r#""Zg""#, b"f"),
            (r#""Zm8""#, b"fo"),
            (r#""+/+/""#, &[0xFB, 0xFF, 0xBF]),
            (r#""-_-_""#, &[0xFB, 0xFF, 0xBF]),
            (r#""+\/\u002b\/""#, &[0xFB, 0xFF, 0xBF]),
            (r#""Zm9v\r\nYmFy\n""#, b"foobar"),
        ];
        for (text, bytes) in cases {
            let mut buffer = [0; 16];
            assert_eq!(decoded(text, &mut buffer), Ok(*bytes), "{text}");
            let mut exact = std::vec![0; bytes.len()];
            assert_eq!(decoded(text, &mut exact), Ok(*bytes), "{text}, exact buffer");
            if let Some((_, short)) = exact.split_first_mut() {
                assert_eq!(
                    decoded(text, short),
                    Err(Base64Error::TooShort { needed: bytes.len() }),
                    "{text}"
                );
            }
        }
    }

    /// Decodes text that arrives in two pieces. The second piece begins at the offset `cut`.
    fn decoded_in_pieces(text: &str, cut: usize) -> Option<std::vec::Vec<u8>> {
        let (head, tail) = text.as_bytes().split_at(cut);
        let (mut left, mut all) = (head.to_vec(), std::vec::Vec::new());
        for (more, is_complete) in [(tail, false), (&[][..], true)] {
            let (consumed, length) = decode_in_json(&mut left, is_complete)?;
            all.extend_from_slice(&left[..length]);
            left.drain(..consumed);
            left.extend_from_slice(more);
        }
        Some(all)
    }

    #[test]
    fn base64_in_place_and_in_pieces_equals_the_whole() {
        let cases = [
            "",
            "Zg==",
            "Zm8=",
            "Zm9v",
            "Zm9vYmFy",
            "Zg",
            "Zm8",
            "-_-_",
            "+\\/\\u002b\\/",
            "Zm9v\\r\\nYmFy\\n",
            "Zg\\u003d=",
            "\\nZg==",
            "Zm9vYmFyZm9vYmFyZg==",
            "Z",
            "Zm9vY",
            "Z===",
            "Zg=",
            "Zg===",
            "Zm8==",
            "Zm9v=",
            "Zg==Zg==",
            "Z g=",
            "Zg=é",
            "é",
            "=",
            "Zm9v$",
            "Zm\\t9v",
        ];
        for text in cases {
            let json = std::format!("\"{text}\"");
            let mut buffer = [0; 32];
            let whole = decoded(&json, &mut buffer).ok();
            for cut in 0..=text.len() {
                // The client never cuts a text within an escape or within a character.
                let escape = text.as_bytes()[..cut].iter().rposition(|byte| *byte == b'\\');
                let is_inside =
                    escape.is_some_and(|at| cut < at + if text[at..].starts_with("\\u") { 6 } else { 2 });
                if text.is_char_boundary(cut) && !is_inside {
                    assert_eq!(decoded_in_pieces(text, cut).as_deref(), whole, "{text} {cut}");
                }
            }
        }
    }

    #[test]
    fn invalid_base64_is_refused() {
        let cases = [
            "Z", "Zm9vY", "Z===", "Zg=", "Zg===", "Zm8==", "Zm9v=", "Zg==Zg==", "Z g=", "Zg=é", "é", "=",
            "Zm9v$",
        ];
        for text in cases {
            let text = std::format!("\"{text}\"");
            assert_eq!(decoded(&text, &mut [0; 16]), Err(Base64Error::Invalid), "{text}");
        }
        assert_eq!(Base64Error::Invalid.to_string(), "the text is not valid base64");
    }
}
