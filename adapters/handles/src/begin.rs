//! Requests that are sent now and waited for later. Calls have theirs beside `call_tool`.

use mcp_proto::client::Reference;
use mcp_proto::json::{Json, Kind};

use crate::client::ClientHandle;
use crate::error::CallError;
use crate::options::CallOptions;
use crate::pending::{Answer, PendingRequest};
use crate::request::{Request, owned};
use crate::views::{CompleteResult, PromptResult, ReadResult};

impl ClientHandle {
    /// Begins to read a resource.
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn begin_read(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<PendingRequest<ReadResult>, CallError> {
        self.start(Request::Read(uri.into()), options, |answer| json(answer).map(ReadResult::trusted))
    }

    /// Begins to get what a prompt says, with these arguments, name and value.
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn begin_prompt(
        &self,
        name: &str,
        arguments: &[(&str, &str)],
        options: CallOptions,
    ) -> Result<PendingRequest<PromptResult>, CallError> {
        let request = Request::Prompt { name: name.into(), arguments: owned(arguments) };
        self.start(request, options, |answer| json(answer).map(PromptResult::trusted))
    }

    /// Begins to ask what the value of an argument may be: see [`complete`](ClientHandle::complete).
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn begin_complete(
        &self,
        reference: Reference<'_>,
        argument: &str,
        value: &str,
        context: &[(&str, &str)],
        options: CallOptions,
    ) -> Result<PendingRequest<CompleteResult>, CallError> {
        let (prompt, name) = match reference {
            Reference::Prompt(name) => (true, name),
            Reference::Resource(uri) => (false, uri),
            _ => return Err(CallError::Unsupported),
        };
        let (name, argument, value) = (name.into(), argument.into(), value.into());
        let request = Request::Complete { prompt, name, argument, value, context: owned(context) };
        self.start(request, options, |answer| json(answer).map(CompleteResult::trusted))
    }

    /// Begins any other request, whose result is JSON. `params` is JSON text, too: an object.
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn begin_request(
        &self,
        method: &str,
        params: &str,
        options: CallOptions,
    ) -> Result<PendingRequest<String>, CallError> {
        match Json::parse(params.as_bytes()) {
            Ok(json) if json.kind() == Kind::Object => {}
            _ => return Err(CallError::Invalid("the parameters are no JSON object".into())),
        }
        self.start(Request::Other { method: method.into(), params: params.into() }, options, json)
    }
}

fn json(answer: Answer) -> Option<String> {
    match answer {
        Answer::Json(json) => Some(json),
        _ => None,
    }
}
