//! What those who deal with requests send to whoever owns the server's machine, and what they hear of it.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::thread::{self, ThreadId};
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Event};
use mcp_proto::{ClientCapabilities, Level, Millis, Revision, Server, Ticket};

use crate::Wake;
use crate::defer::{Defer, Token};
use crate::options::millis;
use crate::outbound_request::{
    ClientResponse, OutboundRequest, PendingResponse, RequestError, Told, withdraw,
};
use crate::responder::Responder;
use crate::server_command::{Delivered, ServerCommand};
use crate::signal::Signal;
use crate::task::Task;
use crate::tickets::Tickets;

const INTERNAL_ERROR: i32 = -32603;

/// So many notices may wait to be sent; then whoever sends one waits. Answers are not counted: each request has one.
const MAIL_LIMIT: usize = 64;

/// What the handles of a server share with whoever owns its machine, whose loop is this:
///
/// ```ignore
/// let _end = desk.end_on_drop();
/// loop {
///     let until = desk.deliver(&mut server, now());
///     match /* move bytes, until then at the latest */ {
///         Step::Closed => break,
///         Step::Woken if desk.is_overdue(now()) => break,
///         Step::Woken => {}
///         Step::Event => {
///             if let Some(event) = server.event() {
///                 desk.hear(&event);
///                 handler(event);
///             }
///         }
///     }
/// }
/// ```
pub struct ServerShared {
    state: Signal<State>,
    wake: Wake,
    limit: usize,
    /// A thread that owns the machine, if it is always the same one. It must not wait for itself.
    owner: Option<ThreadId>,
}

#[derive(Default)]
struct State {
    mail: VecDeque<ServerCommand>,
    changes: Changes,
    tasks: Tickets<Arc<Task>>,
    /// What the client was asked and has not answered.
    asked: Tickets<PendingResponse>,
    /// What the client of the handshake speaks and can do.
    session: Option<(Revision, ClientCapabilities)>,
    /// Requests that run, some of them maybe cancelled.
    running: usize,
    /// The connection is to end, within this time if one was given.
    ending: Option<Option<Duration>>,
    /// When it is to end.
    ends: Option<Millis>,
    over: bool,
}

/// What has changed and was not told yet. Once is enough.
#[derive(Default)]
struct Changes {
    lists: Vec<Change<'static>>,
    resources: Vec<String>,
}

impl Changes {
    fn add(&mut self, change: Change<'_>) {
        let list = match change {
            Change::Resource(uri) if self.resources.iter().any(|known| known == uri) => return,
            Change::Resource(uri) => return self.resources.push(uri.to_owned()),
            Change::Tools => Change::Tools,
            Change::Prompts => Change::Prompts,
            // There are no others.
            _ => Change::Resources,
        };
        if !self.lists.contains(&list) {
            self.lists.push(list);
        }
    }

    fn tell(self, server: &mut Server<'_>) {
        self.lists.into_iter().for_each(|list| server.changed(list));
        self.resources.iter().for_each(|uri| server.changed(Change::Resource(uri)));
    }
}

impl ServerShared {
    /// For so many requests that run at once. `wake` gets the owner of the machine to call [`deliver`](ServerShared::deliver); if
    /// that is a thread, nothing ever waits on it.
    #[must_use]
    pub fn new(wake: Wake, limit: usize, owner: Option<ThreadId>) -> Arc<ServerShared> {
        Arc::new(ServerShared { state: Signal::default(), wake, limit, owner })
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.owner.is_some_and(|owner| owner == thread::current().id())
    }

    /// The duty to answer a request later. If as many run as there may be, or no slot is free, it is refused (-32603).
    #[must_use]
    pub fn accept(self: &Arc<Self>, request: impl Defer, time: Option<Duration>) -> Option<Responder> {
        let refuse = |request| {
            Token::error(
                request,
                INTERNAL_ERROR,
                format_args!("Too many requests at once (at most {})", self.limit),
            );
        };
        let Some(place) = self.place() else {
            refuse(request);
            return None;
        };
        let client = (request.revision(), request.client());
        match Token::defer(request, time.map(millis)) {
            Ok(ticket) => {
                let task = Arc::new(Task::default());
                self.state.look(|state| state.tasks.insert(ticket, Arc::clone(&task)));
                Some(Responder::new(Arc::clone(self), ticket, client, task, place))
            }
            Err(request) => {
                refuse(request);
                None
            }
        }
    }

    /// Whether anybody has a part in this besides those who hold so many of it: who could send something at any time. If not,
    /// whatever was sent before is there.
    #[must_use]
    pub fn is_known_to_others(self: &Arc<Self>, ours: usize) -> bool {
        let known = Arc::strong_count(self) > ours;
        // Whoever has just let go may have sent something before.
        fence(Ordering::Acquire);
        known
    }

    /// The right to run one more request.
    fn place(self: &Arc<Self>) -> Option<Place> {
        self.state.look(|state| {
            let free = state.running < self.limit;
            state.running += usize::from(free);
            free.then(|| Place(Arc::clone(self)))
        })
    }

    /// Sends mail, however much there is.
    pub(crate) fn push(&self, mail: ServerCommand) {
        let late = self.state.look(|state| {
            if state.over {
                return Some(mail);
            }
            if mail.is_urgent {
                state.mail.push_front(mail);
            } else {
                state.mail.push_back(mail);
            }
            None
        });
        if late.is_none() {
            (self.wake)();
        }
    }

    /// Sends a notice when there is room for it, unless `task` is cancelled before.
    pub(crate) async fn send(&self, mail: ServerCommand, task: Option<&Task>) {
        let may_go = |state: &mut State| {
            let room = state.mail.len() < MAIL_LIMIT || self.is_owner();
            (room || state.over || task.is_some_and(Task::is_cancelled)).then_some(())
        };
        self.state.until(may_go).await;
        self.push(mail);
    }

    /// Says that a list or a resource has changed. Nobody waits for that.
    pub fn changed(&self, change: Change<'_>) {
        self.state.look(|state| {
            if !state.over {
                state.changes.add(change)
            }
        });
        (self.wake)();
    }

    /// Sends a log message that belongs to no request, when there is room for it.
    pub async fn log(&self, level: Level, text: String) {
        self.send(ServerCommand::log(level, text), None).await;
    }

    /// Asks a client of the handshake era for something that belongs to no request.
    ///
    /// # Errors
    /// There is no answer.
    pub fn request<'d>(
        &'d self,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'d> {
        let session = self.state.look(|state| state.session).ok_or(RequestError::Closed);
        self.put(session.and_then(|session| OutboundRequest::new(input, session, None, None)), None)
    }

    /// Asks the client, and waits for its answer. If nobody waits any more, the question is withdrawn.
    pub(crate) async fn put(
        &self,
        question: Result<(OutboundRequest, Arc<Told>), RequestError>,
        task: Option<&Task>,
    ) -> Result<ClientResponse, RequestError> {
        if self.is_owner() {
            return Err(RequestError::Invalid(
                "the handler cannot wait for an answer: ask on another thread",
            ));
        }
        let (question, told) = question?;
        let _unheard = Unheard { desk: self, told: Arc::clone(&told) };
        self.send(ServerCommand::request(question), task).await;
        told.answer().await
    }

    /// Ends the connection: new requests are refused, what runs is finished. What is not finished `within` this time, or
    /// when the machine's own grace is over if none is given, is answered with an error.
    pub fn shutdown(&self, within: Option<Duration>) {
        self.state.look(|state| state.ending = Some(within));
        (self.wake)();
    }

    /// Whether the time is long over that [`shutdown`](ServerShared::shutdown) was given: the client does not read.
    #[must_use]
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.state.look(|state| state.ends).is_some_and(|ends| ends.plus(LAST_WORDS) <= now)
    }

    /// However the connection ends, everybody hears of it when this is dropped.
    #[must_use]
    pub fn end_on_drop(self: &Arc<Self>) -> EndOnDrop {
        EndOnDrop(Arc::clone(self))
    }

    /// Tells those whom it concerns about an event of the machine.
    pub fn hear(&self, event: &Event<'_>) {
        match event {
            Event::Cancelled { ticket, .. } | Event::Expired(ticket) => self.give_up(*ticket),
            Event::Response(answered) => {
                if let Some(asked) = self.state.look(|state| state.asked.take(answered.ticket())) {
                    asked.end(answered);
                }
            }
            Event::Connected(connected) => {
                self.state.look(|state| state.session = Some((connected.revision(), connected.client())));
            }
            Event::Restarted => {
                let tasks = self.state.change(|state| mem::take(&mut state.tasks));
                tasks.into_iter().for_each(|(_, task)| task.cancel());
                self.look_again();
            }
            _ => {}
        }
    }

    /// Nobody waits for the answer to this request any more.
    fn give_up(&self, ticket: Ticket) {
        let (task, withdrawn) = self.state.look(|state| {
            (state.tasks.take(ticket), withdraw(&mut state.asked, |asked| asked.during == Some(ticket)))
        });
        if let Some(task) = task {
            task.cancel();
        }
        for (ticket, asked) in withdrawn {
            asked.cancel();
            self.push(ServerCommand::withdraw(ticket));
        }
        self.look_again();
    }

    /// The client was asked. Whoever wanted to know may have gone meanwhile.
    pub(crate) fn asked(&self, ticket: Ticket, asked: PendingResponse) {
        self.state.look(|state| state.asked.insert(ticket, asked));
        let unheard = self.state.look(|state| withdraw(&mut state.asked, PendingResponse::is_unheard));
        unheard.into_iter().for_each(|(ticket, _)| self.push(ServerCommand::withdraw(ticket)));
    }

    /// Wakes those who wait for room: there is some, or nobody waits for them any more.
    fn look_again(&self) {
        self.state.change(|_| {});
    }

    /// Hands to the machine what has come, as far as it has room. It wants to be called again after every event, when it
    /// was woken, and at the time that comes back.
    pub fn deliver(&self, server: &mut Server<'_>, now: Millis) -> Option<Millis> {
        let (is_idle, ends) = self.state.look(|state| (state.is_idle(), state.ends));
        // After nearly every event.
        if is_idle {
            return ends.map(|ends| ends.plus(LAST_WORDS));
        }
        self.state.look(|state| mem::take(&mut state.changes)).tell(server);
        if let Some(within) = self.state.look(|state| state.ending.take()) {
            self.end(server, within, now);
        }
        // What comes meanwhile has woken us for the next time: however much comes, there is time for everything else.
        for _ in 0..self.state.look(|state| state.mail.len()) {
            let Some(mut mail) = self.state.look(State::next) else { break };
            if mail.deliver(server, self) == Delivered::NotYet {
                self.state.look(|state| state.mail.push_front(mail));
                break;
            }
            drop(mail);
            self.look_again();
        }
        self.state.look(|state| state.ends).map(|ends| ends.plus(LAST_WORDS))
    }

    fn end(&self, server: &mut Server<'_>, within: Option<Duration>, now: Millis) {
        let Some(within) = within else { return server.shutdown(now) };
        let ends = now.plus(millis(within));
        server.shutdown_by(now, ends);
        self.state.look(|state| state.ends = Some(ends));
    }
}

/// How long the last answers may take to be read, when the time is over that a shutdown was given.
const LAST_WORDS: Millis = Millis::seconds(2);

impl State {
    /// Whether the machine has nothing to hear.
    fn is_idle(&self) -> bool {
        let Changes { lists, resources } = &self.changes;
        self.mail.is_empty() && self.ending.is_none() && lists.is_empty() && resources.is_empty()
    }

    fn next(&mut self) -> Option<ServerCommand> {
        let mail = self.mail.pop_front();
        if let Some(ticket) = mail.as_ref().and_then(|mail| mail.answers) {
            self.tasks.take(ticket);
        }
        mail
    }
}

impl std::fmt::Debug for ServerShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerShared").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Withdraws a question when it is dropped, if it is not answered by then.
struct Unheard<'d> {
    desk: &'d ServerShared,
    told: Arc<Told>,
}

impl Drop for Unheard<'_> {
    fn drop(&mut self) {
        if self.told.is_over() {
            return;
        }
        self.told.give_up();
        let unheard = self.desk.state.look(|state| withdraw(&mut state.asked, PendingResponse::is_unheard));
        unheard.into_iter().for_each(|(ticket, _)| self.desk.push(ServerCommand::withdraw(ticket)));
    }
}

/// A request that runs. Dropped just before its answer leaves, so that a client that has it finds the place free.
pub(crate) struct Place(Arc<ServerShared>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.state.look(|state| state.running -= 1);
    }
}

/// Tells everybody that the connection is over.
#[derive(Debug)]
pub struct EndOnDrop(Arc<ServerShared>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let desk = &self.0;
        let (mail, asked, tasks) = desk.state.change(|state| {
            state.over = true;
            (mem::take(&mut state.mail), mem::take(&mut state.asked), mem::take(&mut state.tasks))
        });
        // Their own ends look at the desk.
        drop((mail, asked));
        tasks.into_iter().for_each(|(_, task)| task.cancel());
        desk.look_again();
    }
}
