//! Input requests that a server sends to a client, and their results.
//!
//! A server requests input with [`ListRoots`], a [`Form`], [`OpenUrl`] or [`CreateMessage`]. The server reads the
//! results with [`RootsView`], [`ElicitResultView`] and [`SampledView`].
//!
//! In the handshake era, a server sends the requests with [`Server::request`](crate::Server::request). In `2026-07-28`,
//! the server responds to a client's request with input requests:
//! [`Call::require_input`](crate::server::Call::require_input). The client then sends its request again with the input
//! responses. [`InputRequests`](crate::server::InputRequests) hides the difference between the two eras from
//! the tools of a server.
//!
//! | Input | Type | Required capability | Result |
//! |---|---|---|---|
//! | the directories to work in | [`ListRoots`] | [`ROOTS`](ClientCapabilities::ROOTS) | [`RootsView::from_json`] |
//! | a form, filled in by the user | [`Form`], of [`Field`]s | [`ELICITATION_FORM`](ClientCapabilities::ELICITATION_FORM) | [`ElicitResultView::from_json`] |
//! | a URL, opened by the user | [`OpenUrl`] | [`ELICITATION_URL`](ClientCapabilities::ELICITATION_URL) | [`ElicitResultView::from_json`] |
//! | a model's message | [`CreateMessage`], of [`SampleMessage`]s | [`SAMPLING`](ClientCapabilities::SAMPLING) | [`SampledView::from_json`] |
//! | a method of an extension | [`OtherRequest`] | nothing | [`Response::outcome`](crate::server::Response::outcome) |
//!
//! A [`CreateMessage`] with tools, a tool choice or tool results also requires
//! [`SAMPLING_TOOLS`](ClientCapabilities::SAMPLING_TOOLS).
//!
//! A server requests input with the types in the table above. The types in the following table carry the requests, or
//! the responses to the requests:
//!
//! | Type | Side | Purpose |
//! |---|---|---|
//! | [`client::ServerRequest`](crate::client::ServerRequest) | the client | a request of the handshake era, with the right to respond |
//! | [`client::InputRequired`](crate::client::InputRequired) | the client | all input that a call of `2026-07-28` needs |
//! | [`client::InputRequest`](crate::client::InputRequest) | the client | a view of one input request |
//! | [`client::InputResponses`](crate::client::InputResponses) | the client | writes the responses to `InputRequired` |
//! | [`server::Response`](crate::server::Response) | the server | the response to a request of the handshake era |
//!
//! Specification: *Client features*; 2026-07-28, *Multi round-trip requests*.

#[cfg(feature = "alloc")]
mod encoded_input;
mod other_request;

pub use crate::protocol::elicitation::choice::Choice;
pub use crate::protocol::elicitation::field::Field;
pub use crate::protocol::elicitation::result::{ElicitAction, ElicitResultView};
pub use crate::protocol::elicitation::{Form, OpenUrl};
#[cfg(feature = "alloc")]
pub use crate::protocol::input::encoded_input::EncodedInput;
pub use crate::protocol::input::other_request::OtherRequest;
pub use crate::protocol::roots::{ListRoots, RootView, RootsView};
pub use crate::protocol::sampling::CreateMessage;
pub use crate::protocol::sampling::block::Block;
pub use crate::protocol::sampling::message::SampleMessage;
pub use crate::protocol::sampling::model_preferences::ModelPreferences;
pub use crate::protocol::sampling::result::SampledView;

#[cfg(feature = "alloc")]
use crate::buffer::BufferMut;

use crate::json::Writer;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::revision::{Revision, Revisions};

/// An input request of a server, such as [`ListRoots`], [`Form`] or [`CreateMessage`].
#[expect(private_bounds, reason = "the protocol defines the set of input requests")]
pub trait Input: Sealed {
    /// Returns the method of the request.
    fn method(&self) -> &str;

    /// Returns the capabilities that the client must have declared.
    fn needs(&self) -> ClientCapabilities;

    /// Returns the revisions in which a server may send the request.
    fn revisions(&self) -> Revisions;

    /// Returns whether a client with these capabilities accepts the request in this revision.
    fn fits(&self, revision: Revision, client: ClientCapabilities) -> bool {
        self.revisions().contains(revision) && client.has(self.needs())
    }
}

#[cfg(feature = "alloc")]
impl dyn Input + '_ {
    /// Returns the parameters of the [`method`](Input::method) as the JSON text of an object. Returns `None` if the
    /// request is not valid.
    ///
    /// The parameters depend on the revision and on the capabilities of the client. To pass an input request to
    /// another thread, use an [`EncodedInput`].
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
        let mut out = Writer::new(BufferMut::Grown { bytes: &mut bytes, limit: usize::MAX }, 0, usize::MAX);
        out.begin_object();
        let valid = self.write(To { revision, client }, &mut out);
        out.end_object();
        let length = out.finish().filter(|_| valid)?;
        bytes.truncate(length);
        alloc::string::String::from_utf8(bytes).ok()
    }
}

/// The private part of [`Input`], which writes the parameters.
pub(crate) trait Sealed {
    /// Writes the members of the parameters. Returns `false` if the parameters are not valid.
    fn write(&self, recipient: To, out: &mut Writer<'_>) -> bool;
}

/// The recipient of an input request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct To {
    pub(crate) revision: Revision,
    pub(crate) client: ClientCapabilities,
}

#[cfg(test)]
mod tests;
