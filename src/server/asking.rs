//! What becomes of requests of the server's own: their ids, their answers, their time, their end.
//!
//! It is reached through [`Asking`] alone, so that a server that asks nothing does not link it.
#![allow(clippy::as_conversions, reason = "a count is not wider than 64 bits")]

use crate::client::Progress;
use crate::fault::Fault;
use crate::frame::About;
use crate::inflight::Ticket;
use crate::json::{Decimal, Envelope, Json, Kind, Str, magnitude, text_of};
use crate::line::Content;
use crate::methods;
use crate::outcome::Lost;
use crate::platform::divide;
use crate::rpc;
use crate::server::ask::Answered;
use crate::server::core::{Core, Session};
use crate::server::dispatch::Received;
use crate::server::event::Event;
use crate::server::feature::place;
use crate::server::incoming::{Incoming, Stage};
use crate::server::plan::{Answer, Places, Plan, Told};
use crate::time::Millis;
use crate::types::capabilities::ClientCapabilities;

/// What becomes of requests of our own.
pub(crate) trait Asking: Sync {
    /// A response has come. `None`: it answers nothing that was ever asked.
    fn answered(
        &self,
        core: &mut Core<'_>,
        line: &[u8],
        id: Json<'_>,
        outcome: rpc::Outcome<'_>,
        places: &mut Places,
    ) -> Option<Received>;

    /// A line that cannot be read has come. The end of a request, if the line was the answer to one.
    fn unreadable(
        &self,
        core: &mut Core<'_>,
        bytes: &[u8],
        content: Content,
        envelope: &Envelope,
    ) -> Option<Received>;

    /// A notification has come. `None`: it is not about what was asked.
    fn notified(
        &self,
        core: &mut Core<'_>,
        line: &[u8],
        method: Str<'_>,
        params: Option<Json<'_>>,
        places: &mut Places,
    ) -> Option<Received>;

    /// The event of a plan that one of these has made.
    fn event<'a>(&self, told: Told, arguments: Json<'a>) -> Event<'a>;

    /// A request is due: its clock starts, or it ends.
    fn due(&self, core: &mut Core<'_>, ticket: Ticket);

    /// A request that nobody waits for is next in the queue, and there is room: tells the client.
    fn write_cancelled(&self, core: &mut Core<'_>, ticket: Ticket);

    /// All of them end as the next events; with `deferred`, all other requests are forgotten.
    fn end(&self, core: &mut Core<'_>, deferred: bool);
}

struct Asker;

/// A thin reference to it takes one word.
pub(crate) static ASKER: &dyn Asking = &Asker;

impl Asking for Asker {
    fn answered(
        &self,
        core: &mut Core<'_>,
        line: &[u8],
        id: Json<'_>,
        outcome: rpc::Outcome<'_>,
        places: &mut Places,
    ) -> Option<Received> {
        let ticket = core.ticket_of(id)?;
        match core.in_flight.get(ticket).map(|incoming| incoming.stage()) {
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
            rpc::Outcome::Error(error) => {
                places.arguments = place(line, error.bytes());
                Answer::Error
            }
            rpc::Outcome::Result(result) => {
                places.arguments = place(line, result.bytes());
                match result.kind() {
                    Kind::Object | Kind::Null => Answer::Result,
                    _ => Answer::Lost(Lost::Invalid),
                }
            }
        };
        Some(core.finish(ticket, answer))
    }

    fn unreadable(
        &self,
        core: &mut Core<'_>,
        bytes: &[u8],
        content: Content,
        envelope: &Envelope,
    ) -> Option<Received> {
        if !envelope.looks_like_response() {
            return None;
        }
        let (id, lost) = match content {
            Content::TooLong { id_fits: true, .. } => (bytes, Lost::TooLong),
            Content::Broken(error) if error.kind.leaves_members() => {
                (bytes.get(envelope.id?.range())?, Lost::Invalid)
            }
            _ => return None,
        };
        let ticket = core.ticket_of(Some(Json::trusted(id)).filter(|id| rpc::is_id(*id))?)?;
        let awaited = |incoming: &&Incoming| matches!(incoming.stage(), Stage::Asked { .. });
        core.in_flight.get(ticket).filter(awaited)?;
        Some(core.finish(ticket, Answer::Lost(lost)))
    }

    fn notified(
        &self,
        core: &mut Core<'_>,
        line: &[u8],
        method: Str<'_>,
        params: Option<Json<'_>>,
        places: &mut Places,
    ) -> Option<Received> {
        if method == methods::PROGRESS.name {
            return Some(progressed(core, line, params, places));
        }
        let has_roots = |session: Session| session.capabilities.has(ClientCapabilities::ROOTS_LIST_CHANGED);
        let changed = method == methods::ROOTS_LIST_CHANGED.name && core.session.is_some_and(has_roots);
        changed.then(|| core.tell(Plan::Told(Told::RootsChanged)))
    }

    fn event<'a>(&self, told: Told, arguments: Json<'a>) -> Event<'a> {
        match told {
            Told::RootsChanged => Event::RootsChanged,
            Told::Progress(ticket) => Event::Progress(Progress { ticket, params: arguments }),
            Told::Answered { ticket, answer } => Event::Answered(Answered::of(ticket, answer, arguments)),
        }
    }

    fn due(&self, core: &mut Core<'_>, ticket: Ticket) {
        match core.in_flight.get(ticket).map(|incoming| incoming.stage()) {
            Some(Stage::Asked { .. }) => match core.in_flight.get_mut(ticket).and_then(Incoming::begin) {
                Some(timeout) => {
                    let deadline = core.now.plus(Millis(timeout.into()));
                    core.in_flight.set_deadline(ticket, Some(deadline));
                }
                None => {
                    core.withdraw(ticket, "");
                    core.tell(Plan::Told(Told::Answered { ticket, answer: Answer::Lost(Lost::TimedOut) }));
                }
            },
            Some(_) => _ = core.finish(ticket, Answer::Lost(Lost::Closed)),
            None => {}
        }
    }

    fn write_cancelled(&self, core: &mut Core<'_>, ticket: Ticket) {
        if core.in_flight.get(ticket).is_some_and(|incoming| incoming.stage() == Stage::Withdrawn) {
            let id = core.id_of(ticket);
            let reason = text_of(core.in_flight.text(ticket));
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
            from = ticket.slot.wrapping_add(1);
            match core.in_flight.get(ticket).map(|incoming| incoming.stage()) {
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

fn progressed(core: &mut Core<'_>, line: &[u8], params: Option<Json<'_>>, places: &mut Places) -> Received {
    let Some(params) = params.filter(|params| params.kind() == Kind::Object) else {
        return Received::Fault(Fault::InvalidParams);
    };
    let [token, progress] = params.pick(["progressToken", "progress"]);
    let progress = progress.and_then(Json::number).and_then(Decimal::parse);
    let (Some(token), Some(_)) = (token, progress) else {
        return Received::Fault(Fault::InvalidParams);
    };
    let wanted = |incoming: &&Incoming| matches!(incoming.stage(), Stage::Asked { progress: true });
    let ticket = core.ticket_of(token).filter(|ticket| core.in_flight.get(*ticket).filter(wanted).is_some());
    match ticket {
        Some(ticket) => {
            places.arguments = place(line, params.bytes());
            core.tell(Plan::Told(Told::Progress(ticket)))
        }
        None => Received::Fault(Fault::UnknownProgress),
    }
}

impl Core<'_> {
    /// The id of a request of ours: it says which slot it is in, and which of the slot's requests it is. No two have
    /// the same; the first is 1.
    pub(crate) fn id_of(&self, ticket: Ticket) -> u64 {
        let before = u64::from(ticket.generation).saturating_mul(self.in_flight.limit() as u64);
        before.wrapping_add(ticket.slot.into()).wrapping_add(1)
    }

    /// The request with this id, in flight or not. Some clients answer with the digits in a string.
    fn ticket_of(&self, id: Json<'_>) -> Option<Ticket> {
        let digits = match id.string() {
            // No id of ours begins like that, and it would be read as one.
            Some(text) => text.as_str().filter(|text| !text.starts_with(['+', '0']))?.as_bytes(),
            None => id.bytes(),
        };
        let place = magnitude(digits)?.checked_sub(1)?;
        let limit = u32::try_from(self.in_flight.limit()).ok()?;
        let (generation, slot) = divide(place, limit);
        Some(Ticket { slot, generation: generation.try_into().ok()? })
    }

    fn set_stage(&mut self, ticket: Ticket, stage: Stage) {
        if let Some(incoming) = self.in_flight.get_mut(ticket) {
            incoming.set_stage(stage);
        }
    }

    /// A request of ours has ended, and its slot is free.
    fn finish(&mut self, ticket: Ticket, answer: Answer) -> Received {
        self.ours = self.ours.saturating_sub(1);
        self.in_flight.release(ticket);
        self.tell(Plan::Told(Told::Answered { ticket, answer }))
    }

    /// Nobody waits for the answer any more. The client is told when there is room, with the reason if the slot's text
    /// can keep it for so long.
    pub(crate) fn withdraw(&mut self, ticket: Ticket, reason: &str) {
        self.set_stage(ticket, Stage::Withdrawn);
        self.in_flight.set_deadline(ticket, None);
        if !self.in_flight.set_text(ticket, [reason.as_bytes(), b""]) {
            self.in_flight.set_text(ticket, [b"", b""]);
        }
        self.in_flight.queue(ticket);
    }
}
