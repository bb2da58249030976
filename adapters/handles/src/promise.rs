//! `Promise`: sends the result of a command to the thread or task that waits for it.

use std::sync::Arc;

use crate::signal::Signal;

/// The sender of one result. Dropping an unresolved promise reports the error `lost`.
pub(crate) struct Promise<T, E: Clone> {
    result: Arc<PromisedResult<T, E>>,
    lost: E,
}

/// The result of a command. `None` until the promise is resolved or dropped. The waiting caller takes the result out.
pub(crate) type PromisedResult<T, E> = Signal<Option<Result<T, E>>>;

impl<T, E: Clone> Promise<T, E> {
    /// Creates a promise, and the signal that will hold its result.
    pub(crate) fn new(lost: E) -> (Promise<T, E>, Arc<PromisedResult<T, E>>) {
        let result = Arc::default();
        (Promise { result: Arc::clone(&result), lost }, result)
    }

    pub(crate) fn resolve(&self, outcome: Result<T, E>) {
        self.result.update(|result| *result = Some(outcome));
    }
}

impl<T, E: Clone> Drop for Promise<T, E> {
    fn drop(&mut self) {
        // Keep a result that was already set. If the caller has taken the result, this error has no effect.
        self.result.update(|result| _ = result.get_or_insert(Err(self.lost.clone())));
    }
}
