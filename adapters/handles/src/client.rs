//! The async handle of a connected client.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::json;
use serde_core::Serialize;

use crate::client_shared::ClientShared;
use crate::error::CallError;
use crate::options::CallOptions;
use crate::owned::{ServerDetails, TaskUpdate};
use crate::pending::{PendingCall, PendingRequest, RequestState, ResponseBody};
use crate::request::Request;
use crate::task::TaskCall;
use crate::views::CallResult;

/// The handle of a connected client.
///
/// Clones share the connection, and any number of async tasks may use it concurrently. The connection closes on
/// [`close`](ClientHandle::close), or when the last clone is dropped.
///
/// Dropping the future of a request cancels the request and notifies the server.
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
    shared: Arc<ClientShared>,
    details: ServerDetails,
}

impl ClientHandle {
    /// Calls a tool and waits for its result.
    ///
    /// A tool that ran and failed also returns a result: see [`CallResult::is_error`].
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call_tool<A: Serialize + ?Sized>(
        &self,
        tool: &str,
        arguments: &A,
    ) -> impl Future<Output = Result<CallResult, CallError>> + use<A> {
        // Serialize the arguments before the future is created, so that the future is `Send` even if the arguments are
        // not `Send`.
        let call = json::to_string(arguments).map_err(|error| CallError::Invalid(error.to_string()));
        let call = call.map(|arguments| Request::Call { tool: tool.into(), arguments });
        let client = self.clone();
        async move { client.start(call?, client.options, ResponseBody::into_call_result)?.await }
    }

    /// Calls a tool. `arguments` is the JSON text of an object.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call_json(&self, tool: &str, arguments: &str) -> Result<CallResult, CallError> {
        self.begin_json(tool, arguments, self.options)?.await
    }

    /// Sends a tool call without waiting for its result. Awaiting the [`PendingCall`] returns the result. The methods
    /// of the `PendingCall` cancel the call and report progress.
    ///
    /// # Errors
    /// [`CallError::Busy`] or [`CallError::Closed`]: the request cannot be sent. [`CallError::Invalid`]: the
    /// arguments do not serialize. If the arguments serialize to anything but an object, the call ends with
    /// [`CallError::Invalid`].
    pub fn begin(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<PendingCall, CallError> {
        let arguments = json::to_string(arguments).map_err(|error| CallError::Invalid(error.to_string()))?;
        self.begin_json(tool, &arguments, options)
    }

    /// Like [`begin`](ClientHandle::begin), but `arguments` is the JSON text of an object.
    ///
    /// # Errors
    /// [`CallError::Busy`] or [`CallError::Closed`]: the request cannot be sent. If `arguments` is not an object, the
    /// call ends with [`CallError::Invalid`].
    pub fn begin_json(
        &self,
        tool: &str,
        arguments: &str,
        options: CallOptions,
    ) -> Result<PendingCall, CallError> {
        let request = Request::Call { tool: tool.into(), arguments: arguments.into() };
        self.start(request, options, ResponseBody::into_call_result)
    }

    /// Calls a tool, and returns as soon as the call has become a task or has its result.
    ///
    /// The call can become a task only if the settings have enabled [`tasks`](crate::ClientSettings::tasks), and the
    /// server declares tasks. If `options` has no [`task`](CallOptions::task), the server chooses the time to live of
    /// the task (`2025-11-25`). A server of `2025-11-25` that declares tasks refuses the call if the tool does not
    /// support tasks.
    ///
    /// ```no_run
    /// # use mcp_proto_handles::{CallError, CallOptions, ClientHandle, TaskCall};
    /// # use std::collections::BTreeMap;
    /// # fn store(id: &str) {}
    /// # async fn example(client: &ClientHandle) -> Result<(), CallError> {
    /// match client.call_task("build", &BTreeMap::from([("target", "all")]), CallOptions::new()).await? {
    ///     TaskCall::Task { id, call } => {
    ///         store(&id);
    ///         println!("{:?}", call.await?.text());
    ///     }
    ///     TaskCall::Result(result) => println!("{:?}", result.text()),
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call_task<A: Serialize + ?Sized>(
        &self,
        tool: &str,
        arguments: &A,
        options: CallOptions,
    ) -> impl Future<Output = Result<TaskCall, CallError>> + use<A> {
        let begun = self.begin(tool, arguments, options.or_task());
        async move {
            let mut call = begun?;
            while let Some(progress) = call.progress().await {
                if let Some(TaskUpdate { id, .. }) = progress.task {
                    return Ok(TaskCall::Task { id, call });
                }
            }
            call.await.map(TaskCall::Result)
        }
    }

    /// Follows a task of an earlier connection, for example after a restart of the application. The [`PendingCall`]
    /// returns the result of the tool.
    ///
    /// [`Progress::task`](crate::Progress::task) has the id of a task. [`CallOptions::maximum`] limits the time for the
    /// task; by default, [`TaskLimits::maximum`](mcp_proto::client::TaskLimits::maximum) does.
    ///
    /// # Errors
    /// [`CallError::Busy`] or [`CallError::Closed`]: the request cannot be sent. If the client or the server does not
    /// declare [`tasks`](crate::ClientSettings::tasks), the call ends with [`CallError::Unsupported`].
    pub fn resume_task(&self, id: &str, options: CallOptions) -> Result<PendingCall, CallError> {
        self.start(Request::Task(id.into()), options, ResponseBody::into_call_result)
    }

    pub(crate) fn start<T>(
        &self,
        request: Request,
        options: CallOptions,
        read: fn(ResponseBody) -> Option<T>,
    ) -> Result<PendingRequest<T>, CallError> {
        let state = RequestState::new(request, options);
        self.inner.shared.start(Arc::clone(&state))?;
        Ok(PendingRequest::new(state, Arc::clone(&self.inner.shared), read))
    }

    pub(crate) fn options(&self) -> CallOptions {
        self.options
    }

    pub(crate) fn shared(&self) -> &Arc<ClientShared> {
        &self.inner.shared
    }

    /// Returns a handle with these default options for its requests.
    #[must_use]
    pub fn with_options(&self, options: CallOptions) -> ClientHandle {
        ClientHandle { inner: Arc::clone(&self.inner), options }
    }

    /// Returns the server's name and capabilities, and the negotiated revision.
    #[must_use]
    pub fn server(&self) -> &ServerDetails {
        &self.inner.details
    }

    /// Returns the process id of the server. Returns `None` if the server is not a child process, or if the client has
    /// begun to stop the process.
    ///
    /// The id changes when the client [reconnects](crate::Reconnect).
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.inner.shared.process_id()
    }

    /// Returns whether the connection is closed. Returns `false` while the client [reconnects](crate::Reconnect).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.shared.is_closed()
    }

    /// Closes the connection. Returns the exit status of a child process. Returns `None` if the server is not a child
    /// process, or its status is unknown.
    ///
    /// Every request without a result ends with [`CallError::Closed`]. The client writes unsent messages during the
    /// grace period ([`Timeouts::grace`](mcp_proto::client::Timeouts::grace)), and then closes the stdin of a child
    /// process. Requests beyond the limit of requests in flight, or without space in the transmit buffer, are not sent.
    /// If the process does not exit in time, the client terminates and finally kills the process. The returned future
    /// waits for the end of the connection.
    pub async fn close(&self) -> Option<ExitStatus> {
        self.inner.shared.close(None);
        self.inner.shared.wait_closed().await
    }

    /// Like [`close`](ClientHandle::close), but with a time limit that holds even if the server does not cooperate.
    ///
    /// The limit also applies to a [`close`](ClientHandle::close) in progress. The first half of the time is for unsent
    /// messages and, over HTTP, for the end of the session on the server. Then the client closes the stdin of a child
    /// process. After three quarters of the time, the client sends SIGTERM on Unix, and kills the process on other
    /// systems. At the end of the time, the client kills the process. Each step may begin earlier, because the grace
    /// period and the times of [`Ending`](crate::Ending) still apply.
    pub async fn close_within(&self, time: Duration) -> Option<ExitStatus> {
        self.inner.shared.close(Some(time));
        self.inner.shared.wait_closed().await
    }
}

impl ClientShared {
    /// Creates the first handle of a connected client.
    #[must_use]
    pub fn handle(self: &Arc<Self>, details: ServerDetails) -> ClientHandle {
        let inner = Inner { shared: Arc::clone(self), details };
        ClientHandle { inner: Arc::new(inner), options: CallOptions::new() }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shared.close(None);
    }
}

impl std::fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientHandle").field("server", &self.inner.details).finish_non_exhaustive()
    }
}
