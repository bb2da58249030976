//! The echo server on rmcp, for many connections to a Unix socket: `crowd-rmcp PATH`.

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use tokio::net::UnixListener;

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
    let path = std::env::args().nth(1).ok_or("crowd-rmcp PATH")?;
    let listener = UnixListener::bind(path)?;
    println!("listening");
    let echo = Echo { tool_router: Echo::tool_router() };
    loop {
        let (stream, _) = listener.accept().await?;
        let echo = echo.clone();
        tokio::spawn(async move {
            let server = echo.serve(stream).await.expect("a client");
            server.waiting().await.expect("no panic")
        });
    }
}
