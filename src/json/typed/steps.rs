//! The way to the value that did not fit, from the inside out.

use super::TypedError;

/// How many steps are kept. Paths of an error are short.
const KEPT: usize = 8;

/// A step from a container to what it holds.
#[derive(Clone, Copy)]
pub(super) enum Step<'de> {
    Member(&'de str),
    Element(usize),
}

/// The steps of one error, the innermost first. Each container says its own when it is left in the middle: nobody has to
/// look at a result on its way out, which would take a copy of it on the stack.
pub(super) struct ErrorPath<'de> {
    steps: [Step<'de>; KEPT],
    count: usize,
}

impl<'de> ErrorPath<'de> {
    pub(super) const NONE: Self = ErrorPath { steps: [Step::Element(0); KEPT], count: 0 };

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

    /// Tells an error where it is.
    #[inline(never)]
    pub(super) fn tell(&self, error: &mut TypedError) {
        for step in self.steps.iter().take(self.count) {
            match step {
                Step::Member(name) => error.put_inside(name),
                Step::Element(index) => error.put_inside_element(*index),
            }
        }
        if self.count > KEPT {
            error.cut_path();
        }
    }
}
