//! Records the names and values of the two outermost levels during a scan.
#![allow(clippy::as_conversions, reason = "a small enum value widens to `usize`")]

use super::member::PartialName;
use super::{Member, NOWHERE, Scanner, Shape, Span, State, Step};

impl Scanner {
    /// Saves the start of a name; `text` follows its opening quote.
    #[cold]
    pub(super) fn begin_name(&mut self, text: &[u8]) {
        if self.depth == 2 {
            let start = self.at(text);
            self.record(|index| index.begin_name(start));
        }
        self.name = PartialName::EMPTY;
        self.state = State::Name;
    }

    /// Records the name of a member at depth one.
    #[inline]
    pub(super) fn name_member(&mut self, member: Option<Member>) {
        self.current = member;
        self.record(|index| index.name_member(member));
    }

    /// Records the name of a member at depth two; `text` starts with the name, which has `length` bytes.
    #[inline]
    pub(super) fn name(&mut self, length: usize, text: &[u8]) {
        let start = self.at(text);
        self.record(|index| index.name(start, start.wrapping_add(length)));
    }

    /// Records the start of a value; `rest` starts with the value.
    #[inline]
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
                    if let [b'{', ..] = rest {
                        self.record(|index| index.begin_member(member));
                    }
                }
            }
            2 => self.record(|index| index.begin_value(start)),
            _ => {}
        }
    }

    /// Records a complete string, number, literal or [`KnownObject`](super::KnownObject). `rest` starts with the value,
    /// and `behind` follows the value. Returns the next step.
    #[inline]
    pub(super) fn scalar(&mut self, rest: &[u8], behind: &[u8]) -> Step {
        if self.depth <= 2 {
            let (start, end) = (self.at(rest), self.at(behind));
            match self.depth {
                0 => return Step::End,
                1 => {
                    if let Some(member) = self.current
                        && let Some(slot) = self.members.get_mut(member as usize)
                    {
                        *slot = Span { start, end };
                    }
                }
                _ => self.record(|index| index.value(start, end)),
            }
        }
        Step::After
    }

    /// Records the end of a value; `rest` follows the value. Returns the next step.
    #[inline]
    pub(super) fn end_value(&mut self, rest: &[u8]) -> Step {
        if self.depth <= 2 {
            let end = self.at(rest);
            match self.depth {
                0 => return Step::End,
                1 => {
                    if let Some(member) = self.current
                        && let Some(slot) = self.members.get_mut(member as usize)
                    {
                        slot.end = end;
                        self.record(|index| index.end_member(member, end));
                    }
                }
                _ => self.record(|index| index.end_value(end)),
            }
        }
        Step::After
    }
}
