//! `FieldBuffer`: the kept parts of a head, in a lent buffer.

use crate::bytes::{rotate_right, write_at};
use crate::http1::names::FieldName;
use crate::http1::syntax::trim_end;

/// Length of the head of an entry: the tag of the [`FieldName`] and the length of the name (one byte each), then the
/// length of the value (two bytes, big endian).
const ENTRY_HEAD: usize = 4;

/// Bytes between the values of a repeated field.
const SEPARATOR: &[u8] = b", ";

/// The method and the target of a request, then one entry for each kept field. A response has only the entries.
///
/// Only the entry of a field `mcp-param-*` contains a name: the part after the prefix, in lower case.
#[derive(Debug)]
pub(super) struct FieldBuffer<'b> {
    bytes: &'b mut [u8],
    length: usize,
    /// Offset of the first entry.
    entries: usize,
    /// Offset of the last entry.
    last: usize,
    /// Length of the name in the last entry.
    name_length: usize,
}

/// The text does not fit in the buffer, or its length does not fit in the head of an entry.
#[derive(Debug)]
pub(super) struct Full;

/// A kept field.
#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    tag: u8,
    name: &'a [u8],
    value: &'a [u8],
}

impl<'b> FieldBuffer<'b> {
    pub(super) fn new(bytes: &'b mut [u8]) -> FieldBuffer<'b> {
        FieldBuffer { bytes, length: 0, entries: 0, last: 0, name_length: 0 }
    }

    pub(super) fn clear(&mut self) {
        (self.length, self.entries, self.last, self.name_length) = (0, 0, 0, 0);
    }

    /// Returns the method and the target, without a separator.
    pub(super) fn start_line(&self) -> &[u8] {
        self.bytes.get(..self.entries).unwrap_or_default()
    }

    /// Appends to the method or the target.
    pub(super) fn push_start_line(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.push(bytes)?;
        self.entries = self.length;
        Ok(())
    }

    /// Opens an entry after the last one.
    pub(super) fn open(&mut self, field: FieldName) -> Result<(), Full> {
        (self.last, self.name_length) = (self.length, 0);
        self.push(&[field.tag(), 0, 0, 0])
    }

    /// Appends to the name of the open entry.
    pub(super) fn push_name(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let start = self.length;
        self.push(bytes)?;
        self.bytes.get_mut(start..self.length).unwrap_or_default().make_ascii_lowercase();
        self.name_length = self.name_length.saturating_add(bytes.len());
        Ok(())
    }

    /// Appends to the value of the open entry.
    pub(super) fn push_value(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.push(bytes)
    }

    /// Closes the open entry: removes white space at the end of its value, and stores the lengths.
    pub(super) fn close(&mut self) -> Result<(), Full> {
        let start = self.last.saturating_add(ENTRY_HEAD).saturating_add(self.name_length);
        let value_length = self.bytes.get(start..self.length).map_or(0, |value| trim_end(value).len());
        self.length = start.saturating_add(value_length);
        let name_length = u8::try_from(self.name_length).map_err(|_| Full)?;
        self.patch(self.last.saturating_add(1), &[name_length]);
        self.set_value_length(self.last, value_length)
    }

    /// Returns the value of the first entry with the name of the last entry, and the value of the last entry. Returns
    /// `None` if no earlier entry has this name.
    pub(super) fn repeated(&self) -> Option<(&[u8], &[u8])> {
        let (last, _) = self.entry(self.last)?;
        let (_, first) = self.find_entry(last.tag, last.name).filter(|(offset, _)| *offset < self.last)?;
        Some((first.value, last.value))
    }

    /// Removes the last entry.
    pub(super) fn remove_last(&mut self) {
        self.length = self.last;
    }

    /// Moves the value of the last entry to the end of the first entry with the same name, after a [`SEPARATOR`]. The
    /// last entry is removed. The caller checks that there is an earlier entry with this name.
    pub(super) fn join_last(&mut self) -> Result<(), Full> {
        let Some((last, _)) = self.entry(self.last) else { return Ok(()) };
        let Some((offset, first)) = self.find_entry(last.tag, last.name) else { return Ok(()) };
        let end = offset.saturating_add(ENTRY_HEAD).saturating_add(first.name.len());
        let end = end.saturating_add(first.value.len());
        let joined = SEPARATOR.len().saturating_add(last.value.len());
        let joined_length = first.value.len().saturating_add(joined);
        let dropped = ENTRY_HEAD.saturating_add(last.name.len()).saturating_sub(SEPARATOR.len());
        // The separator overwrites the two bytes in front of the value. Then the separator and the value move to the
        // end of the first entry, and the rest of the last entry is dropped.
        self.patch(self.length.saturating_sub(joined), SEPARATOR);
        rotate_right(self.bytes.get_mut(end..self.length).unwrap_or_default(), joined);
        self.length = self.length.saturating_sub(dropped);
        self.set_value_length(offset, joined_length)
    }

    /// Returns the value of a field, or `None` if the head has no such field. For `mcp-param-*`, `name` is the part
    /// after the prefix. For all other fields, `name` is empty.
    pub(super) fn value(&self, field: FieldName, name: &[u8]) -> Option<&[u8]> {
        self.find_entry(field.tag(), name).map(|(_, entry)| entry.value)
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.length = write_at(self.bytes, self.length, bytes).ok_or(Full)?;
        Ok(())
    }

    fn patch(&mut self, offset: usize, bytes: &[u8]) {
        _ = write_at(self.bytes, offset, bytes);
    }

    fn set_value_length(&mut self, entry: usize, length: usize) -> Result<(), Full> {
        let length = u16::try_from(length).map_err(|_| Full)?;
        self.patch(entry.saturating_add(2), &length.to_be_bytes());
        Ok(())
    }

    /// Returns the first entry with this tag and name, and its offset. Returns `None` if there is no such entry.
    fn find_entry(&self, tag: u8, name: &[u8]) -> Option<(usize, Entry<'_>)> {
        let mut offset = self.entries;
        loop {
            let (entry, next) = self.entry(offset)?;
            if entry.tag == tag && entry.name.eq_ignore_ascii_case(name) {
                return Some((offset, entry));
            }
            offset = next;
        }
    }

    /// Returns the entry at an offset, and the offset of the next entry. Returns `None` after the last entry.
    fn entry(&self, offset: usize) -> Option<(Entry<'_>, usize)> {
        let bytes = self.bytes.get(offset..self.length)?;
        let ([tag, name_length, high, low], bytes) = bytes.split_first_chunk::<ENTRY_HEAD>()?;
        let (name, bytes) = bytes.split_at_checked(usize::from(*name_length))?;
        let value = bytes.get(..usize::from(u16::from_be_bytes([*high, *low])))?;
        let length = ENTRY_HEAD.saturating_add(name.len()).saturating_add(value.len());
        Some((Entry { tag: *tag, name, value }, offset.saturating_add(length)))
    }
}
