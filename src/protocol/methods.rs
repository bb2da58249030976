//! Table of the protocol's methods: revisions, senders, required capabilities.
//!
//! The server and the `Monitor` read the revisions of a method from this table. One test compares the table with the
//! official schemas. Another test generates the table in `docs/protocol.md`. Proxies and routers can also use
//! this table.
//!
//! Specification: every revision, *Schema*; the extensions *Tasks* and *Skills* of `2026-07-28`.

use crate::protocol::revision::{Revisions, WireFeature};

/// The method of a request or a notification.
///
/// ```
/// use mcp_proto::{Revision, methods};
/// assert_eq!(methods::PING.name(), "ping");
/// assert!(methods::PING.by_server().contains(Revision::V2025_11_25));
/// assert!(!methods::PING.by_client().contains(Revision::V2026_07_28));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    pub(crate) name: &'static str,
    pub(crate) is_request: bool,
    pub(crate) by_client: Revisions,
    pub(crate) by_server: Revisions,
    pub(crate) in_results: Revisions,
    pub(crate) by_extension: Revisions,
    pub(crate) capability: Option<&'static str>,
}

impl Method {
    const fn request(name: &'static str) -> Method {
        Method {
            name,
            is_request: true,
            by_client: Revisions::NONE,
            by_server: Revisions::NONE,
            in_results: Revisions::NONE,
            by_extension: Revisions::NONE,
            capability: None,
        }
    }

    const fn notification(name: &'static str) -> Method {
        Method { is_request: false, ..Method::request(name) }
    }

    const fn sent_by_client(mut self, revisions: Revisions) -> Method {
        self.by_client = revisions;
        self
    }

    const fn sent_by_server(mut self, revisions: Revisions) -> Method {
        self.by_server = revisions;
        self
    }

    const fn sent_in_results(mut self) -> Method {
        self.in_results = WireFeature::InputRequired.revisions();
        self
    }

    const fn with_extension(mut self) -> Method {
        self.by_extension = WireFeature::Extensions.revisions();
        self
    }

    const fn needs(mut self, capability: &'static str) -> Method {
        self.capability = Some(capability);
        self
    }

    /// Returns the method with `by_client` extended by the revisions in which an extension defines the method.
    pub(crate) const fn including_extension(mut self) -> Method {
        self.by_client = self.by_client.or(self.by_extension);
        self
    }

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether the method is a request. Any other method is a notification.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        self.is_request
    }

    /// Returns the revisions in which a client sends the method.
    #[must_use]
    pub const fn by_client(&self) -> Revisions {
        self.by_client
    }

    /// Returns the revisions in which a server sends the method as a message.
    #[must_use]
    pub const fn by_server(&self) -> Revisions {
        self.by_server
    }

    /// Returns the revisions in which a server sends the method inside a result.
    ///
    /// The member of the result is `inputRequests` (`2026-07-28`).
    #[must_use]
    pub const fn in_results(&self) -> Revisions {
        self.in_results
    }

    /// Returns the revisions in which only an extension, *Tasks* or *Skills*, defines the method. Clients send the
    /// requests of the extension, and servers send its notifications.
    #[must_use]
    pub const fn by_extension(&self) -> Revisions {
        self.by_extension
    }

    /// Returns the required capability, such as `server.tools.listChanged`. Returns `None` if the method requires no
    /// capability.
    ///
    /// The prefix is the side that declares the capability. The capabilities of tasks have no prefix, because either
    /// side may declare them. `server.skills` stands for the extension *Skills*. `completion/complete` requires no
    /// capability before `2025-03-26`.
    #[must_use]
    pub const fn capability(&self) -> Option<&'static str> {
        self.capability
    }
}

const ALL_REVISIONS: Revisions = Revisions::ALL;
const HANDSHAKE: Revisions = WireFeature::Handshake.revisions();
const STATELESS: Revisions = WireFeature::StatelessRequests.revisions();
const SERVER_REQUESTS: Revisions = WireFeature::ServerRequests.revisions();
const SUBSCRIPTIONS: Revisions = WireFeature::Subscriptions.revisions();
const RESOURCE_SUBSCRIPTIONS: Revisions = WireFeature::ResourceSubscriptions.revisions();
const ELICITATION: Revisions = WireFeature::Elicitation.revisions();
const TASKS_CORE: Revisions = WireFeature::Tasks.revisions();

/// Defines the constants and their list together, so that the list is always complete.
macro_rules! table {
    ($($(#[$doc:meta])* $constant:ident = $kind:ident($name:literal)$(.$set:ident($($value:expr)?))*;)*) => {
        $($(#[$doc])* pub const $constant: Method = Method::$kind($name)$(.$set($($value)?))*;)*

        /// All methods: requests first, in the order of the specification.
        pub const ALL: &[Method] = &[$($constant),*];
    };
}

table! {
    /// Opens a session.
    INITIALIZE = request("initialize").sent_by_client(HANDSHAKE);
    /// Checks that the peer is alive.
    PING = request("ping").sent_by_client(HANDSHAKE).sent_by_server(HANDSHAKE);
    /// Requests the identity, revisions and capabilities of the server.
    SERVER_DISCOVER = request("server/discover").sent_by_client(STATELESS);
    /// Lists the tools.
    TOOLS_LIST = request("tools/list").sent_by_client(ALL_REVISIONS).needs("server.tools");
    /// Calls a tool.
    TOOLS_CALL = request("tools/call").sent_by_client(ALL_REVISIONS).needs("server.tools");
    /// Lists the resources.
    RESOURCES_LIST = request("resources/list").sent_by_client(ALL_REVISIONS).needs("server.resources");
    /// Lists the resource templates.
    RESOURCES_TEMPLATES_LIST =
        request("resources/templates/list").sent_by_client(ALL_REVISIONS).needs("server.resources");
    /// Reads a resource.
    RESOURCES_READ = request("resources/read").sent_by_client(ALL_REVISIONS).needs("server.resources");
    /// Subscribes to changes of a resource.
    RESOURCES_SUBSCRIBE = request("resources/subscribe").sent_by_client(RESOURCE_SUBSCRIPTIONS).needs("server.resources.subscribe");
    /// Cancels a subscription to a resource.
    RESOURCES_UNSUBSCRIBE =
        request("resources/unsubscribe").sent_by_client(RESOURCE_SUBSCRIPTIONS).needs("server.resources.subscribe");
    /// Lists the prompts.
    PROMPTS_LIST = request("prompts/list").sent_by_client(ALL_REVISIONS).needs("server.prompts");
    /// Gets a prompt with arguments.
    PROMPTS_GET = request("prompts/get").sent_by_client(ALL_REVISIONS).needs("server.prompts");
    /// Requests proposals for the value of an argument.
    COMPLETION_COMPLETE = request("completion/complete").sent_by_client(ALL_REVISIONS).needs("server.completions");
    /// Sets the minimum level of log messages.
    LOGGING_SET_LEVEL = request("logging/setLevel").sent_by_client(WireFeature::SessionLogLevel.revisions()).needs("server.logging");
    /// Subscribes to changes until the request ends.
    SUBSCRIPTIONS_LISTEN = request("subscriptions/listen").sent_by_client(SUBSCRIPTIONS);
    /// Requests a message from the client's model.
    SAMPLING_CREATE_MESSAGE = request("sampling/createMessage")
        .sent_by_server(SERVER_REQUESTS).sent_in_results().needs("client.sampling");
    /// Requests input from the user.
    ELICITATION_CREATE = request("elicitation/create")
        .sent_by_server(SERVER_REQUESTS.and(ELICITATION)).sent_in_results().needs("client.elicitation");
    /// Requests the roots in which the server may work.
    ROOTS_LIST = request("roots/list").sent_by_server(SERVER_REQUESTS).sent_in_results().needs("client.roots");
    /// Gets the status of a task.
    TASKS_GET = request("tasks/get")
        .sent_by_client(TASKS_CORE).sent_by_server(TASKS_CORE).with_extension().needs("tasks");
    /// Waits for the result of a task.
    TASKS_RESULT = request("tasks/result")
        .sent_by_client(TASKS_CORE).sent_by_server(TASKS_CORE).needs("tasks");
    /// Lists the tasks.
    TASKS_LIST = request("tasks/list")
        .sent_by_client(TASKS_CORE).sent_by_server(TASKS_CORE).needs("tasks.list");
    /// Cancels a task.
    TASKS_CANCEL = request("tasks/cancel")
        .sent_by_client(TASKS_CORE).sent_by_server(TASKS_CORE).with_extension().needs("tasks.cancel");
    /// Sends the input that a task requires.
    TASKS_UPDATE = request("tasks/update").with_extension().needs("tasks");
    /// Lists the skills.
    SKILLS_LIST = request("skills/list").with_extension().needs("server.skills");
    /// Gets a skill by its URI.
    SKILLS_GET = request("skills/get").with_extension().needs("server.skills");
    /// Lists the files of a folder.
    RESOURCES_DIRECTORY_READ =
        request("resources/directory/read").with_extension().needs("server.skills.directoryRead");

    /// Completes the handshake.
    INITIALIZED = notification("notifications/initialized").sent_by_client(HANDSHAKE);
    /// Cancels a request. In `2026-07-28`, a server cancels only `subscriptions/listen`.
    CANCELLED = notification("notifications/cancelled").sent_by_client(ALL_REVISIONS).sent_by_server(ALL_REVISIONS);
    /// Reports progress of a request that has a progress token.
    PROGRESS = notification("notifications/progress").sent_by_client(SERVER_REQUESTS).sent_by_server(ALL_REVISIONS);
    /// Sends a log message.
    MESSAGE = notification("notifications/message").sent_by_server(ALL_REVISIONS).needs("server.logging");
    /// Reports a change of the list of tools.
    TOOLS_LIST_CHANGED = notification("notifications/tools/list_changed")
        .sent_by_server(ALL_REVISIONS).needs("server.tools.listChanged");
    /// Reports a change of the list of resources.
    RESOURCES_LIST_CHANGED = notification("notifications/resources/list_changed")
        .sent_by_server(ALL_REVISIONS).needs("server.resources.listChanged");
    /// Reports a change of a resource.
    RESOURCES_UPDATED = notification("notifications/resources/updated")
        .sent_by_server(ALL_REVISIONS).needs("server.resources.subscribe");
    /// Reports a change of the list of prompts.
    PROMPTS_LIST_CHANGED = notification("notifications/prompts/list_changed")
        .sent_by_server(ALL_REVISIONS).needs("server.prompts.listChanged");
    /// Reports a change of the roots.
    ROOTS_LIST_CHANGED = notification("notifications/roots/list_changed")
        .sent_by_client(WireFeature::RootsListChanged.revisions()).needs("client.roots.listChanged");
    /// Reports the completion of a URL elicitation.
    ELICITATION_COMPLETE = notification("notifications/elicitation/complete")
        .sent_by_server(WireFeature::ElicitationIds.revisions()).needs("client.elicitation.url");
    /// Acknowledges a `subscriptions/listen`, and names the changes that the server will report.
    SUBSCRIPTIONS_ACKNOWLEDGED = notification("notifications/subscriptions/acknowledged").sent_by_server(SUBSCRIPTIONS);
    /// Reports the status of a task.
    TASKS_STATUS = notification("notifications/tasks/status")
        .sent_by_client(TASKS_CORE).sent_by_server(TASKS_CORE).needs("tasks");
    /// Reports the status of a task of the extension *Tasks*.
    TASKS = notification("notifications/tasks").with_extension().needs("tasks");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_have_a_sender() {
        for (index, method) in ALL.iter().enumerate() {
            assert!(!ALL[..index].iter().any(|earlier| earlier.name == method.name), "{}", method.name);
            assert_eq!(method.is_request, !method.name.starts_with("notifications/"), "{}", method.name);
            let sent = [method.by_client, method.by_server, method.by_extension];
            assert!(sent.iter().any(|revisions| !revisions.is_empty()), "{}", method.name);
        }
    }
}
