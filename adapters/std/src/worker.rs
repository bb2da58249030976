//! Requests that are dealt with on threads of their own, and what those send to the thread that owns the machine.

use std::collections::{HashMap, VecDeque};
use std::fmt::Display;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Event, Reply};
use mcp_proto::{ClientCapabilities, Decimal, Level, Millis, NotNow, Revision, Server, Ticket};

use crate::ask::{AskError, Asked, ClientAnswer, Question, millis, withdraw};
use crate::defer::Defer;
use crate::pump::Waker;
use crate::responder::{Responder, Task};
use crate::sync::{lock, wait};

const INTERNAL_ERROR: i32 = -32603;

/// So many notices of workers may wait to be sent; then workers wait. Answers are not counted: each call has one.
const MAIL_LIMIT: usize = 64;

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

pub(crate) struct Desk {
    state: Mutex<State>,
    /// There is room for mail, or somebody should stop waiting for it.
    room: Condvar,
    waker: Waker,
    limit: usize,
    /// The thread of the handler. It must not wait for itself.
    owner: ThreadId,
}

struct State {
    mail: VecDeque<Mail>,
    tasks: HashMap<Ticket, Arc<Task>>,
    /// What the client was asked and has not answered.
    asked: HashMap<Ticket, Asked>,
    /// What the client of the handshake speaks and can do.
    session: Option<(Revision, ClientCapabilities)>,
    /// Requests that run, some of them maybe cancelled.
    running: usize,
    over: bool,
}

pub(crate) type Answer = Box<dyn FnOnce(Reply<'_>) + Send>;

pub(crate) enum Mail {
    Answer(Ticket, Answer),
    Progress { ticket: Ticket, progress: Decimal, total: Option<Decimal>, message: String },
    LogOf { ticket: Ticket, level: Level, text: String },
    Log { level: Level, text: String },
    Ask(Question),
    Withdraw(Ticket),
    Changed(Change<'static>),
    Updated(String),
    Shutdown,
}

impl ServerHandle {
    pub(crate) fn new(waker: Waker, limit: usize) -> ServerHandle {
        let state = State {
            mail: VecDeque::new(),
            tasks: HashMap::new(),
            asked: HashMap::new(),
            session: None,
            running: 0,
            over: false,
        };
        let (state, room, owner) = (Mutex::new(state), Condvar::new(), thread::current().id());
        ServerHandle { desk: Arc::new(Desk { state, room, waker, limit, owner }) }
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
        self.start(request, Some(millis(time)), work);
    }

    fn start(
        &self,
        request: impl Defer,
        time: Option<Millis>,
        work: impl FnOnce(Responder) + Send + 'static,
    ) {
        let busy = format_args!("Too many requests at once (at most {})", self.desk.limit);
        let Some(place) = self.place() else { return request.error(INTERNAL_ERROR, busy) };
        let client = (request.revision(), request.client());
        let ticket = match request.defer(time) {
            Ok(ticket) => ticket,
            Err(request) => return request.error(INTERNAL_ERROR, busy),
        };
        let task = Arc::new(Task::default());
        lock(&self.desk.state).tasks.insert(ticket, Arc::clone(&task));
        let responder = Responder::new(Arc::clone(&self.desk), ticket, client, task, place);
        // If no thread can be started, the responder is dropped with the closure, and that is an answer.
        let _ = thread::Builder::new().name("mcp-work".into()).spawn(move || work(responder));
    }

    /// The right to run one more request.
    fn place(&self) -> Option<Place> {
        let mut state = lock(&self.desk.state);
        if state.running >= self.desk.limit {
            return None;
        }
        state.running += 1;
        Some(Place(Arc::clone(&self.desk)))
    }

    /// Says that a list or a resource has changed, from any thread.
    pub fn changed(&self, change: Change<'_>) {
        self.desk.send(Mail::changed(change), None);
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
        let session = lock(&self.desk.state).session.ok_or(AskError::Closed)?;
        self.desk.ask(input, session, None, None, None)
    }

    /// Sends a log message that belongs to no request, to a client of the handshake era that wants it. Waits while
    /// the client does not read.
    pub fn log(&self, level: Level, text: impl Display) {
        self.desk.send(Mail::Log { level, text: text.to_string() }, None);
    }

    /// Ends the connection: what is on its way is finished, for as long as the grace lasts.
    pub fn shutdown(&self) {
        self.desk.push(Mail::Shutdown);
    }

    /// Tells the workers what concerns them.
    pub(crate) fn notice(&self, event: &Event<'_>) {
        let mut state = lock(&self.desk.state);
        match event {
            Event::Cancelled { ticket, .. } | Event::Expired(ticket) => {
                if let Some(task) = state.tasks.remove(ticket) {
                    task.cancel();
                }
                let withdrawn = withdraw(&mut state.asked, *ticket);
                state.mail.extend(withdrawn.into_iter().map(Mail::Withdraw));
            }
            Event::Answered(answered) => {
                if let Some(asked) = state.asked.remove(&answered.ticket()) {
                    asked.end(answered);
                }
                return;
            }
            Event::Connected(connected) => {
                state.session = Some((connected.revision(), connected.client()));
                return;
            }
            Event::Restarted => state.tasks.drain().for_each(|(_, task)| task.cancel()),
            _ => return,
        }
        drop(state);
        self.desk.room.notify_all();
    }

    /// Hands to the machine what has come from other threads, as far as it has room.
    pub(crate) fn deliver(&self, server: &mut Server<'_>, now: Millis) {
        loop {
            let mut state = lock(&self.desk.state);
            let Some(mail) = state.mail.pop_front() else { return };
            if let Mail::Answer(ticket, _) = &mail {
                state.tasks.remove(ticket);
            }
            drop(state);
            if let Some(refused) = mail.deliver(&self.desk, server, now) {
                lock(&self.desk.state).mail.push_front(refused);
                return;
            }
            self.desk.room.notify_all();
        }
    }

    pub(crate) fn end_on_drop(&self) -> EndOnDrop {
        EndOnDrop(Arc::clone(&self.desk))
    }
}

impl std::fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerHandle").finish_non_exhaustive()
    }
}

impl Mail {
    pub(crate) fn changed(change: Change<'_>) -> Mail {
        match change {
            Change::Resource(uri) => Mail::Updated(uri.to_owned()),
            Change::Tools => Mail::Changed(Change::Tools),
            Change::Prompts => Mail::Changed(Change::Prompts),
            _ => Mail::Changed(Change::Resources),
        }
    }

    /// The mail comes back if there is no room yet; the machine says when there is. What nobody wants is dropped.
    fn deliver(self, desk: &Desk, server: &mut Server<'_>, now: Millis) -> Option<Mail> {
        match self {
            Mail::Answer(ticket, answer) => match server.reply(ticket) {
                Ok(reply) => answer(reply),
                Err(NotNow::Busy) => return Some(Mail::Answer(ticket, answer)),
                Err(_) => {}
            },
            Mail::Progress { ticket, progress, total, message } => match server.reply(ticket) {
                Ok(mut reply) => drop(reply.progress(progress, total, &message)),
                Err(NotNow::Busy) => return Some(Mail::Progress { ticket, progress, total, message }),
                Err(_) => {}
            },
            Mail::LogOf { ticket, level, text } => match server.reply(ticket) {
                Ok(mut reply) => drop(reply.log(level, None, text)),
                Err(NotNow::Busy) => return Some(Mail::LogOf { ticket, level, text }),
                Err(_) => {}
            },
            Mail::Log { level, text } => {
                if server.log(level, None, &text) == Err(NotNow::Busy) {
                    return Some(Mail::Log { level, text });
                }
            }
            Mail::Ask(question) => match question.send(server) {
                Ok(sent) => lock(&desk.state).asked.extend(sent),
                Err(question) => return Some(Mail::Ask(question)),
            },
            // If it has been answered meanwhile, nothing is left to withdraw.
            Mail::Withdraw(ticket) => drop(server.cancel(ticket, "")),
            Mail::Changed(change) => server.changed(change),
            Mail::Updated(uri) => server.changed(Change::Resource(&uri)),
            Mail::Shutdown => server.shutdown(now),
        }
        None
    }
}

impl Desk {
    pub(crate) fn push(&self, mail: Mail) {
        let mut state = lock(&self.state);
        if !state.over {
            state.mail.push_back(mail);
            drop(state);
            self.waker.wake();
        }
    }

    /// Sends a notice when there is room for it, unless `task` is cancelled before. The handler does not wait: it is
    /// its thread that makes room.
    pub(crate) fn send(&self, mail: Mail, task: Option<&Task>) {
        let mut state = lock(&self.state);
        let may_wait = thread::current().id() != self.owner;
        while may_wait
            && state.mail.len() >= MAIL_LIMIT
            && !state.over
            && !task.is_some_and(Task::is_cancelled)
        {
            state = wait(&self.room, state);
        }
        drop(state);
        self.push(mail);
    }

    /// Asks the client, and waits for its answer.
    pub(crate) fn ask(
        &self,
        input: &dyn Input,
        client: (Revision, ClientCapabilities),
        timeout: Option<Duration>,
        during: Option<Ticket>,
        task: Option<&Task>,
    ) -> Result<ClientAnswer, AskError> {
        if thread::current().id() == self.owner {
            return Err(AskError::Invalid("the handler cannot wait for an answer: ask on another thread"));
        }
        let (question, answer) = Question::new(input, client, timeout, during)?;
        self.send(Mail::Ask(question), task);
        answer.recv().unwrap_or(Err(AskError::Closed))
    }
}

/// A request that runs. Dropped just before its answer leaves, so that a client that has it finds the place free.
pub(crate) struct Place(Arc<Desk>);

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.0.state).running -= 1;
    }
}

/// Tells the workers that the connection is over.
pub(crate) struct EndOnDrop(Arc<Desk>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.over = true;
        state.mail.clear();
        state.asked.clear();
        state.tasks.drain().for_each(|(_, task)| task.cancel());
        drop(state);
        self.0.room.notify_all();
    }
}
