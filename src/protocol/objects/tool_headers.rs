//! Annotations `x-mcp-header` in the input schema of a tool, checked at compile time.
//!
//! Specification (`2026-07-28`): *Streamable HTTP*, *Custom Headers from Tool Parameters*.

use crate::error::InvalidToolHeader;
use crate::protocol::objects::const_text::is_same_ignoring_case;
use crate::protocol::objects::schema_reader::SchemaReader;

/// Maximum number of annotations in one schema.
const MOST: usize = 32;
/// Maximum number of properties in the path to an annotation.
const DEEPEST: u8 = 8;
/// Maximum length of the name in an annotation, in bytes.
const LONGEST: usize = 64;

/// Returns the first rule that the annotations of an input schema break, or `None` if the annotations are valid.
///
/// The text must be valid JSON. For any other text, the result is unspecified. The server refuses such a text later.
pub(crate) const fn invalid_header(schema: &str) -> Option<InvalidToolHeader> {
    // Search for an annotation first, with one step per byte. Most schemas have none, and the compiler limits the
    // number of steps.
    let mut rest = schema.as_bytes();
    while let [_, tail @ ..] = rest {
        if let [b'x', b'-', b'm', b'c', b'p', b'-', b'h', b'e', b'a', b'd', b'e', b'r', ..] = rest {
            let mut checker =
                Checker { reader: SchemaReader::new(schema), names: [&[]; MOST], invalid: None };
            checker.value(Part::Schema(Some(0)));
            return checker.invalid;
        }
        rest = tail;
    }
    None
}

/// The meaning of a value in a schema.
#[derive(Clone, Copy)]
enum Part {
    /// Data, such as a default.
    Data,
    /// A schema, with the depth of its values in the arguments. `None` if the path of these values is not fixed.
    Schema(Option<u8>),
    /// Schemas by name, with the depth of the schema that contains them.
    Map(Option<u8>),
}

impl Part {
    const fn member(self, key: &[u8]) -> Part {
        match (self, key) {
            (Part::Data, _) => Part::Data,
            (Part::Map(Some(level)), _) => Part::Schema(Some(level.saturating_add(1))),
            (Part::Map(None), _) => Part::Schema(None),
            (Part::Schema(level), b"properties") => Part::Map(level),
            (_, b"const" | b"default" | b"enum" | b"examples") => Part::Data,
            (_, b"patternProperties" | b"dependentSchemas" | b"$defs" | b"definitions") => Part::Map(None),
            _ => Part::Schema(None),
        }
    }

    const fn element(self) -> Part {
        match self {
            Part::Data => Part::Data,
            _ => Part::Schema(None),
        }
    }
}

struct Checker<'t> {
    reader: SchemaReader<'t>,
    /// The names found so far, followed by empty names.
    names: [&'t [u8]; MOST],
    invalid: Option<InvalidToolHeader>,
}

impl<'t> Checker<'t> {
    const fn value(&mut self, part: Part) {
        self.reader.skip_separators();
        match self.reader.rest {
            [b'"', ..] => {
                self.reader.string();
            }
            [b'{', tail @ ..] => {
                self.reader.rest = tail;
                self.object(part);
            }
            [b'[', tail @ ..] => {
                self.reader.rest = tail;
                while !self.reader.is_end() {
                    self.value(part.element());
                }
            }
            _ => self.reader.word(),
        }
    }

    const fn object(&mut self, part: Part) {
        let mut annotation = None;
        let mut is_plain = false;
        while !self.reader.is_end() {
            let key = self.reader.string();
            self.reader.skip_separators();
            if let Part::Schema(_) = part {
                let before = self.reader.rest;
                match key {
                    b"x-mcp-header" => annotation = Some(self.reader.string()),
                    b"type" => is_plain = matches!(self.reader.string(), b"string" | b"integer" | b"boolean"),
                    _ => {}
                }
                self.reader.rest = before;
            }
            self.value(part.member(key));
        }
        if let (Some(name), Part::Schema(level)) = (annotation, part) {
            self.add(name, is_plain, level);
        }
    }

    const fn add(&mut self, name: &'t [u8], is_plain: bool, level: Option<u8>) {
        let invalid = match level {
            None | Some(0) => InvalidToolHeader::Unreachable,
            _ if !is_token(name) => InvalidToolHeader::Name,
            _ if !is_plain => InvalidToolHeader::Type,
            Some(level) if level > DEEPEST => InvalidToolHeader::TooMany,
            _ => {
                let mut names: &mut [&'t [u8]] = &mut self.names;
                loop {
                    match names {
                        [place, ..] if place.is_empty() => {
                            *place = name;
                            return;
                        }
                        [other, ..] if is_same_ignoring_case(other, name) => {
                            break InvalidToolHeader::Duplicate;
                        }
                        [_, tail @ ..] => names = tail,
                        [] => break InvalidToolHeader::TooMany,
                    }
                }
            }
        };
        if self.invalid.is_none() {
            self.invalid = Some(invalid);
        }
    }
}

/// Returns whether the text is a token of RFC 9110, section 5.6.2, with at most `LONGEST` bytes.
const fn is_token(text: &[u8]) -> bool {
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        if !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
        {
            return false;
        }
        rest = tail;
    }
    !text.is_empty() && text.len() <= LONGEST
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::InvalidToolHeader::{Duplicate, Name, TooMany, Type, Unreachable};
    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    // E-X12
    #[test]
    fn invalid_header_annotation_is_reported() {
        let with = |schema: &str| format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#);
        let named = |name: &str| with(&format!(r#"{{"type":"string","x-mcp-header":"{name}"}}"#));
        let nested = |depth: usize| {
            (0..depth).fold(String::from(r#"{"x-mcp-header":"A","type":"string"}"#), |inner, _| {
                format!(r#"{{"properties":{{"p":{inner}}}}}"#)
            })
        };
        let many = |count: u32| {
            let one = |n| format!(r#""p{n}":{{"type":"string","x-mcp-header":"H{n}"}}"#);
            format!(r#"{{"properties":{{{}}}}}"#, (0..count).map(one).collect::<Vec<_>>().join(","))
        };
        let annotated = r#"{"type":"string","x-mcp-header":"A"}"#;
        for (schema, expected) in [
            (String::from("{}"), None),
            (String::from(r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#), None),
            (with(r#"{"default":{"x-mcp-header":1}}"#), None),
            (with(r#"{"const":{"x-mcp-header":""},"enum":[{"x-mcp-header":""}]}"#), None),
            (with(r#"{ "x-mcp-header" : "R" , "minimum" : -1.5e3 , "type" : "integer" }"#), None),
            (with(r#"{"type":"boolean","description":"\"x-mcp-header\\","x-mcp-header":"R"}"#), None),
            (named("!#$%&'*+-.^_`|~09azAZ"), None),
            (named(&"n".repeat(64)), None),
            (named(&"n".repeat(65)), Some(Name)),
            (named(""), Some(Name)),
            (named("a b"), Some(Name)),
            (named("a:b"), Some(Name)),
            (named("a\\nb"), Some(Name)),
            (named("ä"), Some(Name)),
            (with(r#"{"type":"string","x-mcp-header":5}"#), Some(Name)),
            (with(r#"{"type":"string","x-mcp-header":{"x-mcp-header":"R"}}"#), Some(Unreachable)),
            (with(r#"{"x-mcp-header":"A"}"#), Some(Type)),
            (with(r#"{"type":"number","x-mcp-header":"A"}"#), Some(Type)),
            (with(r#"{"type":["string","null"],"x-mcp-header":"A"}"#), Some(Type)),
            (with(&format!(r#"{annotated},"b":{{"type":"integer","x-mcp-header":"a"}}"#)), Some(Duplicate)),
            (with(&format!(r#"{annotated},"b":{{"properties":{{"a":{annotated}}}}}"#)), Some(Duplicate)),
            (String::from(annotated), Some(Unreachable)),
            (with(&format!(r#"{{"type":"array","items":{annotated}}}"#)), Some(Unreachable)),
            (with(&format!(r#"{{"anyOf":[true,{annotated}]}}"#)), Some(Unreachable)),
            (format!(r#"{{"oneOf":[{}]}}"#, with(annotated)), Some(Unreachable)),
            (format!(r#"{{"$defs":{{"a":{annotated}}}}}"#), Some(Unreachable)),
            (format!(r#"{{"if":{{"properties":{{"default":{annotated}}}}}}}"#), Some(Unreachable)),
            (nested(8), None),
            (nested(9), Some(TooMany)),
            (many(32), None),
            (many(33), Some(TooMany)),
        ] {
            assert_eq!(invalid_header(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn text_that_is_not_json_ends_the_check() {
        let schema =
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A","enum":["\"",{"b":[1,true]}]}}}"#;
        for cut in 0..schema.len() {
            invalid_header(&schema[..cut]);
            invalid_header(&schema[cut..]);
            invalid_header(&schema.replacen(|it| "{}[]\":,".contains(it), "", cut));
            invalid_header(&schema.replacen(':', "\u{1}", cut));
        }
    }
}
