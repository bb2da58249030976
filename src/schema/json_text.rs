//! A JSON writer that runs at compile time, for `text.rs`.
#![allow(clippy::as_conversions, reason = "evaluated only at compile time, and `From` is not constant")]
// The code runs only at compile time, so an invalid index or an overflow is a compile error.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::schema::node::Whole;

/// A text buffer that also counts the bytes that do not fit. A buffer of length zero only counts.
pub(super) struct JsonText<const LENGTH: usize> {
    pub(super) bytes: [u8; LENGTH],
    pub(super) length: usize,
    /// Whether the innermost open object or array is empty.
    is_empty: bool,
}

impl<const LENGTH: usize> JsonText<LENGTH> {
    pub(super) const fn new() -> Self {
        JsonText { bytes: [0; LENGTH], length: 0, is_empty: false }
    }

    const fn byte(&mut self, byte: u8) {
        if self.length < LENGTH {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    /// Opens an object or an array.
    pub(super) const fn open(&mut self, bracket: u8) {
        self.byte(bracket);
        self.is_empty = true;
    }

    /// Closes an object or an array.
    pub(super) const fn close(&mut self, bracket: u8) {
        self.byte(bracket);
        self.is_empty = false;
    }

    /// Begins an element of an array.
    pub(super) const fn element(&mut self) {
        if !self.is_empty {
            self.byte(b',');
        }
        self.is_empty = false;
    }

    /// Begins a member of an object.
    pub(super) const fn key(&mut self, name: &str) {
        self.element();
        self.string(name);
        self.byte(b':');
    }

    pub(super) const fn text(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while let [byte, tail @ ..] = rest {
            self.byte(*byte);
            rest = tail;
        }
    }

    pub(super) const fn number(&mut self, number: Whole) {
        if number.is_negative() {
            self.byte(b'-');
        }
        let magnitude = number.magnitude();
        let mut unit = 1;
        while magnitude / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            self.byte(b'0' + (magnitude / unit % 10) as u8);
            unit /= 10;
        }
    }

    pub(super) const fn count(&mut self, count: usize) {
        self.number(Whole::positive(count as u128));
    }

    /// Writes text with JSON escapes, without quotes.
    pub(super) const fn escaped(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while let [byte, tail @ ..] = rest {
            match *byte {
                b'"' | b'\\' => {
                    self.byte(b'\\');
                    self.byte(*byte);
                }
                b'\n' => self.text("\\n"),
                b'\r' => self.text("\\r"),
                b'\t' => self.text("\\t"),
                0..=0x1F => {
                    self.text("\\u00");
                    self.byte(b'0' + (*byte >> 4));
                    self.byte(b"0123456789abcdef"[(*byte & 0x0F) as usize]);
                }
                _ => self.byte(*byte),
            }
            rest = tail;
        }
    }

    pub(super) const fn string(&mut self, text: &str) {
        self.byte(b'"');
        self.escaped(text);
        self.byte(b'"');
    }
}
