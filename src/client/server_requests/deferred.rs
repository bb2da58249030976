//! Answering, deferring, cancelling and expiring requests of the server.

use crate::client::client_state::{ClientState, Session};
use crate::client::notify::write_notification;
use crate::client::outbound_request::{NO_SEQUENCE, OutboundRequest, Stage};
use crate::client::pending_event::PendingEvent;
use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::{Decimal, Json, SortKey, Span, Str, Writer};
use crate::peer::slots::Ticket;
use crate::peer::transmit_buffer::Overflow;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::meta;
use crate::protocol::methods;
use crate::rpc;
use crate::time::Millis;

use crate::client::server_requests::{
    Context, ReplyHandler, ServerRequest, ServerRequestReply, Source, check,
};

/// The server's request that the application answers during the current event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurrentRequest {
    pub(crate) id: Span,
    pub(crate) stream: StreamId,
}

impl ClientState<'_> {
    /// The capabilities declared to this server. None until the client is connected.
    pub(crate) fn declared(&self) -> ClientCapabilities {
        self.peer.map_or(ClientCapabilities::NONE, |peer| self.info.declared(peer.revision))
    }

    /// Whether the application answers requests with this method.
    pub(crate) fn accepts_method(&self, method: Str<'_>) -> bool {
        check::kind_of_method(method, self.declared()).is_some()
    }

    /// Validates a request of the server.
    pub(crate) fn check_server_request(
        &self,
        method: Str<'_>,
        params: Option<Json<'_>>,
        stream: StreamId,
    ) -> Result<Context, ProtocolError> {
        let peer = self.peer.ok_or(ProtocolError::UnknownMethod)?;
        let kind = check::check(method, params, self.declared(), self.in_flight.seed())?;
        Ok(Context { revision: peer.revision, kind, stream })
    }

    /// Builds the request that the application answers.
    pub(crate) fn server_request<'a>(
        &'a mut self,
        id: &'a [u8],
        params: Option<Json<'a>>,
        context: Context,
    ) -> ServerRequest<'a> {
        let params = params.unwrap_or(Json::EMPTY_OBJECT);
        let meta = params.get("_meta").unwrap_or(Json::EMPTY_OBJECT);
        let source = Source::Line { id, meta, last: SortKey::NONE };
        ServerRequest { params, reply: ServerRequestReply { machine: self, source, context } }
    }

    /// The size limit of an answer that the client writes by itself, in bytes.
    pub(crate) fn own_answer_size(&self) -> usize {
        self.reserve.saturating_add(self.output.overhead())
    }

    /// Whether a request of the server holds the free room of the output, or has_queued for it.
    pub(crate) fn holds_reply_room(&self) -> bool {
        self.current_request.is_some() || self.server_request_waits
    }

    /// Checks that a whole answer fits, and reserves its room as the budget.
    pub(crate) fn has_reply_room(&mut self) -> bool {
        let has = self.output.has_space(self.reply_room);
        if has {
            self.budget = self.output.end().saturating_add(self.reply_room);
        }
        has
    }

    fn reply_budget(&self) -> usize {
        self.budget.saturating_sub(self.output.end())
    }

    /// Answers the current request with an error if the application dropped it.
    pub(crate) fn answer_dropped_request(&mut self, line: &[u8]) {
        if let Some(current_request) = self.current_request.take() {
            let id = line.get(current_request.id.range()).unwrap_or_default();
            self.answer(id, current_request.stream, Some(ProtocolError::Unanswered));
            self.fault = Some(ProtocolError::Unanswered);
        }
    }

    /// Returns the right to answer a deferred request.
    pub(crate) fn reply(&mut self, ticket: Ticket) -> Result<ServerRequestReply<'_>, SendError> {
        let deferred = self.in_flight.get(ticket).filter(|it| it.stage == Stage::Deferred);
        let stream = deferred.map_or(StreamId::NONE, |it| StreamId(it.number));
        let kind = deferred.and_then(|it| it.input_kind).ok_or(SendError::Gone)?;
        // The revision of this connection applies, because deferred requests end with their connection.
        let Session { revision, .. } = self.peer.ok_or(SendError::Gone)?;
        let context = Context { revision, kind, stream };
        // Pending errors and queued messages come first.
        let has_queued = self.fault.is_some() || self.in_flight.queue_front().is_some();
        if self.holds_reply_room() || has_queued || !self.has_reply_room() {
            self.writable_requested = true;
            return Err(SendError::Busy);
        }
        Ok(ServerRequestReply { machine: self, source: Source::Slot(ticket), context })
    }

    /// Cancels a deferred request on behalf of the server.
    pub(crate) fn cancel_deferred(
        &mut self,
        id: Json<'_>,
        reason: Option<Span>,
    ) -> Result<PendingEvent, ProtocolError> {
        let ticket = self.in_flight.find(id, StreamId::NONE).ok_or(ProtocolError::UnknownCancel)?;
        self.in_flight.release(ticket);
        Ok(PendingEvent::Cancelled { ticket, reason })
    }

    /// Expires a deferred request: it cannot be found, cancelled or answered any more. The error is written when there
    /// is room.
    pub(crate) fn expire_deferred(&mut self, ticket: Ticket) {
        self.in_flight.remove_id(ticket);
        self.in_flight.set_deadline(ticket, None);
        self.in_flight.enqueue(ticket);
        if let Some(outgoing) = self.in_flight.get_mut(ticket) {
            outgoing.stage = Stage::Expired;
        }
    }

    /// Writes the error of an expired request.
    pub(crate) fn write_expired(
        &mut self,
        ticket: Ticket,
        outgoing: OutboundRequest,
    ) -> Result<(), Overflow> {
        let stream = StreamId(outgoing.number);
        self.output.compact();
        let id = self.in_flight.text(ticket);
        let routing = Routing::response(error_kind(ProtocolError::TookTooLong), stream);
        self.output.write(routing, usize::MAX, &mut |out| write_fault(out, id, ProtocolError::TookTooLong))
    }

    fn finish_reply(&mut self, source: &Source<'_>) {
        match source {
            Source::Line { .. } => self.current_request = None,
            Source::Slot(ticket) => self.in_flight.release(*ticket),
        }
    }

    /// The last reported progress, if the request has a progress token.
    fn last_progress_of(&self, source: &Source<'_>) -> Result<SortKey, SendError> {
        match source {
            Source::Line { meta, last, .. } => {
                meta::progress_token(*meta).map(|_| *last).ok_or(SendError::NotWanted)
            }
            Source::Slot(ticket) => {
                let outgoing = self.in_flight.get(*ticket).ok_or(SendError::Gone)?;
                let wanted = !self.in_flight.text_after_id(*ticket).is_empty();
                if wanted { Ok(outgoing.last_progress) } else { Err(SendError::NotWanted) }
            }
        }
    }
}

/// Writes `{"jsonrpc":"2.0","id":…,"error":{…}}`.
pub(crate) fn write_fault(out: &mut Writer<'_>, id: &[u8], fault: ProtocolError) {
    out.token(r#"{"jsonrpc":"2.0","id":"#);
    out.json_bytes(id);
    out.token(r#","error":{"code":"#);
    out.integer(code_of(fault).into());
    out.key("message");
    out.display(&fault.message());
    out.token("}}");
}

/// The code of an error response.
fn code_of(fault: ProtocolError) -> i32 {
    fault.code().unwrap_or(rpc::code::INTERNAL_ERROR)
}

/// The kind of an error response.
pub(crate) fn error_kind(fault: ProtocolError) -> OutboundMessageKind {
    OutboundMessageKind::Error { code: code_of(fault) }
}

impl ReplyHandler for ClientState<'_> {
    fn answer(
        &mut self,
        source: &Source<'_>,
        stream: StreamId,
        kind: OutboundMessageKind,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) {
        let room = self.reply_budget();
        let id = match source {
            Source::Line { id, .. } => id,
            Source::Slot(ticket) => self.in_flight.id(*ticket),
        };
        let mut valid = true;
        let sent = self.output.write(Routing::response(kind, stream), room, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","id":"#);
            out.json_bytes(id);
            valid = body(out);
            out.token("}");
            if !valid {
                out.fail();
            }
        });
        match sent {
            Ok(()) => self.finish_reply(source),
            Err(Overflow) => {
                let limit = self.reply_room;
                let fault =
                    if valid { ProtocolError::ReplyTooLarge { limit } } else { ProtocolError::InvalidReply };
                self.refuse(source, stream, fault);
            }
        }
    }

    fn refuse(&mut self, source: &Source<'_>, stream: StreamId, fault: ProtocolError) {
        let id = match source {
            Source::Line { id, .. } => id,
            Source::Slot(ticket) => self.in_flight.id(*ticket),
        };
        let room = self.reply_budget();
        let routing = Routing::response(error_kind(fault), stream);
        let _ = self.output.write(routing, room, &mut |out| write_fault(out, id, fault));
        self.finish_reply(source);
        self.fault = Some(fault);
    }

    fn progress(
        &mut self,
        source: &mut Source<'_>,
        stream: StreamId,
        progress: Decimal,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), SendError> {
        let rank = progress.rank();
        if rank <= self.last_progress_of(source)? {
            return Err(SendError::NotWanted);
        }
        let room = self.reply_budget().saturating_sub(self.own_answer_size());
        let token = match source {
            Source::Line { meta, .. } => meta::progress_token(*meta).map_or(&b""[..], Json::bytes),
            Source::Slot(ticket) => self.in_flight.text_after_id(*ticket),
        };
        let written = self.output.write(Routing::related_notification(stream), room, &mut |out| {
            write_notification(out, methods::PROGRESS.name, &mut |out| {
                out.key("progressToken");
                out.json_bytes(token);
                out.key("progress");
                out.decimal(progress);
                body(out);
                true
            });
        });
        written.map_err(|Overflow| SendError::Unwritable)?;
        match source {
            Source::Line { last, .. } => *last = rank,
            Source::Slot(ticket) => {
                if let Some(outgoing) = self.in_flight.get_mut(*ticket) {
                    outgoing.last_progress = rank;
                }
            }
        }
        Ok(())
    }

    fn defer(&mut self, source: &Source<'_>, context: Context, time: Option<Millis>) -> Option<Ticket> {
        let Source::Line { id, meta, last } = source else { return None };
        let token = meta::progress_token(*meta).map_or(&b""[..], Json::bytes);
        let fits = id.len().saturating_add(token.len()) <= self.in_flight.text_limit();
        let outgoing = OutboundRequest {
            sequence: NO_SEQUENCE,
            number: context.stream.0,
            stage: Stage::Deferred,
            input_kind: Some(context.kind),
            last_progress: *last,
            ..crate::peer::slots::Data::EMPTY
        };
        let time = time.unwrap_or(self.info.timeouts.maximum);
        let ticket = self.in_flight.take(outgoing, Some(self.now.plus(time)))?;
        if !self.in_flight.set_id(ticket, id, if fits { token } else { b"" }) {
            self.in_flight.release(ticket);
            return None;
        }
        self.current_request = None;
        Some(ticket)
    }
}
