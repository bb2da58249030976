//! `Reply`: responds to one request, now or later.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::StreamId;
use crate::json::{Decimal, Json, WriteBody, WriteText, Writer};
use crate::peer::inbound::Source;
use crate::peer::request::Inbound;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::objects::application_json::write_once;
use crate::protocol::objects::tool_result::{ToolResult, write_text};
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::code;
use crate::server::config::ServerConfig;
use crate::server::feature::Change;
use crate::server::features::catalog::{Listed, find_entry};
use crate::server::pending_event::RequestKind;
use crate::server::request_context::Context;
use crate::server::response_status::record_failure;
use crate::server::server_state::{ServerState, Shape};
use crate::server::write_message::{once_tool_result, write_error_message};
use crate::time::Millis;

/// A request that awaits its response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) stream: StreamId,
    pub(crate) context: Context,
}

impl<'a> Pending<'a> {
    /// Creates a pending request with this id and default properties. If the request has no id, `id` is empty.
    pub(crate) fn from_line(id: &'a [u8], stream: StreamId, batched: bool) -> Pending<'a> {
        Pending { source: Source::from_id(id), stream, context: Context::new(batched) }
    }

    /// Creates the pending request of a slot.
    pub(crate) fn in_slot(ticket: Ticket, inbound: &Inbound<Context>) -> Pending<'a> {
        Pending { source: Source::Slot(ticket), stream: inbound.stream, context: inbound.context }
    }
}

/// Access to the [`ServerState`] behind a [`Reply`].
///
/// The trait object hides the lifetime of the state, so that a `Reply` has only one lifetime. Every server links the
/// methods of the trait, so the trait has few methods. `respond` and `refuse` are methods of the trait, because they
/// work differently for a call that has become, or must become, a task.
pub(crate) trait StateAccess: Send {
    fn with(&mut self, act: &mut dyn Act);

    /// Responds to a request.
    fn respond(&mut self, pending: &Pending<'_>, shape: Shape, body: &mut dyn WriteBody);

    /// Responds to a request with an error.
    fn refuse(&mut self, pending: &Pending<'_>, error: ProtocolError);

    /// Returns the user of the current message, or 0.
    #[cfg(feature = "alloc")]
    fn user(&self) -> u64;
}

/// A closure that accesses the state. Not `dyn FnMut`, because its virtual table costs flash: see [`WriteBody`].
pub(crate) trait Act {
    fn act(&mut self, state: &mut ServerState<'_>);
}

impl<F: FnMut(&mut ServerState<'_>)> Act for F {
    fn act(&mut self, state: &mut ServerState<'_>) {
        self(state);
    }
}

impl StateAccess for ServerState<'_> {
    fn with(&mut self, act: &mut dyn Act) {
        act.act(self);
    }

    fn respond(&mut self, pending: &Pending<'_>, shape: Shape, body: &mut dyn WriteBody) {
        self.respond_and_close(pending, shape, body);
    }

    fn refuse(&mut self, pending: &Pending<'_>, error: ProtocolError) {
        self.refuse_with(pending, error);
    }

    #[cfg(feature = "alloc")]
    fn user(&self) -> u64 {
        self.user
    }
}

/// Responds to one request, now or later.
///
/// Every response method consumes the reply. Only [`chunked`](Reply::chunked) can fail. A response may be too large,
/// not valid, or of a kind that does not suit the request, such as [`text`](Reply::text) for a prompt. The server then
/// sends an error response (-32603), and the next event is a [`ProtocolError`].
///
/// Dropping a reply sends no response. If the application drops the request of an event, the server responds with an
/// error at the next poll. If the application drops the reply to a [deferred](crate::server::Call::defer) request, the
/// request stays in flight.
#[must_use = "a request needs a response"]
pub struct Reply<'a> {
    pub(crate) state: &'a mut (dyn StateAccess + 'a),
    pub(crate) config: &'a ServerConfig<'a>,
    pub(crate) pending: Pending<'a>,
}

impl<'a> Reply<'a> {
    /// Returns the revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.pending.context.revision()
    }

    /// Returns the capabilities that the client declared.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.pending.context.capabilities
    }

    /// Returns whether the request is a tool call.
    #[must_use]
    pub fn is_tool_call(&self) -> bool {
        self.call_kind().0
    }

    /// Returns the id of a request in the current line, as JSON. Returns `null` for other requests.
    pub(crate) fn id(&self) -> Json<'a> {
        match self.pending.source {
            Source::Line { id, .. } if !id.is_empty() => Json::trusted(id),
            _ => Json::NULL,
        }
    }

    /// Returns the stream of the request in message mode. Returns [`StreamId::NONE`] outside of message mode, and for a
    /// deferred call that has become a task.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.pending.stream
    }

    /// Returns the user of a request in the current line. Returns `None` for other requests, and for a request without
    /// a user.
    #[cfg(feature = "alloc")]
    pub(crate) fn user(&self) -> Option<u64> {
        match self.pending.source {
            Source::Line { .. } => Some(self.state.user()).filter(|user| *user != 0),
            Source::Slot(_) => None,
        }
    }

    /// Returns the `_meta` of a request in the current line. Returns an empty object for other requests, and for a
    /// request without `_meta`.
    pub(crate) fn meta(&self) -> Json<'a> {
        match self.pending.source {
            Source::Line { meta, .. } if !meta.is_empty() => Json::trusted(meta),
            _ => Json::EMPTY_OBJECT,
        }
    }

    /// Finds the first entry of a static catalog whose key satisfies the predicate.
    pub(crate) fn find<E: Listed<'a>>(&self, matches: &dyn Fn(&str) -> bool) -> Option<&'a E> {
        find_entry(self.config, matches)
    }

    /// Responds to a tool call with one text block.
    pub fn text(self, text: impl WriteText) {
        self.respond_text(&text, false);
    }

    /// Responds to a tool call with a failure (`isError`) as text. The text is for the model.
    pub fn fail(self, why: impl WriteText) {
        self.respond_text(&why, true);
    }

    /// Responds to a tool call with content blocks, structured content, or both.
    pub fn content(self, body: impl FnOnce(&mut ToolResult<'_, '_>)) {
        let ((fits, pad_structured), revision) = (self.call_kind(), self.revision());
        let Reply { state, config, pending } = self;
        let (mut write, mut failed) = (once_tool_result(body), false);
        let mut body = |out: &mut Writer<'_>| {
            let (is_valid, is_failure) = write(out, revision, pad_structured);
            failed = is_failure;
            is_valid
        };
        Reply { state: &mut *state, config, pending }.result(fits, Shape::Result, &mut body);
        if failed {
            record_failure(state);
        }
    }

    /// Responds to a tool call with structured content and a text copy. The text is for clients that do not support
    /// structured content.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        self.content(|result| result.structured(value));
    }

    /// Responds to a tool call with the structured content that `body` writes, and a text copy.
    pub fn structured_with(self, body: impl FnOnce(&mut Writer<'_>)) {
        self.content(|result| result.structured_with(body));
    }

    /// Responds with a JSON-RPC error. Choose application codes outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl WriteText) {
        self.respond_error(code, &message);
    }

    /// Responds with a JSON-RPC error. `data` must write exactly one value, the member `data`.
    pub fn error_with(self, code: i32, message: impl WriteText, data: impl FnOnce(&mut Writer<'_>)) {
        let mut data = Some(data);
        self.respond(Shape::Error(code), &mut |out: &mut Writer<'_>| {
            write_error_message(out, &message);
            out.key("data");
            write_once(out, &mut data)
        });
    }

    /// Responds that the arguments are not valid.
    ///
    /// Since `2025-11-25` the response to a tool call is a result (`isError`), so that the model can correct the
    /// arguments. In earlier revisions, and for all other requests, the response is an error (-32602).
    #[inline(never)]
    pub fn invalid(self, why: impl WriteText) {
        let why = ("Invalid arguments: ", why);
        if self.is_tool_call() && self.revision().has(WireFeature::ArgumentErrorResults) {
            self.respond_text(&why, true);
        } else {
            self.respond_error(code::INVALID_PARAMS, &why);
        }
    }

    /// Responds that the server is busy (-32603). If every slot is taken, the error contains the maximum number of
    /// requests in flight. A maximum of 0 means that the server has [no slots](crate::Server::in_flight).
    #[inline(never)]
    pub fn busy(self) {
        let Reply { state, pending, .. } = self;
        let mut error = ProtocolError::Busy;
        state.with(&mut |state: &mut ServerState<'_>| {
            let limit = state.peer.in_flight.limit();
            if state.peer.in_flight.len() >= limit {
                error = ProtocolError::TooManyInFlight { limit };
            }
        });
        state.refuse(&pending, error);
    }

    /// Sends progress if the request has a progress token. The value must grow each time.
    ///
    /// The request stays open, even after an error.
    ///
    /// # Errors
    /// [`SendError::NotWanted`]: the request has no progress token, its token did not fit beside its id into the [text
    /// of a slot](crate::Server::in_flight), `progress` has not grown, or the call has become a
    /// [task](crate::server::Tasks::automatic). [`SendError::Unwritable`]: the transmit buffer has no space besides the
    /// space reserved for the response.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let Reply { state, pending, .. } = self;
        let progress = progress.into();
        let mut outcome = Ok(());
        state.with(&mut |state: &mut ServerState<'_>| {
            outcome = state.progress(pending, progress, total, message)
        });
        outcome
    }

    /// Sends a log message that relates to this request, as text.
    ///
    /// # Errors
    /// [`SendError::Unsupported`]: the server does not have the feature [`Logging`](crate::server::Logging).
    /// [`SendError::NotWanted`]: the client does not receive messages of this level, or the call has become a task.
    /// [`SendError::NotConnected`]: the request belongs to another session than the
    /// [current](crate::Server::replace_session) one. [`SendError::Unwritable`]: the transmit buffer has no space
    /// besides the space reserved for the response.
    pub fn log(&mut self, level: Level, logger: Option<&str>, text: impl WriteText) -> Result<(), SendError> {
        self.write_log(level, logger, &mut |out: &mut Writer<'_>| {
            out.display(&text);
        })
    }

    /// Sends a log message that relates to this request, as a JSON value. `data` writes the value.
    ///
    /// # Errors
    /// The errors of [`log`](Reply::log). [`SendError::Invalid`]: `data` does not write exactly one value.
    pub fn log_with(
        &mut self,
        level: Level,
        logger: Option<&str>,
        data: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), SendError> {
        let mut data = Some(data);
        self.write_log(level, logger, &mut |out: &mut Writer<'_>| write_once(out, &mut data))
    }

    fn write_log(
        &mut self,
        level: Level,
        logger: Option<&str>,
        data: &mut dyn WriteBody,
    ) -> Result<(), SendError> {
        let Reply { state, pending, .. } = self;
        let mut outcome = Ok(());
        state.with(&mut |state: &mut ServerState<'_>| outcome = state.log(pending, level, logger, data));
        outcome
    }

    /// Reports a change: see [`Server::changed`](crate::Server::changed).
    pub fn changed(&mut self, change: Change<'_>) {
        self.state.with(&mut |state: &mut ServerState<'_>| state.record_change(change));
    }

    pub(crate) fn advance_time(&mut self, now: Millis) {
        self.state.with(&mut |state: &mut ServerState<'_>| state.peer.now = state.peer.now.max(now));
    }

    /// Defers the response. Returns `None` if no slot is free, if the id does not fit into the text of a slot, or if
    /// the request is a batch member while another batch is open.
    pub(crate) fn defer(&mut self, time: Option<Millis>) -> Option<Ticket> {
        let Reply { state, pending, .. } = self;
        let mut ticket = None;
        state.with(&mut |state: &mut ServerState<'_>| ticket = state.defer(pending, time));
        ticket
    }

    fn respond_text(self, text: &dyn WriteText, failed: bool) {
        let (fits, pad_structured) = self.call_kind();
        let Reply { state, config, pending } = self;
        let mut body = |out: &mut Writer<'_>| write_text(out, text, failed, pad_structured);
        Reply { state: &mut *state, config, pending }.result(fits, Shape::Result, &mut body);
        if failed {
            record_failure(state);
        }
    }

    fn respond_error(self, code: i32, message: &dyn WriteText) {
        let mut body = |out: &mut Writer<'_>| write_error_message(out, message);
        self.respond(Shape::Error(code), &mut body);
    }

    /// Returns whether the request is a tool call, and whether to add empty structured content if the result has
    /// none.
    fn call_kind(&self) -> (bool, bool) {
        match self.pending.context.kind {
            RequestKind::CallTool { pad_structured, .. } => (true, pad_structured),
            _ => (false, false),
        }
    }

    /// Responds with a result. `fits` is whether the kind of the request can have this result. If not, the server
    /// responds as if `body` returned `false`.
    pub(crate) fn result(self, fits: bool, shape: Shape, body: &mut dyn WriteBody) {
        let mut invalid = |_: &mut Writer<'_>| false;
        self.respond(shape, if fits { body } else { &mut invalid });
    }

    pub(crate) fn respond(self, shape: Shape, body: &mut dyn WriteBody) {
        self.state.respond(&self.pending, shape, body);
    }

    /// Responds with an error for an unknown name. Omits the name if the response would not fit.
    #[inline(never)]
    pub(crate) fn refuse_name(self, error: ProtocolError, name: &str) {
        let Reply { state, pending, .. } = self;
        state.with(&mut |state: &mut ServerState<'_>| {
            state.write_error_response(&pending, error, Some(&name));
            state.close(&pending.source);
        });
    }

    /// Responds with an error, and reports the error as an event.
    pub(crate) fn refuse_and_report(self, error: ProtocolError) {
        let Reply { state, pending, .. } = self;
        state.refuse(&pending, error);
        state.with(&mut |state: &mut ServerState<'_>| state.peer.pending_error = Some(error));
    }
}

impl core::fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reply").field("pending", &self.pending).finish_non_exhaustive()
    }
}
