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
use crate::client::lists::List;
use crate::client::method::Method;
use crate::client::options::Options;

impl Client<'_> {
    /// Lists the resources, page by page: [`Event::Resources`](crate::client::Event::Resources) for each page. The
    /// client requests the next page by itself.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the client is not connected. [`SendError::Unsupported`]: the server has no
    /// resources. [`SendError::Full`]: no slot is free. [`SendError::Busy`]: there is no space yet;
    /// [`Event::Writable`](crate::client::Event::Writable) reports when there is. [`SendError::Unwritable`]: the
    /// request is larger than the transmit buffer, or its `_meta` is not valid.
    pub fn list_resources(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Resources, options)
    }

    /// Lists the resource templates, page by page: [`Event::Templates`](crate::client::Event::Templates) for each page.
    /// The client requests the next page by itself.
    ///
    /// # Errors
    /// As [`list_resources`](Client::list_resources).
    pub fn list_templates(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Templates, options)
    }

    /// Lists the prompts, page by page: [`Event::Prompts`](crate::client::Event::Prompts) for each page. The client
    /// requests the next page by itself.
    ///
    /// # Errors
    /// As [`list_resources`](Client::list_resources); [`SendError::Unsupported`]: the server has no prompts.
    pub fn list_prompts(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Prompts, options)
    }

    pub(crate) fn list(&mut self, list: List, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_capability(list.capability())?;
        self.state.begin_request_as(Method::List(list), list.method(), options, &mut |_| true)
    }

    /// Reads a resource. The response has its contents: [`Response::resource`](crate::client::Response::resource).
    ///
    /// # Errors
    /// As [`list_resources`](Client::list_resources).
    pub fn read_resource(&mut self, uri: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_capability(ServerCapabilities::RESOURCES)?;
        self.begin_with_uri(methods::RESOURCES_READ.name, uri, options)
    }

    /// Subscribes to changes of a resource, reported as [`Event::Updated`](crate::client::Event::Updated). The result
    /// is empty. Only in the handshake era.
    ///
    /// # Errors
    /// As [`list_resources`](Client::list_resources); [`SendError::Unsupported`]: the server has no resource
    /// subscriptions, or the revision is `2026-07-28`, which uses [`listen`](Client::listen) instead.
    pub fn subscribe(&mut self, uri: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_feature(WireFeature::ResourceSubscriptions, ServerCapabilities::RESOURCES_SUBSCRIBE)?;
        self.begin_with_uri(methods::RESOURCES_SUBSCRIBE.name, uri, options)
    }

    /// Cancels a subscription to a resource. The result is empty.
    ///
    /// # Errors
    /// As [`subscribe`](Client::subscribe).
    pub fn unsubscribe(&mut self, uri: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_feature(WireFeature::ResourceSubscriptions, ServerCapabilities::RESOURCES_SUBSCRIBE)?;
        self.begin_with_uri(methods::RESOURCES_UNSUBSCRIBE.name, uri, options)
    }

    fn begin_with_uri(&mut self, method: &str, uri: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.state.begin_request(method, options, &mut |out| {
            out.field_string("uri", uri);
            true
        })
    }

    /// Gets the messages of a prompt for these arguments, pairs of name and value:
    /// [`Response::prompt`](crate::client::Response::prompt).
    ///
    /// # Errors
    /// As [`list_resources`](Client::list_resources); [`SendError::Unsupported`]: the server has no prompts.
    pub fn get_prompt(
        &mut self,
        name: &str,
        arguments: &[(&str, &str)],
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        self.require_capability(ServerCapabilities::PROMPTS)?;
        self.state.begin_request(methods::PROMPTS_GET.name, options, &mut |out| {
            out.field_string("name", name);
            write_arguments(arguments, out);
            true
        })
    }

    /// Requests proposals for the value of an argument, given its prefix `value`:
    /// [`Response::completion`](crate::client::Response::completion). `context` contains the arguments that have a
    /// value already. Revisions before `2025-06-18` have no context, and the client omits it.
    ///
    /// # Errors
    /// As [`list_resources`](Client::list_resources); [`SendError::Unsupported`]: the server has no completion.
    /// `2024-11-05` has no such capability, so the request always goes out.
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
        self.state.begin_request(methods::COMPLETION_COMPLETE.name, options, &mut |out| {
            reference.write(out);
            out.key("argument");
            out.begin_object();
            out.field_string("name", argument);
            out.field_string("value", value);
            out.end_object();
            if has_context && !context.is_empty() {
                out.key("context");
                out.begin_object();
                write_arguments(context, out);
                out.end_object();
            }
            true
        })
    }

    /// Sets the minimum level of log messages. The result is empty. Only in the handshake era: in `2026-07-28` each
    /// request carries its level, set with [`Options::log_level`].
    ///
    /// # Errors
    /// As [`list_resources`](Client::list_resources); [`SendError::Unsupported`]: the server has no logging, or the
    /// revision is `2026-07-28`.
    pub fn set_log_level(&mut self, level: Level, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_feature(WireFeature::SessionLogLevel, ServerCapabilities::LOGGING)?;
        self.state.begin_request(methods::LOGGING_SET_LEVEL.name, options, &mut |out| {
            out.field_string("level", level.as_str());
            true
        })
    }

    fn require_feature(&self, feature: WireFeature, capability: ServerCapabilities) -> Result<(), SendError> {
        self.require_capability(capability)?;
        if self.state.has(feature) { Ok(()) } else { Err(SendError::Unsupported) }
    }
}

/// Writes `arguments`, a map of strings, unless it is empty.
fn write_arguments(arguments: &[(&str, &str)], out: &mut Writer<'_>) {
    if arguments.is_empty() {
        return;
    }
    out.key("arguments");
    out.begin_object();
    for (name, value) in arguments {
        out.field_string(name, value);
    }
    out.end_object();
}
