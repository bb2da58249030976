//! `Mcp-Param-*`: header fields that repeat arguments of a tool (`x-mcp-header`).

use mcp_proto::json::{Json, Kind, Str};

use super::header_value::equals_json;
use super::request::RequestHead;
use crate::bytes::write_at;

const PREFIX: &[u8] = b"mcp-param-";

/// The maximum length of the name of a header field, in bytes. A tool of the core server has marks
/// (`x-mcp-header`) of at most 64 bytes.
const NAME_SIZE: usize = 96;

/// The maximum depth of the properties that the server compares.
const DEPTH: u8 = 16;

/// Returns whether the fields of a call repeat the marked arguments exactly. Returns `true` for a schema that is not
/// JSON.
///
/// A marked argument needs its field, once. A field without an argument contradicts the body. An argument that is
/// `null` counts as absent. A mark on anything but a string, an integer or a boolean has no effect. A mark that is too
/// deep has no effect either. A mark that is too long has no valid field, so the call is refused.
pub(super) fn repeat_arguments(schema: &str, arguments: Option<Json<'_>>, head: &RequestHead<'_>) -> bool {
    Json::parse(schema.as_bytes()).map_or(true, |schema| check(schema, arguments, head, DEPTH))
}

fn check(schema: Json<'_>, value: Option<Json<'_>>, head: &RequestHead<'_>, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let Some(properties) = schema.get("properties") else { return true };
    properties.members().all(|(name, property)| {
        let value = value.and_then(|value| member(value, name)).filter(|value| value.kind() != Kind::Null);
        let marked = property.get("x-mcp-header").and_then(Json::string);
        if let Some(mark) = marked.filter(|_| is_plain(property)) {
            let mut text = [0; NAME_SIZE];
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

/// Returns the member of an object with this name, or `None` without such a member. The last duplicate counts.
fn member<'j>(object: Json<'j>, name: Str<'_>) -> Option<Json<'j>> {
    object.members().filter(|(key, _)| *key == name).last().map(|(_, value)| value)
}

/// Returns the name of the field in lower case, or `None` if the mark is too long.
fn field_name<'t>(mark: Str<'_>, text: &'t mut [u8; NAME_SIZE]) -> Option<&'t str> {
    let start = write_at(text, 0, PREFIX)?;
    let end = start.saturating_add(mark.copy_to(text.get_mut(start..)?).ok()?.len());
    let name = text.get_mut(..end)?;
    name.make_ascii_lowercase();
    core::str::from_utf8(name).ok()
}
