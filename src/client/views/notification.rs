//! What the server says by itself.

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
    /// Which request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Decimal {
        number(self.params, "progress").unwrap_or(Decimal::ZERO)
    }

    /// Where it ends, if that is known.
    #[must_use]
    pub fn total(&self) -> Option<Decimal> {
        number(self.params, "total")
    }

    /// What it is doing.
    #[must_use]
    pub fn message(&self) -> Option<Str<'a>> {
        text(self.params, "message")
    }

    /// What else is said about it: `_meta`, an object.
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
    /// A log message of the server's.
    ///
    /// Specification: *Logging*.
    LogMessage with meta
}

impl<'a> LogMessage<'a> {
    /// How severe it is, if the server says so by a known name.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        Level::from_json(text(self.json, "level")?)
    }

    /// Which part of the server it comes from.
    #[must_use]
    pub fn logger(&self) -> Option<Str<'a>> {
        text(self.json, "logger")
    }

    /// What it says: any value, often a string.
    #[must_use]
    pub fn data(&self) -> Json<'a> {
        self.json.get("data").unwrap_or(Json::NULL)
    }
}

view! {
    /// A resource has changed, or a part of one that was subscribed to.
    ///
    /// Specification: *Resources*, *Subscriptions*.
    Updated with meta
}

impl<'a> Updated<'a> {
    /// Which resource. The client only hands out those that say so.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }
}
