//! The requests that a host answers: what they say, and the right to answer them.

use core::fmt::Display;

use crate::fault::{Fault, NotNow};
use crate::frame::StreamId;
use crate::inflight::Ticket;
use crate::json::{Decimal, Json, Writer};
use crate::server::catalogue::{Catalogue, Found};
use crate::server::event::{Event, Parts};
use crate::server::feature::Change;
use crate::server::reply::Reply;
use crate::server::request::rounds;
use crate::server::round::Returned;
use crate::server::tool_result::ToolResult;
use crate::server::tools::{Tool, UNKNOWN_TOOL};
use crate::time::Millis;
use crate::types::capabilities::ClientCapabilities;
use crate::types::level::Level;
use crate::version::Revision;

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
    pub(crate) meta: &'a [u8],
    pub(crate) returned: Returned<'a>,
    pub(crate) reply: Reply<'a>,
}

rounds!(Call);

impl<'a> Call<'a> {
    pub(crate) fn event<'e>(parts: Parts<'e>, reply: Reply<'e>) -> Event<'e> {
        let Parts { subject: name, arguments, meta, returned } = parts;
        Event::Call(Call { name, arguments, meta, returned, reply })
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
    pub fn arguments<T: serde::Deserialize<'a>>(&mut self) -> Result<T, crate::json::TypedError> {
        crate::json::decode_arguments(core::mem::take(&mut self.arguments))
    }

    /// The arguments as they are: an object.
    #[must_use]
    pub fn raw_arguments(&self) -> Json<'_> {
        if self.arguments.is_empty() { Json::EMPTY_OBJECT } else { Json::trusted(self.arguments) }
    }

    /// The request's `_meta`, an object; empty if it has none. Traces are there: `traceparent`, `tracestate`, `baggage`.
    #[must_use]
    pub fn meta(&self) -> Json<'a> {
        if self.meta.is_empty() { Json::EMPTY_OBJECT } else { Json::trusted(self.meta) }
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

    /// The revision in which the request was made.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.reply.revision()
    }

    /// What the client said it can do.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.reply.client()
    }

    /// The stream that the request came from, in frame mode.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.reply.stream()
    }

    /// Answers with one piece of text.
    pub fn text(self, text: impl Display) {
        self.reply.text(text);
    }

    /// Answers with the text of what went wrong: the tool ran and failed. For the model to read.
    pub fn fail(self, why: impl Display) {
        self.reply.fail(why);
    }

    /// Answers with several pieces of content.
    pub fn content(self, body: impl FnOnce(&mut ToolResult<'_, '_>)) {
        self.reply.content(body);
    }

    /// Answers with structured content, mirrored as text for clients that do not know it.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde::Serialize + ?Sized>(self, value: &T) {
        self.reply.structured(value);
    }

    /// The same for a value that `body` writes.
    pub fn structured_with(self, body: impl FnOnce(&mut Writer<'_>)) {
        self.reply.structured_with(body);
    }

    /// Says that the arguments are not what the tool needs: see [`Reply::invalid`].
    pub fn invalid(self, why: impl Display) {
        self.reply.invalid(why);
    }

    /// Says that there is no such tool (-32602).
    pub fn unknown_tool(self) {
        let name = self.name;
        self.reply.error(UNKNOWN_TOOL, format_args!("{}: {name}", Fault::UnknownTool.message()));
    }

    /// Says that too much is going on (-32603), naming how many requests can be in flight.
    pub fn busy(self) {
        self.reply.busy();
    }

    /// Answers with a JSON-RPC error. Codes of your own should lie outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl Display) {
        self.reply.error(code, message);
    }

    /// Answers with a JSON-RPC error with `data`: a value that `data` writes.
    pub fn error_with(self, code: i32, message: impl Display, data: impl FnOnce(&mut Writer<'_>)) {
        self.reply.error_with(code, message, data);
    }

    /// Reports progress now, before the answer: see [`Reply::progress`].
    ///
    /// # Errors
    /// It was not asked for, has not grown, or does not fit beside the answer. The call goes on.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), NotNow> {
        self.reply.progress(progress, total, message)
    }

    /// Sends a log message that belongs to this call: see [`Reply::log`].
    ///
    /// # Errors
    /// It is not wanted, or does not fit beside the answer. The call goes on.
    pub fn log(&mut self, level: Level, logger: Option<&str>, text: impl Display) -> Result<(), NotNow> {
        self.reply.log(level, logger, text)
    }

    /// Sends a log message that belongs to this call, of any JSON value: see [`Reply::log_with`].
    ///
    /// # Errors
    /// As for [`log`](Call::log).
    pub fn log_with(
        &mut self,
        level: Level,
        logger: Option<&str>,
        data: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), NotNow> {
        self.reply.log_with(level, logger, data)
    }

    /// Says that something has changed, as [`Server::changed`](crate::Server::changed) does.
    pub fn changed(&mut self, change: Change<'_>) {
        self.reply.changed(change);
    }

    /// Leaves the answer for later: [`Server::reply`](crate::Server::reply) gives it for the ticket. If that does not
    /// happen within `time` (the server's limit, if none is given), the machine answers with an error and says so.
    ///
    /// # Errors
    /// The call comes back if no slot is free, to be answered now, for example with [`busy`](Call::busy).
    #[expect(clippy::result_large_err, reason = "there is no heap to box it on")]
    pub fn defer(self, time: Option<Millis>) -> Result<Ticket, Call<'a>> {
        match self.reply.machine.defer(&self.reply.source, self.reply.context, time) {
            Some(ticket) => Ok(ticket),
            None => Err(self),
        }
    }
}

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
        ClientCapabilities::of(self.capabilities)
    }
}
