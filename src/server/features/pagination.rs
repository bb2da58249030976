//! List requests: responds with a page of a static catalog, or emits the request if the list is dynamic.
//!
//! Specification: *Utilities*, *Pagination*.
#![allow(clippy::as_conversions, reason = "`usize` has at least 32 bits on all supported targets")]

use crate::error::{ConfigError, ProtocolError};
use crate::json::{Kind, Span, WriteBody, Writer};
use crate::protocol::objects::application_json::{Objects, not_an_object};
use crate::protocol::objects::base_metadata::ListedObject;
use crate::protocol::pagination::{Page, TAIL, parse, write};
use crate::protocol::revision::Revision;
use crate::server::event::MakeEvent;
use crate::server::feature::{OwnResults, Received, Request};
use crate::server::features::catalog::{Entries, Listed, entry_at};
use crate::server::pending_event::RequestKind;
use crate::server::server_state::Shape;

/// Returns the index of the first requested entry. If the cursor is not valid, refuses the request, and returns the
/// refusal as the error.
pub(crate) fn first_index(request: &mut Request<'_, '_>) -> Result<u32, Received> {
    let cursor = request.param("cursor");
    match cursor.kind() {
        Kind::Null => Ok(0),
        Kind::String => parse(cursor).ok_or_else(|| refuse_cursor(request)),
        _ => Err(request.invalid_params("`cursor` must be a string")),
    }
}

#[cold]
fn refuse_cursor(request: &mut Request<'_, '_>) -> Received {
    request.refuse_text(ProtocolError::BadCursor, "not a cursor of this list")
}

/// Responds with a page of a static catalog. Emits the request if the list is dynamic.
///
/// `entries` belongs to the first feature of its kind. The entries of the other features of this kind follow.
pub(crate) fn respond<'b, E: Listed<'b>>(
    request: &mut Request<'_, 'b>,
    entries: &Entries<'b, E>,
) -> Received {
    let (config, own) = (request.state.config, entries.fixed);
    respond_with(request, Shape::List, E::LIST, entries.event, &mut |index, revision, out| {
        own.get(index).or_else(|| entry_at(config, index))?.write(revision, out);
        Some(true)
    })
}

/// Responds with a page of the entries that `entry` writes, by index. `entry` returns `None` after the last entry. If
/// `dynamic` is not `None`, the list is dynamic, and the function emits the request with this event instead of the
/// response. Refuses an invalid cursor in either case: static or dynamic.
pub(crate) fn respond_with(
    request: &mut Request<'_, '_>,
    shape: Shape,
    key: &str,
    dynamic: Option<MakeEvent>,
    entry: &mut dyn FnMut(usize, Revision, &mut Writer<'_>) -> Option<bool>,
) -> Received {
    let first = match first_index(request) {
        Ok(first) => first,
        Err(refused) => return refused,
    };
    if let Some(event) = dynamic {
        let kind = RequestKind::List { first: first.to_le_bytes() };
        request.set_parts(Span::MISSING, Span::MISSING);
        return request.emit_request(kind, event);
    }
    let revision = request.pending.context.revision();
    if first > 0 && entry(first as usize, revision, &mut Writer::measure()).is_none() {
        return refuse_cursor(request);
    }
    let mut page = Page::default();
    let received = request.respond(shape, &mut |out: &mut Writer<'_>| {
        page = write(out, key, first as usize, &mut |index, out| entry(index, revision, out));
    });
    match received {
        // Report a split list with its first page only, not again with each page.
        Received::Done if first == 0 && page.has_next => request.state.fail(ProtocolError::ListSplit),
        received => received,
    }
}

/// Checks the entries of a catalog. Measures, for each entry, a page with this entry only.
pub(crate) fn check<E: ListedObject>(
    entries: &Entries<'_, E>,
    results: &mut OwnResults<'_>,
) -> Result<(), ConfigError> {
    let revision = results.revision;
    for (index, entry) in entries.fixed.iter().enumerate() {
        check_objects(index, entry.objects())?;
        measure_entry(E::LIST, results, &mut |out: &mut Writer<'_>| entry.write(revision, out));
    }
    Ok(())
}

/// Checks that these JSON texts of the catalog entry with the index `entry` are objects.
pub(crate) fn check_objects(entry: usize, objects: Objects<'_>) -> Result<(), ConfigError> {
    match not_an_object(objects) {
        Some(Some(error)) => Err(ConfigError::InvalidJson { entry, error }),
        Some(None) => Err(ConfigError::NotAnObject { entry }),
        None => Ok(()),
    }
}

/// Measures a page with one entry.
pub(crate) fn measure_entry(key: &str, results: &mut OwnResults<'_>, write: &mut dyn WriteBody) {
    results.measure(Shape::List, &mut |out: &mut Writer<'_>| {
        out.begin_array_at(key);
        write.write(out);
        out.token(TAIL);
    });
}
