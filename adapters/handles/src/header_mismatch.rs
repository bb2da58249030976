//! Repeats calls whose header fields the server refused (-32020), after the tools were listed again.
//!
//! Over HTTP, header fields contain copies of the arguments that the input schema of a tool marks with `x-mcp-header`.
//! A call with such arguments can fail if the client's list of tools is out of date. The transport reads the marks from
//! the new list.

use std::sync::Arc;

use crate::client_shared::Command;
use crate::error::{CallError, PeerError};
use crate::options::CallOptions;
use crate::pending::{RequestState, ResponseBody};
use crate::request::{List, Request};
use crate::session::ClientSession;

/// The error code of a request whose header fields differ from its body.
const HEADER_MISMATCH: i64 = -32020;

/// Calls that wait for the list of tools.
#[derive(Default)]
pub(crate) struct HeaderMismatches {
    list: Option<Arc<RequestState>>,
    calls: Vec<(Arc<RequestState>, PeerError)>,
}

impl ClientSession {
    /// Keeps a call that the server has refused with -32020, and requests the list of tools. Returns `error` if it is
    /// another error, if the request is not a tool call, or if the call was cancelled or repeated before.
    pub(crate) fn repeat_later(
        &mut self,
        state: &Arc<RequestState>,
        error: CallError,
    ) -> Result<(), CallError> {
        let error = match error {
            CallError::Server(error) if error.code == HEADER_MISMATCH => error,
            error => return Err(error),
        };
        if !matches!(state.request, Request::Call { .. }) || !state.mark_repeated() {
            return Err(CallError::Server(error));
        }
        self.mismatches.calls.push((Arc::clone(state), error));
        if self.mismatches.list.is_none() {
            let list = RequestState::new(Request::List(List::Tools), CallOptions::new());
            // The application did not request the list, so this request does not count against the limit.
            list.release_slot();
            self.mismatches.list = Some(Arc::clone(&list));
            self.shared.send(Command::Start(list));
        }
        Ok(())
    }

    /// Fails the waiting calls if the request for the list of tools could not be sent.
    pub(crate) fn check_list(&mut self) {
        if let Some(list) = self.mismatches.list.clone().filter(|list| !list.is_awaited()) {
            self.finish_list(&list, &Err(CallError::Closed));
        }
    }

    /// If `state` is the request for the list of tools, repeats the waiting calls. If that request has failed, each
    /// call fails with the error with which the server refused the call.
    pub(crate) fn finish_list(
        &mut self,
        state: &Arc<RequestState>,
        result: &Result<ResponseBody, CallError>,
    ) {
        if !self.mismatches.list.as_ref().is_some_and(|list| Arc::ptr_eq(list, state)) {
            return;
        }
        self.mismatches.list = None;
        for (call, error) in std::mem::take(&mut self.mismatches.calls) {
            match result {
                Ok(_) => self.shared.send(Command::Start(call)),
                Err(_) => {
                    self.shared.release_slot(&call);
                    call.complete(Err(CallError::Server(error)));
                }
            }
        }
    }
}

impl Drop for HeaderMismatches {
    /// Completes the calls, so that no caller waits forever.
    fn drop(&mut self) {
        for (call, error) in self.calls.drain(..) {
            call.complete(Err(CallError::Server(error)));
        }
    }
}
