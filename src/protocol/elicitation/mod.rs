//! Elicitation: forms and URLs, written by a server, viewed by a client.
//!
//! Specification: *Elicitation*.

pub(crate) mod choice;
pub(crate) mod field;
pub(crate) mod result;

use crate::json::{Json, Kind, Str, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::elicitation::field::{Field, FieldView};
use crate::protocol::input::{Input, Sealed, To};
use crate::protocol::methods;
use crate::protocol::objects::view::{text, view};
use crate::protocol::revision::{Revisions, WireFeature};

/// A form for the user (from `2025-06-18` on).
/// [`ElicitResultView::from_json`](crate::input::ElicitResultView::from_json) reads the response.
///
/// The specification forbids requests for secrets in a form. Use [`OpenUrl`] for secrets.
///
/// ```
/// use mcp_proto::input::{Choice, Field, Form};
/// static FIELDS: [Field; 2] = [
///     Field::text("name").title("Your name").required(),
///     Field::choice("size", &[Choice::new("s").title("Small"), Choice::new("l").title("Large")]).default_text("s"),
/// ];
/// static FORM: Form = Form::new("Who gets the shirt?", &FIELDS);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    message: &'a str,
    schema: Schema<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Schema<'a> {
    Fields(&'a [Field<'a>]),
    Raw(&'a str),
}

impl<'a> Form<'a> {
    /// Creates a form with a message for the user. Field names must be unique. The server writes the schema for the
    /// client's revision.
    #[must_use]
    pub const fn new(message: &'a str, fields: &'a [Field<'a>]) -> Form<'a> {
        Form { message, schema: Schema::Fields(fields) }
    }

    /// Creates a form with a schema as JSON text.
    ///
    /// The schema describes an object whose properties are primitive values or multiple choices. The server writes the
    /// schema unchanged, except that spaces replace line breaks. The server does not adapt the schema to the client's
    /// revision, so this revision must allow the schema.
    #[must_use]
    pub const fn raw(message: &'a str, schema: &'a str) -> Form<'a> {
        Form { message, schema: Schema::Raw(schema) }
    }
}

impl Input for Form<'_> {
    fn method(&self) -> &'static str {
        methods::ELICITATION_CREATE.name
    }

    fn needs(&self) -> ClientCapabilities {
        ClientCapabilities::ELICITATION_FORM
    }

    fn revisions(&self) -> Revisions {
        WireFeature::Elicitation.revisions()
    }
}

impl Sealed for Form<'_> {
    fn write(&self, recipient: To, out: &mut Writer<'_>) -> bool {
        if recipient.revision.has(WireFeature::ElicitationModes) {
            out.members(r#""mode":"form""#);
        }
        out.field_string("message", self.message);
        out.key("requestedSchema");
        match self.schema {
            Schema::Fields(fields) => field::write_schema(fields, recipient.revision, out),
            Schema::Raw(schema) => out.raw_object(schema),
        }
    }
}

/// A request that the user opens a web page (from `2025-11-25` on).
///
/// Examples are pages for a login, a payment or a secret. The response reports only whether the user agreed. The page
/// must report the outcome to the server.
#[derive(Debug, Clone, Copy)]
pub struct OpenUrl<'a> {
    message: &'a str,
    url: &'a str,
    id: &'a str,
}

impl<'a> OpenUrl<'a> {
    /// Creates a request with a message, the URL, and a unique id. The server sends the id in `2025-11-25`, and
    /// [`require_urls`](crate::server::Reply::require_urls) uses the id as the key of an input request in `2026-07-28`.
    /// In `2025-11-25`, after the interaction on the page, the application passes the same id to
    /// [`Server::elicitation_complete`](crate::Server::elicitation_complete).
    #[must_use]
    pub const fn new(message: &'a str, url: &'a str, id: &'a str) -> OpenUrl<'a> {
        OpenUrl { message, url, id }
    }

    /// Returns the message for the user.
    #[must_use]
    pub const fn message(&self) -> &'a str {
        self.message
    }

    /// Returns the URL.
    #[must_use]
    pub const fn url(&self) -> &'a str {
        self.url
    }

    /// Returns the id of this elicitation.
    #[must_use]
    pub const fn id(&self) -> &'a str {
        self.id
    }
}

impl Input for OpenUrl<'_> {
    fn method(&self) -> &'static str {
        methods::ELICITATION_CREATE.name
    }

    fn needs(&self) -> ClientCapabilities {
        ClientCapabilities::ELICITATION_URL
    }

    fn revisions(&self) -> Revisions {
        WireFeature::UrlElicitation.revisions()
    }
}

impl Sealed for OpenUrl<'_> {
    fn write(&self, recipient: To, out: &mut Writer<'_>) -> bool {
        out.field_string("mode", "url");
        out.field_string("message", self.message);
        out.field_string("url", self.url);
        if recipient.revision.has(WireFeature::ElicitationIds) {
            out.field_string("elicitationId", self.id);
        }
        true
    }
}

view! {
    /// A form for the user to fill in. The application must show which server requests the form, and must let the user
    /// decline.
    ///
    /// Specification: *Elicitation*.
    FormView with meta
}

impl<'a> FormView<'a> {
    /// Returns the message that explains the request to the user, or an empty text if the server sends no message.
    #[must_use]
    pub fn message(&self) -> Str<'a> {
        text(self.json, "message").unwrap_or_default()
    }

    /// Returns the JSON Schema of the form's content, or an empty object if the server sends no schema.
    ///
    /// The schema describes an object whose properties are primitive values or multiple choices.
    #[must_use]
    pub fn requested_schema(&self) -> Json<'a> {
        self.json.get("requestedSchema").unwrap_or(Json::EMPTY_OBJECT)
    }

    /// Returns the fields of the form, in the order of the schema.
    pub fn fields(&self) -> impl Iterator<Item = FieldView<'a>> {
        let [properties, required] = self.requested_schema().pick(["properties", "required"]);
        let members = properties.unwrap_or(Json::EMPTY_OBJECT).members();
        members.map(move |(name, schema)| FieldView { name, schema, required })
    }
}

view! {
    /// A URL for the user to open.
    ///
    /// The application must show the whole URL, must not fetch the URL, and may open the URL only with the user's
    /// consent. The response reports only the consent, not the user's actions on the page.
    ///
    /// Specification: *Elicitation*, *URL mode*.
    OpenUrlView with meta
}

impl<'a> OpenUrlView<'a> {
    /// Returns the message that explains the request to the user, or an empty text if the server sends no message.
    #[must_use]
    pub fn message(&self) -> Str<'a> {
        text(self.json, "message").unwrap_or_default()
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> Str<'a> {
        text(self.json, "url").unwrap_or_default()
    }

    /// Returns the id that `notifications/elicitation/complete` repeats (`2025-11-25`).
    #[must_use]
    pub fn elicitation_id(&self) -> Option<Str<'a>> {
        text(self.json, "elicitationId")
    }

    /// Returns whether the parameters are valid for a URL request.
    pub(crate) fn is_valid(params: Json<'_>) -> bool {
        let [message, url] = params.pick(["message", "url"]);
        [message, url].into_iter().all(|text| text.is_some_and(|text| text.kind() == Kind::String))
    }
}
