//! State shared between a server's handles and its event loop.

mod commands;
mod events;
mod requests;

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use mcp_proto::rpc::code;
use mcp_proto::server::Change;
use mcp_proto::{ClientCapabilities, Millis, Revision, Server, Ticket};

use crate::Wake;
use crate::cancellation::Task;
use crate::defer::{Defer, DeferRequest};
use crate::hook::{RequestHook, RequestOutcome};
use crate::outbound_request::PendingResponse;
use crate::request_link::RequestLink;
use crate::request_record::{Hooks, RequestRecord};
use crate::responder::Responder;
use crate::server_command::ServerCommand;
use crate::signal::{Signal, lock};
use crate::ticket_map::TicketMap;

/// Number of queued commands at which senders of notifications and requests wait, except [between the chunks of a
/// response](State::may_send). All other commands are queued immediately, so the queue can exceed this number. The
/// number of these other commands is bounded: for example, each request has at most one response.
const MAX_QUEUED_COMMANDS: usize = 64;

/// State shared between a server's handles and its event loop.
///
/// Methods that wait until the queue of commands has space do not wait on the thread of the event loop, or if the
/// connection is closed. The owner of the [`Server`] runs this loop:
///
/// ```ignore
/// let _guard = shared.close_guard();
/// loop {
///     let until = shared.process_commands(&mut server, now());
///     match /* move bytes, at the latest until `until` */ {
///         PumpStatus::Closed => break,
///         PumpStatus::Woken if shared.is_overdue(now()) => break,
///         PumpStatus::Woken => {}
///         PumpStatus::Event => _ = shared.handle_event(&mut server, &mut handler),
///     }
/// }
/// ```
pub struct ServerShared {
    state: Signal<State>,
    /// Whether [`process_commands`](ServerShared::process_commands) has work. Changes only under the lock of `state`.
    /// The event loop reads the flag after each event, because reading the flag is cheaper than taking the lock.
    has_work: AtomicBool,
    wake: Wake,
    clock: Box<dyn Fn() -> Millis + Send + Sync>,
    limit: usize,
    /// Whether the transport has many sessions. If so, an unfinished chunked response blocks no other message. Each
    /// message to a client, except a change notification, must then name the request to which the message belongs.
    pub(crate) has_sessions: bool,
    /// The thread that runs the event loop now, or `None` if the thread is unknown. Methods that this thread calls
    /// never wait.
    owner: Mutex<Option<ThreadId>>,
    hooks: Hooks,
    /// The record of the request that the handler is handling, if a hook or a subscriber of spans observes the request.
    /// `None` after the handler has returned, or has deferred the request.
    current: Mutex<Option<Box<RequestRecord>>>,
}

#[derive(Default)]
struct State {
    commands: VecDeque<ServerCommand>,
    changes: PendingChanges,
    tasks: TicketMap<Arc<Task>>,
    /// Requests to the client that have no response yet.
    outbound: TicketMap<PendingResponse>,
    /// Revision and client capabilities of the handshake.
    session: Option<(Revision, ClientCapabilities)>,
    /// Requests whose HTTP connections are released after the current commands.
    released: Vec<Ticket>,
    /// Number of running requests, including cancelled ones.
    running: usize,
    /// Number of chunk writers without a write in progress.
    idle_writers: usize,
    /// A requested shutdown that has not started. The inner value is the time limit, or `None` for the server's grace
    /// period.
    shutdown: Option<Option<Duration>>,
    shutdown_deadline: Option<Millis>,
    is_closed: bool,
}

/// Change notifications that are not sent yet, without duplicates.
#[derive(Default)]
struct PendingChanges {
    lists: Vec<Change<'static>>,
    resources: Vec<String>,
}

impl PendingChanges {
    fn add(&mut self, change: Change<'_>) {
        let list = match change {
            Change::Resource(uri) if self.resources.iter().any(|known| known == uri) => return,
            Change::Resource(uri) => return self.resources.push(uri.to_owned()),
            Change::Tools => Change::Tools,
            Change::Prompts => Change::Prompts,
            // `Resources` is the only remaining list.
            _ => Change::Resources,
        };
        if !self.lists.contains(&list) {
            self.lists.push(list);
        }
    }

    /// Reports all changes to the clients. Returns whether there was a change.
    fn notify(self, server: &mut Server<'_>, sessions: &mut dyn Sessions) -> bool {
        let is_new = !self.lists.is_empty() || !self.resources.is_empty();
        self.lists.into_iter().for_each(|list| sessions.changed(server, list));
        self.resources.iter().for_each(|uri| sessions.changed(server, Change::Resource(uri)));
        is_new
    }
}

/// The sessions of a server, implemented by a transport with many sessions.
pub trait Sessions {
    /// Makes the server serve the session of a deferred request. Returns `false` if the server must first do other
    /// work: call the method again later.
    fn select(&mut self, server: &mut Server<'_>, ticket: Ticket) -> bool;

    /// Closes the HTTP connection of a deferred request, if the client can reconnect to the event stream of the
    /// request.
    fn release_connection(&mut self, server: &mut Server<'_>, ticket: Ticket);

    /// Notifies the clients of all sessions that a list or a resource has changed: see [`Server::changed`].
    fn changed(&mut self, server: &mut Server<'_>, change: Change<'_>);
}

/// The only session of a connection.
struct OneSession;

impl Sessions for OneSession {
    fn select(&mut self, _: &mut Server<'_>, _: Ticket) -> bool {
        true
    }

    fn release_connection(&mut self, _: &mut Server<'_>, _: Ticket) {}

    fn changed(&mut self, server: &mut Server<'_>, change: Change<'_>) {
        server.changed(change);
    }
}

impl ServerShared {
    /// Creates the shared state for at most `limit` running requests.
    ///
    /// `wake` must make the event loop call [`process_commands`](ServerShared::process_commands). `clock` returns the
    /// time with which the event loop polls the server. `owner` is the thread of the event loop, if it is known: methods
    /// that this thread calls never wait. The event loop calls the hooks before and after each request for the handler.
    #[must_use]
    pub fn new(
        wake: Wake,
        clock: impl Fn() -> Millis + Send + Sync + 'static,
        limit: usize,
        owner: Option<ThreadId>,
        hooks: Vec<Arc<dyn RequestHook>>,
    ) -> Arc<ServerShared> {
        ServerShared::create(wake, Box::new(clock), limit, false, owner, hooks)
    }

    /// Like [`new`](ServerShared::new), for a transport with many sessions, such as HTTP. The thread of the event loop
    /// is unknown until [`set_owner`](ServerShared::set_owner) is called.
    ///
    /// Except for change notifications, a message to a client must then belong to a request, because only the request
    /// identifies the client. So [`request`](ServerShared::request) fails, and other notifications that belong to no
    /// request are not sent.
    #[must_use]
    pub fn with_sessions(
        wake: Wake,
        clock: impl Fn() -> Millis + Send + Sync + 'static,
        limit: usize,
        hooks: Vec<Arc<dyn RequestHook>>,
    ) -> Arc<ServerShared> {
        ServerShared::create(wake, Box::new(clock), limit, true, None, hooks)
    }

    fn create(
        wake: Wake,
        clock: Box<dyn Fn() -> Millis + Send + Sync>,
        limit: usize,
        has_sessions: bool,
        owner: Option<ThreadId>,
        hooks: Vec<Arc<dyn RequestHook>>,
    ) -> Arc<ServerShared> {
        Arc::new(ServerShared {
            state: Signal::default(),
            has_work: AtomicBool::new(false),
            wake,
            clock,
            limit,
            has_sessions,
            owner: Mutex::new(owner),
            hooks,
            current: Mutex::default(),
        })
    }

    /// Sets the thread that runs the event loop now. `None` means that the thread is unknown. If several threads run
    /// the event loop in turn, call this method at each change.
    pub fn set_owner(&self, owner: Option<ThreadId>) {
        *lock(&self.owner) = owner;
    }

    /// Returns the current time of the clock with which the event loop polls the server.
    #[must_use]
    pub fn now(&self) -> Millis {
        (self.clock)()
    }

    pub(crate) fn is_owner(&self) -> bool {
        lock(&self.owner).is_some_and(|owner| owner == thread::current().id())
    }

    /// Defers a request for at most `time`, and returns its responder. If `time` is `None`, the timeout is
    /// [`Limits::deferred_timeout`](mcp_proto::server::Limits::deferred_timeout).
    ///
    /// Returns `None` if the limit of running requests is reached or no slot is free. The server then responds to the
    /// request with an error (-32603).
    #[must_use]
    pub fn defer(self: &Arc<Self>, request: impl Defer, time: Option<Duration>) -> Option<Responder> {
        let Some(permit) = self.acquire_permit() else {
            let limit = self.limit;
            DeferRequest::error(
                request,
                code::INTERNAL_ERROR,
                format_args!("Too many concurrent requests (at most {limit})"),
            );
            return None;
        };
        let (client, user) = ((request.revision(), request.client()), request.user());
        // The timeout starts now, not at the last poll: the handler may have worked for long since then.
        match DeferRequest::defer(request, self.now(), time.map(Millis::from)) {
            Ok(ticket) => {
                let record = if self.is_observed() { lock(&self.current).take() } else { None };
                let task = Arc::new(Task::new(record));
                self.state.with(|state| state.tasks.insert(ticket, Arc::clone(&task)));
                let link = RequestLink { shared: Arc::clone(self), ticket, client, user, task };
                Some(Responder::new(link, permit))
            }
            Err(request) => {
                DeferRequest::busy(request);
                None
            }
        }
    }

    /// Returns whether references exist besides the `own_count` references of the event loop.
    ///
    /// If the result is `false`, no other thread can send a command, and all earlier commands are visible.
    #[must_use]
    pub fn has_other_owners(self: &Arc<Self>, own_count: usize) -> bool {
        let has_others = Arc::strong_count(self) > own_count;
        // Pairs with the release of the last other reference, so that commands queued through that reference are
        // visible.
        fence(Ordering::Acquire);
        has_others
    }

    fn acquire_permit(self: &Arc<Self>) -> Option<RequestPermit> {
        self.state.with(|state| {
            let is_free = state.running < self.limit;
            state.running += usize::from(is_free);
            is_free.then(|| RequestPermit(Arc::clone(self)))
        })
    }

    /// Queues a command, even if the queue is full. Drops the command if the connection is closed.
    pub(crate) fn push(&self, command: ServerCommand) {
        let rejected = self.state.with(|state| {
            if state.is_closed {
                return Some(command);
            }
            self.has_work.store(true, Ordering::Relaxed);
            if command.is_urgent {
                state.commands.push_front(command);
            } else {
                state.commands.push_back(command);
            }
            None
        });
        if rejected.is_none() {
            (self.wake)();
        }
    }

    /// Queues a command when the queue has space: see [`State::may_send`].
    ///
    /// Does not wait if `task` is cancelled, if the connection is closed, or on the thread of the event loop.
    pub(crate) async fn send(&self, command: ServerCommand, task: Option<&Task>) {
        let may_send = |state: &mut State| {
            (state.may_send(self.has_sessions) || self.is_owner() || task.is_some_and(Task::is_cancelled))
                .then_some(())
        };
        self.state.wait_until(may_send).await;
        self.push(command);
    }

    /// Reports to all clients that a list or a resource has changed: see [`Server::changed`]. Never waits. Has no
    /// effect if the connection is closed.
    pub fn changed(&self, change: Change<'_>) {
        self.state.with(|state| {
            if !state.is_closed {
                self.has_work.store(true, Ordering::Relaxed);
                state.changes.add(change)
            }
        });
        (self.wake)();
    }

    /// Closes the connection. The server refuses new requests, but running requests may finish.
    ///
    /// Requests that are still running after `within` receive an error response. `None` means the server's grace
    /// period.
    pub fn shutdown(&self, within: Option<Duration>) {
        self.state.with(|state| {
            self.has_work.store(true, Ordering::Relaxed);
            state.shutdown = Some(within);
        });
        (self.wake)();
    }

    /// Returns whether the connection must end, even if responses are unsent.
    ///
    /// Returns `true` from two seconds after the end of a [`shutdown`](ServerShared::shutdown)'s time limit. Returns
    /// `false` if no limit is set. A connection lasts that long only if the client does not read its responses.
    #[must_use]
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.state.with(|state| state.shutdown_deadline).is_some_and(|at| at.plus(LAST_RESPONSES) <= now)
    }

    /// Returns a guard that marks the connection as closed on drop.
    #[must_use]
    pub fn close_guard(self: &Arc<Self>) -> ServerCloseGuard {
        ServerCloseGuard(Arc::clone(self))
    }

    /// Wakes all senders, which check again for queue space, a cancellation, or the end of the connection.
    fn wake_waiters(&self) {
        self.state.update(|_| {});
    }

    /// Applies queued commands to the server until one must wait, for example for space in the transmit buffer.
    ///
    /// Call this method after every event, after a wake-up, and at the returned time. At this time,
    /// [`is_overdue`](ServerShared::is_overdue) returns `true`. Returns `None` if no shutdown has a time limit.
    #[inline]
    pub fn process_commands(&self, server: &mut Server<'_>, now: Millis) -> Option<Millis> {
        // The wake-up that follows a command makes the flag visible.
        if self.has_work() { self.process_pending(server, &mut OneSession, now).1 } else { None }
    }

    /// Returns whether [`process_commands`](ServerShared::process_commands) has work. This work may set deadlines, so
    /// the caller should pass the current time to that method.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.has_work.load(Ordering::Relaxed)
    }

    /// Like [`process_commands`](ServerShared::process_commands), for a transport with many sessions. Also returns
    /// whether the call gave the server new work. If so, the caller must poll the server again.
    #[inline]
    pub fn process_commands_in(
        &self,
        server: &mut Server<'_>,
        sessions: &mut dyn Sessions,
        now: Millis,
    ) -> (bool, Option<Millis>) {
        if self.has_work() { self.process_pending(server, sessions, now) } else { (false, None) }
    }

    fn process_pending(
        &self,
        server: &mut Server<'_>,
        sessions: &mut dyn Sessions,
        now: Millis,
    ) -> (bool, Option<Millis>) {
        let mut is_new = self.state.with(|state| mem::take(&mut state.changes)).notify(server, sessions);
        if let Some(within) = self.state.with(|state| state.shutdown.take()) {
            self.start_shutdown(server, within, now);
            is_new = true;
        }
        is_new |= self.apply_commands(server, sessions);
        let (released, shutdown_deadline) = self.state.with(|state| {
            self.has_work.store(!state.is_idle(), Ordering::Relaxed);
            (mem::take(&mut state.released), state.shutdown_deadline)
        });
        released.into_iter().for_each(|ticket| sessions.release_connection(server, ticket));
        (is_new, shutdown_deadline.map(|at| at.plus(LAST_RESPONSES)))
    }

    pub(crate) fn add_released(&self, ticket: Ticket) {
        self.state.with(|state| state.released.push(ticket));
    }

    fn start_shutdown(&self, server: &mut Server<'_>, within: Option<Duration>, now: Millis) {
        let Some(within) = within else { return server.shutdown(now) };
        let deadline = now.plus(Millis::from(within));
        server.shutdown_by(now, deadline);
        self.state.with(|state| state.shutdown_deadline = Some(deadline));
    }
}

/// Time for the client to read the last responses after a shutdown's deadline.
const LAST_RESPONSES: Millis = Millis::seconds(2);

impl State {
    /// Returns whether no command, change or shutdown is pending, and no shutdown has a deadline.
    fn is_idle(&self) -> bool {
        let PendingChanges { lists, resources } = &self.changes;
        let is_shutting_down = self.shutdown.is_some() || self.shutdown_deadline.is_some();
        self.commands.is_empty() && !is_shutting_down && lists.is_empty() && resources.is_empty()
    }
}

impl std::fmt::Debug for ServerShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerShared").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// A permit that counts as one running request.
///
/// The responder drops the permit just before it queues the response. Therefore the permit is free when the client has
/// the response and sends the next request.
pub(crate) struct RequestPermit(Arc<ServerShared>);

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.0.state.with(|state| state.running -= 1);
    }
}

/// A guard that marks the server's connection as closed on drop. The drop cancels every deferred request and ends every
/// wait.
#[derive(Debug)]
pub struct ServerCloseGuard(Arc<ServerShared>);

impl Drop for ServerCloseGuard {
    fn drop(&mut self) {
        let shared = &self.0;
        let (commands, outbound, tasks) = shared.state.update(|state| {
            state.is_closed = true;
            (mem::take(&mut state.commands), mem::take(&mut state.outbound), mem::take(&mut state.tasks))
        });
        // Drop these values outside of the lock, because their destructors use the shared state.
        drop((commands, outbound));
        tasks.into_iter().for_each(|(_, task)| task.end(RequestOutcome::Closed));
        shared.wake_waiters();
    }
}
