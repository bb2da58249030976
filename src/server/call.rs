//! The requests that a host answers: what they say, and the right to answer them.

use crate::error::ProtocolError;
use crate::json::{Json, WriteText, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::revision::Revision;
use crate::server::event::{Event, Parts};
use crate::server::features::catalogue::{Catalogue, Found};
use crate::server::features::tool_result::ToolResult;
use crate::server::features::tools::{Tool, UNKNOWN_TOOL};
use crate::server::input_required::InputResponses;
use crate::server::reply::Reply;
use crate::server::request::{request, rounds};

/// A call of a tool: its name and arguments, which stand in the receive buffer, and the right to answer it.
///
/// Every answer consumes it, and none can fail. A call that is dropped without an answer gets an error (-32603) at the
/// next poll.
///
/// Specification: *Tools*, *Calling tools*.
#[must_use = "a call has to be answered"]
#[derive(Debug)]
pub struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a mut [u8],
    pub(crate) returned: InputResponses<'a>,
    pub(crate) reply: Reply<'a>,
}

impl<'a> Call<'a> {
    pub(crate) fn event<'e>(parts: Parts<'e>, reply: Reply<'e>) -> Option<Event<'e>> {
        let Parts { subject: name, arguments, returned } = parts;
        Some(Event::Call(Call { name, arguments, returned, reply }))
    }

    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The arguments, decoded. Strings are decoded where they stand, so that fields may be `&str` whatever escapes the
    /// client used. This can be done once: afterwards the arguments are an empty object.
    ///
    /// # Errors
    /// They are not what `T` wants: hand the error to [`invalid`](Call::invalid).
    #[cfg(feature = "serde")]
    #[inline(never)]
    pub fn arguments<T: serde_core::Deserialize<'a>>(&mut self) -> Result<T, crate::json::TypedError> {
        crate::json::decode_in_place(core::mem::take(&mut self.arguments))
    }

    /// The arguments as they are: an object.
    #[must_use]
    pub fn raw_arguments(&self) -> Json<'_> {
        if self.arguments.is_empty() { Json::EMPTY_OBJECT } else { Json::trusted(self.arguments) }
    }

    /// The tool's entry in the catalogue, if that is the machine's. Its schemas are there, for a host that validates
    /// arguments and results against them:
    ///
    /// ```
    /// # use mcp_proto::server::Call;
    /// # fn violation(schema: &str, value: &str) -> Option<&'static str> { None }
    /// # fn answer(call: Call<'_>) {
    /// let schema = call.tool().map_or("{}", |tool| tool.input_schema());
    /// match violation(schema, call.raw_arguments().raw()) {
    ///     Some(why) => call.invalid(why),
    ///     None => call.text("as it should be"),
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn tool(&self) -> Option<&'a Tool<'a>> {
        match self.reply.find(Catalogue::Tools, &|tool| tool == self.name) {
            Found::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Answers with one piece of text.
    pub fn text(self, text: impl WriteText) {
        self.reply.text(text);
    }

    /// Answers with the text of what went wrong: the tool ran and failed. For the model to read.
    pub fn fail(self, why: impl WriteText) {
        self.reply.fail(why);
    }

    /// Answers with several pieces of content.
    pub fn content(self, body: impl FnOnce(&mut ToolResult<'_, '_>)) {
        self.reply.content(body);
    }

    /// Answers with structured content, mirrored as text for clients that do not know it.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        self.reply.structured(value);
    }

    /// The same for a value that `body` writes.
    pub fn structured_with(self, body: impl FnOnce(&mut Writer<'_>)) {
        self.reply.structured_with(body);
    }

    /// Says that the arguments are not what the tool needs: see [`Reply::invalid`].
    #[inline(never)]
    pub fn invalid(self, why: impl WriteText) {
        self.reply.invalid(why);
    }

    /// Says that there is no such tool (-32602).
    #[inline(never)]
    pub fn unknown_tool(self) {
        let name = self.name;
        self.reply.error(UNKNOWN_TOOL, (ProtocolError::UnknownTool.message(), ": ", name));
    }
}

request!(Call);
rounds!(Call);

/// A client has connected and was answered (`initialize`).
#[derive(Debug, Clone, Copy)]
pub struct Connected<'a> {
    pub(crate) revision: Revision,
    pub(crate) info: Json<'a>,
    pub(crate) capabilities: Json<'a>,
}

impl<'a> Connected<'a> {
    /// The revision that both speak now.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Who the client says it is: `name`, `version` and more. Not to be trusted.
    #[must_use]
    pub fn client_info(&self) -> Json<'a> {
        self.info
    }

    /// What the client declared, as it wrote it.
    #[must_use]
    pub fn capabilities(&self) -> Json<'a> {
        self.capabilities
    }

    /// What the client said it can do.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        ClientCapabilities::from_json(self.capabilities)
    }
}
