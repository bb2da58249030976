//! Streamed arguments: a string argument may be larger than the receive buffer.
//!
//! The server removes each chunk from the line before the line is complete. The complete line is a call whose argument
//! has only the rest of the string. Only an [`ArgumentHook`] refers to the code for chunks, so that a server without
//! streamed arguments does not link this code.

use crate::framing::LineDecoder;
use crate::json::partial::{PartialEntry, after_value, first_member, next_entry, object_text, string_length};
use crate::json::{Json, Member, Span, Str, decode_text_in_place, text_of};
use crate::peer::lifecycle::State;
use crate::platform::copy;
use crate::protocol::methods;
use crate::protocol::objects::base64::Base64;
use crate::protocol::objects::tool::Tool;
use crate::rpc;
use crate::server::Server;
use crate::server::config::ServerConfig;
use crate::server::dispatch::Received;
use crate::server::event::Event;
use crate::server::features::catalog::find_entry;
use crate::server::pending_event::{PendingEvent, RequestKind, Spans};
use crate::server::server_state::ServerState;

/// A part of a [streamed](Tool::streamed) argument.
#[derive(Clone, Copy)]
pub struct ArgumentChunk<'a> {
    tool: &'a Tool<'a>,
    /// The object of arguments, up to the end of the member before the streamed argument.
    before: &'a [u8],
    text: &'a str,
    is_first: bool,
}

/// Prints only the beginning of a long text.
impl core::fmt::Debug for ArgumentChunk<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let text = Str::trusted(self.text.as_bytes());
        let mut out = f.debug_struct("ArgumentChunk");
        out.field("tool", &self.tool.name()).field("is_first", &self.is_first).field("text", &text).finish()
    }
}

impl<'a> ArgumentChunk<'a> {
    /// Returns the tool that the client calls.
    #[must_use]
    pub fn tool(&self) -> &'a Tool<'a> {
        self.tool
    }

    /// Returns whether the chunk is the first one of its call.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns the decoded text. A chunk never splits a character.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the text as base64.
    ///
    /// If the client writes the base64 without line breaks, each chunk has a whole number of groups of four characters.
    /// So does the rest of the string, in the [`Call`](crate::server::Call).
    #[must_use]
    pub fn base64(&self) -> Base64<'a> {
        Base64::new(Str::trusted(self.text.as_bytes()))
    }

    /// Returns an argument that precedes the streamed one in the call, such as an address. Returns `None` if no
    /// preceding argument has this name.
    ///
    /// The client decides the order. The [`Call`](crate::server::Call) has all arguments.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<Json<'a>> {
        Json::trusted(self.before).get(name)
    }
}

/// A chunk in the line, or the abort of the chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingArgument {
    pub(crate) event: MakeArgumentEvent,
    /// Length of the decoded text.
    length: usize,
    is_first: bool,
}

impl PendingArgument {
    const ABORTED: PendingArgument =
        PendingArgument { event: |_, _, _| Some(Event::ArgumentsAborted), length: 0, is_first: false };
}

/// Function that creates the event of a chunk or an abort.
type MakeArgumentEvent =
    for<'a> fn(&PendingArgument, &'a LineDecoder<'_>, &'a ServerState<'_>) -> Option<Event<'a>>;

/// The function that handles streamed arguments. Only servers with such an argument link the function.
///
/// If the second argument is `None`, an incomplete line fills the buffer. The function sets the event of the next
/// chunk, removes the chunk of the last event from the line, or does nothing. The function returns whether an event is
/// set.
///
/// If the second argument is `Some`, a line with chunks has ended, with this outcome. If the outcome is not a call with
/// the streamed argument, [`Event::ArgumentsAborted`] precedes the event of the line, if any. The function returns
/// whether the caller must apply the outcome.
pub(crate) type ArgumentHook = fn(&mut Server<'_>, Option<(Received, &Spans)>) -> bool;

impl Server<'_> {
    /// Handles an incomplete line that fills the buffer. Returns whether an event is set. Without an event, discards a
    /// line that still fills the buffer.
    #[cold]
    pub(super) fn handle_full_buffer(&mut self) -> bool {
        let has_event = self.handle_arguments(None);
        if !has_event {
            self.input.discard_if_full();
        }
        has_event
    }

    /// Calls the [`ArgumentHook`], and returns its result. Returns `false` without a hook.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_arguments(&mut self, end: Option<(Received, &Spans)>) -> bool {
        let hook = self.state.config.features.iter().find_map(|feature| feature.argument_hook());
        hook.is_some_and(|hook| hook(self, end))
    }
}

/// Implements the [`ArgumentHook`].
pub(crate) fn handle_streamed(server: &mut Server<'_>, end: Option<(Received, &Spans)>) -> bool {
    match end {
        Some((outcome, spans)) => end_line(server, outcome, spans),
        None => next_chunk(server),
    }
}

/// The streamed argument in a line.
struct FoundArgument<'c> {
    tool: &'c Tool<'c>,
    /// The object of arguments, up to the end of the member before the streamed argument.
    before: Span,
    /// Offset of the text of the argument.
    start: usize,
}

impl FoundArgument<'_> {
    /// Returns whether a call has this argument. Of several members with the same name, the last one counts in a call.
    /// So the tool or the string of the call may differ from the found ones.
    fn is_last(&self, line: &[u8], call: &Spans) -> bool {
        let name = rpc::view(line, call.subject).string();
        let mut found = [Span::MISSING];
        let arguments = rpc::view(line, call.arguments);
        arguments.find_spans(call.arguments.start, &[self.tool.streamed.unwrap_or_default()], &mut found);
        let [argument] = found;
        name.is_some_and(|name| name == *self.tool.name()) && argument.start.wrapping_add(1) == self.start
    }
}

/// Finds the streamed argument in the current line. The line may be incomplete. Returns `None` if the method or the
/// argument has not arrived, or if the name of the tool does not precede the arguments.
///
/// Of several members `params` or `arguments`, and of several strings for the streamed argument, the first one counts.
/// So all chunks belong to the same string.
fn find_argument<'c>(input: &LineDecoder<'_>, config: &'c ServerConfig<'c>) -> Option<FoundArgument<'c>> {
    let (line, scanner) = (input.text_so_far(), input.scanner());
    let offset = |tail: &[u8]| line.len().wrapping_sub(tail.len());
    let method = scanner.span(Member::Method);
    if !rpc::view(line, method).string()?.is_name(methods::TOOLS_CALL.name) {
        return None;
    }
    let mut rest = object_text(first_member(line, b"params")?)?;
    let mut tool: Option<&Tool<'_>> = None;
    let arguments = loop {
        let PartialEntry::Member { name, value } = next_entry(rest)? else { return None };
        if name == b"arguments" {
            break value;
        }
        rest = after_value(value)?;
        if name == b"name" {
            let called = Json::exact(value.get(..value.len().wrapping_sub(rest.len()))?).string()?;
            tool = find_entry(config, &|name| called == *name);
        }
    };
    let (tool, mut rest) = (tool?, object_text(arguments)?);
    loop {
        let PartialEntry::Member { name, value } = next_entry(rest)? else { return None };
        if let [b'"', text @ ..] = value
            && Str::trusted(name) == *tool.streamed?
        {
            let before = Span { start: offset(arguments), end: offset(rest) };
            return Some(FoundArgument { tool, before, start: offset(text) });
        }
        rest = after_value(value)?;
    }
}

fn next_chunk(server: &mut Server<'_>) -> bool {
    let Server { input, state } = server;
    let is_ending = matches!(state.peer.lifecycle.state(), State::Draining | State::Closed);
    let Some(FoundArgument { start, .. }) = find_argument(input, state.config).filter(|_| !is_ending) else {
        return false;
    };
    let is_first = !input.is_chunked();
    let held = if is_first { 0 } else { input.take_held_chunk() };
    if held > 0 {
        input.cut_from_string(Span { start, end: start.wrapping_add(held) });
        return false;
    }
    let limit = input.limit();
    // For each chunk, the server reads the bytes before the string again. The work stays linear, because each chunk
    // takes at least an eighth of the buffer.
    if start > limit.wrapping_sub(limit / 8) || !input.scanner().is_valid() {
        return false;
    }
    let Some(length) = decode_chunk(input, start).filter(|length| *length > 0) else { return false };
    input.set_chunked(true);
    let now = state.peer.now;
    state.peer.keep_alive.record_part(now);
    let chunk = PendingArgument { event: chunk_event, length, is_first };
    state.pending_event = Some(PendingEvent::Argument(chunk));
    true
}

/// Decodes the string at `start` in place, as far as the string has arrived. Returns the length of the decoded text,
/// without an incomplete group of base64.
fn decode_chunk(input: &mut LineDecoder<'_>, start: usize) -> Option<usize> {
    let (length, is_complete) = string_length(input.text_so_far().get(start..)?);
    // Length of a character or an escape whose last bytes have not arrived.
    let unfinished = if is_complete { 0 } else { input.scanner().unfinished() };
    let end = start.wrapping_add(length.saturating_sub(unfinished));
    let text = input.text_so_far_mut().get_mut(start..end)?;
    let (decoded, _) = decode_text_in_place(text);
    // An incomplete group of base64 stays in the string.
    let part = text
        .get(decoded & !3..decoded)
        .filter(|part| !is_complete && is_base64(part) && part.len() < decoded);
    let mut tail = [0; 3];
    let kept = part.map_or(0, |part| {
        copy(&mut tail, part);
        part.len()
    });
    let consumed = text.len().wrapping_sub(kept);
    copy(text.get_mut(consumed..)?, &tail);
    input.hold_chunk(consumed);
    Some(decoded.wrapping_sub(kept))
}

fn is_base64(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'='))
}

fn chunk_event<'a>(
    chunk: &PendingArgument,
    input: &'a LineDecoder<'_>,
    state: &'a ServerState<'_>,
) -> Option<Event<'a>> {
    let FoundArgument { tool, before, start } = find_argument(input, state.config)?;
    let line = input.text_so_far();
    let text = Span { start, end: start.wrapping_add(chunk.length) };
    Some(Event::ArgumentChunk(ArgumentChunk {
        tool,
        before: before.bytes(line),
        text: text_of(text.bytes(line)),
        is_first: chunk.is_first,
    }))
}

fn end_line(server: &mut Server<'_>, outcome: Received, spans: &Spans) -> bool {
    let Server { input, state } = server;
    if let (Received::Event, Some(PendingEvent::Request { context, .. })) = (outcome, state.pending_event) {
        let is_call = matches!(context.kind, RequestKind::CallTool { .. });
        let found = find_argument(input, state.config).filter(|_| is_call);
        if found.is_some_and(|found| found.is_last(input.bytes(), spans)) {
            input.set_chunked(false);
            return true;
        }
    }
    match state.pending_event {
        // Duplicate members have turned the call into another message, or replaced the streamed argument. The event of
        // the message follows the abort.
        Some(_) => input.abort_chunks(),
        None => {
            input.set_chunked(false);
            state.pending_event = Some(PendingEvent::Argument(PendingArgument::ABORTED));
        }
    }
    if outcome == Received::Failed {
        state.peer.drop_late_error();
        server.release();
        return false;
    }
    true
}
