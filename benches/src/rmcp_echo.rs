//! The echo server on rmcp, in memory, as in its documentation.

use std::sync::Arc;

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use tokio::sync::Notify;

/// Answers `echo` and `again` at once, and `hold` after a notification.
#[derive(Clone)]
pub struct Echo {
    tool_router: ToolRouter<Self>,
    release: Arc<Notify>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Said {
    text: String,
}

#[tool_router(router = tool_router)]
impl Echo {
    /// A server whose tool `hold` waits for one notification of `release`.
    #[must_use]
    pub fn new(release: Arc<Notify>) -> Self {
        Echo { tool_router: Self::tool_router(), release }
    }

    #[tool(description = "Says the same again")]
    async fn echo(&self, Parameters(Said { text }): Parameters<Said>) -> String {
        text
    }

    #[tool(description = "Says the same again, too")]
    async fn again(&self, Parameters(Said { text }): Parameters<Said>) -> String {
        text
    }

    #[tool(description = "Waits")]
    async fn hold(&self) -> String {
        self.release.notified().await;
        String::new()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Echo {}

/// A client that is connected to an echo server by a pipe in memory.
///
/// # Panics
/// If the connection fails.
pub async fn connected(release: Arc<Notify>) -> RunningService<RoleClient, ()> {
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let server = Echo::new(release).serve(there).await.expect("a server");
        server.waiting().await.expect("it ends well");
    });
    ().serve(here).await.expect("a client")
}
