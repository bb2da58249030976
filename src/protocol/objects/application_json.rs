//! JSON from the application: checks of raw text and of written values.

use crate::json::{Json, Kind, ScanError, WriteBody, Writer};

/// JSON texts from the application. Each text must be an object.
pub(crate) type Objects<'t> = [Option<&'t str>; 3];

/// Finds the first text that is not an object. Returns `Some(Some(error))` if this text is not valid JSON, and
/// `Some(None)` if it is valid JSON. Returns `None` if all texts are objects.
pub(crate) fn not_an_object(texts: Objects<'_>) -> Option<Option<ScanError>> {
    for text in texts.iter().flatten() {
        match Json::parse(text.as_bytes()) {
            Ok(value) if value.kind() == Kind::Object => {}
            Ok(_) => return Some(None),
            Err(error) => return Some(Some(error)),
        }
    }
    None
}

/// Writes a member with raw JSON text from the application. Writes nothing if `text` is `None`.
pub(crate) fn write_raw(key: &str, text: Option<&str>, out: &mut Writer<'_>) {
    if let Some(text) = text {
        out.key(key);
        out.json(Json::trusted(text.as_bytes()));
    }
}

/// Wraps an `FnOnce` as an `FnMut`. Any call after the first call has no effect.
pub(crate) fn once(body: impl FnOnce(&mut Writer<'_>)) -> impl FnMut(&mut Writer<'_>) {
    let mut body = Some(body);
    move |out: &mut Writer<'_>| {
        if let Some(body) = body.take() {
            body(out);
        }
    }
}

/// Calls `body` to write one value. Returns `false` if `body` does not write exactly one valid value. After an
/// overflow, the function returns `true`, because the writer reports the overflow.
pub(crate) fn write_once(out: &mut Writer<'_>, body: &mut Option<impl FnOnce(&mut Writer<'_>)>) -> bool {
    let mut write = |out: &mut Writer<'_>| {
        if let Some(body) = body.take() {
            body(out);
        }
    };
    out.value_checked(&mut write).is_ok() || out.overflowed()
}

/// Writes an object, and calls `body` to write the members. Returns `false` if the members are not valid. After an
/// overflow, returns `true`.
pub(crate) fn write_object(out: &mut Writer<'_>, body: &mut dyn WriteBody) -> bool {
    out.begin_object();
    let valid = out.members_checked(body).is_ok();
    out.end_object();
    valid
}

/// Returns the JSON written since position `from`. Returns `None` if nothing was written. Also returns `None` after an
/// overflow, because the machine then discards the message.
pub(crate) fn written_json<'w>(out: &'w Writer<'_>, from: usize) -> Option<Json<'w>> {
    if out.overflowed() {
        return None;
    }
    out.written().get(from..).filter(|text| !text.is_empty()).map(Json::trusted)
}
