//! Read-only views of JSON from the peer, and the lookup of members.
//!
//! A getter looks up its member on each call. Most getters return `None` if the member is missing or has the wrong
//! type. Use `raw` for members without a getter.

use crate::json::{Decimal, Elements, Json, Kind, Str, append_digit, magnitude};
use crate::time::Millis;

/// Declares a view type over one JSON value, with the functions that all views have. The names after `with` add getters
/// for members that several types of objects have, such as `_meta`.
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
    ($(#[$docs:meta])* $name:ident with $($member:ident),+) => {
        view! { $(#[$docs])* $name }
        $(view! { @$member $name })+
    };
    (@meta $name:ident) => {
        impl<'a> $name<'a> {
            /// Returns the `_meta` object.
            #[must_use]
            pub fn meta(&self) -> Option<$crate::json::Json<'a>> {
                $crate::protocol::objects::view::object(self.json, "_meta")
            }
        }
    };
    (@base_metadata $name:ident) => {
        impl<'a> $name<'a> {
            /// Returns the programmatic name.
            #[must_use]
            pub fn name(&self) -> Option<$crate::json::Str<'a>> {
                $crate::protocol::objects::view::text(self.json, "name")
            }

            /// Returns the title.
            #[must_use]
            pub fn title(&self) -> Option<$crate::json::Str<'a>> {
                $crate::protocol::objects::view::text(self.json, "title")
            }

            /// Returns the display name: the title, or the name if the title is missing or empty.
            #[must_use]
            pub fn display_name(&self) -> Option<$crate::json::Str<'a>> {
                self.title().filter(|title| !title.is_empty()).or_else(|| self.name())
            }

            /// Returns the description.
            #[must_use]
            pub fn description(&self) -> Option<$crate::json::Str<'a>> {
                $crate::protocol::objects::view::text(self.json, "description")
            }
        }
    };
    (@mime $name:ident) => {
        impl<'a> $name<'a> {
            /// Returns the MIME type.
            #[must_use]
            pub fn mime(&self) -> Option<$crate::json::Str<'a>> {
                $crate::protocol::objects::view::text(self.json, "mimeType")
            }
        }
    };
    (@icons $name:ident) => {
        impl<'a> $name<'a> {
            /// Returns the icons.
            pub fn icons(&self) -> impl Iterator<Item = $crate::client::IconView<'a>> + use<'a> {
                $crate::protocol::objects::view::entries(self.json, "icons").map($crate::client::IconView::from_json)
            }
        }
    };
    (@annotations $name:ident) => {
        impl<'a> $name<'a> {
            /// Returns the annotations: audience, priority and time of the last change.
            #[must_use]
            pub fn annotations(&self) -> $crate::client::AnnotationsView<'a> {
                $crate::client::AnnotationsView::from_json(
                    $crate::protocol::objects::view::member(self.json, "annotations"),
                )
            }
        }
    };
}
pub(crate) use view;

/// Returns a member, or `null` for a missing member.
pub(crate) fn member<'a>(json: Json<'a>, name: &str) -> Json<'a> {
    json.get(name).unwrap_or(Json::NULL)
}

/// Returns whether a member is `true`.
pub(crate) fn is_true(json: Json<'_>, name: &str) -> bool {
    member(json, name).boolean() == Some(true)
}

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

/// Returns a duration in milliseconds: a JSON integer of at least 0, such as `60000`, `60000.0` or `6e4`. A value
/// beyond the range of `u64` becomes the maximum. Returns `None` for any other value.
pub(crate) fn duration(value: Json<'_>) -> Option<Millis> {
    value.unsigned().or_else(|| whole_number(value.number()?.as_bytes())).map(Millis)
}

/// Reads a number of at least 0 in any notation, such as `6e4`. A value beyond the range of `u64` becomes the maximum.
/// Returns `None` if the number begins with a minus sign, or has a fraction other than zero.
#[cold]
pub(crate) fn whole_number(text: &[u8]) -> Option<u64> {
    if text.starts_with(b"-") {
        return None;
    }
    let mut parts = text.splitn(2, |byte| matches!(byte, b'e' | b'E'));
    let (mantissa, exponent) = (parts.next()?, parts.next().unwrap_or(b"0"));
    let mut parts = mantissa.splitn(2, |byte| *byte == b'.');
    let (whole, fraction) = (parts.next()?, parts.next().unwrap_or_default());
    let count = |digits| magnitude(digits).and_then(|count| count.try_into().ok()).unwrap_or(usize::MAX);
    // The number of digits before the decimal point in the notation without an exponent: 5 for `6e4`.
    let point = match exponent {
        [b'-', digits @ ..] => whole.len().saturating_sub(count(digits)),
        [b'+', digits @ ..] | digits => whole.len().saturating_add(count(digits)),
    };
    let digits = whole.iter().chain(fraction);
    if digits.clone().skip(point).any(|digit| *digit != b'0') {
        return None;
    }
    // Twenty more zeros suffice: with them, any number except 0 exceeds the range of `u64`.
    let mut digits = digits.chain(&[b'0'; 20]).take(point);
    Some(digits.try_fold(0, append_digit).unwrap_or(u64::MAX))
}

/// Returns a member that is an object.
pub(crate) fn object<'a>(json: Json<'a>, name: &str) -> Option<Json<'a>> {
    json.get(name).filter(|value| value.kind() == Kind::Object)
}

/// Returns the elements of a member that is an array. The iterator is empty for any other member.
pub(crate) fn list<'a>(json: Json<'a>, name: &str) -> Elements<'a> {
    member(json, name).elements()
}

/// Returns those elements of an array member that are objects. Skips all other elements, because an entry must be an
/// object.
pub(crate) fn entries<'a>(json: Json<'a>, name: &str) -> impl Iterator<Item = Json<'a>> + use<'a> {
    list(json, name).filter(|entry| entry.kind() == Kind::Object)
}
