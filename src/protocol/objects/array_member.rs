//! `write_array_member`: a member that is an array.

use crate::json::Writer;

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
