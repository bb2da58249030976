//! Feature `Completion`: `completion/complete` for prompts and resource templates.
//!
//! Specification: *Server features*, *Utilities*, *Completion*.
#![allow(clippy::as_conversions, reason = "`usize` has at most 64 bits")]

use crate::error::{ConfigError, ProtocolError};
use crate::json::{Chars, Span, Str, WriteText, Writer};
use crate::protocol::methods::{self, Method};
use crate::protocol::objects::completion::{ReferenceView, write_completion};
use crate::protocol::objects::view::text;
use crate::protocol::revision::{Revision, WireFeature};
use crate::protocol::uri_template;
use crate::server::config::ServerConfig;
use crate::server::event::RequestParts;
use crate::server::feature::{Feature, OwnResults, Received, Request, Sealed};
use crate::server::features::catalog::{Catalog, Found, find};
use crate::server::pending_event::RequestKind;
use crate::server::reply::Reply;
use crate::server::request_methods::{request_event, request_methods};
use crate::server::server_state::Shape;

/// The feature *completion*: suggests values for prompt arguments and URI template variables.
///
/// If an argument has [`values`](crate::server::PromptArgument::values), the server completes the argument without an
/// event. For all other arguments and variables the server emits
/// [`Event::Complete`](crate::server::Event::Complete). Unless the list of prompts or templates is dynamic, the server
/// refuses requests for unknown prompts, templates, arguments and variables.
#[derive(Debug, Clone, Copy, Default)]
pub struct Completion;

impl Feature for Completion {}

impl Sealed for Completion {
    fn write_capability(&self, _: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
        if revision.has(WireFeature::CompletionsCapability) {
            out.key("completions");
            out.token("{}");
        }
    }

    fn methods(&self) -> &'static [Method] {
        &[methods::COMPLETION_COMPLETE]
    }

    fn handle<'b>(&'b self, _: usize, request: &mut Request<'_, 'b>) -> Received {
        let Some(reference) = ReferenceView::from_json(request.params.json()) else {
            let what = "`ref` must be a `ref/prompt` with a `name`, or a `ref/resource` with a `uri`";
            return request.refuse(ProtocolError::InvalidParams, &what);
        };
        let argument = request.param("argument");
        let (Some(name), Some(value)) = (text(argument, "name"), text(argument, "value")) else {
            return request.invalid_params("`argument` must have a `name` and a `value`");
        };
        let (catalog, key) = match reference {
            ReferenceView::Prompt(prompt) => (Catalog::Prompts, prompt),
            ReferenceView::Resource(uri) => (Catalog::Templates, uri),
        };
        let known = match find(request.state.config, catalog, &|entry| key == *entry) {
            Found::Absent => return refuse_unknown(request, reference),
            Found::Prompt(prompt) => {
                let argument = prompt.arguments.iter().find(|argument| name == *argument.name);
                if let Some(argument) = argument.filter(|argument| !argument.values.is_empty()) {
                    return respond(request, argument.values, value);
                }
                argument.is_some()
            }
            Found::Template(template) => uri_template::has_variable(template.uri, name),
            _ => true,
        };
        if !known {
            return request.refuse(ProtocolError::InvalidParams, &("there is no argument `", name, "`"));
        }
        request.emit_with_params(RequestKind::Complete, Span::MISSING, Complete::event)
    }

    fn check(&self, results: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        // Every response must have space for at least an empty list of values.
        results.measure(Shape::Result, &mut |out: &mut Writer<'_>| {
            write_completion(out, Some(u64::MAX), &mut |_: &mut Writer<'_>| false)
        });
        Ok(())
    }
}

/// Refuses completion for an unknown prompt or template.
fn refuse_unknown(request: &mut Request<'_, '_>, reference: ReferenceView<'_>) -> Received {
    match reference {
        ReferenceView::Prompt(name) => request.refuse(ProtocolError::UnknownPrompt, &name),
        ReferenceView::Resource(uri) => {
            request.refuse(ProtocolError::InvalidParams, &("unknown resource template: ", uri))
        }
    }
}

/// Responds with the values that begin with `typed`.
fn respond(request: &mut Request<'_, '_>, values: &[&str], typed: Str<'_>) -> Received {
    let begins = |value: &&&str| begins_with(**value, typed.chars());
    let total = values.iter().filter(begins).count() as u64;
    let mut fitting = values.iter().filter(begins);
    request.result(&mut |out: &mut Writer<'_>| {
        write_completion(out, Some(total), &mut |out: &mut Writer<'_>| {
            fitting.next().inspect(|value| out.string(value)).is_some()
        });
    })
}

/// Returns whether a value begins with the typed text.
pub(crate) fn begins_with(value: &(impl WriteText + ?Sized), mut typed: Chars<'_>) -> bool {
    let mut begins = true;
    value.pieces(&mut |piece| {
        begins = begins && piece.chars().all(|letter| typed.next().is_none_or(|typed| typed == letter));
    });
    begins && typed.next().is_none()
}

/// A request for completions of an argument: typed text and response methods.
///
/// Every response method consumes the request. Only [`defer`](Self::defer) can fail. On failure, this method returns
/// the request. If the application drops the request, the next poll responds with an error (-32603).
///
/// ```
/// use mcp_proto::server::Complete;
/// fn answer(request: Complete<'_>) {
///     let typed = request.value().to_string();
///     let fitting = (0..1000).filter(|number: &u32| number.to_string().starts_with(&typed));
///     request.values(fitting);
/// }
/// ```
///
/// Specification: *Completion*.
#[must_use = "a request needs a response"]
#[derive(Debug)]
pub struct Complete<'a> {
    pub(crate) parts: RequestParts<'a>,
}

impl<'a> Complete<'a> {
    /// Returns the prompt or resource template that has the argument.
    #[must_use]
    pub fn reference(&self) -> ReferenceView<'a> {
        // `handle` has validated the reference.
        ReferenceView::from_json(self.parts.params()).unwrap_or(ReferenceView::Prompt(Str::trusted(b"")))
    }

    /// Returns the name of the argument.
    #[must_use]
    pub fn argument(&self) -> Str<'a> {
        self.text("argument", "name").unwrap_or(Str::trusted(b""))
    }

    /// Returns the text that the user has typed so far.
    #[must_use]
    pub fn value(&self) -> Str<'a> {
        self.text("argument", "value").unwrap_or(Str::trusted(b""))
    }

    /// Returns the value that another argument already has (since `2025-06-18`). Returns `None` if the client did not
    /// send the value, or if the value is not a string.
    #[must_use]
    pub fn context(&self, name: &str) -> Option<Str<'a>> {
        self.parts.params().get("context")?.get("arguments")?.get(name)?.string()
    }

    fn text(&self, part: &str, name: &str) -> Option<Str<'a>> {
        text(self.parts.params().get(part)?, name)
    }

    /// Responds with values, the best first. Sends at most 100 values, or fewer if the buffer has no space. The member
    /// `hasMore` reports omitted values.
    pub fn values<V: WriteText>(self, values: impl IntoIterator<Item = V>) {
        self.parts.reply.values(None, values);
    }

    /// Responds with the values that begin with the typed text.
    pub fn matching<V: WriteText>(self, values: impl IntoIterator<Item = V>) {
        let typed = self.value();
        self.values(values.into_iter().filter(|value| begins_with(value, typed.chars())));
    }

    /// Responds like [`values`](Self::values). `total` is the number of all values, including omitted ones.
    pub fn values_of<V: WriteText>(self, total: u64, values: impl IntoIterator<Item = V>) {
        self.parts.reply.values(Some(total), values);
    }
}

request_event!(Complete, Complete);
request_methods!(Complete);

impl Reply<'_> {
    /// Responds to [`Complete`] with values, the best first. Sends at most 100 values, or fewer if the buffer has no
    /// space.
    ///
    /// The member `hasMore` reports omitted values. `total` is the number of all values, including omitted ones, if
    /// known.
    pub fn values<V: WriteText>(self, total: Option<u64>, values: impl IntoIterator<Item = V>) {
        let fits = matches!(self.pending.context.kind, RequestKind::Complete);
        let mut values = values.into_iter();
        self.result(fits, Shape::Result, &mut |out: &mut Writer<'_>| {
            write_completion(out, total, &mut |out: &mut Writer<'_>| {
                values.next().inspect(|value| out.display(value)).is_some()
            });
        });
    }
}
