//! Fields of an elicitation form, and their schema in each revision.
//!
//! Specification: *Elicitation*, *Requested schema*.

use crate::json::{Decimal, Writer};
use crate::protocol::revision::{Revision, WireFeature};

/// A field of a [`Form`](super::Form). Optional by default; see [`required`](Field::required).
///
/// Features that a revision lacks are omitted or replaced. Defaults other than booleans, and fields with several
/// choices, exist from `2025-11-25` on. In older revisions the user picks one of the choices.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    name: &'a str,
    kind: Kind<'a>,
    title: Option<&'a str>,
    description: Option<&'a str>,
    required: bool,
    default: Default<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Text { format: Option<&'a str>, length: [Option<u32>; 2] },
    Number { integer: bool, bounds: [Option<Decimal>; 2] },
    Boolean,
    Choice { options: &'a [Choice<'a>] },
    Choices { options: &'a [Choice<'a>], count: [Option<u32>; 2] },
}

#[derive(Debug, Clone, Copy)]
enum Default<'a> {
    None,
    Text(&'a str),
    Number(Decimal),
    Boolean(bool),
    Texts(&'a [&'a str]),
}

/// A value of a choice field, with an optional title.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    value: &'a str,
    title: Option<&'a str>,
}

impl<'a> Choice<'a> {
    /// Creates a value without a title.
    #[must_use]
    pub const fn new(value: &'a str) -> Choice<'a> {
        Choice { value, title: None }
    }

    /// Sets the title for the user.
    #[must_use]
    pub const fn title(mut self, title: &'a str) -> Self {
        self.title = Some(title);
        self
    }

    fn display_title(&self) -> &'a str {
        self.title.unwrap_or(self.value)
    }
}

impl<'a> Field<'a> {
    const fn new(name: &'a str, kind: Kind<'a>) -> Field<'a> {
        Field { name, kind, title: None, description: None, required: false, default: Default::None }
    }

    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// A text field.
    #[must_use]
    pub const fn text(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Text { format: None, length: [None, None] })
    }

    /// A field for an e-mail address.
    #[must_use]
    pub const fn email(name: &'a str) -> Field<'a> {
        Field::formatted(name, "email")
    }

    /// A field for a URI.
    #[must_use]
    pub const fn uri(name: &'a str) -> Field<'a> {
        Field::formatted(name, "uri")
    }

    /// A field for a date: `2026-07-28`.
    #[must_use]
    pub const fn date(name: &'a str) -> Field<'a> {
        Field::formatted(name, "date")
    }

    /// A field for a date with a time: `2026-07-28T12:00:00Z`.
    #[must_use]
    pub const fn date_time(name: &'a str) -> Field<'a> {
        Field::formatted(name, "date-time")
    }

    const fn formatted(name: &'a str, format: &'a str) -> Field<'a> {
        Field::new(name, Kind::Text { format: Some(format), length: [None, None] })
    }

    /// A field for a number.
    #[must_use]
    pub const fn number(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Number { integer: false, bounds: [None, None] })
    }

    /// A field for an integer.
    #[must_use]
    pub const fn integer(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Number { integer: true, bounds: [None, None] })
    }

    /// A field for a boolean.
    #[must_use]
    pub const fn boolean(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Boolean)
    }

    /// A field for one of these values.
    #[must_use]
    pub const fn choice(name: &'a str, options: &'a [Choice<'a>]) -> Field<'a> {
        Field::new(name, Kind::Choice { options })
    }

    /// A field for any number of these values. Clients before `2025-11-25` answer with one.
    #[must_use]
    pub const fn choices(name: &'a str, options: &'a [Choice<'a>]) -> Field<'a> {
        Field::new(name, Kind::Choices { options, count: [None, None] })
    }

    /// Makes the field required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Sets the title for the user.
    #[must_use]
    pub const fn title(mut self, title: &'a str) -> Self {
        self.title = Some(title);
        self
    }

    /// Sets the description.
    #[must_use]
    pub const fn description(mut self, text: &'a str) -> Self {
        self.description = Some(text);
        self
    }

    /// Sets the minimum and maximum length of a text in characters, or the number of chosen values. No effect on other
    /// fields.
    #[must_use]
    pub const fn length(mut self, least: Option<u32>, most: Option<u32>) -> Self {
        match &mut self.kind {
            Kind::Text { length, .. } => *length = [least, most],
            Kind::Choices { count, .. } => *count = [least, most],
            _ => {}
        }
        self
    }

    /// Sets the minimum and maximum of a number. No effect on other fields.
    #[must_use]
    pub const fn range(mut self, least: Option<Decimal>, greatest: Option<Decimal>) -> Self {
        if let Kind::Number { bounds, .. } = &mut self.kind {
            *bounds = [least, greatest];
        }
        self
    }

    /// Sets the default of a text or a single choice. No effect on other fields.
    #[must_use]
    pub const fn default_text(mut self, value: &'a str) -> Self {
        if matches!(self.kind, Kind::Text { .. } | Kind::Choice { .. }) {
            self.default = Default::Text(value);
        }
        self
    }

    /// Sets the default of a number. No effect on other fields.
    #[must_use]
    pub const fn default_number(mut self, value: Decimal) -> Self {
        if matches!(self.kind, Kind::Number { .. }) {
            self.default = Default::Number(value);
        }
        self
    }

    /// Sets the default of a boolean. No effect on other fields.
    #[must_use]
    pub const fn default_boolean(mut self, value: bool) -> Self {
        if matches!(self.kind, Kind::Boolean) {
            self.default = Default::Boolean(value);
        }
        self
    }

    /// Sets the default of a field with several choices. No effect on other fields.
    #[must_use]
    pub const fn default_choices(mut self, values: &'a [&'a str]) -> Self {
        if matches!(self.kind, Kind::Choices { .. }) {
            self.default = Default::Texts(values);
        }
        self
    }

    fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        let modern = revision.has(WireFeature::FormChoices);
        let kind = match self.kind {
            Kind::Text { .. } | Kind::Choice { .. } => "string",
            Kind::Number { integer: true, .. } => "integer",
            Kind::Number { integer: false, .. } => "number",
            Kind::Boolean => "boolean",
            Kind::Choices { .. } => {
                if modern {
                    "array"
                } else {
                    "string"
                }
            }
        };
        out.key(self.name);
        out.begin_object();
        out.field_string("type", kind);
        for (key, text) in [("title", self.title), ("description", self.description)] {
            if let Some(text) = text {
                out.field_string(key, text);
            }
        }
        match self.kind {
            Kind::Text { format, length } => {
                if let Some(format) = format {
                    out.field_string("format", format);
                }
                write_counts(["minLength", "maxLength"], length, out);
            }
            Kind::Number { bounds, .. } => {
                for (key, bound) in ["minimum", "maximum"].into_iter().zip(bounds) {
                    if let Some(bound) = bound {
                        out.key(key);
                        out.decimal(bound);
                    }
                }
            }
            Kind::Boolean => {}
            Kind::Choices { options, count } if modern => {
                write_counts(["minItems", "maxItems"], count, out);
                out.key("items");
                out.begin_object();
                if !has_titles(options) {
                    out.field_string("type", "string");
                }
                write_options(options, "anyOf", out);
                out.end_object();
            }
            Kind::Choice { options } if modern => write_options(options, "oneOf", out),
            Kind::Choice { options } | Kind::Choices { options, .. } => write_older_options(options, out),
        }
        if modern || matches!(self.default, Default::Boolean(_)) {
            self.default.write(out);
        }
        out.end_object();
    }
}

impl Default<'_> {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            Default::None => {}
            Default::Text(text) => out.field_string("default", text),
            Default::Boolean(value) => out.field_boolean("default", *value),
            Default::Number(number) => {
                out.key("default");
                out.decimal(*number);
            }
            Default::Texts(texts) => {
                out.key("default");
                write_texts(texts.iter().copied(), out);
            }
        }
    }
}

fn has_titles(options: &[Choice<'_>]) -> bool {
    options.iter().any(|option| option.title.is_some())
}

/// Writes the values alone, or under the key `titled` with their titles.
fn write_options(options: &[Choice<'_>], titled: &str, out: &mut Writer<'_>) {
    if !has_titles(options) {
        out.key("enum");
        return write_texts(options.iter().map(|option| option.value), out);
    }
    out.key(titled);
    out.begin_array();
    for option in options {
        out.begin_object();
        out.field_string("const", option.value);
        out.field_string("title", option.display_title());
        out.end_object();
    }
    out.end_array();
}

/// Writes the values as in `2025-06-18`, with the titles in a separate array.
fn write_older_options(options: &[Choice<'_>], out: &mut Writer<'_>) {
    out.key("enum");
    write_texts(options.iter().map(|option| option.value), out);
    if has_titles(options) {
        out.key("enumNames");
        write_texts(options.iter().map(Choice::display_title), out);
    }
}

fn write_texts<'t>(texts: impl Iterator<Item = &'t str>, out: &mut Writer<'_>) {
    out.begin_array();
    texts.for_each(|text| out.string(text));
    out.end_array();
}

fn write_counts(keys: [&str; 2], counts: [Option<u32>; 2], out: &mut Writer<'_>) {
    for (key, count) in keys.into_iter().zip(counts) {
        if let Some(count) = count {
            out.field_integer(key, count.into());
        }
    }
}

/// Writes the schema of a form, an object.
pub(super) fn write_schema(fields: &[Field<'_>], revision: Revision, out: &mut Writer<'_>) {
    out.begin_object();
    out.field_string("type", "object");
    out.key("properties");
    out.begin_object();
    for field in fields {
        field.write(revision, out);
    }
    out.end_object();
    if fields.iter().any(|field| field.required) {
        out.key("required");
        write_texts(fields.iter().filter(|field| field.required).map(|field| field.name), out);
    }
    out.end_object();
}
