//! Requests for resources, prompts, completion and log levels.

use crate::error::SendError;
use crate::json::Writer;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::level::Level;
use crate::protocol::methods;
use crate::protocol::objects::completion::Reference;
use crate::protocol::revision::WireFeature;

use crate::client::Client;
use crate::client::lists::{List, Properties};
use crate::client::method_properties::Method;
use crate::client::options::Options;

impl Client<'_> {
    /// Lists the resources. The client emits an [`Event::Resources`](crate::client::Event::Resources) for each page.
    /// The client requests the next page by itself.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the client is not connected. [`SendError::Unsupported`]: the server has no
    /// resources. [`SendError::Full`]: no slot is free. [`SendError::Busy`]: the transmit buffer lacks space, or
    /// reserves the space for a response. [`Event::Writable`](crate::client::Event::Writable) reports new space.
    /// [`SendError::Unwritable`]: the request does not fit into the empty transmit buffer, or the text of the slot is
    /// too short to store the `_meta` for the requests of further pages. [`SendError::Invalid`]: the `_meta` is not
    /// valid.
    pub fn list_resources(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Resources, options)
    }

    /// Lists the resource templates. The client emits an [`Event::Templates`](crate::client::Event::Templates) for each
    /// page. The client requests the next page by itself.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources).
    pub fn list_templates(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Templates, options)
    }

    /// Lists the prompts. The client emits an [`Event::Prompts`](crate::client::Event::Prompts) for each page. The
    /// client requests the next page by itself.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources). [`SendError::Unsupported`]: the server has no prompts.
    pub fn list_prompts(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Prompts, options)
    }

    pub(crate) fn list(&mut self, list: List, options: Options<'_>) -> Result<Ticket, SendError> {
        let Properties { method, capability, .. } = list.properties();
        self.require_capability(capability)?;
        self.state.begin_request_as(Method::List(list), method, options, &mut |_: &mut Writer<'_>| true)
    }

    /// Reads a resource. [`Response::resource`](crate::client::Response::resource) returns its contents.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources).
    pub fn read_resource(&mut self, uri: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_capability(ServerCapabilities::RESOURCES)?;
        self.begin_with_uri(methods::RESOURCES_READ.name, uri, options)
    }

    /// Subscribes to changes of a resource in the handshake era, which ends with revision `2025-11-25`.
    /// [`Event::Updated`](crate::client::Event::Updated) reports each change. The result of the request itself is
    /// empty.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources). [`SendError::Unsupported`]: the server has no resource
    /// subscriptions, or the revision is `2026-07-28`. In `2026-07-28`, [`listen`](Client::listen) subscribes to
    /// resources.
    pub fn subscribe(&mut self, uri: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_feature(WireFeature::ResourceSubscriptions, ServerCapabilities::RESOURCES_SUBSCRIBE)?;
        self.begin_with_uri(methods::RESOURCES_SUBSCRIBE.name, uri, options)
    }

    /// Ends a subscription to a resource (handshake era only). The result of the request is empty.
    ///
    /// # Errors
    /// Same as [`subscribe`](Client::subscribe).
    pub fn unsubscribe(&mut self, uri: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_feature(WireFeature::ResourceSubscriptions, ServerCapabilities::RESOURCES_SUBSCRIBE)?;
        self.begin_with_uri(methods::RESOURCES_UNSUBSCRIBE.name, uri, options)
    }

    pub(crate) fn begin_with_uri(
        &mut self,
        method: &str,
        uri: &str,
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        self.state.begin_request(method, options, &mut |out: &mut Writer<'_>| {
            out.field_string("uri", uri);
        })
    }

    /// Requests the messages of a prompt. `arguments` are pairs of a name and a value.
    /// [`Response::prompt`](crate::client::Response::prompt) returns the messages.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources). [`SendError::Unsupported`]: the server has no prompts.
    pub fn get_prompt(
        &mut self,
        name: &str,
        arguments: &[(&str, &str)],
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        self.require_capability(ServerCapabilities::PROMPTS)?;
        self.state.begin_request(methods::PROMPTS_GET.name, options, &mut |out: &mut Writer<'_>| {
            out.field_string("name", name);
            write_arguments(arguments, out);
        })
    }

    /// Requests proposals for the value of an argument. `value` is the prefix that the user has typed. `context`
    /// contains the arguments that already have a value. In revisions before `2025-06-18`, which do not define
    /// `context`, the client omits this member. [`Response::completion`](crate::client::Response::completion) returns
    /// the proposals.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources). [`SendError::Unsupported`]: the server has no completion. In
    /// `2024-11-05`, the client skips this check, because the revision has no capability for completion.
    pub fn complete(
        &mut self,
        reference: Reference<'_>,
        argument: &str,
        value: &str,
        context: &[(&str, &str)],
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        if self.state.has(WireFeature::CompletionsCapability) {
            self.require_capability(ServerCapabilities::COMPLETIONS)?;
        }
        let has_context = self.state.has(WireFeature::CompletionContext);
        self.state.begin_request(methods::COMPLETION_COMPLETE.name, options, &mut |out: &mut Writer<'_>| {
            reference.write(out);
            out.begin_object_at("argument");
            out.field_string("name", argument);
            out.field_string("value", value);
            out.end_object();
            if has_context && !context.is_empty() {
                out.begin_object_at("context");
                write_arguments(context, out);
                out.end_object();
            }
        })
    }

    /// Sets the minimum level of log messages (handshake era only). The result of the request is empty. In
    /// `2026-07-28`, [`Options::log_level`] sets the level of each request.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources). [`SendError::Unsupported`]: the server has no logging, or
    /// the revision is `2026-07-28`.
    pub fn set_log_level(&mut self, level: Level, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_feature(WireFeature::SessionLogLevel, ServerCapabilities::LOGGING)?;
        self.state.begin_request(methods::LOGGING_SET_LEVEL.name, options, &mut |out: &mut Writer<'_>| {
            out.field_string("level", level.as_str());
        })
    }

    fn require_feature(&self, feature: WireFeature, capability: ServerCapabilities) -> Result<(), SendError> {
        self.require_capability(capability)?;
        if self.state.has(feature) { Ok(()) } else { Err(SendError::Unsupported) }
    }
}

/// Writes the member `arguments`, an object of strings. Writes nothing if there are no arguments.
fn write_arguments(arguments: &[(&str, &str)], out: &mut Writer<'_>) {
    if arguments.is_empty() {
        return;
    }
    out.begin_object_at("arguments");
    for (name, value) in arguments {
        out.field_string(name, value);
    }
    out.end_object();
}
