//! Inbound requests of both roles: progress, responses, deferral, expiry.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::{Decimal, Json, Kind, SortKey, Span, Writer};
use crate::peer::request::{Inbound, InboundData, InboundState, Request};
use crate::peer::slots::{Data, InFlight, Ticket};
use crate::peer::transmit_buffer::{Overflow, TransmitBuffer};
use crate::peer::{Peer, Role};
use crate::protocol::meta;
use crate::rpc::{self, Object};
use crate::time::Millis;

/// The location of a request's id and progress token.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// The current line. `meta` is the request's `_meta`, or empty.
    Line { id: &'a [u8], meta: &'a [u8], last_progress: SortKey },
    /// The slot of a deferred request.
    Slot(Ticket),
}

/// Writes the id of the request as JSON, or the ticket.
impl core::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Source::Line { id, .. } => Json::trusted(id).fmt(f),
            Source::Slot(ticket) => ticket.fmt(f),
        }
    }
}

impl<'a> Source<'a> {
    /// Creates a source for the current line, without `_meta`.
    pub(crate) fn from_id(id: &'a [u8]) -> Source<'a> {
        Source::Line { id, meta: &[], last_progress: SortKey::NONE }
    }

    /// Returns the id as JSON text; empty without an id.
    pub(crate) fn id<'i, D: Data>(&self, in_flight: &'i InFlight<'_, D>) -> &'i [u8]
    where
        'a: 'i,
    {
        match self {
            Source::Line { id, .. } => id,
            Source::Slot(ticket) => in_flight.id_or_text(*ticket),
        }
    }

    /// Returns the progress token as JSON text; empty without a token. The request of a [`Slot`](Source::Slot) must be
    /// in a [deferred](InboundState::is_deferred) state, because in other states the slot may not contain the token.
    pub(crate) fn progress_token<'i, D: Data>(&self, in_flight: &'i InFlight<'_, D>) -> &'i [u8]
    where
        'a: 'i,
    {
        match self {
            Source::Line { meta, .. } => progress_token(meta),
            Source::Slot(ticket) => match in_flight.text_after_id(*ticket) {
                // The client stores the whole `_meta` of a request that belongs to a task.
                meta @ [b'{', ..] => progress_token(meta),
                token => token,
            },
        }
    }

    /// Returns the `_meta` of the request. Returns `None` if the line or the slot has no `_meta`.
    pub(crate) fn meta<'i, D: Data>(&self, in_flight: &'i InFlight<'_, D>) -> Option<Json<'i>>
    where
        'a: 'i,
    {
        let meta = match self {
            Source::Line { meta, .. } => meta,
            Source::Slot(ticket) => in_flight.text_after_id(*ticket),
        };
        meta.starts_with(b"{").then(|| Json::trusted(meta))
    }
}

/// Returns the last reported progress of a request. Returns `None` if the request has ended.
#[inline(never)]
fn last_progress<'s, I: InboundData, O: Copy>(
    source: &'s mut Source<'_>,
    in_flight: &'s mut InFlight<'_, Request<I, O>>,
) -> Option<&'s mut SortKey> {
    match source {
        Source::Line { last_progress, .. } => Some(last_progress),
        Source::Slot(ticket) => in_flight.inbound_mut(*ticket).map(|inbound| &mut inbound.last_progress),
    }
}

/// Returns the progress token in `_meta` as JSON text; empty without a token.
fn progress_token(meta: &[u8]) -> &[u8] {
    meta::progress_token(Json::trusted(meta)).map_or(b"", Json::bytes)
}

/// Returns the id and reason in `notifications/cancelled`. Returns `None` if the id is not valid. Ignores an invalid
/// reason.
pub(crate) fn parse_cancellation(line: &[u8], params: Span) -> Option<(Json<'_>, Span)> {
    let [id, reason] = Object::new(line, params, None).spans(&["requestId", "reason"]);
    let has_reason = rpc::kind(line, reason) == Kind::String;
    let id = Some(rpc::view(line, id)).filter(|id| rpc::is_id(*id))?;
    Some((id, if has_reason { reason } else { Span::MISSING }))
}

/// Writes `{"jsonrpc":"2.0","id":…,"error":{"code":…`, without the member `id` if `id` is empty.
#[cold]
pub(crate) fn begin_error(out: &mut Writer<'_>, id: &[u8], code: i32) {
    match id {
        b"" => out.token(r#"{"jsonrpc":"2.0","error":{"code":"#),
        id => out.wrapped(r#"{"jsonrpc":"2.0","id":"#, id, r#","error":{"code":"#),
    }
    out.integer(code.into());
}

/// The reason why a response was not written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ResponseError {
    TooLarge,
    Invalid,
}

impl ResponseError {
    /// Returns the error for the application. `limit` is the maximum size of a response.
    pub(crate) fn with_limit(self, limit: usize) -> ProtocolError {
        match self {
            ResponseError::TooLarge => ProtocolError::ReplyTooLarge { limit },
            ResponseError::Invalid => ProtocolError::InvalidReply,
        }
    }
}

/// Writes a response of at most `space` bytes. `body` writes the message, and returns whether the message is valid.
#[inline]
pub(crate) fn write_response(
    output: &mut TransmitBuffer<'_>,
    routing: Routing,
    space: usize,
    body: impl FnOnce(&mut Writer<'_>) -> bool,
) -> Result<(), ResponseError> {
    let mut out = output.begin_message(space);
    let valid = body(&mut out);
    let written = out.finish().filter(|_| valid);
    let failure = if valid { ResponseError::TooLarge } else { ResponseError::Invalid };
    output.end_message(routing, written).map_err(|Overflow| failure)
}

/// Writes `notifications/progress` without its end. Omits an empty `message`.
pub(crate) fn begin_progress(
    out: &mut Writer<'_>,
    token: &[u8],
    progress: Decimal,
    total: Option<Decimal>,
    message: &str,
) {
    out.token(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#);
    out.json_bytes(token);
    out.key("progress");
    out.decimal(progress);
    if let Some(total) = total {
        out.key("total");
        out.decimal(total);
    }
    if !message.is_empty() {
        out.field_string("message", message);
    }
}

/// The end of a message whose last member is an object.
pub(crate) const END: &str = "}}";

impl<R: Role> Peer<'_, R> {
    /// Records that a request has its response. Releases the slot of a deferred request.
    pub(crate) fn close(&mut self, source: &Source<'_>) {
        match source {
            Source::Line { .. } => self.response_pending = false,
            Source::Slot(ticket) => self.in_flight.release(*ticket),
        }
    }

    /// Reserves space for a response, if the application may respond now.
    ///
    /// # Errors
    /// [`SendError::Busy`] if another response holds or awaits the space (`is_taken`), if the space is too small, or if
    /// a pending error or a queued message must precede the response. The machine emits `Writable` later.
    pub(crate) fn reserve_reply(&mut self, is_taken: bool) -> Result<(), SendError> {
        let has_queued = self.pending_error.is_some() || self.in_flight.has_queued();
        if is_taken || has_queued || !self.reserve_response() {
            return Err(self.busy());
        }
        Ok(())
    }

    /// Sends progress of an inbound request. Leaves `reserved` bytes of the request's space for the response. Omits an
    /// empty `message`.
    ///
    /// # Errors
    /// [`SendError::NotWanted`]: the request has ended or has no progress token, or `progress` has not increased.
    /// [`SendError::Unwritable`]: the message does not fit beside the reserved bytes.
    pub(crate) fn write_progress(
        &mut self,
        source: &mut Source<'_>,
        stream: StreamId,
        reserved: usize,
        progress: Decimal,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let key = progress.sort_key();
        if last_progress(source, &mut self.in_flight).is_none_or(|last| key <= *last) {
            return Err(SendError::NotWanted);
        }
        let token = source.progress_token(&self.in_flight);
        if token.is_empty() {
            return Err(SendError::NotWanted);
        }
        let space = self.available().saturating_sub(reserved);
        let mut out = self.output.begin_message(space);
        begin_progress(&mut out, token, progress, total, message);
        out.token(END);
        let written = out.finish();
        let routing = Routing::on_stream(OutboundMessageKind::Notification, stream);
        self.output.end_message(routing, written).map_err(|Overflow| SendError::Unwritable)?;
        if let Some(last) = last_progress(source, &mut self.in_flight) {
            *last = key;
        }
        Ok(())
    }

    /// Defers the request in the current line, with the timeout `time`, or without a timeout if `time` is `None`.
    /// Returns `None` if no slot is free, if the id does not fit into a slot, or if `source` is a slot.
    pub(crate) fn defer(
        &mut self,
        source: &Source<'_>,
        stream: StreamId,
        context: R::Inbound,
        time: Option<Millis>,
    ) -> Option<Ticket> {
        let Source::Line { id, meta, last_progress } = *source else { return None };
        let token = progress_token(meta);
        // If the slot has no space for the token, the application cannot report progress.
        let fits = id.len().wrapping_add(token.len()) <= self.in_flight.text_limit();
        let token = if fits { token } else { b"" };
        let inbound = Inbound { last_progress, stream, context, state: InboundState::Deferred };
        let ticket = self.in_flight.take(Request::Inbound(inbound), time.map(|time| self.now.plus(time)))?;
        if !self.in_flight.set_id(ticket, id, token) {
            self.in_flight.release(ticket);
            return None;
        }
        self.response_pending = false;
        Some(ticket)
    }

    /// Expires a deferred request, or ends a request with a chunked response whose last piece does not fit yet. The
    /// peer can no longer cancel the request, and the application can no longer respond.
    ///
    /// Queues the error response or the last piece until the transmit buffer has space.
    pub(crate) fn expire(&mut self, ticket: Ticket) {
        self.in_flight.remove_id(ticket);
        self.in_flight.set_deadline(ticket, None);
        self.in_flight.enqueue(ticket);
        if let Some(inbound) = self.in_flight.inbound_mut(ticket) {
            inbound.state = InboundState::Expired;
        }
    }

    /// Drops a deferred request of a closed connection. A later poll emits the event for the end of the request.
    pub(crate) fn drop_deferred(&mut self, ticket: Ticket) {
        self.in_flight.set_deadline(ticket, Some(Millis::ZERO));
        if let Some(inbound) = self.in_flight.inbound_mut(ticket) {
            inbound.state = InboundState::Dropped;
        }
    }
}
