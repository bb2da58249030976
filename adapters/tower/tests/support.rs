//! The service that the tests share, a TCP server for it, and HTTP requests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use axum::Router;
use mcp_proto::Level;
use mcp_proto::client::Connect;
use mcp_proto::input::{Field, Form};
use mcp_proto::server::{
    Change, ChunkedContent, Event, Logging, Resource, Resources, ServerConfig, Subscriptions, Tool, Tools,
};
use mcp_proto_std::{ClientHandle, Connector, HttpEndpoint};
use mcp_proto_tower::{HttpAccess, HttpConfig, McpService, Serve, ServerHandle, SessionMode};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Barrier;

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("task", "{}"),
    Tool::new("wait", "{}"),
    Tool::new("progress", "{}"),
    Tool::new("slow", "{}"),
    Tool::new("gather", "{}"),
    Tool::new("name", "{}"),
    Tool::new("release", "{}"),
    Tool::new("large", "{}"),
    Tool::new("chunks", "{}"),
    Tool::new("change", "{}"),
    Tool::new("panic", "{}"),
])
.list_changed();
static RESOURCES: Resources = Resources::new(&[Resource::new("file:///a", "a")]).subscribe();
pub(crate) static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES, &Subscriptions, &Logging]);
pub(crate) static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);

/// The time limit of each wait.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);
/// The length of the text of the tool `large`.
pub(crate) const LARGE: usize = 200_000;

/// The length of the text of the tool `chunks`.
pub(crate) const CHUNKS: usize = 12_345_678;

/// Events that the server of a test reports.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The tool `wait` or `slow` runs.
    Waiting,
    /// The tool `wait` was cancelled.
    Cancelled,
    /// A client of 2026-07-28 listens.
    Listening,
}

/// Handles the events of [`service`].
fn handle(event: Event<'_>, server: &ServerHandle, reports: &Sender<Report>, gathered: &Arc<Barrier>) {
    let call = match event {
        Event::Call(call) => call,
        Event::Listening(_) => return drop(reports.send(Report::Listening)),
        _ => return,
    };
    match call.name() {
        "task" => server.run(call, |responder| async move {
            tokio::task::yield_now().await;
            responder.text("done");
        }),
        "wait" => {
            let reports = reports.clone();
            server.run(call, |responder| async move {
                responder.progress(1u32, None, "").await;
                let _ = reports.send(Report::Waiting);
                responder.cancelled().await;
                let _ = reports.send(Report::Cancelled);
            });
        }
        "slow" => {
            let reports = reports.clone();
            server.run(call, |responder| async move {
                let _ = reports.send(Report::Waiting);
                tokio::time::sleep(Duration::from_millis(50)).await;
                responder.log(Level::Info, "done").await;
                responder.text("done");
            });
        }
        // Responds when 1,000 calls run at the same time.
        "gather" => {
            let gathered = Arc::clone(gathered);
            server.run(call, |responder| async move {
                gathered.wait().await;
                responder.text("done");
            });
        }
        "progress" => server.run(call, |responder| async move {
            for step in 1..=3u32 {
                responder.progress(step, Some(3.into()), "").await;
            }
            responder.text("done");
        }),
        "name" => server.run(call, |responder| async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let question = Form::new("Who are you?", &[const { Field::text("name").required() }]);
            match responder.request(&question).await {
                Ok(response) => match response.elicited().and_then(|form| form.field("name")?.string()) {
                    Some(name) => responder.text(name),
                    None => responder.text("nobody"),
                },
                Err(error) => responder.fail(error),
            }
        }),
        "release" => server.run(call, |responder| async move {
            responder.release_connection();
            tokio::time::sleep(Duration::from_millis(50)).await;
            responder.text("done");
        }),
        "large" => call.text("x".repeat(LARGE)),
        // Responds with a text that is larger than all memory for output.
        "chunks" => server.run(call, |responder| async move {
            let mut writer = responder.chunked(|reply| reply.chunked(ChunkedContent::Text)).await.unwrap();
            let mut left = CHUNKS;
            while left > 0 && writer.text("~".repeat(left.min(100_000))).await.is_ok() {
                left = left.saturating_sub(100_000);
            }
            writer.end();
        }),
        "change" => {
            server.changed(Change::Tools);
            call.text("changed");
        }
        "panic" => panic!("a panic for the test"),
        _ => call.text("7"),
    }
}

/// Creates the service of a test. Returns the service, and the receiver for the reports of its handler.
pub(crate) fn service(serve: Serve, access: HttpAccess<'static>) -> (McpService, Receiver<Report>) {
    let (reports, received) = channel();
    let gathered = Arc::new(Barrier::new(1000));
    let handler = move |event: Event<'_>, server: &ServerHandle| handle(event, server, &reports, &gathered);
    let service = serve.service(access, handler).unwrap();
    (service, received)
}

/// A server on a TCP port.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) service: McpService,
    pub(crate) reports: Receiver<Report>,
    runtime: Option<Runtime>,
}

impl TestServer {
    pub(crate) fn start() -> TestServer {
        TestServer::start_with(Serve::new(&CONFIG), HttpAccess::new(&HTTP))
    }

    pub(crate) fn start_with(serve: Serve, access: HttpAccess<'static>) -> TestServer {
        let (service, reports) = service(serve, access);
        TestServer::serve(service, reports)
    }

    pub(crate) fn serve(service: McpService, reports: Receiver<Report>) -> TestServer {
        TestServer::serve_router(Router::new().fallback_service(service.clone()), service, reports)
    }

    /// Serves a router that contains the service.
    pub(crate) fn serve_router(router: Router, service: McpService, reports: Receiver<Report>) -> TestServer {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            // Tests open many connections at once. The kernel would delay or reset connections that exceed the queue.
            socket.listen(2048).unwrap()
        });
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move { axum::serve(listener, router).await });
        TestServer { address, service, reports, runtime: Some(runtime) }
    }

    /// Connects a client.
    pub(crate) fn connect(&self, connect: Connect) -> ClientHandle {
        let endpoint = HttpEndpoint::new(format!("http://{}/mcp", self.address));
        Connector::new("c", "1").connect(connect).http(endpoint).unwrap()
    }

    /// Waits for the next report of the handler, and checks that it is `report`.
    #[track_caller]
    pub(crate) fn expect(&self, report: Report) {
        assert_eq!(self.reports.recv_timeout(LIMIT), Ok(report));
    }

    /// Waits until no exchange is open.
    #[track_caller]
    pub(crate) fn expect_no_exchange(&self) {
        let start = Instant::now();
        while self.service.open_exchanges() > 0 {
            assert!(start.elapsed() < LIMIT, "{} exchanges are open", self.service.open_exchanges());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends bytes on a new connection.
    pub(crate) fn open(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        // The server may refuse a request before all of it is sent.
        let _ = stream.write_all(request.as_bytes());
        stream
    }

    /// Sends bytes on a new connection, and returns all bytes that the server sends until the connection closes.
    pub(crate) fn exchange(&self, request: &str) -> String {
        let mut response = Vec::new();
        let _ = self.open(request).read_to_end(&mut response);
        String::from_utf8(response).unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Reads until the text has arrived.
#[track_caller]
pub(crate) fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut received = String::new();
    let mut buffer = [0; 4096];
    while !received.contains(text) {
        match stream.read(&mut buffer) {
            Ok(n @ 1..) => received.push_str(std::str::from_utf8(&buffer[..n]).unwrap()),
            end => panic!("{end:?} before {text:?}: {received}"),
        }
    }
    received
}

/// Returns the body of a `tools/call` of 2026-07-28.
pub(crate) fn call_body(tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

/// Returns the header fields of a `tools/call` of 2026-07-28.
pub(crate) fn call_fields(tool: &str) -> Vec<(&'static str, String)> {
    vec![
        ("Host", "localhost".into()),
        ("Content-Type", "application/json".into()),
        ("Accept", "application/json, text/event-stream".into()),
        ("MCP-Protocol-Version", "2026-07-28".into()),
        ("Mcp-Method", "tools/call".into()),
        ("Mcp-Name", tool.into()),
    ]
}

/// Returns a POST of a `tools/call` of 2026-07-28. `fields` are more header fields, each with its line end.
pub(crate) fn post(tool: &str, fields: &str) -> String {
    let body = call_body(tool);
    let own: String = call_fields(tool).iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("POST /mcp HTTP/1.1\r\n{own}Content-Length: {}\r\n{fields}\r\n{body}", body.len())
}

/// Returns a POST in the handshake era. `fields` are more header fields, each with its line end.
pub(crate) fn old_post(body: &str, fields: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
