//! Connects a client to a child process, a socket, or any two streams.

use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;

use mcp_proto::{ClientCapabilities, Observer};
use mcp_proto_handles::{
    ClientCloseGuard, ClientHandle, ClientSession, ClientSettings, ClientShared, ConnectError, Ending,
    InputResponse, Notification, NotificationQueue, ServerDetails, ServerRequest, ServerRequestHandler,
    Stderr,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::sync::oneshot;

use crate::pump::{Pump, PumpStatus};
use crate::source::{Input, Link, Output, Source, stop};

/// Configures a client and connects it to a server.
///
/// ```no_run
/// use mcp_proto_tokio::{Connector, Stderr};
/// use tokio::process::Command;
///
/// # async fn example() {
/// let (stderr, tail) = Stderr::tail(20);
/// match Connector::new("my-host", "1.0.0").stderr(stderr).spawn(Command::new("some-server")).await {
///     Ok(client) => println!("connected to {}", client.server().name),
///     Err(error) => eprintln!("{error}\n{}", tail.lines().join("\n")),
/// }
/// # }
/// ```
pub struct Connector {
    settings: ClientSettings,
    observer: Option<Box<dyn Observer + Send>>,
    on_notification: Option<OnNotification>,
    handler: Option<ServerRequestHandler>,
    stderr: Stderr,
    ending: Ending,
}

/// A closure whose future passes notifications to the callback.
type OnNotification =
    Box<dyn FnOnce(Arc<NotificationQueue>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

impl Connector {
    /// Creates a connector for a client with this name and version.
    ///
    /// The default limits are 16 MiB for a message, 16 MiB for a request, and 256 requests in flight.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Connector {
        Connector {
            settings: ClientSettings::new(name.into(), version.into()),
            observer: None,
            on_notification: None,
            handler: None,
            stderr: Stderr::inherit(),
            ending: Ending::DEFAULT,
        }
    }

    mcp_proto_handles::client_settings!();

    /// Sets a callback for server notifications and protocol errors.
    ///
    /// The callback runs in a separate task, for one notification at a time, and may use the client. An alternative is
    /// [`ClientHandle::notifications`], a stream of later notifications.
    #[must_use]
    pub fn on_notification<F>(
        mut self,
        mut on_notification: impl FnMut(Notification) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        self.on_notification = Some(Box::new(move |queue| {
            Box::pin(async move {
                while let Some(notification) = queue.next().await {
                    on_notification(notification).await;
                }
            })
        }));
        self
    }

    /// Declares client capabilities, and sets the callback for server requests.
    ///
    /// The callback runs in a separate task for each request, in either era. The connection continues meanwhile, so the
    /// callback may wait for a user. [`ServerRequest::cancellation`] reports when the server no longer waits.
    ///
    /// ```
    /// use mcp_proto::ClientCapabilities;
    /// use mcp_proto::client::InputRequest;
    /// use mcp_proto_tokio::{Connector, InputResponse};
    ///
    /// const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_FORM);
    /// let connector = Connector::new("my-host", "1.0.0").on_server_request(DECLARED, |request| async move {
    ///     match request.input() {
    ///         InputRequest::Roots => InputResponse::roots([("file:///home/user/project", "Project")]),
    ///         InputRequest::Elicit(form) if form.message() == "Who are you?" => {
    ///             InputResponse::accept_json(r#"{"name":"octocat"}"#)
    ///         }
    ///         _ => InputResponse::decline(),
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn on_server_request<F>(
        mut self,
        declared: ClientCapabilities,
        answer: impl Fn(ServerRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = InputResponse> + Send,
    {
        self.settings.capabilities = declared;
        let answer = Arc::new(answer);
        self.handler = Some(Arc::new(move |request, responder| {
            let answer = Arc::clone(&answer);
            // A panic drops the responder, which sends an error response.
            tokio::spawn(async move { responder.respond(answer(request).await) });
        }));
        self
    }

    /// Starts a server as a child process and connects to it.
    ///
    /// If tokio drops the client's task, for example at the end of the runtime, tokio also kills the process.
    ///
    /// # Errors
    /// See [`ConnectError`]. If the handshake fails, the process has exited when this method returns.
    pub async fn spawn(self, command: impl Into<Command>) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Command(command.into())).await
    }

    /// Connects to a server on a socket or another bidirectional stream.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn stream(
        self,
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
    ) -> Result<ClientHandle, ConnectError> {
        let (input, output) = tokio::io::split(stream);
        self.streams(input, output).await
    }

    /// Connects to a server on two streams.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn streams(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Streams(Box::new(input), Box::new(output))).await
    }

    /// Runs the connection in a task. Dropping this future closes the connection.
    async fn start(mut self, source: Source) -> Result<ClientHandle, ConnectError> {
        let shared = ClientShared::new(self.settings.requests);
        let (report, connected) = oneshot::channel();
        if let Some(on_notification) = self.on_notification.take() {
            let queue = Arc::<NotificationQueue>::default();
            shared.add_queue(&queue);
            tokio::spawn(on_notification(queue));
        }
        let guard = shared.close_guard();
        tokio::spawn(self.run(source, Arc::clone(&shared), report, guard));
        let close_on_drop = CloseOnDrop(&shared);
        // Without a report, the task has panicked, for example in an observer.
        let details = connected.await.unwrap_or(Err(ConnectError::Closed(None)))?;
        // From here on, dropping the handle closes the connection.
        std::mem::forget(close_on_drop);
        Ok(shared.handle(details))
    }

    /// Runs the client until it is closed. If a child process closes the connection during an automatic attempt,
    /// connects once more with a handshake only.
    async fn run(
        mut self,
        mut source: Source,
        shared: Arc<ClientShared>,
        report: Report,
        guard: ClientCloseGuard,
    ) {
        let mut report = Some(report);
        let (error, status) = loop {
            let (link, reusable) = match source.open(&self.stderr, self.ending) {
                Ok(opened) => opened,
                Err(error) => break (error.into(), None),
            };
            let Link { input, output, process } = link;
            let outcome = self.run_connection(input, output, &shared, &mut report).await;
            let status = stop(process).await;
            let Err(error) = outcome else { return guard.close_with(status) };
            match reusable {
                // If the caller no longer waits, the client was closed, and a second attempt is pointless.
                Some(reusable) if is_awaited(&report) && self.settings.fall_back_to_handshake(&error) => {
                    source = reusable
                }
                _ => break (closed_with(error, status), status),
            }
        };
        if let Some(report) = report {
            let _ = report.send(Err(error));
        }
        guard.close_with(status);
    }

    /// Runs the event loop until the connection closes. Returns an error if the connection was never established.
    async fn run_connection(
        &mut self,
        input: Input,
        output: Output,
        shared: &Arc<ClientShared>,
        report: &mut Option<Report>,
    ) -> Result<(), ConnectError> {
        let config = self.settings.config();
        let mut client = self.settings.client(&config, self.observer.as_mut())?;
        let mut pump = Pump::new(input, output);
        let waker = pump.waker();
        let mut session = ClientSession::new(shared, Arc::new(move || waker.wake()), self.handler.clone());
        let mut outcome = Err(ConnectError::Closed(None));
        loop {
            let until = session.process_commands(&mut client, pump.now());
            match pump.run_until(&mut client, until).await {
                PumpStatus::Closed => return outcome,
                PumpStatus::Woken if session.is_overdue(pump.now()) => return outcome,
                PumpStatus::Woken => {}
                PumpStatus::Event => match session.handle_event(&mut client) {
                    Some(Ok(details)) => {
                        if report.take().is_some_and(|report| report.send(Ok(details)).is_err()) {
                            // No handle exists that could close the connection.
                            shared.close(None);
                        }
                        outcome = Ok(());
                    }
                    Some(Err(error)) => outcome = Err(error),
                    None => {}
                },
            }
        }
    }
}

type Report = oneshot::Sender<Result<ServerDetails, ConnectError>>;

fn is_awaited(report: &Option<Report>) -> bool {
    report.as_ref().is_some_and(|report| !report.is_closed())
}

/// Adds the exit status to a `Closed` error.
fn closed_with(error: ConnectError, status: Option<ExitStatus>) -> ConnectError {
    match error {
        ConnectError::Closed(_) => ConnectError::Closed(status),
        error => error,
    }
}

/// A guard that closes a connection on drop.
struct CloseOnDrop<'h>(&'h ClientShared);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close(None);
    }
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").field("settings", &self.settings).finish_non_exhaustive()
    }
}
