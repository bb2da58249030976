//! Batches: handles the messages of one line in order, and collects their responses in one line.
//!
//! The server handles the members of a batch in order, as if each member were a line. The server collects the responses
//! in a separate buffer, and sends one message when the last response is complete.
//!
//! Specification: 2025-03-26, *Base protocol*, *Batching*; JSON-RPC 2.0, *Batch*.
#![allow(
    clippy::as_conversions,
    reason = "lines and responses are limited to 32-bit lengths, and `usize` has at least 32 bits"
)]

use crate::buffer::Buffer;
use crate::error::ProtocolError;
use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::{DEPTH_LIMIT, Kind, Member, Scanner, Span, Writer, next_element};
use crate::peer::Peer;
use crate::platform::copy;
use crate::platform::divide;
use crate::protocol::methods;
use crate::rpc::{self, Class, Invalid};
use crate::server::dispatch::{Received, handle_message, may_need_response};
use crate::server::pending_event::Spans;
use crate::server::server_state::ServerState;

/// The hooks and the buffer of batches.
pub(crate) struct Batch<'b> {
    /// Hooks of batches, or `None` without a batch buffer. Only [`Batch::new`] refers to the hooks, so that the
    /// linker can drop the code of batches.
    pub(crate) hooks: Option<&'static BatchHooks>,
    /// The encoded counts, followed by the responses. The responses to the open batch precede the responses to the
    /// batch in the line.
    buffer: Buffer<'b>,
}

/// Flags: whether a batch is in the line, and whether a batch is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batches(u8);

impl Batches {
    pub(crate) const NONE: Batches = Batches(0);
    /// The line is a batch, and the server has not reached the end of the batch.
    const IN_LINE: Batches = Batches(1);
    /// The server has handled all members of a batch, which awaits deferred responses or transmit space.
    const OPEN: Batches = Batches(2);

    pub(crate) fn in_line(self) -> bool {
        self.0 & Batches::IN_LINE.0 != 0
    }

    pub(crate) fn open(self) -> bool {
        self.0 & Batches::OPEN.0 != 0
    }

    fn set(&mut self, which: Batches, on: bool) {
        self.0 = if on { self.0 | which.0 } else { self.0 & !which.0 };
    }
}

/// The state of the batches, stored at the start of the buffer.
#[derive(Debug, Clone, Copy)]
struct Counts {
    /// Open batch: end of the responses in the buffer, and stream.
    open_end: u32,
    stream: u32,
    /// Batch in the line: end of the responses in the buffer, and maximum number of further responses.
    end: u32,
    left: u32,
    /// Offset in the line after the last handled member.
    next: u32,
    /// Number of deferred members of the open batch or, if no batch is open, of the batch in the line.
    deferred: u32,
}

/// Size of the encoded counts, in bytes.
const COUNTS: usize = 24;

impl Counts {
    /// The initial counts, without an open batch.
    const START: Counts =
        Counts { open_end: COUNTS as u32, stream: 0, end: COUNTS as u32, left: 0, next: 0, deferred: 0 };
}

impl<'b> Batch<'b> {
    pub(crate) fn none() -> Batch<'b> {
        Batch { hooks: None, buffer: (&mut []).into() }
    }

    pub(crate) fn new(buffer: Buffer<'b>) -> Batch<'b> {
        Batch { hooks: Some(&BATCH_HOOKS), buffer }
    }

    fn counts(&self) -> Counts {
        let (words, _) = self.buffer.bytes().as_chunks::<4>();
        match words.first_chunk::<6>() {
            Some(words) => {
                let [open_end, stream, end, left, next, deferred] = words.map(u32::from_le_bytes);
                Counts { open_end, stream, end, left, next, deferred }
            }
            None => Counts::START,
        }
    }

    /// Stores the counts. Returns `false` if the buffer cannot hold the counts.
    fn set(&mut self, counts: Counts) -> bool {
        let Counts { open_end, stream, end, left, next, deferred } = counts;
        let mut space = self.buffer.reborrow();
        let Some(bytes) = space.ensure(COUNTS) else { return false };
        let (words, _) = bytes.as_chunks_mut::<4>();
        for (word, count) in words.iter_mut().zip(&[open_end, stream, end, left, next, deferred]) {
            *word = count.to_le_bytes();
        }
        true
    }
}

impl Counts {
    /// Returns the start and the end of a batch's stored responses, and the maximum number of further responses.
    /// `in_line` selects the batch in the line, otherwise the open batch.
    fn region(&self, in_line: bool) -> (usize, usize, usize) {
        let (from, to, left) = match in_line {
            true => (self.open_end, self.end, self.left),
            false => (COUNTS as u32, self.open_end, self.deferred),
        };
        (from as usize, to as usize, left as usize)
    }
}

/// Hooks of batches. A server without a batch buffer does not link the code of batches.
pub(crate) struct BatchHooks {
    /// Begins the batch in a line, or refuses an empty or too large batch.
    pub(super) begin: fn(&mut ServerState<'_>, &[u8], StreamId) -> Received,
    /// Handles the next member or the end of the batch in the line. The caller must have reserved space for a response.
    pub(super) handle_next: fn(&mut ServerState<'_>, &[u8], StreamId, &mut Spans) -> Received,
    /// Returns the maximum size, in bytes, of the next response: in the batch in the line or, if there is none, in the
    /// open batch.
    pub(super) available: fn(&ServerState<'_>) -> usize,
    /// With `true`, increments the number of deferred members, otherwise decrements the number.
    pub(super) count_deferred: fn(&mut ServerState<'_>, bool),
    /// Returns whether a batch is open and has all responses, and no batch is in the line.
    pub(super) is_complete: fn(&ServerState<'_>) -> bool,
    /// Moves the last response, of this size in bytes, from the output into the batch buffer.
    pub(super) collect: fn(&mut ServerState<'_>, usize),
    /// Writes the open batch's responses if the batch is complete. Writes nothing if the output has no space.
    pub(super) write_open: fn(&mut ServerState<'_>),
}

static BATCH_HOOKS: BatchHooks =
    BatchHooks { begin, handle_next, available, count_deferred, is_complete, collect, write_open };

/// Size of an array without its responses: two brackets and a newline. The size of each response includes a newline.
/// The array has a comma in place of this newline.
const ARRAY: usize = 3;

fn begin(state: &mut ServerState<'_>, line: &[u8], stream: StreamId) -> Received {
    let allow_missing_jsonrpc = state.config.missing_jsonrpc;
    let first = line.iter().position(|byte| *byte == b'[').map_or(0, |bracket| bracket.saturating_add(1));
    let (mut responses, mut at) = (0usize, first);
    while let Some(element) = next_element(line, at) {
        at = element.end;
        let mut scanner = Scanner::new(DEPTH_LIMIT);
        let class = classify_member(&mut scanner, line, element, allow_missing_jsonrpc);
        responses = responses.saturating_add(may_need_response(class).into());
    }
    if at == first {
        return state.refuse(b"", stream, ProtocolError::EmptyBatch, None);
    }
    let mut counts = if state.batches.open() { state.batch.counts() } else { Counts::START };
    let (limit, _) = divide(total_limit(state, counts) as u64, state.min_error_size() as u32);
    let limit = limit as usize;
    let fits = responses <= limit && u32::try_from(line.len()).is_ok();
    if !fits || !state.batch.set(counts) {
        let error = ProtocolError::BatchTooLarge { limit };
        return state.refuse(b"", stream, error, Some(&("at most ", limit, " requests")));
    }
    state.invalid_in_a_row = 0;
    (counts.end, counts.left) = (counts.open_end, responses as u32);
    counts.next = first as u32;
    state.batch.set(counts);
    state.batches.set(Batches::IN_LINE, true);
    Received::BatchBegun
}

fn handle_next(state: &mut ServerState<'_>, line: &[u8], stream: StreamId, spans: &mut Spans) -> Received {
    let mut counts = state.batch.counts();
    let Some(element) = next_element(line, counts.next as usize) else {
        end_line(state, counts, stream);
        return Received::Done;
    };
    counts.next = element.end as u32;
    state.batch.set(counts);
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    let class = classify_member(&mut scanner, line, element, state.config.missing_jsonrpc);
    if class == Class::Request {
        let id = rpc::view(line, scanner.span(Member::Id)).bytes();
        if rpc::text(line, scanner.span(Member::Method)).is_name(methods::INITIALIZE.name) {
            return state.refuse(id, stream, ProtocolError::AlreadyInitialized, None);
        }
        // Refuse a request of the stateless era. The era has no batches, and a subscription would leave this batch
        // open.
        let meta = rpc::view(line, scanner.span(Member::Params))
            .get("_meta")
            .filter(|meta| meta.kind() == Kind::Object);
        if let (Some(era), Some(meta)) = (state.config.stateless, meta)
            && (era.parse_meta)(&mut state.request_cache, meta).is_some()
        {
            return state.refuse(id, stream, ProtocolError::Batch, None);
        }
    }
    handle_message(state, line, &scanner, class, stream, spans)
}

fn available(state: &ServerState<'_>) -> usize {
    let (from, to, left) = state.batch.counts().region(state.batches.in_line());
    // The result excludes the space for an error response to each further member of the batch.
    let others = state.min_error_size().saturating_mul(left.saturating_sub(1));
    let most = state.peer.output.max_reply_size().saturating_sub(ARRAY);
    let most = most.min(state.batch.buffer.limit().saturating_sub(from));
    most.saturating_sub(to.saturating_sub(from)).saturating_sub(others)
}

fn count_deferred(state: &mut ServerState<'_>, more: bool) {
    let mut counts = state.batch.counts();
    counts.deferred =
        if more { counts.deferred.saturating_add(1) } else { counts.deferred.saturating_sub(1) };
    state.batch.set(counts);
}

fn is_complete(state: &ServerState<'_>) -> bool {
    state.batches == Batches::OPEN && state.batch.counts().deferred == 0
}

fn collect(state: &mut ServerState<'_>, length: usize) {
    let in_line = state.batches.in_line();
    let ServerState { peer, batch, .. } = state;
    let mut counts = batch.counts();
    let (from, to, _) = counts.region(in_line);
    let response = peer.output.remove_last(length);
    let comma = usize::from(to > from);
    let end = to.saturating_add(comma).saturating_add(response.len());
    if let Some(target) = batch.buffer.reborrow().ensure(end).and_then(|all| all.get_mut(to..end)) {
        // The first response overwrites the comma, because `comma` is 0.
        copy(target, b",");
        copy(target.get_mut(comma..).unwrap_or_default(), response);
        *(if in_line { &mut counts.end } else { &mut counts.open_end }) = end as u32;
    }
    counts.left = counts.left.saturating_sub(1);
    batch.set(counts);
}

fn write_open(state: &mut ServerState<'_>) {
    if is_complete(state) && state.peer.reserve_response() {
        let Counts { open_end, stream, .. } = state.batch.counts();
        state.batches = Batches::NONE;
        write_array(state, COUNTS, open_end as usize, StreamId(stream));
    }
}

/// Ends the batch in the line. Writes the responses, or keeps the batch open for deferred members.
fn end_line(state: &mut ServerState<'_>, counts: Counts, stream: StreamId) {
    state.batches.set(Batches::IN_LINE, false);
    if !state.batches.open() && counts.deferred > 0 {
        state.batches.set(Batches::OPEN, true);
        state.batch.set(Counts { open_end: counts.end, stream: stream.0, ..counts });
    } else {
        write_array(state, counts.open_end as usize, counts.end as usize, stream);
    }
}

/// Returns the limit for the total size of the responses to the batch in the line, in bytes.
fn total_limit(state: &ServerState<'_>, counts: Counts) -> usize {
    let own = state.batch.buffer.limit().saturating_sub(counts.open_end as usize);
    state.peer.output.max_reply_size().saturating_sub(ARRAY).min(own).min(u32::MAX as usize)
}

/// Writes the responses between two offsets of the buffer as an array. Writes nothing if there are none.
fn write_array(state: &mut ServerState<'_>, from: usize, to: usize, stream: StreamId) {
    let ServerState { peer: Peer { output, .. }, batch, .. } = state;
    let responses = batch.buffer.bytes().get(from..to).unwrap_or_default();
    if !responses.is_empty() {
        let _ = output.write_message(
            Routing::on_stream(OutboundMessageKind::Result, stream),
            &mut |out: &mut Writer<'_>| {
                out.begin_array();
                out.json_bytes(responses);
                out.end_array();
            },
        );
    }
    if from == COUNTS {
        batch.buffer.shrink_if_idle(to);
    }
}

/// Classifies a batch member. The JSON is valid, because the decoder has scanned the line. This second scan finds the
/// members of the object.
fn classify_member(scanner: &mut Scanner, line: &[u8], element: Span, allow_missing_jsonrpc: bool) -> Class {
    scanner.set_position(element.start);
    scanner.feed(rpc::view(line, element).bytes());
    let _ = scanner.finish();
    match Class::new(line, scanner, allow_missing_jsonrpc) {
        Class::Invalid(Invalid::Batch) => Class::Invalid(Invalid::NotAnObject),
        class => class,
    }
}
