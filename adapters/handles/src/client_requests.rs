//! Client requests besides tool calls: lists, resources, prompts, subscriptions, logging.

use std::sync::Arc;

use mcp_proto::Level;
use mcp_proto::client::{Listed, Reference};

use crate::begin_requests::check_params;
use crate::client::ClientHandle;
use crate::client_shared::Command;
use crate::error::CallError;
use crate::notifications::{NotificationQueue, Notifications, Subscription};
use crate::owned::ToolDescription;
use crate::pending::ResponseBody;
use crate::request::{List, Request, owned};
use crate::views::{
    CompleteResult, PromptDescription, PromptResult, ReadResult, ResourceDescription, TemplateDescription,
};

impl ClientHandle {
    /// Lists the tools from all pages. Omits entries without a name.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_tools(&self) -> Result<Vec<ToolDescription>, CallError> {
        let entries = self.list(List::Tools).await?;
        Ok(entries.iter().filter_map(|entry| ToolDescription::from_json(entry)).collect())
    }

    /// Returns the tool with this name, or `None` if the server does not list the tool. Requests no more pages than
    /// necessary.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn find_tool(&self, name: &str) -> Result<Option<ToolDescription>, CallError> {
        let found = self.start(Request::Find(name.into()), self.options(), ResponseBody::into_list)?.await?;
        Ok(found.iter().find_map(|entry| ToolDescription::from_json(entry)))
    }

    /// Lists the resources from all pages.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_resources(&self) -> Result<Vec<ResourceDescription>, CallError> {
        Ok(self.list(List::Resources).await?.into_iter().map(ResourceDescription::from_valid_json).collect())
    }

    /// Lists the resource templates from all pages.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_templates(&self) -> Result<Vec<TemplateDescription>, CallError> {
        Ok(self.list(List::Templates).await?.into_iter().map(TemplateDescription::from_valid_json).collect())
    }

    /// Lists the prompts from all pages.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_prompts(&self) -> Result<Vec<PromptDescription>, CallError> {
        Ok(self.list(List::Prompts).await?.into_iter().map(PromptDescription::from_valid_json).collect())
    }

    /// Reads a resource and waits for its contents.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResult, CallError> {
        self.begin_read(uri, self.options())?.await
    }

    /// Gets a prompt. `arguments` holds pairs of name and value.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &[(&str, &str)],
    ) -> Result<PromptResult, CallError> {
        self.begin_prompt(name, arguments, self.options())?.await
    }

    /// Requests completions for an argument whose value so far is `value`. `context` holds arguments that already
    /// have a value.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn complete(
        &self,
        reference: Reference<'_>,
        argument: &str,
        value: &str,
        context: &[(&str, &str)],
    ) -> Result<CompleteResult, CallError> {
        self.begin_complete(reference, argument, value, context, self.options())?.await
    }

    /// Subscribes to a resource: changes arrive as [`Notification::Updated`](crate::Notification::Updated).
    ///
    /// This request exists only in the handshake era. In `2026-07-28`, use [`listen`](ClientHandle::listen).
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the server does not offer subscriptions, or the revision is `2026-07-28`. For other
    /// errors see [`CallError`].
    pub async fn subscribe(&self, uri: &str) -> Result<(), CallError> {
        self.send_request(Request::Subscribe(uri.into())).await.map(drop)
    }

    /// Ends a subscription to a resource.
    ///
    /// # Errors
    /// See [`subscribe`](ClientHandle::subscribe).
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), CallError> {
        self.send_request(Request::Unsubscribe(uri.into())).await.map(drop)
    }

    /// Requests log messages of this level and above: [`Notification::Log`](crate::Notification::Log).
    ///
    /// This request exists only in the handshake era. In `2026-07-28`, each request can have a [log
    /// level](crate::CallOptions::log_level).
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the server does not offer logging, or the revision is `2026-07-28`. For other errors
    /// see [`CallError`].
    pub async fn set_log_level(&self, level: Level) -> Result<(), CallError> {
        self.send_request(Request::LogLevel(level)).await.map(drop)
    }

    /// Subscribes to changes of these lists and resources (`2026-07-28`), and waits for the acknowledgment.
    ///
    /// In the handshake era the server sends list changes without a subscription, and resource changes after
    /// [`subscribe`](ClientHandle::subscribe). Both arrive in [`notifications`](ClientHandle::notifications).
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the revision is of the handshake era. If the server does not acknowledge the
    /// subscription: see [`CallError`].
    pub async fn listen(&self, lists: &[Listed], uris: &[&str]) -> Result<Subscription, CallError> {
        self.listen_with(lists, uris, &[]).await
    }

    /// Like [`listen`](ClientHandle::listen), but adds `members` to the filter of the subscription. Extensions define
    /// such members. Each pair is a name and JSON text, such as `("drawingsListChanged", "true")`.
    ///
    /// Notifications of extensions arrive as [`Notification::Other`](crate::Notification::Other).
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the revision is of the handshake era. If the server does not acknowledge the
    /// subscription, or a JSON text is not valid: see [`CallError`].
    pub async fn listen_with(
        &self,
        lists: &[Listed],
        uris: &[&str],
        members: &[(&str, &str)],
    ) -> Result<Subscription, CallError> {
        let uris = uris.iter().map(|uri| (*uri).into()).collect();
        let request = Request::Listen { lists: lists.into(), uris, members: owned(members) };
        let mut pending = self.start(request, self.options(), acknowledged)?;
        let acknowledged = (&mut pending).await?;
        let notifications = Notifications { queue: pending.state().queue.clone().unwrap_or_default() };
        let canceller = pending.canceller();
        // From now on, the drop of the subscription cancels the request.
        pending.detach();
        Ok(Subscription { notifications, acknowledged, canceller })
    }

    /// Returns a stream of the notifications that arrive after this call. The callback of `Connector::on_notification`
    /// also receives these notifications.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        let queue = Arc::<NotificationQueue>::default();
        self.shared().add_queue(&queue);
        Notifications { queue }
    }

    /// Sends a request with any method and returns the result as JSON text. `params` is the JSON text of an object.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn request(&self, method: &str, params: &str) -> Result<String, CallError> {
        self.begin_request(method, params, self.options())?.await
    }

    /// Sends a notification of an extension. `params` is the JSON text of an object. Returns when the notification is
    /// in the transmit buffer.
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the revision is `2026-07-28`, and the client has not declared
    /// [extensions](crate::ClientSettings::extensions). For other errors see [`CallError`].
    pub async fn notify(&self, method: &str, params: &str) -> Result<(), CallError> {
        check_params(params)?;
        self.send_request(Request::Notify { method: method.into(), params: params.into() }).await.map(drop)
    }

    /// Checks that the server responds. Sends `ping` or, in `2026-07-28`, `server/discover`, and waits for the
    /// response.
    ///
    /// # Errors
    /// The server does not respond: see [`CallError`].
    pub async fn ping(&self) -> Result<(), CallError> {
        self.send_request(Request::Ping).await.map(drop)
    }

    /// Notifies the server that the roots have changed.
    ///
    /// The client must have declared `roots.listChanged` with `Connector::on_server_request`, and the revision must
    /// have the notification. Otherwise, and between two connections, the client sends nothing.
    pub fn roots_changed(&self) {
        self.shared().send(Command::RootsChanged);
    }

    pub(crate) async fn list(&self, list: List) -> Result<Vec<String>, CallError> {
        self.start(Request::List(list), self.options(), ResponseBody::into_list)?.await
    }

    pub(crate) async fn send_request(&self, request: Request) -> Result<String, CallError> {
        self.start(request, self.options(), ResponseBody::into_json)?.await
    }
}

fn acknowledged(body: ResponseBody) -> Option<String> {
    match body {
        ResponseBody::Listening(_, acknowledged) => Some(acknowledged),
        _ => None,
    }
}
