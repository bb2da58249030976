//! `ResponseStatus`: the kind of a response, for adapters that report responses.

use crate::server::Server;
use crate::server::reply::StateAccess;
use crate::server::server_state::{ServerState, Shape};

/// The kind of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseStatus {
    /// A result.
    Result,
    /// A result of a tool that failed (`isError`).
    ToolFailure,
    /// A JSON-RPC error.
    Error {
        /// The code.
        code: i32,
    },
}

impl Server<'_> {
    /// Removes and returns the kind of the last response that the server has written since this method was last
    /// called. A [chunked](crate::server::Call::chunked) response counts when it ends.
    ///
    /// An adapter calls the method before and after its handler, or before and after a
    /// [`Reply`](crate::server::Reply). `None` after the handler means that the handler has not responded, or that it
    /// responds in [chunks](crate::server::Call::chunked).
    #[must_use]
    pub fn take_response_status(&mut self) -> Option<ResponseStatus> {
        self.state.response_status.take()
    }
}

impl ServerState<'_> {
    /// Records the kind of a response that the server has written.
    pub(super) fn record_status(&mut self, shape: Shape) {
        self.response_status = Some(match shape {
            Shape::Error(code) => ResponseStatus::Error { code },
            _ => ResponseStatus::Result,
        });
    }

    /// Records the end of a chunked response.
    pub(super) fn record_chunks(&mut self, is_failure: bool) {
        let status = if is_failure { ResponseStatus::ToolFailure } else { ResponseStatus::Result };
        self.response_status = Some(status);
    }
}

/// Records that the last result is the failure of a tool.
pub(super) fn record_failure(state: &mut dyn StateAccess) {
    state.with(&mut |state| {
        if state.response_status == Some(ResponseStatus::Result) {
            state.response_status = Some(ResponseStatus::ToolFailure);
        }
    });
}
