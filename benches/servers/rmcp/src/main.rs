//! The echo server on rmcp, as in its documentation.
//!
//! `echo-rmcp pipes` uses the transport that rmcp recommends for pipes.

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router, transport};

#[derive(Clone)]
struct Echo {
    tool_router: ToolRouter<Self>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    text: String,
}

#[tool_router(router = tool_router)]
impl Echo {
    #[tool(description = "Returns the text")]
    async fn echo(&self, Parameters(EchoArguments { text }): Parameters<EchoArguments>) -> String {
        text
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Echo {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let echo = Echo { tool_router: Echo::tool_router() };
    let service = if std::env::args().nth(1).as_deref() == Some("pipes") {
        echo.serve(transport::stdio_pipes()).await?
    } else {
        echo.serve(transport::stdio()).await?
    };
    service.waiting().await?;
    Ok(())
}
