//! State of a server without its input: output, requests in flight, session.
//!
//! The input is separate, so that an event can borrow the line and the state at the same time.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::{Decimal, Json, SortKey, WriteText, Writer};
use crate::peer::keep_alive::KeepAliveState;
use crate::peer::lifecycle::{Lifecycle, role};
use crate::peer::slots::{InFlight, Ticket};
use crate::peer::transmit_buffer::{Overflow, TransmitBuffer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::meta;
use crate::protocol::objects::log_message::write_log;
use crate::protocol::revision::{Revision, Revisions, WireFeature};
use crate::rpc::code;
use crate::server::Ending;
use crate::server::batch::{Batch, BatchHooks, Batches};
use crate::server::change_set::ChangeSet;
use crate::server::config::ServerConfig;
use crate::server::dispatch::Received;
use crate::server::features::subscriptions::registry::SubscriptionRegistry;
use crate::server::inbound_request::InboundRequest;
use crate::server::keep_alive::KeepAliveHooks;
use crate::server::memo::RequestMemo;
use crate::server::outbound_requests::OutboundHooks;
use crate::server::pending_event::{PendingEvent, Spans};
use crate::server::reply::{Context, Pending, Source};
use crate::server::write_message::{END, begin_error, begin_result, write_error};
use crate::time::Millis;

/// A session of the handshake era, as a value: a server with many clients keeps one for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Session {
    pub(crate) revision: Revision,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) level: Option<Level>,
    /// Whether `notifications/initialized` was received. The server sends no change notifications before.
    pub(crate) complete: bool,
}

const _: () = assert!(size_of::<Session>() <= 64, "a session exceeds 64 bytes");

/// The form of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Result,
    /// A result that clients may cache (`2026-07-28`).
    List,
    /// A request for input: the client retries its request with the responses (`2026-07-28`).
    InputRequired,
    /// The result of `server/discover`, which clients may cache and which always identifies the server.
    Discovery,
    /// An error response with this code.
    Error(i32),
}

/// State of a server without its input.
///
/// The byte fields are near the start, because Thumb byte loads encode only small offsets. The order leaves no padding
/// between them.
#[repr(C)]
pub(crate) struct ServerState<'b> {
    pub(crate) now: Millis,
    /// Deadline of the current phase of `ending`.
    pub(crate) ending_deadline: Millis,
    /// Whether the emitted request still awaits its response.
    pub(crate) response_pending: bool,
    /// Whether the emitted event borrows the line. The next poll releases the line.
    pub(crate) event_holds_line: bool,
    /// Whether to emit `Event::Writable`, because `SendError::Busy` was returned.
    pub(crate) report_writable: bool,
    /// Whether the session restarted. The server emits `Event::Restarted` before `Event::Connected`.
    pub(crate) restarted: bool,
    /// Whether the client sent `shutdown` and has not sent `exit`.
    pub(crate) awaits_exit: bool,
    /// Number of consecutive invalid messages.
    pub(crate) invalid_in_a_row: u8,
    pub(crate) lifecycle: Lifecycle<role::Server>,
    pub(crate) ending: Ending,
    /// Changes whose notifications are pending.
    pub(crate) pending_changes: ChangeSet,
    pub(crate) batches: Batches,
    /// Number of slots that outbound requests occupy.
    pub(crate) outbound_count: u16,
    pub(crate) session: Option<Session>,
    pub(crate) config: &'b ServerConfig<'b>,
    /// Highest offset in the transmit buffer that the current request's messages may reach.
    pub(crate) budget: usize,
    /// The event that `event` returns next.
    pub(crate) pending_event: Option<PendingEvent>,
    /// An error in the application's response, emitted at the next poll.
    pub(crate) pending_error: Option<ProtocolError>,
    /// Writes change notifications. The first change or subscription sets it, so that other servers do not link it.
    pub(crate) change_writer: Option<fn(&mut ServerState<'_>)>,
    /// Hooks of keep-alive. Set by [`Server::keep_alive`](crate::Server::keep_alive).
    pub(crate) keep_alive_hooks: Option<&'static &'static dyn KeepAliveHooks>,
    /// Hooks of outbound requests. The first outbound request sets them.
    pub(crate) outbound_hooks: Option<&'static &'static dyn OutboundHooks>,
    pub(crate) output: TransmitBuffer<'b>,
    pub(crate) in_flight: InFlight<'b, InboundRequest>,
    pub(crate) registry: SubscriptionRegistry<'b>,
    pub(crate) batch: Batch<'b>,
    pub(crate) keep_alive: KeepAliveState,
    pub(crate) memo: RequestMemo,
}

impl<'b> ServerState<'b> {
    pub(crate) fn new(config: &'b ServerConfig<'b>, output: TransmitBuffer<'b>) -> ServerState<'b> {
        ServerState {
            config,
            output,
            in_flight: InFlight::empty(),
            lifecycle: Lifecycle::START,
            session: None,
            now: Millis::ZERO,
            budget: 0,
            response_pending: false,
            pending_event: None,
            pending_error: None,
            pending_changes: ChangeSet::NONE,
            change_writer: None,
            registry: SubscriptionRegistry::new((&mut []).into()),
            batch: Batch::none(),
            batches: Batches::NONE,
            ending: Ending::Open,
            ending_deadline: Millis::ZERO,
            event_holds_line: false,
            report_writable: false,
            invalid_in_a_row: 0,
            restarted: false,
            awaits_exit: false,
            keep_alive: KeepAliveState::OFF,
            memo: RequestMemo::EMPTY,
            keep_alive_hooks: None,
            outbound_hooks: None,
            outbound_count: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.output.reset();
        self.in_flight.clear();
        self.lifecycle = Lifecycle::START;
        self.session = None;
        self.registry.clear();
        self.batches = Batches::NONE;
        (self.response_pending, self.pending_error, self.pending_changes, self.report_writable) =
            (false, None, ChangeSet::NONE, false);
        (self.invalid_in_a_row, self.restarted, self.awaits_exit) = (0, false, false);
        (self.event_holds_line, self.ending) = (false, Ending::Open);
        (self.pending_event, self.outbound_hooks, self.outbound_count) = (None, None, 0);
        self.keep_alive.reset();
    }
}

impl ServerState<'_> {
    /// Sets the next event.
    pub(crate) fn emit(&mut self, pending_event: PendingEvent) -> Received {
        self.pending_event = Some(pending_event);
        Received::Event
    }

    /// Returns whether a full response fits. If so, sets `budget` to its maximum end.
    pub(crate) fn reserve_response(&mut self) -> bool {
        let fits = self.output.has_reply_room();
        if fits {
            self.budget = self.output.end().saturating_add(self.output.reply_room());
        }
        fits
    }

    /// The maximum length of a request id. If the server has slots, an id must also fit into the text of a slot.
    pub(crate) fn id_limit(&self) -> usize {
        let (limit, slots) = (self.config.limits.id, &self.in_flight);
        if slots.limit() > 0 { limit.min(slots.text_limit()) } else { limit }
    }

    /// Space left for the current request's messages, in bytes.
    pub(crate) fn available(&self) -> usize {
        self.budget.saturating_sub(self.output.end())
    }

    /// Hooks of batches, if the session has a revision with batches.
    pub(crate) fn batch_hooks(&self) -> Option<&'static &'static dyn BatchHooks> {
        let hooks = self.batch.hooks?;
        let has_batches = self.session.is_some_and(|session| session.revision.has(WireFeature::Batches));
        has_batches.then_some(hooks)
    }

    /// Moves a batch member's response, which starts at `before`, from the output to the batch buffer.
    pub(crate) fn collect(&mut self, batched: bool, before: usize) {
        if batched && let Some(hooks) = self.batch.hooks {
            hooks.collect(self, self.output.end().saturating_sub(before));
        }
    }

    /// Whether every member of the open batch has its response.
    pub(crate) fn batch_is_complete(&self) -> bool {
        self.batch.hooks.is_some_and(|hooks| hooks.is_complete(self))
    }

    /// Increments (`more`) or decrements the number of deferred batch members.
    fn count_deferred(&mut self, batched: bool, more: bool) {
        if batched && let Some(hooks) = self.batch.hooks {
            hooks.count_deferred(self, more);
        }
    }

    /// Handles the next member of the batch in the line.
    pub(crate) fn next_member(&mut self, line: &[u8], stream: StreamId, spans: &mut Spans) -> Received {
        self.batch.hooks.map_or(Received::Done, |hooks| hooks.handle_next(self, line, stream, spans))
    }

    /// Writes the responses of the open batch if it is complete.
    pub(crate) fn write_batch(&mut self) {
        if let Some(hooks) = self.batch.hooks {
            hooks.write_open(self);
        }
    }

    /// Releases the slot of a request.
    pub(crate) fn end_in_flight(&mut self, ticket: Ticket) {
        let batched = self.in_flight.get(ticket).is_some_and(|inbound| inbound.is_batched());
        self.count_deferred(batched, false);
        self.in_flight.release(ticket);
    }

    /// Maximum size of the next response, in bytes.
    fn response_limit(&self, batched: bool) -> usize {
        let space = self.available();
        // The batch buffer reserves space for the other members of the batch.
        match self.batch.hooks {
            Some(hooks) if batched => space.min(hooks.available(self)),
            _ => space,
        }
    }

    /// The error for a response that does not fit.
    pub(crate) fn too_large(&self, batched: bool) -> ProtocolError {
        let limit = if batched { self.response_limit(true) } else { self.output.reply_room() };
        ProtocolError::ReplyTooLarge { limit }
    }

    /// Writes the response to a request.
    ///
    /// If the response does not fit or is not valid, writes an error response instead and returns that error.
    pub(crate) fn respond(
        &mut self,
        pending: &Pending<'_>,
        shape: Shape,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<(), ProtocolError> {
        let Context { revision, stream, batched, .. } = pending.context;
        let (space, before) = (self.response_limit(batched), self.output.message_start());
        let id = pending.source.id(&self.in_flight);
        let mut out = self.output.begin_message(space);
        match shape {
            Shape::Error(code) => begin_error(&mut out, id, code),
            _ => begin_result(&mut out, id, self.config, revision, shape),
        }
        let valid = body(&mut out);
        out.token(END);
        let written = out.finish().ok().filter(|_| valid);
        let kind = match shape {
            Shape::Error(code) => OutboundMessageKind::Error { code },
            _ => OutboundMessageKind::Result,
        };
        if self.output.end_message(Routing::response(kind, stream), written).is_ok() {
            self.collect(batched, before);
            return Ok(());
        }
        let error = if valid { self.too_large(batched) } else { ProtocolError::InvalidReply };
        self.write_error_response(pending, error, None);
        Err(error)
    }

    /// Writes an error response.
    ///
    /// Omits `detail` if the message would not fit. Without `detail` it fits, because `Server::new` checks the buffer
    /// size. The revision determines the form of a missing id.
    pub(crate) fn write_error_response(
        &mut self,
        pending: &Pending<'_>,
        error: ProtocolError,
        detail: Option<&dyn WriteText>,
    ) {
        let Context { stream, batched, .. } = pending.context;
        let (space, before) = (self.response_limit(batched), self.output.message_start());
        let missing_id = self.missing_id();
        let code = error.code().unwrap_or(code::INTERNAL_ERROR);
        for detail in [detail, None] {
            let id = pending.source.id(&self.in_flight);
            let mut out = self.output.begin_message(space);
            begin_error(&mut out, if id.is_empty() { missing_id } else { id }, code);
            write_error(&mut out, error, detail);
            out.token(END);
            let written = out.finish().ok();
            let kind = OutboundMessageKind::Error { code };
            if self.output.end_message(Routing::response(kind, stream), written).is_ok() {
                return self.collect(batched, before);
            }
        }
    }

    /// The text for a missing id: `null` up to `2025-06-18`, empty (no member) since `2025-11-25`.
    ///
    /// Without a session it is `null`, unless the server supports only the stateless era.
    fn missing_id(&self) -> &'static [u8] {
        let known = self.session.map(|session| session.revision);
        let only_stateless = !self.config.revisions.intersects(Revisions::HANDSHAKE);
        let omitted = known.map_or(only_stateless, |revision| revision.has(WireFeature::OmittedErrorIds));
        if omitted { b"" } else { b"null" }
    }

    /// Drops the session and its requests in flight, because a new client has connected.
    pub(crate) fn restart_session(&mut self) {
        self.session = None;
        self.drop_in_flight();
        self.pending_changes = ChangeSet::NONE;
        self.registry.clear();
        self.batches = Batches::NONE;
        self.keep_alive.reset();
        self.restarted = true;
    }

    /// Drops the requests in flight. Emits an event for each outbound request.
    pub(crate) fn drop_in_flight(&mut self) {
        match self.outbound_hooks {
            Some(hooks) => hooks.end_all(self, true),
            None => self.in_flight.clear(),
        }
    }

    /// Whether the client of the handshake era receives change notifications.
    pub(crate) fn is_session_notified(&self) -> bool {
        self.session.is_some_and(|session| session.complete)
    }

    /// The minimum log level of the session, or `None` if the client set none.
    pub(crate) fn session_level(&self) -> Option<Level> {
        self.session.and_then(|session| session.level)
    }

    /// Returns the last reported progress of a request. Fails if the request has no progress token.
    fn progress_of(&self, source: &Source<'_>) -> Result<SortKey, SendError> {
        match source {
            Source::Line { meta, last, .. } => {
                let token = meta::progress_token(Json::trusted(meta)).is_some();
                if token { Ok(*last) } else { Err(SendError::NotWanted) }
            }
            Source::Slot(ticket) => match self.in_flight.get(*ticket) {
                None => Err(SendError::Gone),
                Some(_) if self.in_flight.text_after_id(*ticket).is_empty() => Err(SendError::NotWanted),
                Some(inbound) => Ok(inbound.last_progress),
            },
        }
    }

    /// Marks a request as responded to, and releases its slot.
    pub(crate) fn close(&mut self, source: &Source<'_>) {
        match source {
            Source::Line { .. } => self.response_pending = false,
            Source::Slot(ticket) => self.end_in_flight(*ticket),
        }
    }
}

/// Operations of [`Reply`](crate::server::Reply).
impl ServerState<'_> {
    pub(crate) fn respond_and_close(
        &mut self,
        pending: &Pending<'_>,
        shape: Shape,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) {
        if let Err(error) = self.respond(pending, shape, body) {
            self.pending_error = Some(error);
        }
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
        let Pending { source, context } = pending;
        let rank = progress.rank();
        if rank <= self.progress_of(source)? {
            return Err(SendError::NotWanted);
        }
        let space = self.available().saturating_sub(self.min_error_size());
        let routing = Routing::related_notification(context.stream);
        let token = match source {
            Source::Line { meta, .. } => {
                meta::progress_token(Json::trusted(meta)).map_or(&b""[..], |token| token.bytes())
            }
            Source::Slot(ticket) => self.in_flight.text_after_id(*ticket),
        };
        let mut out = self.output.begin_message(space);
        out.token(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#);
        out.json_bytes(token);
        out.key("progress");
        out.decimal(progress);
        if let Some(total) = total {
            out.key("total");
            out.decimal(total);
        }
        if context.revision.has(WireFeature::ProgressMessages) && !message.is_empty() {
            out.field_string("message", message);
        }
        out.token(END);
        let written = out.finish().ok();
        self.output.end_message(routing, written).map_err(|Overflow| SendError::Unwritable)?;
        match source {
            Source::Line { last, .. } => *last = rank,
            Source::Slot(ticket) => {
                if let Some(inbound) = self.in_flight.get_mut(*ticket) {
                    inbound.last_progress = rank;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn log(
        &mut self,
        context: &Context,
        level: Level,
        logger: Option<&str>,
        data: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<(), SendError> {
        if !self.config.features.iter().any(|feature| feature.is_logging()) {
            return Err(SendError::Unsupported);
        }
        let wanted = if context.revision.has(WireFeature::RequestLogLevel) {
            context.level.is_some_and(|least| level >= least)
        } else {
            self.session_level().is_none_or(|least| level >= least)
        };
        if !wanted {
            return Err(SendError::NotWanted);
        }
        let space = self.available().saturating_sub(self.min_error_size());
        self.output
            .write(Routing::related_notification(context.stream), space, &mut |out| {
                write_log(out, level, logger, data)
            })
            .map_err(|Overflow| SendError::Unwritable)
    }

    pub(crate) fn defer(&mut self, pending: &Pending<'_>, time: Option<Millis>) -> Option<Ticket> {
        let Pending { source: Source::Line { id, meta, last }, context } = *pending else { return None };
        let token = meta::progress_token(Json::trusted(meta)).map_or(&b""[..], |token| token.bytes());
        let token =
            if id.len().wrapping_add(token.len()) <= self.in_flight.text_limit() { token } else { b"" };
        let time = time.unwrap_or(self.config.limits.deferred_timeout);
        let ticket =
            self.in_flight.take(InboundRequest::deferred(context, last), Some(self.now.plus(time)))?;
        // At most one batch may be open, so a member of a second batch cannot be deferred.
        let in_second_batch = context.batched && self.batches.open();
        if in_second_batch || !self.in_flight.set_id(ticket, id, token) {
            self.in_flight.release(ticket);
            return None;
        }
        self.count_deferred(context.batched, true);
        self.response_pending = false;
        Some(ticket)
    }
}
