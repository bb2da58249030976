//! Requests of the client: what is remembered of each, and how it is written.
#![allow(clippy::as_conversions, reason = "a table has at most what 16 bits count")]

use crate::framing::outbound_message::About;
use crate::json::{Json, SortKey, Writer, magnitude};
use crate::peer::response::RequestFailure;
use crate::peer::slots::{Data, Ticket};
use crate::peer::transmit_buffer::Overflow;
use crate::platform::divide;
use crate::protocol::level::Level;
use crate::protocol::revision::{Era, Revision};
use crate::time::Millis;

use crate::client::client_state::ClientState;
use crate::client::method::Method;
use crate::client::options::Meta;
use crate::client::server_requests::input_request::InputKind;
use crate::client::timeout::Timeout;

/// A request that the client has in flight, or one of the server's that it answers later. There is one of these for each
/// slot, so it has no byte too many.
#[derive(Debug, Clone, Copy)]
pub struct OutboundRequest {
    /// Which of all requests it is: together with its slot, its id. From `UNANSWERED` on no answer is for it.
    pub(crate) sequence: u64,
    /// As a span until the clock runs for the first time, then the point after which no progress helps.
    pub(crate) maximum: Millis,
    pub(crate) last_progress: SortKey,
    pub(crate) timeout: Timeout,
    /// How many pages of a list have come, or how often the server has asked back. Of a request of the server's, its stream.
    pub(crate) number: u32,
    /// What goes into `_meta` when it is sent again, too: so many bytes at the start of the text, and a level.
    pub(crate) meta_length: u16,
    pub(crate) level: Option<Level>,
    pub(crate) method: Method,
    pub(crate) stage: Stage,
    pub(crate) clock: Clock,
    pub(crate) progress: Progress,
    /// A request of the server's: what it asks for.
    pub(crate) asked: Option<InputKind>,
}

const _: () = assert!(size_of::<crate::client::Slot>() <= 64, "a request takes more memory");

/// The first number that no request of ours ever has. What is above it says how many questions the server has asked.
pub(crate) const UNANSWERED: u64 = 1 << 63;

/// What the host wants to hear of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Nothing,
    /// It is shown, but the time of the request goes on.
    Shown,
    /// The time starts anew, too.
    BuysTime,
}

/// Whether the time of a request runs: it starts at the first poll after it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Not yet.
    Stopped,
    /// Not anew yet, since it was sent again; the maximum, which is for all of it, does.
    Again,
    Running,
}

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Sent; its answer is awaited.
    Waiting,
    /// The request for the next page is to be written.
    NextPage,
    /// A subscription that was acknowledged.
    Listening,
    /// A subscription that waits for the next connection. Its text is its filter, as in the two before.
    Kept,
    /// A subscription that is to be written again.
    Relisten,
    /// The server has asked back; the host is to send it again with answers to its [questions](OutboundRequest::questions). Its text is the state.
    NeedsInput,
    /// A list that cannot go on. The host has heard its last page, and is to hear why there are no more.
    Failed(RequestFailure),
    /// The host has heard its end; a cancellation is to be written.
    Cancelled,
    /// The host has heard its end, and the peer does not have to.
    Over,
    /// A request of the server's, which the host answers later.
    ServerRequest,
    /// One whose time was over, of which the host has heard; the error for it is to be written. Its text is its id.
    Expired,
}

impl Data for OutboundRequest {
    const EMPTY: OutboundRequest = OutboundRequest {
        sequence: 0,
        maximum: Millis::ZERO,
        last_progress: SortKey::NONE,
        timeout: Timeout::ZERO,
        number: 0,
        meta_length: 0,
        level: None,
        method: Method::Other,
        stage: Stage::Over,
        clock: Clock::Stopped,
        progress: Progress::Nothing,
        asked: None,
    };
}

impl ClientState<'_> {
    /// How many ids share a sequence number: one for each slot, and one for connecting.
    fn stride(&self) -> u32 {
        (self.in_flight.limit() as u32).saturating_add(1)
    }

    /// The id of a request in a slot, or of the one that connects. Ids only ever grow; the first is 1.
    pub(crate) fn id_of(&self, sequence: u64, slot: Option<u32>) -> u64 {
        let place = slot.map_or(0, |slot| u64::from(slot).saturating_add(1));
        sequence.saturating_mul(self.stride().into()).saturating_add(place).saturating_add(1)
    }

    /// The sequence number and the slot of an id that was used, whether it is in flight or not. Some servers answer
    /// with the digits in a string.
    pub(crate) fn place_of(&self, id: Json<'_>) -> Option<(u64, Option<u32>)> {
        let digits = match id.bytes() {
            // No id of ours begins like that, and it would be read as one.
            [b'"', b'0', ..] => return None,
            [b'"', digits @ .., b'"'] => digits,
            digits => digits,
        };
        let (sequence, slot) = divide(magnitude(digits)?.checked_sub(1)?, self.stride());
        (sequence < self.sequence).then_some((sequence, slot.checked_sub(1)))
    }

    /// The request with this id, if its answer is awaited: not the request for the page before, nor one that the host has
    /// given up.
    pub(crate) fn awaited(&self, id: Json<'_>) -> Option<(Ticket, Method)> {
        let (sequence, slot) = self.place_of(id)?;
        let (ticket, outgoing) = self.in_flight.at(slot?)?;
        let waits = matches!(outgoing.stage, Stage::Waiting | Stage::Listening);
        (waits && outgoing.sequence == sequence).then_some((ticket, outgoing.method))
    }

    /// The request that was last sent with this id, as long as it has its slot.
    pub(crate) fn find(&self, id: Json<'_>) -> Option<Ticket> {
        let (sequence, slot) = self.place_of(id)?;
        self.sent_as(sequence, slot?)
    }

    /// The request that is in a slot, if that was last sent with this number.
    pub(crate) fn sent_as(&self, sequence: u64, slot: u32) -> Option<Ticket> {
        let (ticket, outgoing) = self.in_flight.at(slot)?;
        (outgoing.sequence == sequence).then_some(ticket)
    }

    /// Writes a request, in a message of at most `room` bytes.
    pub(crate) fn write_request(
        &mut self,
        id: u64,
        method: &str,
        revision: Revision,
        room: usize,
        meta: Meta<'_>,
        params: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), Overflow> {
        self.output.compact();
        let mut out = self.output.begin(room);
        write_head(&mut out, id, method);
        let head = out.len();
        params(&mut out);
        self.info.write_meta(revision, meta, &mut out);
        if out.len() > head {
            out.token("}}");
        } else {
            out.take_back(PARAMS);
            out.token("}");
        }
        let to = out.finish().ok();
        self.output.end_message(About::REQUEST, to)
    }

    /// Sends a request of a slot again, under a fresh id: for the next page of a list, with answers to what the server
    /// has asked, over a new connection. `params` writes its members, from what is kept of it.
    pub(crate) fn send_again(
        &mut self,
        ticket: Ticket,
        method: &str,
        params: &mut dyn FnMut(&mut Writer<'_>, &[u8]),
    ) -> Result<(), Overflow> {
        let (Some(peer), Some(outgoing)) = (self.peer, self.in_flight.get(ticket).copied()) else {
            return Ok(());
        };
        let id = self.id_of(self.sequence, Some(ticket.slot));
        let (room, info) = (self.room(), self.info);
        self.output.compact();
        let (more, kept) = outgoing.kept(self.in_flight.text(ticket));
        let token = outgoing.wants_progress().then_some(id);
        self.output.write(About::REQUEST, room, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","id":"#);
            out.unsigned(id);
            out.field_string("method", method);
            out.key("params");
            out.begin_object();
            params(out, kept);
            info.write_meta(peer.revision, Meta { token, level: outgoing.level, more }, out);
            out.token("}}");
        })?;
        if let Some(outgoing) = self.in_flight.get_mut(ticket) {
            (outgoing.sequence, outgoing.stage) = (self.sequence, Stage::Waiting);
            outgoing.last_progress = SortKey::NONE;
            if outgoing.clock == Clock::Running {
                outgoing.clock = Clock::Again;
            }
        }
        self.sequence = self.sequence.saturating_add(1);
        self.in_flight.set_deadline(ticket, Some(Millis::ZERO));
        Ok(())
    }

    /// Keeps the host's part of `_meta` of a request that may have to be sent again. `false`: there is no room for it,
    /// and it will have to be: the pages of a list follow. One that did not fit is missed as soon as the server asks back.
    pub(crate) fn keep_meta(&mut self, ticket: Ticket, method: Method, more: Option<Json<'_>>) -> bool {
        let may_ask = method.may_ask().is_some() && self.era() == Some(Era::Stateless);
        let again = may_ask || matches!(method, Method::List(_));
        let (true, Some(more)) = (again, more) else { return true };
        if let Some(outgoing) = self.in_flight.get_mut(ticket) {
            outgoing.meta_length = u16::try_from(more.bytes().len()).unwrap_or(u16::MAX);
        }
        self.in_flight.set_text_after(ticket, 0, more.bytes()) || may_ask
    }
}

impl OutboundRequest {
    /// Whether the host asked for progress.
    pub(crate) fn wants_progress(&self) -> bool {
        self.progress != Progress::Nothing
    }

    /// How many questions the server has asked, of a request that needs input.
    pub(crate) fn questions(&self) -> u64 {
        self.sequence.saturating_sub(UNANSWERED)
    }

    /// Starts its time, for the first time or anew, and says when it will be over.
    pub(crate) fn start_clock(&mut self, now: Millis) -> Millis {
        if core::mem::replace(&mut self.clock, Clock::Running) == Clock::Stopped {
            self.maximum = now.plus(self.maximum);
        }
        match self.stage {
            Stage::Waiting => self.ends(now),
            _ => self.maximum,
        }
    }

    /// When its time is over, if that starts now.
    pub(crate) fn ends(&self, now: Millis) -> Millis {
        now.plus(self.timeout.millis()).min(self.maximum)
    }

    /// What the text of its slot keeps: the host's part of `_meta`, if there is any, and what else it takes to send it
    /// again.
    pub(crate) fn kept<'t>(&self, text: &'t [u8]) -> (Option<Json<'t>>, &'t [u8]) {
        let (meta, rest) = text.split_at_checked(self.meta_length.into()).unwrap_or((b"", text));
        ((!meta.is_empty()).then(|| Json::trusted(meta)), rest)
    }
}

/// How parameters begin, behind a method.
const PARAMS: &str = r#","params":{"#;

/// `{"jsonrpc":"2.0","id":…,"method":…,"params":{`
pub(super) fn write_head(out: &mut Writer<'_>, id: u64, method: &str) {
    out.token(r#"{"jsonrpc":"2.0","id":"#);
    out.unsigned(id);
    out.field_string("method", method);
    out.token(PARAMS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn an_id_is_its_digits_and_nothing_else() {
        for length in 0..=30 {
            for digit in '0'..='9' {
                let digits: String = core::iter::repeat_n(digit, length).collect();
                assert_eq!(magnitude(digits.as_bytes()), digits.parse().ok(), "{digits}");
                for (at, wrong) in (0..length).zip("/:+- .eE\"x\u{7f}".chars().cycle()) {
                    let mut digits = digits.clone();
                    digits.replace_range(at..at + 1, &wrong.to_string());
                    assert_eq!(magnitude(digits.as_bytes()), None, "{digits}");
                }
            }
        }
        for id in [u64::MAX, u64::MAX - 1, 10u64.pow(19), 10u64.pow(19) - 1, 0, 1] {
            assert_eq!(magnitude(id.to_string().as_bytes()), Some(id));
            // As many as there are and `id` are too many.
            let more = u128::from(u64::MAX) + 1 + u128::from(id);
            assert_eq!(magnitude(more.to_string().as_bytes()), None);
        }
    }
}
