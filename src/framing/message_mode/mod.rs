//! Message mode: receives whole messages instead of lines.
//!
//! The decoder calls this code only through [`MessageFraming`]. A program that receives lines therefore does not link
//! the code.

use crate::framing::flags::Flags;
use crate::framing::line_decoder::{BYTE_ORDER_MARK, FoundLine, LineDecoder, LineKind};
use crate::framing::outbound_message::StreamId;
use crate::framing::oversized_line::capture_id;
use crate::json::{DEPTH_LIMIT, KnownObject, Scanned};
use crate::platform::copy;

/// Interface between the decoder and message mode.
pub(super) struct MessageFraming {
    /// Copies a whole message into the buffer. If the message does not fit, keeps only its id. The third argument is
    /// the result of an earlier scan, if the caller has parsed the message.
    pub(super) receive: fn(&mut LineDecoder<'_>, &[u8], Option<&Scanned>, StreamId),
    /// Returns the received message as a line. Drops a blank message, and then returns `None`. Also returns `None` if
    /// the buffer has no message. The scanner skips repetitions of the object in the second argument.
    pub(super) find: fn(&mut LineDecoder<'_>, Option<&KnownObject>) -> Option<FoundLine>,
}

pub(super) static WHOLE_MESSAGES: MessageFraming = MessageFraming { receive, find };

fn receive(input: &mut LineDecoder<'_>, message: &[u8], scanned: Option<&Scanned>, stream: StreamId) {
    let length = message.len();
    input.stream = stream;
    if let Some(space) = input.buffer.reborrow().ensure(length).and_then(|bytes| bytes.get_mut(..length)) {
        copy(space, message);
        input.end = length;
        // `Message::parse` accepts `DEPTH_LIMIT` levels. A lower limit of this decoder requires another scan.
        if let Some(scanned) = scanned.filter(|_| input.scanner.limit() >= DEPTH_LIMIT) {
            input.scanner.adopt(scanned);
            input.set_line(FoundLine { kind: LineKind::Message, length, release_length: length });
        }
        return;
    }
    let id_size = input.id_capture_size();
    let _ = input.buffer.reborrow().ensure(id_size);
    let captured = input.buffer.bytes_mut().get_mut(..id_size).unwrap_or_default();
    input.flags.add(Flags::DISCARDING);
    input.scanned = 0;
    let message = message.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(message);
    capture_id(&mut input.scanner, &mut input.scanned, message, captured);
}

fn find(input: &mut LineDecoder<'_>, known: Option<&KnownObject>) -> Option<FoundLine> {
    if !input.has_message() {
        return None;
    }
    let found = if input.is_discarding() { input.finish_discarded(0) } else { scan(input, known) };
    if found.kind == LineKind::Blank {
        input.start = input.end;
        input.start_line();
        return None;
    }
    Some(found)
}

/// Scans the received message. Skips a byte order mark at the start of the message.
fn scan(input: &mut LineDecoder<'_>, known: Option<&KnownObject>) -> FoundLine {
    let bytes = input.buffer.bytes().get(..input.end).unwrap_or_default();
    if bytes.starts_with(&BYTE_ORDER_MARK) {
        input.start = BYTE_ORDER_MARK.len();
    }
    input.scanner.feed_with(known, bytes.get(input.start..).unwrap_or_default());
    let length = input.end.saturating_sub(input.start);
    FoundLine { kind: input.finish_scan(), length, release_length: length }
}

#[cfg(test)]
mod tests;
