//! The result of an elicitation, which contains the user's choice: written by a client, viewed by a server.
//!
//! Specification: *Elicitation*, *Response actions*.

use crate::json::{Json, Kind, Str, WriteBody, Writer};
use crate::protocol::named_values::named_values;
use crate::protocol::objects::application_json::written_json;
use crate::protocol::revision::{Revision, WireFeature};

/// Writes a submitted form. `content` writes an object of strings, numbers and booleans. From `2025-11-25` on, a value
/// may also be an array of strings. Returns `false` for any other content. After an overflow, does not check the
/// values, because the machine discards the message.
pub(crate) fn write_form(out: &mut Writer<'_>, revision: Revision, content: &mut dyn WriteBody) -> bool {
    ElicitAction::Accept.write(out);
    out.key("content");
    let from = out.len();
    let valid = content.write(out);
    let lists = revision.has(WireFeature::FormChoices);
    let is_form_value = |value: Json<'_>| match value.kind() {
        Kind::String | Kind::Number | Kind::Bool => true,
        Kind::Array => lists && value.elements().all(|entry| entry.kind() == Kind::String),
        Kind::Null | Kind::Object => false,
    };
    let is_form = |content: Json<'_>| {
        content.kind() == Kind::Object && content.members().all(|(_, value)| is_form_value(value))
    };
    valid && written_json(out, from).is_none_or(is_form)
}

/// The result of a [`Form`](crate::input::Form) or an [`OpenUrl`](crate::input::OpenUrl).
#[derive(Debug, Clone, Copy)]
pub struct ElicitResultView<'a> {
    action: ElicitAction,
    content: Option<Json<'a>>,
}

named_values! {
    /// The choice of a user about an input request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ElicitAction {
        /// A submitted form, or consent to open the page.
        Accept = "accept",
        /// A refusal by the user.
        Decline = "decline",
        /// A dismissal of the request without a choice.
        Cancel = "cancel",
    }
    const ALL;
    fn from_json;
}

impl ElicitAction {
    /// Writes the member `action`.
    pub(crate) fn write(self, out: &mut Writer<'_>) {
        out.field_string("action", self.as_str());
    }
}

impl<'a> ElicitResultView<'a> {
    /// Reads a result. Returns `None` if the result has no known action.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<ElicitResultView<'a>> {
        let [action, content] = result.pick(["action", "content"]);
        let action = ElicitAction::from_json(action?.string()?)?;
        let content =
            content.filter(|content| content.kind() == Kind::Object && action == ElicitAction::Accept);
        Some(ElicitResultView { action, content })
    }

    /// Returns the user's choice.
    #[must_use]
    pub fn action(&self) -> ElicitAction {
        self.action
    }

    /// Returns the submitted fields as an object. The object is empty if the user submitted no field, declined, or
    /// dismissed the request. The server must check the object against the form.
    #[must_use]
    pub fn content(&self) -> Json<'a> {
        self.content.unwrap_or(Json::EMPTY_OBJECT)
    }

    /// Returns the value of a submitted field. Returns `None` if the user did not submit the form or the field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Json<'a>> {
        self.content?.get(name)
    }

    /// Returns the chosen values of a multiple-choice field, or the single value that older clients send.
    pub fn choices(&self, name: &str) -> impl Iterator<Item = Str<'a>> + use<'a> {
        one_or_many(self.field(name)).filter_map(Json::string)
    }
}

/// Returns the elements of an array. For any other value, the iterator yields only this value.
fn one_or_many<'a>(value: Option<Json<'a>>) -> impl Iterator<Item = Json<'a>> + use<'a> {
    let array = value.filter(|value| value.kind() == Kind::Array);
    let one = if array.is_some() { None } else { value };
    one.into_iter().chain(array.into_iter().flat_map(Json::elements))
}
