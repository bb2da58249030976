//! What nearly everything is: a tool is called with nothing asked for but its answer, and the answer is a result. On hosts both
//! take a short straight way here. What is unusual in any way is left as it was, to the ways for everything.

use crate::error::SendError;
use crate::framing::outbound_message::About;
use crate::framing::{Content, Line};
use crate::json::{Envelope, Member, Shape, Span, Writer};
use crate::machine::Action;
use crate::peer::slots::{Data, Ticket};
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::Era;

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::method::Method;
use crate::client::options::Options;
use crate::client::outbound_request::{OutboundRequest, Stage, write_head};
use crate::client::pending_event::{OutcomePlan, PendingEvent};
use crate::client::requests::send::write_name;
use crate::client::timeout::Timeout;

impl ClientState<'_> {
    /// Calls a tool, if the era has a handshake and the options are but times: then nothing goes with the arguments. (A level
    /// of logs means nothing before `2026-07-28`.) `None`: it is not so, or cannot be now, for whatever reason.
    #[inline]
    pub(super) fn usual_call(
        &mut self,
        tool: &str,
        options: &Options<'_>,
        arguments: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Option<Result<Ticket, SendError>> {
        let peer = self.peer?;
        let has_tools = peer.capabilities.has(ServerCapabilities::TOOLS);
        let is_plain = options.meta.is_none() & !options.progress;
        let waits = self.owes_initialized | self.ask_waits | self.owed.is_some();
        let is_usual = has_tools & is_plain & !waits & (peer.revision.era() == Era::Handshake);
        if !(is_usual && self.is_connected()) {
            return None;
        }
        let timeouts = self.info.timeouts;
        let ticket = self.in_flight.take(OutboundRequest {
            sequence: self.sequence,
            method: Method::CallTool,
            stage: Stage::Waiting,
            timeout: Timeout::new(options.timeout.unwrap_or(timeouts.request)),
            maximum: options.maximum.unwrap_or(timeouts.maximum),
            ..OutboundRequest::EMPTY
        })?;
        let id = self.id_of(self.sequence, Some(ticket.slot));
        self.output.compact();
        let room = self.output.free().saturating_sub(self.reserve);
        let mut out = self.output.begin(room);
        if put_call(&mut out, id, tool).is_none() {
            write_call(&mut out, id, tool);
        }
        let valid = arguments(&mut out);
        out.token("}}");
        let to = out.finish().ok().filter(|_| valid);
        Some(match self.output.end_message(About::REQUEST, to) {
            Ok(()) => Ok(self.begun(ticket)),
            Err(_) => Err(self.not_begun(ticket, valid)),
        })
    }
}

/// The head of a call and the name of its tool at once, if that is short, into room that is there.
#[inline(always)]
fn put_call(out: &mut Writer<'_>, id: u64, tool: &str) -> Option<()> {
    let free = out.free()?.token(r#"{"jsonrpc":"2.0","id":"#)?.number(id)?;
    let free = free.token(r#","method":"tools/call","params":{"name":""#)?;
    let to = free.plain(tool)?.token(r#"","arguments":"#)?.end();
    out.filled(to, b':');
    Some(())
}

/// The same piece by piece.
#[cold]
fn write_call(out: &mut Writer<'_>, id: u64, tool: &str) {
    write_head(out, id, methods::TOOLS_CALL.name);
    write_name(out, tool);
}

impl Client<'_> {
    /// A client that is [settled](ClientState::is_settled), most of the time, while the input goes on, only waits for what comes in,
    /// and for what is due.
    #[inline(always)]
    pub(super) fn usual_poll(&mut self) -> Action<'_> {
        if self.plan.is_some() || !self.core.is_settled() || self.input.ended() {
            return self.poll_any();
        }
        if self.core.in_flight.has_unstarted() {
            self.start_clocks();
        }
        let deadline = self.core.in_flight.next_deadline();
        if deadline.is_some_and(|at| at <= self.core.now) {
            return self.poll_any();
        }
        if self.input.has_more() { self.usual_input() } else { self.io(deadline) }
    }

    #[inline(never)]
    fn usual_input(&mut self) -> Action<'_> {
        if !self.input.has_line() {
            return self.io(self.core.in_flight.next_deadline());
        }
        match self.input.line() {
            Some(Line { content: Content::Message, .. }) if self.usual_result().is_some() => Action::Event,
            _ => self.poll_any(),
        }
    }

    /// Deals with the line that waits, if it is the result of a call that is awaited, and nothing else. `None`: it is not, and
    /// waits still.
    #[inline(always)]
    fn usual_result(&mut self) -> Option<()> {
        let Envelope { shape: Shape::Object, jsonrpc, id, method: None, error: None, result, .. } =
            self.input.envelope()
        else {
            return None;
        };
        // Who looks at all messages is told on the way for everything.
        if self.core.output.is_watched() {
            return None;
        }
        let (bytes, places) = (self.input.bytes(), self.input.inner(Member::Result)?);
        if bytes.get(jsonrpc?.range())? != br#""2.0""# {
            return None;
        }
        let (ticket, method) = self.core.awaited_as(number_at(bytes, id?)?)?;
        let (mut content, mut kind) = (None, None);
        for (name, value) in places.spans(bytes) {
            match name {
                b"content" => content = Some(value),
                b"resultType" => kind = Some(value),
                _ => {}
            }
        }
        let (result, member) = (result?, content?);
        // Who does not know of types may send them, and mean something else.
        let is_complete = self.core.era() == Some(Era::Handshake)
            || kind.is_none_or(|kind| bytes.get(kind.range()) == Some(br#""complete""#));
        if method != Method::CallTool || bytes.get(member.start) != Some(&b'[') || !is_complete {
            return None;
        }
        self.core.keep_alive.heard();
        self.core.output.show();
        self.core.in_flight.release(ticket);
        self.plan =
            Some(PendingEvent::Response { ticket, method, outcome: OutcomePlan::Result { result, member } });
        self.holds_line = true;
        Some(())
    }
}

const LOW: u64 = u64::from_le_bytes([0x01; 8]);

/// The value of a number of at most sixteen digits. There have to be eight bytes behind where it begins.
#[inline(always)]
fn number_at(bytes: &[u8], place: Span) -> Option<u64> {
    match place.end.checked_sub(place.start)? {
        0..=8 => few_digits(bytes, place),
        9..=16 => {
            let middle = place.end.wrapping_sub(8);
            let high = few_digits(bytes, Span { end: middle, ..place })?;
            Some(
                high.wrapping_mul(100_000_000)
                    .wrapping_add(few_digits(bytes, Span { start: middle, ..place })?),
            )
        }
        _ => None,
    }
}

/// The value of a number of at most eight digits, all of them at once. There has to be as much text behind where it begins.
#[inline(always)]
fn few_digits(bytes: &[u8], place: Span) -> Option<u64> {
    let word = bytes.get(place.start..)?.first_chunk::<8>()?;
    let missing = 8usize.checked_sub(place.end.checked_sub(place.start)?)?;
    // As numbers, with zeros before them instead of what stands behind them.
    let digits = u64::from_le_bytes(*word) ^ LOW.wrapping_mul(b'0'.into());
    let digits = digits.checked_shl(u32::try_from(missing).ok()?.wrapping_mul(8))?;
    if (digits | digits.wrapping_add(LOW.wrapping_mul(0x76))) & LOW.wrapping_mul(0x80) != 0 {
        return None;
    }
    // One number of two neighbours, three times; the first one, which stands lowest, is ten times as much, and so on.
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    Some(fours.wrapping_mul(10_000 << 32 | 1) >> 32)
}

#[cfg(test)]
mod tests;
