//! What `completion/complete` has answered.

use crate::client::views::{list, view};
use crate::json::{Json, Str};

view! {
    /// What the server proposes for the value of an argument.
    ///
    /// Specification: *Completion*.
    Completion with meta
}

impl<'a> Completion<'a> {
    fn inner(&self) -> Json<'a> {
        self.json.get("completion").unwrap_or(Json::NULL)
    }

    /// The values, the best one first; a hundred at most.
    pub fn values(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.inner(), "values").filter_map(Json::string)
    }

    /// How many there are in all, if the server says so.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.inner().get("total")?.unsigned()
    }

    /// Whether there are more than these.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.inner().get("hasMore").and_then(Json::boolean) == Some(true)
    }
}
