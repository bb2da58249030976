//! Request state in a slot; ids and encoding of outbound requests.
#![allow(clippy::as_conversions, reason = "a table has at most 2^16 slots")]

use crate::framing::outbound_message::{Routing, StreamId};
use crate::json::{Json, SortKey, Writer, magnitude};
use crate::peer::response::RequestFailure;
use crate::peer::slots::{Data, Ticket};
use crate::peer::transmit_buffer::Overflow;
use crate::platform::divide;
use crate::protocol::level::Level;
use crate::protocol::revision::{Revision, WireFeature};
use crate::time::Millis;

use crate::client::client_state::ClientState;
use crate::client::method::Method;
use crate::client::options::Meta;
use crate::client::server_requests::input_request::InputKind;
use crate::client::timeout::Timeout;

/// A request of the client in flight, or a deferred request of the server. Each slot stores one, so the type is small.
#[derive(Debug, Clone, Copy)]
pub struct OutboundRequest {
    /// The sequence number, which forms the id together with the slot. Values from `NO_SEQUENCE` on match no response.
    pub(crate) sequence: u64,
    /// A duration until the timeout starts for the first time, and afterwards a deadline that progress cannot extend.
    pub(crate) maximum: Millis,
    pub(crate) last_progress: SortKey,
    pub(crate) timeout: Timeout,
    /// The number of pages received (of a list) or of input-required results; for a request of the server, its stream.
    pub(crate) number: u32,
    /// The length of the additional `_meta` at the start of the slot's text, for when the request is sent again.
    pub(crate) meta_length: u16,
    pub(crate) level: Option<Level>,
    pub(crate) method: Method,
    pub(crate) stage: Stage,
    pub(crate) clock: Clock,
    pub(crate) progress: Progress,
    /// The kind of input, for a request of the server; else `None`.
    pub(crate) input_kind: Option<InputKind>,
}

const _: () = assert!(size_of::<crate::client::Slot>() <= 64, "a slot exceeds 64 bytes");

/// The first sequence number that no request uses. The distance to it is the number of input requests.
pub(crate) const NO_SEQUENCE: u64 = 1 << 63;

/// How a request treats progress notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Ignored,
    /// Progress is reported, and the timeout is unchanged.
    Reported,
    /// Progress is reported, and restarts the timeout.
    ExtendsTimeout,
}

/// Whether the timeout of a request runs. It starts at the first poll after sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The timeout has not started yet.
    Stopped,
    /// The client sent the request again: the timeout restarts at the next poll, while the maximum duration continues
    /// to elapse.
    Restarting,
    Running,
}

/// The stage of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Sent; the response is pending.
    Waiting,
    /// The request for the next page is not written yet.
    NextPage,
    /// An acknowledged subscription.
    Listening,
    /// A subscription that waits for the next connection. Its text is its filter, as in the two stages before.
    Parked,
    /// A subscription that the client must send again.
    Resubscribe,
    /// The server requires input, and the application has to resume the request with responses to its [input
    /// requests](OutboundRequest::input_requests). Its text is the server's state.
    NeedsInput,
    /// A failed list. Its last page was reported, and its failure is pending.
    Failed(RequestFailure),
    /// The end was reported to the application, and the cancellation is not written yet.
    Cancelled,
    /// The end was reported to the application, and the server needs no cancellation.
    Done,
    /// A deferred request of the server.
    Deferred,
    /// An expired deferred request, whose end was reported and whose error is not written yet. Its text is its id.
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
        stage: Stage::Done,
        clock: Clock::Stopped,
        progress: Progress::Ignored,
        input_kind: None,
    };
}

impl ClientState<'_> {
    /// The number of ids per sequence number: one for each slot, and one for connecting.
    fn stride(&self) -> u32 {
        (self.in_flight.limit() as u32).saturating_add(1)
    }

    /// The id of a request in a slot, or of the connecting request. Ids always grow; the first is 1.
    pub(crate) fn id_of(&self, sequence: u64, slot: Option<u32>) -> u64 {
        let place = slot.map_or(0, |slot| u64::from(slot).saturating_add(1));
        sequence.saturating_mul(self.stride().into()).saturating_add(place).saturating_add(1)
    }

    /// The sequence number and slot of an id that was used, in flight or not. Some servers return the id as a string of
    /// digits.
    pub(crate) fn locate_id(&self, id: Json<'_>) -> Option<(u64, Option<u32>)> {
        let digits = match id.bytes() {
            // The client issues no id that begins with zero, but the parser would accept one.
            [b'"', b'0', ..] => return None,
            [b'"', digits @ .., b'"'] => digits,
            digits => digits,
        };
        self.locate_number(magnitude(digits)?)
    }

    fn locate_number(&self, id: u64) -> Option<(u64, Option<u32>)> {
        let (sequence, slot) = divide(id.checked_sub(1)?, self.stride());
        (sequence < self.sequence).then_some((sequence, slot.checked_sub(1)))
    }

    /// The sequence number and slot of the last request that was sent on this stream.
    pub(crate) fn locate_stream(&self, StreamId(stream): StreamId) -> Option<(u64, Option<u32>)> {
        // All ids are below this bound. The last one with these low bits counts.
        let bound = self.id_of(self.sequence, None);
        let id = bound.wrapping_sub(u64::from((bound as u32).wrapping_sub(stream)));
        let id = if id >= bound { id.checked_sub(1 << 32)? } else { id };
        self.locate_number(id)
    }

    /// The request with this id, if its response is pending. Previous pages of a list and cancelled requests do not
    /// match.
    pub(crate) fn find_pending(&self, id: Json<'_>) -> Option<(Ticket, Method)> {
        let (sequence, slot) = self.locate_id(id)?;
        let (ticket, outgoing) = self.in_flight.request_in_slot(slot?)?;
        let is_pending = matches!(outgoing.stage, Stage::Waiting | Stage::Listening);
        (is_pending && outgoing.sequence == sequence).then_some((ticket, outgoing.method))
    }

    /// The request that was last sent with this id, while it holds its slot.
    pub(crate) fn find(&self, id: Json<'_>) -> Option<Ticket> {
        let (sequence, slot) = self.locate_id(id)?;
        self.find_by_sequence(sequence, slot?)
    }

    /// The request in a slot, if it was last sent with this sequence number.
    pub(crate) fn find_by_sequence(&self, sequence: u64, slot: u32) -> Option<Ticket> {
        let (ticket, outgoing) = self.in_flight.request_in_slot(slot)?;
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
        let mut out = self.output.begin_message(room);
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
        self.output.end_message(Routing::related_request(stream_of(id)), to)
    }

    /// Sends the request of a slot again under a new id: for the next page of a list, with input responses, or on a new
    /// connection. `params` writes its members from the text stored in the slot.
    pub(crate) fn resend(
        &mut self,
        ticket: Ticket,
        method: &str,
        params: &mut dyn FnMut(&mut Writer<'_>, &[u8]),
    ) -> Result<(), Overflow> {
        let (Some(peer), Some(outgoing)) = (self.peer, self.in_flight.get(ticket).copied()) else {
            return Ok(());
        };
        let id = self.id_of(self.sequence, Some(ticket.slot));
        let (room, info) = (self.request_room(), self.info);
        self.output.compact();
        let (more, rest) = outgoing.split_text(self.in_flight.text(ticket));
        let token = outgoing.wants_progress().then_some(id);
        self.output.write(Routing::related_request(stream_of(id)), room, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","id":"#);
            out.unsigned(id);
            out.field_string("method", method);
            out.key("params");
            out.begin_object();
            params(out, rest);
            info.write_meta(peer.revision, Meta { token, level: outgoing.level, more }, out);
            out.token("}}");
        })?;
        if let Some(outgoing) = self.in_flight.get_mut(ticket) {
            (outgoing.sequence, outgoing.stage) = (self.sequence, Stage::Waiting);
            outgoing.last_progress = SortKey::NONE;
            if outgoing.clock == Clock::Running {
                outgoing.clock = Clock::Restarting;
            }
        }
        self.sequence = self.sequence.saturating_add(1);
        self.in_flight.set_deadline(ticket, Some(Millis::ZERO));
        Ok(())
    }

    /// Stores the additional `_meta` of a request that may be sent again. Returns `false` if it does not fit and is
    /// certainly needed, for the pages of a list. If a resumable request's `_meta` does not fit, the input-required
    /// result fails later.
    pub(crate) fn store_meta(&mut self, ticket: Ticket, method: Method, more: Option<Json<'_>>) -> bool {
        let is_resumable = method.resumable_name().is_some() && self.has(WireFeature::InputRequired);
        let may_resend = is_resumable || matches!(method, Method::List(_));
        let (true, Some(more)) = (may_resend, more) else { return true };
        if let Some(outgoing) = self.in_flight.get_mut(ticket) {
            outgoing.meta_length = u16::try_from(more.bytes().len()).unwrap_or(u16::MAX);
        }
        self.in_flight.set_text_after(ticket, 0, more.bytes()) || is_resumable
    }
}

impl OutboundRequest {
    /// Whether the client requested progress.
    pub(crate) fn wants_progress(&self) -> bool {
        self.progress != Progress::Ignored
    }

    /// The number of input requests of a request that needs input.
    pub(crate) fn input_requests(&self) -> u64 {
        self.sequence.saturating_sub(NO_SEQUENCE)
    }

    /// Starts or restarts the timeout, and returns its deadline.
    pub(crate) fn start_timeout(&mut self, now: Millis) -> Millis {
        if core::mem::replace(&mut self.clock, Clock::Running) == Clock::Stopped {
            self.maximum = now.plus(self.maximum);
        }
        match self.stage {
            Stage::Waiting => self.deadline_from(now),
            _ => self.maximum,
        }
    }

    /// The deadline of a timeout that starts now.
    pub(crate) fn deadline_from(&self, now: Millis) -> Millis {
        now.plus(self.timeout.millis()).min(self.maximum)
    }

    /// Splits the text of the slot: the additional `_meta`, if there is any, and the rest that sending again needs.
    pub(crate) fn split_text<'t>(&self, text: &'t [u8]) -> (Option<Json<'t>>, &'t [u8]) {
        let (meta, rest) = text.split_at_checked(self.meta_length.into()).unwrap_or((b"", text));
        ((!meta.is_empty()).then(|| Json::trusted(meta)), rest)
    }
}

/// The stream of a request with this id, in message mode: the low 32 bits of the id. Ids grow, so no two requests in
/// flight share a stream.
pub(crate) fn stream_of(id: u64) -> StreamId {
    StreamId(id as u32)
}

/// The start of the parameters, after the method.
const PARAMS: &str = r#","params":{"#;

/// `{"jsonrpc":"2.0","id":…,"method":…,"params":{`
pub(super) fn write_head(out: &mut Writer<'_>, id: u64, method: &str) {
    out.token(r#"{"jsonrpc":"2.0","id":"#);
    out.unsigned(id);
    out.token(r#","method":"#);
    out.string(method);
    out.token(PARAMS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn id_magnitude_accepts_digits_only() {
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
            // 2^64 + `id` overflows.
            let more = u128::from(u64::MAX) + 1 + u128::from(id);
            assert_eq!(magnitude(more.to_string().as_bytes()), None);
        }
    }
}
