//! JSON of the application: raw text and values that it writes, both checked.

use crate::json::{Json, Kind, ScanError, Writer};

/// JSON texts of the application, each of which must be an object.
pub(crate) type Objects<'t> = [Option<&'t str>; 3];

/// Finds the first text that is not an object. Returns `Some(Some(error))` if it is invalid JSON, `Some(None)` if it is
/// another value, and `None` if all texts are objects.
pub(crate) fn not_an_object(texts: Objects<'_>) -> Option<Option<ScanError>> {
    texts.into_iter().flatten().find_map(|text| match Json::parse(text.as_bytes()) {
        Ok(value) => (value.kind() != Kind::Object).then_some(None),
        Err(error) => Some(Some(error)),
    })
}

/// Writes a member with raw JSON text of the application, if there is one.
pub(crate) fn write_raw(key: &str, text: Option<&str>, out: &mut Writer<'_>) {
    if let Some(text) = text {
        out.key(key);
        out.json(Json::trusted(text.as_bytes()));
    }
}

/// Wraps an `FnOnce` as an `FnMut` that does nothing after the first call.
pub(crate) fn once(body: impl FnOnce(&mut Writer<'_>)) -> impl FnMut(&mut Writer<'_>) {
    let mut body = Some(body);
    move |out: &mut Writer<'_>| {
        if let Some(body) = body.take() {
            body(out);
        }
    }
}

/// Calls `body` to write one value. Returns `false` if it does not write exactly one valid value.
pub(crate) fn write_once(out: &mut Writer<'_>, body: &mut Option<impl FnOnce(&mut Writer<'_>)>) -> bool {
    let mut write = |out: &mut Writer<'_>| {
        if let Some(body) = body.take() {
            body(out);
        }
    };
    out.value_checked(&mut write).is_ok() || out.overflowed()
}

/// Writes an object whose members `body` writes. Returns whether they are valid.
pub(crate) fn write_object(out: &mut Writer<'_>, body: &mut dyn FnMut(&mut Writer<'_>)) -> bool {
    out.begin_object();
    let valid = out.members_checked(body).is_ok();
    out.end_object();
    valid
}

/// The JSON written from the position `from` on. Returns `None` if the output has overflowed, because the message is
/// not sent then.
pub(crate) fn written_json<'w>(out: &'w Writer<'_>, from: usize) -> Option<Json<'w>> {
    if out.overflowed() {
        return None;
    }
    out.written().get(from..).filter(|text| !text.is_empty()).map(Json::trusted)
}
