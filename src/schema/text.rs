//! Writes schemas and error texts at compile time from nodes.
//!
//! The compiler evaluates each text twice: once for the length, and once for the content.

use crate::protocol::objects::tool_headers::invalid_header;
use crate::schema::definitions::Definitions;
use crate::schema::json_text::JsonText;
use crate::schema::node::{Field, Fields, Node, OneOf, Variant};

/// Returns the length of the JSON Schema in bytes.
#[must_use]
pub const fn schema_length(node: &Node) -> usize {
    let mut text = Text::<0>::new(node);
    text.schema(node, ROOT);
    text.json.length
}

/// Returns the JSON Schema as text. The array cuts off a longer schema, and has zeros after a shorter schema.
#[must_use]
pub const fn schema<const LENGTH: usize>(node: &Node) -> [u8; LENGTH] {
    let mut text = Text::new(node);
    text.schema(node, ROOT);
    text.json.bytes
}

/// Returns the length in bytes of the text that [`requirement`] returns.
#[must_use]
pub const fn requirement_length(node: &Node) -> usize {
    let mut text = JsonText::<0>::new();
    text.requirement(node);
    text.length
}

/// Returns the error text for a number, string, array or map that is not within the limits of the node.
///
/// An example is "expected an integer from 0 to 100".
#[must_use]
pub const fn requirement<const LENGTH: usize>(node: &Node) -> [u8; LENGTH] {
    let mut text = JsonText::new();
    text.requirement(node);
    text.bytes
}

/// Converts bytes to text. Returns an empty string if the bytes are not valid UTF-8.
#[must_use]
pub const fn as_text(bytes: &'static [u8]) -> &'static str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// Returns `schema`, the schema of arguments, after a check of its annotations `x-mcp-header`.
///
/// # Panics
/// An annotation `x-mcp-header` is invalid. The panic is a compile error at the derived type.
#[must_use]
#[expect(clippy::panic, reason = "the panic occurs only at compile time")]
pub const fn input_schema(schema: &'static str) -> &'static str {
    match invalid_header(schema) {
        Some(error) => panic!("{}", error.message()),
        None => schema,
    }
}

/// Properties of a schema from outside its node: from the field, the variant, or wrappers such as `Optional`.
#[derive(Clone, Copy)]
struct Context {
    title: Option<&'static str>,
    description: Option<&'static str>,
    /// The name and the value of the tag member.
    tag: Option<(&'static str, &'static str)>,
    default: Option<&'static str>,
    nullable: bool,
    /// The name of the header field that repeats the value.
    header: Option<&'static str>,
    format: Option<&'static str>,
    is_root: bool,
}

const PLAIN: Context = Context {
    title: None,
    description: None,
    tag: None,
    default: None,
    nullable: false,
    header: None,
    format: None,
    is_root: false,
};

const ROOT: Context = Context { is_root: true, ..PLAIN };

/// A writer of one schema.
struct Text<const LENGTH: usize> {
    json: JsonText<LENGTH>,
    definitions: Definitions,
}

impl<const LENGTH: usize> Text<LENGTH> {
    const fn new(root: &Node) -> Self {
        Text { json: JsonText::new(), definitions: Definitions::collect(root) }
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
            Node::Format(name, node) => {
                context.format = Some(*name);
                return self.schema(node, context);
            }
            Node::Recursive(definition) if context.is_root => {
                return self.schema(definition.node, context);
            }
            _ => {}
        }
        // The annotation `x-mcp-header` requires a single type, so the schema omits `null`. The decoder still accepts
        // `null`.
        context.nullable = context.nullable && context.header.is_none();
        self.json.open(b'{');
        self.text_member("title", context.title);
        match node {
            Node::Any => self.description(context.description, node),
            Node::OneOf(one_of) => self.one_of(one_of, context),
            Node::Recursive(definition) => self.reference(definition.name, context),
            Node::Reference(name) => self.reference(name, context),
            _ => self.single(node, context),
        }
        self.raw_member("default", context.default);
        self.text_member("x-mcp-header", context.header);
        if context.is_root {
            self.definitions();
        }
        self.json.close(b'}');
    }

    /// Writes the members of a schema with the member `type`.
    const fn single(&mut self, node: &Node, context: Context) {
        self.json.key("type");
        let name = match node {
            Node::Boolean => "boolean",
            Node::Integer { .. } => "integer",
            Node::Number { .. } => "number",
            Node::Array { .. } | Node::Tuple(_) => "array",
            Node::Object(_) | Node::Map { .. } | Node::OneOf(_) => "object",
            _ => "string",
        };
        if context.nullable {
            self.json.open(b'[');
            self.json.element();
            self.json.string(name);
            self.json.element();
            self.json.string("null");
            self.json.close(b']');
        } else {
            self.json.string(name);
        }
        self.description(context.description, node);
        self.text_member("format", context.format);
        match node {
            Node::Integer { minimum, maximum } => {
                self.json.key("minimum");
                self.json.number(*minimum);
                self.json.key("maximum");
                self.json.number(*maximum);
            }
            Node::Number { minimum, maximum } => {
                self.raw_member("minimum", *minimum);
                self.raw_member("maximum", *maximum);
            }
            Node::String { shortest, longest } => {
                self.bounds("minLength", *shortest, "maxLength", *longest);
            }
            Node::Array { items, fewest, most, unique } => {
                self.json.key("items");
                self.schema(items, PLAIN);
                self.bounds("minItems", *fewest, "maxItems", *most);
                if *unique {
                    self.raw_member("uniqueItems", Some("true"));
                }
            }
            Node::Tuple(elements) => self.elements(elements),
            Node::Map { names, values, fewest, most } => {
                if !names.is_any_string() {
                    self.json.key("propertyNames");
                    self.schema(names, PLAIN);
                }
                self.json.key("additionalProperties");
                self.schema(values, PLAIN);
                self.bounds("minProperties", *fewest, "maxProperties", *most);
            }
            Node::Names(names) => self.names(names.names, context.nullable),
            Node::Object(fields) => self.fields(fields, context.tag),
            _ => {}
        }
    }

    const fn elements(&mut self, elements: &[&Node]) {
        self.json.key("prefixItems");
        self.json.open(b'[');
        let mut rest = elements;
        while let [element, tail @ ..] = rest {
            self.json.element();
            self.schema(element, PLAIN);
            rest = tail;
        }
        self.json.close(b']');
        // Readers of older dialects ignore `prefixItems`, and some of them require `items`.
        self.raw_member("items", Some("{}"));
        self.bounds("minItems", elements.len(), "maxItems", Some(elements.len()));
    }

    const fn raw_member(&mut self, key: &str, json: Option<&str>) {
        if let Some(json) = json {
            self.json.key(key);
            self.json.text(json);
        }
    }

    const fn text_member(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.json.key(key);
            self.json.string(text);
        }
    }

    const fn bounds(&mut self, least_key: &str, least: usize, greatest_key: &str, greatest: Option<usize>) {
        if least > 0 {
            self.json.key(least_key);
            self.json.count(least);
        }
        if let Some(greatest) = greatest {
            self.json.key(greatest_key);
            self.json.count(greatest);
        }
    }

    /// Writes a reference to a recursive type.
    const fn reference(&mut self, name: &str, context: Context) {
        if context.nullable {
            self.json.key("anyOf");
            self.json.open(b'[');
            self.json.element();
            self.json.open(b'{');
            self.pointer(name);
            self.json.close(b'}');
            self.null_element();
            self.json.close(b']');
        } else {
            self.pointer(name);
        }
        self.description(context.description, &Node::Any);
    }

    /// Writes the member `$ref`.
    const fn pointer(&mut self, name: &str) {
        self.json.key("$ref");
        self.json.text("\"#");
        if !self.definitions.is_root(name) {
            self.json.text("/$defs/");
            self.json.escaped(name);
        }
        self.json.text("\"");
    }

    const fn null_element(&mut self) {
        self.json.element();
        self.json.text("{\"type\":\"null\"}");
    }

    /// Writes the member `$defs` with the recursive types below the root, if any.
    const fn definitions(&mut self) {
        let definitions = self.definitions;
        let mut rest = definitions.found();
        if rest.is_empty() {
            return;
        }
        self.json.key("$defs");
        self.json.open(b'{');
        while let [Some(definition), tail @ ..] = rest {
            self.json.key(definition.name);
            self.schema(definition.node, PLAIN);
            rest = tail;
        }
        self.json.close(b'}');
    }

    /// Writes the member `description`: the description, and then a list of the strings of an enumeration that have
    /// descriptions of their own.
    const fn description(&mut self, description: Option<&str>, node: &Node) {
        let mut values: (&[&str], &[&str]) = (&[], &[]);
        if let Node::Names(names) = node {
            values = (names.names, names.descriptions);
        }
        let mut is_open = false;
        if let Some(description) = description {
            self.json.key("description");
            self.json.text("\"");
            self.json.escaped(description);
            is_open = true;
        }
        while let ([name, names @ ..], [description, descriptions @ ..]) = values {
            if !description.is_empty() {
                if is_open {
                    self.json.text("\\n- ");
                } else {
                    self.json.key("description");
                    self.json.text("\"- ");
                }
                self.json.escaped(name);
                self.json.text(": ");
                self.json.escaped(description);
                is_open = true;
            }
            values = (names, descriptions);
        }
        if is_open {
            self.json.text("\"");
        }
    }

    const fn names(&mut self, names: &[&str], nullable: bool) {
        self.json.key("enum");
        self.json.open(b'[');
        let mut rest = names;
        while let [name, tail @ ..] = rest {
            self.json.element();
            self.json.string(name);
            rest = tail;
        }
        if nullable {
            self.json.element();
            self.json.text("null");
        }
        self.json.close(b']');
    }

    const fn fields(&mut self, fields: &Fields, tag: Option<(&str, &str)>) {
        self.json.key("properties");
        self.json.open(b'{');
        if let Some((tag, value)) = tag {
            self.json.key(tag);
            self.json.text("{\"type\":\"string\",\"const\":");
            self.json.string(value);
            self.json.close(b'}');
        }
        let mut rest = fields.fields;
        while let [field, tail @ ..] = rest {
            self.json.key(field.name);
            let Field { title, description, default, .. } = *field;
            self.schema(field.node, Context { title, description, default, ..PLAIN });
            rest = tail;
        }
        self.json.close(b'}');
        self.required(fields, tag);
        if !fields.open {
            self.raw_member("additionalProperties", Some("false"));
        }
    }

    const fn required(&mut self, fields: &Fields, tag: Option<(&str, &str)>) {
        let mut is_open = false;
        if let Some((tag, _)) = tag {
            self.required_name(&mut is_open, tag);
        }
        let mut rest = fields.fields;
        while let [field, tail @ ..] = rest {
            if !field.has_default && !field.node.is_optional() {
                self.required_name(&mut is_open, field.name);
            }
            rest = tail;
        }
        if is_open {
            self.json.close(b']');
        }
    }

    const fn required_name(&mut self, is_open: &mut bool, name: &str) {
        if !*is_open {
            self.json.key("required");
            self.json.open(b'[');
        }
        self.json.element();
        self.json.string(name);
        *is_open = true;
    }

    const fn one_of(&mut self, one_of: &OneOf, context: Context) {
        // Also write the type outside `oneOf`, for readers that ignore `oneOf`.
        self.single(&Node::OneOf(&OneOf { tag: "", variants: &[] }), context);
        self.json.key("oneOf");
        self.json.open(b'[');
        let mut rest = one_of.variants;
        while let [variant, tail @ ..] = rest {
            let Variant { name, description, fields } = *variant;
            self.json.element();
            let tag = Some((one_of.tag, name));
            self.schema(&Node::Object(fields), Context { description, tag, ..PLAIN });
            rest = tail;
        }
        if context.nullable {
            self.null_element();
        }
        self.json.close(b']');
    }
}

impl<const LENGTH: usize> JsonText<LENGTH> {
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
                self.bound(" of at least ", *minimum);
                let word = if minimum.is_some() { " and at most " } else { " of at most " };
                return self.bound(word, *maximum);
            }
            Node::Array { .. } => ("an array of ", " elements"),
            Node::Map { .. } => ("an object of ", " members"),
            _ => ("a string of ", " characters"),
        };
        self.text("expected ");
        self.text(singular);
        match node {
            Node::String { shortest, longest: Some(longest) }
            | Node::Array { fewest: shortest, most: Some(longest), .. }
            | Node::Map { fewest: shortest, most: Some(longest), .. } => {
                self.count(*shortest);
                self.text(" to ");
                self.count(*longest);
            }
            Node::String { shortest, .. }
            | Node::Array { fewest: shortest, .. }
            | Node::Map { fewest: shortest, .. } => {
                self.text("at least ");
                self.count(*shortest);
            }
            _ => {}
        }
        self.text(plural);
    }

    const fn bound(&mut self, words: &str, bound: Option<&str>) {
        if let Some(bound) = bound {
            self.text(words);
            self.text(bound);
        }
    }
}
