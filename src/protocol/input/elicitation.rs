//! Elicitation: asking the user, in a form that the client shows or at a web page.
//!
//! Specification: *Elicitation*.

use crate::json::Writer;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::form_field::{self, Field};
use crate::protocol::input::{Input, Sealed, To};
use crate::protocol::methods;
use crate::protocol::revision::Revision;

/// Asks the user to fill in a form (from `2025-06-18` on). The answer is read with
/// [`ElicitResult::from_json`](super::ElicitResult::from_json).
///
/// Never ask for secrets in a form: the specification forbids it. That is what [`OpenUrl`] is for.
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
    /// A form with a message for the user. No two fields may have the same name. They are written as the revision of the client knows them.
    #[must_use]
    pub const fn new(message: &'a str, fields: &'a [Field<'a>]) -> Form<'a> {
        Form { message, schema: Schema::Fields(fields) }
    }

    /// A form with a schema that is JSON text: an object whose properties are primitive. It is written as it is, so
    /// it has to be one that the client's revision allows.
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

    fn since(&self) -> Revision {
        Revision::V2025_06_18
    }
}

impl Sealed for Form<'_> {
    fn write(&self, to: To, out: &mut Writer<'_>) -> bool {
        if to.revision >= Revision::V2025_11_25 {
            out.field_string("mode", "form");
        }
        out.field_string("message", self.message);
        out.key("requestedSchema");
        match self.schema {
            Schema::Fields(fields) => {
                form_field::write_schema(fields, to.revision, out);
                let names = || fields.iter().map(Field::name);
                names().enumerate().all(|(at, name)| !names().take(at).any(|known| known == name))
            }
            Schema::Raw(schema) => out.raw_object(schema),
        }
    }
}

/// Asks the user to open a web page (from `2025-11-25` on): to log in, to pay, to enter a secret. The answer only says
/// whether the user agreed; what came of it, the server learns at that page.
#[derive(Debug, Clone, Copy)]
pub struct OpenUrl<'a> {
    message: &'a str,
    url: &'a str,
    id: &'a str,
}

impl<'a> OpenUrl<'a> {
    /// A page, why it should be opened, and a name for this elicitation that no other one has. Before `2026-07-28`
    /// the client is told that name, and [`Server::elicitation_complete`](crate::Server::elicitation_complete) names it.
    #[must_use]
    pub const fn new(message: &'a str, url: &'a str, id: &'a str) -> OpenUrl<'a> {
        OpenUrl { message, url, id }
    }

    /// Why the page should be opened.
    #[must_use]
    pub const fn message(&self) -> &'a str {
        self.message
    }

    /// The page.
    #[must_use]
    pub const fn url(&self) -> &'a str {
        self.url
    }

    /// The name of this elicitation.
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

    fn since(&self) -> Revision {
        Revision::V2025_11_25
    }
}

impl Sealed for OpenUrl<'_> {
    fn write(&self, to: To, out: &mut Writer<'_>) -> bool {
        out.field_string("mode", "url");
        out.field_string("message", self.message);
        out.field_string("url", self.url);
        if to.revision < Revision::V2026_07_28 {
            out.field_string("elicitationId", self.id);
        }
        true
    }
}
