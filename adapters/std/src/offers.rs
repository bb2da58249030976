//! What a client may ask about what a server offers beside tools.

use mcp_proto::Level;
use mcp_proto::client::{Listed, Reference};
use mcp_proto_handles::{
    CallError, CompleteResult, PromptDescription, PromptResult, ReadResult, ResourceDescription,
    TemplateDescription, ToolDescription, block_on,
};

use crate::client::ClientHandle;
use crate::notifications::{Notifications, Subscription};

impl ClientHandle {
    /// Lists the tools, all pages of them.
    ///
    /// # Errors
    /// There is no list.
    pub fn list_tools(&self) -> Result<Vec<ToolDescription>, CallError> {
        block_on(self.inner.list_tools())
    }

    /// The tool of this name. No more pages are asked for than it takes to find it.
    ///
    /// # Errors
    /// There is no list.
    pub fn find_tool(&self, name: &str) -> Result<Option<ToolDescription>, CallError> {
        block_on(self.inner.find_tool(name))
    }

    /// Lists the resources, all pages of them.
    ///
    /// # Errors
    /// There is no list.
    pub fn list_resources(&self) -> Result<Vec<ResourceDescription>, CallError> {
        block_on(self.inner.list_resources())
    }

    /// Lists the resource templates, all pages of them.
    ///
    /// # Errors
    /// There is no list.
    pub fn list_templates(&self) -> Result<Vec<TemplateDescription>, CallError> {
        block_on(self.inner.list_templates())
    }

    /// Lists the prompts, all pages of them.
    ///
    /// # Errors
    /// There is no list.
    pub fn list_prompts(&self) -> Result<Vec<PromptDescription>, CallError> {
        block_on(self.inner.list_prompts())
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_resource(&self, uri: &str) -> Result<ReadResult, CallError> {
        block_on(self.inner.read_resource(uri))
    }

    /// Gets what a prompt says, with these arguments, name and value.
    ///
    /// # Errors
    /// It says nothing.
    pub fn get_prompt(&self, name: &str, arguments: &[(&str, &str)]) -> Result<PromptResult, CallError> {
        block_on(self.inner.get_prompt(name, arguments))
    }

    /// Asks what the value of an argument may be, of which so much has been typed. `context` are the arguments that have
    /// a value already.
    ///
    /// # Errors
    /// There is no answer.
    pub fn complete(
        &self,
        reference: Reference<'_>,
        argument: &str,
        value: &str,
        context: &[(&str, &str)],
    ) -> Result<CompleteResult, CallError> {
        block_on(self.inner.complete(reference, argument, value, context))
    }

    /// Asks to be told when a resource changes: [`Notification::Updated`](crate::Notification::Updated). Only in the handshake era; in
    /// `2026-07-28` one [listens](ClientHandle::listen).
    ///
    /// # Errors
    /// The server does not tell.
    pub fn subscribe(&self, uri: &str) -> Result<(), CallError> {
        block_on(self.inner.subscribe(uri))
    }

    /// Does not want to be told any more.
    ///
    /// # Errors
    /// As [`subscribe`](ClientHandle::subscribe).
    pub fn unsubscribe(&self, uri: &str) -> Result<(), CallError> {
        block_on(self.inner.unsubscribe(uri))
    }

    /// Asks for log messages of this level and above: [`Notification::Log`](crate::Notification::Log). Only in the handshake era; in
    /// `2026-07-28` each request [says so](crate::CallOptions::log_level).
    ///
    /// # Errors
    /// The server does not log.
    pub fn set_log_level(&self, level: Level) -> Result<(), CallError> {
        block_on(self.inner.set_log_level(level))
    }

    /// Subscribes to changes of these lists and resources (`2026-07-28`), and waits until the server takes that up. In the
    /// handshake era changes of lists are told unasked, and those of resources after
    /// [`subscribe`](ClientHandle::subscribe): [`notices`](ClientHandle::notifications) has them.
    ///
    /// # Errors
    /// The server does not take it up.
    pub fn listen(&self, lists: &[Listed], uris: &[&str]) -> Result<Subscription, CallError> {
        Ok(Subscription { inner: block_on(self.inner.listen(lists, uris))? })
    }

    /// Everything that the server says by itself from now on, for a thread that waits for it.
    /// [`on_notification`](crate::Connector::on_notification) gets it, too.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        Notifications { inner: self.inner.notifications() }
    }

    /// Sends any other request, and waits for its result: JSON. `params` is JSON text, too: an object.
    ///
    /// # Errors
    /// There is no result.
    pub fn request(&self, method: &str, params: &str) -> Result<String, CallError> {
        block_on(self.inner.request(method, params))
    }

    /// Asks whether the server is there.
    ///
    /// # Errors
    /// It does not say so.
    pub fn ping(&self) -> Result<(), CallError> {
        block_on(self.inner.ping())
    }

    /// Says that the roots have changed, if the server can be told: `roots.listChanged` was
    /// [declared](crate::Connector::on_server_request), and the revision has it.
    pub fn roots_changed(&self) {
        self.inner.roots_changed();
    }
}
