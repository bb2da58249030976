//! `SseDecoder`: finds events in the body of a response.

use mcp_proto::{Buffer, Millis};

use crate::bytes::split_long_run;
use crate::sse::event_buffer::{EventBuffer, Full};

/// Incremental decoder of an event stream (WHATWG HTML, "Interpreting an event stream").
///
/// The buffer holds the last event id and the current event: its id, its name and its data. If an event does not fit,
/// the decoder reports [`SseItem::TooLong`], and continues with the next event.
///
/// The decoder does not check for UTF-8, so names, data and ids may contain invalid UTF-8.
#[derive(Debug)]
pub struct SseDecoder<'b> {
    buffer: EventBuffer<'b>,
    state: State,
    /// Whether the last byte was CR. A following LF then belongs to the same line end.
    is_after_cr: bool,
    /// Whether the current event does not fit in the buffer.
    is_too_long: bool,
    /// Whether the last call of [`SseDecoder::decode`] returned an item. `buffer` then still holds its event.
    is_dispatched: bool,
    retry: Option<Millis>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Contains the number of received bytes of a byte order mark.
    StreamStart(u8),
    LineStart,
    Name {
        length: u8,
        name: [u8; MAX_NAME_LENGTH],
    },
    /// After the colon, where one space is skipped.
    ValueStart(Field),
    Value(Field),
}

const MAX_NAME_LENGTH: usize = 5;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    Id,
    /// Contains the number so far. `None` before the first digit.
    Retry(Option<u64>),
    /// A comment, an unknown field, a `retry` with an invalid value, or a field that does not fit. Also data and names
    /// after such a field in the same event.
    Ignored,
}

/// A step of an [`SseDecoder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseStep<'a> {
    /// Number of bytes that the decoder has consumed.
    pub consumed: usize,
    /// The event that ended. `None` if the input contained no end of an event to report. The decoder has then consumed
    /// the whole input.
    pub item: Option<SseItem<'a>>,
}

/// The end of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem<'a> {
    /// A complete event.
    Event(SseEvent<'a>),
    /// An event that did not fit in the buffer. The id of the event becomes the last event id, unless the id did not
    /// fit.
    TooLong,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The name of the event, `message` by default.
    pub name: &'a [u8],
    /// The data, whose lines are joined with LF. The data is empty in a priming event of MCP.
    pub data: &'a [u8],
    /// The last event id, from this event or an earlier one. Empty if there is none.
    pub last_event_id: &'a [u8],
}

impl<'b> SseDecoder<'b> {
    /// Creates a decoder.
    #[must_use]
    pub fn new(buffer: impl Into<Buffer<'b>>) -> SseDecoder<'b> {
        SseDecoder {
            buffer: EventBuffer::new(buffer.into()),
            state: State::StreamStart(0),
            is_after_cr: false,
            is_too_long: false,
            is_dispatched: false,
            retry: None,
        }
    }

    /// Decodes input up to the end of the next event.
    ///
    /// Call this method again with the rest of the input. An event without a `data` field is not reported, but its id
    /// becomes the last event id. An incomplete event at the end of the stream is never reported.
    pub fn decode(&mut self, input: &[u8]) -> SseStep<'_> {
        self.release();
        let mut rest = input;
        while let Some((first, behind)) = rest.split_first() {
            let is_line_feed = *first == b'\n';
            if core::mem::take(&mut self.is_after_cr) && is_line_feed {
                rest = behind;
                continue;
            }
            if is_line_feed || *first == b'\r' {
                rest = behind;
                self.is_after_cr = !is_line_feed;
                if self.end_line() {
                    break;
                }
            } else {
                rest = self.advance(rest, *first, behind);
            }
        }
        let item = self.is_dispatched.then(|| self.item());
        SseStep { consumed: input.len().saturating_sub(rest.len()), item }
    }

    /// Returns the id for the field `Last-Event-ID` of a new connection. Empty if there is none.
    #[must_use]
    pub fn last_event_id(&self) -> &[u8] {
        if self.is_dispatched { self.buffer.current_id() } else { self.buffer.last_id() }
    }

    /// Returns the reconnection time that the stream has last set, or `None` if the stream has set none.
    #[must_use]
    pub fn retry(&self) -> Option<Millis> {
        self.retry
    }

    /// Prepares for a new connection that resumes the stream. Keeps the last event id and the reconnection time.
    pub fn reconnect(&mut self) {
        self.release();
        self.buffer.drop_event();
        (self.state, self.is_after_cr, self.is_too_long) = (State::StreamStart(0), false, false);
    }

    /// Returns the event that the last call of [`decode`](SseDecoder::decode) returned. Returns `None` if that call
    /// returned no complete event.
    #[must_use]
    pub fn event(&self) -> Option<SseEvent<'_>> {
        match self.item() {
            SseItem::Event(event) if self.is_dispatched => Some(event),
            _ => None,
        }
    }

    /// Returns the buffer.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<'b> {
        self.buffer.into_bytes()
    }

    /// Drops the event that the caller has received.
    fn release(&mut self) {
        if core::mem::take(&mut self.is_dispatched) {
            self.buffer.end_event();
            self.is_too_long = false;
        }
    }

    fn item(&self) -> SseItem<'_> {
        let name = match self.buffer.name() {
            b"" => b"message",
            name => name,
        };
        match self.buffer.data() {
            Some(data) => SseItem::Event(SseEvent { name, data, last_event_id: self.buffer.current_id() }),
            None => SseItem::TooLong,
        }
    }

    /// Handles a part of a line. Returns the rest of the input.
    fn advance<'i>(&mut self, input: &'i [u8], first: u8, behind: &'i [u8]) -> &'i [u8] {
        self.state = match self.state {
            State::StreamStart(received) => {
                let position = usize::from(received);
                let expected = BYTE_ORDER_MARK.get(position) == Some(&first);
                match received {
                    2 if expected => State::LineStart,
                    _ if expected => State::StreamStart(received.saturating_add(1)),
                    0 => {
                        self.state = State::LineStart;
                        return input;
                    }
                    // The bytes of an incomplete mark begin an unknown field.
                    _ => State::Value(Field::Ignored),
                }
            }
            State::LineStart if first == b':' => State::Value(Field::Ignored),
            State::LineStart => self.name(0, [0; MAX_NAME_LENGTH], first),
            State::Name { length, name } if first == b':' => {
                let field = self.start_field(name.get(..usize::from(length)).unwrap_or_default());
                State::ValueStart(field)
            }
            State::Name { length, name } => self.name(length, name, first),
            State::ValueStart(field) if first == b' ' => State::Value(field),
            State::ValueStart(field) | State::Value(field) => {
                let (value, rest) = split_long_run(input, |byte| byte != b'\r' && byte != b'\n');
                self.state = State::Value(self.value(field, value));
                return rest;
            }
        };
        behind
    }

    fn name(&self, length: u8, mut name: [u8; MAX_NAME_LENGTH], byte: u8) -> State {
        match name.get_mut(usize::from(length)) {
            Some(place) => {
                *place = byte;
                State::Name { length: length.saturating_add(1), name }
            }
            None => State::Value(Field::Ignored),
        }
    }

    fn start_field(&mut self, name: &[u8]) -> Field {
        match name {
            b"data" if !self.is_too_long => match self.buffer.start_data() {
                Ok(()) => Field::Data,
                Err(Full) => self.too_long(),
            },
            b"event" if !self.is_too_long => Field::Event,
            b"id" => Field::Id,
            b"retry" => Field::Retry(None),
            _ => Field::Ignored,
        }
    }

    /// Handles a part of a value. The part must not be empty. Returns the field for the rest of the line.
    fn value(&mut self, field: Field, value: &[u8]) -> Field {
        match field {
            Field::Data | Field::Event | Field::Id => match self.buffer.push(value) {
                Ok(()) => field,
                Err(Full) => self.too_long(),
            },
            Field::Retry(number) => {
                let add_digit = |number: u64, byte: &u8| {
                    let digit = char::from(*byte).to_digit(10)?;
                    Some(number.saturating_mul(10).saturating_add(u64::from(digit)))
                };
                let number = value.iter().try_fold(number.unwrap_or(0), add_digit);
                number.map_or(Field::Ignored, |number| Field::Retry(Some(number)))
            }
            Field::Ignored => Field::Ignored,
        }
    }

    fn too_long(&mut self) -> Field {
        self.is_too_long = true;
        self.buffer.drop_data();
        Field::Ignored
    }

    /// Handles the end of a line. Returns whether the line ended an event to report.
    fn end_line(&mut self) -> bool {
        let field = match core::mem::replace(&mut self.state, State::LineStart) {
            State::StreamStart(0) | State::LineStart => return self.end_event(),
            State::StreamStart(_) => Field::Ignored,
            State::Name { length, name } => {
                self.start_field(name.get(..usize::from(length)).unwrap_or_default())
            }
            State::ValueStart(field) | State::Value(field) => field,
        };
        match field {
            Field::Data => self.buffer.end_data(),
            Field::Event => self.buffer.end_name(),
            Field::Id => self.buffer.end_id(),
            Field::Retry(Some(milliseconds)) => self.retry = Some(Millis(milliseconds)),
            Field::Retry(None) | Field::Ignored => {}
        }
        false
    }

    fn end_event(&mut self) -> bool {
        self.is_dispatched = self.is_too_long || self.buffer.data().is_some();
        if !self.is_dispatched {
            self.buffer.end_event();
        }
        self.is_dispatched
    }
}
