//! Connecting: era detection with `server/discover`, and the handshake with servers of the handshake era.
//!
//! Specification: up to 2025-11-25, *Lifecycle*; 2026-07-28, *Versioning*, *Backward compatibility*.

use core::mem;

use crate::json::{Json, Span, Str, Writer};
use crate::peer::LineEvent;
use crate::peer::lifecycle::{State, Trigger};
use crate::peer::outbound::READ_TIME;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::meta;
use crate::protocol::methods;
use crate::protocol::revision::{Era, Revision, Revisions};
use crate::rpc::Outcome;

use crate::client::client_state::{ClientState, Connecting, Session};
use crate::client::client_tasks::hooks::ClientTaskHooks;
use crate::client::config::{ClientConfig, Connect};
use crate::client::method_properties::Method;
use crate::client::options::Meta;
use crate::client::pending_event::{PendingEvent, PendingFailure};
use crate::protocol::objects::cache_hints::Freshness;
use crate::protocol::objects::implementation::ImplementationView;
use crate::protocol::objects::view::{list, object};

/// Writes the parameters of the connecting request without `_meta`: nothing in the stateless era. `tasks` is `None` if
/// the client runs no tasks.
pub(crate) fn write_params(
    config: &ClientConfig<'_>,
    revision: Revision,
    tasks: Option<&'static ClientTaskHooks>,
    out: &mut Writer<'_>,
) {
    if revision.era() == Era::Handshake {
        out.field_string("protocolVersion", revision.as_str());
        out.key("capabilities");
        config.write_capabilities(revision, tasks, out);
        out.key("clientInfo");
        config.identity.write(revision, out);
    }
}

/// A function that handles the response to the connecting request.
pub(crate) type HandleConnectResponse = fn(&mut ClientState<'_>, &[u8], Outcome);

impl ClientState<'_> {
    /// Queues the first connecting request. Emits `ConnectFailed` if the configuration has no revision to request.
    pub(crate) fn connect(&mut self) {
        self.connect = self.next_connect;
        match self.config.revisions.and(Revisions::STATELESS).latest() {
            Some(revision) if self.connect != Connect::Handshake => {
                self.send_connect_request(revision, Trigger::Probe);
            }
            None if self.connect == Connect::Stateless => self.fail_connect(PendingFailure::NoRevision),
            _ => self.fall_back(None),
        }
    }

    /// Queues the connecting request, and starts its timeout.
    ///
    /// The client sends the request as soon as the transmit buffer has space, unless the input has ended. The request
    /// fits into an empty transmit buffer, because `Client::new` checks the size of the buffer.
    pub(crate) fn send_connect_request(&mut self, revision: Revision, trigger: Trigger) {
        let time = match trigger {
            Trigger::Probe if self.may_fall_back() => self.config.timeouts.probe,
            _ => self.config.timeouts.initialize,
        };
        self.connecting =
            Some(Connecting { sequence: self.peer.next_sequence, deadline: self.peer.now.plus(time) });
        self.connect_extended = false;
        self.peer.next_sequence = self.peer.next_sequence.saturating_add(1);
        self.tried = self.tried.with(revision);
        self.peer.lifecycle.apply(trigger);
        self.unsent_connect = Some((revision, trigger));
    }

    /// Extends the expired timeout of the connecting request by [`READ_TIME`], at most once per request. Has an effect
    /// only if the caller has not read input since the last event, because the response may then be unread. Returns
    /// whether the timeout was extended.
    pub(crate) fn extend_connect(&mut self) -> bool {
        let Some(connecting) = &mut self.connecting else { return false };
        if self.peer.line_event != LineEvent::Handled || self.connect_extended {
            return false;
        }
        (connecting.deadline, self.connect_extended) = (self.peer.now.plus(READ_TIME), true);
        true
    }

    /// Writes the connecting request. Returns `false` if the client is not connecting, or if the transmit buffer lacks
    /// space.
    pub(crate) fn write_connecting(&mut self, revision: Revision, trigger: Trigger) -> bool {
        let Some(connecting) = self.connecting else { return false };
        let method = match trigger {
            Trigger::Probe => (Method::ReadOnly, methods::SERVER_DISCOVER.name),
            _ => (Method::Other, methods::INITIALIZE.name),
        };
        let (config, tasks) = (self.config, self.client_task_hooks());
        let id = self.id_of(connecting.sequence, None);
        let mut params = |out: &mut Writer<'_>| write_params(config, revision, tasks, out);
        let sent = self.write_request(id, method, revision, usize::MAX, Meta::default(), &mut params);
        self.unsent_connect = sent.is_err().then_some((revision, trigger));
        sent.is_ok()
    }

    /// Returns whether the client can fall back to the handshake after a probe.
    pub(crate) fn may_fall_back(&self) -> bool {
        self.connect == Connect::Automatic
            && self.config.revisions.and(Revisions::HANDSHAKE).latest().is_some()
    }

    /// Starts the handshake with the revision `offered`. If `offered` is `None`, uses the newest configured revision of
    /// the handshake era. Connecting fails if there is no such revision.
    pub(crate) fn fall_back(&mut self, offered: Option<Revision>) {
        let newest = self.config.revisions.and(Revisions::HANDSHAKE).latest();
        match offered.or(newest) {
            Some(revision) => self.send_connect_request(revision, Trigger::Initialize),
            None => self.fail_connect(PendingFailure::NoRevision),
        }
    }

    pub(crate) fn fail_connect(&mut self, failure: PendingFailure) {
        (self.connecting, self.unsent_connect) = (None, None);
        if !self.peer.lifecycle.apply(Trigger::Failed) {
            self.peer.lifecycle.apply(Trigger::Shutdown);
        }
        self.emit(PendingEvent::ConnectFailed(failure));
    }

    /// Handles the failure of the connecting request. After a probe, the client falls back to the handshake if
    /// possible. Otherwise connecting fails with `failure`.
    pub(crate) fn handle_connect_failure(&mut self, failure: PendingFailure) {
        match self.peer.lifecycle.state() {
            State::Probing if self.may_fall_back() => {
                // Only a probe that timed out can still have a response.
                self.probe_abandoned = matches!(failure, PendingFailure::TimedOut);
                self.fall_back(None)
            }
            _ => self.fail_connect(failure),
        }
    }

    /// Handles the response to the connecting request.
    pub(crate) fn handle_connect_response(&mut self, line: &[u8], outcome: Outcome) {
        let handle = match self.peer.lifecycle.state() {
            State::Probing => self.config.stateless.map(|era| era.handle_probe_response),
            _ => self.config.handshake,
        };
        if let Some(handle) = handle {
            handle(self, line, outcome);
        }
    }

    /// Repeats the probe after its response lost bytes. No effect if the client has already repeated the probe for this
    /// reason.
    pub(crate) fn repeat_lost_probe(&mut self) {
        if !mem::replace(&mut self.lost_probe_repeated, true)
            && let Some(revision) = self.tried.latest()
        {
            self.send_connect_request(revision, Trigger::Probe);
        }
    }

    /// Repeats the probe after a refusal. The caller must check that the client has not repeated a refused probe
    /// before.
    pub(crate) fn repeat_refused_probe(&mut self, revision: Revision) {
        self.refused_probe_repeated = true;
        self.send_connect_request(revision, Trigger::Probe);
    }

    pub(crate) fn set_connected(&mut self, revision: Revision, capabilities: Json<'_>, result: Span) {
        self.connecting = None;
        let mut declared = ServerCapabilities::from_json(capabilities);
        if let Some(tasks) = self.config.tasks {
            declared = declared.with((tasks.hooks.server_capabilities)(capabilities, revision));
        }
        self.peer.session = Some(Session { revision, capabilities: declared });
        self.resubscribe();
        self.emit(PendingEvent::Connected { revision, result });
    }
}

/// Returns the known revisions among the strings of an array.
pub(crate) fn known_revisions(versions: Json<'_>) -> Revisions {
    versions
        .elements()
        .filter_map(Json::string)
        .filter_map(Revision::from_json)
        .fold(Revisions::NONE, Revisions::with)
}

/// Returns the known revisions in `data.supported` of an error.
pub(crate) fn supported_revisions(error: Json<'_>) -> Revisions {
    error.get("data").and_then(|data| data.get("supported")).map_or(Revisions::NONE, known_revisions)
}

/// The server's response to the connecting request: identity and capabilities.
#[derive(Debug, Clone, Copy)]
pub struct Connected<'a> {
    pub(crate) revision: Revision,
    pub(crate) result: Json<'a>,
}

impl<'a> Connected<'a> {
    /// Returns the negotiated revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the server's description of itself, which the client does not verify. If the server sent no description,
    /// the view is empty.
    #[must_use]
    pub fn server(&self) -> ImplementationView<'a> {
        ImplementationView::from_json(self.server_info().unwrap_or(Json::NULL))
    }

    /// Returns the server's description of itself as raw JSON, if the server sent one.
    #[must_use]
    pub fn server_info(&self) -> Option<Json<'a>> {
        // The handshake era and drafts of `2026-07-28` place `serverInfo` beside `capabilities`.
        let in_meta = self.result.get("_meta").and_then(|meta| meta.get(meta::SERVER_INFO));
        in_meta.or_else(|| self.result.get("serverInfo"))
    }

    /// Returns the capabilities that the server declared, as raw JSON.
    #[must_use]
    pub fn raw_capabilities(&self) -> Json<'a> {
        self.result.get("capabilities").unwrap_or(Json::EMPTY_OBJECT)
    }

    /// Returns the capabilities that the server declared.
    #[must_use]
    pub fn capabilities(&self) -> ServerCapabilities {
        let declared = self.raw_capabilities();
        ServerCapabilities::from_json(declared)
            .with(ServerCapabilities::tasks_from_json(declared, self.revision))
    }

    /// Returns the instructions for a model that uses the server, if the server sent any.
    #[must_use]
    pub fn instructions(&self) -> Option<Str<'a>> {
        self.result.get("instructions")?.string()
    }

    /// Returns all revisions that the server declares, including unknown revisions. The iterator is empty before
    /// `2026-07-28`.
    pub fn supported_versions(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.result, "supportedVersions").filter_map(Json::string)
    }

    /// Returns the cache hints of the result: lifetime and scope.
    #[must_use]
    pub fn freshness(&self) -> Freshness {
        Freshness::from_json(self.result)
    }

    /// Returns the `_meta` object, if the server sent one.
    #[must_use]
    pub fn meta(&self) -> Option<Json<'a>> {
        object(self.result, "_meta")
    }

    /// Returns the whole result, exactly as the server wrote it.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.result
    }
}
