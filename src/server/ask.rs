//! Requests of the server's own, in the handshake era: asking for roots, for input of the user, for the model.
//!
//! They share the slots of deferred requests. Whatever deals with them is reached through [`Asking`], which the first one
//! sets: a server that asks nothing does not link it.
//!
//! Specification: up to 2025-11-25, *Client features*; *Utilities*, *Ping*.

use crate::client::Progress;
use crate::fault::{Fault, NotNow};
use crate::frame::About;
use crate::inflight::{Data, Ticket};
use crate::json::{Decimal, Json, Kind, ScanErrorKind, Str, Writer};
use crate::lifecycle::State;
use crate::line::Content;
use crate::outcome::{Lost, Outcome};
use crate::rpc;
use crate::server::Server;
use crate::server::core::{Core, Session};
use crate::server::dispatch::Received;
use crate::server::event::Event;
use crate::server::feature::place;
use crate::server::plan::{Answer, Plan, Told};
use crate::server::reply::{Incoming, Stage};
use crate::time::Millis;
use crate::types::capabilities::ClientCapabilities;
use crate::types::input::{self, Input, To};
use crate::types::meta;
use crate::version::Revision;

/// How a request of the server's own is sent.
///
/// ```
/// use mcp_proto::{Millis, server::Ask};
/// let patient = Ask::DEFAULT.timeout(Millis::seconds(600));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask {
    timeout: Option<Millis>,
    during: Option<Ticket>,
    progress: bool,
}

impl Ask {
    /// With the server's own time limit, for no request in particular, without progress.
    pub const DEFAULT: Ask = Ask { timeout: None, during: None, progress: false };

    /// Waits this long for the answer, in milliseconds. People need some time: a form that the user has to fill in
    /// may well wait for minutes.
    #[must_use]
    pub const fn timeout(mut self, time: Millis) -> Self {
        self.timeout = Some(time);
        self
    }

    /// It is asked in order to answer this deferred request. With several streams, it goes where that one came from.
    #[must_use]
    pub const fn during(mut self, request: Ticket) -> Self {
        self.during = Some(request);
        self
    }

    /// Asks for progress: [`Event::Progress`]. It gives the client no more time.
    #[must_use]
    pub const fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }
}

/// How a request of the server's own has ended. Its ticket is gone.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    ticket: Ticket,
    outcome: Outcome<'a>,
}

impl<'a> Answered<'a> {
    pub(crate) fn of(ticket: Ticket, answer: Answer, line: &'a [u8]) -> Answered<'a> {
        let outcome = match answer {
            // `null` is what some send for a result without members.
            Answer::Result(span) if rpc::view(line, span).is_null() => Outcome::Result(Json::EMPTY_OBJECT),
            Answer::Result(span) => Outcome::Result(rpc::view(line, span)),
            Answer::Error(span) => Outcome::Error(crate::outcome::RpcError { error: rpc::view(line, span) }),
            Answer::Lost(lost) => Outcome::Lost(lost),
        };
        Answered { ticket, outcome }
    }

    /// Which request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// With what. A result is read with [`Roots::of`](input::Roots::of), [`ElicitAnswer::of`](input::ElicitAnswer::of)
    /// or [`Sampled::of`](input::Sampled::of), whatever was asked.
    #[must_use]
    pub fn outcome(&self) -> Outcome<'a> {
        self.outcome
    }
}

impl Server<'_> {
    /// Asks a client of the handshake era. How it ends is an [`Event::Answered`], always
    /// one: when the session ends or starts over, what was asked is [`Lost::Closed`].
    ///
    /// A call that needs an answer first is [deferred](crate::server::Call::defer) until then. In `2026-07-28` servers
    /// send no requests: see [`Call::needs_input`](crate::server::Call::needs_input).
    ///
    /// ```no_run
    /// use mcp_proto::input::{ElicitAnswer, Field, Form};
    /// use mcp_proto::server::{Ask, Event};
    /// use mcp_proto::{NotNow, Outcome, Server, Ticket};
    ///
    /// static FIELDS: [Field; 1] = [Field::text("name").required()];
    /// static FORM: Form = Form::new("Who are you?", &FIELDS);
    ///
    /// fn ask_for_the_name(server: &mut Server<'_>, call: Ticket) -> Result<Ticket, NotNow> {
    ///     server.ask(&FORM, Ask::DEFAULT.during(call))
    /// }
    ///
    /// fn heard(event: Event<'_>) {
    ///     let Event::Answered(answered) = event else { return };
    ///     if let Outcome::Result(result) = answered.outcome()
    ///         && let Some(name) = ElicitAnswer::of(result).and_then(|answer| answer.field("name"))
    ///     {
    ///         println!("the user is {}", name.raw());
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// [`NotNow::NotConnected`]: the handshake is not complete, or the connection is ending. [`NotNow::Unsupported`]:
    /// the client did not declare it, or the revision does not have it. [`NotNow::Gone`]: the request that it belongs to
    /// has ended. [`NotNow::Full`]: every slot is taken. [`NotNow::Busy`]: there is no room yet;
    /// [`Event::Room`] says when there is. [`NotNow::Unwritable`]: it is larger than an
    /// answer may be, or not valid.
    pub fn ask(&mut self, input: &dyn Input, ask: Ask) -> Result<Ticket, NotNow> {
        let Session { revision, capabilities, .. } = self.asks()?;
        if !input.fits(revision, capabilities) {
            return Err(NotNow::Unsupported);
        }
        let to = To { revision, client: capabilities };
        self.send_request(input.method(), ask, &mut |out| input.write(to, out))
    }

    /// Sends any other request to a client of the handshake era. `params` writes its members, keys and values; `_meta`
    /// is the machine's.
    ///
    /// # Errors
    /// As [`ask`](Server::ask), except that no capability is asked for.
    pub fn ask_raw(
        &mut self,
        method: &str,
        ask: Ask,
        params: impl FnMut(&mut Writer<'_>),
    ) -> Result<Ticket, NotNow> {
        self.asks()?;
        let mut params = params;
        self.send_request(method, ask, &mut |out| out.members_checked(&mut params).is_ok())
    }

    /// Asks a client of the handshake era whether it is there, as soon as it was told what this server is. Any answer
    /// says that it is.
    ///
    /// # Errors
    /// As [`ask`](Server::ask).
    pub fn ping(&mut self, ask: Ask) -> Result<Ticket, NotNow> {
        let connected = matches!(self.state(), State::Answered | State::Serving | State::Ready);
        self.core.session.filter(|_| connected).ok_or(NotNow::NotConnected)?;
        self.send_request("ping", ask, &mut |_| true)
    }

    /// Cancels a request of the server's own. Its ticket is gone; the client is told.
    ///
    /// # Errors
    /// [`NotNow::Gone`]: it has ended already, or is none of the server's own.
    pub fn cancel(&mut self, ticket: Ticket, reason: &str) -> Result<(), NotNow> {
        let open = |incoming: &&Incoming| matches!(incoming.stage, Stage::Asked { .. });
        self.core.in_flight.get(ticket).filter(open).ok_or(NotNow::Gone)?;
        self.core.withdraw(ticket, reason);
        self.core.write_queued();
        Ok(())
    }

    /// Tells a client of `2025-11-25` that what it was sent to a web page for is done: see
    /// [`OpenUrl`](input::OpenUrl).
    ///
    /// # Errors
    /// [`NotNow::Unsupported`] in other revisions, or if the client did not declare `elicitation.url`.
    /// [`NotNow::NotConnected`], [`NotNow::Busy`], [`NotNow::Unwritable`]: as [`ask`](Server::ask).
    pub fn elicitation_complete(&mut self, id: &str) -> Result<(), NotNow> {
        let session = self.asks()?;
        let knows = session.capabilities.has(ClientCapabilities::ELICITATION_URL);
        if session.revision != Revision::V2025_11_25 || !knows {
            return Err(NotNow::Unsupported);
        }
        self.take_room()?;
        let room = self.core.output.reply_room();
        let written = self.core.output.write(About::NOTIFICATION, room, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"#);
            out.field_string("elicitationId", id);
            out.token("}}");
        });
        written.map_err(|_| NotNow::Unwritable)
    }

    /// The session in which something can be asked.
    fn asks(&self) -> Result<Session, NotNow> {
        self.core.session.filter(|_| self.state() == State::Ready).ok_or(NotNow::NotConnected)
    }

    fn send_request(
        &mut self,
        method: &str,
        ask: Ask,
        params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<Ticket, NotNow> {
        let about = match ask.during {
            None => About::REQUEST,
            Some(during) => {
                let deferred = |incoming: &&Incoming| incoming.stage == Stage::Deferred;
                let during = self.core.in_flight.get(during).filter(deferred).ok_or(NotNow::Gone)?;
                About::asked(during.context.stream)
            }
        };
        self.take_room()?;
        let core = &mut self.core;
        let timeout = ask.timeout.unwrap_or(core.info.limits.asked);
        let timeout = u32::try_from(timeout.0).unwrap_or(u32::MAX);
        let stage = Stage::Asked { timeout, running: false, progress: ask.progress };
        let ticket = core.in_flight.take(Incoming { stage, ..Incoming::EMPTY }).ok_or(NotNow::Full)?;
        let (id, room) = (core.id_of(ticket), core.output.reply_room());
        let written = core.output.write(about, room, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","id":"#);
            out.unsigned(id);
            let valid = input::write_request(out, method, &mut |out| {
                let valid = params(out);
                if ask.progress {
                    meta::write_progress_token(id, out);
                }
                valid
            });
            out.token("}");
            if !valid {
                out.fail();
            }
        });
        if written.is_err() {
            core.in_flight.release(ticket);
            return Err(NotNow::Unwritable);
        }
        core.asking = Some(&Asker);
        core.ours = core.ours.saturating_add(1);
        // Due at once: the next poll starts its clock.
        core.in_flight.set_deadline(ticket, Some(Millis::ZERO));
        Ok(ticket)
    }
}

/// What becomes of requests of our own.
pub(crate) trait Asking: Sync {
    /// A response has come. `None`: it answers nothing that was ever asked.
    fn answered(
        &self,
        core: &mut Core<'_>,
        line: &[u8],
        id: Json<'_>,
        outcome: rpc::Outcome,
    ) -> Option<Received>;

    /// A line that cannot be read has come. The end of a request, if the line was the answer to one.
    fn unreadable(&self, core: &mut Core<'_>, bytes: &[u8], content: &Content) -> Option<Plan>;

    /// A notification has come. `None`: it is not about what was asked.
    fn notified(
        &self,
        core: &mut Core<'_>,
        line: &[u8],
        method: Str<'_>,
        params: Option<Json<'_>>,
    ) -> Option<Received>;

    /// The event of a plan that one of these has made.
    fn event<'a>(&self, told: Told, line: &'a [u8]) -> Event<'a>;

    /// A request is due: its clock starts, or it ends.
    fn due(&self, core: &mut Core<'_>, ticket: Ticket) -> Option<Plan>;

    /// A request that nobody waits for is next in the queue, and there is room: tells the client.
    fn write_cancelled(&self, core: &mut Core<'_>, ticket: Ticket);

    /// All of them end as the next events; with `deferred`, all other requests are forgotten.
    fn end(&self, core: &mut Core<'_>, deferred: bool);
}

struct Asker;

impl Asking for Asker {
    fn answered(
        &self,
        core: &mut Core<'_>,
        line: &[u8],
        id: Json<'_>,
        outcome: rpc::Outcome,
    ) -> Option<Received> {
        let ticket = core.ticket_of(id)?;
        match core.in_flight.get(ticket).map(|incoming| incoming.stage) {
            Some(Stage::Asked { .. }) => {}
            Some(Stage::Deferred | Stage::Expired) => return None,
            Some(Stage::Withdrawn) => {
                // Answered before the cancellation left: nothing is left to cancel.
                core.set_stage(ticket, Stage::Over);
                return Some(Received::Done);
            }
            // Late answers are to be expected; answers to nothing that was ever asked are not.
            Some(Stage::Lost | Stage::Over) => return Some(Received::Done),
            None => return core.in_flight.was_taken(ticket).then_some(Received::Done),
        }
        let answer = match outcome {
            rpc::Outcome::Malformed => Answer::Lost(Lost::Invalid),
            rpc::Outcome::Error(error) => Answer::Error(error),
            rpc::Outcome::Result(result) => match rpc::view(line, result).kind() {
                Kind::Object | Kind::Null => Answer::Result(result),
                _ => Answer::Lost(Lost::Invalid),
            },
        };
        Some(Received::Host(core.finish(ticket, answer)))
    }

    fn unreadable(&self, core: &mut Core<'_>, bytes: &[u8], content: &Content) -> Option<Plan> {
        let (id, lost) = match content {
            Content::TooLong { envelope, id_fits: true } if envelope.looks_like_response() => {
                (bytes, Lost::TooLong)
            }
            Content::Broken(error, envelope)
                if error.kind == ScanErrorKind::TooDeep && envelope.looks_like_response() =>
            {
                (bytes.get(envelope.id?.range())?, Lost::Invalid)
            }
            _ => return None,
        };
        let ticket = core.ticket_of(Some(Json::trusted(id)).filter(|id| rpc::is_id(*id))?)?;
        let awaited = |incoming: &&Incoming| matches!(incoming.stage, Stage::Asked { .. });
        core.in_flight.get(ticket).filter(awaited)?;
        Some(core.finish(ticket, Answer::Lost(lost)))
    }

    fn notified(
        &self,
        core: &mut Core<'_>,
        line: &[u8],
        method: Str<'_>,
        params: Option<Json<'_>>,
    ) -> Option<Received> {
        if method == "notifications/progress" {
            return Some(progressed(core, line, params));
        }
        let has_roots = |session: Session| session.capabilities.has(ClientCapabilities::ROOTS_LIST_CHANGED);
        let changed = method == "notifications/roots/list_changed" && core.session.is_some_and(has_roots);
        changed.then_some(Received::Host(Plan::Told(Told::RootsChanged)))
    }

    fn event<'a>(&self, told: Told, line: &'a [u8]) -> Event<'a> {
        match told {
            Told::RootsChanged => Event::RootsChanged,
            Told::Progress { ticket, params } => {
                Event::Progress(Progress { ticket, params: rpc::view(line, params) })
            }
            Told::Answered { ticket, answer } => Event::Answered(Answered::of(ticket, answer, line)),
        }
    }

    fn due(&self, core: &mut Core<'_>, ticket: Ticket) -> Option<Plan> {
        match core.in_flight.get(ticket)?.stage {
            Stage::Asked { timeout, running: false, progress } => {
                core.set_stage(ticket, Stage::Asked { timeout, running: true, progress });
                let deadline = core.now.plus(Millis(timeout.into()));
                core.in_flight.set_deadline(ticket, Some(deadline));
                None
            }
            Stage::Asked { .. } => {
                core.withdraw(ticket, "");
                Some(Plan::Told(Told::Answered { ticket, answer: Answer::Lost(Lost::TimedOut) }))
            }
            _ => Some(core.finish(ticket, Answer::Lost(Lost::Closed))),
        }
    }

    fn write_cancelled(&self, core: &mut Core<'_>, ticket: Ticket) {
        if core.in_flight.get(ticket).is_some_and(|incoming| incoming.stage == Stage::Withdrawn) {
            let id = core.id_of(ticket);
            let reason = core::str::from_utf8(core.in_flight.text(ticket)).unwrap_or_default();
            let room = core.output.reply_room();
            let mut write = |reason: &str| {
                core.output.write(About::NOTIFICATION, room, &mut |out| {
                    out.token(
                        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#,
                    );
                    out.unsigned(id);
                    if !reason.is_empty() {
                        out.field_string("reason", reason);
                    }
                    out.token("}}");
                })
            };
            // Without its reason it always fits.
            let _ = write(reason).or_else(|_| write(""));
        }
        core.ours = core.ours.saturating_sub(1);
    }

    fn end(&self, core: &mut Core<'_>, deferred: bool) {
        if deferred {
            core.in_flight.unqueue_all();
        }
        let mut from = 0;
        while let Some(ticket) = core.in_flight.first_from(from) {
            from = ticket.slot.saturating_add(1);
            match core.in_flight.get(ticket).map(|incoming| incoming.stage) {
                Some(Stage::Asked { .. }) => {
                    core.set_stage(ticket, Stage::Lost);
                    core.in_flight.set_deadline(ticket, Some(Millis::ZERO));
                }
                Some(Stage::Withdrawn | Stage::Over) if deferred => {
                    core.ours = core.ours.saturating_sub(1);
                    core.in_flight.release(ticket);
                }
                Some(Stage::Deferred | Stage::Expired) if deferred => core.in_flight.release(ticket),
                _ => {}
            }
        }
    }
}

fn progressed(core: &mut Core<'_>, line: &[u8], params: Option<Json<'_>>) -> Received {
    let Some(params) = params.filter(|params| params.kind() == Kind::Object) else {
        return Received::Fault(Fault::InvalidParams);
    };
    let [token, progress] = params.pick(["progressToken", "progress"]);
    let progress = progress.and_then(Json::number).and_then(Decimal::parse);
    let (Some(token), Some(_)) = (token, progress) else {
        return Received::Fault(Fault::InvalidParams);
    };
    let wanted = |incoming: &&Incoming| matches!(incoming.stage, Stage::Asked { progress: true, .. });
    let ticket = core.ticket_of(token).filter(|ticket| core.in_flight.get(*ticket).filter(wanted).is_some());
    match ticket {
        Some(ticket) => {
            Received::Host(Plan::Told(Told::Progress { ticket, params: place(line, params.bytes()) }))
        }
        None => Received::Fault(Fault::UnknownProgress),
    }
}

impl Core<'_> {
    /// The id of a request of ours: it says which slot it is in, and which of the slot's requests it is. No two have
    /// the same; the first is 1.
    fn id_of(&self, ticket: Ticket) -> u64 {
        let before = u64::from(ticket.generation).saturating_mul(self.in_flight.limit() as u64);
        before.saturating_add(ticket.slot.into()).saturating_add(1)
    }

    /// The request with this id, in flight or not. Some clients answer with the digits in a string.
    fn ticket_of(&self, id: Json<'_>) -> Option<Ticket> {
        let digits = match id.string() {
            // A plus would be read as a number, too.
            Some(text) => text.as_str().filter(|text| !text.starts_with('+'))?,
            None => id.raw(),
        };
        let place = digits.parse::<u64>().ok()?.checked_sub(1)?;
        let limit = self.in_flight.limit() as u64;
        let slot = u32::try_from(place.checked_rem(limit)?).ok()?;
        let generation = u32::try_from(place.checked_div(limit)?).ok()?;
        Some(Ticket { slot, generation })
    }

    fn set_stage(&mut self, ticket: Ticket, stage: Stage) {
        if let Some(incoming) = self.in_flight.get_mut(ticket) {
            incoming.stage = stage;
        }
    }

    /// A request of ours has ended, and its slot is free.
    fn finish(&mut self, ticket: Ticket, answer: Answer) -> Plan {
        self.ours = self.ours.saturating_sub(1);
        self.in_flight.release(ticket);
        Plan::Told(Told::Answered { ticket, answer })
    }

    /// Nobody waits for the answer any more. The client is told when there is room, with the reason if the slot's text
    /// can keep it for so long.
    fn withdraw(&mut self, ticket: Ticket, reason: &str) {
        self.set_stage(ticket, Stage::Withdrawn);
        self.in_flight.set_deadline(ticket, None);
        if !self.in_flight.set_text(ticket, [reason.as_bytes(), b""]) {
            self.in_flight.set_text(ticket, [b"", b""]);
        }
        self.in_flight.queue(ticket);
    }
}
