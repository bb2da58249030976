//! Connecting to a server: a child process, a socket, or any two streams.

use std::io::{Read, Write};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use mcp_proto::{ClientCapabilities, Observer};
use mcp_proto_handles::{
    Ask, ClientSettings, ConnectError, Ended, Ending, Feed, Hub, InputAnswer, Notice, Owed, Question,
    ServerDetails, Session, Stderr, block_on,
};

use crate::client::ClientHandle;
use crate::pump::{Pump, Step};
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
    settings: ClientSettings,
    observer: Option<Box<dyn Observer + Send>>,
    on_notice: Option<Box<dyn FnMut(Notice) + Send>>,
    on_asked: Option<OnAsked>,
    stderr: Stderr,
    ending: Ending,
}

type OnAsked = Box<dyn FnMut(&Question) -> InputAnswer + Send>;

impl Connector {
    /// A client with this name and version, and the usual limits: lines and requests of 16 MiB, 256 requests at once.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Connector {
        Connector {
            settings: ClientSettings::new(name.into(), version.into()),
            observer: None,
            on_notice: None,
            on_asked: None,
            stderr: Stderr::inherit(),
            ending: Ending::DEFAULT,
        }
    }

    mcp_proto_handles::client_settings!();

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
        self.settings.capabilities = declared;
        self.on_asked = Some(Box::new(answer));
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
        let hub = Hub::new(self.settings.requests);
        let (report, connected) = channel();
        let theirs = Arc::clone(&hub);
        let promise = hub.promise();
        thread::Builder::new()
            .name("mcp-client".into())
            .spawn(move || self.run(source, &theirs, &report, promise))?;
        match connected.recv() {
            Ok(Ok(details)) => Ok(ClientHandle::new(hub, details)),
            Ok(Err(error)) => {
                block_on(hub.ended());
                Err(error)
            }
            // It has panicked, in an observer maybe.
            Err(_) => Err(ConnectError::Closed(None)),
        }
    }

    /// The whole life of a connection.
    fn run(mut self, source: Source, hub: &Arc<Hub>, report: &Report, promise: Ended) {
        match self.threads(hub) {
            Ok(ask) => promise.with(self.connections(source, hub, ask.as_ref(), report)),
            Err(error) => drop(report.send(Err(error.into()))),
        }
    }

    /// The threads of the callbacks.
    fn threads(&mut self, hub: &Hub) -> std::io::Result<Option<Ask>> {
        if let Some(on_notice) = self.on_notice.take() {
            let feed = Arc::<Feed>::default();
            hub.feed(&feed);
            let notices = std::iter::from_fn(move || block_on(feed.next()));
            thread::Builder::new().name("mcp-notice".into()).spawn(move || notices.for_each(on_notice))?;
        }
        self.on_asked.take().map(asker).transpose()
    }

    /// Connects, once more with a handshake if that is worth it. How the child process ended comes back.
    fn connections(
        &mut self,
        mut source: Source,
        hub: &Arc<Hub>,
        ask: Option<&Ask>,
        report: &Report,
    ) -> Option<ExitStatus> {
        loop {
            let (link, again) = match source.open(&self.stderr, self.ending) {
                Ok(opened) => opened,
                Err(error) => {
                    let _ = report.send(Err(error.into()));
                    return None;
                }
            };
            let (end, outcome) = self.attempt(link, hub, ask, report);
            let status = end.end();
            let Err(error) = outcome else { return status };
            if let Some(again) = again
                && self.settings.falls_back(&error)
            {
                source = again;
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

    /// Connects, and works until the connection is over.
    fn attempt(
        &mut self,
        link: Link,
        hub: &Arc<Hub>,
        ask: Option<&Ask>,
        report: &Report,
    ) -> (End, Result<(), ConnectError>) {
        let Link { input, output, end } = link;
        let outcome = self.work(input, output, hub, ask, report);
        (end, outcome)
    }

    fn work(
        &mut self,
        input: Box<dyn Read + Send>,
        output: Box<dyn Write + Send>,
        hub: &Arc<Hub>,
        ask: Option<&Ask>,
        report: &Report,
    ) -> Result<(), ConnectError> {
        let info = self.settings.info();
        let mut client = self.settings.client(&info, self.observer.as_mut())?;
        let mut pump = Pump::new(input, output)?;
        let waker = pump.waker();
        let mut session = Session::new(hub, Arc::new(move || waker.wake()), ask.cloned());
        let mut outcome = Err(ConnectError::Closed(None));
        loop {
            let until = session.advance(&mut client, pump.now());
            match pump.run_until(&mut client, until) {
                Step::Closed => return outcome,
                Step::Woken if session.is_overdue(pump.now()) => return outcome,
                Step::Woken => {}
                Step::Event => match session.event(&mut client) {
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
}

/// The thread that asks the host, one question after the other. If it has panicked, the duty to answer comes back, and is
/// done by being dropped.
fn asker(mut host: OnAsked) -> std::io::Result<Ask> {
    let (questions, asked) = channel::<(Question, Owed)>();
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
