//! Events `Call` (`tools/call`) and `Connected` (`initialize`).

use core::borrow::BorrowMut;

use crate::error::ProtocolError;
use crate::framing::LineDecoder;
use crate::json::{Json, WriteText, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::objects::tool::Tool;
use crate::protocol::objects::tool_result::ToolResult;
use crate::protocol::revision::Revision;
use crate::server::event::{Event, RequestParts};
use crate::server::reply::StateAccess;
use crate::server::request_context::Context;
use crate::server::request_methods::{input_methods, request_methods};
use crate::server::server_state::ServerState;
use crate::server::tasks::access::TaskAccess;

/// A tool call (`tools/call`), with its response methods. The arguments are in the receive buffer.
///
/// A response method consumes the call. Only [`chunked`](Call::chunked), [`into_task`](Call::into_task) and
/// [`defer`](Call::defer) can fail. On failure, these methods return the call. If the application drops the call, the
/// server responds with an error (-32603) at the next poll.
///
/// Specification: *Tools*, *Calling tools*.
#[must_use = "a call needs a response"]
pub struct Call<'a> {
    pub(crate) parts: RequestParts<'a>,
    pub(crate) arguments: &'a mut [u8],
}

impl core::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let RequestParts { subject, input_responses, reply, .. } = &self.parts;
        let mut out = f.debug_struct("Call");
        out.field("name", subject).field("arguments", &self.raw_arguments());
        out.field("input_responses", input_responses).field("reply", reply).finish()
    }
}

impl<'a> Call<'a> {
    pub(crate) fn event<'e>(
        input: &'e mut LineDecoder<'_>,
        state: &'e mut TaskAccess<'_>,
        context: Context,
    ) -> Option<Event<'e>> {
        Call::event_with(input, &mut **state, context)
    }

    /// Creates the event with this access to the state.
    pub(crate) fn event_with<'b: 'e, 'e>(
        input: &'e mut LineDecoder<'_>,
        access: &'e mut (impl StateAccess + BorrowMut<ServerState<'b>>),
        context: Context,
    ) -> Option<Event<'e>> {
        let mut arguments = &mut [][..];
        let parts = RequestParts::with_arguments(input, access, context, &mut arguments);
        Some(Event::Call(Call { parts, arguments }))
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.parts.subject
    }

    /// Deserializes the arguments.
    ///
    /// The method decodes strings in place, so that fields may be `&str` even if the client used escapes. Call the
    /// method once: afterwards, the arguments are an empty object.
    ///
    /// # Errors
    /// The arguments do not match `T`: pass the error to [`invalid`](Call::invalid).
    #[cfg(feature = "serde")]
    #[inline(never)]
    pub fn arguments<T: serde_core::Deserialize<'a>>(&mut self) -> Result<T, crate::json::TypedError> {
        crate::json::decode_in_place(core::mem::take(&mut self.arguments))
    }

    /// Returns the arguments as JSON, an object.
    #[must_use]
    pub fn raw_arguments(&self) -> Json<'_> {
        if self.arguments.is_empty() { Json::EMPTY_OBJECT } else { Json::trusted(self.arguments) }
    }

    /// Returns the entry of the tool in a static catalog. Returns `None` for a tool of a dynamic list.
    ///
    /// The entry has the schemas, so that an application can validate arguments and results:
    ///
    /// ```
    /// # use mcp_proto::server::Call;
    /// # fn violation(schema: &str, value: &str) -> Option<&'static str> { None }
    /// # fn answer(call: Call<'_>) {
    /// let schema = call.tool().map_or("{}", |tool| tool.input_schema());
    /// match violation(schema, call.raw_arguments().raw()) {
    ///     Some(why) => call.invalid(why),
    ///     None => call.text("valid"),
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn tool(&self) -> Option<&'a Tool<'a>> {
        self.parts.reply.find(&|tool| tool == self.parts.subject)
    }

    /// Responds with one text block.
    pub fn text(self, text: impl WriteText) {
        self.parts.reply.text(text);
    }

    /// Responds with a tool failure (`isError`) as text for the model.
    pub fn fail(self, why: impl WriteText) {
        self.parts.reply.fail(why);
    }

    /// Responds with content blocks, structured content, or both.
    pub fn content(self, body: impl FnOnce(&mut ToolResult<'_, '_>)) {
        self.parts.reply.content(body);
    }

    /// Responds with structured content and a text copy. The text is for clients that do not support structured
    /// content.
    ///
    /// In debug builds with the features `std` and `derive`, the server checks the content against the output schema of
    /// a tool in a static catalog. If the content does not match, the response is a failure that names the invalid
    /// member.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        let schema = self.schema_to_check();
        self.parts.reply.structured_with_schema(value, schema);
    }

    /// Responds with the structured content that `body` writes, and a text copy.
    pub fn structured_with(self, body: impl FnOnce(&mut Writer<'_>)) {
        self.parts.reply.structured_with(body);
    }

    /// Responds with a result of an extension's own type: see
    /// [`Reply::result_of_type`](crate::server::Reply::result_of_type).
    pub fn result_of_type(self, result_type: &str, members: impl FnOnce(&mut Writer<'_>)) {
        self.parts.reply.result_of_type(result_type, members);
    }

    /// Responds that the arguments are not valid: see [`Reply::invalid`](crate::server::Reply::invalid).
    #[inline(never)]
    pub fn invalid(self, why: impl WriteText) {
        self.parts.reply.invalid(why);
    }

    /// Responds that the tool does not exist (-32602).
    #[inline(never)]
    pub fn unknown_tool(self) {
        self.parts.reply.refuse_name(ProtocolError::UnknownTool, self.parts.subject);
    }
}

request_methods!(Call);
input_methods!(Call);

/// A connected client: the server has responded to its `initialize`.
#[derive(Debug, Clone, Copy)]
pub struct Connected<'a> {
    pub(crate) revision: Revision,
    pub(crate) client_info: Json<'a>,
    pub(crate) capabilities: Json<'a>,
}

impl<'a> Connected<'a> {
    /// Returns the negotiated revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the `clientInfo` of the client: `name`, `version` and more. The value is untrusted input.
    #[must_use]
    pub fn client_info(&self) -> Json<'a> {
        self.client_info
    }

    /// Returns the capabilities that the client declared, as JSON.
    #[must_use]
    pub fn capabilities(&self) -> Json<'a> {
        self.capabilities
    }

    /// Returns the capabilities that the client declared.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        ClientCapabilities::from_json(self.capabilities)
    }
}
