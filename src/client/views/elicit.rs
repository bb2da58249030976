//! Views of elicitation requests: forms, their fields, URLs.

use crate::client::views::{number, text, view};
use crate::json::{Decimal, Json, Kind, Str};

view! {
    /// A form for the user to fill in. The application has to show which server requests it, and has to let the user
    /// decline.
    ///
    /// Specification: *Elicitation*.
    FormView with meta
}

impl<'a> FormView<'a> {
    /// The message for the user, which explains the request.
    #[must_use]
    pub fn message(&self) -> Str<'a> {
        text(self.json, "message").unwrap_or_default()
    }

    /// The JSON Schema of the form's content: an object whose properties are primitive.
    #[must_use]
    pub fn requested_schema(&self) -> Json<'a> {
        self.json.get("requestedSchema").unwrap_or(Json::EMPTY_OBJECT)
    }

    /// The fields of the form, in the order of the schema.
    pub fn fields(&self) -> impl Iterator<Item = FieldView<'a>> {
        let [properties, required] = self.requested_schema().pick(["properties", "required"]);
        let members = properties.unwrap_or(Json::EMPTY_OBJECT).members();
        members.map(move |(name, schema)| FieldView { name, schema, required })
    }
}

/// A field of a form.
#[derive(Debug, Clone, Copy)]
pub struct FieldView<'a> {
    name: Str<'a>,
    schema: Json<'a>,
    required: Option<Json<'a>>,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldKind {
    /// A string; [`FieldView::format`] may restrict it.
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
    /// A type unknown to the specification.
    Other,
}

/// A value of a single-choice or multiple-choice field.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceView<'a> {
    /// The value in the response.
    pub value: Str<'a>,
    /// The title for the user; equal to the value if there is none.
    pub title: Str<'a>,
}

impl<'a> FieldView<'a> {
    /// The name of the field in the response.
    #[must_use]
    pub fn name(&self) -> Str<'a> {
        self.name
    }

    /// The display name: the title, or else the name.
    #[must_use]
    pub fn title(&self) -> Str<'a> {
        text(self.schema, "title").unwrap_or(self.name)
    }

    /// The description of the field.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.schema, "description")
    }

    /// Whether the response must contain the field.
    #[must_use]
    pub fn is_required(&self) -> bool {
        let required = self.required.unwrap_or(Json::NULL);
        required.elements().filter_map(Json::string).any(|name| name == self.name)
    }

    /// The type of the field.
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

    /// The values to choose from, with their titles. Empty if the field is not a choice.
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

    /// The default value.
    #[must_use]
    pub fn default(&self) -> Option<Json<'a>> {
        self.schema.get("default").filter(|value| !value.is_null())
    }

    /// The format of a string: `email`, `uri`, `date` or `date-time`.
    #[must_use]
    pub fn format(&self) -> Option<Str<'a>> {
        text(self.schema, "format")
    }

    /// The minimum and maximum: of a number its value, of a string its length in characters, of a multiple choice the
    /// number of values.
    #[must_use]
    pub fn limits(&self) -> (Option<Decimal>, Option<Decimal>) {
        let [least, most] = match self.kind() {
            FieldKind::Number | FieldKind::Integer => ["minimum", "maximum"],
            FieldKind::Choices => ["minItems", "maxItems"],
            _ => ["minLength", "maxLength"],
        };
        (number(self.schema, least), number(self.schema, most))
    }

    /// The whole schema of the field.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.schema
    }
}

view! {
    /// A URL for the user to open. Show the whole URL, do not fetch it, and open it only with the user's consent. The
    /// response reports the consent only, not what the user does on the page.
    ///
    /// Specification: *Elicitation*, *URL mode*.
    OpenUrlView with meta
}

impl<'a> OpenUrlView<'a> {
    /// The message for the user, which explains the request.
    #[must_use]
    pub fn message(&self) -> Str<'a> {
        text(self.json, "message").unwrap_or_default()
    }

    /// The URL.
    #[must_use]
    pub fn url(&self) -> Str<'a> {
        text(self.json, "url").unwrap_or_default()
    }

    /// The id by which `notifications/elicitation/complete` reports the completion (`2025-11-25`).
    #[must_use]
    pub fn elicitation_id(&self) -> Option<Str<'a>> {
        text(self.json, "elicitationId")
    }

    /// Whether these are valid parameters of a URL request.
    pub(crate) fn is_one(params: Json<'_>) -> bool {
        let [message, url] = params.pick(["message", "url"]);
        [message, url].into_iter().all(|text| text.is_some_and(|text| text.kind() == Kind::String))
    }
}
