//! The right to answer one request, and what it remembers of it.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::StreamId;
use crate::json::{Decimal, Json, SortKey, WriteText, Writer};
use crate::peer::slots::{InFlight, Ticket};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::revision::Revision;
use crate::rpc::code;
use crate::server::config::ServerConfig;
use crate::server::feature::Change;
use crate::server::features::catalogue::{Catalogue, Found, find};
use crate::server::features::tool_result::{ToolResult, write_text};
use crate::server::inbound_request::InboundRequest;
use crate::server::pending_event::RequestKind;
use crate::server::server_state::{ServerState, Shape};
use crate::time::Millis;

/// What an answer depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) revision: Revision,
    pub(crate) kind: RequestKind,
    pub(crate) capabilities: ClientCapabilities,
    /// Stateless era: the least severe log message that the request wants.
    pub(crate) level: Option<Level>,
    /// Of the next page of a list: the entry that it begins with.
    pub(crate) first: u32,
    pub(crate) stream: StreamId,
    /// It is a member of a batch: its answer waits for those of the others.
    pub(crate) batched: bool,
}

/// Where a request's id and progress token stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// In the line that is being dealt with.
    Line { id: &'a [u8], meta: &'a [u8], last: SortKey },
    /// In the slot of a deferred request.
    Slot(Ticket),
}

impl<'a> Source<'a> {
    /// The id: empty, if there is none.
    pub(crate) fn id<'i>(&self, in_flight: &'i InFlight<'_, InboundRequest>) -> &'i [u8]
    where
        'a: 'i,
    {
        match self {
            Source::Line { id, .. } => id,
            Source::Slot(ticket) => id_in(in_flight, *ticket),
        }
    }
}

/// The id in a slot.
fn id_in<'i>(in_flight: &'i InFlight<'_, InboundRequest>, ticket: Ticket) -> &'i [u8] {
    match in_flight.id(ticket) {
        // Its time is over: it cannot be found any more.
        b"" => in_flight.text(ticket),
        id => id,
    }
}

/// A request that waits for its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) context: Context,
}

impl<'a> Pending<'a> {
    /// A request of which no more is known than its id, empty if it has none.
    pub(crate) fn of_line(id: &'a [u8], stream: StreamId, batched: bool) -> Pending<'a> {
        let context = Context {
            revision: Revision::V2024_11_05,
            kind: RequestKind::Machine,
            capabilities: ClientCapabilities::NONE,
            level: None,
            first: 0,
            stream,
            batched,
        };
        Pending { source: Source::Line { id, meta: &[], last: SortKey::NONE }, context }
    }
}

/// The machine behind a token, which hides the machine's own lifetime, so that a token has only one. There is one way
/// in, so that only what is done with tokens is linked.
pub(crate) trait Machine: Send {
    fn with(&mut self, act: &mut dyn FnMut(&mut ServerState<'_>));
}

impl Machine for ServerState<'_> {
    fn with(&mut self, act: &mut dyn FnMut(&mut ServerState<'_>)) {
        act(self);
    }
}

/// The right to answer one request, now or later. Every answer consumes it, and none can fail: one that does not fit
/// is replaced by a small error, and the next event is a [`ProtocolError`].
///
/// Dropping it is no answer. A call that was handed out by an event is then answered with an error at the next poll;
/// one that was [deferred](crate::server::Call::defer) stays in flight.
#[must_use = "a request has to be answered"]
pub struct Reply<'a> {
    pub(crate) machine: &'a mut (dyn Machine + 'a),
    pub(crate) info: &'a ServerConfig<'a>,
    pub(crate) pending: Pending<'a>,
}

impl<'a> Reply<'a> {
    /// The revision in which the request was made.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.pending.context.revision
    }

    /// What the client said it can do.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.pending.context.capabilities
    }

    /// The stream that the request came from, in frame mode.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.pending.context.stream
    }

    /// The request's `_meta`, if it stands in the line.
    pub(crate) fn meta(&self) -> Json<'a> {
        match self.pending.source {
            Source::Line { meta, .. } if !meta.is_empty() => Json::trusted(meta),
            _ => Json::EMPTY_OBJECT,
        }
    }

    /// What the feature that has this catalogue knows of an entry.
    pub(crate) fn find(&self, catalogue: Catalogue, is: &dyn Fn(&str) -> bool) -> Found<'a> {
        find(self.info, catalogue, is)
    }

    /// Answers a tool call with one piece of text.
    pub fn text(self, text: impl WriteText) {
        self.answer_text(&text, false);
    }

    /// Answers a tool call with the text of what went wrong. For the model to read: the tool ran and failed.
    pub fn fail(self, why: impl WriteText) {
        self.answer_text(&why, true);
    }

    /// Answers a tool call with several pieces of content, a structured value beside them, or both.
    pub fn content(self, body: impl FnOnce(&mut ToolResult<'_, '_>)) {
        let mut body = Some(body);
        self.tool_result(&mut |out, revision, pads| {
            let mut result = ToolResult::begin(out, revision);
            if let Some(body) = body.take() {
                body(&mut result);
            }
            result.end(pads)
        });
    }

    /// Answers a tool call with structured content, mirrored as text for clients that do not know it.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        self.content(|result| result.structured(value));
    }

    /// The same for a value that `body` writes.
    pub fn structured_with(self, body: impl FnOnce(&mut Writer<'_>)) {
        self.content(|result| result.structured_with(body));
    }

    /// Answers with a JSON-RPC error. Codes of your own should lie outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl WriteText) {
        self.answer(Shape::Error, &mut |out| {
            write_code(out, code, &message);
            true
        });
    }

    /// Answers with a JSON-RPC error with `data`: a value that `data` writes.
    pub fn error_with(self, code: i32, message: impl WriteText, data: impl FnOnce(&mut Writer<'_>)) {
        let mut data = Some(data);
        self.answer(Shape::Error, &mut |out| {
            write_code(out, code, &message);
            out.key("data");
            write_once(out, &mut data)
        });
    }

    /// Says that the arguments are not what the tool needs. From `2025-11-25` on that is a result for the model to
    /// read and to correct itself by, before it is an error (-32602).
    #[inline(never)]
    pub fn invalid(self, why: impl WriteText) {
        if self.pending.context.revision >= Revision::V2025_11_25 {
            self.fail(("Invalid arguments: ", why));
        } else {
            self.error(code::INVALID_PARAMS, ("Invalid arguments: ", why));
        }
    }

    /// Says that too much is going on (-32603), naming how many requests can be in flight.
    pub fn busy(self) {
        let Reply { machine, pending, .. } = self;
        machine.with(&mut |core| {
            let limit = core.in_flight.limit();
            core.refuse_with(&pending, ProtocolError::TooManyInFlight { limit });
        });
    }

    /// Reports progress, if the request asked for it. It must grow each time.
    ///
    /// # Errors
    /// [`SendError::NotWanted`]: the request did not ask, or it has not grown. [`SendError::Unwritable`]: it does not fit
    /// beside the answer that is still to come. Either way the request goes on.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let Reply { machine, pending, .. } = self;
        let progress = progress.into();
        let mut outcome = Ok(());
        machine.with(&mut |core| outcome = core.progress(pending, progress, total, message));
        outcome
    }

    /// Sends a log message that belongs to this request: text.
    ///
    /// # Errors
    /// [`SendError::Unsupported`]: the server does not offer [`Logging`](crate::server::Logging).
    /// [`SendError::NotWanted`]: the client wants only more severe ones. [`SendError::Unwritable`]: it does not fit beside
    /// the answer that is still to come.
    pub fn log(&mut self, level: Level, logger: Option<&str>, text: impl WriteText) -> Result<(), SendError> {
        self.write_log(level, logger, &mut |out| {
            out.display(&text);
            true
        })
    }

    /// Sends a log message that belongs to this request: the one JSON value that `data` writes.
    ///
    /// # Errors
    /// As for [`log`](Reply::log); and [`SendError::Unwritable`]: it is no such value.
    pub fn log_with(
        &mut self,
        level: Level,
        logger: Option<&str>,
        data: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), SendError> {
        let mut data = Some(data);
        self.write_log(level, logger, &mut |out| write_once(out, &mut data))
    }

    fn write_log(
        &mut self,
        level: Level,
        logger: Option<&str>,
        data: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<(), SendError> {
        let Reply { machine, pending, .. } = self;
        let mut outcome = Ok(());
        machine.with(&mut |core| outcome = core.log(&pending.context, level, logger, data));
        outcome
    }

    /// Says that something has changed, as [`Server::changed`](crate::Server::changed) does.
    pub fn changed(&mut self, change: Change<'_>) {
        self.machine.with(&mut |core| core.set_changed(change));
    }

    /// Leaves the answer for later.
    pub(crate) fn defer(&mut self, time: Option<Millis>) -> Option<Ticket> {
        let Reply { machine, pending, .. } = self;
        let mut ticket = None;
        machine.with(&mut |core| ticket = core.defer(pending, time));
        ticket
    }

    fn answer_text(self, text: &dyn WriteText, failed: bool) {
        self.tool_result(&mut |out, _, pads| {
            write_text(out, text, failed, pads);
            true
        });
    }

    fn tool_result(self, body: &mut dyn FnMut(&mut Writer<'_>, Revision, bool) -> bool) {
        let (revision, kind) = (self.pending.context.revision, self.pending.context.kind);
        let pads = matches!(kind, RequestKind::CallTool { pads: true });
        let fits = matches!(kind, RequestKind::CallTool { .. });
        self.result(fits, Shape::Result, &mut |out| body(out, revision, pads));
    }

    /// Answers with a result, if it is one for a request of this kind.
    pub(crate) fn result(self, fits: bool, shape: Shape, body: &mut dyn FnMut(&mut Writer<'_>) -> bool) {
        if fits { self.answer(shape, body) } else { self.refuse(ProtocolError::InvalidReply) }
    }

    pub(crate) fn answer(self, shape: Shape, body: &mut dyn FnMut(&mut Writer<'_>) -> bool) {
        let Reply { machine, pending, .. } = self;
        machine.with(&mut |core| core.answer(&pending, shape, body));
    }

    /// Answers with the error of a fault.
    pub(crate) fn refuse(self, fault: ProtocolError) {
        let Reply { machine, pending, .. } = self;
        machine.with(&mut |core| core.refuse_with(&pending, fault));
    }

    /// The same for what the host has done: it hears of it.
    pub(crate) fn refuse_and_report(self, fault: ProtocolError) {
        let Reply { machine, pending, .. } = self;
        machine.with(&mut |core| {
            core.refuse_with(&pending, fault);
            core.fault = Some(fault);
        });
    }
}

/// Lets the host write one value. `false`: it is none.
pub(crate) fn write_once(out: &mut Writer<'_>, body: &mut Option<impl FnOnce(&mut Writer<'_>)>) -> bool {
    let mut write = |out: &mut Writer<'_>| {
        if let Some(body) = body.take() {
            body(out);
        }
    };
    out.value_checked(&mut write).is_ok() || out.overflowed()
}

fn write_code(out: &mut Writer<'_>, code: i32, message: &dyn WriteText) {
    out.key("code");
    out.integer(code.into());
    out.key("message");
    out.display(message);
}

impl core::fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reply").field("pending", &self.pending).finish_non_exhaustive()
    }
}
