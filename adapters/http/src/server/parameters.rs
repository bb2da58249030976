//! `Mcp-Param-*`: header fields that repeat arguments of a tool (`x-mcp-header`).

use mcp_proto::json::{Json, Kind};

use super::header_value::equals_json;
use super::request::RequestHead;

/// The maximum length of the name of a property or a header field, in bytes.
const NAME_SIZE: usize = 96;

const PREFIX: &[u8] = b"mcp-param-";

/// The maximum depth of the properties that the server compares.
const DEPTH: u8 = 16;

/// Returns whether the fields of a call repeat the marked arguments exactly. Returns `true` for a schema that is not
/// JSON.
///
/// A marked argument needs its field, once. A field without an argument contradicts the body. A mark on anything but a
/// string, an integer or a boolean has no effect. A property that is too deep, or whose name is too long, is skipped.
/// If the name of a field would be too long, the result is `false`.
pub(super) fn repeat_arguments(schema: &str, arguments: Option<Json<'_>>, head: &RequestHead<'_>) -> bool {
    Json::parse(schema.as_bytes()).map_or(true, |schema| check(schema, arguments, head, DEPTH))
}

fn check(schema: Json<'_>, value: Option<Json<'_>>, head: &RequestHead<'_>, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let Some(properties) = schema.get("properties") else { return true };
    properties.members().all(|(name, property)| {
        let mut buffer = [0; NAME_SIZE];
        let Ok(name) = name.copy_to(&mut buffer) else { return true };
        let value = value.and_then(|value| value.get(name)).filter(|value| value.kind() != Kind::Null);
        let marked = property.get("x-mcp-header").and_then(Json::string);
        if let Some(mark) = marked.filter(|_| is_plain(property)) {
            let mut buffer = [0; NAME_SIZE];
            let mut text = [0; NAME_SIZE];
            let Ok(mark) = mark.copy_to(&mut buffer) else { return false };
            let Some(field_name) = field_name(mark, &mut text) else { return false };
            return match (head.field(field_name), value) {
                (None, None) => true,
                (Some(field), Some(value)) => {
                    equals_json(field, value) && !head.fields.is_repeated(field_name)
                }
                _ => false,
            };
        }
        check(property, value, head, depth)
    })
}

fn is_plain(property: Json<'_>) -> bool {
    let kind = property.get("type").and_then(Json::string);
    kind.is_some_and(|kind| kind == "string" || kind == "integer" || kind == "boolean")
}

/// Returns the name of the field in lower case, or `None` if the name is too long.
fn field_name<'t>(mark: &str, text: &'t mut [u8; NAME_SIZE]) -> Option<&'t str> {
    let length = PREFIX.len().saturating_add(mark.len());
    let space = text.get_mut(..length)?;
    for (place, byte) in space.iter_mut().zip(PREFIX.iter().copied().chain(mark.bytes())) {
        *place = byte.to_ascii_lowercase();
    }
    core::str::from_utf8(space).ok()
}
