//! Whole messages instead of lines. Who takes lines does not link it: it is reached through [`Framing`] alone.

use crate::framing::outbound_message::StreamId;
use crate::framing::{BYTE_ORDER_MARK, Found, Kind, LineDecoder, keep_id};
use crate::json::{DEPTH_LIMIT, Envelope};
use crate::platform::copy;

/// What takes messages.
pub(super) trait Framing: Sync {
    /// Takes a whole message, parsed before or not.
    fn take(&self, input: &mut LineDecoder<'_>, message: &[u8], envelope: Option<Envelope>, stream: StreamId);
    /// The message that waits, as a line.
    fn find(&self, input: &mut LineDecoder<'_>) -> Option<Found>;
}

struct Frames;

/// A thin reference to it takes one word.
pub(super) static FRAMES: &dyn Framing = &Frames;

impl Framing for Frames {
    fn take(
        &self,
        input: &mut LineDecoder<'_>,
        message: &[u8],
        envelope: Option<Envelope>,
        stream: StreamId,
    ) {
        let length = message.len();
        input.stream = stream;
        if let Some(room) = input.buffer.room().ensure(length).and_then(|room| room.get_mut(..length)) {
            copy(room, message);
            input.end = length;
            // What others have parsed is scanned again if they know nothing of a lower limit of nesting.
            if let Some(envelope) = envelope.filter(|_| input.scanner.limit() >= DEPTH_LIMIT) {
                input.scanner.adopt(&envelope);
                input.wait(Found { kind: Kind::Message, length, whole: length });
            }
            return;
        }
        let room = input.capture_room();
        let _ = input.buffer.room().ensure(room);
        let kept = input.buffer.bytes_mut().get_mut(..room).unwrap_or_default();
        (input.discards, input.scanned) = (true, 0);
        keep_id(&mut input.scanner, &mut input.scanned, message, kept);
    }

    fn find(&self, input: &mut LineDecoder<'_>) -> Option<Found> {
        if !input.has_frame() {
            return None;
        }
        if input.discards {
            return Some(input.discarded());
        }
        let bytes = input.buffer.bytes().get(..input.end).unwrap_or_default();
        if bytes.starts_with(&BYTE_ORDER_MARK) {
            input.start = BYTE_ORDER_MARK.len();
        }
        input.scanner.feed(bytes.get(input.start..).unwrap_or_default());
        let length = input.end.saturating_sub(input.start);
        let kind = input.finish();
        if kind == Kind::Blank {
            input.start = input.end;
            input.begin();
            return None;
        }
        Some(Found { kind, length, whole: length })
    }
}

#[cfg(test)]
mod tests;
