//! Requests that are dealt with on threads of their own.

use std::fmt::Display;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcp_proto::Level;
use mcp_proto::input::Input;
use mcp_proto::server::Change;
use mcp_proto_handles::{AskError, ClientAnswer, Defer, Desk, block_on};

use crate::responder::Responder;

/// A running server, as its handler and any other thread see it.
///
/// ```no_run
/// # use mcp_proto::server::{Event, ServerInfo};
/// # static INFO: ServerInfo = ServerInfo::new("example", "1.0.0");
/// use std::time::Duration;
/// mcp_proto_std::serve(&INFO, |event, server| match event {
///     Event::Call(call) => server.run(call, |answer| {
///         for step in 1..=10u32 {
///             answer.progress(step, Some(10.into()), "working");
///             if answer.sleep_unless_cancelled(Duration::from_secs(1)).is_err() {
///                 return;
///             }
///         }
///         answer.text("done");
///     }),
///     _ => {}
/// })?;
/// # Ok::<(), mcp_proto_std::ServeError>(())
/// ```
#[derive(Clone)]
pub struct ServerHandle {
    desk: Arc<Desk>,
}

impl ServerHandle {
    pub(crate) fn new(desk: Arc<Desk>) -> ServerHandle {
        ServerHandle { desk }
    }

    /// Lets `work` answer a request on a thread of its own: a call, a read, a prompt, a completion. Take out of it what
    /// the work needs first, and move that in: `call.arguments()`, for example.
    ///
    /// If as many workers run as there may be, the request is refused (-32603). It may take as long as the server's
    /// limit for deferred requests says: then the machine answers, and the work hears that it is cancelled.
    pub fn run(&self, request: impl Defer, work: impl FnOnce(Responder) + Send + 'static) {
        self.start(request, None, work);
    }

    /// The same for work that may take `time`.
    pub fn run_within(
        &self,
        time: Duration,
        request: impl Defer,
        work: impl FnOnce(Responder) + Send + 'static,
    ) {
        self.start(request, Some(time), work);
    }

    fn start(
        &self,
        request: impl Defer,
        time: Option<Duration>,
        work: impl FnOnce(Responder) + Send + 'static,
    ) {
        let Some(responder) = self.desk.accept(request, time) else { return };
        let responder = Responder::new(responder);
        // If no thread can be started, the responder is dropped with the closure, and that is an answer.
        let _ = thread::Builder::new().name("mcp-work".into()).spawn(move || work(responder));
    }

    /// Says that a list or a resource has changed, from any thread.
    pub fn changed(&self, change: Change<'_>) {
        self.desk.changed(change);
    }

    /// Asks a client of the handshake era for something that belongs to no request, and waits for the answer: for its
    /// roots, when it has connected or they have changed. This is for any thread but the handler's, which has to hear
    /// the answer. The server's own limit says how long the client may take ([`Limits::asked`]).
    ///
    /// ```no_run
    /// # use mcp_proto::server::{Event, ServerInfo};
    /// # static INFO: ServerInfo = ServerInfo::new("example", "1.0.0");
    /// use mcp_proto::input::ListRoots;
    /// mcp_proto_std::serve(&INFO, |event, server| match event {
    ///     Event::Ready | Event::RootsChanged => {
    ///         let server = server.clone();
    ///         std::thread::spawn(move || match server.ask(&ListRoots) {
    ///             Ok(answer) => answer.roots().into_iter().flatten().for_each(|root| eprintln!("{}", root.uri())),
    ///             Err(why) => eprintln!("no roots: {why}"),
    ///         });
    ///     }
    ///     _ => {}
    /// })?;
    /// # Ok::<(), mcp_proto_std::ServeError>(())
    /// ```
    ///
    /// # Errors
    /// There is no answer.
    ///
    /// [`Limits::asked`]: mcp_proto::server::Limits::asked
    pub fn ask(&self, input: &dyn Input) -> Result<ClientAnswer, AskError> {
        block_on(self.desk.ask(input))
    }

    /// Sends a log message that belongs to no request, to a client of the handshake era that wants it. Waits while
    /// the client does not read.
    pub fn log(&self, level: Level, text: impl Display) {
        block_on(self.desk.log(level, text.to_string()));
    }

    /// Ends the connection: what is on its way is finished, for as long as the grace lasts.
    pub fn shutdown(&self) {
        self.desk.shutdown(None);
    }
}

impl std::fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerHandle").finish_non_exhaustive()
    }
}
