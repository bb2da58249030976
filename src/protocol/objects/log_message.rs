//! Log messages: written by a server, viewed by a client.
//!
//! Specification: *Logging*.

use crate::json::{Json, Str, WriteBody, Writer};
use crate::protocol::level::Level;
use crate::protocol::methods;
use crate::protocol::objects::view::{member, text, view};
use crate::rpc::begin_notification;

/// Writes `notifications/message`. Calls `data` to write the logged value. Returns the result of `data`, which is
/// `false` if the value is not valid. The caller must not send an invalid message.
pub(crate) fn write_log(
    out: &mut Writer<'_>,
    level: Level,
    logger: Option<&str>,
    data: &mut dyn WriteBody,
) -> bool {
    begin_notification(out, methods::MESSAGE.name);
    out.field_string("level", level.as_str());
    out.field_optional("logger", logger);
    out.key("data");
    let valid = data.write(out);
    out.token("}}");
    valid
}

view! {
    /// A log message of the server.
    ///
    /// Specification: *Logging*.
    LogMessage with meta
}

impl<'a> LogMessage<'a> {
    /// Returns the level. Returns `None` if the level is missing or unknown.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        Level::from_json(text(self.json, "level")?)
    }

    /// Returns the name of the server's logger.
    #[must_use]
    pub fn logger(&self) -> Option<Str<'a>> {
        text(self.json, "logger")
    }

    /// Returns the logged data. The data can be any JSON value, and is often a string. Returns `null` if the data is
    /// missing.
    #[must_use]
    pub fn data(&self) -> Json<'a> {
        member(self.json, "data")
    }
}
