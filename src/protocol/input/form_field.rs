//! The fields of a form: the flat schema that elicitation allows, as each revision knows it.
//!
//! Specification: *Elicitation*, *Requested schema*.

use crate::json::{Decimal, Writer};
use crate::protocol::revision::Revision;

/// A field of a [`Form`](super::Form). Optional, unless it is [`required`](Field::required).
///
/// What a revision does not know is left out, or said in its own way: defaults of anything but a boolean are known from
/// `2025-11-25` on, and so are fields with several choices, of which older clients let the user pick one.
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

/// One of the values of a field, with a title for people.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    value: &'a str,
    title: Option<&'a str>,
}

impl<'a> Choice<'a> {
    /// A value that is its own title.
    #[must_use]
    pub const fn new(value: &'a str) -> Choice<'a> {
        Choice { value, title: None }
    }

    /// What people see for it.
    #[must_use]
    pub const fn title(mut self, title: &'a str) -> Self {
        self.title = Some(title);
        self
    }

    fn shown(&self) -> &'a str {
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

    /// A text.
    #[must_use]
    pub const fn text(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Text { format: None, length: [None, None] })
    }

    /// An e-mail address.
    #[must_use]
    pub const fn email(name: &'a str) -> Field<'a> {
        Field::formatted(name, "email")
    }

    /// A URI.
    #[must_use]
    pub const fn uri(name: &'a str) -> Field<'a> {
        Field::formatted(name, "uri")
    }

    /// A date: `2026-07-28`.
    #[must_use]
    pub const fn date(name: &'a str) -> Field<'a> {
        Field::formatted(name, "date")
    }

    /// A date with a time: `2026-07-28T12:00:00Z`.
    #[must_use]
    pub const fn date_time(name: &'a str) -> Field<'a> {
        Field::formatted(name, "date-time")
    }

    const fn formatted(name: &'a str, format: &'a str) -> Field<'a> {
        Field::new(name, Kind::Text { format: Some(format), length: [None, None] })
    }

    /// A number.
    #[must_use]
    pub const fn number(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Number { integer: false, bounds: [None, None] })
    }

    /// A whole number.
    #[must_use]
    pub const fn integer(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Number { integer: true, bounds: [None, None] })
    }

    /// Yes or no.
    #[must_use]
    pub const fn boolean(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Boolean)
    }

    /// One of these values.
    #[must_use]
    pub const fn choice(name: &'a str, options: &'a [Choice<'a>]) -> Field<'a> {
        Field::new(name, Kind::Choice { options })
    }

    /// Any of these values: a list of them. Clients before `2025-11-25` answer with one.
    #[must_use]
    pub const fn choices(name: &'a str, options: &'a [Choice<'a>]) -> Field<'a> {
        Field::new(name, Kind::Choices { options, count: [None, None] })
    }

    /// The user has to fill it in.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// What people see as its name.
    #[must_use]
    pub const fn title(mut self, title: &'a str) -> Self {
        self.title = Some(title);
        self
    }

    /// What it is about.
    #[must_use]
    pub const fn description(mut self, text: &'a str) -> Self {
        self.description = Some(text);
        self
    }

    /// The least and the most: characters of a text, or values that may be chosen. Other fields have none.
    #[must_use]
    pub const fn length(mut self, least: Option<u32>, most: Option<u32>) -> Self {
        match &mut self.kind {
            Kind::Text { length, .. } => *length = [least, most],
            Kind::Choices { count, .. } => *count = [least, most],
            _ => {}
        }
        self
    }

    /// The least and the greatest value of a number. Other fields have none.
    #[must_use]
    pub const fn range(mut self, least: Option<Decimal>, greatest: Option<Decimal>) -> Self {
        if let Kind::Number { bounds, .. } = &mut self.kind {
            *bounds = [least, greatest];
        }
        self
    }

    /// What a text or a choice is if the user does not change it. Other fields have no such default.
    #[must_use]
    pub const fn default_text(mut self, value: &'a str) -> Self {
        if matches!(self.kind, Kind::Text { .. } | Kind::Choice { .. }) {
            self.default = Default::Text(value);
        }
        self
    }

    /// What a number is if the user does not change it. Other fields have no such default.
    #[must_use]
    pub const fn default_number(mut self, value: Decimal) -> Self {
        if matches!(self.kind, Kind::Number { .. }) {
            self.default = Default::Number(value);
        }
        self
    }

    /// Whether it is yes if the user does not change it. Other fields have no such default.
    #[must_use]
    pub const fn default_boolean(mut self, value: bool) -> Self {
        if matches!(self.kind, Kind::Boolean) {
            self.default = Default::Boolean(value);
        }
        self
    }

    /// Which of several values are chosen if the user does not change it. Other fields have no such default.
    #[must_use]
    pub const fn default_choices(mut self, values: &'a [&'a str]) -> Self {
        if matches!(self.kind, Kind::Choices { .. }) {
            self.default = Default::Texts(values);
        }
        self
    }

    fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        let modern = revision >= Revision::V2025_11_25;
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

/// The values alone, or under `titled` with their titles.
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
        out.field_string("title", option.shown());
        out.end_object();
    }
    out.end_array();
}

/// As `2025-06-18` has it: the titles are a list of their own.
fn write_older_options(options: &[Choice<'_>], out: &mut Writer<'_>) {
    out.key("enum");
    write_texts(options.iter().map(|option| option.value), out);
    if has_titles(options) {
        out.key("enumNames");
        write_texts(options.iter().map(Choice::shown), out);
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

/// The schema of a form: an object.
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
