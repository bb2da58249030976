//! Connecting to a server: a child process, a socket, or any two streams.

use std::io::{Read, Write};
use std::mem;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use mcp_proto::{Client, ClientCapabilities, Clock, Observer};
use mcp_proto_handles::{
    Ask, ClientSettings, ClientShared, ConnectError, Ended, Ending, Feed, InputResponse, Notification, Owed,
    ServerDetails, ServerRequest, Session, Stderr, block_on,
};

use crate::child::{Deadline, Way};
use crate::client::ClientHandle;
use crate::pump::{Open, Pump, PumpStatus, Turn};
use crate::reconnect::{Attempts, Reconnect};
use crate::source::{End, Link, Source};
use crate::stream::Stream;

/// Who a client is, how it connects, and its limits.
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
    settings: ClientSettings,
    observer: Option<Box<dyn Observer + Send>>,
    on_notification: Option<Box<dyn FnMut(Notification) + Send>>,
    on_server_request: Option<OnAsked>,
    stderr: Stderr,
    ending: Ending,
    reconnect: Option<Reconnect>,
}

type OnAsked = Box<dyn FnMut(&ServerRequest) -> InputResponse + Send>;

impl Connector {
    /// A client with this name and version, and the usual limits: lines and requests of 16 MiB, 256 requests at once.
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

    /// Gets what the server says by itself, and what goes wrong, on a thread of its own: it may use the client.
    #[must_use]
    pub fn on_notification(mut self, on_notification: impl FnMut(Notification) + Send + 'static) -> Self {
        self.on_notification = Some(Box::new(on_notification));
        self
    }

    /// Declares what the client does for the server, and answers what the server asks for, on a thread of its own: one
    /// question after the other, in either era, for as long as a user takes. The connection goes on meanwhile, and
    /// [`ServerRequest::is_cancelled`] says when nobody waits any more.
    ///
    /// ```
    /// use mcp_proto::ClientCapabilities;
    /// use mcp_proto::client::InputRequest;
    /// use mcp_proto_std::{Connector, InputResponse};
    ///
    /// const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_FORM);
    /// let connector = Connector::new("my-host", "1.0.0").on_server_request(DECLARED, |question| match question.input() {
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

    /// Connects again when a connection ends that has stood, and that the host has not closed: to a child process that is
    /// started again, or a socket that can be [opened](Connector::open) again. Without this, the client is over then.
    ///
    /// Requests that were on their way end as [`CallError::Closed`](crate::CallError::Closed), because only the host knows
    /// whether they may be made twice. What is begun meanwhile waits, for as long as its options say.
    /// [Subscriptions](ClientHandle::listen) go on. What has changed meanwhile nobody has said: [`Notification::Reconnected`] tells
    /// when to look. [`subscribe`](ClientHandle::subscribe) and [`set_log_level`](ClientHandle::set_log_level) belong to
    /// one connection. [`ClientHandle::server`] is what the first server has said.
    #[must_use]
    pub fn reconnect(mut self, reconnect: Reconnect) -> Self {
        self.reconnect = Some(reconnect);
        self
    }

    /// Starts a server as a child process, and connects to it.
    ///
    /// # Errors
    /// It cannot be started, or does not connect. Then it has ended.
    pub fn spawn(self, command: Command) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Command(command))
    }

    /// Connects to a server on a socket, which is hung up in the end.
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
    /// It does not connect.
    pub fn stream(self, stream: impl Stream) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Once(Some(Link::socket(stream)?)))
    }

    /// Connects to a server on a socket that can be opened again: see [`reconnect`](Connector::reconnect).
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
    /// It does not connect.
    pub fn open<S: Stream>(
        self,
        mut open: impl FnMut() -> std::io::Result<S> + Send + 'static,
    ) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Opener(Box::new(move || Link::socket(open()?))))
    }

    /// Connects to a server on two streams.
    ///
    /// # Errors
    /// It does not connect.
    pub fn streams(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Result<ClientHandle, ConnectError> {
        let link = Link { open: Pump::over(input, output), end: End::Nothing(None) };
        self.start(Source::Once(Some(link)))
    }

    fn start(self, source: Source) -> Result<ClientHandle, ConnectError> {
        let hub = ClientShared::new(self.settings.requests);
        let (report, connected) = channel();
        let theirs = Arc::clone(&hub);
        let promise = hub.promise();
        let deadline = Arc::<Deadline>::default();
        let way = Way { ending: self.ending, deadline: Arc::clone(&deadline) };
        thread::Builder::new()
            .name("mcp-client".into())
            .spawn(move || self.run(source, &way, &theirs, &report, promise))?;
        match connected.recv() {
            Ok(Ok(details)) => Ok(ClientHandle::new(hub, details, deadline)),
            Ok(Err(error)) => {
                block_on(hub.ended());
                Err(error)
            }
            // It has panicked, in an observer maybe.
            Err(_) => Err(ConnectError::Closed(None)),
        }
    }

    /// The whole life of a connection.
    fn run(mut self, source: Source, way: &Way, hub: &Arc<ClientShared>, report: &Report, promise: Ended) {
        match self.threads(hub) {
            Ok(ask) => promise.with(self.connections(source, way, hub, ask.as_ref(), report)),
            Err(error) => drop(report.send(Err(error.into()))),
        }
    }

    /// The threads of the callbacks.
    fn threads(&mut self, hub: &ClientShared) -> std::io::Result<Option<Ask>> {
        if let Some(on_notification) = self.on_notification.take() {
            let feed = Arc::<Feed>::default();
            hub.feed(&feed);
            let notices = std::iter::from_fn(move || block_on(feed.next()));
            thread::Builder::new()
                .name("mcp-notice".into())
                .spawn(move || notices.for_each(on_notification))?;
        }
        self.on_server_request.take().map(asker).transpose()
    }

    /// Connects, once more with a handshake if that is worth it. How the child process ended comes back.
    fn connections(
        &mut self,
        mut source: Source,
        way: &Way,
        hub: &Arc<ClientShared>,
        ask: Option<&Ask>,
        report: &Report,
    ) -> Option<ExitStatus> {
        loop {
            let Link { open, mut end } = match source.open(&self.stderr, way) {
                Ok(link) => link,
                Err(error) => {
                    let _ = report.send(Err(error.into()));
                    return None;
                }
            };
            let outcome = self.work(open, (&mut end, &mut source, way), hub, ask, report);
            let status = end.end();
            let Err(error) = outcome else { return status };
            if source.is_lasting() && self.settings.falls_back(&error) {
                continue;
            }
            let error = match error {
                ConnectError::Closed(_) => ConnectError::Closed(status),
                error => error,
            };
            let _ = report.send(Err(error));
            return status;
        }
    }

    /// Connects, and works until the connection is over, and those that follow it.
    fn work(
        &mut self,
        open: Open,
        (end, source, way): (&mut End, &mut Source, &Way),
        hub: &Arc<ClientShared>,
        ask: Option<&Ask>,
        report: &Report,
    ) -> Result<(), ConnectError> {
        let info = self.settings.info();
        let mut client = self.settings.client(&info, self.observer.as_mut())?;
        let clock = Clock::start();
        let mut pump = open(clock)?;
        let mut session = Session::new(hub, pump.wake(), ask.cloned());
        let reconnect = self.reconnect.filter(|_| source.is_lasting());
        session.lasting(reconnect.is_some());
        talk(&mut pump, &mut client, &mut session, report)?;
        let Some(reconnect) = reconnect else { return Ok(()) };
        let mut attempts = Attempts::new(reconnect);
        // Its streams are closed before the old process has to end.
        drop(pump);
        while attempts.wait(&mut session, &mut client, clock) {
            mem::replace(end, End::Nothing(None)).end();
            let Ok(link) = source.open(&self.stderr, way) else { continue };
            *end = link.end;
            let Ok(mut pump) = (link.open)(clock) else { continue };
            client.reconnect();
            session.begin(pump.wake());
            if talk(&mut pump, &mut client, &mut session, report).is_ok() {
                attempts = Attempts::new(reconnect);
            }
        }
        Ok(())
    }
}

/// Works until the connection is over. It is an error if it was none.
fn talk(
    pump: &mut Pump,
    client: &mut Client<'_>,
    session: &mut Session,
    report: &Report,
) -> Result<(), ConnectError> {
    let mut outcome = Err(ConnectError::Closed(None));
    loop {
        let now = pump.now();
        let until = session.advance(client, now);
        // Clients are used by others.
        match pump.turn(client, Turn { now, until, nobody_wakes: false }) {
            PumpStatus::Closed => return outcome,
            PumpStatus::Woken if session.is_overdue(pump.now()) => return outcome,
            PumpStatus::Woken => {}
            PumpStatus::Event => match session.event(client) {
                Some(Ok(details)) => {
                    let _ = report.send(Ok(details));
                    outcome = Ok(());
                }
                Some(Err(error)) => outcome = Err(error),
                None => {}
            },
        }
    }
}

/// The thread that asks the host, one question after the other. If it has panicked, the duty to answer comes back, and is
/// done by being dropped.
fn asker(mut host: OnAsked) -> std::io::Result<Ask> {
    let (questions, asked) = channel::<(ServerRequest, Owed)>();
    thread::Builder::new().name("mcp-asked".into()).spawn(move || {
        for (question, owed) in asked {
            if !question.is_cancelled() {
                owed.answer(host(&question));
            }
        }
    })?;
    Ok(Arc::new(move |question, owed| drop(questions.send((question, owed)))))
}

type Report = Sender<Result<ServerDetails, ConnectError>>;

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").field("settings", &self.settings).finish_non_exhaustive()
    }
}
