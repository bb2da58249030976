//! Input requests: roots, forms, URLs and sampling.

use crate::client::server_requests::check::kind_of;
use crate::json::Json;
use crate::peer::request::{Inbound, InboundData};
use crate::protocol::elicitation::{FormView, OpenUrlView};
use crate::protocol::methods;
use crate::protocol::sampling::CreateMessageView;

/// A request of the server for input.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum InputRequest<'a> {
    /// The roots: the directories in which the server may work.
    Roots,
    /// A form for the user to fill in.
    Elicit(FormView<'a>),
    /// A URL for the user to open.
    OpenUrl(OpenUrlView<'a>),
    /// A message for a model to generate.
    Sample(CreateMessageView<'a>),
    /// A request with a method of an [extension](crate::client::ClientConfig::methods).
    Other {
        /// The method. The text is empty for a [deferred](crate::client::ServerRequest::defer) request.
        method: &'a str,
        /// The parameters, an object.
        params: Json<'a>,
    },
}

/// The kind of an input request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    Roots,
    Form,
    Url,
    Sample,
    /// A request with a method of an extension.
    Other,
    /// A request about a task that the client runs. The client responds by itself.
    Task,
}

impl InboundData for InputKind {}

impl Inbound<InputKind> {
    /// Returns whether the application receives the request. Returns `false` for a request about a task, because the
    /// client itself responds.
    pub(crate) fn is_for_application(&self) -> bool {
        self.context != InputKind::Task
    }
}

impl InputKind {
    /// Returns the method. Returns an empty text for [`InputKind::Other`] and [`InputKind::Task`].
    pub(crate) fn method(self) -> &'static str {
        match self {
            InputKind::Other | InputKind::Task => "",
            InputKind::Roots => methods::ROOTS_LIST.name,
            InputKind::Form | InputKind::Url => methods::ELICITATION_CREATE.name,
            InputKind::Sample => methods::SAMPLING_CREATE_MESSAGE.name,
        }
    }
}

impl<'a> InputRequest<'a> {
    /// Creates a view from copies of a request's [method](InputRequest::method) and [parameters](InputRequest::raw).
    /// Returns `None` if the protocol defines no input request with this method.
    #[must_use]
    pub fn view(method: &str, params: Json<'a>) -> Option<InputRequest<'a>> {
        let kind = kind_of(&|name| name == method, params)?;
        Some(InputRequest::from_json(kind, "", params))
    }

    /// Returns the method. For a deferred request of an extension, returns an empty text.
    #[must_use]
    pub fn method(&self) -> &'a str {
        match self {
            InputRequest::Other { method, .. } => method,
            InputRequest::Roots => InputKind::Roots.method(),
            InputRequest::Elicit(_) => InputKind::Form.method(),
            InputRequest::OpenUrl(_) => InputKind::Url.method(),
            InputRequest::Sample(_) => InputKind::Sample.method(),
        }
    }

    /// Returns all parameters. For [`Roots`](InputRequest::Roots) and for a deferred request, returns an empty object.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        match self {
            InputRequest::Roots => Json::EMPTY_OBJECT,
            InputRequest::Elicit(form) => form.raw(),
            InputRequest::OpenUrl(page) => page.raw(),
            InputRequest::Sample(sample) => sample.raw(),
            InputRequest::Other { params, .. } => *params,
        }
    }

    /// Creates a view of validated parameters. Only a request of an extension uses `method`.
    pub(crate) fn from_json(kind: InputKind, method: &'a str, params: Json<'a>) -> InputRequest<'a> {
        match kind {
            InputKind::Other | InputKind::Task => InputRequest::Other { method, params },
            InputKind::Roots => InputRequest::Roots,
            InputKind::Form => InputRequest::Elicit(FormView::from_json(params)),
            InputKind::Url => InputRequest::OpenUrl(OpenUrlView::from_json(params)),
            InputKind::Sample => InputRequest::Sample(CreateMessageView::from_json(params)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_request_can_be_viewed_again() {
        let cases = [
            ("roots/list", "{}"),
            ("elicitation/create", r#"{"message":"m","requestedSchema":{}}"#),
            ("elicitation/create", r#"{"mode":"url","message":"m","url":"u"}"#),
            ("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#),
        ];
        for (at, (method, params)) in cases.into_iter().enumerate() {
            let view = InputRequest::view(method, Json::parse(params.as_bytes()).unwrap()).unwrap();
            let kind = match view {
                InputRequest::Roots => 0,
                InputRequest::Elicit(_) => 1,
                InputRequest::OpenUrl(_) => 2,
                InputRequest::Sample(_) => 3,
                InputRequest::Other { .. } => 4,
            };
            assert_eq!((kind, view.method(), view.raw().raw()), (at, method, params));
        }
        assert!(InputRequest::view("tools/call", Json::EMPTY_OBJECT).is_none());
    }
}
