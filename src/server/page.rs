//! Lists that are longer than a message: pages that fit, and the cursors between them.
//!
//! Specification: *Utilities*, *Pagination*.

use crate::fault::Fault;
use crate::json::{Str, Writer};
use crate::server::feature::{Handled, Request};

/// The longest end of a page: `],"nextCursor":"p4294967295"` and the brackets that close the answer.
const TAIL: usize = 48;

/// Which entry a request for a list wants first; or the request refused.
pub(crate) fn first_of(request: &mut Request<'_, '_>) -> Result<u32, Handled> {
    let Some(cursor) = request.param("cursor") else { return Ok(0) };
    match cursor.string() {
        Some(text) => {
            parse(text).ok_or_else(|| request.refuse(Fault::BadCursor, &"it is not one of this list"))
        }
        None => Err(request.refuse(Fault::InvalidParams, &"`cursor` must be a string")),
    }
}

/// A cursor is the number of the entry that it begins with, behind a letter, so that nobody takes it for one.
fn parse(text: Str<'_>) -> Option<u32> {
    let digits = text.as_str()?.strip_prefix('p')?;
    let first = digits.parse().ok()?;
    (first > 0 && !digits.starts_with(['0', '+'])).then_some(first)
}

/// What became of the entries of a list.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// How many entries were too large for any page, or not valid, and were left out.
    pub(crate) left_out: usize,
}

/// Writes `"key":[…]` with as many entries as fit from `first` on, and the cursor of the rest.
///
/// `entry` writes the entry with an index, `None` if there is none, `Some(false)` if what it wrote is not valid.
pub(crate) fn write(
    out: &mut Writer<'_>,
    key: &str,
    first: usize,
    entry: &mut dyn FnMut(usize, &mut Writer<'_>) -> Option<bool>,
) -> Page {
    out.key(key);
    out.begin_array();
    let mut page = Page::default();
    let mut empty = true;
    let mut index = first;
    let next = loop {
        let before = out.mark();
        match entry(index, out) {
            None => break None,
            Some(true) if !out.overflowed() && out.remaining() >= TAIL => empty = false,
            Some(true) if !empty => {
                out.rollback(before);
                break Some(index);
            }
            Some(_) => {
                out.rollback(before);
                page.left_out = page.left_out.saturating_add(1);
            }
        }
        index = index.saturating_add(1);
    };
    out.end_array();
    if let Some(next) = next {
        out.key("nextCursor");
        out.display(&format_args!("p{next}"));
    }
    page
}

/// What a page needs that has only this entry.
pub(crate) fn measure_one(out: &mut Writer<'_>, key: &str, entry: &mut dyn FnMut(&mut Writer<'_>)) {
    out.key(key);
    out.begin_array();
    entry(out);
    for _ in 0..TAIL {
        out.token(" ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    #[test]
    fn only_cursors_that_were_given_out_are_cursors() {
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
            assert_eq!(parse(Json::parse(text.as_bytes()).unwrap().string().unwrap()), expected, "{text}");
        }
    }
}
