//! Declaration of client capabilities in `initialize`, or in each request (`2026-07-28`).
//!
//! Specification: up to 2025-11-25, *Lifecycle*, *Capability negotiation*; 2026-07-28, *Base protocol*, *`_meta`*.

use crate::error::ConfigError;
use crate::json::{Json, Kind, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::revision::{Revision, WireFeature};

use crate::client::client_tasks::hooks::ClientTaskHooks;
use crate::client::config::ClientConfig;
use crate::client::server_requests::respond::ServerRequests;

/// Pairs of a name and the JSON text of an object.
pub(crate) type RawMembers<'i> = &'i [(&'i str, &'i str)];

impl<'i> ClientConfig<'i> {
    /// Sets the capabilities that the client declares to servers. Default: none.
    ///
    /// The client emits an event for requests that require declared capabilities:
    /// [`Event::ServerRequest`](crate::client::Event::ServerRequest) or
    /// [`Event::InputRequired`](crate::client::Event::InputRequired). The client refuses requests of the server that
    /// require undeclared capabilities. If an input-required result requires an undeclared capability, the request of
    /// the client fails. Of `declared`, the client declares only the capabilities that the revision defines.
    ///
    /// ```
    /// use mcp_proto::{ClientCapabilities, client::ClientConfig};
    /// const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_FORM);
    /// static CONFIG: ClientConfig = ClientConfig::new("my-host", "1.2.0").capabilities(DECLARED);
    /// ```
    #[must_use]
    pub const fn capabilities(mut self, declared: ClientCapabilities) -> Self {
        self.capabilities = declared.with_parents();
        self.server_requests = Some(&ServerRequests::CODE);
        self
    }

    /// Sets the supported extensions (`2026-07-28`). Each pair is a prefixed name, such as `com.example/name`, and the
    /// settings as a JSON object.
    #[must_use]
    pub const fn extensions(mut self, extensions: &'i [(&'i str, &'i str)]) -> Self {
        self.extensions = extensions;
        self
    }

    /// Sets the extension methods that the client accepts in requests of a server (up to `2025-11-25`).
    ///
    /// The client emits an [`Event::ServerRequest`](crate::client::Event::ServerRequest) with an
    /// [`InputRequest::Other`](crate::client::InputRequest::Other) for such a request. The client refuses all other
    /// unknown methods.
    #[must_use]
    pub const fn methods(mut self, methods: &'i [&'i str]) -> Self {
        self.methods = methods;
        self.server_requests = Some(&ServerRequests::CODE);
        self
    }

    /// Sets the values of `resultType` that the extensions define (`2026-07-28`).
    ///
    /// A result of such a type ends its request with an [`Event::Response`](crate::client::Event::Response).
    /// [`Response::result_type`](crate::client::Response::result_type) returns the type. A result of any other unknown
    /// type is invalid, as the specification requires.
    #[must_use]
    pub const fn result_types(mut self, types: &'i [&'i str]) -> Self {
        self.result_types = types;
        self
    }

    /// Sets the experimental capabilities. Each pair is a name and the settings as a JSON object.
    #[must_use]
    pub const fn experimental(mut self, experimental: &'i [(&'i str, &'i str)]) -> Self {
        self.experimental = experimental;
        self
    }

    /// Returns the capabilities that the client declares in this revision.
    pub(crate) fn declared(&self, revision: Revision) -> ClientCapabilities {
        use ClientCapabilities as C;
        [
            (WireFeature::RootsListChanged, C::ROOTS_LIST_CHANGED),
            (WireFeature::Elicitation, C::ELICITATION_FORM),
            (WireFeature::UrlElicitation, C::ELICITATION_URL),
            (WireFeature::SamplingTools, C::SAMPLING_TOOLS.with(C::SAMPLING_CONTEXT)),
        ]
        .into_iter()
        .filter(|(feature, _)| !revision.has(*feature))
        .fold(self.capabilities, |declared, (_, missing)| declared.without(missing))
    }

    /// Writes the capabilities object of this revision. `tasks` is `None` in the stateless era, and if the client runs
    /// no tasks for the server.
    pub(crate) fn write_capabilities(
        &self,
        revision: Revision,
        tasks: Option<&'static ClientTaskHooks>,
        out: &mut Writer<'_>,
    ) {
        let declared = self.declared(revision);
        out.begin_object();
        declared.write_members(revision.has(WireFeature::ElicitationModes), out);
        if let Some(tasks) = tasks.filter(|_| revision.has(WireFeature::Tasks)) {
            (tasks.write_capability)(declared, out);
        }
        write_raw("experimental", [self.experimental, &[]], out);
        if revision.has(WireFeature::Extensions) {
            write_raw("extensions", [self.extensions, self.task_extension(revision)], out);
        }
        out.end_object();
    }

    /// Checks that all settings of extensions and experimental capabilities are objects. In an error, `entry` counts
    /// the extensions first, and then the experimental capabilities.
    pub(crate) fn check_declared(&self) -> Result<(), ConfigError> {
        for (entry, (_, text)) in self.extensions.iter().chain(self.experimental).enumerate() {
            let json =
                Json::parse(text.as_bytes()).map_err(|error| ConfigError::InvalidJson { entry, error })?;
            if json.kind() != Kind::Object {
                return Err(ConfigError::NotAnObject { entry });
            }
        }
        Ok(())
    }
}

fn write_raw(name: &str, members: [RawMembers<'_>; 2], out: &mut Writer<'_>) {
    if members.iter().all(|part| part.is_empty()) {
        return;
    }
    out.begin_object_at(name);
    for (key, text) in members.into_iter().flatten() {
        out.key(key);
        // `Client::checked` has checked the text of each configured pair.
        let _ = out.raw(text);
    }
    out.end_object();
}
