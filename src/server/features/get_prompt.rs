//! Event `GetPrompt` (`prompts/get`) and its response.
//!
//! Specification: *Prompts*, *Getting a prompt*.

use crate::error::ProtocolError;
use crate::framing::LineDecoder;
use crate::json::{Json, Kind, Str, WriteText, Writer};
use crate::protocol::objects::prompt::Prompt;
use crate::protocol::objects::prompt_result::Messages;
use crate::rpc::code;
use crate::server::event::{Event, RequestParts};
use crate::server::pending_event::RequestKind;
use crate::server::reply::Reply;
use crate::server::request_context::Context;
use crate::server::request_methods::{input_methods, request_methods};
use crate::server::server_state::Shape;
use crate::server::tasks::access::TaskAccess;

/// A request for a prompt (`prompts/get`): name, arguments and response methods.
///
/// Every response method consumes the request. Only [`defer`](Self::defer) can fail. On failure, this method returns
/// the request. If the application drops the request, the next poll responds with an error (-32603).
///
/// ```
/// use mcp_proto::server::GetPrompt;
/// fn answer(prompt: GetPrompt<'_>) {
///     match (prompt.name(), prompt.argument("file")) {
///         ("review", Some(file)) => prompt.messages(|messages| {
///             messages.description("A review");
///             messages.user().text(format_args!("Review {file}."));
///             messages.assistant().text("With pleasure.");
///         }),
///         _ => prompt.unknown_prompt(),
///     }
/// }
/// ```
///
/// Specification: *Prompts*, *Getting a prompt*.
#[must_use = "a request needs a response"]
pub struct GetPrompt<'a> {
    pub(crate) parts: RequestParts<'a>,
    pub(crate) arguments: &'a [u8],
}

impl core::fmt::Debug for GetPrompt<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let RequestParts { subject, input_responses, reply, .. } = &self.parts;
        let mut out = f.debug_struct("GetPrompt");
        out.field("name", subject).field("arguments", &self.raw_arguments());
        out.field("input_responses", input_responses).field("reply", reply).finish()
    }
}

impl<'a> GetPrompt<'a> {
    pub(crate) fn event<'e>(
        input: &'e mut LineDecoder<'_>,
        state: &'e mut TaskAccess<'_>,
        context: Context,
    ) -> Option<Event<'e>> {
        let mut arguments = &mut [][..];
        let parts = RequestParts::with_arguments(input, &mut **state, context, &mut arguments);
        Some(Event::GetPrompt(GetPrompt { parts, arguments }))
    }

    /// Returns the name of the prompt.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.parts.subject
    }

    /// Returns the entry of the prompt in a static catalog. Returns `None` for a dynamic list.
    #[must_use]
    pub fn prompt(&self) -> Option<&'a Prompt<'a>> {
        self.parts.reply.find(&|name| name == self.parts.subject)
    }

    /// Returns the arguments as a JSON object.
    #[must_use]
    pub fn raw_arguments(&self) -> Json<'a> {
        if self.arguments.is_empty() { Json::EMPTY_OBJECT } else { Json::trusted(self.arguments) }
    }

    /// Returns the value of an argument. Returns `None` if the client did not send the argument, or sent `null`.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<Str<'a>> {
        let value = self.raw_arguments().get(name)?;
        match value.kind() {
            Kind::Null => None,
            Kind::String => value.string(),
            // `Prompts::stringify` allows numbers and booleans. The JSON text of these values has no escapes.
            _ => Some(Str::trusted(value.bytes())),
        }
    }

    /// Responds with messages.
    pub fn messages(self, body: impl FnOnce(&mut Messages<'_, '_>)) {
        self.parts.reply.messages(body);
    }

    /// Responds that the prompt does not exist (-32602).
    pub fn unknown_prompt(self) {
        self.parts.reply.refuse_name(ProtocolError::UnknownPrompt, self.parts.subject);
    }

    /// Responds that the arguments are not valid (-32602).
    pub fn invalid(self, why: impl WriteText) {
        self.error(code::INVALID_PARAMS, ("Invalid arguments: ", why));
    }
}

request_methods!(GetPrompt);
input_methods!(GetPrompt);

impl Reply<'_> {
    /// Responds to [`GetPrompt`] with messages.
    pub fn messages(self, body: impl FnOnce(&mut Messages<'_, '_>)) {
        let (fits, revision) =
            (matches!(self.pending.context.kind, RequestKind::GetPrompt), self.pending.context.revision());
        let mut body = Some(body);
        self.result(fits, Shape::Result, &mut |out: &mut Writer<'_>| {
            let mut messages = Messages::begin(out, revision);
            if let Some(body) = body.take() {
                body(&mut messages);
            }
            messages.end()
        });
    }
}
