//! The handshake era: `initialize` and its response.
//!
//! Specification: up to 2025-11-25, *Lifecycle*.

use crate::client::client_state::ClientState;
use crate::client::connect::supported_revisions;
use crate::client::pending_event::PendingFailure;
use crate::json::{Json, Kind, Span};
use crate::peer::lifecycle::Trigger;
use crate::protocol::revision::{Revision, Revisions};
use crate::rpc::{self, Outcome, code};

/// Handles the response to `initialize`. Clients that cannot connect in the handshake era do not refer to this
/// function, and so do not link the code of the era.
pub(crate) fn handle_initialize_response(state: &mut ClientState<'_>, line: &[u8], outcome: Outcome) {
    match outcome {
        Outcome::Result(result) => state.handle_initialize_result(line, result),
        Outcome::Error(error) => state.handle_initialize_error(line, error),
        Outcome::Malformed => state.fail_connect(PendingFailure::InvalidResponse),
    }
}

impl ClientState<'_> {
    fn handle_initialize_result(&mut self, line: &[u8], span: Span) {
        let members = ["protocolVersion", "capabilities", "serverInfo"];
        let [version, capabilities, info] = rpc::view(line, span).pick(members);
        let capabilities = capabilities.filter(|value| value.kind() == Kind::Object);
        let info = info.filter(|value| value.kind() == Kind::Object);
        let (Some(version), Some(capabilities), Some(_)) =
            (version.and_then(Json::string), capabilities, info)
        else {
            return self.fail_connect(PendingFailure::InvalidResponse);
        };
        let offered = self.config.revisions.and(Revisions::HANDSHAKE);
        match Revision::from_json(version).filter(|revision| offered.contains(*revision)) {
            Some(revision) => {
                self.peer.lifecycle.apply(Trigger::Accepted);
                self.initialized_pending = true;
                self.write_queued();
                self.set_connected(revision, capabilities, span)
            }
            None => self.fail_connect(PendingFailure::NoCommonRevision(span)),
        }
    }

    fn handle_initialize_error(&mut self, line: &[u8], span: Span) {
        let error = rpc::view(line, span);
        let supported = supported_revisions(error);
        let mutual = supported.and(self.config.revisions).and(Revisions::HANDSHAKE);
        if let Some(revision) = mutual.newest_first().find(|revision| !self.tried.contains(*revision)) {
            return self.send_connect_request(revision, Trigger::Initialize);
        }
        // A server may receive the abandoned probe late, choose the stateless era, and reject `initialize` with any
        // code. The client then repeats the probe.
        let probed = self.tried.and(Revisions::STATELESS);
        let is_stateless = rpc::error_code(error) == Some(code::UNSUPPORTED_PROTOCOL_VERSION)
            || supported.or(self.late_revisions).intersects(probed);
        match probed.latest().filter(|_| is_stateless && !self.refused_probe_repeated) {
            Some(revision) => self.repeat_refused_probe(revision),
            None => self.fail_connect(PendingFailure::Refused(span)),
        }
    }
}
