//! Client requests whose results are awaited later.

use mcp_proto::client::Reference;
use mcp_proto::json::{Json, Kind};

use crate::client::ClientHandle;
use crate::error::CallError;
use crate::options::CallOptions;
use crate::pending::{PendingRequest, ResponseBody};
use crate::request::{Request, owned};
use crate::views::{CompleteResult, PromptResult, ReadResult};

impl ClientHandle {
    /// Sends a request to read a resource.
    ///
    /// # Errors
    /// The request cannot be sent: see [`CallError`].
    pub fn begin_read(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<PendingRequest<ReadResult>, CallError> {
        self.start(Request::Read(uri.into()), options, |body| {
            body.into_json().map(ReadResult::from_valid_json)
        })
    }

    /// Sends a request for a prompt. `arguments` holds pairs of name and value.
    ///
    /// # Errors
    /// The request cannot be sent: see [`CallError`].
    pub fn begin_prompt(
        &self,
        name: &str,
        arguments: &[(&str, &str)],
        options: CallOptions,
    ) -> Result<PendingRequest<PromptResult>, CallError> {
        let request = Request::Prompt { name: name.into(), arguments: owned(arguments) };
        self.start(request, options, |body| body.into_json().map(PromptResult::from_valid_json))
    }

    /// Sends a completion request: see [`complete`](ClientHandle::complete).
    ///
    /// # Errors
    /// The request cannot be sent: see [`CallError`].
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
        self.start(request, options, |body| body.into_json().map(CompleteResult::from_valid_json))
    }

    /// Sends a request with any method. `params` is the JSON text of an object; the result is JSON text.
    ///
    /// # Errors
    /// The request cannot be sent: see [`CallError`].
    pub fn begin_request(
        &self,
        method: &str,
        params: &str,
        options: CallOptions,
    ) -> Result<PendingRequest<String>, CallError> {
        check_params(params)?;
        self.start(
            Request::Other { method: method.into(), params: params.into() },
            options,
            ResponseBody::into_json,
        )
    }
}

pub(crate) fn check_params(params: &str) -> Result<(), CallError> {
    match Json::parse(params.as_bytes()) {
        Ok(json) if json.kind() == Kind::Object => Ok(()),
        _ => Err(CallError::Invalid("the parameters are not a JSON object".into())),
    }
}
