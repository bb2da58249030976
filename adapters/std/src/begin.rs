//! Requests that are sent now and waited for later. Calls have theirs beside [`ClientHandle::call`].

use mcp_proto::client::Reference;
use mcp_proto_handles::{CallError, CallOptions, CompleteResult, PromptResult, ReadResult};

use crate::client::ClientHandle;
use crate::pending::PendingRequest;

impl ClientHandle {
    /// Begins to read a resource.
    ///
    /// ```no_run
    /// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
    /// use mcp_proto_std::CallOptions;
    ///
    /// // Both are on their way at once.
    /// let a = client.begin_read("file:///a", CallOptions::new())?;
    /// let b = client.begin_read("file:///b", CallOptions::new())?;
    /// println!("{:?} {:?}", a.wait()?, b.wait()?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn begin_read(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<PendingRequest<ReadResult>, CallError> {
        Ok(PendingRequest { inner: self.inner.begin_read(uri, options)? })
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
        Ok(PendingRequest { inner: self.inner.begin_prompt(name, arguments, options)? })
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
        Ok(PendingRequest { inner: self.inner.begin_complete(reference, argument, value, context, options)? })
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
        Ok(PendingRequest { inner: self.inner.begin_request(method, params, options)? })
    }
}
