//! Request ids: which values are valid, equality, hashes, and the numeric ids of outbound requests.

use crate::json::{Json, Kind, Member, Scanner, Span, WriteText, magnitude};
use crate::rpc::hash::Hasher;
use crate::rpc::kind;

/// Returns whether a value is a valid request id: a string, or a number without fraction and exponent.
pub(crate) fn is_id(value: Json<'_>) -> bool {
    value.kind() == Kind::String || value.is_integer_text()
}

impl Scanner {
    /// Returns the span of the `id` of the scanned message. Returns a missing span if the id is missing or not valid.
    #[inline]
    pub(crate) fn valid_id(&self, line: &[u8]) -> Span {
        let id = self.span(Member::Id);
        let is_valid = match kind(line, id) {
            Kind::String => true,
            Kind::Number => self.has_integer_id(),
            _ => false,
        };
        if is_valid { id } else { Span::MISSING }
    }
}

/// Returns whether two ids are equal. Two strings are equal if their decoded texts are equal. Two numbers are equal if
/// they have the same text: `0` and `-0` are different ids.
pub(crate) fn same_id(left: Json<'_>, right: Json<'_>) -> bool {
    match (left.string(), right.string()) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left.bytes() == right.bytes(),
        _ => false,
    }
}

/// Reads an id or progress token from the peer as the id of an outbound request, which is a number. The value may be a
/// string of digits, because some peers convert the number to a string. Returns `None` for any other value.
pub(crate) fn issued_number(id: Json<'_>) -> Option<u64> {
    let digits = match id.bytes() {
        // This side issues no id with a leading zero, but `magnitude` would accept one.
        [b'"', b'0', ..] => return None,
        [b'"', digits @ .., b'"'] => digits,
        digits => digits,
    };
    magnitude(digits)
}

/// Hashes an id, so that [equal](same_id) ids have equal hashes.
pub(crate) fn hash_id(seed: u64, id: Json<'_>) -> u32 {
    match id.string() {
        Some(text) => hash_text(seed, &text),
        None => {
            let mut hasher = Hasher::new(seed);
            hasher.add(id.bytes());
            hasher.finish()
        }
    }
}

/// Hashes the decoded text of a string: a [`Str`](crate::json::Str), or text that is already decoded. A leading quote
/// distinguishes the string from a number.
pub(crate) fn hash_text(seed: u64, text: &dyn WriteText) -> u32 {
    let mut hasher = Hasher::new(seed);
    hasher.add(b"\"");
    text.pieces(&mut |piece| hasher.add(piece.as_bytes()));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Json<'_> {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn ids_are_equal_by_type_and_decoded_value() {
        let cases = [
            (r#"1"#, r#"1"#, true),
            (r#"1"#, r#""1""#, false),
            (r#""a""#, r#""\u0061""#, true),
            (r#""a""#, r#""b""#, false),
            (r#"10"#, r#"1"#, false),
        ];
        for (left, right, same) in cases {
            let (left, right) = (parse(left), parse(right));
            assert_eq!(same_id(left, right), same, "{left:?} {right:?}");
            assert_eq!(hash_id(7, left) == hash_id(7, right), same, "{left:?} {right:?}");
        }
    }

    #[test]
    fn strings_and_integers_are_ids() {
        for id in [r#""""#, r#""a""#, "0", "-7", "123456789012345678901234567890"] {
            assert!(is_id(parse(id)), "{id}");
        }
        for other in ["null", "true", "1.0", "1e3", "[]", "{}"] {
            assert!(!is_id(parse(other)), "{other}");
        }
    }

    #[test]
    fn issued_number_may_be_a_string_of_digits() {
        let cases = [
            ("1", Some(1)),
            (r#""1""#, Some(1)),
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            (r#""01""#, None),
            (r#""+1""#, None),
            (r#""""#, None),
            (r#""1\u0030""#, None),
            ("-1", None),
            ("1.0", None),
            ("null", None),
        ];
        for (id, number) in cases {
            assert_eq!(issued_number(parse(id)), number, "{id}");
        }
    }

    #[test]
    fn hash_of_a_string_depends_on_its_decoded_text() {
        let hash = |seed, text| hash_id(seed, parse(text));
        assert_eq!(hash(7, r#""a\u00e9""#), hash(7, "\"\\u0061é\""));
        assert_ne!(hash(7, "\"a\""), hash(8, "\"a\""));
        assert_ne!(hash(7, "\"a\""), hash(7, "\"b\""));
        assert_ne!(hash(7, "\"\\n\""), hash(7, "\"\\r\""));
    }
}
