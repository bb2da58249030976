//! `EncodedInput`: an input request as text, for another thread.

use alloc::string::String;

use crate::json::Writer;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::{Input, Sealed, To};
use crate::protocol::revision::{Revision, Revisions};

/// An input request that owns its data, encoded for one revision and the capabilities of one client.
///
/// A thread that needs input passes this value to the thread that owns the server.
///
/// ```
/// use mcp_proto::input::{EncodedInput, Form, Input};
/// use mcp_proto::{ClientCapabilities, Revision};
///
/// let form = Form::new("Sure?", &[]);
/// let client = ClientCapabilities::ELICITATION_FORM;
/// let input = EncodedInput::new(&form, Revision::V2026_07_28, client).unwrap();
/// assert_eq!(input.method(), "elicitation/create");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedInput {
    method: String,
    /// The JSON text of an object.
    params: String,
    needs: ClientCapabilities,
    revision: Revision,
}

impl EncodedInput {
    /// Encodes an input request. Returns `None` if the request is not valid.
    #[must_use]
    pub fn new(input: &dyn Input, revision: Revision, client: ClientCapabilities) -> Option<EncodedInput> {
        let params = input.params(revision, client)?;
        Some(EncodedInput { method: input.method().into(), params, needs: input.needs(), revision })
    }
}

impl Input for EncodedInput {
    fn method(&self) -> &str {
        &self.method
    }

    fn needs(&self) -> ClientCapabilities {
        self.needs
    }

    fn revisions(&self) -> Revisions {
        Revisions::only(self.revision)
    }
}

impl Sealed for EncodedInput {
    fn write(&self, _: To, out: &mut Writer<'_>) -> bool {
        let members = self.params.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        if let Some(members) = members.filter(|members| !members.is_empty()) {
            out.members(members);
        }
        true
    }
}
