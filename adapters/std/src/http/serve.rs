//! Serves MCP over HTTP/1.1 on threads: one for each connection, and one for timers.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use mcp_proto::server::{Event, Tools};
use mcp_proto::{Clock, Millis, Server};
use mcp_proto_handles::{ServeError, ServerShared, Wake, lock};
use mcp_proto_http::server::{
    ExchangeId, ExchangeSlot, HttpConfig, HttpServer, Policy, RequestHead, SessionSlot, Step, Verdict,
};

use super::connection;
use crate::accept::{Accepted, Acceptor, ConnectionLimit};
use crate::listen::RETRY_PAUSE;
use crate::pool::Pool;
use crate::serve::Serve;
use crate::sync::{wait, wait_for};
use crate::worker::ServerHandle;

/// Sessions of the handshake era. A session takes about 130 bytes.
const SESSIONS: usize = 16_384;
/// Memory for events that a client may request again.
const REPLAY_BUFFER: usize = 4 << 20;
/// Bodies that may wait for the server at the same time.
const WAITING_BODIES: usize = 16;
/// The time for connections to end after the server has closed.
const END_TIME: Duration = Duration::from_secs(2);

/// An authorization of requests: see [`HttpAccess::authorize`].
type Authorize<'a> = Box<dyn FnMut(&RequestHead<'_>) -> Verdict + Send + 'a>;

/// Access to a server: hosts, origins and authorization.
///
/// ```
/// use mcp_proto_std::http::{HttpAccess, HttpConfig, Verdict};
///
/// static CONFIG: HttpConfig = HttpConfig::new().path("/mcp");
/// let access = HttpAccess::new(&CONFIG).authorize(|head| match head.fields.field("authorization") {
///     Some(b"Bearer secret") => Verdict::Allow { user: 1 },
///     _ => Verdict::Deny { status: 401, challenge: "Bearer" },
/// });
/// ```
pub struct HttpAccess<'a> {
    config: &'a HttpConfig<'a>,
    authorize: Option<Authorize<'a>>,
    tools: Option<&'a Tools<'a>>,
}

impl<'a> HttpAccess<'a> {
    /// Permits all requests that the configuration permits.
    #[must_use]
    pub fn new(config: &'a HttpConfig<'a>) -> HttpAccess<'a> {
        HttpAccess { config, authorize: None, tools: None }
    }

    /// Compares the header fields `Mcp-Param-*` with the arguments of a call, for properties that the input schema of
    /// its tool marks with `x-mcp-header`.
    #[must_use]
    pub fn check_parameters(mut self, tools: &'a Tools<'a>) -> HttpAccess<'a> {
        self.tools = Some(tools);
        self
    }

    /// Decides about each request by its head.
    #[must_use]
    pub fn authorize(
        mut self,
        authorize: impl FnMut(&RequestHead<'_>) -> Verdict + Send + 'a,
    ) -> HttpAccess<'a> {
        self.authorize = Some(Box::new(authorize));
        self
    }
}

impl std::fmt::Debug for HttpAccess<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpAccess").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Policy for HttpAccess<'_> {
    fn authorize(&mut self, head: &RequestHead<'_>) -> Verdict {
        self.authorize.as_mut().map_or(Verdict::Allow { user: 0 }, |authorize| authorize(head))
    }

    fn input_schema(&self, tool: &str) -> Option<&str> {
        let schema = self.tools?.get(tool)?.input_schema();
        Some(schema).filter(|schema| schema.contains("x-mcp-header"))
    }

    #[expect(clippy::expect_used, reason = "without randomness, a client could guess the sessions of others")]
    fn random(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system has randomness");
        bytes
    }
}

/// The machines, which one thread uses at a time.
pub(super) struct Machines<'i, 'b> {
    pub(super) http: HttpServer<'b, HttpAccess<'i>>,
    pub(super) server: Server<'i>,
    /// The connections that wait for output of their exchanges.
    pub(super) waiting: HashMap<ExchangeId, Arc<Condvar>>,
    /// The sockets of all connections, by number.
    sockets: HashMap<u64, TcpStream>,
    pub(super) is_closed: bool,
}

/// Wakes the thread that waits for the next deadline.
#[derive(Default)]
struct TimerSignal {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl TimerSignal {
    fn set(&self) {
        *lock(&self.is_set) = true;
        self.changed.notify_one();
    }

    /// Waits until the timer is set, at most for `time`.
    fn wait(&self, time: Option<Duration>) {
        let mut is_set = lock(&self.is_set);
        if !*is_set {
            is_set = match time {
                Some(time) => wait_for(&self.changed, is_set, time),
                None => wait(&self.changed, is_set),
            };
        }
        *is_set = false;
    }
}

/// State that all threads of a server share.
pub(super) struct HttpShared<'i, 'b, H> {
    machines: Mutex<Machines<'i, 'b>>,
    timer: Arc<TimerSignal>,
    /// The time at which the thread for timers wakes.
    armed: AtomicU64,
    commands: Arc<ServerShared>,
    pool: Arc<Pool>,
    handle: ServerHandle,
    handler: H,
    clock: Clock,
    pub(super) longest_body: usize,
}

impl<'i, 'b, H: Fn(Event<'_>, &ServerHandle) + Sync> HttpShared<'i, 'b, H> {
    pub(super) fn lock(&self) -> MutexGuard<'_, Machines<'i, 'b>> {
        lock(&self.machines)
    }

    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Runs the machines until they wait. Returns the time of the next call.
    pub(super) fn run(&self, machines: &mut Machines<'i, 'b>) -> Option<Millis> {
        loop {
            let now = self.clock.now();
            let until = self.commands.process_commands(&mut machines.server, now);
            match machines.http.poll(&mut machines.server, now) {
                Step::Event => {
                    if let Some(event) = machines.server.event() {
                        self.commands.observe_event(&event);
                        if let Event::Cancelled { .. } | Event::Expired(_) | Event::Restarted = event {
                            self.pool.remove_cancelled();
                        }
                        // A method that blocks until the machine runs would never return on this thread.
                        self.commands.set_owner(Some(thread::current().id()));
                        (self.handler)(event, &self.handle);
                        self.commands.set_owner(None);
                    }
                }
                Step::Output(exchange) => {
                    if let Some(connection) = machines.waiting.get(&exchange) {
                        connection.notify_all();
                    }
                }
                Step::Wait(at) => return at.into_iter().chain(until).min(),
                Step::Closed => {
                    machines.is_closed = true;
                    machines.waiting.values().for_each(|connection| connection.notify_all());
                    return None;
                }
            }
        }
    }

    /// Wakes the thread for timers if `next` is before the time that it waits for.
    pub(super) fn arm(&self, next: Option<Millis>) {
        if next.is_some_and(|at| at.0 < self.armed.load(Ordering::Acquire)) {
            self.timer.set();
        }
    }

    /// Runs the machines whenever a deadline expires or another thread has a command, until the server closes.
    fn run_timers(&self) {
        loop {
            let mut machines = self.lock();
            let next = self.run(&mut machines);
            let is_overdue = self.commands.is_overdue(self.clock.now());
            if machines.is_closed || is_overdue {
                machines.is_closed = true;
                machines.waiting.values().for_each(|connection| connection.notify_all());
                return;
            }
            self.armed.store(next.map_or(u64::MAX, |at| at.0), Ordering::Release);
            drop(machines);
            let left = next.map(|at| Duration::from_millis(at.since(self.clock.now()).0));
            self.timer.wait(left);
        }
    }

    /// Accepts connections until the limit is closed.
    fn accept<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        acceptor: &Acceptor<TcpListener>,
        limit: &ConnectionLimit,
    ) {
        for number in 0.. {
            let permit = limit.acquire();
            let stream = match acceptor.accept() {
                Ok(Accepted::Closed) => return,
                Ok(Accepted::Stream(stream)) => stream,
                Err(_) => {
                    limit.pause(RETRY_PAUSE);
                    continue;
                }
            };
            let Ok(socket) = stream.try_clone() else { continue };
            let mut machines = self.lock();
            if machines.is_closed {
                return;
            }
            machines.sockets.insert(number, socket);
            drop(machines);
            let serve = move || {
                let _permit = permit;
                // The panic hook has already reported a panic of the handler.
                let _ = catch_unwind(AssertUnwindSafe(|| connection::serve(self, stream)));
                self.lock().sockets.remove(&number);
            };
            if thread::Builder::new().name("mcp-http".into()).spawn_scoped(scope, serve).is_err() {
                self.lock().sockets.remove(&number);
            }
        }
    }
}

impl<'i> Serve<'i> {
    /// Serves MCP over HTTP/1.1 on a listener, until the server is [stopped](Serve::stopped_by).
    ///
    /// The server speaks every revision from 2025-03-26 on, at one URL. Put a reverse proxy in front of it for TLS. The
    /// defaults of [`HttpConfig`] accept local clients only.
    ///
    /// One state machine serves all connections, and the threads of the connections call the handler for one event at a
    /// time. Long work belongs on a worker: [`ServerHandle::run`]. A limit on
    /// [connections](Serve::connections) includes streams that listen.
    ///
    /// ```no_run
    /// # use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
    /// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
    /// # static INFO: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
    /// use mcp_proto_std::Serve;
    /// use mcp_proto_std::http::{HttpAccess, HttpConfig, SessionMode};
    /// use std::net::TcpListener;
    ///
    /// static CONFIG: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);
    /// let listener = TcpListener::bind("127.0.0.1:8080")?;
    /// Serve::new(&INFO).http(listener, HttpAccess::new(&CONFIG), |event, _| match event {
    ///     Event::Call(call) => call.text("Hello!"),
    ///     _ => {}
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The configuration is invalid, or a thread cannot be started.
    pub fn http(
        self,
        listener: TcpListener,
        access: HttpAccess<'i>,
        handler: impl Fn(Event<'_>, &ServerHandle) + Sync,
    ) -> Result<(), ServeError> {
        let pool = Pool::new(self.settings.workers);
        let _workers = pool.join_guard();
        let mut settings = self.settings;
        settings.workers = settings.workers.saturating_add(self.waiting);
        let (limit, longest_output) = (settings.workers, settings.longest_answer);
        let server = settings.server()?.message_mode()?;
        let longest_body = access.config.get_limits().body;
        let mut slots = vec![ExchangeSlot::EMPTY; self.connections.saturating_add(limit)];
        let mut output = vec![0; longest_output.saturating_mul(4)];
        let mut bodies = vec![0; longest_body.saturating_mul(WAITING_BODIES)];
        let mut sessions = vec![SessionSlot::EMPTY; SESSIONS];
        let mut replay = vec![0; REPLAY_BUFFER];
        let config = access.config;
        let http = HttpServer::new(config, access, &mut slots, &mut output)
            .body_buffer(&mut bodies)
            .sessions(&mut sessions)
            .replay_buffer(&mut replay);
        let timer = Arc::<TimerSignal>::default();
        let wake: Wake = {
            let timer = Arc::clone(&timer);
            Arc::new(move || timer.set())
        };
        let shared = ServerShared::new(wake, limit, None);
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
        let machines =
            Machines { http, server, waiting: HashMap::new(), sockets: HashMap::new(), is_closed: false };
        let state = HttpShared {
            machines: Mutex::new(machines),
            timer,
            armed: AtomicU64::new(0),
            handle: ServerHandle::new(Arc::clone(&shared), Arc::clone(&pool)),
            commands: shared,
            pool,
            handler,
            clock: Clock::start(),
            longest_body,
        };
        thread::scope(|scope| {
            let accept = || state.accept(scope, &acceptor, &connections);
            thread::Builder::new().name("mcp-accept".into()).spawn_scoped(scope, accept)?;
            // Even after a panic of the handler, the other threads have to end.
            let result = catch_unwind(AssertUnwindSafe(|| state.run_timers()));
            connections.close();
            state.end_connections();
            if let Err(panic) = result {
                resume_unwind(panic);
            }
            Ok::<_, io::Error>(())
        })?;
        Ok(())
    }
}

impl<H> HttpShared<'_, '_, H> {
    /// Lets connections send their last responses, then closes all sockets.
    fn end_connections(&self) {
        lock(&self.machines).is_closed = true;
        let start = std::time::Instant::now();
        while start.elapsed() < END_TIME && !lock(&self.machines).waiting.is_empty() {
            thread::sleep(Duration::from_millis(10));
        }
        for socket in lock(&self.machines).sockets.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}
