//! Pages of lists: writes the entries that fit into a page, and writes and parses cursors.
//!
//! Specification: *Utilities*, *Pagination*.

use crate::json::{Json, Writer, magnitude};

/// The longest end of a page, followed by the end of the response. The spaces are spare bytes.
pub(crate) const TAIL: &str = r#"],"nextCursor":"p18446744073709551615"}}        "#;

/// Returns whether the end of a page still fits.
pub(crate) fn has_tail_space(out: &Writer<'_>) -> bool {
    out.remaining() >= TAIL.len()
}

/// Parses a cursor: a letter, and the index of the first entry of the page. The letter shows clients that the cursor is
/// opaque. Returns `None` if the cursor is not valid.
pub(crate) fn parse(cursor: Json<'_>) -> Option<u32> {
    match cursor.bytes() {
        [b'"', b'p', digits @ .., b'"'] if !matches!(digits, [b'0', ..]) => {
            magnitude(digits)?.try_into().ok()
        }
        _ => None,
    }
}

/// The result of writing a page.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// Number of entries for which the closure `entry` of [`write()`] returned `Some(false)`.
    pub(crate) omitted: usize,
    /// Whether the list has a next page.
    pub(crate) has_next: bool,
}

/// Writes `"key":[…]` with as many entries as fit, starting at `first`. Adds the cursor of the next page, if any.
///
/// `entry` writes the entry at an index. `None` means that the list has no such entry. `Some(false)` means that the
/// page must omit the entry, for example because it is not valid. If the entry at `first` does not fit, the output
/// overflows.
pub(crate) fn write(
    out: &mut Writer<'_>,
    key: &str,
    first: usize,
    entry: &mut dyn FnMut(usize, &mut Writer<'_>) -> Option<bool>,
) -> Page {
    out.begin_array_at(key);
    let mut page = Page::default();
    let mut index = first;
    let next = loop {
        let before = out.mark();
        match entry(index, out) {
            None => break None,
            Some(true) if index > first && !has_tail_space(out) => {
                out.rollback(before);
                break Some(index);
            }
            Some(true) => {}
            Some(false) => {
                out.rollback(before);
                page.omitted = page.omitted.wrapping_add(1);
            }
        }
        index = index.wrapping_add(1);
    };
    out.end_array();
    if let Some(next) = next {
        page.has_next = true;
        out.field_display("nextCursor", &("p", next));
    }
    page
}

/// Writes the cursor of the page that begins at `next`. Writes nothing if `next` is `None` or 0.
pub(crate) fn write_cursor(out: &mut Writer<'_>, next: Option<u32>) {
    if let Some(next @ 1..) = next {
        out.field_display("nextCursor", &("p", next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_accepts_only_cursors_that_write_produces() {
        let cases = [
            (r#""p1""#, Some(1)),
            (r#""p4294967295""#, Some(u32::MAX)),
            (r#""p4294967296""#, None),
            (r#""p0""#, None),
            (r#""p01""#, None),
            (r#""p+1""#, None),
            (r#""p-1""#, None),
            (r#""p""#, None),
            (r#""1""#, None),
            (r#""""#, None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(Json::parse(text.as_bytes()).unwrap()), expected, "{text}");
        }
    }
}
