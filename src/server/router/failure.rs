//! `HandlerError`: the errors that a handler can return, and `Failure`, one type for all of them.

#[cfg(feature = "alloc")]
use alloc::string::{String, ToString};

use crate::json::WriteText;
#[cfg(feature = "alloc")]
use crate::json::{Json, to_string};
#[cfg(feature = "alloc")]
use crate::protocol::capabilities::ClientCapabilities;
#[cfg(feature = "alloc")]
use crate::protocol::revision::WireFeature;
use crate::rpc::code;
use crate::server::features::completion::Complete;
use crate::server::reply::Reply;

/// The error of a handler: a text, or with the feature `alloc` a [`Failure`].
///
/// A text is a value that implements [`WriteText`], such as the errors of this crate and of the adapters. For any other
/// error, return a [`Failure`], into which `?` converts each error that implements `Display`.
///
/// A text becomes a failure of the tool (`isError`), or the message of an error (-32603) for any other request.
#[diagnostic::on_unimplemented(
    message = "a handler cannot return the error `{Self}`",
    note = "the error is a text or a `server::Failure`, into which `?` converts every error that implements `Display`"
)]
pub trait HandlerError {
    /// Responds to a tool call with this error.
    fn fail(self, reply: Reply<'_>);

    /// Responds to any other request with this error.
    fn refuse(self, reply: Reply<'_>);

    /// Returns the text of the error. Returns `None` for a [`Failure`] with a code of its own or a missing capability.
    fn text(&self) -> Option<&dyn WriteText>;
}

impl<E: WriteText> HandlerError for E {
    fn fail(self, reply: Reply<'_>) {
        reply.fail(self);
    }

    fn refuse(self, reply: Reply<'_>) {
        reply.error(code::INTERNAL_ERROR, self);
    }

    fn text(&self) -> Option<&dyn WriteText> {
        Some(self)
    }
}

/// The error of a handler: a text, or a JSON-RPC error.
///
/// `?` converts each type that implements `Display` into a text. The text of a tool's failure is for the model.
///
/// ```
/// use mcp_proto::server::Failure;
/// use mcp_proto::tool;
///
/// /// Reads the host name.
/// #[tool]
/// fn host_name() -> Result<String, Failure> {
///     let name = std::fs::read_to_string("/etc/hostname")?;
///     if name.is_empty() { Err("this computer has no name")? }
///     Ok(name)
/// }
/// ```
///
/// [`error`](Failure::error) and [`error_with`](Failure::error_with) create a JSON-RPC error, which is for the
/// application of the client. [`missing_capability`](Failure::missing_capability) creates the error -32021, which only
/// `2026-07-28` has.
///
/// ```
/// use mcp_proto::rpc::code;
/// use mcp_proto::server::Failure;
/// use mcp_proto::{ToolArguments, complete, prompt, tool};
/// # fn account(id: u32) -> Option<String> { (id == 1).then(|| "Ada".into()) }
///
/// #[derive(ToolArguments)]
/// struct Account {
///     id: u32,
/// }
///
/// /// Asks for a summary of an account.
/// #[prompt]
/// fn summary(Account { id }: Account) -> Result<String, Failure> {
///     let unknown = || Failure::error_with(code::INVALID_PARAMS, format_args!("unknown account {id}"), &id);
///     let name = account(id).ok_or_else(unknown)?;
///     Ok(format!("Summarize the account of {name}."))
/// }
///
/// #[complete(prompt = "summary", argument = "id")]
/// fn ids() -> Result<Vec<u32>, Failure> {
///     Err(Failure::error(-1, "the database is offline"))
/// }
/// ```
#[cfg(feature = "alloc")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    message: String,
    kind: Kind,
}

#[cfg(feature = "alloc")]
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text,
    /// A JSON-RPC error. `data` is the JSON text of the member `data`.
    Error {
        code: i32,
        data: Option<String>,
    },
    MissingCapability(ClientCapabilities),
}

#[cfg(feature = "alloc")]
impl Failure {
    /// Creates a JSON-RPC error. Choose application codes outside of -32768 to -32000.
    #[must_use]
    pub fn error(code: i32, message: impl core::fmt::Display) -> Failure {
        Failure { message: message.to_string(), kind: Kind::Error { code, data: None } }
    }

    /// Creates a JSON-RPC error with the member `data`. The error has no `data` if the value does not serialize.
    #[must_use]
    pub fn error_with<T: serde_core::Serialize + ?Sized>(
        code: i32,
        message: impl core::fmt::Display,
        data: &T,
    ) -> Failure {
        let data = to_string(data).ok();
        Failure { message: message.to_string(), kind: Kind::Error { code, data } }
    }

    /// Creates the failure of a request that needs capabilities which the client did not declare.
    ///
    /// In `2026-07-28`, the failure is the JSON-RPC error -32021, whose `data.requiredCapabilities` contains `missing`.
    /// In earlier revisions, which have no such error, the failure is a text.
    #[must_use]
    pub fn missing_capability(missing: ClientCapabilities, message: impl core::fmt::Display) -> Failure {
        Failure { message: message.to_string(), kind: Kind::MissingCapability(missing) }
    }

    /// Responds with the JSON-RPC error, or passes the text to `respond`.
    fn respond<'r>(self, reply: Reply<'r>, respond: fn(String, Reply<'r>)) {
        let Failure { message, kind } = self;
        match kind {
            Kind::Error { code, data: None } => reply.error(code, message),
            Kind::Error { code, data: Some(data) } => {
                reply.error_with(code, message, |out| out.json(Json::trusted(data.as_bytes())));
            }
            Kind::MissingCapability(missing) => {
                if let Some(reply) = respond_missing(reply, missing, &message) {
                    respond(message, reply);
                }
            }
            Kind::Text => respond(message, reply),
        }
    }
}

#[cfg(feature = "alloc")]
impl HandlerError for Failure {
    fn fail(self, reply: Reply<'_>) {
        self.respond(reply, String::fail);
    }

    fn refuse(self, reply: Reply<'_>) {
        self.respond(reply, String::refuse);
    }

    fn text(&self) -> Option<&dyn WriteText> {
        match self.kind {
            Kind::Text => Some(&self.message),
            _ => None,
        }
    }
}

#[cfg(feature = "alloc")]
impl<E: core::fmt::Display> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure { message: error.to_string(), kind: Kind::Text }
    }
}

/// Returns the text of a failure whose reason is that the client did not declare these capabilities.
#[cfg(feature = "alloc")]
#[must_use]
pub fn missing_text(missing: ClientCapabilities) -> String {
    alloc::format!("the client did not declare the capability {missing}")
}

/// Responds with the error -32021 if a handler failed because the client lacks `missing`, and the revision has this
/// error. Otherwise returns the reply. `failure` is the text of the failure, or `None` if the handler returned no such
/// text. The lack of `missing` is the reason if `failure` equals [`missing_text`] for these capabilities.
#[cfg(feature = "alloc")]
pub fn unless_missing<'r>(
    reply: Reply<'r>,
    missing: ClientCapabilities,
    failure: Option<&dyn WriteText>,
) -> Option<Reply<'r>> {
    let mut text = String::new();
    if let Some(failure) = failure {
        failure.pieces(&mut |piece| text.push_str(piece));
    }
    if missing == ClientCapabilities::NONE || text != missing_text(missing) {
        return Some(reply);
    }
    respond_missing(reply, missing, &text)
}

/// Responds with the error -32021. Returns the reply if the revision does not have this error.
#[cfg(feature = "alloc")]
fn respond_missing<'r>(reply: Reply<'r>, missing: ClientCapabilities, message: &str) -> Option<Reply<'r>> {
    if !reply.revision().has(WireFeature::MissingCapabilityCode) {
        return Some(reply);
    }
    reply.error_with(code::MISSING_CLIENT_CAPABILITY, message, |out| {
        out.begin_object();
        out.key("requiredCapabilities");
        missing.write(out);
        out.end_object();
    });
    None
}

/// Responds to a completion with an error.
pub fn refuse(request: Complete<'_>, error: impl HandlerError) {
    error.refuse(request.parts.reply);
}
