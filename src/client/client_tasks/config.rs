//! Configuration of the tasks that a client runs, and the table of these tasks.

use crate::client::Client;
use crate::client::client_tasks::hooks::ClientTaskHooks;
use crate::client::config::ClientConfig;
use crate::error::ConfigError;
use crate::json::Writer;
use crate::peer::tasks::options::TaskOptions;
use crate::peer::tasks::storage::Storage;
use crate::peer::tasks::table::TaskTable;
use crate::protocol::capabilities::ClientCapabilities;

/// The configuration of the tasks that a client runs. Only this value refers to the hooks, so clients without such
/// tasks do not link the hooks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientTaskConfig {
    pub(crate) options: fn() -> TaskOptions,
    pub(crate) hooks: &'static ClientTaskHooks,
}

impl<'i> ClientConfig<'i> {
    /// Allows requests of the server for sampling and elicitation to become tasks (`2025-11-25`). By default, these
    /// requests never become tasks.
    ///
    /// The client declares tasks for its [capabilities](ClientConfig::capabilities), and needs a table:
    /// [`Client::client_tasks`]. Each call of `options` must return options with new random bits.
    ///
    /// The server decides which requests become tasks. The application responds as to any other request: through the
    /// request or, after [`ServerRequest::defer`](crate::client::ServerRequest::defer), through its ticket. The client
    /// responds to the server with the task, stores the response of the application, and serves `tasks/get`,
    /// `tasks/result`, `tasks/list` and `tasks/cancel`. If the server cancels the task, the event is
    /// [`Event::Cancelled`](crate::client::Event::Cancelled). If the time to live expires before the response, the
    /// event is [`Event::Expired`](crate::client::Event::Expired).
    ///
    /// A deferred request that becomes a task keeps its ticket, but takes no slot of [`Client::in_flight`] and sends no
    /// progress. If the table is full, `defer` returns the request to the application. If the table is still full when
    /// the application responds with a result, the server receives the error -32603.
    ///
    /// ```
    /// use mcp_proto::ClientCapabilities;
    /// use mcp_proto::client::{ClientConfig, TaskOptions};
    /// # fn random() -> [u8; 16] { [7; 16] }
    ///
    /// static CONFIG: ClientConfig = ClientConfig::new("my-host", "1.2.0")
    ///     .capabilities(ClientCapabilities::SAMPLING)
    ///     .client_tasks(|| TaskOptions::new(random()));
    /// ```
    ///
    /// Specification: 2025-11-25, *Tasks*.
    #[must_use]
    pub const fn client_tasks(mut self, options: fn() -> TaskOptions) -> Self {
        self.client_tasks = Some(ClientTaskConfig { options, hooks: &ClientTaskHooks::CODE });
        self
    }
}

impl<'b> Client<'b> {
    /// Lends the table of the tasks that the client runs. The client ignores the table unless
    /// [`ClientConfig::client_tasks`] has enabled these tasks.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: the transmit buffer is too small for a response about a task.
    pub fn client_tasks(mut self, table: &'b mut TaskTable<'b>) -> Result<Client<'b>, ConfigError> {
        self.state.client_tasks = Some(Storage::Lent(table));
        self.checked()
    }

    /// Sets the table like [`client_tasks`](Client::client_tasks). The client stores the table on the heap.
    ///
    /// # Errors
    /// Same as [`client_tasks`](Client::client_tasks).
    #[cfg(feature = "alloc")]
    pub fn client_tasks_owned(mut self, table: TaskTable<'b>) -> Result<Client<'b>, ConfigError> {
        self.state.client_tasks = Some(Storage::Owned(alloc::boxed::Box::new(table)));
        self.checked()
    }
}

/// Returns whether a client with these capabilities receives requests that can become tasks.
pub(super) fn may_run(declared: ClientCapabilities) -> bool {
    declared.has(ClientCapabilities::SAMPLING) || has_elicitation(declared)
}

fn has_elicitation(declared: ClientCapabilities) -> bool {
    declared.has(ClientCapabilities::ELICITATION_FORM) || declared.has(ClientCapabilities::ELICITATION_URL)
}

/// Writes the capability `tasks` of a client with these capabilities. Omits the capability if no request can become a
/// task.
pub(super) fn write_capability(declared: ClientCapabilities, out: &mut Writer<'_>) {
    if !may_run(declared) {
        return;
    }
    out.key("tasks");
    out.token(r#"{"list":{},"cancel":{},"requests":"#);
    out.begin_object();
    if declared.has(ClientCapabilities::SAMPLING) {
        out.key("sampling");
        out.token(r#"{"createMessage":{}}"#);
    }
    if has_elicitation(declared) {
        out.key("elicitation");
        out.token(r#"{"create":{}}"#);
    }
    out.end_object();
    out.token("}");
}
