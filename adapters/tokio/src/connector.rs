//! Connects a client to a child process, a socket, or any two streams.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use mcp_proto::{ClientCapabilities, Observer};
use mcp_proto_handles::{
    ClientHandle, ClientSettings, ClientShared, ConnectError, Ending, InputResponse, Notification,
    NotificationQueue, Reconnect, ServerRequest, ServerRequestHandler, Stderr,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::sync::oneshot;

use crate::connection::Connection;
use crate::source::{Input, Opening, Output, ServerSource, Source};

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
    pub(crate) settings: ClientSettings,
    observer: Option<Box<dyn Observer + Send>>,
    on_notification: Option<OnNotification>,
    handler: Option<ServerRequestHandler>,
    stderr: Stderr,
    ending: Ending,
    pub(crate) reconnect: Option<Reconnect>,
}

/// A closure whose future passes notifications to the callback.
type OnNotification =
    Box<dyn FnOnce(Arc<NotificationQueue>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

impl Connector {
    /// Creates a connector for a client with this name and version.
    ///
    /// The default limits are 16 MiB for a message of the server, and 16 MiB for a request of the client. At most 256
    /// requests are in flight, and at most 4,096 requests wait to be sent.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Connector {
        Connector {
            settings: ClientSettings::new(name.into(), version.into()),
            observer: None,
            on_notification: None,
            handler: None,
            stderr: Stderr::inherit(),
            ending: Ending::DEFAULT,
            reconnect: None,
        }
    }

    mcp_proto_handles::client_settings!();

    /// Sets a callback for each [`Notification`] from the server or about the connection.
    ///
    /// The callback runs in a separate task, for one notification at a time, and may use the client.
    /// [`ClientHandle::notifications`] is an alternative: a stream of the notifications that arrive after its call.
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
    /// The callback runs in a separate task for each request, in either era. The callback may wait for a user,
    /// because the connection continues. [`ServerRequest::cancellation`] reports when the server no longer waits.
    ///
    /// ```
    /// use mcp_proto_tokio::ClientCapabilities;
    /// use mcp_proto_tokio::client::InputRequest;
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
            // A panic drops the responder. The drop sends an error response.
            tokio::spawn(async move { responder.respond(answer(request).await) });
        }));
        self
    }

    /// Reconnects when an established connection ends, unless the application has closed the client.
    ///
    /// The connector starts a [child process](Connector::spawn) again, or [opens](Connector::open) a stream again.
    /// Other streams cannot be opened again. Without this setting, the client closes when the connection ends.
    ///
    /// Most requests in flight end with [`CallError::Closed`](crate::CallError::Closed), because only the application
    /// knows whether a repetition is safe. New requests wait for the next connection until their timeout expires.
    /// [Subscriptions](ClientHandle::listen), and calls that have become tasks, continue. [`Notification::Reconnected`]
    /// reports that the client may have missed changes. Over HTTP in `2026-07-28`, a subscription also continues, with
    /// this notification, if only its own stream breaks. [`subscribe`](ClientHandle::subscribe) and
    /// [`set_log_level`](ClientHandle::set_log_level) apply to one connection only. [`ClientHandle::server`] describes
    /// the first connection's server.
    ///
    /// ```
    /// use mcp_proto_tokio::{Connector, Reconnect};
    ///
    /// let connector = Connector::new("my-host", "1.0.0").reconnect(Reconnect { attempts: 20, ..Reconnect::DEFAULT });
    /// ```
    #[must_use]
    pub fn reconnect(mut self, reconnect: Reconnect) -> Self {
        self.reconnect = Some(reconnect);
        self
    }

    /// Starts a server as a child process and connects to it.
    ///
    /// If tokio drops the client's task, for example at the end of the runtime, tokio also kills the process.
    ///
    /// # Errors
    /// See [`ConnectError`]. If the handshake fails, the process has exited when this method returns.
    pub async fn spawn(self, command: impl Into<Command>) -> Result<ClientHandle, ConnectError> {
        self.start(ServerSource::Command(command.into())).await
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

    /// Connects to a server on the stream that `open` returns. The client calls `open` for each connection: see
    /// [`reconnect`](Connector::reconnect).
    ///
    /// ```no_run
    /// use mcp_proto_tokio::{Connector, Reconnect};
    /// use tokio::net::TcpStream;
    ///
    /// # async fn example() -> Result<(), mcp_proto_tokio::ConnectError> {
    /// let connector = Connector::new("my-host", "1.0.0").reconnect(Reconnect::DEFAULT);
    /// let client = connector.open(|| TcpStream::connect("localhost:8080")).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn open<S, F>(
        self,
        mut open: impl FnMut() -> F + Send + 'static,
    ) -> Result<ClientHandle, ConnectError>
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
    {
        let opener = move || -> Opening {
            let opened = open();
            Box::pin(async move {
                let (input, output) = tokio::io::split(opened.await?);
                Ok((Box::new(input) as Input, Box::new(output) as Output))
            })
        };
        self.start(ServerSource::Opener(Box::new(opener))).await
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
        self.start(ServerSource::Once(Some((Box::new(input), Box::new(output))))).await
    }

    /// Runs the connection in a task, and waits until the client is connected. Dropping the future closes the
    /// connection.
    pub(crate) async fn start(mut self, server: ServerSource) -> Result<ClientHandle, ConnectError> {
        let shared = ClientShared::new(&self.settings);
        let (report, connected) = oneshot::channel();
        if let Some(on_notification) = self.on_notification.take() {
            let queue = Arc::<NotificationQueue>::default();
            shared.add_queue(&queue);
            tokio::spawn(on_notification(queue));
        }
        let guard = shared.close_guard();
        let source = Source { server, stderr: self.stderr, ending: self.ending };
        let connection = Connection {
            settings: self.settings,
            observer: self.observer,
            handler: self.handler,
            reconnect: self.reconnect,
            shared: Arc::clone(&shared),
            report: Some(report),
        };
        tokio::spawn(connection.run(source, guard));
        let close_on_drop = CloseOnDrop(&shared);
        // The report is missing if the task has panicked, for example in an observer, or its runtime was shut down.
        let details = connected.await.unwrap_or(Err(ConnectError::Closed(None)))?;
        // From here on, dropping the handle closes the connection.
        std::mem::forget(close_on_drop);
        Ok(shared.handle(details))
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
