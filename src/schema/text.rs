//! Writes schemas and error texts at compile time from nodes.
//!
//! The compiler evaluates each text twice: once for the length, and once for the content.
#![allow(clippy::as_conversions, reason = "evaluated only at compile time, and `From` is not constant")]
// The code runs only at compile time, so an invalid index or an overflow is a compile error.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::protocol::objects::tool_headers::invalid_header;
use crate::schema::node::{Field, Fields, Node, OneOf, Variant, Whole};

/// Returns the length of the JSON Schema in bytes.
#[must_use]
pub const fn schema_length(node: &Node) -> usize {
    let mut text = Text { bytes: [], length: 0 };
    text.schema(node, PLAIN);
    text.length
}

/// Writes the JSON Schema.
#[must_use]
pub const fn schema<const LENGTH: usize>(node: &Node) -> [u8; LENGTH] {
    let mut text = Text { bytes: [0; LENGTH], length: 0 };
    text.schema(node, PLAIN);
    text.bytes
}

/// Returns the length of the requirement in bytes.
#[must_use]
pub const fn requirement_length(node: &Node) -> usize {
    let mut text = Text { bytes: [], length: 0 };
    text.requirement(node);
    text.length
}

/// Writes the requirement of a number, string or array.
///
/// An example is "expected an integer from 0 to 100".
#[must_use]
pub const fn requirement<const LENGTH: usize>(node: &Node) -> [u8; LENGTH] {
    let mut text = Text { bytes: [0; LENGTH], length: 0 };
    text.requirement(node);
    text.bytes
}

/// Converts written bytes to text.
#[must_use]
pub const fn as_text(bytes: &'static [u8]) -> &'static str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// Returns the schema as text.
///
/// # Panics
/// An annotation `x-mcp-header` is invalid. The panic is a compile error at the derived type.
#[must_use]
#[expect(clippy::panic, reason = "the panic occurs only at compile time")]
pub const fn input_schema(bytes: &'static [u8]) -> &'static str {
    let schema = as_text(bytes);
    match invalid_header(schema) {
        Some(error) => panic!("{}", error.message()),
        None => schema,
    }
}

/// Properties that depend on a value's use, not on its type.
#[derive(Clone, Copy)]
struct Context {
    description: Option<&'static str>,
    /// The name and the value of the tag member.
    tag: Option<(&'static str, &'static str)>,
    default: Option<&'static str>,
    nullable: bool,
    /// The name of the header field that repeats the value.
    header: Option<&'static str>,
}

const PLAIN: Context = Context { description: None, tag: None, default: None, nullable: false, header: None };

/// A text buffer. A buffer of length zero only counts bytes.
struct Text<const LENGTH: usize> {
    bytes: [u8; LENGTH],
    length: usize,
}

impl<const LENGTH: usize> Text<LENGTH> {
    const fn byte(&mut self, byte: u8) {
        if LENGTH > 0 {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    const fn text(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while let [byte, tail @ ..] = rest {
            self.byte(*byte);
            rest = tail;
        }
    }

    const fn number(&mut self, number: Whole) {
        if number.is_negative() {
            self.byte(b'-');
        }
        let magnitude = number.magnitude();
        let mut unit = 1;
        while magnitude / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            self.byte(b'0' + (magnitude / unit % 10) as u8);
            unit /= 10;
        }
    }

    const fn count(&mut self, count: usize) {
        self.number(Whole::positive(count as u128));
    }

    /// Writes text with JSON escapes, without quotes.
    const fn escaped(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while let [byte, tail @ ..] = rest {
            match *byte {
                b'"' | b'\\' => {
                    self.byte(b'\\');
                    self.byte(*byte);
                }
                b'\n' => self.text("\\n"),
                b'\r' => self.text("\\r"),
                b'\t' => self.text("\\t"),
                0..=0x1F => {
                    self.text("\\u00");
                    self.byte(b'0' + (*byte >> 4));
                    self.byte(b"0123456789abcdef"[(*byte & 0x0F) as usize]);
                }
                _ => self.byte(*byte),
            }
            rest = tail;
        }
    }

    const fn string(&mut self, text: &str) {
        self.byte(b'"');
        self.escaped(text);
        self.byte(b'"');
    }

    const fn schema(&mut self, node: &Node, mut context: Context) {
        match node {
            Node::Described(description, node) => {
                if context.description.is_none() {
                    context.description = Some(*description);
                }
                return self.schema(node, context);
            }
            Node::Optional(node) => {
                context.nullable = true;
                return self.schema(node, context);
            }
            Node::Header(name, node) => {
                context.header = Some(*name);
                return self.schema(node, context);
            }
            _ => {}
        }
        // An annotation requires a single type. The decoder accepts `null` nevertheless.
        context.nullable = context.nullable && context.header.is_none();
        self.byte(b'{');
        match node {
            Node::OneOf(one_of) => self.one_of(one_of, context),
            _ => self.single(node, context),
        }
        if let Some(default) = context.default {
            self.text(",\"default\":");
            self.text(default);
        }
        if let Some(header) = context.header {
            self.text(",\"x-mcp-header\":");
            self.string(header);
        }
        self.byte(b'}');
    }

    /// Writes the members of a schema with the member `type`.
    const fn single(&mut self, node: &Node, context: Context) {
        self.text("\"type\":");
        let name = match node {
            Node::Boolean => "\"boolean\"",
            Node::Integer { .. } => "\"integer\"",
            Node::Number { .. } => "\"number\"",
            Node::Array { .. } => "\"array\"",
            Node::Object(_) | Node::OneOf(_) => "\"object\"",
            _ => "\"string\"",
        };
        if context.nullable {
            self.byte(b'[');
            self.text(name);
            self.text(",\"null\"]");
        } else {
            self.text(name);
        }
        self.description(context.description, node);
        match node {
            Node::Integer { minimum, maximum } => {
                self.text(",\"minimum\":");
                self.number(*minimum);
                self.text(",\"maximum\":");
                self.number(*maximum);
            }
            Node::Number { minimum, maximum } => {
                self.member(",\"minimum\":", *minimum);
                self.member(",\"maximum\":", *maximum);
            }
            Node::String { shortest, longest } => {
                self.bounds(",\"minLength\":", *shortest, ",\"maxLength\":", *longest);
            }
            Node::Array { items, fewest, most } => {
                self.text(",\"items\":");
                self.schema(items, PLAIN);
                self.bounds(",\"minItems\":", *fewest, ",\"maxItems\":", *most);
            }
            Node::Names(names) => self.names(names.names, context.nullable),
            Node::Object(fields) => self.fields(fields, context.tag),
            _ => {}
        }
    }

    const fn member(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key);
            self.text(value);
        }
    }

    const fn bounds(&mut self, least_key: &str, least: usize, greatest_key: &str, greatest: Option<usize>) {
        if least > 0 {
            self.text(least_key);
            self.count(least);
        }
        if let Some(greatest) = greatest {
            self.text(greatest_key);
            self.count(greatest);
        }
    }

    /// Writes the description, followed by a list of names with their descriptions.
    const fn description(&mut self, description: Option<&str>, node: &Node) {
        let mut meant: (&[&str], &[&str]) = (&[], &[]);
        if let Node::Names(names) = node {
            meant = (names.names, names.descriptions);
        }
        let mut some = false;
        if let Some(description) = description {
            self.text(",\"description\":\"");
            self.escaped(description);
            some = true;
        }
        while let ([name, names @ ..], [description, descriptions @ ..]) = meant {
            if !description.is_empty() {
                self.text(if some { "\\n- " } else { ",\"description\":\"- " });
                self.escaped(name);
                self.text(": ");
                self.escaped(description);
                some = true;
            }
            meant = (names, descriptions);
        }
        if some {
            self.byte(b'"');
        }
    }

    const fn names(&mut self, names: &[&str], nullable: bool) {
        self.text(",\"enum\":");
        let mut before = b'[';
        let mut rest = names;
        while let [name, tail @ ..] = rest {
            self.byte(before);
            self.string(name);
            before = b',';
            rest = tail;
        }
        self.text(if nullable { ",null]" } else { "]" });
    }

    const fn fields(&mut self, fields: &Fields, tag: Option<(&str, &str)>) {
        self.text(",\"properties\":{");
        let mut some = false;
        if let Some((tag, value)) = tag {
            self.string(tag);
            self.text(":{\"type\":\"string\",\"const\":");
            self.string(value);
            self.byte(b'}');
            some = true;
        }
        let mut rest = fields.fields;
        while let [field, tail @ ..] = rest {
            if some {
                self.byte(b',');
            }
            self.string(field.name);
            self.byte(b':');
            let Field { description, default, .. } = *field;
            self.schema(field.node, Context { description, default, ..PLAIN });
            some = true;
            rest = tail;
        }
        self.byte(b'}');
        self.required(fields, tag);
        if !fields.open {
            self.text(",\"additionalProperties\":false");
        }
    }

    const fn required(&mut self, fields: &Fields, tag: Option<(&str, &str)>) {
        let mut some = false;
        if let Some((tag, _)) = tag {
            self.text(",\"required\":[");
            self.string(tag);
            some = true;
        }
        let mut rest = fields.fields;
        while let [field, tail @ ..] = rest {
            if !field.has_default && !field.node.is_optional() {
                self.text(if some { "," } else { ",\"required\":[" });
                self.string(field.name);
                some = true;
            }
            rest = tail;
        }
        if some {
            self.byte(b']');
        }
    }

    const fn one_of(&mut self, one_of: &OneOf, context: Context) {
        // Also write the type outside `oneOf`, for readers that ignore `oneOf`.
        self.single(&Node::OneOf(&OneOf { tag: "", variants: &[] }), context);
        self.text(",\"oneOf\":");
        let mut before = b'[';
        let mut rest = one_of.variants;
        while let [variant, tail @ ..] = rest {
            let Variant { name, description, fields } = *variant;
            self.byte(before);
            let tag = Some((one_of.tag, name));
            self.schema(&Node::Object(fields), Context { description, tag, ..PLAIN });
            before = b',';
            rest = tail;
        }
        self.text(if context.nullable { ",{\"type\":\"null\"}]" } else { "]" });
    }

    const fn requirement(&mut self, node: &Node) {
        let (singular, plural) = match node {
            Node::Integer { minimum, maximum } => {
                self.text("expected an integer from ");
                self.number(*minimum);
                self.text(" to ");
                return self.number(*maximum);
            }
            Node::Number { minimum, maximum } => {
                self.text("expected a number");
                self.member(" of at least ", *minimum);
                let word = if minimum.is_some() { " and at most " } else { " of at most " };
                return self.member(word, *maximum);
            }
            Node::Array { .. } => ("an array of ", " elements"),
            _ => ("a string of ", " characters"),
        };
        self.text("expected ");
        self.text(singular);
        match node {
            Node::String { shortest, longest: Some(longest) }
            | Node::Array { fewest: shortest, most: Some(longest), .. } => {
                self.count(*shortest);
                self.text(" to ");
                self.count(*longest);
            }
            Node::String { shortest, .. } | Node::Array { fewest: shortest, .. } => {
                self.text("at least ");
                self.count(*shortest);
            }
            _ => {}
        }
        self.text(plural);
    }
}
