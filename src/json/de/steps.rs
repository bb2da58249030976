//! The path to the value that did not fit, from the inside out.

use super::TypedError;

/// The number of steps that are stored. Paths of an error are short.
const CAPACITY: usize = 8;

/// A step from a container to what it holds.
#[derive(Clone, Copy)]
pub(super) enum Step<'de> {
    Member(&'de str),
    Element(usize),
}

/// The steps of one error, the innermost first. Each container adds its own when it is dropped in the middle, because a
/// result that passes through would be copied on the stack.
pub(super) struct ErrorPath<'de> {
    steps: [Step<'de>; CAPACITY],
    count: usize,
}

impl<'de> ErrorPath<'de> {
    pub(super) const NONE: Self = ErrorPath { steps: [Step::Element(0); CAPACITY], count: 0 };

    #[inline(never)]
    pub(super) fn push(&mut self, step: Step<'de>) {
        if let Some(place) = self.steps.get_mut(self.count) {
            *place = step;
        }
        self.count = self.count.saturating_add(1);
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Writes the path into an error.
    #[inline(never)]
    pub(super) fn write_to(&self, error: &mut TypedError) {
        for step in self.steps.iter().take(self.count) {
            match step {
                Step::Member(name) => error.put_inside(name),
                Step::Element(index) => error.put_inside_element(*index),
            }
        }
        if self.count > CAPACITY {
            error.cut_path();
        }
    }
}
