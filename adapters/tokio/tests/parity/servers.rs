//! One server on threads and one on tokio, with the same behavior, and clients for both.

use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::Level;
use mcp_proto::client::Connect;
use mcp_proto::server::{
    Call, ChunkedContent, Event, Logging, Prompt, Prompts, Reply, ServerConfig, Tool, Tools,
};
use mcp_proto_handles::{
    Refusal, RequestHook, RequestInfo, RequestOutcome, ServeError, Signal, Stop, block_on,
};
use mcp_proto_std::{ClientHandle, Connector};

static TOOLS: Tools = Tools::new(&[
    Tool::new("count", "{}"),
    Tool::new("fail", "{}"),
    Tool::new("drop", "{}"),
    Tool::new("drop_later", "{}"),
    Tool::new("forbidden", "{}"),
    Tool::new("hold", "{}"),
    Tool::new("log", "{}"),
    Tool::new("span", "{}"),
    Tool::new("span_later", "{}"),
    Tool::new("chunked", "{}"),
    Tool::new("chunked_fail", "{}"),
]);
pub(super) static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &PROMPTS, &Logging]);
static PROMPTS: Prompts = Prompts::dynamic_list();

/// The adapter of a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Adapter {
    Threads,
    Tokio,
}

pub(super) const ADAPTERS: [Adapter; 2] = [Adapter::Threads, Adapter::Tokio];

/// The counts of open connections, and of running calls of the tool `hold`. These calls run until they are released.
#[derive(Default)]
pub(super) struct Held(Signal<HeldState>);

#[derive(Default)]
struct HeldState {
    running: usize,
    most: usize,
    is_released: bool,
    connections: usize,
    most_connections: usize,
}

impl Held {
    fn enter(&self) {
        self.0.update(|held| {
            held.running += 1;
            held.most = held.most.max(held.running);
        });
    }

    async fn released(&self) {
        self.0.wait_until(|held| held.is_released.then(|| held.running -= 1)).await;
    }

    /// Waits until exactly this number of calls runs.
    pub(super) fn wait_for(&self, running: usize) {
        block_on(self.0.wait_until(|held| (held.running == running).then_some(())));
    }

    pub(super) fn release(&self) {
        self.0.update(|held| held.is_released = true);
    }

    /// Returns the largest number of connections that were open at the same time.
    pub(super) fn most_connections(&self) -> usize {
        self.0.with(|held| held.most_connections)
    }

    /// Returns the largest number of calls that ran at the same time.
    pub(super) fn most(&self) -> usize {
        self.0.with(|held| held.most)
    }
}

/// A guard that counts an open connection.
struct OpenConnection(Arc<Held>);

impl OpenConnection {
    fn new(held: &Arc<Held>) -> OpenConnection {
        held.0.with(|held| {
            held.connections += 1;
            held.most_connections = held.most_connections.max(held.connections);
        });
        OpenConnection(Arc::clone(held))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.0.with(|held| held.connections -= 1);
    }
}

/// The settings in which the servers of the tests differ.
#[derive(Clone)]
pub(super) struct Limits {
    pub(super) hook: Arc<Recorder>,
    pub(super) connections: usize,
    pub(super) workers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { hook: Arc::default(), connections: 64, workers: 32 }
    }
}

/// A hook that refuses the tool `forbidden`, and records each call of `before` and `after`.
#[derive(Default)]
pub(super) struct Recorder(Signal<Vec<String>>);

impl RequestHook for Recorder {
    fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
        self.0.update(|calls| calls.push(format!("before {}", request.tool().unwrap_or_default())));
        match request.tool() {
            Some("forbidden") => Err(Refusal::new(-31_001, "not permitted")),
            _ => Ok(()),
        }
    }

    fn after(&self, request: &RequestInfo, outcome: RequestOutcome, _: Duration) {
        assert_eq!(
            (request.tool().is_some(), request.id().raw().is_empty()),
            (request.method() == "tools/call", false)
        );
        self.0.update(|calls| calls.push(format!("after {}: {outcome}", request.tool().unwrap_or_default())));
    }
}

impl Recorder {
    /// Waits until at least `count` calls are recorded, and removes and returns all recorded calls.
    pub(super) fn take(&self, count: usize) -> Vec<String> {
        block_on(self.0.wait_until(|calls| (calls.len() >= count).then(|| std::mem::take(calls))))
    }
}

/// The address at which a server listens.
#[derive(Clone)]
pub(super) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A running server.
pub(super) struct Running {
    pub(super) address: Address,
    pub(super) stop: Stop,
    pub(super) held: Arc<Held>,
    server: JoinHandle<Result<(), ServeError>>,
}

/// The number of prompts that the server generates.
pub(super) const PROMPT_COUNT: u32 = 250;
/// The number of prompts on a page.
pub(super) const PAGE: u32 = 100;

/// Responds with the page at a position. The names contain the position and the number of the row.
fn respond_with_rows(reply: Reply<'_>, position: u32) {
    let end = PROMPT_COUNT.min(position.saturating_add(PAGE));
    let names: Vec<_> = (position..end).map(|row| format!("{position}-{row}")).collect();
    let next = (end < PROMPT_COUNT).then_some(end);
    reply.prompts_page(names.iter().map(|name| Prompt::new(name)), next);
}

/// The data of log messages.
const ROWS: [u32; 2] = [3, 4];

/// The kind of content of chunked responses.
const TEXT: ChunkedContent<'static> = ChunkedContent::Text;

/// Returns the name of the current span.
pub(super) fn current_span() -> &'static str {
    tracing::Span::current().metadata().map_or("none", |span| span.name())
}

/// Responds to calls that need no worker. The response to `count` is the number of `count` calls on this connection.
/// Returns the call if a worker must respond.
fn count<'c>(event: Event<'c>, calls: &mut u32) -> Option<Call<'c>> {
    let Event::Call(call) = event else { return None };
    match call.name() {
        "count" => {
            *calls += 1;
            call.text(*calls);
        }
        "fail" => call.fail("not today"),
        "drop" => drop(call),
        "span" => call.text(current_span()),
        _ => return Some(call),
    }
    None
}

impl Adapter {
    /// Starts a server on a free port.
    pub(super) fn listen_tcp(self, limits: Limits) -> Running {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp(listener.local_addr().unwrap());
        self.listen(limits, address, Socket::Tcp(listener))
    }

    /// Starts a server on a Unix socket.
    pub(super) fn listen_unix(self, limits: Limits) -> Running {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("mcp-parity-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        self.listen(limits, Address::Unix(path), Socket::Unix(listener))
    }

    fn listen(self, limits: Limits, address: Address, socket: Socket) -> Running {
        let (stop, held) = (Stop::new(), Arc::<Held>::default());
        let server = thread::spawn({
            let (stop, held) = (stop.clone(), Arc::clone(&held));
            move || self.serve(limits, socket, || stop, held)
        });
        Running { address, stop, held, server }
    }

    /// Serves until the [`Stop`] that `new_stop` returns is used.
    pub(super) fn serve(
        self,
        limits: Limits,
        socket: Socket,
        new_stop: impl FnOnce() -> Stop,
        held: Arc<Held>,
    ) -> Result<(), ServeError> {
        match self {
            Adapter::Threads => listen_on_threads(limits, socket, &new_stop(), &held),
            Adapter::Tokio => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(async { listen_on_tokio(limits, socket, &new_stop(), &held).await })
            }
        }
    }
}

pub(super) enum Socket {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

fn listen_on_threads(
    limits: Limits,
    socket: Socket,
    stop: &Stop,
    held: &Arc<Held>,
) -> Result<(), ServeError> {
    use mcp_proto_std::{Serve, ServerHandle};
    let new_handler = || {
        let (mut calls, connection) = (0, OpenConnection::new(held));
        move |event: Event<'_>, server: &ServerHandle| {
            if let Event::ListPrompts(list) = event {
                let position = list.position();
                return server
                    .run(list, move |answer| answer.answer(move |reply| respond_with_rows(reply, position)));
            }
            let Some(call) = count(event, &mut calls) else { return };
            match call.name() {
                "drop_later" => return server.run(call, drop),
                "span_later" => return server.run(call, |answer| answer.text(current_span())),
                "chunked" | "chunked_fail" => {
                    let fails = call.name() == "chunked_fail";
                    return server.run(call, move |answer| {
                        let mut writer = answer.chunked(|reply| reply.chunked(TEXT)).expect("a writer");
                        writer.text("chunks").unwrap();
                        if fails { writer.fail("why") } else { writer.end() }
                    });
                }
                "log" => {
                    server.log_data(Level::Warning, Some("database"), &ROWS);
                    return server.run(call, |answer| {
                        answer.log_data(Level::Error, None, &ROWS);
                        answer.text("logged");
                    });
                }
                _ => {}
            }
            let held = Arc::clone(&connection.0);
            server.run(call, move |answer| {
                held.enter();
                block_on(held.released());
                answer.text("released");
            });
        }
    };
    let serve = Serve::new(&CONFIG)
        .hook(limits.hook)
        .stopped_by(stop)
        .connections(limits.connections)
        .workers(limits.workers);
    match socket {
        Socket::Tcp(listener) => serve.listen_with(listener, |_| new_handler()),
        Socket::Unix(listener) => serve.listen_with(listener, |_| new_handler()),
    }
}

async fn listen_on_tokio(
    limits: Limits,
    socket: Socket,
    stop: &Stop,
    held: &Arc<Held>,
) -> Result<(), ServeError> {
    use mcp_proto_tokio::{Serve, ServerHandle};
    let new_handler = || {
        let (mut calls, connection) = (0, OpenConnection::new(held));
        move |event: Event<'_>, server: &ServerHandle| {
            if let Event::ListPrompts(list) = event {
                let position = list.position();
                return server.run(list, move |answer| async move {
                    answer.answer(move |reply| respond_with_rows(reply, position));
                });
            }
            let Some(call) = count(event, &mut calls) else { return };
            match call.name() {
                "drop_later" => return server.run(call, |answer| async { drop(answer) }),
                "span_later" => {
                    return server.run(call, |answer| async { answer.text(current_span()) });
                }
                "chunked" | "chunked_fail" => {
                    let fails = call.name() == "chunked_fail";
                    return server.run(call, move |answer| async move {
                        let opened = answer.chunked(|reply| reply.chunked(TEXT)).await;
                        let mut writer = opened.expect("a writer");
                        writer.text("chunks").await.unwrap();
                        if fails { writer.fail("why") } else { writer.end() }
                    });
                }
                "log" => {
                    let server = server.clone();
                    return server.clone().run(call, |answer| async move {
                        server.log_data(Level::Warning, Some("database"), &ROWS).await;
                        answer.log_data(Level::Error, None, &ROWS).await;
                        answer.text("logged");
                    });
                }
                _ => {}
            }
            let held = Arc::clone(&connection.0);
            server.run(call, move |answer| async move {
                held.enter();
                held.released().await;
                answer.text("released");
            });
        }
    };
    let serve = Serve::new(&CONFIG)
        .hook(limits.hook)
        .stopped_by(stop)
        .connections(limits.connections)
        .workers(limits.workers);
    match socket {
        Socket::Tcp(listener) => {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            serve.listen_with(listener, |_| new_handler()).await
        }
        Socket::Unix(listener) => {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::UnixListener::from_std(listener)?;
            serve.listen_with(listener, |_| new_handler()).await
        }
    }
}

impl Address {
    pub(super) fn client(&self) -> ClientHandle {
        self.connect(Connect::Automatic)
    }

    pub(super) fn connect(&self, connect: Connect) -> ClientHandle {
        let connector = Connector::new("test", "1").connect(connect);
        match self {
            Address::Tcp(address) => connector.stream(TcpStream::connect(address).unwrap()),
            Address::Unix(path) => connector.stream(UnixStream::connect(path).unwrap()),
        }
        .unwrap()
    }
}

impl Running {
    pub(super) fn client(&self) -> ClientHandle {
        self.address.client()
    }

    /// Stops the server, and waits for its end.
    pub(super) fn stop(self) {
        self.stop.within(Duration::from_secs(10));
        self.server.join().unwrap().unwrap();
        if let Address::Unix(path) = &self.address {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// Calls a tool, and returns the text of its result.
pub(super) fn call(client: &ClientHandle, tool: &str) -> String {
    client.call_json(tool, "{}").unwrap().text().unwrap()
}
