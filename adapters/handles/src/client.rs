//! The handle of a client: what anybody may do with one connection.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::json;
use serde_core::Serialize;

use crate::client_shared::ClientShared;
use crate::error::CallError;
use crate::options::CallOptions;
use crate::owned::{CallResult, ServerDetails};
use crate::pending::{Answer, Pending, PendingCall, PendingRequest};
use crate::request::Request;

/// A client that is connected. Clones share the connection, and any number of tasks may use it at once; it is
/// closed when it is told to, or when the last clone is dropped.
///
/// Whatever it is asked for is a future. A future that is dropped is a request that is cancelled: the server is told so.
///
/// ```no_run
/// # async fn example(client: &mcp_proto_handles::ClientHandle) -> Result<(), mcp_proto_handles::CallError> {
/// for tool in client.list_tools().await? {
///     println!("{}: {}", tool.name, tool.description.unwrap_or_default());
/// }
/// let result = client.call_json("echo", r#"{"message":"hi"}"#).await?;
/// println!("{}", result.text().unwrap_or_default());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ClientHandle {
    inner: Arc<Inner>,
    options: CallOptions,
}

struct Inner {
    hub: Arc<ClientShared>,
    details: ServerDetails,
}

impl ClientHandle {
    /// Calls a tool, and waits for its result.
    ///
    /// A tool that ran and failed has a result, too: see [`CallResult::is_error`].
    ///
    /// # Errors
    /// There is no result.
    pub fn call_tool<A: Serialize + ?Sized>(
        &self,
        tool: &str,
        arguments: &A,
    ) -> impl Future<Output = Result<CallResult, CallError>> + use<A> {
        // What is sent is written now, so that the future keeps nothing that may not go to another thread.
        let call = json::to_string(arguments).map_err(|error| CallError::Invalid(error.to_string()));
        let call = call.map(|arguments| Request::Call { tool: tool.into(), arguments });
        let client = self.clone();
        async move { client.start(call?, client.options, result)?.await }
    }

    /// Calls a tool with arguments that are JSON text: an object.
    ///
    /// # Errors
    /// There is no result.
    pub async fn call_json(&self, tool: &str, arguments: &str) -> Result<CallResult, CallError> {
        self.begin_json(tool, arguments, self.options)?.await
    }

    /// Sends a call now, to be waited for or cancelled later, and to hear of its progress.
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn begin(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<PendingCall, CallError> {
        let arguments = json::to_string(arguments).map_err(|error| CallError::Invalid(error.to_string()))?;
        self.begin_json(tool, &arguments, options)
    }

    /// The same with arguments that are JSON text: an object.
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn begin_json(
        &self,
        tool: &str,
        arguments: &str,
        options: CallOptions,
    ) -> Result<PendingCall, CallError> {
        let request = Request::Call { tool: tool.into(), arguments: arguments.into() };
        self.start(request, options, result)
    }

    pub(crate) fn start<T>(
        &self,
        request: Request,
        options: CallOptions,
        read: fn(Answer) -> Option<T>,
    ) -> Result<PendingRequest<T>, CallError> {
        let pending = Pending::new(request, options);
        self.inner.hub.start(Arc::clone(&pending))?;
        Ok(PendingRequest::new(pending, Arc::clone(&self.inner.hub), read))
    }

    pub(crate) fn options(&self) -> CallOptions {
        self.options
    }

    pub(crate) fn hub(&self) -> &Arc<ClientShared> {
        &self.inner.hub
    }

    /// The same client, with these options for every request that is not given others.
    #[must_use]
    pub fn with_options(&self, options: CallOptions) -> ClientHandle {
        ClientHandle { inner: Arc::clone(&self.inner), options }
    }

    /// The server: its name, what it can do, and the revision that both speak.
    #[must_use]
    pub fn server(&self) -> &ServerDetails {
        &self.inner.details
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.hub.is_over()
    }

    /// Ends the connection and waits for that: every request ends as [`CallError::Closed`]. What is unsent is written for as
    /// long as the grace lasts ([`Timeouts::grace`](mcp_proto::client::Timeouts::grace)). A child process gets its stdin closed
    /// and some time to end; then it is told to end, then killed. How it ended comes back.
    pub async fn close(&self) -> Option<ExitStatus> {
        self.inner.hub.close(None);
        self.inner.hub.ended().await
    }

    /// The same, with this time for what is unsent.
    pub async fn close_within(&self, time: Duration) -> Option<ExitStatus> {
        self.inner.hub.close(Some(time));
        self.inner.hub.ended().await
    }
}

pub(crate) fn result(answer: Answer) -> Option<CallResult> {
    match answer {
        Answer::Json(json) => Some(CallResult::trusted(json)),
        _ => None,
    }
}

impl ClientShared {
    /// The handle of a client that has connected.
    #[must_use]
    pub fn handle(self: &Arc<Self>, details: ServerDetails) -> ClientHandle {
        let inner = Inner { hub: Arc::clone(self), details };
        ClientHandle { inner: Arc::new(inner), options: CallOptions::new() }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.hub.close(None);
    }
}

impl std::fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientHandle").field("server", &self.inner.details).finish_non_exhaustive()
    }
}
