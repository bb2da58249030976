//! The event of a received `notifications/resources/updated`.

use crate::json::Str;
use crate::protocol::objects::view::{text, view};

view! {
    /// A change of a subscribed resource, or of a part of this resource.
    ///
    /// Specification: *Resources*, *Subscriptions*.
    Updated with meta
}

impl<'a> Updated<'a> {
    /// Returns the URI of the changed resource or part. The URI is never `None` in an event of the client.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }
}
