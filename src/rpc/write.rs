//! Writers of requests and notifications.

use crate::json::{WriteBody, Writer};

/// Writes `"method":…,"params":{…}`. The closure `params` writes the parameters. If the closure writes nothing, the
/// output has no member `params`. Returns `false` if the parameters are not valid.
pub(crate) fn write_request(out: &mut Writer<'_>, method: &str, params: &mut dyn WriteBody) -> bool {
    out.field_string("method", method);
    write_object_member("params", out, params)
}

/// Writes a member that is an object. The closure `members` writes the members of this object. If the closure writes
/// nothing, the output does not contain the object. Returns the result of the closure.
pub(crate) fn write_object_member(key: &str, out: &mut Writer<'_>, members: &mut dyn WriteBody) -> bool {
    let before = out.mark();
    out.begin_object_at(key);
    let empty = out.len();
    let valid = members.write(out);
    if out.len() == empty && !out.overflowed() {
        out.rollback(before);
    } else {
        out.end_object();
    }
    valid
}

/// Begins a notification: writes `{"jsonrpc":"2.0","method":…,"params":{`.
#[inline(never)]
pub(crate) fn begin_notification(out: &mut Writer<'_>, method: &str) {
    out.wrapped(r#"{"jsonrpc":"2.0","method":""#, method.as_bytes(), r#"","params":{"#);
}

/// Writes a notification. The closure `params` writes the parameters. If the closure writes nothing, the message has no
/// member `params`. Returns `false` if the parameters are not valid.
pub(crate) fn write_notification(out: &mut Writer<'_>, method: &str, params: &mut dyn WriteBody) -> bool {
    out.token(r#"{"jsonrpc":"2.0""#);
    let valid = write_request(out, method, params);
    out.token("}");
    valid
}
