//! The requests that a host answers: what they say, and the right to answer them.

use core::fmt::Display;

use crate::fault::{Fault, NotNow};
use crate::frame::StreamId;
use crate::inflight::Ticket;
use crate::json::{Decimal, Json, Str, Writer};
use crate::server::core::Shape;
use crate::server::feature::Change;
use crate::server::page;
use crate::server::reply::Reply;
use crate::server::round::Returned;
use crate::server::tools::{Tool, ToolResult, UNKNOWN_TOOL};
use crate::time::Millis;
use crate::types::capabilities::ClientCapabilities;
use crate::types::input::{Input, OpenUrl};
use crate::types::level::Level;
use crate::types::meta;
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

impl<'a> Call<'a> {
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

    /// What the client has answered to what this call [needed](Call::needs_input) before, by its key: read it with
    /// [`ElicitAnswer::of`](crate::input::ElicitAnswer::of) and the like. The client's word, as all of a call.
    #[must_use]
    pub fn input(&self, key: &str) -> Option<Json<'a>> {
        self.returned.input(key)
    }

    /// The state that went with what this call needed before, as the client sent it back. A client may send anything:
    /// where something depends on it, sign it, and check the signature.
    #[must_use]
    pub fn request_state(&self) -> Option<Str<'a>> {
        self.returned.request_state()
    }

    /// The request's `_meta`, an object; empty if it has none. Traces are there: `traceparent`, `tracestate`, `baggage`.
    #[must_use]
    pub fn meta(&self) -> Json<'a> {
        if self.meta.is_empty() { Json::EMPTY_OBJECT } else { Json::trusted(self.meta) }
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

    /// What the client declared, as it wrote it: with `experimental`, and `extensions`. Empty before `2026-07-28`, where
    /// [`Connected::capabilities`] has it.
    #[must_use]
    pub fn client_capabilities(&self) -> Json<'a> {
        self.meta().get(meta::CLIENT_CAPABILITIES).unwrap_or(Json::EMPTY_OBJECT)
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

    /// Whether the call may be answered with what it [needs](Call::needs_input): in `2026-07-28`.
    #[must_use]
    pub fn can_round_trip(&self) -> bool {
        self.reply.can_round_trip()
    }

    /// Answers with what is needed first; the client makes the call again, with the answers: see
    /// [`Reply::needs_input`].
    pub fn needs_input(self, inputs: &[(&str, &dyn Input)], state: Option<&str>) {
        self.reply.needs_input(inputs, state);
    }

    /// Answers that the user has to open web pages first: see [`Reply::needs_urls`].
    pub fn needs_urls(self, pages: &[OpenUrl<'_>]) {
        self.reply.needs_urls(pages);
    }

    /// Answers that the client lacks something that the tool needs: see [`Reply::needs_capability`].
    pub fn needs_capability(self, missing: ClientCapabilities) {
        self.reply.needs_capability(missing);
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

/// A request for the host's own list of tools, for one page of it.
///
/// Specification: *Tools*, *Listing tools*.
#[must_use = "a request has to be answered"]
#[derive(Debug)]
pub struct ListTools<'a> {
    pub(crate) reply: Reply<'a>,
    pub(crate) first: u32,
}

impl ListTools<'_> {
    /// The revision in which the request was made.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.reply.revision()
    }

    /// Answers with as many tools as fit into one message, and with a cursor if there are more. `tool` gives the tool
    /// with an index, counted from 0, or `None` behind the last one.
    ///
    /// A tool that fits into no page, or whose schema is not valid, is left out, and the next event is a
    /// [`Fault`].
    pub fn tools<'t>(self, mut tool: impl FnMut(usize) -> Option<Tool<'t>>) {
        let ListTools { reply: Reply { machine, source, context }, first } = self;
        let first = first as usize;
        if first > 0 && tool(first).is_none() {
            machine.refuse_fault(&source, context, Fault::BadCursor);
            machine.report(Fault::BadCursor);
            return;
        }
        let mut left_out = 0;
        machine.answer(&source, context, Shape::List, &mut |out| {
            let page = page::write(out, "tools", first, &mut |index, out| {
                tool(index).map(|tool| tool.write(context.revision, out).is_ok())
            });
            left_out = page.left_out;
            true
        });
        if left_out > 0 {
            machine.report(Fault::EntriesLeftOut { count: left_out });
        }
    }

    /// Answers with a JSON-RPC error.
    pub fn error(self, code: i32, message: impl Display) {
        self.reply.error(code, message);
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

    /// What the client declared.
    #[must_use]
    pub fn capabilities(&self) -> Json<'a> {
        self.capabilities
    }
}
