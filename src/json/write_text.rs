//! `WriteText`: message text in pieces, without the formatting machinery.
#![allow(clippy::as_conversions, reason = "these integers have at most 64 bits")]

use super::decimal::digits;
use super::string::Str;
use super::value::Json;
use core::fmt;

/// A text for a message, such as a string, a number, an error of this crate, a tuple of texts, or the result of
/// `format_args!`.
///
/// The formatting machinery of `core` takes a large part of a small image. Only `format_args!`, and types whose
/// documentation mentions this machinery, link the machinery.
///
/// ```
/// use mcp_proto::WriteText;
/// fn length(text: impl WriteText) -> usize {
///     let mut length = 0;
///     text.pieces(&mut |piece| length += piece.len());
///     length
/// }
/// assert_eq!(length(("It is ", -3, " °C")), "It is -3 °C".len());
/// assert_eq!(length(format_args!("{:.1}", 0.5)), 3);
/// ```
pub trait WriteText {
    /// Passes the text to `put`, piece by piece.
    fn pieces(&self, put: &mut dyn FnMut(&str));
}

impl<T: WriteText + ?Sized> WriteText for &T {
    #[inline]
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        (**self).pieces(put);
    }
}

impl WriteText for str {
    #[inline]
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(self);
    }
}

impl WriteText for bool {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(if *self { "true" } else { "false" });
    }
}

impl WriteText for char {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(self.encode_utf8(&mut [0; 4]));
    }
}

/// Writes the decoded text.
impl WriteText for Str<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        self.decoded(put);
    }
}

/// Writes the raw text.
impl WriteText for Json<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(self.raw());
    }
}

/// Passes decimal digits to `put`.
fn put_digits(magnitude: u64, put: &mut dyn FnMut(&str)) {
    put(digits(magnitude, &mut [0; 20]));
}

macro_rules! integers {
    ($($unsigned:ty, $signed:ty);*) => {$(
        impl WriteText for $unsigned {
            fn pieces(&self, put: &mut dyn FnMut(&str)) {
                put_digits(*self as u64, put);
            }
        }

        impl WriteText for $signed {
            fn pieces(&self, put: &mut dyn FnMut(&str)) {
                if *self < 0 {
                    put("-");
                }
                put_digits(self.unsigned_abs() as u64, put);
            }
        }
    )*};
}
integers!(u8, i8; u16, i16; u32, i32; u64, i64; usize, isize);

macro_rules! formatted {
    ($($number:ty)*) => {$(
        /// Writes the number with the formatting machinery of `core`, which the program then links.
        impl WriteText for $number {
            fn pieces(&self, put: &mut dyn FnMut(&str)) {
                format_args!("{self}").pieces(put);
            }
        }
    )*};
}
formatted!(f32 f64 u128 i128);

macro_rules! tuples {
    ($($name:ident)*) => {
        /// Writes the elements in order.
        impl<$($name: WriteText),*> WriteText for ($($name,)*) {
            #[expect(non_snake_case, reason = "a type and its value share their name")]
            fn pieces(&self, put: &mut dyn FnMut(&str)) {
                let ($($name,)*) = self;
                $($name.pieces(put);)*
            }
        }
    };
}
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

#[cfg(feature = "alloc")]
mod owned {
    use super::WriteText;
    use alloc::borrow::Cow;
    use alloc::boxed::Box;
    use alloc::string::String;

    impl WriteText for String {
        fn pieces(&self, put: &mut dyn FnMut(&str)) {
            put(self);
        }
    }

    impl WriteText for Cow<'_, str> {
        fn pieces(&self, put: &mut dyn FnMut(&str)) {
            put(self);
        }
    }

    impl<T: WriteText + ?Sized> WriteText for Box<T> {
        fn pieces(&self, put: &mut dyn FnMut(&str)) {
            (**self).pieces(put);
        }
    }
}

/// Writes any value that implements `Display`: the application passes `format_args!("{error}")`. A program that uses
/// such a text links the formatting machinery. If a `Display` fails, the text ends at that point.
impl WriteText for fmt::Arguments<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let _ = fmt::write(&mut Put(put), *self);
    }
}

/// A formatting target that forwards its pieces to a callback.
struct Put<'p>(&'p mut dyn FnMut(&str));

impl fmt::Write for Put<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        (self.0)(piece);
        Ok(())
    }
}

/// Writes a text to a formatter, for implementations of `Display`.
pub(crate) fn print(text: &dyn WriteText, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut result = Ok(());
    text.pieces(&mut |piece| result = result.and_then(|()| formatter.write_str(piece)));
    result
}

/// Implements `Display` for types that implement [`WriteText`].
macro_rules! prints {
    ($($type:ty),*) => {$(
        impl core::fmt::Display for $type {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::json::print(self, formatter)
            }
        }
    )*};
}
pub(crate) use prints;

/// Implements `Error` and `Display` for types that implement [`WriteText`].
macro_rules! errors {
    ($($type:ty),*) => {$(
        $crate::json::prints!($type);

        impl core::error::Error for $type {}
    )*};
}
pub(crate) use errors;

/// Implements `Debug` with the text of `Display`.
macro_rules! debug_prints {
    ($($type:ty),*) => {$(
        /// Writes the same text as `Display`.
        impl core::fmt::Debug for $type {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, formatter)
            }
        }
    )*};
}
pub(crate) use debug_prints;

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    fn text(text: impl WriteText) -> String {
        let mut all = String::new();
        text.pieces(&mut |piece| all.push_str(piece));
        all
    }

    #[test]
    fn pieces_equal_the_display() {
        assert_eq!(text("a\"b"), "a\"b");
        assert_eq!(text(String::from("s")), "s");
        for number in [i64::MIN, -120, -1, 0, 9, 10, i64::MAX] {
            assert_eq!(text(number), number.to_string());
            assert_eq!(text(number as u64), (number as u64).to_string());
            assert_eq!(text(number as i8), (number as i8).to_string());
            assert_eq!(text(number as i128), (number as i128).to_string());
        }
        assert_eq!(text((1.5f32, ' ', true, " ", ("é", false))), "1.5 true éfalse");
        let json = Json::parse(br#" "a\u00e9\n" "#).unwrap();
        assert_eq!(text((json, json.string().unwrap())), "\"a\\u00e9\\n\"aé\n");
        assert_eq!(text(format_args!("{:>3}", 7)), "  7");
    }

    #[test]
    fn failing_display_ends_the_text() {
        struct Broken;
        impl fmt::Display for Broken {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("begun")?;
                Err(fmt::Error)
            }
        }
        assert_eq!(text((format_args!("{Broken} more"), "!")), "begun!");
    }
}
