//! The usual case on hosts: short pieces into room that is there, with one look at it. What does not come to an end here (`None`)
//! has changed nothing, and takes the ways for everything.

use super::Writer;
use super::free::SpareCapacity;

impl Writer<'_> {
    /// The free room that is there without growing. What is put into it counts when it is [`filled`](Writer::filled).
    #[inline(always)]
    pub(crate) fn free(&mut self) -> Option<SpareCapacity<'_>> {
        if self.overflowed {
            return None;
        }
        let all = self.room.bytes_mut();
        let end = self.limit.min(all.len());
        Some(SpareCapacity::new(all.get_mut(self.at..end)?, end))
    }

    /// The free room was filled up to here, and this is the last byte.
    #[inline(always)]
    pub(crate) fn filled(&mut self, to: usize, last: u8) {
        (self.at, self.last) = (to, last);
    }

    /// Writes a byte.
    #[inline(always)]
    pub(super) fn put_byte(&mut self, byte: u8) -> Option<()> {
        let to = self.free()?.byte(byte)?.end();
        self.filled(to, byte);
        Some(())
    }

    /// Writes bytes as they are.
    #[inline(always)]
    pub(super) fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let last = bytes.last()?;
        let to = self.free()?.bytes(bytes)?.end();
        self.filled(to, *last);
        Some(())
    }

    /// Writes the bracket that a container begins with.
    #[inline(always)]
    pub(super) fn put_opening(&mut self, bracket: u8) -> Option<()> {
        let (is_due, before) = (self.comma_is_due(), self.last);
        let to = self.free()?.comma(is_due)?.byte(bracket)?.end();
        self.filled(to, bracket);
        self.order.value(before);
        Some(())
    }

    /// Writes a number.
    #[inline(always)]
    pub(super) fn put_unsigned(&mut self, value: u64) -> Option<()> {
        let (is_due, before) = (self.comma_is_due(), self.last);
        let to = self.free()?.comma(is_due)?.number(value)?.end();
        self.filled(to, b'0');
        self.order.value(before);
        Some(())
    }

    /// Writes a short text of JSON, if there is nothing in it that could end a line.
    #[inline(always)]
    pub(super) fn put_json(&mut self, json: &[u8]) -> Option<()> {
        let (is_due, before) = (self.comma_is_due(), self.last);
        let last = json.last()?;
        let to = self.free()?.comma(is_due)?.json(json)?.end();
        self.filled(to, *last);
        self.order.value(before);
        Some(())
    }

    /// Writes a part of a string.
    #[inline(always)]
    pub(super) fn put_plain(&mut self, text: &str) -> Option<()> {
        let to = self.free()?.plain(text)?.end();
        if !text.is_empty() {
            self.filled(to, b'"');
        }
        Some(())
    }

    /// Writes a string.
    #[inline(always)]
    pub(super) fn put_string(&mut self, text: &str) -> Option<()> {
        let (is_due, before) = (self.comma_is_due(), self.last);
        let to = self.free()?.comma(is_due)?.byte(b'"')?.plain(text)?.byte(b'"')?.end();
        self.filled(to, b'"');
        self.order.value(before);
        Some(())
    }

    /// Writes the name of a member.
    #[inline(always)]
    pub(super) fn put_name(&mut self, name: &str) -> Option<()> {
        let (is_due, before) = (self.comma_is_due(), self.last);
        let to = self.free()?.comma(is_due)?.byte(b'"')?.plain(name)?.token("\":")?.end();
        self.filled(to, b':');
        self.order.name(before);
        Some(())
    }

    /// Writes a member that is a string.
    #[inline(always)]
    pub(super) fn put_text(&mut self, name: &str, text: &str) -> Option<()> {
        let (is_due, before) = (self.comma_is_due(), self.last);
        let free = self.free()?.comma(is_due)?.byte(b'"')?.plain(name)?.token("\":\"")?;
        let to = free.plain(text)?.byte(b'"')?.end();
        self.filled(to, b'"');
        self.order.name(before);
        Some(())
    }
}

#[cfg(test)]
mod tests;
