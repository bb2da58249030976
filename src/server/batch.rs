//! Batches: several messages in one line, and the answers to them in one line.
//!
//! The members of a batch are dealt with one after the other, as if each were a line. Their answers are collected in a
//! buffer of their own until the last one is there, and leave as one message.
//!
//! Specification: 2025-03-26, *Base protocol*, *Batching*; JSON-RPC 2.0, *Batch*.

use crate::buffer::{Buffer, copy};
use crate::fault::{Fault, Misuse};
use crate::frame::{About, StreamId};
use crate::json::{DEPTH_LIMIT, Elements, Envelope, Json, Kind, Scanner, Span, Str, Writer};
use crate::rpc::{self, Class, Invalid};
use crate::server::core::Core;
use crate::server::dispatch::{self, Received};
use crate::server::feature::{Feature, Handled, Measure, Request, Sealed, place};
use crate::server::info::ServerInfo;
use crate::types::meta::RequestMeta;
use crate::version::{Revision, Revisions};

/// The feature *batches*: takes several messages in one JSON array, in sessions of `2025-03-26`, the only revision that
/// has them. A server that speaks that revision should name it, and lend room for the answers:
/// [`Server::batches`](crate::Server::batches). Otherwise a batch gets one error (-32600), and nothing of it is done.
///
/// The host hears of the members as of lines, one after the other. Their answers leave as one array when the last one is
/// there; what else is sent meanwhile comes before it. A batch is refused as a whole (-32600) if not even the shortest
/// errors for its requests would fit into an answer. A member's answer may use what those of the others leave.
///
/// A member may be deferred, as long as no members of an earlier batch are; its time, its cancellation and the limits
/// are those of any request. While deferred members are awaited, everything else is served, other batches too; their
/// calls cannot be deferred, so that at most one batch stays open.
#[derive(Debug, Clone, Copy, Default)]
pub struct Batches;

impl Feature for Batches {}

impl Sealed for Batches {
    fn write_capability(&self, _: Revision, _: &mut Writer<'_>) {}

    fn method(&self, _: Str<'_>) -> Option<(u8, Revisions)> {
        None
    }

    fn handle(&self, _: u8, request: &mut Request<'_, '_>) -> Handled {
        request.refuse(Fault::UnknownMethod, &"")
    }

    fn batching(&self) -> Option<&'static dyn Batching> {
        Some(&Batches)
    }

    fn check(&self, _: Revision, _: &ServerInfo<'_>, _: Measure<'_>) -> Result<(), Misuse> {
        Ok(())
    }
}

/// The answers to batches, and how far the present one is.
pub(crate) struct Batch<'b> {
    /// First the answers to the batch that is open, then those to the one in the line.
    buffer: Buffer<'b>,
    /// A batch whose line is done: where its answers end, how many are still to come, and where they go.
    open_end: usize,
    open_left: usize,
    stream: StreamId,
    /// The batch in the line: where its answers end, how many may still come, how many of them are deferred.
    end: usize,
    left: usize,
    deferred: usize,
    /// Where in the line the next member is looked for. 0: the line is no batch.
    next: usize,
}

impl<'b> Batch<'b> {
    pub(crate) fn new(buffer: Buffer<'b>) -> Batch<'b> {
        let stream = StreamId::NONE;
        Batch { buffer, open_end: 0, open_left: 0, stream, end: 0, left: 0, deferred: 0, next: 0 }
    }

    pub(crate) fn clear(&mut self) {
        (self.open_end, self.open_left, self.deferred, self.next) = (0, 0, 0, 0);
    }

    /// Whether batches can be taken at all.
    pub(crate) fn has_buffer(&self) -> bool {
        self.buffer.limit() > 0
    }

    /// Whether the line is a batch with members that were not dealt with.
    pub(crate) fn in_line(&self) -> bool {
        self.next > 0
    }

    /// Whether the answers to the open batch are all there.
    pub(crate) fn is_complete(&self) -> bool {
        self.open_left == 0 && self.open_end > 0 && !self.in_line()
    }

    pub(crate) fn may_defer(&self) -> bool {
        self.open_left == 0 && self.open_end == 0
    }

    pub(crate) fn deferred(&mut self) {
        self.deferred = self.deferred.saturating_add(1);
    }

    /// A deferred member is in flight no more.
    pub(crate) fn ended(&mut self) {
        let left = if self.open_left > 0 { &mut self.open_left } else { &mut self.deferred };
        *left = left.saturating_sub(1);
    }
}

/// What the machine needs of the feature.
pub(crate) trait Batching {
    /// A line is a batch.
    fn begin(&self, core: &mut Core<'_>, line: &[u8], stream: StreamId) -> Received;
    /// Deals with its next member. `None`: there was none.
    fn next(&self, core: &mut Core<'_>, line: &[u8], stream: StreamId) -> Option<Received>;
    /// The line is done, and there is room for an answer.
    fn end(&self, core: &mut Core<'_>, stream: StreamId);
    /// The most bytes that the next answer may have.
    fn room(&self, core: &Core<'_>) -> usize;
    /// Takes the answer that was just written, of so many bytes.
    fn collect(&self, core: &mut Core<'_>, length: usize);
    /// Writes the answers to the open batch, for which there is room.
    fn write_open(&self, core: &mut Core<'_>);
}

/// What an array takes beside its answers, of which each has the byte of its newline for a comma: brackets and a newline
/// of its own.
const ARRAY: usize = 3;

impl Batching for Batches {
    fn begin(&self, core: &mut Core<'_>, line: &[u8], stream: StreamId) -> Received {
        let array = Json::trusted(line);
        let answers = array.elements().filter(|element| is_answered(&member(line, *element))).count();
        if array.index(0).is_none() {
            return Received::Fault(core.refuse(None, stream, Fault::EmptyBatch));
        }
        let limit = total(core).checked_div(core.small).unwrap_or(0);
        if answers > limit {
            return Received::Fault(core.refuse(None, stream, Fault::BatchTooLarge { limit }));
        }
        core.invalid_in_a_row = 0;
        let batch = &mut core.batch;
        (batch.end, batch.left, batch.deferred) = (batch.open_end, answers, 0);
        batch.next = place(line, array.bytes()).start.saturating_add(1);
        Received::Begun
    }

    fn next(&self, core: &mut Core<'_>, line: &[u8], stream: StreamId) -> Option<Received> {
        let element = Elements::behind(line.get(core.batch.next..)?).next()?;
        core.batch.next = place(line, element.bytes()).end;
        let class = member(line, element);
        if let Class::Request { id, method, params } = class {
            let id = line.get(id.range());
            if rpc::view(line, method).string().is_some_and(|method| method == "initialize") {
                return Some(Received::Fault(core.refuse(id, stream, Fault::AlreadyInitialized)));
            }
            // Its revision has no batches, and a subscription would keep this one open.
            let meta = params.map(|params| rpc::view(line, params)).and_then(|params| params.get("_meta"));
            if meta.filter(|meta| meta.kind() == Kind::Object).and_then(RequestMeta::of).is_some() {
                return Some(Received::Fault(core.refuse(id, stream, Fault::Batch)));
            }
        }
        Some(dispatch::message(core, line, class, stream))
    }

    fn end(&self, core: &mut Core<'_>, stream: StreamId) {
        let batch = &mut core.batch;
        batch.next = 0;
        if batch.deferred > 0 {
            (batch.open_end, batch.open_left, batch.stream) = (batch.end, batch.deferred, stream);
            batch.deferred = 0;
        } else {
            let (from, to) = (batch.open_end, batch.end);
            write(core, from, to, stream);
        }
    }

    fn room(&self, core: &Core<'_>) -> usize {
        let batch = &core.batch;
        let (from, to, left) = match batch.in_line() {
            true => (batch.open_end, batch.end, batch.left),
            false => (0, batch.open_end, batch.open_left),
        };
        // Each of the others will have its shortest error.
        let others = core.small.saturating_mul(left.saturating_sub(1));
        let most = core.output.reply_room().saturating_sub(ARRAY);
        let most = most.min(batch.buffer.limit().saturating_sub(from));
        most.saturating_sub(to.saturating_sub(from)).saturating_sub(others)
    }

    fn collect(&self, core: &mut Core<'_>, length: usize) {
        let Core { output, batch, .. } = core;
        let in_line = batch.in_line();
        let (from, to) = if in_line { (batch.open_end, batch.end) } else { (0, batch.open_end) };
        let answer = output.take_back(length);
        let comma = usize::from(to > from);
        let end = to.saturating_add(comma).saturating_add(answer.len());
        if let Some(place) = batch.buffer.room().ensure(end).and_then(|all| all.get_mut(to..end)) {
            if comma > 0 {
                copy(place, b",");
            }
            copy(place.get_mut(comma..).unwrap_or_default(), answer);
            *(if in_line { &mut batch.end } else { &mut batch.open_end }) = end;
        }
        batch.left = batch.left.saturating_sub(1);
    }

    fn write_open(&self, core: &mut Core<'_>) {
        let (to, stream) = (core.batch.open_end, core.batch.stream);
        core.batch.open_end = 0;
        write(core, 0, to, stream);
    }
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
fn member(line: &[u8], element: Json<'_>) -> Class {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(element.bytes());
    let from = place(line, element.bytes()).start;
    let envelope = scanner.finish().unwrap_or_else(|_| scanner.envelope());
    match rpc::classify(&moved(envelope, from), line) {
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
