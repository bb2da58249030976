//! Connecting to a server: a child process, a socket, or any two streams.

use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;

use mcp_proto::{ClientCapabilities, Observer};
use mcp_proto_handles::{
    Ask, ClientHandle, ClientSettings, ClientShared, ConnectError, Ended, Ending, Feed, InputResponse,
    Notification, ServerDetails, ServerRequest, Session, Stderr,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::sync::oneshot;

use crate::pump::{Pump, PumpStatus};
use crate::source::{Input, Link, Output, Source, end};

/// Who a client is, how it connects, and its limits.
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
    on_notification: Option<OnNotice>,
    ask: Option<Ask>,
    stderr: Stderr,
    ending: Ending,
}

/// The task of the callback for notices.
type OnNotice = Box<dyn FnOnce(Arc<Feed>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

impl Connector {
    /// A client with this name and version, and the usual limits: lines and requests of 16 MiB, 256 requests at once.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Connector {
        Connector {
            settings: ClientSettings::new(name.into(), version.into()),
            observer: None,
            on_notification: None,
            ask: None,
            stderr: Stderr::inherit(),
            ending: Ending::DEFAULT,
        }
    }

    mcp_proto_handles::client_settings!();

    /// Gets what the server says by itself, and what goes wrong, one after the other in a task of its own: it may use the
    /// client. [`ClientHandle::notifications`] is the same as a stream, from when it is called.
    #[must_use]
    pub fn on_notification<F>(
        mut self,
        mut on_notification: impl FnMut(Notification) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        self.on_notification = Some(Box::new(move |feed| {
            Box::pin(async move {
                while let Some(notice) = feed.next().await {
                    on_notification(notice).await;
                }
            })
        }));
        self
    }

    /// Declares what the client does for the server, and answers what the server asks for, each question in a task of its
    /// own, in either era, for as long as a user takes. The connection goes on meanwhile, and
    /// [`ServerRequest::cancellation`] says when nobody waits any more.
    ///
    /// ```
    /// use mcp_proto::ClientCapabilities;
    /// use mcp_proto::client::InputRequest;
    /// use mcp_proto_tokio::{Connector, InputResponse};
    ///
    /// const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_FORM);
    /// let connector = Connector::new("my-host", "1.0.0").on_server_request(DECLARED, |question| async move {
    ///     match question.input() {
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
        self.ask = Some(Arc::new(move |question, owed| {
            let answer = Arc::clone(&answer);
            // A panic drops the duty to answer, and that is an answer.
            tokio::spawn(async move { owed.answer(answer(question).await) });
        }));
        self
    }

    /// Starts a server as a child process, and connects to it. If the runtime ends, or the client's task is dropped in
    /// another way, it is killed.
    ///
    /// # Errors
    /// It cannot be started, or does not connect. Then it has ended.
    pub async fn spawn(self, command: impl Into<Command>) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Command(command.into())).await
    }

    /// Connects to a server on a socket, or anything else that is read and written.
    ///
    /// # Errors
    /// It does not connect.
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
    /// It does not connect.
    pub async fn streams(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<ClientHandle, ConnectError> {
        self.start(Source::Streams(Box::new(input), Box::new(output))).await
    }

    /// The connection lives in a task. If nobody waits for it to connect any more, it is closed.
    async fn start(mut self, source: Source) -> Result<ClientHandle, ConnectError> {
        let hub = ClientShared::new(self.settings.requests);
        let (report, connected) = oneshot::channel();
        if let Some(on_notification) = self.on_notification.take() {
            let feed = Arc::<Feed>::default();
            hub.feed(&feed);
            tokio::spawn(on_notification(feed));
        }
        let promise = hub.promise();
        tokio::spawn(self.run(source, Arc::clone(&hub), report, promise));
        let unwanted = CloseOnDrop(&hub);
        // Without a report it has panicked, in an observer maybe.
        let details = connected.await.unwrap_or(Err(ConnectError::Closed(None)))?;
        // From here on it is the handle that closes.
        std::mem::forget(unwanted);
        Ok(hub.handle(details))
    }

    /// The whole life of a connection; once more with a handshake if that is worth it.
    async fn run(mut self, mut source: Source, hub: Arc<ClientShared>, report: Report, promise: Ended) {
        let mut report = Some(report);
        let (error, status) = loop {
            let (link, again) = match source.open(&self.stderr, self.ending) {
                Ok(opened) => opened,
                Err(error) => break (error.into(), None),
            };
            let Link { input, output, process } = link;
            let outcome = self.work(input, output, &hub, &mut report).await;
            let status = end(process).await;
            let Err(error) = outcome else { return promise.with(status) };
            match again {
                // Nobody may want it any more: then it was closed, and has not ended by itself.
                Some(again) if is_wanted(&report) && self.settings.falls_back(&error) => source = again,
                _ => break (closed_with(error, status), status),
            }
        };
        if let Some(report) = report {
            let _ = report.send(Err(error));
        }
        promise.with(status);
    }

    /// Connects, and works until the connection is over.
    async fn work(
        &mut self,
        input: Input,
        output: Output,
        hub: &Arc<ClientShared>,
        report: &mut Option<Report>,
    ) -> Result<(), ConnectError> {
        let info = self.settings.info();
        let mut client = self.settings.client(&info, self.observer.as_mut())?;
        let mut pump = Pump::new(input, output);
        let waker = pump.waker();
        let mut session = Session::new(hub, Arc::new(move || waker.wake()), self.ask.clone());
        let mut outcome = Err(ConnectError::Closed(None));
        loop {
            let until = session.advance(&mut client, pump.now());
            match pump.run_until(&mut client, until).await {
                PumpStatus::Closed => return outcome,
                PumpStatus::Woken if session.is_overdue(pump.now()) => return outcome,
                PumpStatus::Woken => {}
                PumpStatus::Event => match session.event(&mut client) {
                    Some(Ok(details)) => {
                        if report.take().is_some_and(|report| report.send(Ok(details)).is_err()) {
                            // There is no handle that would close it.
                            hub.close(None);
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

fn is_wanted(report: &Option<Report>) -> bool {
    report.as_ref().is_some_and(|report| !report.is_closed())
}

/// How the process has ended says more than that the connection has.
fn closed_with(error: ConnectError, status: Option<ExitStatus>) -> ConnectError {
    match error {
        ConnectError::Closed(_) => ConnectError::Closed(status),
        error => error,
    }
}

/// Closes a connection that nobody waits for any more.
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
