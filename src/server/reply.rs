//! The right to answer one request, and what it remembers of it.

use crate::fault::{Fault, NotNow};
use crate::frame::StreamId;
use crate::inflight::{Data, Ticket};
use crate::json::{Decimal, Json, Text, Writer};
use crate::rpc::code;
use crate::server::catalogue::{Catalogue, Found, find};
use crate::server::core::Shape;
use crate::server::feature::Change;
use crate::server::info::ServerInfo;
use crate::server::plan::RequestKind;
use crate::server::tool_result::{ToolResult, write_text};
use crate::time::Millis;
use crate::types::capabilities::ClientCapabilities;
use crate::types::level::Level;
use crate::version::Revision;

/// What an answer depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub(crate) revision: Revision,
    pub(crate) kind: RequestKind,
    pub(crate) capabilities: ClientCapabilities,
    /// Stateless era: the least severe log message that the request wants.
    pub(crate) level: Option<Level>,
    pub(crate) stream: StreamId,
    /// It is a member of a batch: its answer waits for those of the others.
    pub(crate) batched: bool,
}

/// A request that the server has in flight: a deferred one of the client's, or one of its own.
#[derive(Debug, Clone, Copy)]
pub struct Incoming {
    pub(crate) id_length: u16,
    pub(crate) context: Context,
    pub(crate) last_progress: Option<Decimal>,
    pub(crate) stage: Stage,
}

/// Whose request it is, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The client's: the host answers it later.
    Deferred,
    /// The client's: its time is over, and the host has heard so. Its text is its id; the error for it waits for room.
    Expired,
    /// Ours: its answer is awaited, for so many milliseconds from the next poll on.
    Asked { timeout: u32, running: bool, progress: bool },
    /// Ours: there will be no answer, and the host is to hear so.
    Lost,
    /// Ours: the host has heard its end. Its text is why; the cancellation waits for room.
    Withdrawn,
    /// Ours: the host has heard its end, and the client does not have to.
    Over,
}

impl Stage {
    /// Whether it is a request of ours.
    pub(crate) fn is_ours(self) -> bool {
        !matches!(self, Stage::Deferred | Stage::Expired)
    }
}

impl Data for Incoming {
    const EMPTY: Incoming = Incoming {
        id_length: 0,
        context: Context {
            revision: Revision::V2024_11_05,
            kind: RequestKind::Machine,
            capabilities: ClientCapabilities::NONE,
            level: None,
            stream: StreamId::NONE,
            batched: false,
        },
        last_progress: None,
        stage: Stage::Deferred,
    };

    fn id_length(&self) -> usize {
        self.id_length.into()
    }
}

/// Where a request's id and progress token stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// In the line that is being dealt with.
    Line { id: &'a [u8], meta: &'a [u8], last: Option<Decimal> },
    /// In the slot of a deferred request.
    Slot(Ticket),
}

impl<'a> Source<'a> {
    pub(crate) fn of_line(id: &'a [u8]) -> Source<'a> {
        Source::Line { id, meta: &[], last: None }
    }
}

/// What a token needs of the machine. It hides the machine's own lifetime, so that a token has only one.
pub(crate) trait Answering: Send {
    fn answer(
        &mut self,
        source: &Source<'_>,
        context: Context,
        shape: Shape,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    );
    fn refuse_fault(&mut self, source: &Source<'_>, context: Context, fault: Fault);
    fn progress(
        &mut self,
        source: &mut Source<'_>,
        context: Context,
        progress: Decimal,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), NotNow>;
    fn log(
        &mut self,
        context: Context,
        level: Level,
        logger: Option<&str>,
        data: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<(), NotNow>;
    fn defer(&mut self, source: &Source<'_>, context: Context, time: Option<Millis>) -> Option<Ticket>;
    fn changed(&mut self, change: Change<'_>);
    fn report(&mut self, fault: Fault);
    fn in_flight_limit(&self) -> usize;
}

/// The right to answer one request, now or later. Every answer consumes it, and none can fail: one that does not fit
/// is replaced by a small error, and the next event is a [`Fault`].
///
/// Dropping it is no answer. A call that was handed out by an event is then answered with an error at the next poll;
/// one that was [deferred](crate::server::Call::defer) stays in flight.
#[must_use = "a request has to be answered"]
pub struct Reply<'a> {
    pub(crate) machine: &'a mut (dyn Answering + 'a),
    pub(crate) info: &'a ServerInfo<'a>,
    pub(crate) source: Source<'a>,
    pub(crate) context: Context,
}

impl<'a> Reply<'a> {
    /// The revision in which the request was made.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.context.revision
    }

    /// What the client said it can do.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.context.capabilities
    }

    /// The stream that the request came from, in frame mode.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.context.stream
    }

    /// The request's `_meta`, if it stands in the line.
    pub(crate) fn meta(&self) -> Json<'a> {
        match self.source {
            Source::Line { meta, .. } if !meta.is_empty() => Json::trusted(meta),
            _ => Json::EMPTY_OBJECT,
        }
    }

    /// What the feature that has this catalogue knows of an entry.
    pub(crate) fn find(&self, catalogue: Catalogue, is: &dyn Fn(&str) -> bool) -> Found<'a> {
        find(self.info, catalogue, is)
    }

    /// Answers a tool call with one piece of text.
    pub fn text(self, text: impl Text) {
        self.tool_result(&mut |out, _, pads| {
            write_text(out, &text, false, pads);
            true
        });
    }

    /// Answers a tool call with the text of what went wrong. For the model to read: the tool ran and failed.
    pub fn fail(self, why: impl Text) {
        self.tool_result(&mut |out, _, pads| {
            write_text(out, &why, true, pads);
            true
        });
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
    pub fn structured<T: serde::Serialize + ?Sized>(self, value: &T) {
        self.content(|result| result.structured(value));
    }

    /// The same for a value that `body` writes.
    pub fn structured_with(self, body: impl FnOnce(&mut Writer<'_>)) {
        self.content(|result| result.structured_with(body));
    }

    /// Answers with a JSON-RPC error. Codes of your own should lie outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl Text) {
        let Reply { machine, source, context, .. } = self;
        machine.answer(&source, context, Shape::Error, &mut |out| {
            write_code(out, code, &message);
            true
        });
    }

    /// Answers with a JSON-RPC error with `data`: a value that `data` writes.
    pub fn error_with(self, code: i32, message: impl Text, data: impl FnOnce(&mut Writer<'_>)) {
        let Reply { machine, source, context, .. } = self;
        let mut data = Some(data);
        machine.answer(&source, context, Shape::Error, &mut |out| {
            write_code(out, code, &message);
            out.key("data");
            write_once(out, &mut data)
        });
    }

    /// Says that the arguments are not what the tool needs. From `2025-11-25` on that is a result for the model to
    /// read and to correct itself by, before it is an error (-32602).
    pub fn invalid(self, why: impl Text) {
        if self.context.revision >= Revision::V2025_11_25 {
            self.fail(("Invalid arguments: ", why));
        } else {
            self.error(code::INVALID_PARAMS, ("Invalid arguments: ", why));
        }
    }

    /// Says that too much is going on (-32603), naming how many requests can be in flight.
    pub fn busy(self) {
        let limit = self.machine.in_flight_limit();
        let Reply { machine, source, context, .. } = self;
        machine.refuse_fault(&source, context, Fault::TooManyInFlight { limit });
    }

    /// Reports progress, if the request asked for it. It must grow each time.
    ///
    /// # Errors
    /// [`NotNow::NotWanted`]: the request did not ask, or it has not grown. [`NotNow::Unwritable`]: it does not fit
    /// beside the answer that is still to come. Either way the request goes on.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), NotNow> {
        let messages = self.context.revision >= Revision::V2025_03_26;
        self.machine.progress(&mut self.source, self.context, progress.into(), &mut |out| {
            if let Some(total) = total {
                out.key("total");
                out.decimal(total);
            }
            if messages && !message.is_empty() {
                out.key("message");
                out.string(message);
            }
        })
    }

    /// Sends a log message that belongs to this request: text.
    ///
    /// # Errors
    /// [`NotNow::Unsupported`]: the server does not offer [`Logging`](crate::server::Logging).
    /// [`NotNow::NotWanted`]: the client wants only more severe ones. [`NotNow::Unwritable`]: it does not fit beside
    /// the answer that is still to come.
    pub fn log(&mut self, level: Level, logger: Option<&str>, text: impl Text) -> Result<(), NotNow> {
        self.machine.log(self.context, level, logger, &mut |out| {
            out.display(&text);
            true
        })
    }

    /// Sends a log message that belongs to this request: the one JSON value that `data` writes.
    ///
    /// # Errors
    /// As for [`log`](Reply::log); and [`NotNow::Unwritable`]: it is no such value.
    pub fn log_with(
        &mut self,
        level: Level,
        logger: Option<&str>,
        data: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), NotNow> {
        let mut data = Some(data);
        self.machine.log(self.context, level, logger, &mut |out| write_once(out, &mut data))
    }

    /// Says that something has changed, as [`Server::changed`](crate::Server::changed) does.
    pub fn changed(&mut self, change: Change<'_>) {
        self.machine.changed(change);
    }

    fn tool_result(self, body: &mut dyn FnMut(&mut Writer<'_>, Revision, bool) -> bool) {
        let (revision, kind) = (self.context.revision, self.context.kind);
        let pads = matches!(kind, RequestKind::CallTool { pads: true });
        let fits = matches!(kind, RequestKind::CallTool { .. });
        self.result(fits, Shape::Result, &mut |out| body(out, revision, pads));
    }

    /// Answers with a result, if it is one for a request of this kind.
    pub(crate) fn result(self, fits: bool, shape: Shape, body: &mut dyn FnMut(&mut Writer<'_>) -> bool) {
        let Reply { machine, source, context, .. } = self;
        if fits {
            machine.answer(&source, context, shape, body);
        } else {
            machine.refuse_fault(&source, context, Fault::InvalidReply);
        }
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

fn write_code(out: &mut Writer<'_>, code: i32, message: &dyn Text) {
    out.key("code");
    out.integer(code.into());
    out.key("message");
    out.display(message);
}

impl core::fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reply")
            .field("source", &self.source)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
