//! Views of notifications: progress, log messages, resource updates.

use crate::client::views::{number, object, text, view};
use crate::json::{Decimal, Json, Str};
use crate::peer::slots::Ticket;
use crate::protocol::level::Level;

/// Progress of a request.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) params: Json<'a>,
}

impl<'a> Progress<'a> {
    /// The ticket of the request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The current progress.
    #[must_use]
    pub fn progress(&self) -> Decimal {
        number(self.params, "progress").unwrap_or(Decimal::ZERO)
    }

    /// The total, if it is known.
    #[must_use]
    pub fn total(&self) -> Option<Decimal> {
        number(self.params, "total")
    }

    /// A message about the current step.
    #[must_use]
    pub fn message(&self) -> Option<Str<'a>> {
        text(self.params, "message")
    }

    /// The `_meta` object.
    #[must_use]
    pub fn meta(&self) -> Option<Json<'a>> {
        object(self.params, "_meta")
    }

    /// The whole parameters, as the server wrote them.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.params
    }
}

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
