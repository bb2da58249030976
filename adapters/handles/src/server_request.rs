//! What a server asks of the client, for the host to answer in its own time.

use std::sync::Arc;

use mcp_proto::Ticket;
use mcp_proto::client::{InputRequest, InputResponses, ServerRequestReply};
use mcp_proto::json::{self, Json, Kind, Writer};
use serde_core::Serialize;

use crate::client_shared::{ClientShared, Command};
use crate::owned::view;
use crate::task::{Cancellation, Task};

/// Something that a server asks for: its roots, a form or an address for the user, something for a model to say. What it
/// says there is not to be trusted.
///
/// See `Connector::on_server_request`.
#[derive(Debug)]
pub struct ServerRequest {
    body: Arc<Body>,
    cancellation: Cancellation,
}

#[derive(Debug)]
struct Body {
    method: &'static str,
    params: String,
}

impl Body {
    fn input(&self) -> InputRequest<'_> {
        InputRequest::view(self.method, view(&self.params)).unwrap_or(InputRequest::Roots)
    }
}

impl ServerRequest {
    /// What is asked for.
    #[must_use]
    pub fn input(&self) -> InputRequest<'_> {
        self.body.input()
    }

    /// The parameters of the request, as the server wrote them.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        view(&self.body.params)
    }

    /// Whether nobody waits for the answer any more: the server has taken it back, it took too long, or the connection is
    /// over.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// The same question for other code and other threads, who may wait for it.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }
}

/// What the host answers to a [`ServerRequest`].
///
/// One that does not fit the question becomes an error for the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputResponse(Said);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Form(String),
    Agree,
    Decline,
    Cancel,
    Roots(Vec<(String, String)>),
    Sample { model: String, stop_reason: String, blocks: Vec<String> },
    Refuse { code: i32, message: String },
}

impl InputResponse {
    /// The user has filled in the form: its fields, of any type that serializes to an object.
    #[must_use]
    pub fn accept(fields: &(impl Serialize + ?Sized)) -> InputResponse {
        match json::to_string(fields) {
            Ok(fields) => InputResponse::accept_json(&fields),
            Err(error) => InputResponse::broken(&error.to_string()),
        }
    }

    /// The same with the fields as JSON text: an object.
    #[must_use]
    pub fn accept_json(fields: &str) -> InputResponse {
        match Json::parse(fields.as_bytes()) {
            Ok(json) if json.kind() == Kind::Object => InputResponse(Said::Form(fields.into())),
            _ => InputResponse::broken("the fields of a form are no JSON object"),
        }
    }

    /// The user agrees to open the address.
    #[must_use]
    pub fn agree() -> InputResponse {
        InputResponse(Said::Agree)
    }

    /// The user says no.
    #[must_use]
    pub fn decline() -> InputResponse {
        InputResponse(Said::Decline)
    }

    /// The user has closed the question without an answer.
    #[must_use]
    pub fn cancel() -> InputResponse {
        InputResponse(Said::Cancel)
    }

    /// The roots: each with its URI, which starts with `file://`, and its name, which may be empty.
    #[must_use]
    pub fn roots<U: Into<String>, N: Into<String>>(roots: impl IntoIterator<Item = (U, N)>) -> InputResponse {
        InputResponse(Said::Roots(roots.into_iter().map(|(uri, name)| (uri.into(), name.into())).collect()))
    }

    /// A text that a model has said: its name, and why it stopped (`endTurn`, `maxTokens`, …).
    #[must_use]
    pub fn sampled(model: &str, stop_reason: &str, text: &str) -> InputResponse {
        let text = json::to_string(text).unwrap_or_default();
        InputResponse::sampled_json(model, stop_reason, [format!(r#"{{"type":"text","text":{text}}}"#)])
    }

    /// What a model has said, as blocks of content in JSON. Before `2025-11-25` there can only be one.
    #[must_use]
    pub fn sampled_json(
        model: &str,
        stop_reason: &str,
        blocks: impl IntoIterator<Item = impl Into<String>>,
    ) -> InputResponse {
        let blocks = blocks.into_iter().map(Into::into).collect();
        InputResponse(Said::Sample { model: model.into(), stop_reason: stop_reason.into(), blocks })
    }

    /// An error. In `2026-07-28` there is no such answer: the request that the question came with is given up.
    #[must_use]
    pub fn error(code: i32, message: impl Into<String>) -> InputResponse {
        InputResponse(Said::Refuse { code, message: message.into() })
    }

    fn broken(why: &str) -> InputResponse {
        InputResponse::error(-32603, format!("Internal error of the client: {why}"))
    }

    /// The answer as it is given to this question.
    fn fitted(self, question: &InputRequest<'_>) -> InputResponse {
        use InputRequest::{Elicit, OpenUrl};
        let refuse = |message: &str| Said::Refuse { code: -1, message: message.into() };
        InputResponse(match (self.0, question) {
            (Said::Form(_), OpenUrl(_)) => Said::Agree,
            (Said::Agree, Elicit(_)) => Said::Form("{}".into()),
            (said @ (Said::Decline | Said::Cancel), Elicit(_) | OpenUrl(_)) => said,
            (Said::Decline, _) => refuse("The user said no"),
            (Said::Cancel, _) => refuse("The user gave no answer"),
            (said @ Said::Form(_), Elicit(_)) | (said @ Said::Agree, OpenUrl(_)) => said,
            (said @ Said::Roots(_), InputRequest::Roots) => said,
            (said @ Said::Sample { .. }, InputRequest::Sample(_)) => said,
            (said @ Said::Refuse { .. }, _) => said,
            _ => return InputResponse::broken("its answer does not fit the question"),
        })
    }

    /// Why there is no answer, if there is none.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match &self.0 {
            Said::Refuse { message, .. } => Some(message),
            _ => None,
        }
    }

    /// Answers a request of the server's (up to `2025-11-25`).
    pub(crate) fn give(&self, reply: ServerRequestReply<'_>) {
        match &self.0 {
            Said::Form(fields) => reply.accept(|out| write_members(fields, out)),
            Said::Agree => reply.accept(|_| {}),
            Said::Decline => reply.decline(),
            Said::Cancel => reply.cancel(),
            Said::Roots(roots) => reply.roots(|out| roots.iter().for_each(|(uri, name)| out.add(uri, name))),
            Said::Sample { model, stop_reason, blocks } => {
                reply.sampled(model, stop_reason, |out| {
                    blocks.iter().for_each(|block| out.block(|out| write_raw(block, out)));
                });
            }
            Said::Refuse { code, message } => reply.error(*code, message),
        }
    }

    /// Answers a question under its key (`2026-07-28`).
    pub(crate) fn write(&self, key: &str, answers: &mut InputResponses<'_, '_>) {
        match &self.0 {
            Said::Form(fields) => answers.accept(key, |out| write_members(fields, out)),
            Said::Agree => answers.agree(key),
            Said::Decline => answers.decline(key),
            Said::Cancel => answers.cancel(key),
            Said::Roots(roots) => {
                answers.roots(key, |out| roots.iter().for_each(|(uri, name)| out.add(uri, name)));
            }
            Said::Sample { model, stop_reason, blocks } => {
                answers.sampled(key, model, stop_reason, |out| {
                    blocks.iter().for_each(|block| out.block(|out| write_raw(block, out)));
                });
            }
            // Then the request is given up.
            Said::Refuse { .. } => {}
        }
    }
}

fn write_members(object: &str, out: &mut Writer<'_>) {
    view(object).members().for_each(|(name, value)| out.field_json(&name.to_string(), value));
}

/// What is not valid is noticed by the machine.
fn write_raw(text: &str, out: &mut Writer<'_>) {
    let _ = out.raw(text);
}

/// Where an answer belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// To a request of the server's.
    Asked(Ticket),
    /// To a request of the client's that needs it: which of its questions.
    Round(Ticket, usize),
}

/// How the host is asked: wherever it answers, the question and the duty to answer it go there.
pub type Ask = Arc<dyn Fn(ServerRequest, Owed) + Send + Sync>;

/// The duty to answer a question. Whatever becomes of it, be it a panic of the host, there is an answer.
#[derive(Debug)]
pub struct Owed {
    hub: Arc<ClientShared>,
    place: Place,
    body: Arc<Body>,
    answer: Option<InputResponse>,
}

impl Owed {
    /// Answers the question. What does not fit it becomes an error.
    pub fn answer(mut self, answer: InputResponse) {
        self.answer = Some(answer.fitted(&self.body.input()));
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        let answer = self.answer.take().unwrap_or_else(|| InputResponse::broken("nobody has answered"));
        self.hub.send(Command::Answer(self.place, answer));
    }
}

/// Says that nobody waits for an answer any more when it is dropped.
#[derive(Debug)]
pub(crate) struct Asking(Arc<Task>);

impl Asking {
    /// Asks the host. Its answer comes as a command.
    pub(crate) fn begin(
        ask: &Ask,
        hub: &Arc<ClientShared>,
        place: Place,
        input: &InputRequest<'_>,
    ) -> Asking {
        let task = Arc::default();
        let body = Arc::new(Body { method: input.method(), params: input.raw().to_string() });
        let question = ServerRequest { body: Arc::clone(&body), cancellation: Cancellation::new(&task) };
        ask(question, Owed { hub: Arc::clone(hub), place, body, answer: None });
        Asking(task)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
