//! The handle of a client: what any number of threads may do with one connection.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_proto_handles::{
    self as handles, CallError, CallOptions, CallResult, ClientShared, Progress, ServerDetails, block_on,
    block_on_until,
};
use serde_core::Serialize;

use crate::child::Deadline;
use crate::pending::PendingCall;

/// A client that is connected. Clones share the connection, and any number of threads may use it at once; it is
/// closed when it is told to, or when the last clone is dropped.
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
    /// Waits for the end when the last clone is dropped.
    last: Arc<Last>,
}

/// Whoever watches the connection's thread may be slow.
const MARGIN: Duration = Duration::from_millis(500);

struct Last {
    hub: Arc<ClientShared>,
    deadline: Arc<Deadline>,
}

impl Drop for Last {
    fn drop(&mut self) {
        self.hub.close(None);
        block_on(self.hub.ended());
    }
}

impl ClientHandle {
    pub(crate) fn new(
        hub: Arc<ClientShared>,
        details: ServerDetails,
        deadline: Arc<Deadline>,
    ) -> ClientHandle {
        let inner = hub.handle(details);
        ClientHandle { inner, last: Arc::new(Last { hub, deadline }) }
    }

    /// Calls a tool and waits for its result.
    ///
    /// A tool that ran and failed has a result, too: see [`CallResult::is_error`].
    ///
    /// # Errors
    /// There is no result.
    pub fn call(&self, tool: &str, arguments: &(impl Serialize + ?Sized)) -> Result<CallResult, CallError> {
        block_on(self.inner.call_tool(tool, arguments))
    }

    /// The same with options; progress comes on this thread.
    ///
    /// # Errors
    /// There is no result.
    pub fn call_with(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
        on_progress: impl FnMut(Progress),
    ) -> Result<CallResult, CallError> {
        self.begin(tool, arguments, options)?.wait_with(on_progress)
    }

    /// Calls a tool with arguments that are JSON text: an object.
    ///
    /// # Errors
    /// There is no result.
    pub fn call_json(&self, tool: &str, arguments: &str) -> Result<CallResult, CallError> {
        block_on(self.inner.call_json(tool, arguments))
    }

    /// Sends a call, to be waited for or cancelled later.
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn begin(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<PendingCall, CallError> {
        Ok(PendingCall { inner: self.inner.begin(tool, arguments, options)? })
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
        Ok(PendingCall { inner: self.inner.begin_json(tool, arguments, options)? })
    }

    /// The same client, with these options for every request that is not given others.
    #[must_use]
    pub fn with_options(&self, options: CallOptions) -> ClientHandle {
        ClientHandle { inner: self.inner.with_options(options), last: Arc::clone(&self.last) }
    }

    /// The server: its name, what it can do, and the revision that both speak.
    #[must_use]
    pub fn server(&self) -> &ServerDetails {
        self.inner.server()
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Ends the connection and waits for that: every request ends as [`CallError::Closed`]. A child process gets its
    /// stdin closed and some time to end; then it is told to end, then killed. How it ended comes back.
    pub fn close(&self) -> Option<ExitStatus> {
        block_on(self.inner.close())
    }

    /// The same within this time, whatever the server does, also while [`close`](ClientHandle::close) waits. Half of it is
    /// for what is unsent. Then a child process gets its stdin closed; when three quarters are over, it is told to end (on
    /// Unix: SIGTERM), and in the end it is killed. What the connector's [ending](crate::Connector::ending) says is not
    /// exceeded either.
    ///
    /// ```no_run
    /// # fn example(client: &mcp_proto_std::ClientHandle) {
    /// let status = client.close_within(std::time::Duration::from_secs(2));
    /// # }
    /// ```
    pub fn close_within(&self, time: Duration) -> Option<ExitStatus> {
        let unsent = self.last.deadline.set(time);
        let until = Instant::now().checked_add(time.saturating_add(MARGIN));
        block_on_until(until, self.inner.close_within(unsent)).flatten()
    }
}

impl std::fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}
