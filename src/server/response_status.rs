//! `ResponseStatus`: the kind of a response, for adapters that report responses.

#[cfg(feature = "alloc")]
use crate::server::Server;
use crate::server::reply::StateAccess;
use crate::server::server_state::{ServerState, Shape};

/// The kind of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "alloc"), expect(unreachable_pub, reason = "public with a heap"))]
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

#[cfg(feature = "alloc")]
impl Server<'_> {
    /// Removes and returns the kind of the last response that the server has written since this method was last called.
    /// The server records the kind of a [chunked](crate::server::Call::chunked) response at the end of the response.
    ///
    /// An adapter calls the method before and after it runs a handler or responds with a
    /// [`Reply`](crate::server::Reply). `None` after the handler means that the handler has not responded, or that it
    /// responds in [chunks](crate::server::Call::chunked).
    #[must_use]
    pub fn take_response_status(&mut self) -> Option<ResponseStatus> {
        self.state.response_status.take()
    }
}

impl From<Shape> for ResponseStatus {
    fn from(shape: Shape) -> ResponseStatus {
        match shape {
            Shape::Error(code) => ResponseStatus::Error { code },
            _ => ResponseStatus::Result,
        }
    }
}

impl ServerState<'_> {
    /// Records the kind of a response that the server has written. Servers without a heap record nothing.
    pub(super) fn record_status(&mut self, status: ResponseStatus) {
        #[cfg(feature = "alloc")]
        {
            self.response_status = Some(status);
        }
        let _ = status;
    }
}

/// Records that the last result is the failure of a tool. No effect if an error has replaced the result. Servers
/// without a heap record nothing.
pub(super) fn record_failure(state: &mut dyn StateAccess) {
    #[cfg(feature = "alloc")]
    state.with(&mut |state: &mut ServerState<'_>| {
        if state.response_status == Some(ResponseStatus::Result) {
            state.response_status = Some(ResponseStatus::ToolFailure);
        }
    });
    let _ = state;
}
