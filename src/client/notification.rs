//! Views of notifications: log messages, resource updates.

use crate::json::{Json, Str};
use crate::protocol::level::Level;
use crate::protocol::objects::view::{text, view};

view! {
    /// A log message of the server.
    ///
    /// Specification: *Logging*.
    LogMessage with meta
}

impl<'a> LogMessage<'a> {
    /// The level, if the server wrote a known one.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        Level::from_json(text(self.json, "level")?)
    }

    /// The name of the logger in the server.
    #[must_use]
    pub fn logger(&self) -> Option<Str<'a>> {
        text(self.json, "logger")
    }

    /// The logged data: any value, often a string.
    #[must_use]
    pub fn data(&self) -> Json<'a> {
        self.json.get("data").unwrap_or(Json::NULL)
    }
}

view! {
    /// A change of a subscribed resource, or of a part of one.
    ///
    /// Specification: *Resources*, *Subscriptions*.
    Updated with meta
}

impl<'a> Updated<'a> {
    /// The URI of the resource. Always present in events of the client.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }
}
