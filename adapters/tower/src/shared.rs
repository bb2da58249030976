//! `Shared`: the state machines behind a lock, and the wakers of the tasks that wait for output of the machines.

use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use mcp_proto::server::Event;
use mcp_proto::{Clock, Millis};
use mcp_proto_handles::{
    HttpMachines, RequestHook, ServerCloseGuard, ServerShared, Stop, StopListener, lock,
};
use mcp_proto_http::server::ExchangeId;
use mcp_proto_tokio::ServerHandle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::timer;

/// The handler of the application.
type Handler = Box<dyn FnMut(Event<'_>, &ServerHandle) + Send>;

/// State that all clones of a service, their responses and the timer share.
pub(crate) struct Shared {
    machines: Mutex<Machines>,
    commands: Arc<ServerShared>,
    /// The handle of the server. It is outside of the lock, because the handler runs under the lock and may ask the
    /// service for this handle.
    pub(crate) handle: ServerHandle,
    /// Number of exchanges at the last release of the lock. The number is outside of the lock, because the handler may
    /// read it.
    open_exchanges: AtomicUsize,
    /// Signal that wakes the timer task.
    pub(crate) signal: Arc<Notify>,
    pub(crate) clock: Clock,
    pub(crate) max_body: usize,
    /// Cancels all running requests when the last service and the last response are dropped.
    _guard: ServerCloseGuard,
    /// The listener of the switch that stops the server, if there is a switch.
    _stop: Option<StopListener>,
}

/// The state machines and their handler, for one task at a time.
pub(crate) struct Machines {
    pub(crate) core: HttpMachines<'static>,
    handler: Handler,
    /// Wakers of the tasks that wait for output of an exchange.
    waiting: HashMap<ExchangeId, Waker>,
    /// Wakers of the tasks to wake when the lock is released.
    woken: Vec<Waker>,
    /// Wakers to drop when the lock is released, because the destructor of a waker may use the lock.
    dropped: Vec<Waker>,
    timer: Option<JoinHandle<()>>,
    /// The time at which the timer wakes.
    armed: Millis,
}

const NEVER: Millis = Millis(u64::MAX);

impl Shared {
    /// Creates the shared state. `workers` limits the requests that run, and `requests` the requests that run or wait.
    pub(crate) fn new(
        core: HttpMachines<'static>,
        workers: usize,
        requests: usize,
        hooks: Vec<Arc<dyn RequestHook>>,
        handler: Handler,
        stop: Option<&Stop>,
    ) -> Arc<Shared> {
        let signal = Arc::new(Notify::new());
        let wake = Arc::clone(&signal);
        let (wake, clock) = (Arc::new(move || wake.notify_one()), Clock::start());
        let commands = ServerShared::with_sessions(wake, move || clock.now(), requests, hooks);
        let machines = Machines {
            handler,
            waiting: HashMap::new(),
            woken: Vec::new(),
            dropped: Vec::new(),
            timer: None,
            armed: NEVER,
            core,
        };
        Arc::new(Shared {
            max_body: machines.core.http.config().get_limits().body,
            machines: Mutex::new(machines),
            handle: ServerHandle::new(Arc::clone(&commands), workers),
            open_exchanges: AtomicUsize::new(0),
            _guard: commands.close_guard(),
            _stop: stop.map(|stop| {
                let commands = Arc::clone(&commands);
                stop.on_stop(move |time| commands.shutdown(Some(time)))
            }),
            commands,
            signal,
            clock,
        })
    }

    /// Calls a function with the machines and the time. Then releases the lock, and wakes the tasks in `woken`.
    pub(crate) fn with<R>(&self, access: impl FnOnce(&mut Machines, Millis) -> R) -> R {
        let mut machines = lock(&self.machines);
        let result = access(&mut machines, self.clock.now());
        self.open_exchanges.store(machines.core.http.open_exchanges(), Ordering::Relaxed);
        // A waker may run code that uses the lock.
        let (woken, dropped) = (mem::take(&mut machines.woken), mem::take(&mut machines.dropped));
        drop(machines);
        woken.into_iter().for_each(Waker::wake);
        drop(dropped);
        result
    }

    pub(crate) fn open_exchanges(&self) -> usize {
        self.open_exchanges.load(Ordering::Relaxed)
    }
}

impl Machines {
    /// Runs the machines until they wait.
    pub(crate) fn run(&mut self, shared: &Shared, now: Millis) {
        let next = self.advance(shared, now);
        if next < self.armed {
            self.armed = next;
            shared.signal.notify_one();
        }
    }

    /// Runs the machines for the timer. Returns the time of the next call.
    pub(crate) fn run_timer(&mut self, shared: &Shared, now: Millis) -> Millis {
        self.armed = self.advance(shared, now);
        self.armed
    }

    /// Runs the machines until they wait. Returns the time of the next call.
    fn advance(&mut self, shared: &Shared, now: Millis) -> Millis {
        let Machines { core, handler, waiting, woken, .. } = self;
        let next = core.run(
            &shared.commands,
            now,
            |event| handler(event, &shared.handle),
            |exchange| woken.extend(waiting.remove(&exchange)),
        );
        if core.is_closed() {
            woken.extend(waiting.drain().map(|(_, waker)| waker));
        }
        next.unwrap_or(NEVER)
    }

    /// Starts the timer, unless it runs.
    pub(crate) fn start_timer(&mut self, shared: &Arc<Shared>) {
        // The timer task ends with its runtime.
        if self.timer.as_ref().is_none_or(JoinHandle::is_finished) {
            self.timer = Some(tokio::spawn(timer::run(Arc::downgrade(shared), Arc::clone(&shared.signal))));
        }
    }

    /// Registers this task, so that it wakes when the exchange has output.
    pub(crate) fn wait(&mut self, exchange: ExchangeId, context: &Context<'_>) {
        let known = self.waiting.get(&exchange);
        if known.is_none_or(|known| !known.will_wake(context.waker())) {
            self.dropped.extend(self.waiting.insert(exchange, context.waker().clone()));
        }
    }

    /// Removes the waker of the task that waits for this exchange.
    pub(crate) fn forget(&mut self, exchange: ExchangeId) {
        self.dropped.extend(self.waiting.remove(&exchange));
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Wakes the timer, which then ends, because its weak reference is no longer valid.
        self.signal.notify_one();
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
