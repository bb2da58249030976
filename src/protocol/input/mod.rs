//! What a server can ask of a client: [`ListRoots`], a [`Form`], [`OpenUrl`], [`CreateMessage`]; and how to read what
//! comes back: [`Roots`], [`ElicitResult`], [`Sampled`].
//!
//! In the handshake era a server sends requests of its own: [`Server::request`](crate::Server::request). In `2026-07-28` it
//! answers a request with what it needs, and the client sends the request again with the answers:
//! [`Call::require_input`](crate::server::Call::require_input).
//!
//! | to ask for | write | the client must have declared | read the answer |
//! |---|---|---|---|
//! | the folders to work in | [`ListRoots`] | [`ROOTS`](ClientCapabilities::ROOTS) | [`Roots::from_json`] |
//! | a form, filled in by the user | [`Form`], of [`Field`]s | [`ELICITATION_FORM`](ClientCapabilities::ELICITATION_FORM) | [`ElicitResult::from_json`] |
//! | an address, opened by the user | [`OpenUrl`] | [`ELICITATION_URL`](ClientCapabilities::ELICITATION_URL) | [`ElicitResult::from_json`] |
//! | something that a model says | [`CreateMessage`], of [`SampleMessage`]s | [`SAMPLING`](ClientCapabilities::SAMPLING) | [`Sampled::from_json`] |
//!
//! This is the server's side. What a client sees of it is an [`InputRequest`](crate::client::InputRequest).
//!
//! Specification: *Client features*; 2026-07-28, *Multi round-trip requests*.

mod content_block;
mod elicitation;
mod form_field;
mod results;
mod sampling;

pub use crate::protocol::input::content_block::Block;
pub use crate::protocol::input::elicitation::{Form, OpenUrl};
pub use crate::protocol::input::form_field::{Choice, Field};
pub use crate::protocol::input::results::{Action, ElicitResult, Root, Roots, Sampled};
pub use crate::protocol::input::sampling::{CreateMessage, ModelPreferences, SampleMessage};

#[cfg(feature = "alloc")]
use crate::buffer::Room;
pub use crate::protocol::annotations::Role;
pub use crate::protocol::sampling_options::{IncludeContext, ToolChoice};

use crate::json::Writer;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::Revision;

/// Something that a server can ask of a client: [`ListRoots`], [`Form`], [`OpenUrl`] or [`CreateMessage`].
#[expect(private_bounds, reason = "what can be asked is the protocol's")]
pub trait Input: Sealed {
    /// The method that asks for it.
    fn method(&self) -> &'static str;

    /// What the client must have declared.
    fn needs(&self) -> ClientCapabilities;

    /// The first revision that has it.
    fn since(&self) -> Revision;

    /// Whether it can be asked of a client with these capabilities in this revision.
    fn fits(&self, revision: Revision, client: ClientCapabilities) -> bool {
        revision >= self.since() && client.has(self.needs())
    }
}

#[cfg(feature = "alloc")]
impl dyn Input + '_ {
    /// What is asked, as the JSON text of an object: the parameters of its [`method`](Input::method) for a client with
    /// these capabilities in this revision. For hosts that ask from another thread, with
    /// [`Server::ask_raw`](crate::Server::ask_raw). `None`: it is not valid.
    ///
    /// ```
    /// use mcp_proto::input::{Form, Input};
    /// use mcp_proto::{ClientCapabilities, Revision};
    /// let form: &dyn Input = &Form::new("Sure?", &[]);
    /// let params = form.params(Revision::V2025_06_18, ClientCapabilities::ELICITATION_FORM).unwrap();
    /// assert_eq!(params, r#"{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}"#);
    /// ```
    #[must_use]
    pub fn params(&self, revision: Revision, client: ClientCapabilities) -> Option<alloc::string::String> {
        let mut bytes = alloc::vec::Vec::new();
        let mut out = Writer::new(Room::Grown { bytes: &mut bytes, limit: usize::MAX }, 0, usize::MAX);
        out.begin_object();
        let valid = self.write(To { revision, client }, &mut out);
        out.end_object();
        let length = out.finish().ok().filter(|_| valid)?;
        bytes.truncate(length);
        alloc::string::String::from_utf8(bytes).ok()
    }
}

/// How something that can be asked is written.
pub(crate) trait Sealed {
    /// Writes the members of the parameters. `false`: they are not valid.
    fn write(&self, to: To, out: &mut Writer<'_>) -> bool;
}

/// Whom it is written for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct To {
    pub(crate) revision: Revision,
    pub(crate) client: ClientCapabilities,
}

/// Asks for the roots: the folders that the server may work in. The answer is read with [`Roots::from_json`].
///
/// Specification: *Roots*.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListRoots;

impl Input for ListRoots {
    fn method(&self) -> &'static str {
        methods::ROOTS_LIST.name
    }

    fn needs(&self) -> ClientCapabilities {
        ClientCapabilities::ROOTS
    }

    fn since(&self) -> Revision {
        Revision::V2024_11_05
    }
}

impl Sealed for ListRoots {
    fn write(&self, _: To, _: &mut Writer<'_>) -> bool {
        true
    }
}

/// Writes `"method":…,"params":{…}`; without parameters, the method alone. `false`: they are not valid.
pub(crate) fn write_request(
    out: &mut Writer<'_>,
    method: &str,
    params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
) -> bool {
    out.field_string("method", method);
    let before = out.mark();
    out.members(r#""params":{"#);
    let empty = out.len();
    let valid = params(out);
    if out.len() == empty && !out.overflowed() {
        out.rollback(before);
    } else {
        out.end_object();
    }
    valid
}

#[cfg(test)]
mod tests;
