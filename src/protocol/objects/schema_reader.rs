//! `SchemaReader`: reads tokens of a JSON Schema, mostly at compile time.

use crate::protocol::objects::const_text::{is_same, split};

/// A reader of valid JSON. For any other text, the results are unspecified. The server refuses such a text later.
#[derive(Clone, Copy)]
pub(super) struct SchemaReader<'t> {
    pub(super) rest: &'t [u8],
}

/// Returns whether the schema of an object has a property with this name and the type `string`.
pub(crate) const fn has_string_property(schema: &str, name: &str) -> bool {
    let mut reader = SchemaReader::new(schema);
    reader.enter(b"properties")
        && reader.enter(name.as_bytes())
        && reader.enter(b"type")
        && is_same(reader.string(), b"string")
}

/// The type that a schema names at its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RootType {
    Missing,
    Object,
    /// Another type, or several types.
    Other,
}

/// Returns the type that the schema names at its root.
pub(super) const fn root_type(schema: &str) -> RootType {
    let mut reader = SchemaReader::new(schema);
    match reader.enter(b"type") {
        false => RootType::Missing,
        true if is_same(reader.string(), b"object") => RootType::Object,
        true => RootType::Other,
    }
}

impl<'t> SchemaReader<'t> {
    pub(super) const fn new(schema: &'t str) -> SchemaReader<'t> {
        SchemaReader { rest: schema.as_bytes() }
    }

    /// Moves to the value of an object's member. Returns `false` if the next value is not an object with this member.
    const fn enter(&mut self, name: &[u8]) -> bool {
        self.skip_separators();
        let [b'{', tail @ ..] = self.rest else { return false };
        self.rest = tail;
        while !self.is_end() {
            let is_found = is_same(self.string(), name);
            self.skip_separators();
            if is_found {
                return true;
            }
            self.skip_value();
        }
        false
    }

    const fn skip_value(&mut self) {
        let mut depth = 0u32;
        loop {
            match self.rest {
                [b'"', ..] => {
                    self.string();
                }
                [b'{' | b'[', tail @ ..] => {
                    self.rest = tail;
                    depth = depth.saturating_add(1);
                }
                [b'}' | b']', tail @ ..] => {
                    self.rest = tail;
                    depth = depth.saturating_sub(1);
                }
                [] => return,
                [_, tail @ ..] => {
                    self.rest = tail;
                    self.word();
                }
            }
            if depth == 0 {
                return;
            }
            self.skip_separators();
        }
    }

    /// Skips a number or a literal.
    pub(super) const fn word(&mut self) {
        while let [b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.', tail @ ..] = self.rest {
            self.rest = tail;
        }
    }

    /// Moves to the next member or element. At the end of the container, moves past the closing bracket and returns
    /// `true`.
    pub(super) const fn is_end(&mut self) -> bool {
        self.skip_separators();
        match self.rest {
            [] => true,
            [b'"' | b'{' | b'[' | b'a'..=b'z' | b'0'..=b'9' | b'-', ..] => false,
            [_, tail @ ..] => {
                self.rest = tail;
                true
            }
        }
    }

    pub(super) const fn skip_separators(&mut self) {
        while let [b' ' | b'\t' | b'\r' | b'\n' | b',' | b':', tail @ ..] = self.rest {
            self.rest = tail;
        }
    }

    /// Consumes a string, and returns its content without decoding escapes. If the next value is not a string, returns
    /// an empty text and consumes nothing.
    pub(super) const fn string(&mut self) -> &'t [u8] {
        let [b'"', text @ ..] = self.rest else { return &[] };
        let mut rest = text;
        loop {
            rest = match rest {
                [b'\\', _, tail @ ..] => tail,
                [b'"', tail @ ..] => {
                    self.rest = tail;
                    break;
                }
                [_, tail @ ..] => tail,
                [] => {
                    self.rest = rest;
                    break;
                }
            };
        }
        let length = text.len().saturating_sub(self.rest.len()).saturating_sub(1);
        split(text, length).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_type_is_that_of_the_outer_object() {
        for (schema, expected) in [
            ("{}", RootType::Missing),
            (r#"{"properties":{"type":{"type":"string"}}}"#, RootType::Missing),
            (r#" { "x" : ["type"], "type" : "object" } "#, RootType::Object),
            (r#"{"type":"array"}"#, RootType::Other),
            (r#"{"type":["object","null"]}"#, RootType::Other),
            ("", RootType::Missing),
        ] {
            assert_eq!(root_type(schema), expected, "{schema}");
        }
    }

    #[test]
    fn property_is_found_by_name_and_type() {
        for (schema, expected) in [
            (r#"{"type":"object","properties":{"data":{"type":"string"}}}"#, true),
            (
                r#" { "properties" : { "at" : { "type" : "integer" } , "data" : { "maxLength" : 9 , "type" : "string" } } } "#,
                true,
            ),
            (
                r#"{"properties":{"at":{"enum":[[1],{"data":{}},"}"],"x":-1.5e3},"data":{"type":"string"}},"required":[]}"#,
                true,
            ),
            (r#"{"properties":{"data":{"type":"integer"}}}"#, false),
            (r#"{"properties":{"data":{"type":["string","null"]}}}"#, false),
            (r#"{"properties":{"data":{}}}"#, false),
            (r#"{"properties":{"data":true}}"#, false),
            (r#"{"properties":{"other":{"properties":{"data":{"type":"string"}}}}}"#, false),
            (r#"{"$defs":{"properties":{"data":{"type":"string"}}}}"#, false),
            (r#"{"properties":[]}"#, false),
            ("{}", false),
            ("", false),
            (r#"{"properties":{"data":{"type":"#, false),
            (r#"{"properties":{"a":?"#, false),
            (r#"{"properties":{"a":[?"#, false),
        ] {
            assert_eq!(has_string_property(schema, "data"), expected, "{schema}");
        }
    }
}
