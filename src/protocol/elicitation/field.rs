//! Fields of a form: written for each revision, and viewed.
//!
//! Specification: *Elicitation*, *Requested schema*.
#![allow(clippy::as_conversions, reason = "a signed 64-bit number can hold each unsigned 32-bit number")]

use crate::json::{Decimal, Json, Str, Writer};
use crate::protocol::elicitation::choice::{Choice, ChoiceView, has_titles, write_options};
use crate::protocol::objects::optional_members::write_decimal_member;
use crate::protocol::objects::view::{number, text};
use crate::protocol::revision::{Revision, WireFeature};

/// A field of a [`Form`](super::Form). A field is optional by default: see [`required`](Field::required).
///
/// The written schema omits or replaces the features that a revision lacks. Multiple-choice fields, and defaults other
/// than booleans, exist from `2025-11-25` on. In older revisions, the user of a multiple-choice field chooses only one
/// value.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    name: &'a str,
    kind: Kind<'a>,
    /// Minimum and maximum of the number, of the length of the text, or of the number of chosen values.
    limits: [Option<Decimal>; 2],
    title: Option<&'a str>,
    description: Option<&'a str>,
    required: bool,
    default: Default<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Text { format: Option<&'a str> },
    Number,
    Integer,
    Boolean,
    Choice { options: &'a [Choice<'a>] },
    Choices { options: &'a [Choice<'a>] },
}

#[derive(Debug, Clone, Copy)]
enum Default<'a> {
    None,
    Text(&'a str),
    Number(Decimal),
    Boolean(bool),
    Texts(&'a [&'a str]),
}

impl<'a> Field<'a> {
    const fn new(name: &'a str, kind: Kind<'a>) -> Field<'a> {
        let (limits, title, description) = ([None, None], None, None);
        Field { name, kind, limits, title, description, required: false, default: Default::None }
    }

    #[cfg(feature = "derive")]
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    /// Returns whether the user may choose several values.
    #[cfg(feature = "derive")]
    pub(crate) fn has_choices(&self) -> bool {
        matches!(self.kind, Kind::Choices { .. })
    }

    /// Creates a text field with this format. Returns `None` for a format that the specification does not list.
    #[cfg(feature = "derive")]
    pub(crate) const fn text_with_format(name: &'a str, format: &'a str) -> Option<Field<'a>> {
        match format.as_bytes() {
            b"email" | b"uri" | b"date" | b"date-time" => Some(Field::formatted(name, format)),
            _ => None,
        }
    }

    /// Creates a text field.
    #[must_use]
    pub const fn text(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Text { format: None })
    }

    /// Creates a field for an e-mail address.
    #[must_use]
    pub const fn email(name: &'a str) -> Field<'a> {
        Field::formatted(name, "email")
    }

    /// Creates a field for a URI.
    #[must_use]
    pub const fn uri(name: &'a str) -> Field<'a> {
        Field::formatted(name, "uri")
    }

    /// Creates a field for a date, such as `2026-07-28`.
    #[must_use]
    pub const fn date(name: &'a str) -> Field<'a> {
        Field::formatted(name, "date")
    }

    /// Creates a field for a date with a time, such as `2026-07-28T12:00:00Z`.
    #[must_use]
    pub const fn date_time(name: &'a str) -> Field<'a> {
        Field::formatted(name, "date-time")
    }

    const fn formatted(name: &'a str, format: &'a str) -> Field<'a> {
        Field::new(name, Kind::Text { format: Some(format) })
    }

    /// Creates a field for a number.
    #[must_use]
    pub const fn number(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Number)
    }

    /// Creates a field for an integer.
    #[must_use]
    pub const fn integer(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Integer)
    }

    /// Creates a field for a boolean.
    #[must_use]
    pub const fn boolean(name: &'a str) -> Field<'a> {
        Field::new(name, Kind::Boolean)
    }

    /// Creates a field for one of these values.
    #[must_use]
    pub const fn choice(name: &'a str, options: &'a [Choice<'a>]) -> Field<'a> {
        Field::new(name, Kind::Choice { options })
    }

    /// Creates a field for any number of these values. In revisions before `2025-11-25`, clients respond with only
    /// one value.
    #[must_use]
    pub const fn choices(name: &'a str, options: &'a [Choice<'a>]) -> Field<'a> {
        Field::new(name, Kind::Choices { options })
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

    /// Sets the minimum and maximum length.
    ///
    /// The length of a text is its number of characters. The length of a multiple choice is the number of chosen
    /// values. This setting has no effect on other fields.
    #[must_use]
    pub const fn length(mut self, least: Option<u32>, most: Option<u32>) -> Self {
        if matches!(self.kind, Kind::Text { .. } | Kind::Choices { .. }) {
            self.limits = [count(least), count(most)];
        }
        self
    }

    /// Sets the minimum and maximum of a number. This setting has no effect on other fields.
    #[must_use]
    pub const fn range(mut self, least: Option<Decimal>, greatest: Option<Decimal>) -> Self {
        if matches!(self.kind, Kind::Number | Kind::Integer) {
            self.limits = [least, greatest];
        }
        self
    }

    /// Sets the default of a text or a single choice. This setting has no effect on other fields.
    #[must_use]
    pub const fn default_text(mut self, value: &'a str) -> Self {
        if matches!(self.kind, Kind::Text { .. } | Kind::Choice { .. }) {
            self.default = Default::Text(value);
        }
        self
    }

    /// Sets the default of a number. This setting has no effect on other fields.
    #[must_use]
    pub const fn default_number(mut self, value: Decimal) -> Self {
        if matches!(self.kind, Kind::Number | Kind::Integer) {
            self.default = Default::Number(value);
        }
        self
    }

    /// Sets the default of a boolean. This setting has no effect on other fields.
    #[must_use]
    pub const fn default_boolean(mut self, value: bool) -> Self {
        if matches!(self.kind, Kind::Boolean) {
            self.default = Default::Boolean(value);
        }
        self
    }

    /// Sets the default of a multiple-choice field. This setting has no effect on other fields.
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
            Kind::Choices { .. } if modern => "array",
            Kind::Text { .. } | Kind::Choice { .. } | Kind::Choices { .. } => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
        };
        out.begin_object_at(self.name);
        out.field_string("type", kind);
        out.field_optional("title", self.title);
        out.field_optional("description", self.description);
        match self.kind {
            Kind::Text { format } => {
                out.field_optional("format", format);
                self.write_limits(&["minLength", "maxLength"], out);
            }
            Kind::Number | Kind::Integer => self.write_limits(&["minimum", "maximum"], out),
            Kind::Boolean => {}
            Kind::Choices { options } if modern => {
                self.write_limits(&["minItems", "maxItems"], out);
                out.members(r#""items":{"#);
                if !has_titles(options) {
                    out.members(r#""type":"string""#);
                }
                write_options(options, Some("anyOf"), out);
                out.end_object();
            }
            Kind::Choice { options } | Kind::Choices { options } => {
                write_options(options, modern.then_some("oneOf"), out);
            }
        }
        if modern || matches!(self.default, Default::Boolean(_)) {
            self.default.write(out);
        }
        out.end_object();
    }

    fn write_limits(&self, keys: &[&str; 2], out: &mut Writer<'_>) {
        let ([least_key, most_key], [least, most]) = (keys, self.limits);
        write_decimal_member(least_key, least, out);
        write_decimal_member(most_key, most, out);
    }
}

impl Default<'_> {
    fn write(&self, out: &mut Writer<'_>) {
        if matches!(self, Default::None) {
            return;
        }
        out.key("default");
        match self {
            Default::None => {}
            Default::Text(text) => out.string(text),
            Default::Boolean(value) => out.boolean(*value),
            Default::Number(number) => out.decimal(*number),
            Default::Texts(texts) => {
                out.begin_array();
                texts.iter().for_each(|text| out.string(text));
                out.end_array();
            }
        }
    }
}

/// Converts a limit of a length.
const fn count(limit: Option<u32>) -> Option<Decimal> {
    match limit {
        Some(limit) => Some(Decimal::new(limit as i64, 0)),
        None => None,
    }
}

/// Writes the JSON Schema of a form with these fields. Returns `false` if two fields have the same name.
pub(super) fn write_schema(fields: &[Field<'_>], revision: Revision, out: &mut Writer<'_>) -> bool {
    out.members(r#"{"type":"object","properties":{"#);
    for field in fields {
        field.write(revision, out);
    }
    out.end_object();
    if fields.iter().any(|field| field.required) {
        out.members(r#""required":["#);
        fields.iter().filter(|field| field.required).for_each(|field| out.string(field.name));
        out.end_array();
    }
    out.end_object();
    has_unique_names(fields)
}

fn has_unique_names(fields: &[Field<'_>]) -> bool {
    let mut rest = fields;
    while let [field, others @ ..] = rest {
        if others.iter().any(|other| other.name == field.name) {
            return false;
        }
        rest = others;
    }
    true
}

/// A field of a form.
#[derive(Debug, Clone, Copy)]
pub struct FieldView<'a> {
    pub(super) name: Str<'a>,
    pub(super) schema: Json<'a>,
    pub(super) required: Option<Json<'a>>,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldKind {
    /// A string. [`FieldView::format`] may restrict its content.
    Text,
    /// A number.
    Number,
    /// An integer.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// One of the [`choices`](FieldView::choices).
    Choice,
    /// Any number of the [`choices`](FieldView::choices).
    Choices,
    /// A missing type, or a type that the specification does not define.
    Other,
}

impl<'a> FieldView<'a> {
    /// Returns the name of the field in the response.
    #[must_use]
    pub fn name(&self) -> Str<'a> {
        self.name
    }

    /// Returns the display name: the title, or the name if there is no title.
    #[must_use]
    pub fn title(&self) -> Str<'a> {
        text(self.schema, "title").unwrap_or(self.name)
    }

    /// Returns the description of the field.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.schema, "description")
    }

    /// Returns whether the response must contain the field.
    #[must_use]
    pub fn is_required(&self) -> bool {
        let required = self.required.unwrap_or(Json::NULL);
        required.elements().filter_map(Json::string).any(|name| name == self.name)
    }

    /// Returns the type of the field.
    #[must_use]
    pub fn kind(&self) -> FieldKind {
        let [kind, list, titled] = self.schema.pick(["type", "enum", "oneOf"]);
        let Some(kind) = kind.and_then(Json::string) else { return FieldKind::Other };
        let known = [
            ("string", FieldKind::Text),
            ("number", FieldKind::Number),
            ("integer", FieldKind::Integer),
            ("boolean", FieldKind::Boolean),
            ("array", FieldKind::Choices),
        ];
        match known.into_iter().find(|(name, _)| kind == **name).map(|(_, kind)| kind) {
            Some(FieldKind::Text) if list.or(titled).is_some() => FieldKind::Choice,
            known => known.unwrap_or(FieldKind::Other),
        }
    }

    /// Returns the choices, with their titles. The iterator is empty if the schema has no choices.
    pub fn choices(&self) -> impl Iterator<Item = ChoiceView<'a>> {
        let of_items = self.schema.get("items").filter(|_| self.kind() == FieldKind::Choices);
        let [list, names, one_of, any_of] =
            of_items.unwrap_or(self.schema).pick(["enum", "enumNames", "oneOf", "anyOf"]);
        let mut names = names.unwrap_or(Json::NULL).elements();
        let untitled = list.unwrap_or(Json::NULL).elements().filter_map(move |value| {
            let title = names.next().and_then(Json::string);
            let value = value.string()?;
            Some(ChoiceView { value, title: title.unwrap_or(value) })
        });
        let titled = one_of.or(any_of).unwrap_or(Json::NULL).elements().filter_map(|choice| {
            let [value, title] = choice.pick(["const", "title"]);
            let value = value?.string()?;
            Some(ChoiceView { value, title: title.and_then(Json::string).unwrap_or(value) })
        });
        untitled.chain(titled)
    }

    /// Returns the default value. Returns `None` if the schema has no default, or the default is `null`.
    #[must_use]
    pub fn default(&self) -> Option<Json<'a>> {
        self.schema.get("default").filter(|value| !value.is_null())
    }

    /// Returns the format of a string. The specification defines `email`, `uri`, `date` and `date-time`.
    #[must_use]
    pub fn format(&self) -> Option<Str<'a>> {
        text(self.schema, "format")
    }

    /// Returns the minimum and maximum of a number, of the length of a string in characters, or of the number of chosen
    /// values. `None` means that the schema has no such limit.
    #[must_use]
    pub fn limits(&self) -> (Option<Decimal>, Option<Decimal>) {
        let [least, most] = match self.kind() {
            FieldKind::Number | FieldKind::Integer => ["minimum", "maximum"],
            FieldKind::Choices => ["minItems", "maxItems"],
            _ => ["minLength", "maxLength"],
        };
        (number(self.schema, least), number(self.schema, most))
    }

    /// Returns the whole schema of the field.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.schema
    }
}
