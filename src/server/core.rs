//! What answering needs: the output, the requests in flight, the session. The input is not here, so that an event
//! can borrow the line and the right to answer at the same time.

use crate::buffer::Buffer;
use crate::fault::{Fault, NotNow};
use crate::frame::{About, StreamId};
use crate::inflight::{InFlight, Ticket};
use crate::json::{Decimal, Json, Span, Text, Writer};
use crate::keepalive::KeepAlive;
use crate::lifecycle::Lifecycle;
use crate::output::{Output, Overflow};
use crate::server::asking::Asking;
use crate::server::batch::{Batch, Batching};
use crate::server::change::Changes;
use crate::server::dispatch::Received;
use crate::server::feature::Change;
use crate::server::info::ServerInfo;
use crate::server::pings::Pinging;
use crate::server::reply::{Answering, Context, Incoming, Source, Stage};
use crate::server::watch::Watches;
use crate::server::write::{COMPLETE, INPUT_REQUIRED, write_error, write_fault, write_log, write_result};
use crate::time::Millis;
use crate::types::capabilities::ClientCapabilities;
use crate::types::level::Level;
use crate::types::meta;
use crate::version::{Revision, Revisions};

/// What was agreed in the handshake.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Session {
    pub(crate) revision: Revision,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) level: Option<Level>,
    /// The handshake is complete: the client hears of changes, to the end.
    pub(crate) complete: bool,
}

/// The kinds of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Result,
    /// A result that clients may keep (`2026-07-28`).
    List,
    /// What the client has to send the request with, again (`2026-07-28`).
    InputRequired,
    Error,
}

pub(crate) struct Core<'b> {
    pub(crate) info: &'b ServerInfo<'b>,
    pub(crate) output: Output<'b>,
    pub(crate) in_flight: InFlight<'b, Incoming>,
    pub(crate) life: Lifecycle,
    pub(crate) session: Option<Session>,
    pub(crate) now: Millis,
    pub(crate) id_limit: usize,
    /// The longest line, for error messages.
    pub(crate) line_limit: usize,
    /// How many bytes the small error takes that must always fit.
    pub(crate) small: usize,
    /// Where the output must end at the latest while a request is dealt with.
    pub(crate) budget: usize,
    /// A request was handed out and has not been answered.
    pub(crate) owed: bool,
    /// Where in the line its id stands, and which stream it came from.
    pub(crate) owed_id: Option<Span>,
    pub(crate) owed_stream: StreamId,
    /// What went wrong while the host answered; reported at the next poll.
    pub(crate) fault: Option<Fault>,
    /// What has changed and was not told yet.
    pub(crate) changed: Changes,
    pub(crate) watches: Watches<'b>,
    pub(crate) batch: Batch<'b>,
    /// The host was told that there is no room, and waits to hear that there is.
    pub(crate) wants_room: bool,
    /// How many messages in a row were none.
    pub(crate) invalid_in_a_row: u8,
    /// The session started over; the host has to hear of it before the new client is shown.
    pub(crate) restarted: bool,
    /// The client has said `shutdown`, and `exit` is to come.
    pub(crate) awaits_exit: bool,
    pub(crate) keep_alive: KeepAlive,
    /// Who asks whether the client is there, if anybody does.
    pub(crate) pinging: Option<&'static dyn Pinging>,
    /// What deals with requests of our own, once there was one.
    pub(crate) asking: Option<&'static dyn Asking>,
    /// How many requests in flight are our own.
    pub(crate) ours: u32,
}

impl<'b> Core<'b> {
    pub(crate) fn new(info: &'b ServerInfo<'b>, tx: Buffer<'b>, id_limit: usize) -> Core<'b> {
        Core {
            info,
            output: Output::new(tx),
            in_flight: InFlight::none(),
            life: Lifecycle::SERVER,
            session: None,
            now: Millis::ZERO,
            id_limit,
            line_limit: 0,
            small: 0,
            budget: 0,
            owed: false,
            owed_id: None,
            owed_stream: StreamId::NONE,
            fault: None,
            changed: Changes::NONE,
            watches: Watches::new((&mut []).into()),
            batch: Batch::none(),
            wants_room: false,
            invalid_in_a_row: 0,
            restarted: false,
            awaits_exit: false,
            keep_alive: KeepAlive::OFF,
            pinging: None,
            asking: None,
            ours: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.output.reset();
        self.in_flight.clear();
        self.life = Lifecycle::SERVER;
        self.session = None;
        self.watches.clear();
        self.batch.clear();
        (self.owed, self.fault, self.changed, self.wants_room) = (false, None, Changes::NONE, false);
        (self.invalid_in_a_row, self.restarted, self.awaits_exit) = (0, false, false);
        (self.asking, self.ours) = (None, 0);
        self.keep_alive.reset();
    }
}

impl Core<'_> {
    /// Makes sure that a whole answer has room, and sets that as the bound of what is written next.
    pub(crate) fn has_room(&mut self) -> bool {
        let has = self.output.has_room();
        if has {
            self.budget = self.output.end().saturating_add(self.output.reply_room());
        }
        has
    }

    pub(crate) fn room(&self) -> usize {
        self.budget.saturating_sub(self.output.end())
    }

    /// Who deals with batches in this session.
    pub(crate) fn batching(&self) -> Option<&'static dyn Batching> {
        let batching = self.batch.batching?;
        let takes = self.session.is_some_and(|session| session.revision == Revision::V2025_03_26);
        takes.then_some(batching)
    }

    /// The answer to a member of a batch, if it was one, waits for those of the others. It was written when so many
    /// bytes had been.
    pub(crate) fn collect(&mut self, batched: bool, before: usize) {
        if batched && let Some(batching) = self.batch.batching {
            batching.collect(self, self.output.written().wrapping_sub(before));
        }
    }

    /// Leaves room for the answers of the other members of a batch.
    pub(crate) fn limit_to_batch(&mut self, batched: bool) {
        if batched && let Some(batching) = self.batch.batching {
            batching.limit(self);
        }
    }

    /// Deals with the next member of the line.
    pub(crate) fn next_member(&mut self, line: &[u8], stream: StreamId) -> Received {
        self.batch.batching.map_or(Received::Done, |batching| batching.next(self, line, stream))
    }

    /// Writes the answers to the open batch, if they are all there.
    pub(crate) fn write_batch(&mut self) {
        if let Some(batching) = self.batch.batching {
            batching.write_open(self);
        }
    }

    /// A request is in flight no more.
    pub(crate) fn end_in_flight(&mut self, ticket: Ticket) {
        if self.in_flight.get(ticket).is_some_and(|incoming| incoming.context.batched) {
            self.batch.deferred = self.batch.deferred.wrapping_sub(1);
        }
        self.in_flight.release(ticket);
    }

    /// How many bytes an answer may have.
    fn answer_room(&self, batched: bool) -> usize {
        let room = self.room();
        if batched { room.min(self.batch.room) } else { room }
    }

    /// What is said of an answer that does not fit.
    fn too_large(&self, context: Context) -> Fault {
        let limit = if context.batched { self.answer_room(true) } else { self.output.reply_room() };
        Fault::ReplyTooLarge { limit }
    }

    /// Answers a request; an answer that does not fit, or is not valid, becomes a small error.
    pub(crate) fn respond(
        &mut self,
        source: &Source<'_>,
        context: Context,
        shape: Shape,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<(), Fault> {
        let info = self.info;
        let mut valid = true;
        let sent = self.send_answer(source, context, &mut |out, id| {
            let revision = context.revision;
            let kind = if shape == Shape::InputRequired { INPUT_REQUIRED } else { COMPLETE };
            match shape {
                Shape::Error => write_error(out, Some(id), &mut |out| valid = body(out)),
                _ => write_result(kind, out, id, info, revision, info.identify, &mut |out| {
                    if shape == Shape::List {
                        info.write_cache(revision, out);
                    }
                    valid = body(out);
                }),
            }
            if !valid {
                out.fail();
            }
        });
        let fault = match sent {
            Ok(()) => return Ok(()),
            Err(Overflow) if valid => self.too_large(context),
            Err(Overflow) => Fault::InvalidReply,
        };
        self.send_fault(source, context, fault);
        Err(fault)
    }

    /// Answers with a result that names the server, whether or not all results do.
    pub(crate) fn respond_identified(
        &mut self,
        source: &Source<'_>,
        context: Context,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), Fault> {
        let info = self.info;
        let sent = self.send_answer(source, context, &mut |out, id| {
            write_result(COMPLETE, out, id, info, context.revision, true, body);
        });
        sent.map_err(|Overflow| self.too_large(context))
    }

    /// Answers a request with the error of a fault.
    pub(crate) fn send_fault(&mut self, source: &Source<'_>, context: Context, fault: Fault) {
        let _ = self.send_answer(source, context, &mut |out, id| {
            write_error(out, Some(id), &mut |out| write_fault(out, fault));
        });
    }

    /// Answers with the error of a fault. `new` has proved that it fits, except for the detail, which is left out if
    /// it does not. Without an id it is left to the revision how that is said.
    pub(crate) fn write_fault(
        &mut self,
        id: Option<&[u8]>,
        stream: StreamId,
        fault: Fault,
        detail: Option<&dyn Text>,
    ) {
        let Some(code) = fault.code() else { return };
        let id = id.or(self.null_id());
        let batched = self.batch.in_line();
        let (room, before) = (self.answer_room(batched), self.output.written());
        for detail in [detail, None] {
            let sent = self.output.write(About::response(stream), room, &mut |out| {
                write_error(out, id, &mut |out| {
                    out.key("code");
                    out.integer(code.into());
                    out.key("message");
                    match detail {
                        Some(detail) => out.display(&(fault.message(), ": ", detail)),
                        None => out.display(&fault.message()),
                    }
                });
            });
            if sent.is_ok() {
                return self.collect(batched, before);
            }
        }
    }

    /// How an error says that it has no id: `null` up to `2025-06-18` and before any revision is known, nothing after.
    fn null_id(&self) -> Option<&'static [u8]> {
        let known = self.session.map(|session| session.revision);
        let only_stateless = self.info.revisions.and(Revisions::HANDSHAKE).is_empty();
        let omitted = known.map_or(only_stateless, |revision| revision >= Revision::V2025_11_25);
        (!omitted).then_some(b"null")
    }

    /// Forgets the session and what it had in flight: a new client has begun.
    pub(crate) fn start_over(&mut self) {
        self.session = None;
        self.forget_in_flight();
        self.changed = Changes::NONE;
        self.watches.clear();
        self.batch.clear();
        self.keep_alive.reset();
        self.restarted = true;
    }

    /// Forgets what is in flight. The host has still to hear how its own requests have ended.
    pub(crate) fn forget_in_flight(&mut self) {
        match self.asking {
            Some(asking) => asking.end(self, true),
            None => self.in_flight.clear(),
        }
    }

    /// Whether the client of the handshake era is told of changes.
    pub(crate) fn session_hears(&self) -> bool {
        self.session.is_some_and(|session| session.complete)
    }

    /// The least severe log message that the client of the handshake era wants.
    pub(crate) fn session_level(&self) -> Option<Level> {
        self.session.and_then(|session| session.level)
    }

    /// The id of a request and the token of its progress, wherever they stand, and what was reported last.
    fn progress_of(&self, source: &Source<'_>) -> Result<Option<Decimal>, NotNow> {
        match source {
            Source::Line { meta, last, .. } => {
                let token = meta::progress_token(Json::trusted(meta)).is_some();
                if token { Ok(*last) } else { Err(NotNow::NotWanted) }
            }
            Source::Slot(ticket) => match self.in_flight.get(*ticket) {
                None => Err(NotNow::Gone),
                Some(_) if token_of(&self.in_flight, *ticket).is_empty() => Err(NotNow::NotWanted),
                Some(incoming) => Ok(incoming.last_progress),
            },
        }
    }

    /// The request is answered: it is no longer in flight.
    fn close(&mut self, source: &Source<'_>, outcome: Result<(), Fault>) {
        match source {
            Source::Line { .. } => self.owed = false,
            Source::Slot(ticket) => self.end_in_flight(*ticket),
        }
        if let Err(fault) = outcome {
            self.fault = Some(fault);
        }
    }

    /// Runs `write` with the id of a request, wherever it stands.
    fn send_answer(
        &mut self,
        source: &Source<'_>,
        context: Context,
        body: &mut dyn FnMut(&mut Writer<'_>, &[u8]),
    ) -> Result<(), Overflow> {
        let (room, before) = (self.answer_room(context.batched), self.output.written());
        let about = About::response(context.stream);
        let id = match source {
            Source::Line { id, .. } => id,
            Source::Slot(ticket) => self.in_flight.id(*ticket),
        };
        self.output.write(about, room, &mut |out| body(out, id))?;
        self.collect(context.batched, before);
        Ok(())
    }
}

impl Answering for Core<'_> {
    fn answer(
        &mut self,
        source: &Source<'_>,
        context: Context,
        shape: Shape,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) {
        let outcome = self.respond(source, context, shape, body);
        self.close(source, outcome);
    }

    fn refuse_fault(&mut self, source: &Source<'_>, context: Context, fault: Fault) {
        self.send_fault(source, context, fault);
        self.close(source, Ok(()));
    }

    fn progress(
        &mut self,
        source: &mut Source<'_>,
        context: Context,
        progress: Decimal,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), NotNow> {
        if self.progress_of(source)?.is_some_and(|last| progress <= last) {
            return Err(NotNow::NotWanted);
        }
        let room = self.room().saturating_sub(self.small);
        let about = About::related(context.stream);
        let token = match source {
            Source::Line { meta, .. } => {
                meta::progress_token(Json::trusted(meta)).map_or(&b""[..], |token| token.bytes())
            }
            Source::Slot(ticket) => token_of(&self.in_flight, *ticket),
        };
        let written = self.output.write(about, room, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#);
            out.json_bytes(token);
            out.key("progress");
            out.decimal(progress);
            body(out);
            out.token("}}");
        });
        written.map_err(|Overflow| NotNow::Unwritable)?;
        match source {
            Source::Line { last, .. } => *last = Some(progress),
            Source::Slot(ticket) => {
                if let Some(incoming) = self.in_flight.get_mut(*ticket) {
                    incoming.last_progress = Some(progress);
                }
            }
        }
        Ok(())
    }

    fn log(
        &mut self,
        context: Context,
        level: Level,
        logger: Option<&str>,
        data: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<(), NotNow> {
        if !self.info.features.iter().any(|feature| feature.is_logging()) {
            return Err(NotNow::Unsupported);
        }
        let wanted = match context.revision {
            Revision::V2026_07_28 => context.level.is_some_and(|least| level >= least),
            _ => self.session_level().is_none_or(|least| level >= least),
        };
        if !wanted {
            return Err(NotNow::NotWanted);
        }
        let room = self.room().saturating_sub(self.small);
        self.output
            .write(About::related(context.stream), room, &mut |out| write_log(out, level, logger, data))
            .map_err(|Overflow| NotNow::Unwritable)
    }

    fn defer(&mut self, source: &Source<'_>, context: Context, time: Option<Millis>) -> Option<Ticket> {
        let Source::Line { id, meta, last } = source else { return None };
        let token = meta::progress_token(Json::trusted(meta)).map_or(&b""[..], |token| token.bytes());
        let token =
            if id.len().saturating_add(token.len()) <= self.in_flight.text_limit() { token } else { b"" };
        let id_length = u16::try_from(id.len()).ok()?;
        let ticket = self.in_flight.take(Incoming {
            id_length,
            context,
            last_progress: *last,
            stage: Stage::Deferred,
        })?;
        // At most one batch stays open.
        let waits = context.batched && self.batch.open;
        if waits || !self.in_flight.set_text(ticket, [id, token]) {
            self.in_flight.release(ticket);
            return None;
        }
        self.in_flight.link_id(ticket);
        let time = time.unwrap_or(self.info.limits.deferred);
        self.in_flight.set_deadline(ticket, Some(self.now.plus(time)));
        self.batch.deferred = self.batch.deferred.wrapping_add(context.batched.into());
        self.owed = false;
        Some(ticket)
    }

    fn changed(&mut self, change: Change<'_>) {
        self.set_changed(change);
    }

    fn report(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    fn in_flight_limit(&self) -> usize {
        self.in_flight.limit()
    }
}

/// The progress token of a deferred request; empty if there is none.
fn token_of<'t>(in_flight: &'t InFlight<'_, Incoming>, ticket: Ticket) -> &'t [u8] {
    let id = in_flight.id(ticket).len();
    in_flight.text(ticket).get(id..).unwrap_or_default()
}
