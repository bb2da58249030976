//! A server over HTTP on threads, and a relay that can break its connections.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::Millis;
use mcp_proto::input::{CreateMessage, Field, Form, Input, SampleMessage};
use mcp_proto::server::{Call, Change, Event, ServerConfig, Subscriptions, Tool, Tools};
use mcp_proto_std::http::{HttpAccess, HttpConfig, LegacyPaths, Method, RequestHead, SessionMode, Verdict};
use mcp_proto_std::{Serve, ServerHandle, Stop};
use mcp_proto_tokio::HttpEndpoint;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// The time limit of each wait.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// The length of the text of the tool `large`.
pub(crate) const LARGE: usize = 1 << 20;

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("count", "{}"),
    Tool::new("wait", "{}"),
    Tool::new("touch", "{}"),
    Tool::new("form", "{}"),
    Tool::new("sample", "{}"),
    Tool::new("large", "{}"),
    Tool::new("region", r#"{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}"#),
])
.list_changed();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &Subscriptions]);
static HTTP: HttpConfig = {
    let paths = LegacyPaths { events: "/sse", messages: "/messages" };
    let config = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions).legacy(paths);
    let mut times = config.get_times();
    times.retry = Millis(100);
    config.times(times)
};
static FIELDS: [Field; 1] = [Field::text("name").required()];
static FORM: Form = Form::new("Who are you?", &FIELDS);
static SAMPLE: CreateMessage = CreateMessage::new(&[SampleMessage::user("Hi?")], 10);

/// A running server.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    events: UnboundedReceiver<String>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// State that the handler shares with the test.
struct Shared {
    events: UnboundedSender<String>,
    /// Whether calls of `wait` may end.
    is_released: Mutex<bool>,
    released: Condvar,
}

impl TestServer {
    pub(crate) fn start() -> TestServer {
        TestServer::start_on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn start_on(listener: TcpListener) -> TestServer {
        let (sender, events) = unbounded_channel();
        let shared =
            Arc::new(Shared { events: sender, is_released: Mutex::new(false), released: Condvar::new() });
        let address = listener.local_addr().unwrap();
        let stop = Stop::new();
        let server = Serve::new(&CONFIG).workers(256).connections(512).stopped_by(&stop);
        let (handler_shared, observed) = (Arc::clone(&shared), Arc::clone(&shared));
        let thread = thread::spawn(move || {
            let access = HttpAccess::new(&HTTP).check_parameters(&TOOLS).authorize(move |head| {
                let _ = observed.events.send(shown(head));
                match head.fields.field("authorization") {
                    Some(b"Bearer wrong") => Verdict::Deny { status: 401, challenge: "Bearer".into() },
                    _ => Verdict::Allow { user: 0 },
                }
            });
            server.http(listener, access, |event, server| handle(event, server, &handler_shared)).unwrap();
        });
        TestServer { address, shared, events, stop, thread: Some(thread) }
    }

    /// Ends the server, and starts a new server at the same address. The new server has no sessions.
    pub(crate) fn restart(&mut self) {
        self.end();
        *self = TestServer::start_on(TcpListener::bind(self.address).unwrap());
    }

    fn end(&mut self) {
        self.stop.within(Duration::ZERO);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking());
        }
    }

    pub(crate) fn endpoint(&self) -> HttpEndpoint {
        HttpEndpoint::new(format!("http://{}/mcp", self.address))
    }

    /// Lets the calls of `wait` end.
    pub(crate) fn release(&self) {
        *self.shared.is_released.lock().unwrap() = true;
        self.shared.released.notify_all();
    }

    /// Receives requests and events until one starts with `wanted`, and returns that entry. Panics if no entry arrives
    /// for [`LIMIT`].
    pub(crate) async fn wait_for(&mut self, wanted: &str) -> String {
        let mut others = Vec::new();
        loop {
            match timeout(LIMIT, self.events.recv()).await {
                Ok(Some(event)) if event.starts_with(wanted) => return event,
                Ok(Some(event)) => others.push(event),
                _ => panic!("no {wanted}: {others:?}"),
            }
        }
    }

    /// Removes and returns the requests and events that have arrived.
    pub(crate) fn take_events(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.release();
        self.end();
    }
}

/// Returns the method of a request, with `session` if the request names a session, and `resumed` if the request
/// resumes a stream.
fn shown(head: &RequestHead<'_>) -> String {
    let method = match head.method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Delete => "DELETE",
        Method::Other => "other",
    };
    let session = head.fields.field("mcp-session-id").map_or("", |_| " session");
    let resumed = head.fields.field("last-event-id").map_or("", |_| " resumed");
    format!("{method}{session}{resumed}")
}

fn handle(event: Event<'_>, server: &ServerHandle, shared: &Arc<Shared>) {
    let Event::Call(call) = event else { return };
    match call.name() {
        "count" => server.run(call, |answer| {
            (1..=3u32).for_each(|step| answer.progress(step, Some(3.into()), "counting"));
            answer.text("counted");
        }),
        // A response after progress is an event of a stream. A response without progress is a JSON body.
        "large" => server.run(call, |answer| {
            answer.progress(1u32, None, "");
            answer.text("7".repeat(LARGE));
        }),
        "wait" => {
            let shared = Arc::clone(shared);
            server.run(call, move |answer| {
                answer.progress(1u32, None, "");
                let _ = shared.events.send("waiting".into());
                while !answer.is_cancelled() {
                    let is_released = shared.is_released.lock().unwrap();
                    let pause = Duration::from_millis(10);
                    if *shared.released.wait_timeout(is_released, pause).unwrap().0 {
                        return answer.text("released");
                    }
                }
                let _ = shared.events.send("cancelled".into());
            });
        }
        "touch" => {
            server.changed(Change::Tools);
            call.text("touched");
        }
        "form" => obtain_input(call, server, &FORM),
        "sample" => obtain_input(call, server, &SAMPLE),
        "region" => {
            let region = call.raw_arguments().get("r").map(|region| region.to_string()).unwrap_or_default();
            call.text(region);
        }
        _ => call.text("7"),
    }
}

/// Obtains input from the client with the mechanism of the era, and responds to the call with the input.
fn obtain_input(call: Call<'_>, server: &ServerHandle, input: &'static (dyn Input + Sync)) {
    if call.can_require_input() {
        return match call.input("key").map(|answer| answer.to_string()) {
            Some(answer) => call.text(answer),
            None => call.require_input(&[("key", input)], Some("state")),
        };
    }
    server.run(call, move |answer| match answer.request_within(LIMIT, input) {
        Ok(response) => answer.text(response.json()),
        Err(error) => answer.fail(error),
    });
}

/// A relay that can break all its TCP connections.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
    accepting: AbortHandle,
}

impl Relay {
    pub(crate) async fn start(server: SocketAddr) -> Relay {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::<Mutex<Vec<AbortHandle>>>::default();
        let accepted = Arc::clone(&connections);
        let accepting = tokio::spawn(async move {
            while let Ok((mut here, _)) = listener.accept().await {
                let task = tokio::spawn(async move {
                    let mut there = tokio::net::TcpStream::connect(server).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut here, &mut there).await;
                });
                accepted.lock().unwrap().push(task.abort_handle());
            }
        });
        Relay { address, connections, accepting: accepting.abort_handle() }
    }

    /// Breaks all connections.
    pub(crate) fn break_connections(&self) {
        self.connections.lock().unwrap().drain(..).for_each(|connection| connection.abort());
    }

    pub(crate) fn endpoint(&self) -> HttpEndpoint {
        HttpEndpoint::new(format!("http://{}/mcp", self.address))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
        self.break_connections();
    }
}
