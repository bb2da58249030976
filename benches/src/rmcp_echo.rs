//! The echo server on rmcp, connected through memory, written as in rmcp's documentation.

use std::sync::Arc;

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::model::ProtocolVersion;
use rmcp::service::RunningService;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient, ServerHandler, ServiceExt, schemars, tool,
    tool_handler, tool_router,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use workloads::dialect::Dialect;

/// Responds to `echo` and `again` at once, and to `hold` after a notification of `release`.
#[derive(Clone)]
pub struct Echo {
    tool_router: ToolRouter<Self>,
    release: Arc<Notify>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    text: String,
}

#[tool_router(router = tool_router)]
impl Echo {
    /// Creates a server, in which the tool `hold` waits until `release` is notified.
    #[must_use]
    pub fn new(release: Arc<Notify>) -> Self {
        Echo { tool_router: Self::tool_router(), release }
    }

    #[tool(description = "Returns the text")]
    async fn echo(&self, Parameters(EchoArguments { text }): Parameters<EchoArguments>) -> String {
        text
    }

    #[tool(description = "Returns the text, too")]
    async fn again(&self, Parameters(EchoArguments { text }): Parameters<EchoArguments>) -> String {
        text
    }

    #[tool(description = "Waits for a notification")]
    async fn hold(&self) -> String {
        self.release.notified().await;
        String::new()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Echo {}

/// Starts an echo server, and returns the client's end of a pipe in memory.
fn server(release: Arc<Notify>) -> DuplexStream {
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let server = Echo::new(release).serve(there).await.expect("a server");
        server.waiting().await.expect("no panic");
    });
    here
}

/// Connects a client to a new echo server by a pipe in memory, in revision 2025-11-25.
///
/// # Panics
/// If the connection fails.
pub async fn connected(release: Arc<Notify>) -> RunningService<RoleClient, ()> {
    let client = ().serve(server(release)).await.expect("a client");
    check_version(&client, &ProtocolVersion::V_2025_11_25);
    client
}

/// Connects a client like `connected`, in revision 2026-07-28.
///
/// # Panics
/// If the connection fails.
pub async fn stateless() -> RunningService<RoleClient, ()> {
    let version = ProtocolVersion::V_2026_07_28;
    let mode = ClientLifecycleMode::Discover { preferred_versions: vec![version.clone()] };
    let server = server(Arc::new(Notify::new()));
    let client = ().serve_with_lifecycle(server, mode).await.expect("a client");
    check_version(&client, &version);
    client
}

fn check_version(client: &RunningService<RoleClient, ()>, version: &ProtocolVersion) {
    assert_eq!(client.peer_info().map(|it| it.protocol_version.clone()).as_ref(), Some(version));
}

/// An echo server without a client: its input and output are bytes.
pub struct ByteServer {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    response: Vec<u8>,
}

impl ByteServer {
    /// Starts a server, sends the opening messages of this dialect, and waits for the response.
    pub async fn open(dialect: Dialect) -> ByteServer {
        let (output, input) = tokio::io::split(server(Arc::new(Notify::new())));
        let mut server = ByteServer { input, output: BufReader::new(output), response: Vec::new() };
        server.exchange(&dialect.opening()).await;
        server
    }

    /// Sends this input, and returns the line that the server sends next.
    ///
    /// # Panics
    /// If the server reads no more.
    pub async fn exchange(&mut self, input: &[u8]) -> &[u8] {
        self.input.write_all(input).await.expect("the server reads");
        self.response.clear();
        self.output.read_until(b'\n', &mut self.response).await.expect("the server responds");
        &self.response
    }
}
