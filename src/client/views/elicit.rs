//! What a user is asked: what a form is made of, which address to open.

use crate::client::views::{number, text, view};
use crate::json::{Decimal, Json, Kind, Str};

view! {
    /// A form for the user to fill in. The user has to know which server asks, and has to be free to say no.
    ///
    /// Specification: *Elicitation*.
    ElicitForm with meta
}

impl<'a> ElicitForm<'a> {
    /// Why it is asked for.
    #[must_use]
    pub fn message(&self) -> Str<'a> {
        text(self.json, "message").unwrap_or_default()
    }

    /// The JSON Schema of the answer: an object whose properties are primitive.
    #[must_use]
    pub fn requested_schema(&self) -> Json<'a> {
        self.json.get("requestedSchema").unwrap_or(Json::EMPTY_OBJECT)
    }

    /// The fields of the form, in the order of the schema.
    pub fn properties(&self) -> impl Iterator<Item = Property<'a>> {
        let [properties, required] = self.requested_schema().pick(["properties", "required"]);
        let members = properties.unwrap_or(Json::EMPTY_OBJECT).members();
        members.map(move |(name, schema)| Property { name, schema, required })
    }
}

/// A field of a form.
#[derive(Debug, Clone, Copy)]
pub struct Property<'a> {
    name: Str<'a>,
    schema: Json<'a>,
    required: Option<Json<'a>>,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PropertyKind {
    /// Text; [`Property::format`] may say which.
    Text,
    /// A number.
    Number,
    /// An integer.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// One of the [`choices`](Property::choices).
    Choice,
    /// Any number of the [`choices`](Property::choices).
    Choices,
    /// Nothing that the specification knows.
    Other,
}

/// One of several values to choose from.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// What is answered.
    pub value: Str<'a>,
    /// What people read; the value again if there is nothing else.
    pub title: Str<'a>,
}

impl<'a> Property<'a> {
    /// Its name in the answer.
    #[must_use]
    pub fn name(&self) -> Str<'a> {
        self.name
    }

    /// Its name for people: its title, or its name.
    #[must_use]
    pub fn title(&self) -> Str<'a> {
        text(self.schema, "title").unwrap_or(self.name)
    }

    /// What it is for.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.schema, "description")
    }

    /// Whether the answer has to have it.
    #[must_use]
    pub fn is_required(&self) -> bool {
        let required = self.required.unwrap_or(Json::NULL);
        required.elements().filter_map(Json::string).any(|name| name == self.name)
    }

    /// What it holds.
    #[must_use]
    pub fn kind(&self) -> PropertyKind {
        let [kind, list, titled] = self.schema.pick(["type", "enum", "oneOf"]);
        let Some(kind) = kind.and_then(Json::string) else { return PropertyKind::Other };
        let known = [
            ("string", PropertyKind::Text),
            ("number", PropertyKind::Number),
            ("integer", PropertyKind::Integer),
            ("boolean", PropertyKind::Boolean),
            ("array", PropertyKind::Choices),
        ];
        match known.into_iter().find(|(name, _)| kind == **name).map(|(_, kind)| kind) {
            Some(PropertyKind::Text) if list.or(titled).is_some() => PropertyKind::Choice,
            known => known.unwrap_or(PropertyKind::Other),
        }
    }

    /// The values to choose from, with their titles; none if it is no choice.
    pub fn choices(&self) -> impl Iterator<Item = Choice<'a>> {
        let of_items = self.schema.get("items").filter(|_| self.kind() == PropertyKind::Choices);
        let [list, names, one_of, any_of] =
            of_items.unwrap_or(self.schema).pick(["enum", "enumNames", "oneOf", "anyOf"]);
        let mut names = names.unwrap_or(Json::NULL).elements();
        let untitled = list.unwrap_or(Json::NULL).elements().filter_map(move |value| {
            let title = names.next().and_then(Json::string);
            let value = value.string()?;
            Some(Choice { value, title: title.unwrap_or(value) })
        });
        let titled = one_of.or(any_of).unwrap_or(Json::NULL).elements().filter_map(|choice| {
            let [value, title] = choice.pick(["const", "title"]);
            let value = value?.string()?;
            Some(Choice { value, title: title.and_then(Json::string).unwrap_or(value) })
        });
        untitled.chain(titled)
    }

    /// What it holds if the user changes nothing.
    #[must_use]
    pub fn default(&self) -> Option<Json<'a>> {
        self.schema.get("default").filter(|value| !value.is_null())
    }

    /// Of text: `email`, `uri`, `date` or `date-time`.
    #[must_use]
    pub fn format(&self) -> Option<Str<'a>> {
        text(self.schema, "format")
    }

    /// The least and the most: of a number its value, of text the number of its characters, of choices their number.
    #[must_use]
    pub fn limits(&self) -> (Option<Decimal>, Option<Decimal>) {
        let [least, most] = match self.kind() {
            PropertyKind::Number | PropertyKind::Integer => ["minimum", "maximum"],
            PropertyKind::Choices => ["minItems", "maxItems"],
            _ => ["minLength", "maxLength"],
        };
        (number(self.schema, least), number(self.schema, most))
    }

    /// Its whole schema.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.schema
    }
}

view! {
    /// An address for the user to open. Show it whole, do not fetch it, and open it only if the user agrees: saying so is
    /// the answer, and what happens there is not.
    ///
    /// Specification: *Elicitation*, *URL mode*.
    OpenUrl with meta
}

impl<'a> OpenUrl<'a> {
    /// Why it is to be opened.
    #[must_use]
    pub fn message(&self) -> Str<'a> {
        text(self.json, "message").unwrap_or_default()
    }

    /// The address.
    #[must_use]
    pub fn url(&self) -> Str<'a> {
        text(self.json, "url").unwrap_or_default()
    }

    /// The name under which `notifications/elicitation/complete` says that it is done (`2025-11-25`).
    #[must_use]
    pub fn elicitation_id(&self) -> Option<Str<'a>> {
        text(self.json, "elicitationId")
    }

    /// Whether these are the parameters of one.
    pub(crate) fn is_one(params: Json<'_>) -> bool {
        let [message, url] = params.pick(["message", "url"]);
        [message, url].into_iter().all(|text| text.is_some_and(|text| text.kind() == Kind::String))
    }
}
