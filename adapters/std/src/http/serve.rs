//! Serves MCP over HTTP/1.1 on threads: one for each connection, one that accepts connections, and one for timers.

use std::collections::HashMap;
use std::io;
use std::mem;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::server::Event;
use mcp_proto::{Clock, Millis};
use mcp_proto_handles::{
    AcceptRetry, HttpAccess, HttpMachines, HttpMemory, ServeError, ServerSettings, ServerShared, Signal,
    Wake, block_on_until, lock,
};
use mcp_proto_http::server::{ExchangeId, HttpConfig};

use super::connection;
use super::connections::Connections;
use crate::accept::{Acceptor, ConnectionLimit, Permit};
use crate::pool::{Pool, PoolGuard};
use crate::serve::Serve;
use crate::worker::ServerHandle;

/// Maximum number of sessions of the handshake era. The slot of a session takes at most 128 bytes.
const SESSIONS: usize = 16_384;
/// Memory for events that a client may request again, and for messages that wait for an event stream, in bytes.
const REPLAY_BUFFER: usize = 4 << 20;
/// The time for connections to end after the server has closed.
const END_TIME: Duration = Duration::from_secs(2);

/// The machines, which one thread at a time uses.
pub(super) struct Machines<'i> {
    pub(super) core: HttpMachines<'i>,
    /// The connections that wait for output of their exchanges.
    pub(super) waiting: HashMap<ExchangeId, Arc<Condvar>>,
    pub(super) connections: Connections,
    pub(super) is_closed: bool,
}

impl Machines<'_> {
    /// Marks the machines as closed, and wakes all connections that wait for output.
    fn close(&mut self) {
        self.is_closed = true;
        self.waiting.values().for_each(|connection| connection.notify_all());
    }
}

/// State that all threads of a server share.
pub(super) struct HttpShared<'i, H> {
    machines: Mutex<Machines<'i>>,
    /// Whether the thread for timers must run the machines before its next deadline.
    timer: Arc<Signal<bool>>,
    /// The time of the next wake-up of the thread for timers, in milliseconds. `u64::MAX`: none.
    armed: AtomicU64,
    commands: Arc<ServerShared>,
    pool: Arc<Pool>,
    handle: ServerHandle,
    handler: H,
    clock: Clock,
    pub(super) config: &'i HttpConfig<'i>,
}

impl<'i, H> HttpShared<'i, H> {
    pub(super) fn lock(&self) -> MutexGuard<'_, Machines<'i>> {
        lock(&self.machines)
    }

    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Wakes the thread for timers if `next` is before the next wake-up of that thread.
    pub(super) fn arm(&self, next: Option<Millis>) {
        if next.is_some_and(|at| at.0 < self.armed.load(Ordering::Acquire)) {
            self.timer.update(|is_set| *is_set = true);
        }
    }
}

impl<'i, H: Fn(Event<'_>, &ServerHandle) + Sync> HttpShared<'i, H> {
    /// Runs the machines until they wait or the server is closed. Returns the time at which to call `run` again, or
    /// `None` if no timeout is running. The result has no meaning if the server is closed.
    pub(super) fn run(&self, machines: &mut Machines<'i>) -> Option<Millis> {
        let Machines { core, waiting, .. } = machines;
        let on_event = |event: Event<'_>| {
            if let Event::Cancelled { .. } | Event::Expired(_) | Event::Restarted = event {
                self.pool.remove_cancelled();
            }
            (self.handler)(event, &self.handle);
        };
        let on_output = |exchange| {
            if let Some(connection) = waiting.get(&exchange) {
                Condvar::notify_all(connection);
            }
        };
        // While this thread is the owner, its calls to methods of the handles do not wait for the machines: such a wait
        // would never end.
        self.commands.set_owner(Some(thread::current().id()));
        let next = core.run(&self.commands, self.clock.now(), on_event, on_output);
        self.commands.set_owner(None);
        if core.is_closed() {
            machines.close();
        }
        next
    }

    /// Runs the machines whenever a deadline expires or another thread has a command, until the server closes.
    fn run_timers(&self) {
        loop {
            let mut machines = self.lock();
            let next = self.run(&mut machines);
            if machines.is_closed {
                return;
            }
            self.armed.store(next.map_or(u64::MAX, |at| at.0), Ordering::Release);
            drop(machines);
            let left = next.map(|at| Duration::from_millis(at.since(self.clock.now()).0));
            let until = left.and_then(|left| Instant::now().checked_add(left));
            block_on_until(until, self.timer.wait_until(|is_set| mem::take(is_set).then_some(())));
        }
    }

    /// Accepts connections until [`ConnectionLimit::close`] is called, or the server has closed.
    ///
    /// # Errors
    /// `accept` has failed for ten seconds, or the socket no longer listens. The server then closes.
    fn accept<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        acceptor: &Acceptor<TcpListener>,
        limit: &ConnectionLimit,
    ) -> io::Result<()> {
        let mut retry = AcceptRetry::default();
        for number in 0.. {
            let stream = match acceptor.accept() {
                Ok(None) => break,
                Ok(Some((stream, _))) => stream,
                Err(error) => match retry.failed(error) {
                    Ok(pause) => {
                        limit.pause(pause);
                        continue;
                    }
                    Err(error) => {
                        self.commands.shutdown(Some(AcceptRetry::FINISH_TIME));
                        return Err(error);
                    }
                },
            };
            retry.succeeded();
            let Some(permit) = self.acquire_permit(limit) else { break };
            let Ok(socket) = stream.try_clone() else { continue };
            let mut machines = self.lock();
            if machines.is_closed {
                break;
            }
            let activity = machines.connections.insert(number, socket, self.now());
            drop(machines);
            let serve = move || {
                let _permit = permit;
                // The panic hook has already reported a panic, such as one of the authorization function.
                let _ = catch_unwind(AssertUnwindSafe(|| connection::serve(self, stream, activity)));
                self.lock().connections.remove(number);
            };
            if thread::Builder::new().name("mcp-http".into()).spawn_scoped(scope, serve).is_err() {
                self.lock().connections.remove(number);
            }
        }
        Ok(())
    }
}

impl<H> HttpShared<'_, H> {
    /// Acquires a permit for a connection. At the limit, closes the connection that has waited for a request for the
    /// longest time, if one waits, and waits for the end of a connection. Returns `None` if [`ConnectionLimit::close`]
    /// was called.
    fn acquire_permit(&self, limit: &ConnectionLimit) -> Option<Permit> {
        let mut time = Duration::ZERO;
        loop {
            match limit.acquire_within(time) {
                None if limit.is_closed() => return None,
                None => lock(&self.machines).connections.close_longest_waiting(),
                permit => return permit,
            }
            time = AcceptRetry::PAUSE;
        }
    }

    /// Lets connections send their last responses for at most [`END_TIME`], then closes all sockets.
    fn end_connections(&self) {
        lock(&self.machines).is_closed = true;
        let start = Instant::now();
        while start.elapsed() < END_TIME && lock(&self.machines).connections.has_busy() {
            thread::sleep(Duration::from_millis(10));
        }
        lock(&self.machines).connections.close_all();
    }
}

impl<'i> Serve<'i> {
    /// Serves MCP over HTTP/1.1 on a listener, until the server is [stopped](Serve::stopped_by).
    ///
    /// By default, the server speaks only 2026-07-28. With another [`SessionMode`](crate::http::SessionMode), the
    /// server speaks every revision from 2025-03-26 on, at one URL. For TLS, put a reverse proxy in front of the
    /// server. The defaults of [`HttpConfig`] accept only local names in `Host` and `Origin`.
    ///
    /// One state machine serves all connections. The threads of connections, and the calling thread, call the handler
    /// for one event at a time. Long work belongs on a worker: [`ServerHandle::run`]. The limit of
    /// [connections](Serve::connections) includes event streams. At the limit, the server closes the connection that
    /// has waited for a request for the longest time. If none waits, a new connection waits until another connection
    /// ends.
    ///
    /// The server closes a connection whose client reads nothing for the time
    /// [`HttpTimes::stall`](crate::http::HttpTimes::stall). The server writes up to about 128 KiB at once. The client
    /// must read these bytes within the same time plus one second for each 1,000 bytes.
    ///
    /// A panic of the handler, or of a [hook](Serve::hook), fails only its request (-32603).
    ///
    /// ```no_run
    /// # use mcp_proto_std::server::{Event, ServerConfig, Tool, Tools};
    /// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
    /// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
    /// use mcp_proto_std::Serve;
    /// use mcp_proto_std::http::{HttpAccess, HttpConfig, SessionMode};
    /// use std::net::TcpListener;
    ///
    /// static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);
    /// let listener = TcpListener::bind("127.0.0.1:8080")?;
    /// Serve::new(&CONFIG).http(listener, HttpAccess::new(&HTTP), |event, _| match event {
    ///     Event::Call(call) => call.text("Hello!"),
    ///     _ => {}
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The configuration is invalid, the listener cannot be prepared or no longer listens, the thread that accepts
    /// connections cannot be started, or `accept` has failed for ten seconds.
    pub fn http(
        self,
        listener: TcpListener,
        access: HttpAccess<'i>,
        handler: impl Fn(Event<'_>, &ServerHandle) + Sync,
    ) -> Result<(), ServeError> {
        let workers = PoolGuard::Own(Pool::new(self.settings.workers));
        let pool = Arc::clone(workers.pool());
        // Each subscription needs a connection, so a slot for each connection is enough for the subscriptions.
        let settings = ServerSettings { subscriptions: self.connections, ..self.settings };
        let (limit, longest_answer) = (settings.request_limit(), settings.longest_answer);
        let hooks = settings.hooks.clone();
        let server = (*settings.server()?).message_mode()?;
        let config = access.config();
        let memory = HttpMemory {
            exchanges: self.connections.saturating_add(limit),
            event_streams: self.connections,
            sessions: SESSIONS,
            replay: REPLAY_BUFFER,
            longest_answer,
        };
        let core = HttpMachines::new(server, access, memory);
        let timer = Arc::<Signal<bool>>::default();
        let wake: Wake = {
            let timer = Arc::clone(&timer);
            Arc::new(move || timer.update(|is_set| *is_set = true))
        };
        let clock = Clock::start();
        let shared = ServerShared::with_sessions(wake, move || clock.now(), limit, hooks);
        let _guard = shared.close_guard();
        let connections = ConnectionLimit::new(self.connections);
        let acceptor = Acceptor::new(listener, &connections)?;
        let _listener = self.stop.map(|stop| {
            let (shared, connections) = (Arc::clone(&shared), connections.clone());
            stop.on_stop(move |time| {
                connections.close();
                shared.shutdown(Some(time));
            })
        });
        let open = Connections::default();
        let machines = Machines { core, waiting: HashMap::new(), connections: open, is_closed: false };
        let state = HttpShared {
            machines: Mutex::new(machines),
            timer,
            armed: AtomicU64::new(0),
            handle: ServerHandle::new(Arc::clone(&shared), Arc::clone(&pool)),
            commands: shared,
            pool,
            handler,
            clock,
            config,
        };
        if let Some(on_start) = &self.on_start {
            // A query, such as `is_watched`, fails in `on_start` instead of waiting for a server that has not started.
            state.commands.set_owner(Some(thread::current().id()));
            on_start(&state.handle);
            state.commands.set_owner(None);
        }
        thread::scope(|scope| {
            let accept = || state.accept(scope, &acceptor, &connections);
            let accept = thread::Builder::new().name("mcp-accept".into()).spawn_scoped(scope, accept)?;
            // Continue after a panic, such as one of an observer, because the machines do not repeat the message that
            // caused the panic. The panic hook has already reported the panic.
            while catch_unwind(AssertUnwindSafe(|| state.run_timers())).is_err() {}
            connections.close();
            state.end_connections();
            Ok(accept.join().unwrap_or_else(|panic| resume_unwind(panic))?)
        })
    }
}
