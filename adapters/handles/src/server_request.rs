//! Requests of a server to the client, and the application's responses.

use std::sync::Arc;

use mcp_proto::Ticket;
use mcp_proto::client::{self, InputRequest, InputResponses, Roots};
use mcp_proto::json::{self, Json, Kind, Writer};
use mcp_proto::rpc::code;
use serde_core::Serialize;

use crate::cancellation::{Cancellation, Task};
use crate::client_shared::{ClientShared, Command};
use crate::owned::{view, write_members};

/// A request of the server to the client.
///
/// The server requests the roots, input of the user by form or URL, or a message from the model. The request can also
/// have a method of an extension. The contents come from the server and are not verified.
///
/// See `Connector::on_server_request`.
#[derive(Debug)]
pub struct ServerRequest {
    body: Arc<Body>,
    cancellation: Cancellation,
}

#[derive(Debug)]
struct Body {
    method: String,
    params: String,
}

impl Body {
    fn input(&self) -> InputRequest<'_> {
        let (method, params) = (&*self.method, view(&self.params));
        InputRequest::view(method, params).unwrap_or(InputRequest::Other { method, params })
    }
}

impl ServerRequest {
    /// Returns the request with its typed parameters.
    #[must_use]
    pub fn input(&self) -> InputRequest<'_> {
        self.body.input()
    }

    /// Returns the parameters of the request, as the server wrote them. For a request of the roots, returns an empty
    /// object.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        view(&self.body.params)
    }

    /// Returns whether the server no longer waits for the response.
    ///
    /// Returns `true` if the server cancelled the request, the request's timeout expired, or the connection is closed.
    /// For required input (`2026-07-28`), returns `true` if the client's request has ended. In all revisions, also
    /// returns `true` after the application has responded.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Returns an observer of the request's cancellation. The observer may be moved to another thread or task.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }
}

/// The application's response to a [`ServerRequest`].
///
/// If the response does not match the request, the response becomes an [error](InputResponse::error). Exceptions:
/// [`accept`](InputResponse::accept) also agrees to open a URL, and [`agree`](InputResponse::agree) also accepts a
/// form, without fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputResponse(Response);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Response {
    Form(String),
    Agree,
    Decline,
    Cancel,
    Roots(Vec<(String, String)>),
    Sample { model: String, stop_reason: String, blocks: Vec<String> },
    Other(String),
    Error { code: i32, message: String },
}

impl InputResponse {
    /// Reports that the user accepted the form. If `fields` does not serialize to an object, the response becomes an
    /// [error](InputResponse::error).
    #[must_use]
    pub fn accept(fields: &(impl Serialize + ?Sized)) -> InputResponse {
        match json::to_string(fields) {
            Ok(fields) => InputResponse::accept_json(&fields),
            Err(error) => InputResponse::internal_error(&error.to_string()),
        }
    }

    /// Reports that the user accepted the form. If `fields` is not the JSON text of an object, the response becomes an
    /// [error](InputResponse::error).
    #[must_use]
    pub fn accept_json(fields: &str) -> InputResponse {
        match Json::parse(fields.as_bytes()) {
            Ok(json) if json.kind() == Kind::Object => InputResponse(Response::Form(fields.into())),
            _ => InputResponse::internal_error("the fields of the form are not a JSON object"),
        }
    }

    /// Reports that the user agreed to open the URL.
    #[must_use]
    pub fn agree() -> InputResponse {
        InputResponse(Response::Agree)
    }

    /// Reports that the user declined.
    #[must_use]
    pub fn decline() -> InputResponse {
        InputResponse(Response::Decline)
    }

    /// Reports that the user dismissed the request without a choice.
    #[must_use]
    pub fn cancel() -> InputResponse {
        InputResponse(Response::Cancel)
    }

    /// Lists the roots as pairs of URI and name. A name may be empty.
    ///
    /// Each URI must start with `file://` and be percent-encoded (`file:///my%20files`). Otherwise the response becomes
    /// an [error](InputResponse::error).
    #[must_use]
    pub fn roots<U: Into<String>, N: Into<String>>(roots: impl IntoIterator<Item = (U, N)>) -> InputResponse {
        let roots: Vec<(String, String)> =
            roots.into_iter().map(|(uri, name)| (uri.into(), name.into())).collect();
        match roots.iter().find(|(uri, _)| !Roots::is_valid_uri(uri)) {
            Some((uri, _)) => InputResponse::internal_error(&format!(
                "the URI of the root `{uri}` must start with `file://` and be percent-encoded"
            )),
            None => InputResponse(Response::Roots(roots)),
        }
    }

    /// Responds with a text message from the model. `model` is the model's name. `stop_reason` is the reason why the
    /// message ended, such as `endTurn` or `maxTokens`.
    ///
    /// ```
    /// # use mcp_proto_handles::InputResponse;
    /// let (model, stop_reason, text) = ("some-model", "endTurn", "The answer is 42.");
    /// let response = InputResponse::sampled(model, stop_reason, text);
    /// ```
    #[must_use]
    pub fn sampled(model: &str, stop_reason: &str, text: &str) -> InputResponse {
        let text = json::to_string(text).unwrap_or_default();
        InputResponse::sampled_json(model, stop_reason, [format!(r#"{{"type":"text","text":{text}}}"#)])
    }

    /// Responds with a message from the model. Each item of `blocks` is the JSON text of a content block. Revisions
    /// before `2025-11-25` allow exactly one block.
    #[must_use]
    pub fn sampled_json(
        model: &str,
        stop_reason: &str,
        blocks: impl IntoIterator<Item = impl Into<String>>,
    ) -> InputResponse {
        let blocks = blocks.into_iter().map(Into::into).collect();
        InputResponse(Response::Sample { model: model.into(), stop_reason: stop_reason.into(), blocks })
    }

    /// Responds to a request with a method of an extension ([`InputRequest::Other`]). If `result` does not serialize to
    /// an object, the response becomes an [error](InputResponse::error).
    #[must_use]
    pub fn result(result: &(impl Serialize + ?Sized)) -> InputResponse {
        match json::to_string(result) {
            Ok(json) if view(&json).kind() == Kind::Object => InputResponse(Response::Other(json)),
            Ok(_) => InputResponse::internal_error("the result is not a JSON object"),
            Err(error) => InputResponse::internal_error(&error.to_string()),
        }
    }

    /// Responds with an error. In `2026-07-28`, required input has no error response, so the client cancels the
    /// request that needs the input.
    #[must_use]
    pub fn error(code: i32, message: impl Into<String>) -> InputResponse {
        InputResponse(Response::Error { code, message: message.into() })
    }

    fn internal_error(reason: &str) -> InputResponse {
        InputResponse::error(code::INTERNAL_ERROR, format!("Internal error of the client: {reason}"))
    }

    /// Converts the response to one that matches the request. Returns an error response if the conversion is
    /// impossible.
    fn converted_for(self, request: &InputRequest<'_>) -> InputResponse {
        use InputRequest::{Elicit, OpenUrl};
        let error = |message: &str| Response::Error { code: -1, message: message.into() };
        InputResponse(match (self.0, request) {
            (Response::Form(_), OpenUrl(_)) => Response::Agree,
            (Response::Agree, Elicit(_)) => Response::Form("{}".into()),
            (response @ (Response::Decline | Response::Cancel), Elicit(_) | OpenUrl(_)) => response,
            (Response::Decline, _) => error("The user said no"),
            (Response::Cancel, _) => error("The user gave no answer"),
            (response @ Response::Form(_), Elicit(_)) | (response @ Response::Agree, OpenUrl(_)) => response,
            (response @ Response::Roots(_), InputRequest::Roots) => response,
            (response @ Response::Sample { .. }, InputRequest::Sample(_)) => response,
            (response @ Response::Other(_), InputRequest::Other { .. }) => response,
            (response @ Response::Error { .. }, _) => response,
            _ => return InputResponse::internal_error("the response does not match the request"),
        })
    }

    /// Returns the message of an error response, or `None` for any other response.
    pub(crate) fn error_message(&self) -> Option<&str> {
        match &self.0 {
            Response::Error { message, .. } => Some(message),
            _ => None,
        }
    }

    /// Responds to a request of the server (up to `2025-11-25`).
    pub(crate) fn send(&self, reply: client::ServerRequest<'_>) {
        match &self.0 {
            Response::Form(fields) => reply.accept(|out| write_members(view(fields), out)),
            Response::Other(result) => reply.result_with(|out| write_members(view(result), out)),
            Response::Agree => reply.accept(|_| {}),
            Response::Decline => reply.decline(),
            Response::Cancel => reply.cancel(),
            Response::Roots(roots) => {
                reply.roots(|out| roots.iter().for_each(|(uri, name)| out.add(uri, name)))
            }
            Response::Sample { model, stop_reason, blocks } => {
                reply.sampled(model, stop_reason, |out| {
                    blocks.iter().for_each(|block| out.block(|out| write_raw(block, out)));
                });
            }
            Response::Error { code, message } => reply.error(*code, message),
        }
    }

    /// Writes the response to a required input under the key of the input (`2026-07-28`).
    pub(crate) fn write(&self, key: &str, responses: &mut InputResponses<'_, '_>) {
        match &self.0 {
            Response::Form(fields) => responses.accept(key, |out| write_members(view(fields), out)),
            Response::Agree => responses.agree(key),
            Response::Decline => responses.decline(key),
            Response::Cancel => responses.cancel(key),
            Response::Roots(roots) => {
                responses.roots(key, |out| roots.iter().for_each(|(uri, name)| out.add(uri, name)));
            }
            Response::Sample { model, stop_reason, blocks } => {
                responses.sampled(key, model, stop_reason, |out| {
                    blocks.iter().for_each(|block| out.block(|out| write_raw(block, out)));
                });
            }
            // Required input cannot get an error response, so the session has cancelled the client's request. `Other`
            // does not occur, because required input has no methods of extensions.
            Response::Error { .. } | Response::Other(_) => {}
        }
    }
}

/// Writes JSON text. The client reports invalid text when the message is complete.
fn write_raw(text: &str, out: &mut Writer<'_>) {
    let _ = out.raw(text);
}

/// The request that a response belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ResponseTarget {
    /// A request of the server.
    ServerRequest(Ticket),
    /// A request of the client for which the server requires input, and the index of the input.
    RequiredInput(Ticket, usize),
}

/// Callback that passes a server request and its responder to the application.
pub type ServerRequestHandler = Arc<dyn Fn(ServerRequest, ServerRequestResponder) + Send + Sync>;

/// The responder of a server request. Dropping the responder without a response, even during a panic, responds with
/// an [`InputResponse::error`] (-32603).
#[derive(Debug)]
pub struct ServerRequestResponder {
    shared: Arc<ClientShared>,
    target: ResponseTarget,
    body: Arc<Body>,
    response: Option<InputResponse>,
}

impl ServerRequestResponder {
    /// Responds to the request. If the response does not match the request, the response becomes an
    /// [error](InputResponse::error).
    pub fn respond(mut self, response: InputResponse) {
        self.response = Some(response.converted_for(&self.body.input()));
    }
}

impl Drop for ServerRequestResponder {
    fn drop(&mut self) {
        let missing = || InputResponse::internal_error("the request handler ended without a response");
        let response = self.response.take().unwrap_or_else(missing);
        self.shared.send(Command::Respond(self.target, response));
    }
}

/// A request that the application handles. After the drop of this value, [`Cancellation::is_cancelled`] returns `true`
/// for the request.
#[derive(Debug)]
pub(crate) struct HandlerCall(Arc<Task>);

impl HandlerCall {
    /// Passes a request to the application. The response arrives as [`Command::Respond`].
    pub(crate) fn start(
        handler: &ServerRequestHandler,
        shared: &Arc<ClientShared>,
        target: ResponseTarget,
        input: &InputRequest<'_>,
    ) -> HandlerCall {
        let task = Arc::default();
        let body = Arc::new(Body { method: input.method().into(), params: input.raw().to_string() });
        let request = ServerRequest { body: Arc::clone(&body), cancellation: Cancellation::new(&task) };
        let responder = ServerRequestResponder { shared: Arc::clone(shared), target, body, response: None };
        handler(request, responder);
        HandlerCall(task)
    }
}

impl Drop for HandlerCall {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
