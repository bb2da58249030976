//! Connects a client to a child process, a socket, or any two streams.

use std::io::{Read, Write};
use std::mem;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use mcp_proto::{Client, ClientCapabilities, Clock, Observer};
use mcp_proto_handles::{
    ClientCloseGuard, ClientSession, ClientSettings, ClientShared, ConnectError, Ending, InputResponse,
    Notification, NotificationQueue, PumpStatus, ServerDetails, ServerRequest, ServerRequestHandler,
    ServerRequestResponder, Stderr, block_on,
};

use crate::child::ExitPolicy;
use crate::client_handle::ClientHandle;
use crate::pump::{OpenPump, Pump, RunOptions};
use crate::reconnect::{Reconnect, wait_for_attempt};
use crate::source::{Link, Source, Teardown};
use crate::stream::Stream;

/// Configures a client and connects it to a server.
///
/// ```no_run
/// use mcp_proto_std::{Connector, Stderr};
/// use std::process::Command;
///
/// let (stderr, tail) = Stderr::tail(20);
/// match Connector::new("my-host", "1.0.0").stderr(stderr).spawn(Command::new("some-server")) {
///     Ok(client) => println!("connected to {}", client.server().name),
///     Err(error) => eprintln!("{error}\n{}", tail.lines().join("\n")),
/// }
/// ```
pub struct Connector {
    pub(crate) settings: ClientSettings,
    observer: Option<Box<dyn Observer + Send>>,
    on_notification: Option<Box<dyn FnMut(Notification) + Send>>,
    on_server_request: Option<OnServerRequest>,
    stderr: Stderr,
    ending: Ending,
    pub(crate) reconnect: Option<Reconnect>,
}

type OnServerRequest = Box<dyn FnMut(&ServerRequest) -> InputResponse + Send>;

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
            on_server_request: None,
            stderr: Stderr::inherit(),
            ending: Ending::DEFAULT,
            reconnect: None,
        }
    }

    mcp_proto_handles::client_settings!();

    /// Sets a callback for each [`Notification`] from the server or about the connection. The callback runs on a
    /// separate thread and may use the client. If the callback is too slow for the notifications,
    /// [`Notification::Missed`] reports how many were dropped.
    #[must_use]
    pub fn on_notification(mut self, on_notification: impl FnMut(Notification) + Send + 'static) -> Self {
        self.on_notification = Some(Box::new(on_notification));
        self
    }

    /// Declares client capabilities, and sets the callback for server requests.
    ///
    /// The callback runs on a separate thread, for one request at a time, in either era. The callback may wait for a
    /// user, because other messages do not wait for the callback. [`ServerRequest::is_cancelled`] returns `true` if the
    /// server no longer waits for the response.
    ///
    /// ```
    /// use mcp_proto_std::ClientCapabilities;
    /// use mcp_proto_std::client::InputRequest;
    /// use mcp_proto_std::{Connector, InputResponse};
    ///
    /// const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_FORM);
    /// let connector = Connector::new("my-host", "1.0.0").on_server_request(DECLARED, |request| match request.input() {
    ///     InputRequest::Roots => InputResponse::roots([("file:///home/user/project", "Project")]),
    ///     InputRequest::Elicit(form) if form.message() == "Who are you?" => {
    ///         InputResponse::accept_json(r#"{"name":"octocat"}"#)
    ///     }
    ///     _ => InputResponse::decline(),
    /// });
    /// ```
    #[must_use]
    pub fn on_server_request(
        mut self,
        declared: ClientCapabilities,
        answer: impl FnMut(&ServerRequest) -> InputResponse + Send + 'static,
    ) -> Self {
        self.settings.capabilities = declared;
        self.on_server_request = Some(Box::new(answer));
        self
    }

    /// Reconnects when an established connection ends, unless the application has closed the client.
    ///
    /// The connector starts a [child process](Connector::spawn) again, or [opens](Connector::open) a socket again.
    /// Other streams cannot be opened again. Without this setting, the client closes when the connection ends. Over
    /// HTTP, this setting is on by default.
    ///
    /// Most requests in flight end with [`CallError::Closed`](crate::CallError::Closed), because only the application
    /// knows whether a repetition is safe. New requests wait for the next connection until their timeout expires.
    /// [Subscriptions](ClientHandle::listen), and calls that have become tasks, continue. [`Notification::Reconnected`]
    /// reports that the client may have missed changes. Over HTTP in `2026-07-28`, a subscription also continues, with
    /// this notification, if only its own stream breaks. [`subscribe`](ClientHandle::subscribe) and
    /// [`set_log_level`](ClientHandle::set_log_level) apply to one connection only. [`ClientHandle::server`] describes
    /// the first connection's server.
    ///
    /// One thread ends the old process, opens the next connection, and observes timeouts. So timeouts do not expire,
    /// and [`ClientHandle::close`] waits, while that thread waits for the exit of the process or for the function that
    /// opens a socket. [`ending`](Connector::ending) limits the time for the exit of the process.
    ///
    /// ```
    /// use mcp_proto_std::{Connector, Reconnect};
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
    /// # Errors
    /// See [`ConnectError`]. If the handshake fails, the process has exited when this method returns.
    pub fn spawn(self, command: Command) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Command(command))
    }

    /// Connects to a server on a socket. The socket is shut down when the connection closes.
    ///
    /// ```no_run
    /// use mcp_proto_std::Connector;
    /// use std::net::TcpStream;
    ///
    /// let client = Connector::new("my-host", "1.0.0").stream(TcpStream::connect("localhost:8080")?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn stream(self, stream: impl Stream) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Once(Some(Link::socket(stream)?)))
    }

    /// Connects to a server on the socket that `open` returns. The client calls `open` for each connection: see
    /// [`reconnect`](Connector::reconnect).
    ///
    /// ```no_run
    /// use mcp_proto_std::{Connector, Reconnect};
    /// use std::net::TcpStream;
    ///
    /// let connector = Connector::new("my-host", "1.0.0").reconnect(Reconnect::DEFAULT);
    /// let client = connector.open(|| TcpStream::connect("localhost:8080"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn open<S: Stream>(
        self,
        mut open: impl FnMut() -> std::io::Result<S> + Send + 'static,
    ) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Opener(Box::new(move || Link::socket(open()?))))
    }

    /// Connects to a server on two streams.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn streams(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Result<ClientHandle, ConnectError> {
        let link = Link { open: Pump::opener(input, output), teardown: Teardown::Nothing(None) };
        self.start(Source::Once(Some(link)))
    }

    pub(crate) fn start(self, source: Source) -> Result<ClientHandle, ConnectError> {
        let shared = ClientShared::new(&self.settings);
        let (report, connected) = channel();
        let thread_shared = Arc::clone(&shared);
        let guard = shared.close_guard();
        let exit = ExitPolicy { ending: self.ending, deadline: Arc::clone(shared.close_deadline()) };
        thread::Builder::new()
            .name("mcp-client".into())
            .spawn(move || self.run(source, &exit, &thread_shared, &report, guard))?;
        match connected.recv() {
            Ok(Ok(details)) => Ok(ClientHandle::new(shared, details)),
            Ok(Err(error)) => {
                block_on(shared.wait_closed());
                Err(error)
            }
            // The connection's thread has panicked, for example in an observer.
            Err(_) => Err(ConnectError::Closed(None)),
        }
    }

    /// Runs the client until it is closed. Sends the result of the first connection to `report`.
    fn run(
        mut self,
        source: Source,
        exit: &ExitPolicy,
        shared: &Arc<ClientShared>,
        report: &Report,
        guard: ClientCloseGuard,
    ) {
        match self.start_callbacks(shared) {
            Ok(handler) => guard.close_with(self.run_source(source, exit, shared, handler.as_ref(), report)),
            Err(error) => drop(report.send(Err(error.into()))),
        }
    }

    /// Starts the threads of the callbacks.
    fn start_callbacks(&mut self, shared: &ClientShared) -> std::io::Result<Option<ServerRequestHandler>> {
        if let Some(on_notification) = self.on_notification.take() {
            let queue = Arc::<NotificationQueue>::default();
            shared.add_queue(&queue);
            let notifications = std::iter::from_fn(move || block_on(queue.next()));
            thread::Builder::new()
                .name("mcp-notify".into())
                .spawn(move || notifications.for_each(on_notification))?;
        }
        self.on_server_request.take().map(spawn_handler).transpose()
    }

    /// Opens the source and runs the client. Connects once more, with a handshake only, if the first attempt fails, the
    /// source can be opened again, and [`ClientSettings::fall_back_to_handshake`] has changed the settings. Returns the
    /// exit status of a child process, or `None` if there is no status.
    fn run_source(
        &mut self,
        mut source: Source,
        exit: &ExitPolicy,
        shared: &Arc<ClientShared>,
        handler: Option<&ServerRequestHandler>,
        report: &Report,
    ) -> Option<ExitStatus> {
        loop {
            let Link { open, mut teardown } = match source.open(&self.stderr, exit) {
                Ok(link) => link,
                Err(error) => {
                    let _ = report.send(Err(error.into()));
                    return None;
                }
            };
            shared.set_process_id(teardown.process_id());
            let outcome =
                self.run_connections(open, (&mut teardown, &mut source, exit), shared, handler, report);
            let status = teardown.run(shared);
            let Err(error) = outcome else { return status };
            if source.is_reusable() && self.settings.fall_back_to_handshake(&error) {
                continue;
            }
            let _ = report.send(Err(shared.connect_error(error, status)));
            return status;
        }
    }

    /// Runs the first connection and its replacements.
    fn run_connections(
        &mut self,
        open: OpenPump,
        (teardown, source, exit): (&mut Teardown, &mut Source, &ExitPolicy),
        shared: &Arc<ClientShared>,
        handler: Option<&ServerRequestHandler>,
        report: &Report,
    ) -> Result<(), ConnectError> {
        let config = self.settings.config();
        let mut client = self.settings.client(&config, self.observer.as_mut())?;
        let clock = Clock::start();
        let mut pump = open(clock)?;
        let mut session = ClientSession::new(shared, pump.wake(), handler.cloned());
        session.set_reconnect(self.reconnect.filter(|_| source.is_reusable()));
        session.set_tool_filter(self.settings.permits_tool);
        run_connection(&mut pump, &mut client, &mut session, report)?;
        // Close the streams first, so that the old process can exit.
        drop(pump);
        while wait_for_attempt(&mut session, &mut client, clock) {
            mem::replace(teardown, Teardown::Nothing(None)).run(shared);
            let Ok(link) = source.open(&self.stderr, exit) else { continue };
            *teardown = link.teardown;
            shared.set_process_id(teardown.process_id());
            let Ok(mut pump) = (link.open)(clock) else { continue };
            client.reconnect();
            session.connection_opened(pump.wake());
            // If the handshake fails, the loop continues with the next attempt.
            let _ = run_connection(&mut pump, &mut client, &mut session, report);
        }
        Ok(())
    }
}

/// Runs the event loop until the connection closes, or until the time limit of [`ClientHandle::close_within`] expires.
/// Returns an error if the connection was never established.
fn run_connection(
    pump: &mut Pump,
    client: &mut Client<'_>,
    session: &mut ClientSession,
    report: &Report,
) -> Result<(), ConnectError> {
    let mut outcome = Err(ConnectError::Closed(None));
    let mut now = pump.read_clock();
    loop {
        let until = session.process_commands(client, now);
        // Other threads hold handles of the client, so a waker always exists.
        let status = pump.run_with(client, RunOptions { now, until, no_wakers: false });
        if let Some(failure) = pump.take_refused_response() {
            session.report_refused_response(failure);
        }
        match status {
            PumpStatus::Closed => return outcome,
            PumpStatus::Woken => {
                now = pump.read_clock();
                if session.is_overdue(now) {
                    return outcome;
                }
            }
            PumpStatus::Event => {
                match session.handle_event(client, pump.failure()) {
                    Some(Ok(details)) => {
                        let _ = report.send(Ok(details));
                        outcome = Ok(());
                    }
                    Some(Err(error)) => outcome = Err(error),
                    None => {}
                }
                now = pump.read_clock();
            }
        }
    }
}

/// Starts the thread that passes server requests to the application in order.
///
/// After a panic of the callback, every further request gets an error response, because the request's responder is
/// dropped.
fn spawn_handler(mut callback: OnServerRequest) -> std::io::Result<ServerRequestHandler> {
    let (sender, receiver) = channel::<(ServerRequest, ServerRequestResponder)>();
    thread::Builder::new().name("mcp-requests".into()).spawn(move || {
        for (request, responder) in receiver {
            if !request.is_cancelled() {
                responder.respond(callback(&request));
            }
        }
    })?;
    Ok(Arc::new(move |request, responder| drop(sender.send((request, responder)))))
}

type Report = Sender<Result<ServerDetails, ConnectError>>;

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").field("settings", &self.settings).finish_non_exhaustive()
    }
}
