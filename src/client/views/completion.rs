//! View of a completion result.

use crate::client::views::{list, view};
use crate::json::{Json, Str};

view! {
    /// The result of `completion/complete`: proposed values of an argument.
    ///
    /// Specification: *Completion*.
    CompletionView with meta
}

impl<'a> CompletionView<'a> {
    fn inner(&self) -> Json<'a> {
        self.json.get("completion").unwrap_or(Json::NULL)
    }

    /// The proposed values, at most 100, the best first.
    pub fn values(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.inner(), "values").filter_map(Json::string)
    }

    /// The total number of values, if the server reports it.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.inner().get("total")?.unsigned()
    }

    /// Whether there are more values than these.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.inner().get("hasMore").and_then(Json::boolean) == Some(true)
    }
}
