//! What workers send to the thread that owns the machine, and what that thread tells them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Event, Reply};
use mcp_proto::{ClientCapabilities, Decimal, Level, Millis, NotNow, Revision, Server, Ticket};

use crate::ask::{AskError, Asked, ClientAnswer, Question, withdraw};
use crate::pump::Waker;
use crate::responder::Task;
use crate::sync::{lock, wait};

/// So many notices of workers may wait to be sent; then workers wait. Answers are not counted: each call has one.
const MAIL_LIMIT: usize = 64;

/// What the workers and the thread of the server share.
pub(crate) struct Desk {
    state: Mutex<State>,
    /// There is room for mail, or somebody should stop waiting for it.
    room: Condvar,
    waker: Waker,
    pub(crate) limit: usize,
    /// The thread of the handler. It must not wait for itself.
    owner: ThreadId,
}

#[derive(Default)]
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

impl Mail {
    pub(crate) fn changed(change: Change<'_>) -> Mail {
        match change {
            Change::Resource(uri) => Mail::Updated(uri.to_owned()),
            Change::Tools => Mail::Changed(Change::Tools),
            Change::Prompts => Mail::Changed(Change::Prompts),
            // There are no others.
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
    pub(crate) fn new(waker: Waker, limit: usize) -> Arc<Desk> {
        let (state, room, owner) = (Mutex::default(), Condvar::new(), thread::current().id());
        Arc::new(Desk { state, room, waker, limit, owner })
    }

    /// A request is dealt with: its worker will hear of its end.
    pub(crate) fn begin(&self, ticket: Ticket) -> Arc<Task> {
        let task = Arc::new(Task::default());
        lock(&self.state).tasks.insert(ticket, Arc::clone(&task));
        task
    }

    /// What the client of the handshake speaks and can do.
    pub(crate) fn session(&self) -> Option<(Revision, ClientCapabilities)> {
        lock(&self.state).session
    }

    /// The right to run one more request.
    pub(crate) fn place(self: &Arc<Self>) -> Option<Place> {
        let mut state = lock(&self.state);
        if state.running >= self.limit {
            return None;
        }
        state.running += 1;
        Some(Place(Arc::clone(self)))
    }

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

    /// However the connection ends, the workers hear of it.
    pub(crate) fn end_on_drop(self: &Arc<Self>) -> EndOnDrop {
        EndOnDrop(Arc::clone(self))
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

    /// Tells the workers what concerns them.
    pub(crate) fn notice(&self, event: &Event<'_>) {
        let mut state = lock(&self.state);
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
        self.room.notify_all();
    }

    /// Hands to the machine what has come from other threads, as far as it has room.
    pub(crate) fn deliver(&self, server: &mut Server<'_>, now: Millis) {
        loop {
            let mut state = lock(&self.state);
            let Some(mail) = state.mail.pop_front() else { return };
            if let Mail::Answer(ticket, _) = &mail {
                state.tasks.remove(ticket);
            }
            drop(state);
            if let Some(refused) = mail.deliver(self, server, now) {
                lock(&self.state).mail.push_front(refused);
                return;
            }
            self.room.notify_all();
        }
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
