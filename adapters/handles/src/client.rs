//! The handle of a client: what any number of threads may do with one connection.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use mcp_proto::client::Options;
use mcp_proto::{Level, Millis, json};
use serde::Serialize;

use crate::error::CallError;
use crate::hub::{Command, Hub};
use crate::owned::{CallResult, Progress, ServerDetails};
use crate::pending::{Pending, PendingCall};
use crate::request::Request;
use crate::sync::lock;

/// How long a request may take, and whether to hear of its progress.
///
/// ```
/// use mcp_proto_std::CallOptions;
/// use std::time::Duration;
/// let patient = CallOptions::new().timeout(Duration::from_secs(300)).with_progress();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CallOptions {
    pub(crate) timeout: Duration,
    maximum: Duration,
    progress: bool,
    level: Option<Level>,
}

impl CallOptions {
    /// One minute without an answer or progress, ten minutes in all, and no progress.
    #[must_use]
    pub const fn new() -> CallOptions {
        CallOptions {
            timeout: Duration::from_secs(60),
            maximum: Duration::from_secs(600),
            progress: false,
            level: None,
        }
    }

    /// How long to wait for an answer. Progress starts the time anew.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// How long to wait in all, whatever progress is made.
    #[must_use]
    pub const fn maximum(mut self, time: Duration) -> Self {
        self.maximum = time;
        self
    }

    /// Asks for progress.
    #[must_use]
    pub const fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Asks for log messages about the request, of this level and above (`2026-07-28`): [`Notice::Log`](crate::Notice::Log).
    /// Before, [`ClientHandle::set_log_level`] is for all requests.
    #[must_use]
    pub const fn log_level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    pub(crate) fn machine(&self) -> Options<'static> {
        let mut options = Options::DEFAULT.timeout(millis(self.timeout)).maximum(millis(self.maximum));
        if let Some(level) = self.level {
            options = options.log_level(level);
        }
        if self.progress { options.with_progress() } else { options }
    }
}

impl Default for CallOptions {
    fn default() -> Self {
        CallOptions::new()
    }
}

pub(crate) fn millis(time: Duration) -> Millis {
    Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

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
    inner: Arc<Inner>,
    options: CallOptions,
}

struct Inner {
    hub: Arc<Hub>,
    details: ServerDetails,
    thread: Mutex<Ending>,
}

enum Ending {
    Running(JoinHandle<Option<ExitStatus>>),
    Ended(Option<ExitStatus>),
}

impl ClientHandle {
    pub(crate) fn new(
        hub: Arc<Hub>,
        details: ServerDetails,
        thread: JoinHandle<Option<ExitStatus>>,
    ) -> ClientHandle {
        let inner = Inner { hub, details, thread: Mutex::new(Ending::Running(thread)) };
        ClientHandle { inner: Arc::new(inner), options: CallOptions::new() }
    }

    /// Calls a tool and waits for its result.
    ///
    /// A tool that ran and failed has a result, too: see [`CallResult::is_error`].
    ///
    /// # Errors
    /// There is no result.
    pub fn call(&self, tool: &str, arguments: &(impl Serialize + ?Sized)) -> Result<CallResult, CallError> {
        self.begin(tool, arguments, self.options)?.wait()
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
        self.begin_json(tool, arguments, self.options)?.wait()
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
        let pending = self.start(request, options)?;
        Ok(PendingCall::new(pending, Arc::clone(&self.inner.hub)))
    }

    pub(crate) fn start(&self, request: Request, options: CallOptions) -> Result<Arc<Pending>, CallError> {
        let pending = Pending::new(request, options);
        self.inner.hub.start(Arc::clone(&pending))?;
        Ok(pending)
    }

    pub(crate) fn options(&self) -> CallOptions {
        self.options
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
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

    /// Ends the connection and waits for that: every request ends as [`CallError::Closed`]. A child process gets its
    /// stdin closed and some time to end; then it is told to end, then killed. How it ended comes back.
    pub fn close(&self) -> Option<ExitStatus> {
        self.inner.close()
    }
}

impl Inner {
    fn close(&self) -> Option<ExitStatus> {
        self.hub.send(Command::Close);
        let mut ending = lock(&self.thread);
        let status = match std::mem::replace(&mut *ending, Ending::Ended(None)) {
            Ending::Running(thread) => thread.join().unwrap_or_default(),
            Ending::Ended(status) => status,
        };
        *ending = Ending::Ended(status);
        status
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientHandle").field("server", &self.inner.details).finish_non_exhaustive()
    }
}
