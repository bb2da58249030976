//! Read-only views of JSON that servers send.
//!
//! Each view has a constructor `from_json`, so the application can copy JSON and view the copy later. A getter looks
//! its member up on each call. It returns none if the member is missing or of the wrong type. Members without a getter
//! are available through `raw`.

mod base64;
mod completion;
mod content;
mod elicit;
mod implementation;
mod notification;
mod page;
mod prompt;
mod resource;
mod sampling;
mod tool;

pub use crate::client::views::base64::{Base64, Base64Error};
pub use crate::client::views::completion::CompletionView;
pub use crate::client::views::content::{AnnotationsView, BlockView, ContentView};
pub use crate::client::views::elicit::{ChoiceView, FieldKind, FieldView, FormView, OpenUrlView};
pub use crate::client::views::implementation::{IconView, ImplementationView};
pub use crate::client::views::notification::{LogMessage, Updated};
pub use crate::client::views::page::{Freshness, PromptsPage, ResourcesPage, TemplatesPage, ToolsPage};
pub use crate::client::views::prompt::{PromptArgumentView, PromptMessageView, PromptResultView, PromptView};
pub use crate::client::views::resource::{
    ReadResultView, ResourceContentsView, ResourceTemplateView, ResourceView,
};
pub use crate::client::views::sampling::{CreateMessageView, ModelPreferencesView, SampleMessageView};
pub use crate::client::views::tool::{ToolHintsView, ToolResultView, ToolView};

use crate::json::{Decimal, Elements, Json, Kind, Str};

/// Declares a view type over one JSON value, with the functions that every view has.
macro_rules! view {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name<'a> {
            json: $crate::json::Json<'a>,
        }

        impl<'a> $name<'a> {
            /// Views this value. A value that is not an object has no members.
            #[must_use]
            pub fn from_json(json: $crate::json::Json<'a>) -> $name<'a> {
                $name { json }
            }

            /// The whole value, as the server wrote it.
            #[must_use]
            pub fn raw(&self) -> $crate::json::Json<'a> {
                self.json
            }
        }
    };
    ($(#[$docs:meta])* $name:ident with meta) => {
        view! { $(#[$docs])* $name }

        impl<'a> $name<'a> {
            /// The `_meta` object.
            #[must_use]
            pub fn meta(&self) -> Option<$crate::json::Json<'a>> {
                $crate::client::views::object(self.json, "_meta")
            }
        }
    };
}
pub(crate) use view;

/// Adds the getters of base metadata and of the description to a view.
macro_rules! named {
    ($view:ident, $name:literal, $description:literal) => {
        impl<'a> $view<'a> {
            #[doc = $name]
            #[must_use]
            pub fn name(&self) -> Option<$crate::json::Str<'a>> {
                $crate::client::views::text(self.json, "name")
            }

            /// The title.
            #[must_use]
            pub fn title(&self) -> Option<$crate::json::Str<'a>> {
                $crate::client::views::text(self.json, "title")
            }

            /// The display name: the title, or else the name.
            #[must_use]
            pub fn display_name(&self) -> Option<$crate::json::Str<'a>> {
                self.title().filter(|title| !title.is_empty()).or_else(|| self.name())
            }

            #[doc = $description]
            #[must_use]
            pub fn description(&self) -> Option<$crate::json::Str<'a>> {
                $crate::client::views::text(self.json, "description")
            }
        }
    };
}
use named;

/// Returns a member that is a string.
pub(crate) fn text<'a>(json: Json<'a>, name: &str) -> Option<Str<'a>> {
    json.get(name)?.string()
}

/// Whether a member equals this string.
pub(crate) fn has_text(json: Json<'_>, name: &str, value: &str) -> bool {
    text(json, name).is_some_and(|text| text == value)
}

/// Returns a member that is a number.
pub(crate) fn number(json: Json<'_>, name: &str) -> Option<Decimal> {
    Decimal::parse(json.get(name)?.number()?)
}

/// Returns a member that is an object.
pub(crate) fn object<'a>(json: Json<'a>, name: &str) -> Option<Json<'a>> {
    json.get(name).filter(|value| value.kind() == Kind::Object)
}

/// Returns the elements of a member that is an array, or none.
pub(crate) fn list<'a>(json: Json<'a>, name: &str) -> Elements<'a> {
    json.get(name).unwrap_or(Json::NULL).elements()
}

/// Returns the elements that are objects. Other elements are invalid entries.
pub(super) fn entries<'a>(json: Json<'a>, name: &str) -> impl Iterator<Item = Json<'a>> + use<'a> {
    list(json, name).filter(|entry| entry.kind() == Kind::Object)
}

#[cfg(test)]
mod tests;
