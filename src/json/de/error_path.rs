//! The path to a value that does not fit its type, from the innermost step outwards.

use super::{PathlessError, TypedError};

/// The maximum number of stored steps. Error paths are short.
const CAPACITY: usize = 8;

/// A step from a container to a member or an element.
#[derive(Clone, Copy)]
pub(super) enum Step<'de> {
    Member(&'de str),
    Element(usize),
}

/// The steps of one error, the innermost first. If the decoding of a container fails, dropping its `Elements` or
/// `Members` records a step. Results of the decoder do not contain the steps, because each result would copy all steps
/// on the stack.
pub(super) struct ErrorPath<'de> {
    steps: [Step<'de>; CAPACITY],
    count: usize,
}

impl<'de> ErrorPath<'de> {
    pub(super) const NONE: Self = ErrorPath { steps: [Step::Element(0); CAPACITY], count: 0 };

    #[cold]
    pub(super) fn push(&mut self, step: Step<'de>) {
        if let Some(place) = self.steps.get_mut(self.count) {
            *place = step;
        }
        self.count = self.count.saturating_add(1);
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Returns `error` with the path.
    #[cold]
    pub(super) fn add_to(&self, error: PathlessError) -> TypedError {
        let mut error = TypedError::from(error);
        for step in self.steps.iter().take(self.count) {
            error.put_inside(step);
        }
        if self.count > CAPACITY {
            error.cut_path();
        }
        error
    }
}
