//! Writers of members that an object may lack.

use crate::json::{Decimal, Writer};

/// Writes a member that is a number. Writes nothing without a number.
pub(crate) fn write_decimal_member(key: &str, number: Option<Decimal>, out: &mut Writer<'_>) {
    if let Some(number) = number {
        out.key(key);
        out.decimal(number);
    }
}

/// Writes a member that is a priority, a number from 0 to 1. Writes nothing without a priority.
pub(crate) fn write_priority_member(key: &str, priority: Option<Decimal>, out: &mut Writer<'_>) {
    // `clamp` would link a panic for invalid bounds.
    let clamped = priority.map(|priority| priority.max(Decimal::ZERO).min(Decimal::new(1, 0)));
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
    out.key(key);
    out.begin_array();
    items.iter().for_each(|item| write(item, out));
    out.end_array();
}
