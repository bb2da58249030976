//! serde's `Deserialize` for `Json`: any value, as its text.

use super::Decoder;
use crate::json::value::Json;
use core::fmt;
use serde_core::de::{Deserialize, Deserializer, Error, Visitor};

/// The newtype name that [`Json`] passes to a `Deserializer`. For this name, the decoder passes the text of the value
/// to the visitor.
pub(super) const JSON: &str = "mcp_proto::Json";

/// Accepts any JSON value, and borrows its text. Only the decoders of this crate support the type.
///
/// ```
/// use mcp_proto::json::{Json, decode_in_place};
///
/// #[derive(serde::Deserialize)]
/// struct Store<'a> {
///     key: &'a str,
///     #[serde(borrow)]
///     value: Json<'a>,
/// }
/// let mut text = *br#"{"key":"a\tb","value":{"level":[1,2]}}"#;
/// let store: Store<'_> = decode_in_place(&mut text)?;
/// assert_eq!((store.key, store.value.raw()), ("a\tb", r#"{"level":[1,2]}"#));
/// # Ok::<(), mcp_proto::json::TypedError>(())
/// ```
impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json<'a>, D::Error> {
        deserializer.deserialize_newtype_struct(JSON, Any)
    }
}

impl<'de> Decoder<'de> {
    /// Consumes and returns the text of any value. Empty text counts as an empty object.
    pub(super) fn any_text(&mut self) -> &'de str {
        if self.peek().is_none() { "{}" } else { self.word() }
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON text from a decoder of mcp-proto")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Json<'de>, E> {
        Json::parse(text.as_bytes()).map_err(|_| E::custom("not valid JSON"))
    }
}
