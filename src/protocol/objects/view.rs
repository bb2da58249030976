//! Read-only views of JSON from the peer, and the lookup of members.
//!
//! A getter looks up its member on each call. Most getters return `None` if the member is missing or has the wrong
//! type. Use `raw` for members without a getter.

use crate::json::{Decimal, Elements, Json, Kind, Str};

/// Declares a view type over one JSON value, with the functions that all views have.
macro_rules! view {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name<'a> {
            json: $crate::json::Json<'a>,
        }

        impl<'a> $name<'a> {
            /// Creates a view of this value. A value that is not an object has no members.
            #[must_use]
            pub fn from_json(json: $crate::json::Json<'a>) -> $name<'a> {
                $name { json }
            }

            /// Returns the whole value, exactly as the peer wrote it.
            #[must_use]
            pub fn raw(&self) -> $crate::json::Json<'a> {
                self.json
            }
        }
    };
    ($(#[$docs:meta])* $name:ident with meta) => {
        view! { $(#[$docs])* $name }

        impl<'a> $name<'a> {
            /// Returns the `_meta` object.
            #[must_use]
            pub fn meta(&self) -> Option<$crate::json::Json<'a>> {
                $crate::protocol::objects::view::object(self.json, "_meta")
            }
        }
    };
}
pub(crate) use view;

/// Returns a member that is a string.
pub(crate) fn text<'a>(json: Json<'a>, name: &str) -> Option<Str<'a>> {
    json.get(name)?.string()
}

/// Returns whether a member equals this string.
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

/// Returns the elements of a member that is an array. The iterator is empty for any other member.
pub(crate) fn list<'a>(json: Json<'a>, name: &str) -> Elements<'a> {
    json.get(name).unwrap_or(Json::NULL).elements()
}

/// Returns those elements of an array member that are objects. Skips all other elements, because such entries are
/// invalid.
pub(crate) fn entries<'a>(json: Json<'a>, name: &str) -> impl Iterator<Item = Json<'a>> + use<'a> {
    list(json, name).filter(|entry| entry.kind() == Kind::Object)
}
