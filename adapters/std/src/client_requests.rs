//! Client requests besides tool calls: lists, resources, prompts, subscriptions, logging.

use mcp_proto::Level;
use mcp_proto::client::{Listed, Reference};
use mcp_proto_handles::{
    CallError, CompleteResult, PromptDescription, PromptResult, ReadResult, ResourceDescription,
    TemplateDescription, ToolDescription, block_on,
};

use crate::client_handle::ClientHandle;
use crate::notifications::{Notifications, Subscription};

impl ClientHandle {
    /// Lists the tools from all pages. Omits entries without a name.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn list_tools(&self) -> Result<Vec<ToolDescription>, CallError> {
        block_on(self.inner.list_tools())
    }

    /// Returns the tool with this name, or `None` if the server does not list the tool. Requests no more pages than
    /// necessary.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn find_tool(&self, name: &str) -> Result<Option<ToolDescription>, CallError> {
        block_on(self.inner.find_tool(name))
    }

    /// Lists the resources from all pages.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn list_resources(&self) -> Result<Vec<ResourceDescription>, CallError> {
        block_on(self.inner.list_resources())
    }

    /// Lists the resource templates from all pages.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn list_templates(&self) -> Result<Vec<TemplateDescription>, CallError> {
        block_on(self.inner.list_templates())
    }

    /// Lists the prompts from all pages.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn list_prompts(&self) -> Result<Vec<PromptDescription>, CallError> {
        block_on(self.inner.list_prompts())
    }

    /// Reads a resource and waits for its contents.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn read_resource(&self, uri: &str) -> Result<ReadResult, CallError> {
        block_on(self.inner.read_resource(uri))
    }

    /// Gets a prompt. `arguments` holds pairs of name and value.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn get_prompt(&self, name: &str, arguments: &[(&str, &str)]) -> Result<PromptResult, CallError> {
        block_on(self.inner.get_prompt(name, arguments))
    }

    /// Requests completions for an argument whose value so far is `value`. `context` holds arguments that already
    /// have a value.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn complete(
        &self,
        reference: Reference<'_>,
        argument: &str,
        value: &str,
        context: &[(&str, &str)],
    ) -> Result<CompleteResult, CallError> {
        block_on(self.inner.complete(reference, argument, value, context))
    }

    /// Subscribes to a resource: changes arrive as [`Notification::Updated`](crate::Notification::Updated).
    ///
    /// This request exists only in the handshake era. In `2026-07-28`, use [`listen`](ClientHandle::listen).
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the server does not offer subscriptions, or the revision is `2026-07-28`. For other
    /// errors see [`CallError`].
    pub fn subscribe(&self, uri: &str) -> Result<(), CallError> {
        block_on(self.inner.subscribe(uri))
    }

    /// Ends a subscription to a resource.
    ///
    /// # Errors
    /// See [`subscribe`](ClientHandle::subscribe).
    pub fn unsubscribe(&self, uri: &str) -> Result<(), CallError> {
        block_on(self.inner.unsubscribe(uri))
    }

    /// Requests log messages of this level and above: [`Notification::Log`](crate::Notification::Log).
    ///
    /// This request exists only in the handshake era. In `2026-07-28`, each request can have a [log
    /// level](crate::CallOptions::log_level).
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the server does not offer logging, or the revision is `2026-07-28`. For other errors
    /// see [`CallError`].
    pub fn set_log_level(&self, level: Level) -> Result<(), CallError> {
        block_on(self.inner.set_log_level(level))
    }

    /// Subscribes to changes of these lists and resources (`2026-07-28`), and waits for the acknowledgment.
    ///
    /// In the handshake era the server sends list changes without a subscription, and resource changes after
    /// [`subscribe`](ClientHandle::subscribe). Both arrive in [`notifications`](ClientHandle::notifications).
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the revision is of the handshake era. For other errors see [`CallError`].
    pub fn listen(&self, lists: &[Listed], uris: &[&str]) -> Result<Subscription, CallError> {
        Ok(Subscription { inner: block_on(self.inner.listen(lists, uris))? })
    }

    /// Like [`listen`](ClientHandle::listen), but adds `members` to the filter of the subscription. Extensions define
    /// such members. Each pair is a name and JSON text, such as `("drawingsListChanged", "true")`.
    ///
    /// Notifications of extensions arrive as [`Notification::Other`](crate::Notification::Other).
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the revision is of the handshake era. [`CallError::Invalid`]: a JSON text is not
    /// valid. For other errors see [`CallError`].
    pub fn listen_with(
        &self,
        lists: &[Listed],
        uris: &[&str],
        members: &[(&str, &str)],
    ) -> Result<Subscription, CallError> {
        Ok(Subscription { inner: block_on(self.inner.listen_with(lists, uris, members))? })
    }

    /// Returns an iterator over the notifications that arrive after this call. The callback of
    /// [`on_notification`](crate::Connector::on_notification) also receives these notifications.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        Notifications { inner: self.inner.notifications() }
    }

    /// Sends a request with any method and returns the result as JSON text. `params` is the JSON text of an object.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn request(&self, method: &str, params: &str) -> Result<String, CallError> {
        block_on(self.inner.request(method, params))
    }

    /// Sends a notification of an extension. `params` is the JSON text of an object. Returns when the notification is
    /// in the transmit buffer.
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the revision is `2026-07-28`, and the connector has not declared
    /// [extensions](crate::Connector::extensions). For other errors see [`CallError`].
    pub fn notify(&self, method: &str, params: &str) -> Result<(), CallError> {
        block_on(self.inner.notify(method, params))
    }

    /// Checks that the server responds. Sends `ping` or, in `2026-07-28`, `server/discover`, and waits for the
    /// response.
    ///
    /// # Errors
    /// The server does not respond: see [`CallError`].
    pub fn ping(&self) -> Result<(), CallError> {
        block_on(self.inner.ping())
    }

    /// Notifies the server that the roots have changed.
    ///
    /// The client sends the notification only if the connector has
    /// [declared](crate::Connector::on_server_request) `roots.listChanged`, and the revision has the notification.
    /// Between two connections, the client sends nothing.
    pub fn roots_changed(&self) {
        self.inner.roots_changed();
    }
}
