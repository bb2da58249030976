//! Tool parameters that a client repeats as header fields: `x-mcp-header` in input schemas.

use mcp_proto::json::{Json, Kind, Str};
use mcp_proto::{Buffer, InvalidToolHeader};

use crate::http1::syntax;

/// The largest number of annotated parameters of one tool.
const MAX_PARAMETERS: usize = 32;
/// The largest nesting of annotated parameters.
const MAX_DEPTH: usize = 8;
/// The keyword of the annotation.
const KEYWORD: &str = "x-mcp-header";

/// A parameter that is sent as the field `Mcp-Param-NAME`.
#[derive(Debug, Clone, Copy)]
struct Parameter<'s> {
    name: Str<'s>,
    path: Path<'s>,
}

/// The names of the properties that lead to a parameter.
#[derive(Debug, Clone, Copy, Default)]
struct Path<'s> {
    keys: [Option<Str<'s>>; MAX_DEPTH],
}

impl<'s> Path<'s> {
    fn joined(mut self, key: Str<'s>) -> Option<Path<'s>> {
        *self.keys.iter_mut().find(|place| place.is_none())? = Some(key);
        Some(self)
    }
}

/// The annotated parameters of one schema.
struct Parameters<'s> {
    found: [Option<Parameter<'s>>; MAX_PARAMETERS],
}

impl<'s> Parameters<'s> {
    /// Finds the annotated parameters of an input schema. Fails with the first rule that the schema breaks.
    fn from_schema(schema: Json<'s>) -> Result<Parameters<'s>, InvalidToolHeader> {
        let mut parameters = Parameters { found: [None; MAX_PARAMETERS] };
        parameters.read_object(schema, Path::default())?;
        Ok(parameters)
    }

    fn iter(&self) -> impl Iterator<Item = &Parameter<'s>> {
        self.found.iter().flatten()
    }

    /// Adds the annotated parameters of the schema at `path`. Fails with the first rule that the schema breaks.
    fn read_object(&mut self, schema: Json<'s>, path: Path<'s>) -> Result<(), InvalidToolHeader> {
        for (keyword, value) in schema.members() {
            if keyword == "properties" {
                for (key, property) in value.members() {
                    let path = path.joined(key);
                    self.read_property(property, path)?;
                }
            } else if keyword != KEYWORD {
                refuse_in_keyword(keyword, value)?;
            }
        }
        Ok(())
    }

    fn read_property(&mut self, schema: Json<'s>, path: Option<Path<'s>>) -> Result<(), InvalidToolHeader> {
        let annotation = schema.get(KEYWORD);
        let Some(path) = path else {
            return refuse_annotations(schema, false).map_err(|_| InvalidToolHeader::TooMany);
        };
        if let Some(name) = annotation {
            self.add(name, schema, path)?;
        }
        self.read_object(schema, path)
    }

    fn add(&mut self, name: Json<'s>, schema: Json<'s>, path: Path<'s>) -> Result<(), InvalidToolHeader> {
        let name = name.string().filter(|name| is_token(*name)).ok_or(InvalidToolHeader::Name)?;
        let kind = schema.get("type").and_then(Json::string);
        if !kind.is_some_and(|kind| ["string", "integer", "boolean"].iter().any(|it| kind == **it)) {
            return Err(InvalidToolHeader::Type);
        }
        if self.iter().any(|other| equals_ignoring_case(other.name, name)) {
            return Err(InvalidToolHeader::Duplicate);
        }
        let place = self.found.iter_mut().find(|place| place.is_none()).ok_or(InvalidToolHeader::TooMany)?;
        *place = Some(Parameter { name, path });
        Ok(())
    }
}

/// Fails if a schema, or a list or map of schemas, has an annotation. `is_map` means that `part` is a map of schemas,
/// whose member names are not keywords.
fn refuse_annotations(part: Json<'_>, is_map: bool) -> Result<(), InvalidToolHeader> {
    match part.kind() {
        Kind::Object if is_map => {
            part.members().try_for_each(|(_, schema)| refuse_annotations(schema, false))
        }
        Kind::Object => part.members().try_for_each(|(keyword, value)| {
            if keyword == KEYWORD {
                return Err(InvalidToolHeader::Unreachable);
            }
            refuse_in_keyword(keyword, value)
        }),
        Kind::Array => part.elements().try_for_each(|element| refuse_annotations(element, false)),
        _ => Ok(()),
    }
}

/// Fails if the value of a keyword has an annotation.
fn refuse_in_keyword(keyword: Str<'_>, value: Json<'_>) -> Result<(), InvalidToolHeader> {
    let is_one_of = |names: &[&str]| names.iter().any(|name| keyword == **name);
    // These keywords contain values, not schemas.
    if is_one_of(&["const", "default", "enum", "examples"]) {
        return Ok(());
    }
    refuse_annotations(value, is_one_of(&["properties", "patternProperties", "$defs", "definitions"]))
}

/// Returns whether the text is a token of RFC 9110, section 5.6.2.
fn is_token(text: Str<'_>) -> bool {
    !text.is_empty() && text.chars().all(|character| u8::try_from(character).is_ok_and(syntax::is_token))
}

fn equals_ignoring_case(one: Str<'_>, other: Str<'_>) -> bool {
    one.chars().map(|it| it.to_ascii_lowercase()).eq(other.chars().map(|it| it.to_ascii_lowercase()))
}

/// Checks the annotations in the input schema of a tool.
///
/// A client over HTTP must leave out a tool with an invalid annotation when it lists tools for its user. See the
/// specification of 2026-07-28, section "Custom Headers from Tool Parameters" of the Streamable HTTP transport.
///
/// # Errors
///
/// Returns the first rule that the schema breaks.
pub fn check_tool_headers(schema: Json<'_>) -> Result<(), InvalidToolHeader> {
    Parameters::from_schema(schema).map(drop)
}

/// The annotated parameters of the tools of a server, in a buffer.
///
/// Each annotated parameter has a record: the name of the tool, the name of the header without `Mcp-Param-`, and the
/// path to the parameter. The two bytes before each part contain its length.
#[derive(Debug)]
pub(super) struct ToolHeaders<'b> {
    buffer: Buffer<'b>,
    length: usize,
}

impl<'b> ToolHeaders<'b> {
    pub(super) fn new(buffer: Buffer<'b>) -> ToolHeaders<'b> {
        ToolHeaders { buffer, length: 0 }
    }

    /// Removes all tools.
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Adds the tools of one page of a list. Leaves out tools that have a record already, tools with an invalid
    /// annotation, and tools that do not fit.
    pub(super) fn add_page(&mut self, result: Json<'_>) {
        let Some(tools) = result.get("tools") else { return };
        for tool in tools.elements() {
            if let Some(name) = tool.get("name").and_then(Json::string)
                && let Some(schema) = tool.get("inputSchema")
                && let Ok(parameters) = Parameters::from_schema(schema)
                && !self.contains(name)
            {
                let before = self.length;
                if parameters.iter().try_for_each(|parameter| self.add(name, parameter)).is_none() {
                    self.length = before;
                }
            }
        }
    }

    /// Returns whether the tool has a record. Without this check, two concurrent lists would add a tool twice.
    fn contains(&self, tool: Str<'_>) -> bool {
        let mut found = false;
        self.for_each_record(&mut |name, _, _| found |= tool == *name);
        found
    }

    fn add(&mut self, tool: Str<'_>, parameter: &Parameter<'_>) -> Option<()> {
        self.push(tool)?;
        self.push(parameter.name)?;
        parameter.path.keys.iter().flatten().try_for_each(|key| self.push(*key))?;
        // An empty part ends the record. No other part is empty, because `push` refuses empty texts.
        self.push_length(0)
    }

    fn push(&mut self, text: Str<'_>) -> Option<()> {
        let length = text.len();
        self.push_length(u16::try_from(length).ok().filter(|length| *length > 0)?)?;
        let end = self.length.checked_add(length)?;
        text.copy_to(self.buffer.ensure(end)?.get_mut(self.length..)?).ok()?;
        self.length = end;
        Some(())
    }

    fn push_length(&mut self, length: u16) -> Option<()> {
        let end = self.length.checked_add(2)?;
        self.buffer.ensure(end)?.get_mut(self.length..end)?.copy_from_slice(&length.to_le_bytes());
        self.length = end;
        Some(())
    }

    /// Calls `each` with the name of the header and the value of each annotated parameter of a tool. Leaves out
    /// parameters whose value is missing or `null`.
    pub(super) fn for_each<'a>(
        &self,
        tool: Str<'_>,
        arguments: Json<'a>,
        each: &mut dyn FnMut(&str, Json<'a>),
    ) {
        self.for_each_record(&mut |name, header, mut path| {
            if tool == *name {
                let mut value = Some(arguments);
                while let Some(key) = take_part(&mut path) {
                    value = value.and_then(|value| value.get(key));
                }
                if let Some(value) = value.filter(|value| !value.is_null()) {
                    each(header, value);
                }
            }
        });
    }

    /// Calls `each` with the tool, the header and the path of each record.
    fn for_each_record(&self, each: &mut dyn FnMut(&str, &str, &[u8])) {
        let mut rest = self.buffer.bytes().get(..self.length).unwrap_or_default();
        while let Some(name) = take_part(&mut rest)
            && let Some(header) = take_part(&mut rest)
        {
            let path = rest;
            while take_part(&mut rest).is_some() {}
            each(name, header, path);
        }
    }
}

/// Takes a part of a record. Returns `None` at the end of a record or of the table.
fn take_part<'r>(rest: &mut &'r [u8]) -> Option<&'r str> {
    let (length, tail) = rest.split_first_chunk()?;
    let (part, tail) = tail.split_at_checked(u16::from_le_bytes(*length).into())?;
    *rest = tail;
    core::str::from_utf8(part).ok().filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn parsed(text: &str) -> Json<'_> {
        Json::parse(text.as_bytes()).expect("valid JSON")
    }

    #[test]
    fn annotations_are_checked() {
        use InvalidToolHeader::{Duplicate, Name, TooMany, Type, Unreachable};
        let nested = |levels: usize| {
            let mut schema = String::from(r#"{"type":"string","x-mcp-header":"A"}"#);
            for _ in 0..levels {
                schema = format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#);
            }
            schema
        };
        let many: Vec<String> =
            (0..33).map(|n| format!(r#""p{n}":{{"type":"string","x-mcp-header":"H{n}"}}"#)).collect();
        for (schema, expected) in [
            (r#"{"type":"object"}"#, Ok(())),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":"Region"}}}"#, Ok(())),
            (
                r#"{"properties":{"a":{"type":"integer","x-mcp-header":"R"},"b":{"type":"boolean","x-mcp-header":"S"}}}"#,
                Ok(()),
            ),
            (r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#, Ok(())),
            (r#"{"properties":{"a":{"default":{"x-mcp-header":1}}}}"#, Ok(())),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#, Err(Name)),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":5}}}"#, Err(Name)),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#, Err(Name)),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":"a\r\nb"}}}"#, Err(Name)),
            (r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#, Err(Type)),
            (r#"{"properties":{"a":{"x-mcp-header":"A"}}}"#, Err(Type)),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
                Err(Duplicate),
            ),
            (
                r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}"#,
                Err(Unreachable),
            ),
            (r#"{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#, Err(Unreachable)),
            (
                r##"{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}"##,
                Err(Unreachable),
            ),
            (&nested(8), Ok(())),
            (&nested(9), Err(TooMany)),
            (&format!(r#"{{"properties":{{{}}}}}"#, many.join(",")), Err(TooMany)),
            (&format!(r#"{{"properties":{{{}}}}}"#, many[1..].join(",")), Ok(())),
        ] {
            assert_eq!(check_tool_headers(parsed(schema)), expected, "{schema}");
        }
    }

    fn headers_of(table: &ToolHeaders<'_>, tool: &str, arguments: &str) -> Vec<String> {
        let tool = format!(r#""{tool}""#);
        let mut found = Vec::new();
        table.for_each(parsed(&tool).string().expect("a string"), parsed(arguments), &mut |name, value| {
            found.push(format!("{name}: {}", value.raw()));
        });
        found
    }

    #[test]
    fn headers_of_a_call_follow_from_the_listed_tools() {
        let page = r#"{"tools":[
            {"name":"plain","inputSchema":{"type":"object"}},
            {"name":"broken","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}},
            {"name":"query","inputSchema":{"properties":{
                "region":{"type":"string","x-mcp-header":"Region"},
                "page":{"type":"object","properties":{"size":{"type":"integer","x-mcp-header":"Size"}}}}}}]}"#;
        let mut buffer = [0; 128];
        let mut table = ToolHeaders::new((&mut buffer).into());
        table.add_page(parsed(page));
        let arguments = r#"{"region":"eu","page":{"size":7},"a":1}"#;
        assert_eq!(headers_of(&table, "query", arguments), [r#"Region: "eu""#, "Size: 7"]);
        assert_eq!(headers_of(&table, "query", r#"{"region":null,"page":{}}"#), [""; 0]);
        assert_eq!(headers_of(&table, "plain", arguments), [""; 0]);
        assert_eq!(headers_of(&table, "broken", arguments), [""; 0]);
        table.clear();
        assert_eq!(headers_of(&table, "query", arguments), [""; 0]);
    }

    #[test]
    fn tool_that_does_not_fit_is_left_out_whole() {
        let page = r#"{"tools":[
            {"name":"first","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}},
            {"name":"second","inputSchema":{"properties":{
                "a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"B"}}}}]}"#;
        let fits = |size: usize, tool| {
            let mut buffer = std::vec![0; size];
            let mut table = ToolHeaders::new(buffer.as_mut_slice().into());
            table.add_page(parsed(page));
            headers_of(&table, tool, r#"{"a":"x","b":"y"}"#).len()
        };
        for size in 0..80 {
            let (first, second) = (fits(size, "first"), fits(size, "second"));
            assert_eq!(first, usize::from(size >= 15), "{size}");
            assert!(matches!(second, 0 | 2), "{size}: {second}");
        }
        assert_eq!(fits(80, "second"), 2);
    }
}
