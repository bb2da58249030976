//! What a client may ask about what a server offers beside tools.

use std::sync::Arc;

use mcp_proto::client::{Listed, Reference};
use mcp_proto::{Level, Ticket};

use crate::client::ClientHandle;
use crate::client_shared::Command;
use crate::error::CallError;
use crate::notifications::{Feed, Notifications, Subscription};
use crate::owned::ToolDescription;
use crate::pending::Answer;
use crate::request::{List, Request};
use crate::views::{
    CompleteResult, PromptDescription, PromptResult, ReadResult, ResourceDescription, TemplateDescription,
};

impl ClientHandle {
    /// Lists the tools, all pages of them.
    ///
    /// # Errors
    /// There is no list.
    pub async fn list_tools(&self) -> Result<Vec<ToolDescription>, CallError> {
        let entries = self.list(List::Tools).await?;
        Ok(entries.iter().filter_map(|entry| ToolDescription::from_json(entry)).collect())
    }

    /// The tool of this name. No more pages are asked for than it takes to find it.
    ///
    /// # Errors
    /// There is no list.
    pub async fn find_tool(&self, name: &str) -> Result<Option<ToolDescription>, CallError> {
        let found = self.start(Request::Find(name.into()), self.options(), entries)?.await?;
        Ok(found.iter().find_map(|entry| ToolDescription::from_json(entry)))
    }

    /// Lists the resources, all pages of them.
    ///
    /// # Errors
    /// There is no list.
    pub async fn list_resources(&self) -> Result<Vec<ResourceDescription>, CallError> {
        Ok(self.list(List::Resources).await?.into_iter().map(ResourceDescription::trusted).collect())
    }

    /// Lists the resource templates, all pages of them.
    ///
    /// # Errors
    /// There is no list.
    pub async fn list_templates(&self) -> Result<Vec<TemplateDescription>, CallError> {
        Ok(self.list(List::Templates).await?.into_iter().map(TemplateDescription::trusted).collect())
    }

    /// Lists the prompts, all pages of them.
    ///
    /// # Errors
    /// There is no list.
    pub async fn list_prompts(&self) -> Result<Vec<PromptDescription>, CallError> {
        Ok(self.list(List::Prompts).await?.into_iter().map(PromptDescription::trusted).collect())
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResult, CallError> {
        self.begin_read(uri, self.options())?.await
    }

    /// Gets what a prompt says, with these arguments, name and value.
    ///
    /// # Errors
    /// It says nothing.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &[(&str, &str)],
    ) -> Result<PromptResult, CallError> {
        self.begin_prompt(name, arguments, self.options())?.await
    }

    /// Asks what the value of an argument may be, of which so much has been typed. `context` are the arguments that have
    /// a value already.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn complete(
        &self,
        reference: Reference<'_>,
        argument: &str,
        value: &str,
        context: &[(&str, &str)],
    ) -> Result<CompleteResult, CallError> {
        self.begin_complete(reference, argument, value, context, self.options())?.await
    }

    /// Asks to be told when a resource changes: [`Notification::Updated`](crate::Notification::Updated). Only in the handshake era; in
    /// `2026-07-28` one [listens](ClientHandle::listen).
    ///
    /// # Errors
    /// The server does not tell.
    pub async fn subscribe(&self, uri: &str) -> Result<(), CallError> {
        self.send_request(Request::Subscribe(uri.into())).await.map(drop)
    }

    /// Does not want to be told any more.
    ///
    /// # Errors
    /// As [`subscribe`](ClientHandle::subscribe).
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), CallError> {
        self.send_request(Request::Unsubscribe(uri.into())).await.map(drop)
    }

    /// Asks for log messages of this level and above: [`Notification::Log`](crate::Notification::Log). Only in the handshake era; in
    /// `2026-07-28` each request [says so](crate::CallOptions::log_level).
    ///
    /// # Errors
    /// The server does not log.
    pub async fn set_log_level(&self, level: Level) -> Result<(), CallError> {
        self.send_request(Request::LogLevel(level)).await.map(drop)
    }

    /// Subscribes to changes of these lists and resources (`2026-07-28`), and waits until the server takes that up. In the
    /// handshake era changes of lists are told unasked, and those of resources after
    /// [`subscribe`](ClientHandle::subscribe): [`notices`](ClientHandle::notifications) has them.
    ///
    /// # Errors
    /// The server does not take it up.
    pub async fn listen(&self, lists: &[Listed], uris: &[&str]) -> Result<Subscription, CallError> {
        let uris = uris.iter().map(|uri| (*uri).into()).collect();
        let pending = self.start(Request::Listen { lists: lists.into(), uris }, self.options(), listening)?;
        let ours = pending.pending();
        let (ticket, acknowledged) = pending.await?;
        let notices = Notifications { feed: ours.feed.clone().unwrap_or_default() };
        Ok(Subscription { notices, acknowledged, ticket, pending: ours, hub: Arc::clone(self.hub()) })
    }

    /// Everything that the server says by itself from now on, for somebody who waits for it.
    /// `Connector::on_notification` gets it, too.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        let feed = Arc::<Feed>::default();
        self.hub().feed(&feed);
        Notifications { feed }
    }

    /// Sends any other request, and waits for its result: JSON. `params` is JSON text, too: an object.
    ///
    /// # Errors
    /// There is no result.
    pub async fn request(&self, method: &str, params: &str) -> Result<String, CallError> {
        self.begin_request(method, params, self.options())?.await
    }

    /// Asks whether the server is there.
    ///
    /// # Errors
    /// It does not say so.
    pub async fn ping(&self) -> Result<(), CallError> {
        self.send_request(Request::Ping).await.map(drop)
    }

    /// Says that the roots have changed, if the server can be told: `roots.listChanged` was
    /// declared with `Connector::on_server_request`, and the revision has it.
    pub fn roots_changed(&self) {
        self.hub().send(Command::RootsChanged);
    }

    async fn list(&self, list: List) -> Result<Vec<String>, CallError> {
        self.start(Request::List(list), self.options(), entries)?.await
    }

    async fn send_request(&self, request: Request) -> Result<String, CallError> {
        self.start(request, self.options(), json)?.await
    }
}

fn json(answer: Answer) -> Option<String> {
    match answer {
        Answer::Json(json) => Some(json),
        _ => None,
    }
}

fn entries(answer: Answer) -> Option<Vec<String>> {
    match answer {
        Answer::List(entries) => Some(entries),
        _ => None,
    }
}

fn listening(answer: Answer) -> Option<(Ticket, String)> {
    match answer {
        Answer::Listening(ticket, acknowledged) => Some((ticket, acknowledged)),
        _ => None,
    }
}
