//! Lists that are longer than a message: pages that fit, and the cursors between them.
//!
//! Specification: *Utilities*, *Pagination*.
#![allow(clippy::as_conversions, reason = "32 bits index memory everywhere")]

use crate::error::{ConfigError, ProtocolError};
use crate::json::{Json, Kind, Writer, magnitude};
use crate::protocol::base_metadata::{Objects, not_an_object};
use crate::protocol::revision::Revision;
use crate::server::event::MakeEvent;
use crate::server::feature::{Measure, Received, Request};
use crate::server::pending_event::RequestKind;
use crate::server::server_state::Shape;

/// The longest end of a page, and the brackets that close the answer, with some room to spare.
const TAIL: &str = r#"],"nextCursor":"p18446744073709551615"}}        "#;

/// Which entry a request for a list wants first; or the request refused.
pub(crate) fn first_of(request: &mut Request<'_, '_>) -> Result<u32, Received> {
    let Some(cursor) = request.param("cursor") else { return Ok(0) };
    if cursor.kind() != Kind::String {
        return Err(request.refuse(ProtocolError::InvalidParams, &"`cursor` must be a string"));
    }
    parse(cursor).ok_or_else(|| request.refuse(ProtocolError::BadCursor, &"it is not one of this list"))
}

/// A cursor is the number of the entry that it begins with, behind a letter, so that nobody takes it for one.
fn parse(cursor: Json<'_>) -> Option<u32> {
    match cursor.bytes() {
        [b'"', b'p', digits @ .., b'"'] if !digits.starts_with(b"0") => magnitude(digits)?.try_into().ok(),
        _ => None,
    }
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
            Some(true) if !out.overflowed() && out.remaining() >= TAIL.len() => empty = false,
            Some(true) if !empty => {
                out.rollback(before);
                break Some(index);
            }
            Some(_) => {
                out.rollback(before);
                page.left_out = page.left_out.wrapping_add(1);
            }
        }
        index = index.wrapping_add(1);
    };
    out.end_array();
    if let Some(next) = next {
        out.key("nextCursor");
        out.display(&("p", next));
    }
    page
}

/// Answers a request for a list: with a page of the catalogue, or by handing it to the host if that has the list.
pub(crate) fn answer(
    request: &mut Request<'_, '_>,
    key: &str,
    length: Option<usize>,
    event: MakeEvent,
    entry: &mut dyn FnMut(usize, Revision, &mut Writer<'_>) -> Option<bool>,
) -> Received {
    let first = match first_of(request) {
        Ok(first) => first,
        Err(refused) => return refused,
    };
    let Some(length) = length else {
        request.pending.context.first = first;
        return request.hand_out(RequestKind::List, event, None, None);
    };
    if first > 0 && first as usize >= length {
        return request.refuse(ProtocolError::BadCursor, &"it is not one of this list");
    }
    let revision = request.pending.context.revision;
    request.list(&mut |out| {
        write(out, key, first as usize, &mut |index, out| entry(index, revision, out));
    })
}

/// An entry of a catalogue that is looked at before it is ever listed.
pub(crate) struct Entry<'e> {
    /// Of the list.
    pub(crate) key: &'static str,
    pub(crate) index: usize,
    /// What has to be an object, as JSON text.
    pub(crate) objects: Objects<'e>,
}

/// Checks an entry, and measures the page that has only this one.
pub(crate) fn check(
    entry: Entry<'_>,
    measure: Measure<'_>,
    write: &mut dyn FnMut(&mut Writer<'_>),
) -> Result<(), ConfigError> {
    let Entry { key, index: entry, objects } = entry;
    match not_an_object(objects) {
        Some(Some(error)) => return Err(ConfigError::InvalidJson { entry, error }),
        Some(None) => return Err(ConfigError::NotAnObject { entry }),
        None => {}
    }
    measure(Shape::List, &mut |out| {
        out.key(key);
        out.begin_array();
        write(out);
        out.token(TAIL);
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(parse(Json::parse(text.as_bytes()).unwrap()), expected, "{text}");
        }
    }
}
