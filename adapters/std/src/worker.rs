//! Calls that run on threads of their own, and what they send back to the thread that owns the machine.

use std::collections::{HashMap, VecDeque};
use std::fmt::Display;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use mcp_proto::server::{Call, Change, Event, Reply};
use mcp_proto::{Decimal, Level, Millis, NotNow, Server, Ticket};

use crate::pump::Waker;
use crate::responder::{Responder, Task};
use crate::sync::{lock, wait};

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
}

struct State {
    mail: VecDeque<Mail>,
    tasks: HashMap<Ticket, Arc<Task>>,
    /// Calls that run, some of them maybe cancelled.
    running: usize,
    over: bool,
}

pub(crate) type Answer = Box<dyn FnOnce(Reply<'_>) + Send>;

pub(crate) enum Mail {
    Answer(Ticket, Answer),
    Progress { ticket: Ticket, progress: Decimal, total: Option<Decimal>, message: String },
    LogOf { ticket: Ticket, level: Level, text: String },
    Log { level: Level, text: String },
    Changed(Change<'static>),
    Shutdown,
}

impl ServerHandle {
    pub(crate) fn new(waker: Waker, limit: usize) -> ServerHandle {
        let state = State { mail: VecDeque::new(), tasks: HashMap::new(), running: 0, over: false };
        ServerHandle { desk: Arc::new(Desk { state: Mutex::new(state), room: Condvar::new(), waker, limit }) }
    }

    /// Lets `work` answer a call on a thread of its own. Decode the arguments first, and move them in.
    ///
    /// If as many workers run as there may be, the call is answered as [busy](Call::busy). It may take as long as the
    /// server's limit for deferred requests says: then the machine answers, and the work hears that it is cancelled.
    pub fn run(&self, call: Call<'_>, work: impl FnOnce(Responder) + Send + 'static) {
        self.start(call, None, work);
    }

    /// The same for work that may take `time`.
    pub fn run_within(&self, time: Duration, call: Call<'_>, work: impl FnOnce(Responder) + Send + 'static) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.start(call, Some(Millis(time)), work);
    }

    fn start(&self, call: Call<'_>, time: Option<Millis>, work: impl FnOnce(Responder) + Send + 'static) {
        let Some(place) = self.place() else { return call.busy() };
        let ticket = match call.defer(time) {
            Ok(ticket) => ticket,
            Err(call) => return call.busy(),
        };
        let task = Arc::new(Task::default());
        lock(&self.desk.state).tasks.insert(ticket, Arc::clone(&task));
        let responder = Responder::new(Arc::clone(&self.desk), ticket, task, place);
        // If no thread can be started, the responder is dropped with the closure, and that is an answer.
        let _ = thread::Builder::new().name("mcp-work".into()).spawn(move || work(responder));
    }

    /// The right to run one more call.
    fn place(&self) -> Option<Place> {
        let mut state = lock(&self.desk.state);
        if state.running >= self.desk.limit {
            return None;
        }
        state.running += 1;
        Some(Place(Arc::clone(&self.desk)))
    }

    /// Says that a list has changed, from any thread.
    pub fn changed(&self, change: Change<'static>) {
        self.desk.send(Mail::Changed(change), None);
    }

    /// Sends a log message that belongs to no request, to a client of the handshake era that wants it. Waits while
    /// the client does not read, so it is not for the handler: that has [`Call::log`].
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
            if let Some(refused) = mail.deliver(server, now) {
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
    /// The mail comes back if there is no room yet; the machine says when there is. What nobody wants is dropped.
    fn deliver(self, server: &mut Server<'_>, now: Millis) -> Option<Mail> {
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
            Mail::Changed(change) => server.changed(change),
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

    /// Sends a notice when there is room for it, unless `task` is cancelled before.
    pub(crate) fn send(&self, mail: Mail, task: Option<&Task>) {
        let mut state = lock(&self.state);
        while state.mail.len() >= MAIL_LIMIT && !state.over && !task.is_some_and(Task::is_cancelled) {
            state = wait(&self.room, state);
        }
        drop(state);
        self.push(mail);
    }
}

/// A call that runs. Dropped just before its answer leaves, so that a client that has it finds the place free.
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
        state.tasks.drain().for_each(|(_, task)| task.cancel());
        drop(state);
        self.0.room.notify_all();
    }
}
