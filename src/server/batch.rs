//! Batches: several messages in one line, and the answers to them in one line.
//!
//! The members of a batch are dealt with one after the other, as if each were a line. Their answers are collected in a
//! buffer of their own until the last one is there, and leave as one message.
//!
//! Specification: 2025-03-26, *Base protocol*, *Batching*; JSON-RPC 2.0, *Batch*.

use crate::buffer::{Buffer, copy};
use crate::fault::Fault;
use crate::frame::{About, StreamId};
use crate::json::{DEPTH_LIMIT, Elements, Envelope, Json, Kind, Scanner, Span};
use crate::methods;
use crate::rpc::{self, Class, Invalid};
use crate::server::core::Core;
use crate::server::dispatch::{self, Received};
use crate::server::feature::place;
use crate::server::plan::Places;
use crate::server::reply::Pending;
use crate::types::meta::RequestMeta;

/// The answers to batches, and how far the present one is.
pub(crate) struct Batch<'b> {
    /// Who deals with batches: nobody, if no room was lent. What is not lent is not linked.
    pub(crate) batching: Option<&'static &'static dyn Batching>,
    /// First the answers to the batch that is open, then those to the one in the line.
    buffer: Buffer<'b>,
    /// The line of a batch is done, and answers of its deferred members are still to come, or to be written.
    pub(crate) open: bool,
    /// Where its answers end, and where they go.
    open_end: usize,
    stream: StreamId,
    /// The batch in the line: where its answers end, and how many may still come.
    end: usize,
    left: u32,
    /// The most bytes that the next answer may have.
    pub(crate) room: usize,
    /// Where in the line the next member is looked for. 0: the line is no batch.
    next: usize,
    /// How many members are deferred: of the open batch, or else of the one in the line.
    pub(crate) deferred: u32,
}

impl<'b> Batch<'b> {
    pub(crate) fn none() -> Batch<'b> {
        Batch {
            batching: None,
            buffer: (&mut []).into(),
            open: false,
            open_end: 0,
            stream: StreamId::NONE,
            end: 0,
            left: 0,
            room: 0,
            next: 0,
            deferred: 0,
        }
    }

    pub(crate) fn new(buffer: Buffer<'b>) -> Batch<'b> {
        Batch { batching: Some(&MEMBERS), buffer, ..Batch::none() }
    }

    pub(crate) fn clear(&mut self) {
        (self.open, self.open_end, self.next, self.deferred) = (false, 0, 0, 0);
    }

    /// Whether the line is a batch with members that were not dealt with.
    pub(crate) fn in_line(&self) -> bool {
        self.next > 0
    }

    /// Whether the answers to the open batch are all there.
    pub(crate) fn is_complete(&self) -> bool {
        self.open && self.deferred == 0 && !self.in_line()
    }

    /// Where the answers begin and end to which the next one is added, and how many are to come.
    fn region(&self) -> (usize, usize, u32) {
        match self.in_line() {
            true => (self.open_end, self.end, self.left),
            false => (0, self.open_end, self.deferred),
        }
    }
}

/// What the machine needs to deal with batches.
pub(crate) trait Batching: Sync {
    /// A line is a batch.
    fn begin(&self, core: &mut Core<'_>, line: &[u8], stream: StreamId) -> Received;
    /// Deals with its next member, or with its end. There is room for an answer.
    fn next(&self, core: &mut Core<'_>, line: &[u8], stream: StreamId, places: &mut Places) -> Received;
    /// Sets the bound of the next answer.
    fn limit(&self, core: &mut Core<'_>);
    /// Takes the answer that was just written, of so many bytes.
    fn collect(&self, core: &mut Core<'_>, length: usize);
    /// Writes the answers to the open batch, if they are all there and there is room.
    fn write_open(&self, core: &mut Core<'_>);
}

struct Members;

/// A thin reference to it takes one word.
static MEMBERS: &dyn Batching = &Members;

/// What an array takes beside its answers, of which each has the byte of its newline for a comma: brackets and a newline
/// of its own.
const ARRAY: usize = 3;

impl Batching for Members {
    fn begin(&self, core: &mut Core<'_>, line: &[u8], stream: StreamId) -> Received {
        let array = Json::trusted(line);
        let tolerant = core.info.tolerance.missing_jsonrpc;
        let answers =
            array.elements().filter(|element| is_answered(&member(line, *element, tolerant))).count();
        if array.index(0).is_none() {
            return Received::Fault(core.refuse(None, stream, Fault::EmptyBatch));
        }
        let limit = total(core).checked_div(core.small()).unwrap_or(0);
        if answers > limit {
            return Received::Fault(too_large(core, stream, limit));
        }
        core.invalid_in_a_row = 0;
        let batch = &mut core.batch;
        (batch.end, batch.left) = (batch.open_end, answers as u32);
        batch.next = place(line, array.bytes()).start.saturating_add(1);
        Received::Begun
    }

    fn next(&self, core: &mut Core<'_>, line: &[u8], stream: StreamId, places: &mut Places) -> Received {
        let rest = line.get(core.batch.next..).unwrap_or_default();
        let Some(element) = Elements::behind(rest).next() else {
            end(core, stream);
            return Received::Done;
        };
        core.batch.next = place(line, element.bytes()).end;
        self.limit(core);
        let class = member(line, element, core.info.tolerance.missing_jsonrpc);
        if let Class::Request { id, method, params } = class {
            let id = line.get(id.range());
            if rpc::view(line, method).string().is_some_and(|method| method == methods::INITIALIZE.name) {
                return Received::Fault(core.refuse(id, stream, Fault::AlreadyInitialized));
            }
            // Its revision has no batches, and a subscription would keep this one open.
            let meta = params.map(|params| rpc::view(line, params)).and_then(|params| params.get("_meta"));
            if meta.filter(|meta| meta.kind() == Kind::Object).and_then(RequestMeta::of).is_some() {
                return Received::Fault(core.refuse(id, stream, Fault::Batch));
            }
        }
        dispatch::message(core, line, class, stream, places)
    }

    fn limit(&self, core: &mut Core<'_>) {
        let (from, to, left) = core.batch.region();
        // Each of the others will have its shortest error.
        let others = core.small().saturating_mul((left as usize).saturating_sub(1));
        let most = core.output.reply_room().saturating_sub(ARRAY);
        let most = most.min(core.batch.buffer.limit().saturating_sub(from));
        core.batch.room = most.saturating_sub(to.saturating_sub(from)).saturating_sub(others);
    }

    fn collect(&self, core: &mut Core<'_>, length: usize) {
        let Core { output, batch, .. } = core;
        let (from, to, _) = batch.region();
        let answer = output.take_back(length);
        let comma = usize::from(to > from);
        let end = to.saturating_add(comma).saturating_add(answer.len());
        if let Some(place) = batch.buffer.room().ensure(end).and_then(|all| all.get_mut(to..end)) {
            if comma > 0 {
                copy(place, b",");
            }
            copy(place.get_mut(comma..).unwrap_or_default(), answer);
            *(if batch.in_line() { &mut batch.end } else { &mut batch.open_end }) = end;
        }
        batch.left = batch.left.saturating_sub(1);
    }

    fn write_open(&self, core: &mut Core<'_>) {
        if core.batch.is_complete() && core.has_room() {
            let (to, stream) = (core.batch.open_end, core.batch.stream);
            (core.batch.open, core.batch.open_end) = (false, 0);
            write(core, 0, to, stream);
        }
    }
}

/// The line is done.
fn end(core: &mut Core<'_>, stream: StreamId) {
    let batch = &mut core.batch;
    batch.next = 0;
    if !batch.open && batch.deferred > 0 {
        (batch.open, batch.open_end, batch.stream) = (true, batch.end, stream);
    } else {
        let (from, to) = (batch.open_end, batch.end);
        write(core, from, to, stream);
    }
}

/// Refuses a batch as a whole, as often as other messages that are none.
fn too_large(core: &mut Core<'_>, stream: StreamId, limit: usize) -> Fault {
    if core.invalid_in_a_row >= core.info.limits.invalid_in_a_row {
        return Fault::Muted;
    }
    core.invalid_in_a_row = core.invalid_in_a_row.saturating_add(1);
    let fault = Fault::BatchTooLarge { limit };
    let pending = Pending::of_line(b"", stream, false);
    core.write_fault(&pending, fault, Some(&("at most ", limit, " requests")));
    fault
}

/// How many bytes the answers to the batch in the line may have in all.
fn total(core: &Core<'_>) -> usize {
    let own = core.batch.buffer.limit().saturating_sub(core.batch.open_end);
    core.output.reply_room().saturating_sub(ARRAY).min(own)
}

/// Writes an array of answers, unless there are none.
fn write(core: &mut Core<'_>, from: usize, to: usize, stream: StreamId) {
    let Core { output, batch, .. } = core;
    let answers = batch.buffer.bytes().get(from..to).unwrap_or_default();
    if !answers.is_empty() {
        let room = output.reply_room();
        let _ = output.write(About::response(stream), room, &mut |out| {
            out.begin_array();
            out.json_bytes(answers);
            out.end_array();
        });
    }
    if from == 0 {
        batch.buffer.settle(to);
    }
}

/// What a member of the line is. It was scanned with the line; this finds its parts.
fn member(line: &[u8], element: Json<'_>, tolerant: bool) -> Class {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(element.bytes());
    let from = place(line, element.bytes()).start;
    let envelope = scanner.finish().unwrap_or_else(|_| scanner.envelope());
    match rpc::classify_with(&moved(envelope, from), line, tolerant) {
        Class::Invalid { why: Invalid::Batch, .. } => {
            Class::Invalid { id: None, why: Invalid::NotAnObject, answerable: true }
        }
        class => class,
    }
}

fn is_answered(class: &Class) -> bool {
    matches!(class, Class::Request { .. } | Class::Invalid { answerable: true, .. })
}

/// The same envelope in a longer text, in which its own begins at `from`.
fn moved(envelope: Envelope, from: usize) -> Envelope {
    let by = |span: Option<Span>| {
        let span = span?;
        Some(Span { start: span.start.saturating_add(from), end: span.end.saturating_add(from) })
    };
    Envelope {
        shape: envelope.shape,
        jsonrpc: by(envelope.jsonrpc),
        id: by(envelope.id),
        method: by(envelope.method),
        params: by(envelope.params),
        result: by(envelope.result),
        error: by(envelope.error),
    }
}
