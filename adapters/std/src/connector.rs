//! Connecting to a server: a child process, a socket, or any two streams.

use std::cell::Cell;
use std::io::{Read, Write};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread;

use mcp_proto::client::{ClientInfo, Connect, Timeouts};
use mcp_proto::{Buffer, Client, ClientCapabilities, Observer, Pings, Revisions};

use crate::child::{Ending, Stderr};
use crate::client::ClientHandle;
use crate::error::ConnectError;
use crate::hub::Hub;
use crate::notices::NOTICES;
use crate::owned::{Notice, ServerDetails};
use crate::pump::Pump;
use crate::question::{Asker, InputAnswer, OnAsked, Question};
use crate::session::{ASKED, Session};
use crate::source::{End, Link, Source};
use crate::stream::{HangUp, Stream};

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
    name: String,
    version: String,
    title: Option<String>,
    connect: Connect,
    revisions: Revisions,
    timeouts: Timeouts,
    pages: u32,
    longest_line: usize,
    longest_request: usize,
    requests: usize,
    pings: Option<Pings>,
    observer: Option<Box<dyn Observer + Send>>,
    on_notice: Option<Box<dyn FnMut(Notice) + Send>>,
    capabilities: ClientCapabilities,
    on_asked: Option<OnAsked>,
    stderr: Stderr,
    ending: Ending,
}

impl Connector {
    /// A client with this name and version, and the usual limits: lines and requests of 16 MiB, 256 requests at once.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Connector {
        Connector {
            name: name.into(),
            version: version.into(),
            title: None,
            connect: Connect::Automatic,
            revisions: Revisions::ALL,
            timeouts: Timeouts::DEFAULT,
            pages: 1000,
            longest_line: 16 << 20,
            longest_request: 16 << 20,
            requests: 256,
            pings: None,
            observer: None,
            on_notice: None,
            capabilities: ClientCapabilities::NONE,
            on_asked: None,
            stderr: Stderr::inherit(),
            ending: Ending::DEFAULT,
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Which era it tries: [`Connect::Automatic`] if this is not called.
    ///
    /// With that, a child process that ends when it is asked which era it is of, as some old servers do, is started
    /// once more, and gets the handshake only.
    #[must_use]
    pub fn connect(mut self, connect: Connect) -> Self {
        self.connect = connect;
        self
    }

    /// The revisions that it speaks: all of them if this is not called.
    #[must_use]
    pub fn revisions(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self
    }

    /// How long it waits while it connects and while it closes. Each request has [options](crate::CallOptions).
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The most pages that a list may have.
    #[must_use]
    pub fn pages(mut self, limit: u32) -> Self {
        self.pages = limit;
        self
    }

    /// How long a message of the server may be, in bytes.
    #[must_use]
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.longest_line = bytes;
        self
    }

    /// How long a request may be, in bytes.
    #[must_use]
    pub fn longest_request(mut self, bytes: usize) -> Self {
        self.longest_request = bytes;
        self
    }

    /// How many requests may be on their way at once. More are refused as [`CallError::Busy`](crate::CallError::Busy).
    #[must_use]
    pub fn requests(mut self, limit: usize) -> Self {
        self.requests = limit;
        self
    }

    /// Asks the server whether it is there when nothing was heard of it for a while.
    #[must_use]
    pub fn keep_alive(mut self, pings: Pings) -> Self {
        self.pings = Some(pings);
        self
    }

    /// Shows every message to `observer`, on the thread of the client.
    #[must_use]
    pub fn observe(mut self, observer: impl Observer + Send + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Gets what the server says by itself, and what goes wrong, on a thread of its own: it may use the client.
    #[must_use]
    pub fn on_notice(mut self, on_notice: impl FnMut(Notice) + Send + 'static) -> Self {
        self.on_notice = Some(Box::new(on_notice));
        self
    }

    /// Declares what the client does for the server, and answers what the server asks for, on a thread of its own: one
    /// question after the other, in either era, for as long as a user takes. The connection goes on meanwhile, and
    /// [`Question::is_cancelled`] says when nobody waits any more.
    ///
    /// ```
    /// use mcp_proto::ClientCapabilities;
    /// use mcp_proto::client::InputRequest;
    /// use mcp_proto_std::{Connector, InputAnswer};
    ///
    /// const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_FORM);
    /// let connector = Connector::new("my-host", "1.0.0").on_asked(DECLARED, |question| match question.input() {
    ///     InputRequest::Roots => InputAnswer::roots([("file:///home/user/project", "Project")]),
    ///     InputRequest::Elicit(form) if form.message() == "Who are you?" => {
    ///         InputAnswer::accept_json(r#"{"name":"octocat"}"#)
    ///     }
    ///     _ => InputAnswer::decline(),
    /// });
    /// ```
    #[must_use]
    pub fn on_asked(
        mut self,
        declared: ClientCapabilities,
        answer: impl FnMut(&Question) -> InputAnswer + Send + 'static,
    ) -> Self {
        self.capabilities = declared;
        self.on_asked = Some(Box::new(answer));
        self
    }

    /// What becomes of the stderr of a child process: inherited, if this is not called.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// How long a child process may take to end.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
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
    /// # Errors
    /// It does not connect.
    pub fn stream(self, stream: impl Stream) -> Result<ClientHandle, ConnectError> {
        let hang_up = HangUp::of(&stream)?;
        let input = Box::new(stream.twin()?);
        self.start(Source::Streams(input, Box::new(stream), Some(hang_up)))
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
        self.start(Source::Streams(Box::new(input), Box::new(output), None))
    }

    fn start(self, source: Source) -> Result<ClientHandle, ConnectError> {
        let hub = Hub::new(self.requests);
        let (report, connected) = channel();
        let theirs = Arc::clone(&hub);
        let thread = thread::Builder::new()
            .name("mcp-client".into())
            .spawn(move || self.run(source, &theirs, &report))?;
        match connected.recv() {
            Ok(Ok(details)) => Ok(ClientHandle::new(hub, details, thread)),
            Ok(Err(error)) => {
                let _ = thread.join();
                Err(error)
            }
            // It has panicked, in an observer maybe.
            Err(_) => Err(ConnectError::Closed(None)),
        }
    }

    /// The whole life of a connection. How the child process ended comes back.
    fn run(mut self, mut source: Source, hub: &Arc<Hub>, report: &Report) -> Option<ExitStatus> {
        let notices = self.notices();
        let asker = match self.on_asked.take().map(|host| Asker::start(Arc::clone(hub), host)).transpose() {
            Ok(asker) => asker,
            Err(error) => {
                let _ = report.send(Err(error.into()));
                return None;
            }
        };
        loop {
            let (link, again) = match source.open(&self.stderr, self.ending) {
                Ok(opened) => opened,
                Err(error) => {
                    let _ = report.send(Err(error.into()));
                    return None;
                }
            };
            let (end, outcome) = self.attempt(link, (hub, asker.as_ref()), &notices, report);
            let status = end.end();
            let Err(error) = outcome else { return status };
            let has_handshake = !self.revisions.and(Revisions::HANDSHAKE).is_empty();
            let error = match (error, again) {
                (ConnectError::Closed(_), Some(again))
                    if self.connect == Connect::Automatic && has_handshake =>
                {
                    (self.connect, source) = (Connect::Handshake, again);
                    continue;
                }
                (ConnectError::Closed(_), _) => ConnectError::Closed(status),
                (error, _) => error,
            };
            let _ = report.send(Err(error));
            return status;
        }
    }

    /// Connects, and works until the connection is over.
    fn attempt(
        &mut self,
        link: Link,
        (hub, asker): (&Hub, Option<&Asker>),
        notices: &dyn Fn(Notice),
        report: &Report,
    ) -> (End, Result<(), ConnectError>) {
        let Link { input, output, end } = link;
        let mut info = ClientInfo::new(&self.name, &self.version)
            .connect(self.connect)
            .revisions(self.revisions)
            .timeouts(self.timeouts)
            .capabilities(self.capabilities)
            .pages(self.pages);
        if let Some(title) = &self.title {
            info = info.title(title);
        }
        let (rx, tx) = (Buffer::grown(self.longest_line), Buffer::grown(self.longest_request));
        let mut client = match Client::new(&info, rx, tx) {
            Ok(client) => client.in_flight_grown(self.requests.saturating_add(ASKED)),
            Err(misuse) => return (end, Err(misuse.into())),
        };
        if let Some(pings) = self.pings {
            client = client.keep_alive(pings);
        }
        if let Some(observer) = &mut self.observer {
            client = client.observe(&mut **observer);
        }
        let mut pump = match Pump::new(input, output) {
            Ok(pump) => pump,
            Err(error) => return (end, Err(error.into())),
        };
        let mut session = Session::new(hub, notices, asker);
        match session.connect(&mut client, &mut pump) {
            Ok(details) => {
                let _ = report.send(Ok(details));
                session.work(&mut client, &mut pump);
                (end, Ok(()))
            }
            Err(error) => (end, Err(error)),
        }
    }

    /// Where notices go: to the thread of the callback, if there is one.
    fn notices(&mut self) -> impl Fn(Notice) + use<> {
        let sender = self.on_notice.take().and_then(|mut on_notice| {
            let (sender, receiver) = sync_channel(NOTICES);
            let thread = thread::Builder::new().name("mcp-notice".into());
            let spawned = thread.spawn(move || receiver.into_iter().for_each(&mut on_notice));
            spawned.is_ok().then_some(sender)
        });
        let missed = Cell::new(0);
        move |notice| {
            if let Some(sender) = &sender {
                pass_on(sender, &missed, notice);
            }
        }
    }
}

/// Passes a notice on, after how many were dropped before it.
fn pass_on(sender: &SyncSender<Notice>, missed: &Cell<usize>, notice: Notice) {
    if missed.get() > 0 && sender.try_send(Notice::Missed(missed.get())).is_ok() {
        missed.set(0);
    }
    if missed.get() > 0 || sender.try_send(notice).is_err() {
        missed.set(missed.get() + 1);
    }
}

type Report = Sender<Result<ServerDetails, ConnectError>>;

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
