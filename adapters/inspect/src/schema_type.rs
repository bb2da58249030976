//! The JSON type of a property, from its schema.

use mcp_proto::json::{Json, Kind};

/// The maximum nesting depth of references and alternatives. The depth needs a limit, because a schema may refer to
/// itself.
const MAX_DEPTH: usize = 8;

/// Returns the allowed types, joined by ` or `: for example `integer`, or `object or null`. Returns `any` if the schema
/// declares no type.
pub(crate) fn type_name(root: Json<'_>, schema: Json<'_>) -> String {
    let mut names = Vec::new();
    collect(root, schema, 0, &mut names);
    if names.is_empty() { "any".into() } else { names.join(" or ") }
}

fn collect(root: Json<'_>, schema: Json<'_>, depth: usize, names: &mut Vec<String>) {
    let mut add = |name: String| {
        if !names.contains(&name) {
            names.push(name);
        }
    };
    if let Some(declared) = schema.get("type") {
        match declared.string() {
            Some(name) => add(name.to_string()),
            None => declared.elements().filter_map(Json::string).for_each(|name| add(name.to_string())),
        }
        return;
    }
    if let Some(value) = schema.get("const") {
        return add(kind_name(value));
    }
    if let Some(values) = schema.get("enum") {
        return values.elements().for_each(|value| add(kind_name(value)));
    }
    if depth == MAX_DEPTH {
        return;
    }
    for keyword in ["anyOf", "oneOf"] {
        let alternatives = schema.get(keyword).unwrap_or(Json::NULL);
        alternatives.elements().for_each(|schema| collect(root, schema, depth + 1, names));
    }
    if let Some(target) = schema.get("$ref").and_then(|reference| resolve(root, reference)) {
        collect(root, target, depth + 1, names);
    }
}

/// Resolves a reference such as `#/$defs/Color`. Returns `None` if the reference is not local or has no target.
fn resolve<'j>(root: Json<'j>, reference: Json<'_>) -> Option<Json<'j>> {
    let reference = reference.string()?.to_string();
    let path = reference.strip_prefix("#/")?;
    path.split('/').try_fold(root, |schema, name| schema.get(name))
}

fn kind_name(value: Json<'_>) -> String {
    let name = match value.kind() {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    };
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_of_a_property_gives_its_type() {
        let cases = [
            (r#"{"type":"integer"}"#, "integer"),
            (r#"{"type":["object","null"]}"#, "object or null"),
            (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, "string or null"),
            (r#"{"oneOf":[{"type":"array"},{"type":["array","string"]}]}"#, "array or string"),
            (r##"{"$ref":"#/$defs/Color"}"##, "string"),
            (r##"{"anyOf":[{"$ref":"#/$defs/Color"},{"type":"null"}]}"##, "string or null"),
            (r##"{"$ref":"#/$defs/Loop"}"##, "any"),
            (r##"{"$ref":"#/$defs/Missing"}"##, "any"),
            (r#"{"$ref":"https://example.com/schema"}"#, "any"),
            (r#"{"enum":["a","b",1,null]}"#, "string or number or null"),
            (r#"{"const":true}"#, "boolean"),
            (r#"{"type":[]}"#, "any"),
            (r#"{"description":"free"}"#, "any"),
            ("true", "any"),
        ];
        let root = r##"{"$defs":{"Color":{"enum":["red","green"]},"Loop":{"$ref":"#/$defs/Loop"}}}"##;
        let root = Json::parse(root.as_bytes()).unwrap();
        for (schema, expected) in cases {
            let parsed = Json::parse(schema.as_bytes()).unwrap();
            assert_eq!(type_name(root, parsed), expected, "{schema}");
        }
    }
}
