//! State of a server without its input. Writes responses: an error replaces a response that does not fit or is not
//! valid.
//!
//! The input is separate, so that an event can borrow the line and the state at the same time.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{OutboundMessageKind, Routing, SessionKey};
use crate::json::writer::member_cache::MemberCache;
use crate::json::{Decimal, WriteBody, WriteText, Writer};
use crate::peer::inbound::{END, ResponseError, Source, begin_error, write_response};
use crate::peer::lifecycle::{self, State, Table, role};
use crate::peer::outbound::IssuedId;
use crate::peer::request::{InboundData, Request};
use crate::peer::slots::{InFlight, Ticket};
use crate::peer::transmit_buffer::TransmitBuffer;
use crate::peer::{Peer, Role};
use crate::platform::cold_path;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::methods;
use crate::protocol::objects::log_message::write_log;
use crate::protocol::revision::{Revision, WireFeature};
use crate::server::batch::{Batch, BatchHooks, Batches};
use crate::server::change_set::ChangeSet;
use crate::server::chunks::ChunkHook;
use crate::server::config::ServerConfig;
use crate::server::dispatch::Received;
use crate::server::features::subscriptions::registry::SubscriptionRegistry;
use crate::server::in_flight_hooks::{INBOUND, InFlightHooks, id_of};
use crate::server::keep_alive::KeepAliveHooks;
use crate::server::pending_event::{PendingEvent, RequestKind, TaskEvent};
use crate::server::reply::Pending;
use crate::server::request_cache::RequestCache;
use crate::server::request_context::Context;
#[cfg(feature = "alloc")]
use crate::server::response_status::ResponseStatus;
use crate::server::session::OutboundSession;
use crate::server::tasks::hooks::TaskHooks;
use crate::server::tasks::table::TaskStorage;
use crate::server::write_message::{begin_result, id_or_missing, write_error};
use crate::server::{Ending, Server};
use crate::time::Millis;

/// The session that the handshake negotiated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NegotiatedSession {
    pub(crate) revision: Revision,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) level: Option<Level>,
    /// Whether the server has received `notifications/initialized`. Until then, the server sends no change
    /// notifications for the session.
    pub(crate) complete: bool,
}

impl Shape {
    fn kind(self) -> OutboundMessageKind {
        match self {
            Shape::Error(code) => OutboundMessageKind::Error { code },
            _ => OutboundMessageKind::Result,
        }
    }
}

impl Role for role::Server {
    const TABLE: Table = lifecycle::SERVER;
    const START: State = State::Waiting;
    type Session = NegotiatedSession;
    type Inbound = Context;
    type Outbound = OutboundSession;
    type Sequence = ();
    const OTHER_IDS: u32 = 0;
    const PROGRESS_EXTENDS: bool = false;

    /// Finds the outbound request that an id in a message of the client identifies. The sequence number of the id is
    /// the generation of the slot. Returns `Ended` if a request with this generation was in the slot and has ended,
    /// otherwise `Unknown`.
    fn find_issued(peer: &Peer<'_, role::Server>, sequence: u64, slot: u32) -> IssuedId {
        let Ok(generation) = sequence.try_into() else { return IssuedId::Unknown };
        let ticket = Ticket { slot, generation };
        match peer.in_flight.get(ticket) {
            Some(Request::Outbound(_)) => IssuedId::Request(ticket),
            None if peer.in_flight.has_issued(ticket) => IssuedId::Ended,
            Some(Request::Inbound(_)) | None => IssuedId::Unknown,
        }
    }
}

/// The requests in flight of a server.
pub(crate) type RequestTable<'b> = InFlight<'b, Request<Context, OutboundSession>>;

/// The form of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Result,
    /// A result that clients may cache (`2026-07-28`).
    List,
    /// A result that requires input (`2026-07-28`). The client retries the request with the input.
    InputRequired,
    /// A task in place of a result (`2026-07-28`).
    Task,
    /// A result whose `resultType` an extension defines (`2026-07-28`). The body of such a result writes the first
    /// members, such as `resultType`. For other results, `begin_result` writes these members.
    Extension,
    /// The result of `server/discover`. Clients may cache this result. The result always identifies the server.
    Discovery,
    /// An error response with this code.
    Error(i32),
}

/// State of a server without its input.
///
/// Small fields and frequently used fields are near the start, because Thumb loads encode only small offsets. The order
/// leaves no padding between the fields.
#[repr(C)]
pub(crate) struct ServerState<'b> {
    pub(crate) config: &'b ServerConfig<'b>,
    /// Whether the session restarted, and `Event::Restarted` is pending. This event precedes `Event::Connected`.
    pub(crate) restarted: bool,
    /// Whether the server waits for `exit`, because the client sent `shutdown`.
    pub(crate) awaits_exit: bool,
    /// Number of consecutive error responses without an id: see [`Limits`](crate::server::Limits).
    pub(crate) invalid_in_a_row: u8,
    pub(crate) ending: Ending,
    /// Pending change notifications, and the other flags of [`ChangeSet`].
    pub(crate) pending_changes: ChangeSet,
    pub(crate) batches: Batches,
    /// The key of the current session, if the server has several sessions.
    pub(crate) session_key: SessionKey,
    /// Writer of change notifications and of messages about tasks. Set by `enable_change_writer`: at the first change,
    /// at the first `subscriptions/listen`, or when the server gets a task table. A program that never calls
    /// `enable_change_writer` does not link the writer.
    pub(crate) change_writer: Option<fn(&mut Server<'_>) -> bool>,
    /// The event that `event` returns next.
    pub(crate) pending_event: Option<PendingEvent>,
    pub(crate) peer: Peer<'b, role::Server>,
    /// Deadline of the current phase of `ending`.
    pub(crate) ending_deadline: Millis,
    /// Hooks of keep-alive. Set by [`Server::keep_alive`](crate::Server::keep_alive).
    pub(crate) keep_alive_hooks: Option<&'static KeepAliveHooks>,
    /// Hooks of requests in flight. Set when the server gets slots, sends a request, or executes `replace_session`.
    pub(crate) in_flight_hooks: Option<&'static InFlightHooks>,
    pub(crate) tasks: Option<TaskStorage<'b>>,
    pub(crate) registry: SubscriptionRegistry<'b>,
    pub(crate) batch: Batch<'b>,
    /// Hook of chunked responses. Set when the first chunked response opens.
    pub(crate) chunk_hook: Option<ChunkHook>,
    pub(crate) request_cache: RequestCache,
    /// Cache of the first members of plain results ([`Shape::Result`]).
    pub(crate) result_cache: MemberCache,
    /// The kind of the last response.
    #[cfg(feature = "alloc")]
    pub(crate) response_status: Option<ResponseStatus>,
    /// The user of the current message, or 0. Set by [`Server::set_user`](crate::Server::set_user).
    #[cfg(feature = "alloc")]
    pub(crate) user: u64,
}

impl<'b> ServerState<'b> {
    pub(crate) fn new(config: &'b ServerConfig<'b>, output: TransmitBuffer<'b>) -> ServerState<'b> {
        ServerState {
            ending_deadline: Millis::ZERO,
            restarted: false,
            awaits_exit: false,
            invalid_in_a_row: 0,
            ending: Ending::Open,
            pending_changes: ChangeSet::NONE,
            batches: Batches::NONE,
            session_key: SessionKey::NONE,
            peer: Peer::new(output),
            config,
            pending_event: None,
            change_writer: None,
            keep_alive_hooks: None,
            in_flight_hooks: None,
            chunk_hook: None,
            tasks: None,
            registry: SubscriptionRegistry::new((&mut []).into()),
            batch: Batch::none(),
            request_cache: RequestCache::EMPTY,
            result_cache: MemberCache::new(),
            #[cfg(feature = "alloc")]
            response_status: None,
            #[cfg(feature = "alloc")]
            user: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.clear_in_flight();
        self.peer.reset_connection();
        (self.restarted, self.awaits_exit, self.invalid_in_a_row) = (false, false, 0);
        (self.ending, self.pending_changes, self.batches) = (Ending::Open, ChangeSet::NONE, Batches::NONE);
        (self.pending_event, self.chunk_hook) = (None, None);
        #[cfg(feature = "alloc")]
        {
            (self.response_status, self.user) = (None, 0);
        }
        self.in_flight_hooks = self.in_flight_hooks.map(|_| &INBOUND);
        self.session_key = SessionKey::NONE;
        self.registry.clear();
        if let Some(hooks) = self.task_hooks() {
            (hooks.reset)(self);
        }
    }
}

impl ServerState<'_> {
    /// Returns the hooks of tasks. Returns `None` if the server has no table of tasks.
    pub(crate) fn task_hooks(&self) -> Option<&'static TaskHooks> {
        self.tasks.as_ref().map(TaskStorage::hooks)
    }

    /// Sets the next event, and returns [`Received::Event`].
    pub(crate) fn emit(&mut self, pending_event: PendingEvent) -> Received {
        self.pending_event = Some(pending_event);
        Received::Event
    }

    /// Returns the routing of a message that belongs to the current session as a whole.
    pub(crate) fn session_routing(&self, kind: OutboundMessageKind) -> Routing {
        Routing::in_session(kind, self.session_key)
    }

    /// Returns the hooks of batches. Returns `None` without a batch buffer or a session, or if the session's revision
    /// has no batches.
    pub(crate) fn batch_hooks(&self) -> Option<&'static BatchHooks> {
        let hooks = self.batch.hooks?;
        let has_batches = self.peer.session.is_some_and(|session| session.revision.has(WireFeature::Batches));
        has_batches.then_some(hooks)
    }

    /// Returns whether the open batch awaits no deferred response. Returns `false` without an open batch, and while a
    /// batch is in the line.
    pub(crate) fn batch_is_complete(&self) -> bool {
        self.batch.hooks.is_some_and(|hooks| (hooks.is_complete)(self))
    }

    /// Increments the number of deferred batch members if `more`, otherwise decrements the number. No effect unless
    /// `batched`.
    pub(super) fn count_deferred(&mut self, batched: bool, more: bool) {
        if batched && let Some(hooks) = self.batch.hooks {
            (hooks.count_deferred)(self, more);
        }
    }

    /// Calls the [`ChunkHook`] with `ended`. Returns `false` if the hook did nothing or is not set.
    #[inline(never)]
    pub(crate) fn poll_chunks(&mut self, ended: Ticket) -> bool {
        self.chunk_hook.is_some_and(|hook| hook(self, ended))
    }

    /// Returns the maximum size of the next response, in bytes.
    fn response_limit(&self, batched: bool) -> usize {
        let space = self.peer.available();
        // The batch buffer reserves space for further members of the batch.
        match self.batch.hooks {
            Some(hooks) if batched => {
                cold_path();
                space.min((hooks.available)(self))
            }
            _ => space,
        }
    }

    /// Returns the error for a response that does not fit.
    #[cold]
    pub(crate) fn too_large(&self, batched: bool) -> ProtocolError {
        let limit = if batched { self.response_limit(true) } else { self.peer.output.max_reply_size() };
        ProtocolError::ReplyTooLarge { limit }
    }

    /// Writes the response to a request.
    ///
    /// If the response does not fit or is not valid, writes an error response, records the error as pending, and
    /// returns [`Received::Failed`].
    #[inline]
    pub(crate) fn respond(
        &mut self,
        pending: &Pending<'_>,
        shape: Shape,
        body: &mut dyn WriteBody,
    ) -> Received {
        match self.write_response(pending, shape, body) {
            Ok(()) => Received::Done,
            Err(error) => self.replace_response(pending, error),
        }
    }

    /// Writes an error response in place of a response that does not fit or is not valid.
    #[cold]
    fn replace_response(&mut self, pending: &Pending<'_>, error: ResponseError) -> Received {
        let error = match error {
            ResponseError::TooLarge => self.too_large(pending.context.is_batched()),
            ResponseError::Invalid => ProtocolError::InvalidReply,
        };
        self.write_error_response(pending, error, None);
        self.fail(error)
    }

    /// Writes a response, or nothing if the response does not fit or is not valid. In an error response without an id,
    /// [`id_or_missing`] determines whether `id` is `null` or absent.
    fn write_response(
        &mut self,
        pending: &Pending<'_>,
        shape: Shape,
        body: &mut dyn WriteBody,
    ) -> Result<(), ResponseError> {
        let (revision, batched) = (pending.context.revision(), pending.context.is_batched());
        let space = self.response_limit(batched);
        let batched_at = if batched {
            cold_path();
            Some(self.peer.output.message_start())
        } else {
            None
        };
        let (config, routing, cache) =
            (self.config, Routing::on_stream(shape.kind(), pending.stream), &mut self.result_cache);
        let Peer { in_flight, output, session, .. } = &mut self.peer;
        let id = id_of(&pending.source, in_flight, self.in_flight_hooks);
        write_response(output, routing, space, |out| {
            match shape {
                Shape::Error(code) => begin_error(out, id_or_missing(id, config, session), code),
                _ => begin_result(out, id, config, revision, shape, cache),
            }
            let valid = body.write(out);
            out.token(END);
            valid
        })?;
        self.record_status(shape.into());
        if let (Some(start), Some(hooks)) = (batched_at, self.batch.hooks) {
            cold_path();
            (hooks.collect)(self, self.peer.output.end().saturating_sub(start));
        }
        Ok(())
    }

    /// Writes an error response.
    ///
    /// Omits `detail` if the message would not fit. Without `detail` the message fits, because `Server::new` checks
    /// the buffer size.
    #[cold]
    pub(crate) fn write_error_response(
        &mut self,
        pending: &Pending<'_>,
        error: ProtocolError,
        detail: Option<&dyn WriteText>,
    ) {
        let shape = Shape::Error(error.response_code());
        for detail in [detail, None] {
            let mut body = |out: &mut Writer<'_>| {
                write_error(out, error, detail);
            };
            if self.write_response(pending, shape, &mut body).is_ok() {
                return;
            }
        }
    }

    /// Drops the session and all requests in flight, so that a new client can open a session. Also drops the tasks,
    /// unless the task table keeps them on a reset.
    pub(crate) fn restart_session(&mut self) {
        self.peer.session = None;
        self.drop_in_flight();
        if let Some(hooks) = self.task_hooks() {
            (hooks.restart)(self);
        }
        self.pending_changes = ChangeSet::NONE;
        self.registry.clear();
        self.batches = Batches::NONE;
        self.peer.keep_alive.reset();
        self.restarted = true;
    }

    /// Drops the requests in flight. Outbound requests that await a response fail, and later polls emit these failures.
    /// An input request of a task that is removed ends without an event.
    pub(crate) fn drop_in_flight(&mut self) {
        match self.outbound_hooks() {
            Some(hooks) => (hooks.end_all)(self, true),
            None => self.clear_in_flight(),
        }
    }

    /// Returns whether the client of the current session receives change notifications.
    pub(crate) fn is_session_notified(&self) -> bool {
        self.peer.session.is_some_and(|session| session.complete)
    }

    /// Returns the minimum log level of the session. Returns `None` without a session, or if the client set no level.
    pub(crate) fn session_level(&self) -> Option<Level> {
        self.peer.session.and_then(|session| session.level)
    }

    /// Marks a request as complete, and releases its slot, if any.
    pub(crate) fn close(&mut self, source: &Source<'_>) {
        match source {
            Source::Line { .. } => self.peer.response_pending = false,
            Source::Slot(ticket) => self.end_in_flight(*ticket),
        }
    }
}

/// Operations of [`Reply`](crate::server::Reply).
impl ServerState<'_> {
    /// Ensures space for one whole response.
    ///
    /// Returns [`SendError::Busy`] if the buffer has no space, or if a batch or the request of an event has reserved
    /// the space. Also returns `Busy` while a pending error or a queued message must precede the response.
    pub(crate) fn ensure_response_space(&mut self) -> Result<(), SendError> {
        let is_taken = self.has_pending_response() || self.batches.in_line();
        let is_taken = is_taken || self.batch_is_complete();
        self.peer.reserve_reply(is_taken)
    }

    /// Ensures space for a message of the application that is no response.
    ///
    /// Returns [`SendError::Busy`] in the cases of [`ensure_response_space`](Self::ensure_response_space), and if an
    /// earlier message was sent before a received line that still waits for space: see [`ChangeSet::LINE_PASSED`].
    pub(crate) fn ensure_message_space(&mut self) -> Result<(), SendError> {
        if self.pending_changes.any(ChangeSet::LINE_PASSED) {
            return Err(self.peer.busy());
        }
        self.ensure_response_space()?;
        self.pending_changes.pass_line(self.pending_changes.any(ChangeSet::LINE_WAITING));
        Ok(())
    }

    /// Returns whether the request of the current or pending event awaits its response.
    pub(crate) fn has_pending_response(&self) -> bool {
        self.peer.response_pending
            || matches!(
                self.pending_event,
                Some(PendingEvent::Request { .. } | PendingEvent::Task(TaskEvent::Result { .. }))
            )
    }

    pub(crate) fn respond_and_close(
        &mut self,
        pending: &Pending<'_>,
        shape: Shape,
        body: &mut dyn WriteBody,
    ) {
        self.respond(pending, shape, body);
        self.close(&pending.source);
    }

    pub(crate) fn refuse_with(&mut self, pending: &Pending<'_>, error: ProtocolError) {
        self.write_error_response(pending, error, None);
        self.close(&pending.source);
    }

    pub(crate) fn progress(
        &mut self,
        pending: &mut Pending<'_>,
        progress: Decimal,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let Pending { source, stream, context } = pending;
        #[cfg(feature = "alloc")]
        if let Source::Slot(ticket) = source {
            self.restart_timeout(*ticket);
        }
        let message = if context.revision().has(WireFeature::ProgressMessages) { message } else { "" };
        let reserved = self.min_error_size();
        self.peer.write_progress(source, *stream, reserved, progress, total, message)
    }

    pub(crate) fn log(
        &mut self,
        pending: &Pending<'_>,
        level: Level,
        logger: Option<&str>,
        data: &mut dyn WriteBody,
    ) -> Result<(), SendError> {
        if !self.config.has_feature(methods::LOGGING_SET_LEVEL) {
            return Err(SendError::Unsupported);
        }
        let Pending { stream, context, .. } = pending;
        let is_task = matches!(context.kind, RequestKind::CallTool { is_task: true, .. });
        let wanted = if is_task {
            false
        } else if context.revision().has(WireFeature::RequestLogLevel) {
            context.level().is_some_and(|least| level >= least)
        } else if context.owner(*stream) != self.session_key.stream() {
            // The request belongs to another session, so the level of the current session does not apply.
            return Err(SendError::NotConnected);
        } else {
            self.session_level().is_none_or(|least| level >= least)
        };
        if !wanted {
            return Err(SendError::NotWanted);
        }
        let space = self.peer.available().saturating_sub(self.min_error_size());
        let routing = Routing::on_stream(OutboundMessageKind::Notification, *stream);
        let body = &mut |out: &mut Writer<'_>| write_log(out, level, logger, data);
        self.peer.output.write_checked(routing, space, body)
    }
}
