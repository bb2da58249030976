//! Records the names and values of the two outermost levels during a scan.
#![allow(clippy::as_conversions, reason = "a small enum value widens to `usize`")]

use super::envelope::PartialName;
use super::{Member, NOWHERE, Scanner, Shape, Span, State};

impl Scanner {
    /// Saves the start of a name; `text` follows its opening quote.
    pub(super) fn begin_name(&mut self, text: &[u8]) {
        if self.depth == 2 {
            let start = self.at(text);
            self.record(|index| index.begin_name(start));
        }
        self.name = PartialName::EMPTY;
        self.state = State::Name;
    }

    /// Records the name of a member at depth one or two; `text` starts with the name.
    pub(super) fn name(&mut self, name: &[u8], text: &[u8]) {
        if self.depth == 1 {
            self.current = Member::from_name(name);
        } else {
            let start = self.at(text);
            self.record(|index| index.name(start, start.wrapping_add(name.len())));
        }
    }

    /// Records the start of a value; `rest` starts with the value.
    #[inline(never)]
    pub(super) fn begin_value(&mut self, rest: &[u8]) {
        let start = self.at(rest);
        match self.depth {
            0 => {
                self.shape = match rest {
                    [b'{', ..] => Shape::Object,
                    [b'[', ..] => Shape::Array,
                    _ => Shape::Other,
                };
            }
            1 => {
                if let Some(member) = self.current
                    && let Some(slot) = self.members.get_mut(member as usize)
                {
                    *slot = Span { start, end: NOWHERE };
                    let is_object = rest.first() == Some(&b'{');
                    self.record(|index| index.begin_member(member, is_object));
                }
            }
            2 => self.record(|index| index.begin_value(start)),
            _ => {}
        }
    }

    /// Records a complete string, number or literal between `rest` and `behind`.
    #[inline]
    pub(super) fn scalar(&mut self, rest: &[u8], behind: &[u8]) {
        if self.depth > 2 {
            return;
        }
        let (start, end) = (self.at(rest), self.at(behind));
        if self.depth == 2 {
            self.record(|index| index.value(start, end));
        } else if let Some(member) = self.current
            && let Some(slot) = self.members.get_mut(member as usize)
        {
            *slot = Span { start, end };
            self.record(|index| index.begin_member(member, false));
        }
    }

    /// Records the end of a value; `rest` follows the value.
    #[inline]
    pub(super) fn end_value(&mut self, rest: &[u8]) {
        let end = self.at(rest);
        match self.depth {
            1 => {
                if let Some(member) = self.current
                    && let Some(slot) = self.members.get_mut(member as usize)
                {
                    slot.end = end;
                    self.record(|index| index.end_member(member));
                }
            }
            2 => self.record(|index| index.end_value(end)),
            _ => {}
        }
    }
}
