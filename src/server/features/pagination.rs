//! Pagination: pages that fit into a message, and their cursors.
//!
//! Specification: *Utilities*, *Pagination*.
#![allow(clippy::as_conversions, reason = "`usize` has at least 32 bits on all supported targets")]

use crate::error::{ConfigError, ProtocolError};
use crate::json::{Json, Kind, Span, Writer, magnitude};
use crate::protocol::objects::application_json::{Objects, not_an_object};
use crate::protocol::objects::base_metadata::ListedObject;
use crate::protocol::revision::Revision;
use crate::server::event::MakeEvent;
use crate::server::feature::{Measure, Received, Request};
use crate::server::features::catalogue::{Listed, entry_at};
use crate::server::pending_event::RequestKind;
use crate::server::server_state::Shape;

/// The longest end of a page, with the end of its response. The spaces are spare bytes.
pub(crate) const TAIL: &str = r#"],"nextCursor":"p18446744073709551615"}}        "#;

/// Returns the index of the first requested entry. Refuses a request with an invalid cursor.
pub(crate) fn first_index(request: &mut Request<'_, '_>) -> Result<u32, Received> {
    let cursor = request.param("cursor");
    if cursor.is_null() {
        return Ok(0);
    }
    if cursor.kind() != Kind::String {
        return Err(request.refuse(ProtocolError::InvalidParams, &"`cursor` must be a string"));
    }
    parse(cursor).ok_or_else(|| request.refuse(ProtocolError::BadCursor, &"not a cursor of this list"))
}

/// Parses a cursor: a letter, and the index of the first entry. The letter shows that the cursor is opaque.
fn parse(cursor: Json<'_>) -> Option<u32> {
    match cursor.bytes() {
        [b'"', b'p', digits @ .., b'"'] if !digits.starts_with(b"0") => magnitude(digits)?.try_into().ok(),
        _ => None,
    }
}

/// The result of writing a page.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// Number of omitted entries. An omitted entry is too large for any page, or not valid.
    pub(crate) left_out: usize,
    /// Whether more entries follow.
    pub(crate) has_next: bool,
}

/// Writes `"key":[…]` with as many entries as fit, starting at `first`. Adds the cursor of the next page, if any.
///
/// `entry` writes the entry at an index. `None` means that the list has no such entry. `Some(false)` means that the
/// entry is not valid.
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
        page.has_next = true;
        out.key("nextCursor");
        out.display(&("p", next));
    }
    page
}

/// Responds with a page of a static catalogue. Emits the request if the list is dynamic.
///
/// The catalogue is that of the first feature of its kind. The entries of other features of the kind follow.
pub(crate) fn respond<'b, E: Listed<'b>>(
    request: &mut Request<'_, 'b>,
    catalogue: Option<&'b [E]>,
    event: MakeEvent,
) -> Received {
    let (config, own) = (request.state.config, catalogue.unwrap_or_default());
    respond_with(request, Shape::List, E::LIST, catalogue.is_none(), event, &mut |index, revision, out| {
        own.get(index).or_else(|| entry_at(config, index))?.write(revision, out);
        Some(true)
    })
}

/// Responds with a page of a static list.
pub(crate) fn respond_static(
    request: &mut Request<'_, '_>,
    shape: Shape,
    key: &str,
    entry: &mut dyn FnMut(usize, Revision, &mut Writer<'_>) -> Option<bool>,
) -> Received {
    respond_with(request, shape, key, false, |_, _| None, entry)
}

/// Responds with a page, or emits the request if the list is dynamic.
fn respond_with(
    request: &mut Request<'_, '_>,
    shape: Shape,
    key: &str,
    is_dynamic: bool,
    event: MakeEvent,
    entry: &mut dyn FnMut(usize, Revision, &mut Writer<'_>) -> Option<bool>,
) -> Received {
    let first = match first_index(request) {
        Ok(first) => first,
        Err(refused) => return refused,
    };
    if is_dynamic {
        let kind = RequestKind::List { first: first.to_le_bytes() };
        return request.emit_request(kind, event, Span::MISSING, Span::MISSING);
    }
    let revision = request.pending.context.revision;
    if first > 0 && entry(first as usize, revision, &mut Writer::measure()).is_none() {
        return request.refuse(ProtocolError::BadCursor, &"not a cursor of this list");
    }
    let mut page = Page::default();
    let received = request.respond(shape, &mut |out| {
        page = write(out, key, first as usize, &mut |index, out| entry(index, revision, out));
    });
    match received {
        // Reported once for each list, with its first page.
        Received::Done if first == 0 && page.has_next => Received::ProtocolError(ProtocolError::ListSplit),
        received => received,
    }
}

/// Checks the entries of a catalogue. Measures, for each entry, a page with this entry only.
pub(crate) fn check<E: ListedObject>(
    catalogue: Option<&[E]>,
    revision: Revision,
    measure: Measure<'_>,
) -> Result<(), ConfigError> {
    for (index, entry) in catalogue.unwrap_or_default().iter().enumerate() {
        check_entry(E::LIST, index, entry.objects(), measure, &mut |out| entry.write(revision, out))?;
    }
    Ok(())
}

fn check_entry(
    key: &str,
    entry: usize,
    objects: Objects<'_>,
    measure: Measure<'_>,
    write: &mut dyn FnMut(&mut Writer<'_>),
) -> Result<(), ConfigError> {
    match not_an_object(objects) {
        Some(Some(error)) => return Err(ConfigError::InvalidJson { entry, error }),
        Some(None) => return Err(ConfigError::NotAnObject { entry }),
        None => {}
    }
    measure_entry(key, measure, write);
    Ok(())
}

/// Measures a page with one entry.
pub(crate) fn measure_entry(key: &str, measure: Measure<'_>, write: &mut dyn FnMut(&mut Writer<'_>)) {
    measure(Shape::List, &mut |out| {
        out.key(key);
        out.begin_array();
        write(out);
        out.token(TAIL);
    });
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
