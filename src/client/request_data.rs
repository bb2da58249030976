//! Requests that the client sends: their ids, their text, and the data that their slots store.
#![allow(clippy::as_conversions, reason = "a stream is the low half of an id")]

use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::{Json, SortKey, WriteBody, Writer, digit_bytes};
use crate::peer::outbound::IssuedId;
use crate::peer::request::{OutboundData, OutboundState};
use crate::peer::slots::Ticket;
use crate::peer::transmit_buffer::Overflow;
use crate::protocol::level::Level;
use crate::protocol::revision::{Revision, WireFeature};
use crate::time::Millis;

use crate::client::client_state::ClientState;
use crate::client::method_properties::Method;
use crate::client::options::Meta;

/// Data of a request that the client sent. Every slot has space for one value, so the type is small.
#[derive(Debug, Clone, Copy)]
pub struct SentRequest {
    /// The sequence number. `id_of` computes the id from this number and the slot. No response matches `NO_SEQUENCE` or
    /// a larger number.
    pub(crate) sequence: u64,
    /// The maximum duration. After the timeout has started, this value is the deadline that progress cannot extend.
    pub(crate) maximum: Millis,
    /// The number of partial results so far.
    ///
    /// A partial result is a page of a list, or a result that requires input.
    pub(crate) partial_results: u32,
    /// The length of the additional `_meta`. The slot's text begins with this `_meta`, unless the `_meta` did not fit.
    ///
    /// The client writes this `_meta` again if it sends the request again.
    pub(crate) meta_length: u16,
    pub(crate) level: Option<Level>,
    pub(crate) method: Method,
}

const _: () = assert!(size_of::<crate::client::Slot>() <= 64, "a slot exceeds 64 bytes");

/// Sequence numbers from here on are part of no sent id. A request that needs input stores `NO_SEQUENCE` plus the
/// number of its input requests.
pub(crate) const NO_SEQUENCE: u64 = 1 << 63;

impl OutboundData for SentRequest {
    fn start_maximum(&mut self, now: Millis) {
        self.maximum = now.plus(self.maximum);
    }

    fn maximum(&self) -> Millis {
        self.maximum
    }

    /// Returns `false` for `tasks/result`, because the server may respond only at the end of the task.
    fn has_timeout(&self) -> bool {
        self.method != Method::TaskResult
    }
}

impl ClientState<'_> {
    /// Returns the id of the request in `slot`. `None` stands for a request without a slot, such as the connecting
    /// request.
    pub(crate) fn id_of(&self, sequence: u64, slot: Option<u32>) -> u64 {
        self.peer.id_at(sequence, slot.map_or(0, |slot| slot.saturating_add(1)))
    }

    pub(crate) fn method_of(&self, ticket: Ticket) -> Method {
        self.peer.in_flight.outbound(ticket).map_or(Method::Other, |outbound| outbound.data.method)
    }

    /// Finds the most recent id of this stream, among the ids that the client can have sent so far, and returns its
    /// meaning. The low 32 bits of the ids of a stream are the number of the stream.
    ///
    /// Returns [`IssuedId::Unknown`] if the stream has no such id.
    pub(crate) fn find_on_stream(&self, StreamId(stream): StreamId) -> IssuedId {
        // All sent ids are below this bound. Find the largest id below the bound whose low 32 bits are the stream.
        let bound = self.id_of(self.peer.next_sequence, None);
        let id = bound.wrapping_sub(u64::from((bound as u32).wrapping_sub(stream)));
        let id = if id >= bound { id.checked_sub(1 << 32) } else { Some(id) };
        id.map_or(IssuedId::Unknown, |id| self.peer.find_issued_number(id))
    }

    /// Writes a request as a message of at most `space` bytes. `params` writes the members of the parameters, and
    /// returns whether these members are valid.
    #[inline(always)]
    pub(crate) fn write_request(
        &mut self,
        id: u64,
        (method, name): (Method, &str),
        revision: Revision,
        space: usize,
        meta: Meta<'_>,
        params: &mut dyn WriteBody,
    ) -> Result<(), Unwritten> {
        let output = &mut self.peer.output;
        output.compact();
        let mut out = output.begin_message(space);
        out.wrapped(HEAD, digit_bytes(id, &mut [0; 20]), METHOD);
        if method == Method::Other {
            out.inside_text(name);
        } else {
            // A known name needs no escapes.
            out.push(name.as_bytes());
        }
        out.token(PARAMS);
        let is_valid = params.write(&mut out);
        self.config.write_meta(revision, meta, &mut self.meta_cache, &mut out);
        if out.ends_with(b'{') {
            end_without_params(&mut out);
        } else {
            out.token("}}");
        }
        let to = out.finish();
        if !is_valid {
            return Err(Unwritten::Invalid);
        }
        let sent = output.end_message(Routing::on_stream(OutboundMessageKind::Request, stream_of(id)), to);
        sent.map_err(|Overflow| Unwritten::Overflow)
    }

    /// Sends the request of a slot again under a new id.
    ///
    /// The new request fetches the next page of a list, contains input responses, renews a subscription on a new
    /// connection, or queries a task. `params` writes the members of the parameters. The second argument of `params` is
    /// the text in the slot, without the additional `_meta`. Returns [`Overflow`], and changes nothing, if the request
    /// does not fit.
    pub(crate) fn resend(
        &mut self,
        ticket: Ticket,
        method: &str,
        params: &mut dyn FnMut(&mut Writer<'_>, &[u8]),
    ) -> Result<(), Overflow> {
        let Some(outbound) = self.peer.in_flight.outbound(ticket).copied() else { return Ok(()) };
        let sequence = self.peer.next_sequence;
        // A request about a task has no progress, log messages or additional `_meta` of its own.
        let is_task = outbound.data.method.is_task();
        let token = outbound.wants_progress().then(|| self.id_of(sequence, Some(ticket.slot)));
        let meta = match is_task {
            true => Meta::default(),
            false => Meta { token, level: outbound.data.level, more: None },
        };
        self.write_stored(ticket, method, meta, params)?;
        if let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) {
            (outbound.data.sequence, outbound.state) = (sequence, OutboundState::AwaitingResponse);
            outbound.last_progress = SortKey::NONE;
            outbound.flags.stop();
        }
        self.peer.in_flight.set_deadline(ticket, Some(Millis::ZERO));
        Ok(())
    }

    /// Writes a request under a new id. `params` has the same arguments as in [`resend`](ClientState::resend). The
    /// request also contains the additional `_meta` in the slot's text.
    pub(crate) fn write_stored(
        &mut self,
        ticket: Ticket,
        method: &str,
        meta: Meta<'_>,
        params: &mut dyn FnMut(&mut Writer<'_>, &[u8]),
    ) -> Result<(), Overflow> {
        let data = self.peer.in_flight.outbound(ticket).map(|outbound| outbound.data);
        let (Some(session), Some(data)) = (self.peer.session, data) else { return Ok(()) };
        let id = self.id_of(self.peer.next_sequence, Some(ticket.slot));
        let (space, config, cache) = (self.request_space(), self.config, &mut self.meta_cache);
        let (more, rest) = data.split_text(self.peer.in_flight.text(ticket));
        let mut body = |out: &mut Writer<'_>| {
            out.token(HEAD);
            out.unsigned(id);
            out.field_string("method", method);
            out.token(NO_PARAMS);
            params(out, rest);
            config.write_meta(session.revision, Meta { more, ..meta }, cache, out);
            out.token("}}");
        };
        let routing = Routing::on_stream(OutboundMessageKind::Request, stream_of(id));
        self.peer.output.send(routing, space, &mut body)?;
        self.peer.next_sequence = self.peer.next_sequence.saturating_add(1);
        Ok(())
    }

    /// Stores the additional `_meta` of a request that the client may send again: a list, a resumable request or a
    /// subscription. Returns `false` only if the `_meta` of a list does not fit. For the other requests, a `_meta` that
    /// does not fit is a failure only if the client has to send the request again.
    #[cold]
    #[inline(never)]
    pub(crate) fn store_meta(&mut self, ticket: Ticket, method: Method, more: Json<'_>) -> bool {
        let may_fail_later = method == Method::Listen
            || method.resumable_name().is_some() && self.has(WireFeature::InputRequired);
        if !may_fail_later && !matches!(method, Method::List(_)) {
            return true;
        }
        if let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) {
            outbound.data.meta_length = u16::try_from(more.bytes().len()).unwrap_or(u16::MAX);
        }
        self.peer.in_flight.set_text_after(ticket, 0, more.bytes()) || may_fail_later
    }
}

impl SentRequest {
    pub(crate) fn new(sequence: u64, method: Method, maximum: Millis, level: Option<Level>) -> SentRequest {
        SentRequest { sequence, maximum, partial_results: 0, meta_length: 0, level, method }
    }

    /// Returns the number of input requests that await responses. The state of the request must be `NeedsInput`.
    pub(crate) fn input_requests(&self) -> u64 {
        self.sequence.saturating_sub(NO_SEQUENCE)
    }

    /// Splits the slot's text into the additional `_meta` and the remaining text.
    pub(crate) fn split_text<'t>(&self, text: &'t [u8]) -> (Option<Json<'t>>, &'t [u8]) {
        let (meta, rest) = text.split_at_checked(self.meta_length.into()).unwrap_or((b"", text));
        ((!meta.is_empty()).then(|| Json::trusted(meta)), rest)
    }
}

/// Returns the request's stream in message mode: the low 32 bits of the id. Two requests share a stream only if their
/// ids differ by a multiple of 2^32.
pub(crate) fn stream_of(id: u64) -> StreamId {
    StreamId(id as u32)
}

/// Removes the start of the empty parameters, and ends the request.
#[inline(never)]
fn end_without_params(out: &mut Writer<'_>) {
    out.remove_last(NO_PARAMS);
    out.token("}");
}

/// The start of a request, before the id.
const HEAD: &str = r#"{"jsonrpc":"2.0","id":"#;

/// The text between the id and the name of the method.
const METHOD: &str = r#","method":""#;

/// The closing quote of the method, and `NO_PARAMS`.
const PARAMS: &str = r#"","params":{"#;

/// The start of the parameters, which a request without parameters omits.
const NO_PARAMS: &str = r#","params":{"#;

/// The reason why a request was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// The parameters are not valid.
    Invalid,
    /// The request does not fit.
    Overflow,
}
