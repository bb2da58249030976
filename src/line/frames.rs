//! Whole messages instead of lines. Who takes lines does not link it: it is reached through [`Framing`] alone.

use super::{BYTE_ORDER_MARK, Capture, Content, Input, Line, keep_id};
use crate::buffer::copy;
use crate::frame::StreamId;
use crate::json::Envelope;

/// What takes messages.
pub(super) trait Framing: Sync {
    /// Takes a whole message, parsed before or not.
    fn take(&self, input: &mut Input<'_>, message: &[u8], envelope: Option<Envelope>, stream: StreamId);
    /// The message that waits, as a line.
    fn find(&self, input: &mut Input<'_>) -> Option<Line>;
}

struct Frames;

/// A thin reference to it takes one word.
pub(super) static FRAMES: &dyn Framing = &Frames;

impl Framing for Frames {
    fn take(&self, input: &mut Input<'_>, message: &[u8], envelope: Option<Envelope>, stream: StreamId) {
        let length = message.len();
        input.frame = Some(stream);
        if let Some(room) = input.buffer.room().ensure(length).and_then(|room| room.get_mut(..length)) {
            copy(room, message);
            input.end = length;
            // What others have parsed is scanned again if they know nothing of a lower limit of nesting.
            if let Some(envelope) = envelope.filter(|_| !input.rescans) {
                input.scanner.adopt(&envelope);
                input.line = Some(Line { content: Content::Message, stream, length, whole: length });
            }
            return;
        }
        let room = input.capture_room();
        let _ = input.buffer.room().ensure(room);
        let mut capture = Capture { stream, ..Capture::default() };
        let kept = input.buffer.bytes_mut().get_mut(..room).unwrap_or_default();
        keep_id(&mut input.scanner, &mut capture, message, kept);
        input.discard = Some(capture);
    }

    fn find(&self, input: &mut Input<'_>) -> Option<Line> {
        let stream = input.frame?;
        if let Some(capture) = input.discard {
            return Some(input.discarded(capture));
        }
        let bytes = input.buffer.bytes().get(..input.end).unwrap_or_default();
        if bytes.starts_with(&BYTE_ORDER_MARK) {
            input.start = BYTE_ORDER_MARK.len();
        }
        input.scanner.feed(bytes.get(input.start..).unwrap_or_default());
        let length = input.end.saturating_sub(input.start);
        let content = input.finish();
        if content.is_blank() {
            input.start = input.end;
            input.begin();
            return None;
        }
        Some(Line { content, stream, length, whole: length })
    }
}
