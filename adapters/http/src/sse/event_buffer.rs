//! `EventBuffer`: the fields of the current event and the last event id, in a lent buffer.

use mcp_proto::Buffer;

/// Five adjacent texts: the last event id, the id, name and data of the current event, and the value of the current
/// line.
///
/// The value of the current line is stored after the data. At the end of the line, the value moves to the text of the
/// field. The fields of this type, except `bytes`, are the lengths of the texts.
#[derive(Debug)]
pub(super) struct EventBuffer<'b> {
    bytes: Buffer<'b>,
    last_id: usize,
    /// `None` if the current event has no field `id`.
    id: Option<usize>,
    name: usize,
    /// `None` if the current event has no field `data`.
    data: Option<usize>,
    line: usize,
}

/// The text does not fit in the buffer.
#[derive(Debug)]
pub(super) struct Full;

impl<'b> EventBuffer<'b> {
    pub(super) fn new(bytes: Buffer<'b>) -> EventBuffer<'b> {
        EventBuffer { bytes, last_id: 0, id: None, name: 0, data: None, line: 0 }
    }

    /// Returns the buffer.
    pub(super) fn into_bytes(self) -> Buffer<'b> {
        self.bytes
    }

    /// Returns the id of the current event, or the last event id of earlier events if the current event has none.
    pub(super) fn current_id(&self) -> &[u8] {
        match self.id {
            Some(length) => self.text(self.last_id, length),
            None => self.text(0, self.last_id),
        }
    }

    /// Returns the last event id of earlier events.
    pub(super) fn last_id(&self) -> &[u8] {
        self.text(0, self.last_id)
    }

    pub(super) fn name(&self) -> &[u8] {
        self.text(self.name_start(), self.name)
    }

    /// Returns the data, or `None` if the current event has no field `data`.
    pub(super) fn data(&self) -> Option<&[u8]> {
        self.data.map(|length| self.text(self.data_start(), length))
    }

    /// Starts a line with data. A line feed separates the line from the previous line.
    pub(super) fn start_data(&mut self) -> Result<(), Full> {
        if self.data.is_some() { self.push(b"\n") } else { Ok(()) }
    }

    /// Appends to the value of the current line.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let start = self.line_start().saturating_add(self.line);
        let end = start.saturating_add(bytes.len());
        let place = self.bytes.ensure(end).and_then(|all| all.get_mut(start..end)).ok_or(Full)?;
        place.copy_from_slice(bytes);
        self.line = self.line.saturating_add(bytes.len());
        Ok(())
    }

    /// Ends a line with data.
    pub(super) fn end_data(&mut self) {
        self.data = Some(self.data.unwrap_or(0).saturating_add(self.line));
        self.line = 0;
    }

    /// Ends a line with the name of the event.
    pub(super) fn end_name(&mut self) {
        self.replace(self.name_start(), self.name);
        self.name = self.line;
        self.line = 0;
    }

    /// Ends a line with an id. An id with a NUL is ignored.
    pub(super) fn end_id(&mut self) {
        if self.text(self.line_start(), self.line).contains(&0) {
            self.line = 0;
            return;
        }
        self.replace(self.last_id, self.id.unwrap_or(0));
        self.id = Some(self.line);
        self.line = 0;
    }

    /// Drops the value of the current line, the data and the name.
    pub(super) fn drop_data(&mut self) {
        (self.name, self.data, self.line) = (0, None, 0);
    }

    /// Ends the event: its id becomes the last event id, and the rest of the event is dropped.
    pub(super) fn end_event(&mut self) {
        if let Some(length) = self.id.take() {
            let end = self.last_id.saturating_add(length);
            let bytes = self.bytes.bytes_mut();
            if end <= bytes.len() {
                bytes.copy_within(self.last_id..end, 0);
            }
            self.last_id = length;
        }
        self.drop_data();
    }

    /// Drops the event with its id.
    pub(super) fn drop_event(&mut self) {
        self.id = None;
        self.drop_data();
    }

    /// Moves the current line to `start`, in place of the text of `length` bytes there.
    fn replace(&mut self, start: usize, length: usize) {
        let end = self.line_start().saturating_add(self.line);
        let Some(bytes) = self.bytes.bytes_mut().get_mut(start..end) else { return };
        bytes.rotate_right(self.line);
        let replaced = self.line.saturating_add(length);
        if replaced <= bytes.len() {
            bytes.copy_within(replaced.., self.line);
        }
    }

    fn name_start(&self) -> usize {
        self.last_id.saturating_add(self.id.unwrap_or(0))
    }

    fn data_start(&self) -> usize {
        self.name_start().saturating_add(self.name)
    }

    fn line_start(&self) -> usize {
        self.data_start().saturating_add(self.data.unwrap_or(0))
    }

    fn text(&self, start: usize, length: usize) -> &[u8] {
        self.bytes.bytes().get(start..).and_then(|rest| rest.get(..length)).unwrap_or_default()
    }
}
