//! The stateless era: discovery of the server, and the `_meta` of requests.
//!
//! Specification: 2026-07-28, *Versioning*, *Discovery*.

use crate::client::client_state::ClientState;
use crate::client::config::ClientConfig;
use crate::client::connect::{HandleConnectResponse, known_revisions, supported_revisions};
use crate::client::pending_event::PendingFailure;
use crate::client::receive::is_complete;
use crate::json::writer::member_cache::MemberCache;
use crate::json::{Json, KNOWN_CAPACITY, Kind, KnownObject, Span, Writer};
use crate::peer::lifecycle::Trigger;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::meta;
use crate::protocol::revision::{Revision, Revisions};
use crate::rpc::{self, Object, Outcome, code};

/// Code of the stateless era. Clients that cannot connect in this era do not refer to this code, and so do not link the
/// code.
#[derive(Debug)]
pub(crate) struct StatelessEra {
    /// Handles the response to `server/discover`.
    pub(crate) handle_probe_response: HandleConnectResponse,
    /// Stores the revisions in the late response to the abandoned probe.
    pub(crate) handle_late_probe_response: HandleConnectResponse,
    /// Handles a result that requires input.
    pub(crate) handle_input_required:
        fn(&mut ClientState<'_>, Ticket, Object<'_>) -> Result<(), RequestFailure>,
    /// Writes the members of `_meta` that are the same in all requests.
    pub(crate) write_meta: fn(&ClientConfig<'_>, Revision, &mut MemberCache, &mut Writer<'_>),
}

impl StatelessEra {
    pub(crate) const CODE: StatelessEra = StatelessEra {
        handle_probe_response,
        handle_late_probe_response,
        handle_input_required: |state, ticket, result| state.handle_input_required(ticket, result),
        write_meta,
    };
}

fn write_meta(config: &ClientConfig<'_>, revision: Revision, cache: &mut MemberCache, out: &mut Writer<'_>) {
    out.cached_members(cache, revision.position(), |out| {
        out.field_string(meta::PROTOCOL_VERSION, revision.as_str());
        out.key(meta::CLIENT_INFO);
        config.identity.write(revision, out);
        out.key(meta::CLIENT_CAPABILITIES);
        config.write_capabilities(revision, None, out);
    });
}

fn handle_probe_response(state: &mut ClientState<'_>, line: &[u8], outcome: Outcome) {
    match outcome {
        Outcome::Result(result) => state.handle_discovery(line, result),
        Outcome::Error(error) => state.handle_probe_error(line, error),
        Outcome::Malformed => state.handle_invalid_discovery(),
    }
}

fn handle_late_probe_response(state: &mut ClientState<'_>, line: &[u8], outcome: Outcome) {
    if let Outcome::Result(result) = outcome
        && let Some(versions) = rpc::view(line, result).get("supportedVersions")
    {
        state.late_revisions = known_revisions(versions);
    }
}

impl ClientState<'_> {
    /// Handles a malformed probe response, or one without an array `supportedVersions`. The client falls back to the
    /// handshake if possible, because some handshake servers respond to unknown methods with an empty result.
    fn handle_invalid_discovery(&mut self) {
        match self.may_fall_back() {
            true => self.fall_back(None),
            false => self.fail_connect(PendingFailure::InvalidResponse),
        }
    }

    fn handle_discovery(&mut self, line: &[u8], span: Span) {
        let members = ["supportedVersions", "capabilities", "resultType"];
        let [versions, capabilities, kind] = rpc::view(line, span).pick(members);
        let versions = versions.filter(|value| value.kind() == Kind::Array);
        let capabilities = capabilities.filter(|value| value.kind() == Kind::Object);
        let Some(versions) = versions else { return self.handle_invalid_discovery() };
        let (Some(capabilities), true) = (capabilities, is_complete(kind.unwrap_or(Json::NULL))) else {
            return self.fail_connect(PendingFailure::InvalidResponse);
        };
        let mutual = known_revisions(versions).and(self.config.revisions);
        if let Some(revision) = mutual.and(Revisions::STATELESS).latest() {
            self.store_result_meta(rpc::view(line, span));
            self.peer.lifecycle.apply(Trigger::Discovered);
            return self.set_connected(revision, capabilities, span);
        }
        match mutual.latest() {
            Some(revision) if self.may_fall_back() => self.fall_back(Some(revision)),
            _ => self.fail_connect(PendingFailure::NoCommonRevision(span)),
        }
    }

    /// Returns the `_meta` whose repetitions the scanner skips. Returns `None` if none is stored, so that the scanner
    /// compares nothing.
    #[inline]
    pub(crate) fn known_result_meta(&self) -> Option<&KnownObject> {
        self.result_meta.first().filter(|meta| !meta.is_empty())
    }

    /// Stores the `_meta` of the response to `server/discover`, unless the `_meta` is too long.
    fn store_result_meta(&mut self, discovery: Json<'_>) {
        let Some(known) = self.result_meta.first_mut() else { return };
        let meta = discovery.get("_meta").filter(|meta| meta.kind() == Kind::Object);
        if let Some(meta) = meta.map(Json::bytes).filter(|meta| meta.len() <= KNOWN_CAPACITY) {
            known.set(meta, Span::MISSING);
        }
    }

    /// Handles an error response to the probe. Only a stateless server sends an error code of the stateless era. Any
    /// other error indicates a server of the handshake era.
    fn handle_probe_error(&mut self, line: &[u8], span: Span) {
        let error = rpc::view(line, span);
        let automatic = self.may_fall_back();
        match rpc::error_code(error) {
            Some(code::UNSUPPORTED_PROTOCOL_VERSION) => {
                let mutual = supported_revisions(error).and(self.config.revisions);
                let stateless = mutual.and(Revisions::STATELESS);
                let untried = stateless.newest_first().find(|it| !self.tried.contains(*it));
                match (untried, mutual.and(Revisions::HANDSHAKE).latest(), stateless.latest()) {
                    (Some(revision), ..) => self.send_connect_request(revision, Trigger::Probe),
                    (None, Some(revision), _) if automatic => self.fall_back(Some(revision)),
                    // A server, such as a gateway during an update, may refuse a revision that it names as supported.
                    // The client then retries once.
                    (None, _, Some(revision)) if !self.refused_probe_repeated => {
                        self.repeat_refused_probe(revision);
                    }
                    _ => self.fail_connect(PendingFailure::Refused(span)),
                }
            }
            Some(code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY) => {
                self.fail_connect(PendingFailure::Refused(span))
            }
            _ if automatic => self.fall_back(None),
            _ => self.fail_connect(PendingFailure::Refused(span)),
        }
    }
}
