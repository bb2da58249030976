//! The blocking handle of a connected client.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_proto_handles::{
    self as handles, CallError, CallOptions, CallResult, ClientShared, Progress, ServerDetails, block_on,
    block_on_until,
};
use serde_core::Serialize;

use crate::pending::{PendingCall, TaskCall};

/// The handle of a connected client.
///
/// Clones share the connection, and any number of threads may use it concurrently. The connection closes on
/// [`close`](ClientHandle::close), or when the last clone is dropped. The drop waits for the end of the connection.
///
/// ```no_run
/// use mcp_proto_std::Connector;
/// use std::process::Command;
///
/// let client = Connector::new("my-host", "1.0.0").spawn(Command::new("some-server"))?;
/// for tool in client.list_tools()? {
///     println!("{}: {}", tool.name, tool.description.unwrap_or_default());
/// }
/// let result = client.call_json("echo", r#"{"message":"hi"}"#)?;
/// println!("{}", result.text().unwrap_or_default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ClientHandle {
    pub(crate) inner: handles::ClientHandle,
    /// Closes the connection and waits for its end when the last clone is dropped.
    close_on_drop: Arc<CloseOnDrop>,
}

/// The time by which [`ClientHandle::close_within`] may exceed its limit.
const MARGIN: Duration = Duration::from_millis(500);

struct CloseOnDrop(Arc<ClientShared>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close(None);
        block_on(self.0.wait_closed());
    }
}

impl ClientHandle {
    pub(crate) fn new(shared: Arc<ClientShared>, details: ServerDetails) -> ClientHandle {
        let inner = shared.handle(details);
        ClientHandle { inner, close_on_drop: Arc::new(CloseOnDrop(shared)) }
    }

    /// Calls a tool and waits for its result.
    ///
    /// A tool that ran and failed also returns a result: see [`CallResult::is_error`].
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call_tool(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<CallResult, CallError> {
        block_on(self.inner.call_tool(tool, arguments))
    }

    /// Like [`call_tool`](ClientHandle::call_tool), with options and a progress callback. `on_progress` runs on the
    /// calling thread. The server sends progress notifications only with [`CallOptions::with_progress`].
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call_tool_with(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
        on_progress: impl FnMut(Progress),
    ) -> Result<CallResult, CallError> {
        self.begin(tool, arguments, options)?.wait_with(on_progress)
    }

    /// Calls a tool. `arguments` is the JSON text of an object.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call_json(&self, tool: &str, arguments: &str) -> Result<CallResult, CallError> {
        block_on(self.inner.call_json(tool, arguments))
    }

    /// Sends a tool call without waiting for its result. The [`PendingCall`] waits for the result or cancels the call.
    ///
    /// # Errors
    /// [`CallError::Busy`] or [`CallError::Closed`]: the request cannot be sent. [`CallError::Invalid`]: the arguments
    /// do not serialize. If the arguments serialize to anything but an object, the call ends with
    /// [`CallError::Invalid`].
    pub fn begin(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<PendingCall, CallError> {
        Ok(PendingCall { inner: self.inner.begin(tool, arguments, options)? })
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
        Ok(PendingCall { inner: self.inner.begin_json(tool, arguments, options)? })
    }

    /// Calls a tool, and returns as soon as the call has become a task or has its result.
    ///
    /// The call can become a task only if the connector has enabled [`tasks`](crate::Connector::tasks), and the server
    /// declares tasks. If `options` has no [`task`](CallOptions::task), the server chooses the time to live of the task
    /// (`2025-11-25`). A server of `2025-11-25` that declares tasks refuses the call if the tool does not support
    /// tasks.
    ///
    /// ```no_run
    /// # use mcp_proto_std::{CallError, CallOptions, ClientHandle, TaskCall};
    /// # use std::collections::BTreeMap;
    /// # fn store(id: &str) {}
    /// # fn example(client: &ClientHandle) -> Result<(), CallError> {
    /// match client.call_task("build", &BTreeMap::from([("target", "all")]), CallOptions::new())? {
    ///     // A later run of the program gets the result.
    ///     TaskCall::Task { id, call } => {
    ///         store(&id);
    ///         call.detach();
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
    ) -> Result<TaskCall, CallError> {
        Ok(match block_on(self.inner.call_task(tool, arguments, options))? {
            handles::TaskCall::Task { id, call } => TaskCall::Task { id, call: PendingCall { inner: call } },
            handles::TaskCall::Result(result) => TaskCall::Result(result),
        })
    }

    /// Follows a task of an earlier connection, for example after a restart of the application. The [`PendingCall`]
    /// waits for the result of the tool.
    ///
    /// ```no_run
    /// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
    /// use mcp_proto_std::CallOptions;
    ///
    /// // Store the id of the task. A later run of the program resumes the task.
    /// let mut stored = Vec::new();
    /// let call = client.begin_json("slow", r#"{"seconds":600}"#, CallOptions::new())?;
    /// let result = call.wait_with(|progress| stored.extend(progress.task.map(|task| task.id)))?;
    /// # let id = String::new();
    /// let result = client.resume_task(&id, CallOptions::new())?.wait()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`CallError::Busy`] or [`CallError::Closed`]: the request cannot be sent. If the client or the server does not
    /// declare [`tasks`](crate::Connector::tasks), the call ends with [`CallError::Unsupported`].
    pub fn resume_task(&self, id: &str, options: CallOptions) -> Result<PendingCall, CallError> {
        Ok(PendingCall { inner: self.inner.resume_task(id, options)? })
    }

    /// Returns a handle whose requests have these options by default.
    #[must_use]
    pub fn with_options(&self, options: CallOptions) -> ClientHandle {
        ClientHandle {
            inner: self.inner.with_options(options),
            close_on_drop: Arc::clone(&self.close_on_drop),
        }
    }

    /// Returns the server's name and capabilities, and the negotiated revision.
    #[must_use]
    pub fn server(&self) -> &ServerDetails {
        self.inner.server()
    }

    /// Returns the process id of the server. Returns `None` if the server is not a child process, or if the client has
    /// begun to stop the process.
    ///
    /// The id changes when the client [reconnects](crate::Reconnect).
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.inner.process_id()
    }

    /// Returns whether the connection is closed. Returns `false` while the client [reconnects](crate::Reconnect).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Closes the connection. Returns the exit status of a child process. Returns `None` if the server is not a child
    /// process, or its status is unknown.
    ///
    /// Every request without a result ends with [`CallError::Closed`]. The client writes unsent messages during the
    /// grace period ([`Timeouts::grace`](mcp_proto::client::Timeouts::grace)), and then closes the stdin of a child
    /// process. The client does not send requests that wait for a free slot or for space in the transmit buffer. If the
    /// process does not exit in time, the client terminates and finally kills the process. The method waits for the end
    /// of the connection.
    pub fn close(&self) -> Option<ExitStatus> {
        block_on(self.inner.close())
    }

    /// Like [`close`](ClientHandle::close), but with a time limit that holds for any behavior of the server.
    ///
    /// The limit also applies to a [`close`](ClientHandle::close) in progress on another thread. The first half of
    /// the time is for unsent messages. Then the client closes the stdin of a child process. After three quarters of
    /// the time, the client sends SIGTERM on Unix, and kills the process on other systems. At the end of the time,
    /// the client kills the process. Each step may begin earlier, because the grace period and the times of the
    /// connector's [ending](crate::Connector::ending) still apply. The method returns at most half a second after the
    /// limit, with `None` if the connection has not ended.
    ///
    /// ```no_run
    /// # fn example(client: &mcp_proto_std::ClientHandle) {
    /// let status = client.close_within(std::time::Duration::from_secs(2));
    /// # }
    /// ```
    pub fn close_within(&self, time: Duration) -> Option<ExitStatus> {
        let until = Instant::now().checked_add(time.saturating_add(MARGIN));
        block_on_until(until, self.inner.close_within(time)).flatten()
    }
}

impl std::fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}
