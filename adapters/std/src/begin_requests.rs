//! Client methods that send a request and return without waiting for its result.

use mcp_proto::client::Reference;
use mcp_proto_handles::{CallError, CallOptions, CompleteResult, PromptResult, ReadResult};

use crate::client_handle::ClientHandle;
use crate::pending::PendingRequest;

impl ClientHandle {
    /// Sends a request to read a resource, and returns without waiting for the result.
    ///
    /// ```no_run
    /// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
    /// use mcp_proto_std::CallOptions;
    ///
    /// // Both requests are in flight at once.
    /// let a = client.begin_read("file:///a", CallOptions::new())?;
    /// let b = client.begin_read("file:///b", CallOptions::new())?;
    /// println!("{:?} {:?}", a.wait()?, b.wait()?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The request cannot be sent: see [`CallError`].
    pub fn begin_read(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<PendingRequest<ReadResult>, CallError> {
        Ok(PendingRequest { inner: self.inner.begin_read(uri, options)? })
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
        Ok(PendingRequest { inner: self.inner.begin_prompt(name, arguments, options)? })
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
        Ok(PendingRequest { inner: self.inner.begin_complete(reference, argument, value, context, options)? })
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
        Ok(PendingRequest { inner: self.inner.begin_request(method, params, options)? })
    }
}
