//! Writers of members that an object may lack.

use crate::json::{Decimal, Writer};

/// Writes a member that is a number. Writes nothing if `number` is `None`.
pub(crate) fn write_decimal_member(key: &str, number: Option<Decimal>, out: &mut Writer<'_>) {
    if let Some(number) = number {
        out.key(key);
        out.decimal(number);
    }
}

/// Writes a member that is a priority, limited to the range from 0 to 1. Writes nothing if `priority` is `None`.
pub(crate) fn write_priority_member(key: &str, priority: Option<Decimal>, out: &mut Writer<'_>) {
    const ONE: Decimal = Decimal::new(1, 0);
    // A comparison of sort keys suffices, because no number below one has the key of one. A comparison of `Decimal`
    // values would link more code.
    let clamped = priority.map(|priority| match priority.mantissa() {
        ..0 => Decimal::ZERO,
        _ if priority.sort_key() >= ONE.sort_key() => ONE,
        _ => priority,
    });
    write_decimal_member(key, clamped, out);
}

/// Writes a member with one element for each item. Writes nothing if there are no items.
pub(crate) fn write_array_member<T>(
    key: &str,
    items: &[T],
    out: &mut Writer<'_>,
    mut write: impl FnMut(&T, &mut Writer<'_>),
) {
    if items.is_empty() {
        return;
    }
    out.begin_array_at(key);
    items.iter().for_each(|item| write(item, out));
    out.end_array();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::BufferMut;
    use std::string::String;

    #[test]
    fn priority_is_limited_to_the_range_from_zero_to_one() {
        for (number, written) in [
            ("-1e9", "0"),
            ("0", "0"),
            ("1e-600", "1e-600"),
            ("0.9999999999999999999", "0.999999999999999999"),
            ("1", "1"),
            ("1.000000000000000001", "1"),
            ("1e600", "1"),
        ] {
            let mut text = [0; 64];
            let mut out = Writer::new(BufferMut::Lent(&mut text), 0, usize::MAX);
            write_priority_member("p", Decimal::parse(number), &mut out);
            let length = out.finish().unwrap();
            let written = String::from(r#""p":"#) + written;
            assert_eq!(text[..length], *written.as_bytes(), "{number}");
        }
    }
}
